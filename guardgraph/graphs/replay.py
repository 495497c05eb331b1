"""Recorded runs decided again without LangGraph: replay, what-ifs and shadows.

The interpreter does what LangGraph does for a pattern and no more: it hands a node the channels that it reads, keeps
what it writes, and goes where the guard says. Raw channels live for one step. The nodes are the very same. Where a run
stands in the recorded one is followed visit by visit. A what-if judges one recorded run again: either its ending is
known exactly, or it is said why not. A shadow is another agent of the pattern that judges every recorded run so.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, fields, replace
from itertools import zip_longest
from logging import WARNING
from typing import Any, Literal, NamedTuple, Self, TypeAlias

from langchain_core.runnables.config import var_child_runnable_config
from langgraph.errors import GraphInterrupt
from langgraph.types import Overwrite

from guardgraph.graphs.declaring import Declaration
from guardgraph.graphs.running.door import GuardedGraph, ResultT
from guardgraph.graphs.running.drive import drive_calling_node
from guardgraph.graphs.running.end import Conclusion, conclude_run
from guardgraph.graphs.running.frame import Frame, describe_run_error
from guardgraph.graphs.running.judge import run_guard
from guardgraph.graphs.running.langgraph import SCRATCHPAD, SEND, read_interrupt_value
from guardgraph.graphs.running.live import RecordedLive, restore_readings
from guardgraph.graphs.running.node import GrammarNode, perform_driven_node, write_run_beginning
from guardgraph.graphs.running.session import Session, Visit, restore_recorded_input
from guardgraph.nodes.body import Run
from guardgraph.plain.errors import ConfigurationError, InputError, NotRecorded
from guardgraph.plain.hashing import digest
from guardgraph.plain.json import JsonObject, JsonValue, NotJson, find_json_problem, make_storable_json, parse_json
from guardgraph.plain.log import log_failure
from guardgraph.plain.version import read_package_version
from guardgraph.state.recording import RecordedVisit, Recording, Shadow, validate_recording
from guardgraph.state.run import RECORDED, Opening
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
            raise self._make_not_recorded_error(
                item, "the recorded run was resumed elsewhere, and who gives what is unknown"
            )
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
    if node.frame.limit_guard is not None:
        run = visit.bound_run(run)
    if (looking := node.look_before(run, visit)) is not None:
        run = visit.take_look(run, looking.meet())
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
    policy, budget = frame.settings_fingerprints
    ours = {"policy": policy, "budget": budget, "declarations": frame.declarations_fingerprint}
    return all(recording["fingerprints"].get(name) == value for name, value in ours.items())


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
    """The channels of a run, as LangGraph would keep them."""

    def __init__(self, frame: Frame, given: JsonObject) -> None:
        self._handed, self._kept = frame.node_channels, frame.lasting_channels
        self._lists: dict[str, list[Any]] = {name: [] for name in ("log", *frame.records)}
        """What is added to, and never written anew but by the entry guard."""
        self._fresh = [name for name in given if name not in self._kept]
        self._held: JsonObject = {**given, **self._lists}

    def read_channels(self, node: str) -> JsonObject:
        """Return what a node is handed."""
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


AgainKind: TypeAlias = Literal["same", "changed", "unknown", "unreplayable", "other_pattern"]
"""The classes of recorded runs; every run falls in exactly one."""

REFUSED = "refused"
"""Status of a run that the candidate would not have begun, or gone on with: it refuses the run's context."""

Unreplayable: TypeAlias = Literal["erased", "redacted", "changed", "version", "damaged"]
"""Why a run cannot be judged: it was erased, or redacted; it is not what was recorded; another version of guardgraph
recorded it; or its recording is none."""

_HOW_IT_WENT = {"run_id", "asked_question", "trace", "history", "path", "timeline", "attempts", "forked_from", "usage"}
"""Keys of a result that say how the run went, not what came of it."""

_HEAD = {*RECORDED, "outcome", "audit"}  # keys of a stop that are no evidence


