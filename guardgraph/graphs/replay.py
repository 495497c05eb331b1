"""Recorded runs decided again without LangGraph.

The interpreter does what LangGraph does for a pattern and no more: it hands a node the channels that it reads, keeps
what it writes, and goes where the guard says. Raw channels live for one step. The nodes are the very same. Where a run
stands in the recorded one is followed visit by visit.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple, Self

from langchain_core.runnables.config import var_child_runnable_config
from langgraph.errors import GraphInterrupt
from langgraph.types import Overwrite

from guardgraph.graphs.declaring import Declaration
from guardgraph.graphs.running.door import GuardedGraph, ResultT
from guardgraph.graphs.running.drive import drive_calling_node, look_at_live_policy
from guardgraph.graphs.running.end import Conclusion, conclude_run
from guardgraph.graphs.running.frame import Frame
from guardgraph.graphs.running.judge import run_guard
from guardgraph.graphs.running.langgraph import SCRATCHPAD, SEND, read_interrupt_value
from guardgraph.graphs.running.live_policy import RecordedLive, restore_readings
from guardgraph.graphs.running.node import GrammarNode, perform_driven_node, write_run_beginning
from guardgraph.graphs.running.session import Session, Visit, restore_recorded_input
from guardgraph.nodes.body import Run
from guardgraph.plain.errors import ConfigurationError, InputError, NotRecorded
from guardgraph.plain.hashing import digest
from guardgraph.plain.json import JsonObject, JsonValue, NotJson, make_storable_json, parse_json
from guardgraph.plain.version import read_package_version
from guardgraph.state.recording import RecordedVisit, Recording, validate_recording
from guardgraph.state.run import Opening
from guardgraph.world.replaying import ReplayingWorld, Spell, read_visit_spells

MOST_VISITS = 1000  # visits of one guard that a replay follows where the recorded run has none


class RecordedVisits:
    """The visits of a recorded run, found by node."""

    def __init__(self, recording: Recording) -> None:
        self._visits = recording["visits"]
        self._spells = list(read_visit_spells(recording))
        self._places: dict[tuple[str, int], int] = {}
        self._sessions: list[int] = []
        self._openings: list[Opening] = []
        self._live = restore_readings([visit.get("live", []) for visit in self._visits])
        seen: dict[str, int] = {}
        for at, visit in enumerate(self._visits):
            node = visit["node"]
            seen[node] = number = seen.get(node, 0) + 1
            self._places[node, number] = at
            if "opening" in visit:
                self._openings.append(visit["opening"])
            self._sessions.append(len(self._openings))
        self._made: dict[str, int] = {}
        self._at = -1
        self._session = 0

    def follow_recorded_visit(self, item: Declaration) -> tuple[RecordedVisit, Spell]:
        """Return the recorded visit that a node's next one is, and its time; without one no time goes by."""
        self._made[item.name] = number = self._made.get(item.name, 0) + 1
        at = self._places.get((item.name, number))
        if at is None:
            if item.is_calling_node or number > MOST_VISITS:
                following = self._visits[self._at + 1 :]
                why = f"run went to {following[0]['node']!r:.80} instead" if following else "run did not come here"
                raise self._make_not_recorded_error(item, f"the recorded {why}")
            last = self._visits[self._at]["clock"][-1]
            clock = [last, last]
            return RecordedVisit(node=item.name, kind=item.kind, clock=clock), Spell(clock)
        return self._join_recorded_visit(item, at), self._spells[at]

    @property
    def live(self) -> RecordedLive | None:
        """What the run reads of its live policy where it stands: as the recorded one did at the same visit, or last."""
        read = [readings for readings in self._live[: self._at + 1] if readings]
        if not read:
            return None
        return RecordedLive(self._live[self._at] or read[-1][-1:])

    def _join_recorded_visit(self, item: Declaration, at: int) -> RecordedVisit:
        """Return a recorded visit as the run comes to it, from wherever it stands."""
        visit, session = self._visits[at], self._sessions[at]
        begins = "opening" in visit and session == self._session + 1
        if not begins and session != self._session and not self._is_session_alike(session):
            problem = "the recorded run was resumed elsewhere, and who gives what is unknown"
            raise self._make_not_recorded_error(item, problem)
        self._at, self._session = at, session
        if begins or "opening" not in visit:
            return visit
        del (kept := visit.copy())["opening"]
        return kept

    def _is_session_alike(self, session: int) -> bool:
        """Say whether a session was like the one in which the run is: then it does not matter where it began."""
        then, now = (self._openings[number - 1] for number in (session, self._session))
        return "refused" not in then and all(then[key] == now[key] for key in ("context", "caller", "resumable"))

    def _make_not_recorded_error(self, item: Declaration, why: str) -> NotRecorded:
        return NotRecorded(item.name, why, visit=self._made[item.name])


