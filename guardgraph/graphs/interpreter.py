"""The interpreter: the nodes of a pattern without LangGraph, for replay.

It does what LangGraph does for a pattern and no more: it hands a node the channels that it reads, keeps what it
writes, and goes where the guard says. Raw channels live for one step. The nodes are the very same.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from typing import Any

from langchain_core.runnables.config import var_child_runnable_config
from langgraph.graph import END
from langgraph.types import Overwrite

from guardgraph.graphs.drive import drive
from guardgraph.graphs.frame import Frame, Part
from guardgraph.graphs.node import SCRATCHPAD, GrammarNode, perform, run_through
from guardgraph.graphs.session import Session
from guardgraph.graphs.visit import Visit
from guardgraph.nodes.body import Run
from guardgraph.state.errors import NotRecorded
from guardgraph.state.json import JsonObject, JsonValue
from guardgraph.state.recording import Recording
from guardgraph.world.replaying import ReplayingWorld

__all__ = ["interpret"]


def interpret(frame: Frame, recording: Recording) -> JsonObject:
    """Run a pattern on a recorded world, and return the result.

    Args:
        frame: of the graph.
        recording: of a run of it, or of a graph with the same nodes.

    Raises:
        NotRecorded: the run asks for what was not recorded.
    """
    world = ReplayingWorld(recording)
    channels = _Channels(frame, recording["input"])
    name = next(item.name for item in frame.declarations.values() if item.entry)
    session: Session | None = None
    for recorded in recording["visits"]:
        if recorded["node"] != name:
            raise NotRecorded(name, f"the recorded run went to {recorded['node']!r:.80} instead")
        world.turn_to(recorded["clock"])
        node: GrammarNode = frame.nodes[name]
        if "opening" in recorded or session is None:
            session = Session(world)
        else:
            session.last = world.clock()
        with _answering(recorded.get("answers", [])):
            update = _run(node, channels.read(node), session, recorded.get("opening"), world)
        channels.write(update)
        name = _following(node, update)
        if name == END:
            return channels.output(update)
    raise NotRecorded(name, "the recorded run did not come here")


def _run(node: GrammarNode, state: JsonObject, session: Session, opening: Any, world: ReplayingWorld) -> JsonObject:
    part = Part(node.declaration, node.body, node.frame)
    run: Run[Any, Any] | Exception
    try:
        run = session.run or session.replay(node.frame, world.new_run(), opening)
    except Exception as error:  # noqa: BLE001 - a context that could not be read closed the run at this node
        run = error
    log = [] if node.declaration.entry else state.get("log") or []
    visit = Visit(part, log, session)
    if node.declaration.calls:
        return perform(drive(part, state, run, visit), world)
    return run_through(part, state, run, visit)


class _Scratchpad:
    """What LangGraph's `interrupt` asks for answers: those that were recorded, in their order."""

    def __init__(self, answers: list[JsonValue]) -> None:
        self.resume = answers
        self._asked = count()

    def interrupt_counter(self) -> int:
        return next(self._asked)

    def get_null_resume(self, consume: bool) -> None:
        return None


@contextmanager
def _answering(answers: list[JsonValue]) -> Iterator[None]:
    """Let a body that interrupts the run by itself find what it was answered."""
    keys = {SCRATCHPAD: _Scratchpad(answers), "__pregel_send": lambda writes: None, "checkpoint_ns": ""}
    token = var_child_runnable_config.set({"configurable": keys})
    try:
        yield
    finally:
        var_child_runnable_config.reset(token)


def _following(node: GrammarNode, update: JsonObject) -> str:
    if node.declaration.calls:
        return node.declaration.to[0]
    return str(update.get("route") or END)


class _Channels:
    """The channels of a run, as LangGraph would keep them."""

    def __init__(self, frame: Frame, given: JsonObject) -> None:
        self._frame = frame
        self._lasting: JsonObject = {"log": [], **{channel: [] for channel in frame.records}}
        self._kept = {"run", "given", "log", *frame.lasting, *frame.records}
        self._fresh: JsonObject = dict(given)

    def read(self, node: GrammarNode) -> JsonObject:
        """Return what a node is handed."""
        both = {**self._lasting, **self._fresh}
        return {name: both[name] for name in node.declaration.channels if name in both}

    def write(self, update: JsonObject) -> None:
        """Keep what a node wrote: raw channels for one step, the others until they are written again."""
        self._fresh = {}
        for name, value in update.items():
            if isinstance(value, Overwrite):
                self._lasting[name] = value.value
            elif name == "log" or name in self._frame.records:
                self._lasting[name] = self._lasting[name] + value
            elif name in self._kept:
                self._lasting[name] = value
            else:
                self._fresh[name] = value

    def output(self, update: JsonObject) -> JsonObject:
        """Return the result that a terminal wrote."""
        return {name: value for name, value in update.items() if name not in {*self._kept, "route"}}
