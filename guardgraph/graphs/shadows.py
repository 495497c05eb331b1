"""A recorded run judged once more by another agent of its pattern: in a what-if, and by a shadow after every run.

Either the ending is known exactly, or it is said why not.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, fields
from itertools import zip_longest
from logging import WARNING
from typing import Any, Literal, TypeAlias

from guardgraph.graphs.replay import interpret_recording
from guardgraph.graphs.running.door import GuardedGraph
from guardgraph.graphs.running.end import Conclusion
from guardgraph.graphs.running.frame import Frame, describe_run_error
from guardgraph.plain.errors import ConfigurationError, InputError, NotRecorded
from guardgraph.plain.json import JsonObject, find_json_problem, make_storable_json
from guardgraph.plain.log import log_failure
from guardgraph.state.recording import Recording, Shadow
from guardgraph.state.run import RECORDED

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
            said["fingerprints"] = {**self.frame.judged_by}
            said |= self._judge_for_shadow(recording)
        except Exception as error:  # noqa: BLE001 - whatever a shadow does, the run it looks at is over
            log_failure("a shadow failed", error, WARNING)
            said |= {"kind": "failed", "error": describe_run_error(error)}
        shadow: Shadow = make_storable_json(said)
        return shadow

    def _judge_for_shadow(self, recording: Recording) -> JsonObject:
        again = judge_recording_again(self.frame, recording)
        why = None if again.why is None else {"type": again.kind, "message": again.why[:200]}
        ending, call = (None if part is None else convert_what_if_to_json(part) for part in (again.new, again.call))
        said = {"kind": again.kind, "ending": ending, "guard": again.guard, "call": call, "error": why}
        return {name: part for name, part in said.items() if part is not None}


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
