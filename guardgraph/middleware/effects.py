"""Writes of somebody's own agent are made once: with the intents and receipts of ours, beside its checkpoints."""

from __future__ import annotations

import time
from base64 import b64decode, b64encode
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from langchain.agents.middleware.types import ToolCallRequest
from langchain_core.messages import AIMessage
from langgraph.config import get_config

from guardgraph.graphs.running.effects import KEY_NAME, KeptPlace, Needs, locate_node_checkpoint, perform_write
from guardgraph.graphs.running.langgraph import DURABILITY
from guardgraph.graphs.running.node import aperform_driven_node, perform_driven_node
from guardgraph.graphs.running.session import FirstCheckpoint, Session, choose_request
from guardgraph.guards.stop import Stop
from guardgraph.plain.json import INT_LIMIT
from guardgraph.state.catalogue import EFFECT_UNKNOWN
from guardgraph.state.outcome import Outcome
from guardgraph.state.tools import Licence
from guardgraph.world.call import Asked, Call, Performed
from guardgraph.world.live import LiveWorld

_YEAR: Final = 366 * 86400.0  # seconds that a write has: how long a tool may take is the agent's own business


@dataclass
class Write:
    """A licensed call of a tool that writes, where a checkpointer keeps the run.

    Args:
        place: the checkpoint on which the call is made.
        began_at: the id of that at which the run began, where others who go on with the run are known.
        licence: of the call.
        run: what tells the run from others of its thread.
        request: as LangChain makes the call.
        idempotent: whether the tool does it once for one key.
        approval: what a person approved, if that was needed.
    """

    place: KeptPlace
    began_at: str | None
    licence: Licence
    run: str
    request: ToolCallRequest
    idempotent: bool
    approval: str | None
    _brought: list[Any] = field(default_factory=list)

    def make(self, handler: Callable[[ToolCallRequest], Any]) -> Any:
        """Make it, or return what it brought when it was made; it stops where nobody knows or could keep that."""
        world: Any = self
        return self._read_written(perform_driven_node(self._prepare_write(handler), world))

    async def amake(self, handler: Callable[[ToolCallRequest], Any]) -> Any:
        """Make it without blocking the event loop; see `make`."""
        world: Any = self
        return self._read_written(await aperform_driven_node(self._prepare_write(handler), world))

    def perform(self, asked: Sequence[Asked], seconds: float) -> list[Performed]:
        """Call the tool; see `World`."""
        began, call = time.monotonic(), asked[0].call
        return [self._pack(call.target(call.request), began)]  # type: ignore[operator,misc]

    async def aperform(self, asked: Sequence[Asked], seconds: float) -> list[Performed]:
        """Await the tool; see `World`."""
        began, call = time.monotonic(), asked[0].call
        return [self._pack(await call.target(call.request), began)]  # type: ignore[operator,misc]

    def _prepare_write(self, handler: Callable[[ToolCallRequest], Any]) -> Needs[Performed]:
        config = get_config()
        session = Session(LiveWorld())
        session.place, session.run_id = self.place, self.run
        session.first_checkpoint = None if self.began_at is None else FirstCheckpoint(self.began_at)
        session.request = choose_request(config) or f"{config['configurable']['thread_id']}|{self.run}"
        return perform_write(self._ask(handler), _YEAR, None, session)

    def _ask(self, handler: Callable[[ToolCallRequest], Any]) -> Asked:
        def make(args: Any, idempotency_key: str = "") -> Any:
            config = self.request.runtime.config
            config["configurable"] = {**config.get("configurable", {}), KEY_NAME: idempotency_key}
            return handler(self.request)

        spoken = [each for each in self.request.state["messages"] if isinstance(each, AIMessage)]
        beside = [each["id"] for each in spoken[-1].tool_calls] if spoken else []
        here = self.request.tool_call["id"]
        return Asked(
            Call(
                "tool",
                make,
                dict(self.licence.args),
                effect="write",
                tool=self.licence.tool,
                idempotent=self.idempotent,
            ),
            node="tools",
            visit=len(spoken),
            number=beside.index(here) + 1 if here in beside else 1,
            run=self.run,
            max_reply_bytes=INT_LIMIT,
            licence=self.licence.hash,
            approval=self.approval,
        )

    def _pack(self, brought: Any, began: float) -> Performed:
        self._brought.append(brought)
        try:
            kind, data = self.place.saver.serde.dumps_typed(brought)
            content = {"type": kind, "data": b64encode(data).decode()}
        except Exception:  # noqa: BLE001 - what no checkpoint can keep; the receipt says that the write was made
            content = {}
        return Performed(Outcome("value", content, {}), time.monotonic() - began)

    def _read_written(self, performed: Performed) -> Any:
        if self._brought:
            return self._brought[0]
        content: Any = performed.outcome.content
        if performed.outcome.form == "failure":
            raise Stop(content["reason"], details=content["details"])
        if not content:
            raise Stop(f"{EFFECT_UNKNOWN}:{self.licence.tool}", details={"cause": "unkept_result"})
        return self.place.saver.serde.loads_typed((content["type"], b64decode(content["data"])))


def find_place_of_write(config: Any) -> KeptPlace | None:
    """Return the checkpoint beside which a write is kept; None where no checkpointer keeps each step."""
    place = locate_node_checkpoint(config)
    if place is None or config["configurable"].get(DURABILITY) == "exit":
        return None
    return replace(place, around=(place.own, *place.around))  # LangGraph may keep a step while the next one runs
