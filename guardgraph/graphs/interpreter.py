"""The interpreter: the nodes of a pattern without LangGraph, for replay.

It does what LangGraph does for a pattern and no more: it hands a node the channels that it reads, keeps what it
writes, and goes where the guard says. Raw channels live for one step. The nodes are the very same.
"""

from __future__ import annotations

from typing import Any, NamedTuple, Self

from langchain_core.runnables.config import var_child_runnable_config
from langgraph.errors import GraphInterrupt
from langgraph.graph import END
from langgraph.types import Overwrite

from guardgraph.graphs.conclusion import Conclusion
from guardgraph.graphs.drive import drive
from guardgraph.graphs.fields import given_again
from guardgraph.graphs.following import RecordedVisits
from guardgraph.graphs.frame import Frame
from guardgraph.graphs.node import SCRATCHPAD, GrammarNode, perform, run_through
from guardgraph.graphs.session import Session
from guardgraph.graphs.visit import Visit
from guardgraph.nodes.body import Run
from guardgraph.plain.errors import ConfigurationError, InputError, NotRecorded
from guardgraph.plain.json import JsonObject, JsonValue, NotJson, parse_json
from guardgraph.plain.version import version
from guardgraph.state.recording import Opening, RecordedVisit, Recording
from guardgraph.world.replaying import ReplayingWorld

__all__ = ["interpret"]


def interpret(frame: Frame, recording: Recording, *, assume: bool = False) -> Conclusion:
    """Run a pattern on a recorded world, and return the run that is over.

    What came from outside is in it as it was recorded: the input, outcomes, readings of the clock, contexts. All else
    was made anew.

    Args:
        frame: of the graph.
        recording: of a run of it, or of a graph with the same nodes.
        assume: whether a proposer's recorded outcome counts for another request to the same proposer too.

    Raises:
        ConfigurationError: the graph refuses a context of the run, and would not have run.
        InputError: what a call brought back cannot be read, or nothing says what the run began with.
        NotRecorded: the run asks for what was not recorded.
    """
    world, visits = ReplayingWorld(recording, assume=assume), RecordedVisits(recording)
    name = next(item.name for item in frame.declarations.values() if item.entry)
    channels = _Channels(frame, given_again(frame, recording, name))
    sitting: _Sitting | None = None
    with _Scratchpad() as pad:
        while True:
            node: GrammarNode = frame.nodes[name]
            recorded, spell = visits.follow(node.declaration)
            world.turn_to(spell)
            opening = recorded.get("opening")
            if opening is not None and "refused" in opening and _is_another(frame, recording):
                raise NotRecorded(name, "its context could not be read, and was not kept", visit=1)
            sitting = _sitting(frame, world, opening, sitting)
            pad.turn_to(_answers(recorded))
            update = _run(node, channels.read(name), sitting, pad)
            channels.write(update)
            name = _following(node, update)
            if name == END:
                assert sitting.session.over is not None  # a run is over in its terminal, which leads there
                return sitting.session.over


def _answers(recorded: RecordedVisit) -> list[JsonValue]:
    if "answers" not in recorded:
        return []
    try:
        return [parse_json(answer) for answer in recorded["answers"]]
    except NotJson as error:
        raise InputError(f"recording.visits: answers of {recorded['node']!r:.80}: JSON texts; {error}") from None


class _Sitting(NamedTuple):
    """A session of the recorded run, and the run as its nodes saw it."""

    session: Session
    run: Run[Any, Any] | Exception


def _sitting(frame: Frame, world: ReplayingWorld, opening: Opening | None, current: _Sitting | None) -> _Sitting:
    if opening is None:
        if current is None:
            raise InputError("recording.visits.0.opening: the first visit of a run has one; given: none")
        current.session.last = world.clock()
        return current
    session = Session(world)
    try:
        return _Sitting(session, session.replay(frame, world.new_run(), opening))
    except Exception as error:
        if isinstance(error, ConfigurationError) and "refused" not in opening:  # the door had let no run begin
            raise
        return _Sitting(session, error)  # a context that could not be read closed the run at this node


def _run(node: GrammarNode, state: JsonObject, sitting: _Sitting, pad: _Scratchpad) -> JsonObject:
    session, run = sitting
    visit = Visit(node, [] if node.declaration.entry else state.get("log") or [], session)
    if not node.declaration.calls:
        return run_through(node, state, run, visit)
    try:
        update = perform(drive(node, state, run, visit), session.world)
    except GraphInterrupt:
        raise _not_clear(visit, "its body waits for an answer that was not recorded") from None
    if not pad.is_clear:
        raise _not_clear(visit, "its body and what it called were both answered; who got what is unknown")
    return update


def _not_clear(visit: Visit, why: str) -> NotRecorded:
    name = visit.part.declaration.name
    return NotRecorded(name, why, visit=sum(line["node"] == name for line in visit.log) + 1)


def _is_another(frame: Frame, recording: Recording) -> bool:
    """Say whether a graph may read a context otherwise than the one that ran."""
    policy, budget = frame.settings_fingerprints
    ours = {"policy": policy, "budget": budget, "declarations": frame.fingerprint}
    known = recording["fingerprints"]
    return recording["guardgraph"] != version() or any(known.get(name) != value for name, value in ours.items())


class _Scratchpad:
    """What LangGraph's `interrupt` asks for answers: those that were recorded for a visit, in their order.

    In its block a body that interrupts the run by itself finds what it was answered.
    """

    def __init__(self) -> None:
        self.turn_to([])

    def __enter__(self) -> Self:
        keys = {SCRATCHPAD: self, "__pregel_send": lambda writes: None, "checkpoint_ns": ""}
        self._token = var_child_runnable_config.set({"configurable": keys})
        return self

    def __exit__(self, *error: object) -> None:
        var_child_runnable_config.reset(self._token)

    def turn_to(self, answers: list[JsonValue]) -> None:
        """Let these be the answers."""
        self.resume = answers
        self._asked = 0

    @property
    def is_clear(self) -> bool:
        """Whether it is clear whose answers these are: all the body's, or all those of what it called."""
        return not self._asked or self._asked >= len(self.resume)

    def interrupt_counter(self) -> int:
        self._asked += 1
        return self._asked - 1

    def get_null_resume(self, consume: bool) -> None:
        return None


def _following(node: GrammarNode, update: JsonObject) -> str:
    if node.declaration.calls:
        return node.declaration.to[0]
    return str(update.get("route") or END)


class _Channels:
    """The channels of a run, as LangGraph would keep them."""

    def __init__(self, frame: Frame, given: JsonObject) -> None:
        self._handed, self._kept = frame.handed, frame.kept
        self._lists: dict[str, list[Any]] = {name: [] for name in ("log", *frame.records)}
        """What is added to, and never written anew but by the entry guard."""
        self._fresh = [name for name in given if name not in self._kept]
        self._held: JsonObject = {**given, **self._lists}

    def read(self, node: str) -> JsonObject:
        """Return what a node is handed."""
        held = self._held
        return {name: held[name] for name in self._handed[node] if name in held}

    def write(self, update: JsonObject) -> None:
        """Keep what a node wrote: raw channels for one step, the others until they are written again."""
        held = self._held
        for name in self._fresh:
            del held[name]
        self._fresh = [name for name in update if name not in self._kept]
        for name, value in update.items():
            if isinstance(value, Overwrite):
                held[name] = value.value
            elif name in self._lists:
                held[name] = held[name] + value
            else:
                held[name] = value