def interpret_recording(
    frame: Frame, recording: Recording, *, assume: bool = False, ignore_live: bool = False
) -> Conclusion:
    """Run a pattern on a recorded world, and return the run that is over."""
    alike = is_recorded_agent(frame, recording)
    world, visits = ReplayingWorld(recording, assume=assume, alike=alike), RecordedVisits(recording)
    name = next(item.name for item in frame.declarations.values() if item.entry)
    channels = _Channels(frame, restore_recorded_input(frame, recording, name))
    sitting: _Sitting | None = None
    with _Scratchpad() as pad:
        while True:
            node: GrammarNode = frame.nodes[name]
            recorded, spell = visits.follow_recorded_visit(node.declaration)
            world.turn_to_spell(spell)
            opening = recorded.get("opening")
            is_ours = alike and recording["guardgraph"] == read_package_version()
            if opening is not None and "refused" in opening and not is_ours:
                raise NotRecorded(name, "its context could not be read, and was not kept", visit=1)
            is_question_known = alike or _is_question_recorded(recorded, sitting)
            sitting = _open_recorded_session(frame, world, opening, sitting)
            pad.turn_to_answers(recorded, is_question_known=is_question_known)
            came = _run_node_again(
                node, channels.read_channels(name), sitting, pad, None if ignore_live else visits.live
            )
            if isinstance(came, Conclusion):
                return _tell_as_recorded(came, recording)
            channels.write_channels(came)
            name = node.declaration.to[0] if node.declaration.is_calling_node else str(came["route"])


def _tell_as_recorded(over: Conclusion, recording: Recording) -> Conclusion:
    """Return a run with what is told of it as the recorded one tells it."""
    then = recording["result"]
    was, told = then.get("details"), over.came.get("details")
    if then.get("stop_reason") != over.came["stop_reason"] or not isinstance(was, dict) or not isinstance(told, dict):
        return over
    is_moved = was != told and {**was, "at": None} == {**told, "at": None}
    return replace(over, came={**over.came, "details": was}) if is_moved else over


class _Sitting(NamedTuple):
    """A session of the recorded run, and the run as its nodes saw it."""

    session: Session
    run: Run[Any, Any] | Exception
    opening: Opening


def _is_question_recorded(recorded: RecordedVisit, before: _Sitting | None) -> bool:
    """Say whether a recording tells what a body showed when it was answered: in the session before, or in this one."""
    opening = recorded.get("opening")
    is_moved = opening is not None and before is not None and opening["context"] != before.opening["context"]
    return "shown_hash" in recorded and not is_moved and len(recorded.get("answers", ())) == 1


def _open_recorded_session(
    frame: Frame, world: ReplayingWorld, opening: Opening | None, current: _Sitting | None
) -> _Sitting:
    if opening is None:
        if current is None:
            raise InputError("recording.visits.0.opening: the first visit of a run has one; given: none")
        current.session.last = world.clock()
        return current
    session = Session(world)
    session.unasked, session.forked_from = world.unasked, world.forked_from
    try:
        run = session.replay_run(frame, world.new_run(), opening)
        return _Sitting(session, run, opening)
    except Exception as error:
        if isinstance(error, ConfigurationError) and "refused" not in opening:  # the door had let no run begin
            raise
        return _Sitting(session, error, opening)  # a context that could not be read closed the run at this node


def _run_node_again(
    node: GrammarNode, state: JsonObject, sitting: _Sitting, pad: _Scratchpad, live: RecordedLive | None
) -> Conclusion | JsonObject:
    """Run a node, and return what it writes; of a terminal, the run that is over."""
    session, run, _ = sitting
    visit = Visit(node, [] if node.declaration.entry else state.get("log") or [], session, live)
    run = visit.bound_run(run)
    if live is not None and node.declaration.kind != "terminal":
        run = perform_driven_node(look_at_live_policy(run, visit), session.world)
    if node.declaration.kind == "terminal":
        return conclude_run(node, state, run, visit)
    if not node.declaration.is_calling_node:
        update = run_guard(node, state, run, visit)
        return write_run_beginning(node, state, update, visit) if node.declaration.entry else update
    try:
        update = perform_driven_node(drive_calling_node(node, state, run, visit), session.world)
    except GraphInterrupt:
        raise _make_unclear_answer_error(visit, "its body waits for an answer that was not recorded") from None
    if (why := pad.explain_unclear_answer()) is not None:
        raise _make_unclear_answer_error(visit, why)
    return update