@dataclass(frozen=True, slots=True)
class Ending:
    """How a run ended."""

    status: str  # ``ok``, ``stopped``, or ``refused`` for a run that would not have been let in
    stop_reason: str
    outcome: str | None = None  # of a good ending
    phase: str | None = None  # of a stop

    @classmethod
    def of(cls, result: Mapping[str, Any]) -> Ending:
        """Return the ending of a result."""
        outcome, phase = (text if isinstance(text := result.get(key), str) else None for key in ("outcome", "phase"))
        return cls(str(result.get("status")), str(result.get("stop_reason")), outcome, phase)

    def __str__(self) -> str:
        """Return the ending in few words: ``ok:grounded_answer``, ``stopped:max_seconds``."""
        said = self.outcome if self.status == "ok" else self.stop_reason
        return f"{self.status}:{said}" if said else self.status


@dataclass(frozen=True, slots=True)
class Unasked:
    """The first call that would not be the recorded one, or was never made."""

    node: str  # who would call
    visit: int | None  # which visit of the node, from 1 on
    number: int | None
    """Which call of the visit, from 1 on; None where the run never came to the node, or no single call is meant."""
    difference: str  # what is not as it was recorded


@dataclass(frozen=True, slots=True)
class Again:
    """A recorded run, judged again."""

    kind: AgainKind
    old: Ending | None = None  # as it was recorded
    new: Ending | None = None  # of a run that is same or changed: as the candidate would have ended it
    guard: str | None = None
    """Of a changed run: the guard where the ways part; else the node that stops it, or that no longer does."""
    evidence: JsonObject = field(default_factory=dict)
    """Of a changed run: what the result shows of the stop, the new one's or the one that is gone."""
    differs: tuple[str, ...] = ()  # of a changed run: keys of the result that are not what they were
    call: Unasked | None = None  # of an unknown run
    why: str | None = None
    """Of a run that is not judged: the pattern that it is of; or an `Unreplayable`, what is wrong behind a colon."""
    assumed: Ending | None = None
    """Of an unknown run, where it was asked for: how it would end if a proposer had proposed what it did then, though
    it would be shown something else. A guess, which counts nowhere."""
    over: Conclusion | None = field(default=None, repr=False, compare=False)
    """Of a run that is same or changed: the run as the candidate would have made it."""

    @property
    def result(self) -> JsonObject | None:
        """Of a run that is same or changed: the whole result; its run_id and times are those of the recorded run."""
        return None if self.over is None else self.over.result

    def plain(self) -> JsonObject:
        """Return it as plain JSON, without the result; what there is nothing of is left out."""
        return convert_what_if_to_json(self)


def convert_what_if_to_json(shown: Any) -> JsonObject:
    """Return a dataclass of these as plain JSON; what there is nothing of is left out."""
    said = {item.name: getattr(shown, item.name) for item in fields(shown) if item.repr}
    return {
        name: convert_what_if_to_json(value)
        if isinstance(value, Ending | Unasked)
        else [*value]
        if isinstance(value, tuple)
        else value
        for name, value in said.items()
        if value not in (None, {}, ())
    }


def judge_recording_again(
    frame: Frame, recording: Recording, *, assume: bool = False, ignore_live: bool = False
) -> Again:
    """Judge a recorded run by another graph of its pattern: exactly, or not at all."""
    result = recording["result"]
    if recording["pattern"] != frame.catalogue.pattern:
        return Again("other_pattern", Ending.of(result), why=recording["pattern"])
    if recording.get("redacted"):
        return Again("unreplayable", Ending.of(result), why="redacted")
    try:
        return _judge_by_replay(frame, recording, ignore_live=ignore_live)
    except InputError as error:
        return Again("unreplayable", Ending.of(result), why=f"damaged: {error}")
    except NotRecorded as error:
        call = Unasked(error.node, error.visit, error.number, error.difference)
        assumed = None
        if assume:
            with suppress(NotRecorded, InputError, ConfigurationError):
                guess = interpret_recording(frame, recording, assume=True, ignore_live=ignore_live)
                assumed = Ending.of(guess.came)
        return Again("unknown", Ending.of(result), call=call, assumed=assumed)


def _judge_by_replay(frame: Frame, recording: Recording, **how: bool) -> Again:
    old, ending = recording["result"], Ending.of(recording["result"])
    try:
        over = interpret_recording(frame, recording, **how)
    except ConfigurationError as error:
        refused = Ending(REFUSED, "context")
        return Again("changed", ending, refused, evidence={"message": str(error)}, differs=("status",))
    then, now = _get_business_result(old), _get_business_result(over.came)
    if then == now:
        return Again("same", ending, ending, over=over)
    differs = tuple(sorted(key for key in {*then, *now} if key not in then or key not in now or then[key] != now[key]))
    guard, evidence = _find_deciding_guard(old, over.result)
    return Again("changed", ending, Ending.of(now), guard, evidence, differs, over=over)


