"""`RecordedRun`: a run of an agent of LangChain's is kept like a run of ours, and decided again like one."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping
from contextvars import Context, copy_context
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from itertools import count
from typing import Any, Final, cast
from uuid import uuid4

from langchain.agents.middleware import AgentMiddleware
from langchain.agents.middleware.types import ModelRequest, ModelResponse, ToolCallRequest
from langchain_core.messages import AIMessage, ToolMessage
from langgraph.config import get_config
from langgraph.runtime import Runtime

from guardgraph.graphs.grammar import validate_recorder
from guardgraph.graphs.guard_nodes import is_written_by_user
from guardgraph.graphs.running.effects import CHANNEL, Errand
from guardgraph.graphs.running.langgraph import CHECKPOINTER
from guardgraph.graphs.running.node import aperform_driven_node, perform_driven_node
from guardgraph.graphs.running.recorder import Telling, tell_beginning
from guardgraph.graphs.running.session import Session, choose_request, find_run_thread
from guardgraph.middleware.agent_state import GuardedState, find_record, find_run, read_given
from guardgraph.middleware.answers import list_result_sources, list_sources, read_answer_text
from guardgraph.middleware.asking import NOBODY, AgentStep, Doing, asked_by, is_recorded
from guardgraph.middleware.calls import list_cards, list_proposed_calls
from guardgraph.middleware.effects import find_place_of_write
from guardgraph.middleware.pattern import read_guard_settings
from guardgraph.middleware.tool_results import find_message, list_parts, read_brought
from guardgraph.middleware.trail import TrailPlayer, read_trail_input
from guardgraph.plain.errors import ConfigurationError
from guardgraph.plain.json import JsonObject, make_storable_json
from guardgraph.state.recording import Recorder

_MOST_OPEN: Final = 1000  # runs of which it is known at once what was noted; what a checkpointer keeps is read there
_LONGEST_ERROR: Final = 500  # characters that are kept of what a model raised


@dataclass(frozen=True)
class _Apart:
    """What is done apart from the run: in a context of its own, and in async code in a thread of its own."""

    work: Callable[[], Any]

    def meet(self) -> Any:
        return Context().run(self.work)

    async def ameet(self) -> Any:
        return await asyncio.get_running_loop().run_in_executor(None, Context().run, self.work)


class RecordedRun(AgentMiddleware[GuardedState, Any, Any]):
    """Keep runs of an agent as recordings: what models replied, tools brought, people answered, guards decided.

    It stands last in ``middleware=[…]``, behind the guards. Whoever is given a recording of ours can read it:
    ``guardgraph audit``, reports, and `what_if` with a `recorded_agent`. A run that waits, or that failed, is open.

    Args:
        recorder: who keeps them: a store, or a recorder of your own.
        name: of the agent, in lists of runs.

    Raises:
        ConfigurationError: an argument is wrong. As the agent first runs: a guard stands behind it.
    """

    state_schema = GuardedState

    def __init__(self, recorder: Recorder, *, name: str = "agent") -> None:
        super().__init__()
        if not isinstance(name, str) or not name:
            raise ConfigurationError(f"name: a text is required; given: {name!r:.80}")
        self._recorder, self._player = validate_recorder(recorder), TrailPlayer(name)
        self._open: dict[str, list[JsonObject]] = {}
        self._counter = count()

    def before_agent(self, state: GuardedState, runtime: Runtime[Any]) -> Any:
        """Begin to record."""
        return perform_driven_node(self._begin_recording(state), NOBODY)

    async def abefore_agent(self, state: GuardedState, runtime: Runtime[Any]) -> Any:
        """Begin to record."""
        return await aperform_driven_node(self._begin_recording(state), NOBODY)

    def _begin_recording(self, state: GuardedState) -> Doing:
        messages, record = state["messages"], state.get("guardgraph_record") or {}
        run, place = find_run(messages), find_place_of_write(get_config())
        given = record["given"] if record.get("run") == run and "given" in record else read_given(messages)
        begin: JsonObject = {"id": str(uuid4()), "at": datetime.now(UTC).isoformat(), "given": dict(given)}
        begin["said"] = "\n".join(each.text for each in messages if is_written_by_user(each))
        sources = [*list_result_sources(messages), *list_sources(state, "documents")]
        begin["sources"] = [{"id": each.id, "text": each.text, "about": [*each.about]} for each in sources]
        while len(self._open) >= _MOST_OPEN:  # of runs that were left, and that no checkpointer keeps
            del self._open[next(iter(self._open))]
        known = {"id": begin["id"], "began_at": None if place is None else place.checkpoint}
        yield from self._note({"guardgraph_recording": known}, {"begin": make_storable_json(begin)})
        return {"guardgraph_recording": known}

    def _note(self, state: Mapping[str, Any], item: JsonObject) -> Doing:
        """Note what came from outside, also so that another process finds it."""
        if not (known := state.get("guardgraph_recording")):  # a middleware in front sent it past its beginning
            return
        item = {**item, "number": [time.time_ns(), next(self._counter)]}
        self._open.setdefault(known["id"], []).append(item)
        # Beside the checkpoint at which the run began: no stream shows what stands there, refused words among it.
        if (place := find_place_of_write(get_config())) is not None and known["began_at"] is not None:
            writes = [(CHANNEL, {"kind": "trail", "id": known["id"], **item})]
            yield Errand(place.saver, "put_writes", (place.locate_checkpoint(known["began_at"]), writes, str(uuid4())))

    # What comes from outside

    def wrap_model_call(
        self, request: ModelRequest[Any], handler: Callable[[ModelRequest[Any]], ModelResponse[Any]]
    ) -> Any:
        """Note what the model replies."""
        return perform_driven_node(self._ask_model(request, handler), NOBODY)

    async def awrap_model_call(
        self, request: ModelRequest[Any], handler: Callable[[ModelRequest[Any]], Awaitable[ModelResponse[Any]]]
    ) -> Any:
        """Note what the model replies."""
        return await aperform_driven_node(self._ask_model(request, handler), NOBODY)

    def _ask_model(self, request: ModelRequest[Any], handler: Any) -> Doing:
        state = cast(Mapping[str, Any], request.state)
        trail = (yield from self._read_trail(state)) if state.get("guardgraph_recording") else None
        if trail is not None and not any(
            "settings" in item for item in trail
        ):  # before the first model is asked, a run begins
            settings = read_guard_settings(asked_by.get().guards)
            item = make_storable_json({"settings": settings, "tools": list_cards(request.tools)})
            yield _Apart(partial(self._tell_beginning, [*trail, item], get_config()))
            yield from self._note(state, item)
        context = copy_context()
        context.run(is_recorded.set, True)
        began = time.monotonic()
        try:
            response = yield AgentStep(handler, request, context)
        except Exception as error:
            yield from self._note(state, _describe_failure(error, began))
            raise
        yield from self._note(state, _describe_reply(request, response, began))
        return response

    def wrap_tool_call(self, request: ToolCallRequest, handler: Callable[[ToolCallRequest], Any]) -> Any:
        """Note what the tool brings."""
        return perform_driven_node(self._call_tool(request, handler), NOBODY)

    async def awrap_tool_call(
        self, request: ToolCallRequest, handler: Callable[[ToolCallRequest], Awaitable[Any]]
    ) -> Any:
        """Note what the tool brings."""
        return await aperform_driven_node(self._call_tool(request, handler), NOBODY)

    def _call_tool(self, request: ToolCallRequest, handler: Any) -> Doing:
        began = time.monotonic()
        brought = yield AgentStep(handler, request)
        call, parts = request.tool_call, list_parts(brought)
        message: ToolMessage | None = find_message(parts, call["id"])
        said = {"id": call["id"], **read_brought(parts, call["id"]), "text": "" if message is None else message.text}
        yield from self._note(request.state, {"tool": make_storable_json(said), "seconds": time.monotonic() - began})
        return brought

    def _tell_beginning(self, trail: list[JsonObject], config: Any) -> None:
        agent = self._player.prepare(trail, is_guarded=True)
        frame, world = replace(agent.frame, recorder=self._recorder), agent.frame.world
        session = Session(world)
        session.run_id = world.new_run()
        session.resumable = config.get("configurable", {}).get(CHECKPOINTER) is not None
        session.request = choose_request(config) or session.run_id
        session.thread = find_run_thread(config) if session.resumable else None
        opening = session.write_session_opening(None)
        perform_driven_node(tell_beginning(frame, session, read_trail_input(trail), opening, required=False), world)

    # The recording

    def after_agent(self, state: GuardedState, runtime: Runtime[Any]) -> Any:
        """Give the recorder the whole run."""
        return perform_driven_node(self._finish(cast(Mapping[str, Any], state)), NOBODY)

    async def aafter_agent(self, state: GuardedState, runtime: Runtime[Any]) -> Any:
        """Give the recorder the whole run."""
        return await aperform_driven_node(self._finish(cast(Mapping[str, Any], state)), NOBODY)

    def _finish(self, state: Mapping[str, Any]) -> Doing:
        is_left = bool(state.get("guardgraph_record")) and find_record(state) is None
        if is_left or not state.get("guardgraph_recording"):  # a middleware in front ended the run as it began
            return {}
        trail = yield from self._read_trail(state)
        return (yield _Apart(partial(self._record, state, trail)))

    def _read_trail(self, state: Mapping[str, Any]) -> Doing:
        """Return what was noted of the run, in this process and in others."""
        known, place = state["guardgraph_recording"], find_place_of_write(get_config())
        items = [*self._open.get(known["id"], [])]
        if place is not None and known["began_at"] is not None and not any("begin" in item for item in items):
            stored = yield Errand(place.saver, "get_tuple", (place.locate_checkpoint(known["began_at"]),))
            for _, channel, value in (stored.pending_writes or ()) if stored is not None else ():
                if channel == CHANNEL and isinstance(value, dict) and value.get("id") == known["id"]:
                    items += [{key: each for key, each in value.items() if key not in ("kind", "id")}]
        unique = {tuple(item["number"]): item for item in items if "number" in item}
        return [unique[number] for number in sorted(unique)]

    def _record(self, state: Mapping[str, Any], trail: list[JsonObject]) -> dict[str, Any]:
        self._open.pop(state["guardgraph_recording"]["id"], None)
        if not any("settings" in item for item in trail):
            return {"guardgraph_recording": {}}
        ended, record = state.get("guardgraph") or {}, state.get("guardgraph_record") or {}
        run = find_run(state["messages"])
        told = {"status": ended.get("status", "ok"), "stop_reason": ended.get("stop_reason", "success")}
        told["text"] = state["messages"][-1].text
        answers = record.get("answers", []) if record.get("run") == run else []
        whole = [*trail, *({"person": answer} for answer in answers), {"ended": told}]
        recording = self._player.play(whole, is_guarded=True)
        if recording is None:  # something else decided, and what our guards would have is not what happened
            recording = self._player.play(whole, is_guarded=False)
        assert recording is not None
        receipt = Telling(self._recorder, "record", recording).meet()
        audit: JsonObject = {"status": "recorded", "run_id": recording["run_id"]}
        if receipt.error is not None:
            audit = {"status": "unavailable", "error": receipt.error}
        return {"guardgraph": {"run": run, "audit": audit}, "guardgraph_recording": {}}


def _describe_failure(error: Exception, began: float) -> JsonObject:
    failed = {"error": type(error).__name__, "message": str(error)[:_LONGEST_ERROR]}
    return {"model": make_storable_json({"failed": failed}), "seconds": time.monotonic() - began}


def _describe_reply(request: ModelRequest[Any], response: ModelResponse[Any], began: float) -> JsonObject:
    message = next(each for each in reversed(response.result) if isinstance(each, AIMessage))
    said = {
        "model": str(getattr(request.model, "model_name", None) or getattr(request.model, "model", None) or "model"),
        "text": read_answer_text(response, message),
        "calls": list_proposed_calls(response),
        "answers": not message.tool_calls or response.structured_response is not None,
    }
    return {"model": make_storable_json(said), "seconds": time.monotonic() - began}