def _make_unclear_answer_error(visit: Visit, why: str) -> NotRecorded:
    name = visit.part.declaration.name
    return NotRecorded(name, why, visit=sum(line["node"] == name for line in visit.log) + 1)


def is_recorded_agent(frame: Frame, recording: Recording) -> bool:
    """Say whether a graph has the settings and the declarations of the one that ran."""
    return frame.judged_by.items() <= recording["fingerprints"].items()


class _Scratchpad:
    """What LangGraph's `interrupt` asks for answers: those that were recorded for a visit, in their order."""

    def __init__(self) -> None:
        self.resume: list[JsonValue] = []

    def __enter__(self) -> Self:
        keys = {SCRATCHPAD: self, SEND: lambda writes: None, "checkpoint_ns": ""}
        self._token = var_child_runnable_config.set({"configurable": keys})
        return self

    def __exit__(self, *error: object) -> None:
        var_child_runnable_config.reset(self._token)

    def turn_to_answers(self, recorded: RecordedVisit, *, is_question_known: bool) -> None:
        """Let these be the answers; beside them, whether it is known what was asked, or the same as it was."""
        try:
            self.resume = [parse_json(answer) for answer in recorded.get("answers", ())]
        except NotJson as error:
            raise InputError(f"recording.visits: answers of {recorded['node']!r:.80}: JSON texts; {error}") from None
        self._shown_hash, self._is_question_known = recorded.get("shown_hash"), is_question_known
        self._shown: list[JsonValue] = []

    def explain_unclear_answer(self) -> str | None:
        """Say why it is not clear whose answers these are, or to what; None where it is."""
        if not self._shown:
            return None
        if len(self._shown) < len(self.resume):
            return "its body and what it called were both answered; who got what is unknown"
        if self._shown_hash is not None and digest(self._shown) != self._shown_hash:
            return "its body shows something else than what was answered"
        return None if self._is_question_known else "what its body showed under other settings is unknown"

    def interrupt_counter(self) -> int:
        self._shown.append(make_storable_json(read_interrupt_value()))
        return len(self._shown) - 1

    def get_null_resume(self, consume: bool) -> None:
        return None


class _Channels:
    def __init__(self, frame: Frame, given: JsonObject) -> None:
        self._handed, self._kept = frame.node_channels, frame.lasting_channels
        self._lists: dict[str, list[Any]] = {name: [] for name in ("log", *frame.records)}
        """What is added to, and never written anew but by the entry guard."""
        self._fresh = [name for name in given if name not in self._kept]
        self._held: JsonObject = {**given, **self._lists}

    def read_channels(self, node: str) -> JsonObject:
        held = self._held
        return {name: held[name] for name in self._handed[node] if name in held}

    def write_channels(self, update: JsonObject) -> None:
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


def replay(agent: GuardedGraph[Any, Any, ResultT], recording: Any) -> ResultT:
    """Decide a recorded run again: the recorded outcomes go to the same nodes, and the recorded clock ticks for them.

    Nothing is called. What comes out says what this agent, with its policy, budget, guards and version, makes of what
    came back then; it is the recorded result if nothing of it has changed.

    Args:
        agent: a graph of the recorded pattern.
        recording: what a recorder was given, as it was or read again from JSON.

    Returns:
        The result; its `run_id` and its times are those of the recorded run.

    Raises:
        InputError: it is no recording, one of another pattern or form, or of a run that the agent would not have begun,
            since its context names another value than what the agent's settings fix.
        NotRecorded: the agent asks for something that was not recorded; the error says where, and what differs.
    """
    if not isinstance(agent, GuardedGraph):
        raise InputError(f"agent: a guarded graph is required; given: {type(agent).__name__}")
    checked = validate_recording(recording)
    if checked["pattern"] != (ours := agent.frame.catalogue.pattern):
        raise InputError(f"recording: a run of {ours} is required; given: one of {checked['pattern']!r:.80}")
    try:
        result: Any = interpret_recording(agent.frame, checked).result
    except ConfigurationError as error:
        raise InputError(f"recording: a run whose context this agent would refuse: {error}") from None
    return result  # type: ignore[no-any-return]