def _get_business_result(result: Mapping[str, Any]) -> JsonObject:
    """Return what came of a run: its result without how it went."""
    return {key: value for key, value in result.items() if key not in _HOW_IT_WENT}


def _find_deciding_guard(old: JsonObject, new: JsonObject) -> tuple[str | None, JsonObject]:
    """Return the guard that makes the difference, and the evidence of the stop that is new or gone."""
    then, now = _find_parting(old, new)
    guard = now.get("node") if now.get("kind") == "guard" else None
    for result in (new, old):
        if result.get("status") == "stopped":
            evidence = {key: value for key, value in result.items() if key not in _HEAD}
            lines = reversed(_read_result_timeline(result))  # an ok ending that fails stops a run, too
            stopping = next((line["node"] for line in lines if line.get("reason")), None)
            is_next = stopping in (then.get("to"), now.get("to"))  # a guard that only one of the agents asks there
            return (stopping if guard is None or is_next else guard), evidence
    return guard, {}


def _find_parting(old: JsonObject, new: JsonObject) -> tuple[JsonObject, JsonObject]:
    """Return the lines at which the ways of two runs part, the old one's and the new one's; empty where one ended."""
    nothing: JsonObject = {}
    for then, now in zip_longest(_read_result_timeline(old), _read_result_timeline(new), fillvalue=nothing):
        if (then.get("node"), then.get("to")) != (now.get("node"), now.get("to")):
            return then, now
    return nothing, nothing


def _read_result_timeline(result: JsonObject) -> list[JsonObject]:
    lines = result.get("timeline")
    return [line for line in lines if isinstance(line, dict)] if isinstance(lines, list) else []


@dataclass(frozen=True, slots=True)
class Judge:
    """A shadow at work."""

    frame: Frame  # of the shadow's graph

    def __call__(self, recording: Recording) -> Shadow:
        """Return what the shadow makes of a run; nothing is called, and what goes wrong is said."""
        said: JsonObject = {}
        try:
            policy, budget = self.frame.settings_fingerprints
            said["fingerprints"] = {
                "policy": policy,
                "budget": budget,
                "declarations": self.frame.declarations_fingerprint,
            }
            said |= self._judge_for_shadow(recording)
        except Exception as error:  # noqa: BLE001 - whatever a shadow does, the run it looks at is over
            log_failure("a shadow failed", error, WARNING)
            said |= {"kind": "failed", "error": describe_run_error(error)}
        shadow: Shadow = make_storable_json(said)
        return shadow

    def _judge_for_shadow(self, recording: Recording) -> JsonObject:
        again = judge_recording_again(self.frame, recording)
        said: JsonObject = {"kind": again.kind}
        if again.new is not None:
            said["ending"] = convert_what_if_to_json(again.new)
        if again.guard is not None:
            said["guard"] = again.guard
        if again.call is not None:
            said["call"] = convert_what_if_to_json(again.call)
        if again.why is not None:
            said["error"] = {"type": again.kind, "message": again.why[:200]}
        return said


def validate_shadows(given: Any, pattern: str) -> dict[str, Callable[[Recording], Shadow]]:
    """Return who judges the runs of a pattern once more, by name."""
    if not isinstance(given, Mapping):
        raise ConfigurationError(f"shadow: a mapping of names to agents is required; given: {type(given).__name__}")
    lines = [line for name, agent in given.items() if (line := _find_shadow_problem(name, agent, pattern)) is not None]
    if lines:
        raise ConfigurationError("\n".join(lines))
    return {name: Judge(agent.frame) for name, agent in given.items()}


def _find_shadow_problem(name: object, agent: object, pattern: str) -> str | None:
    if not isinstance(name, str) or not name.strip() or find_json_problem(name) is not None:
        return f"shadow: names that are texts and not blank are required; given: {name!r:.80}"
    if not isinstance(agent, GuardedGraph):
        return f"shadow.{name:.80}: an agent of the pattern {pattern} is required; given: {type(agent).__name__}"
    if (theirs := agent.frame.catalogue.pattern) != pattern:
        return f"shadow.{name:.80}: an agent of the pattern {pattern} is required; given: one of {theirs:.80}"
    return None
