"""Ending: a terminal puts the result of a run together, and hands the record of it to the recorder."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from guardgraph.graphs.frame import Part, declared, failure, show, verdict
from guardgraph.graphs.record import keepers, recording
from guardgraph.graphs.visit import Visit
from guardgraph.nodes.body import Run
from guardgraph.state.catalogue import SUCCESS
from guardgraph.state.json import JsonObject
from guardgraph.state.outcome import Outcome
from guardgraph.state.plain import NotJson, storable
from guardgraph.state.recording import VisitRecord
from guardgraph.state.run import LogEntry, TimelineEntry
from guardgraph.world.people import REJECTED

__all__ = ["FAILED_ENDING", "end"]

FAILED_ENDING = "stop_guard_error"
"""Where a run ends whose ok ending fails."""

_UNSHOWN = ("clock", "active", "opening")
"""Of a line in the log: what is for the record alone."""


def end(part: Part, state: JsonObject, run: Run[Any, Any] | Exception, visit: Visit) -> JsonObject:
    """Run a terminal, and return the result; of an ok terminal that fails, the way to the stop that says so."""
    item = part.declaration
    if item.family is not None:
        return _ended(part, state, visit, _stopped(part, state), {"phase": state["verdict"]["phase"]})
    try:
        if isinstance(run, Exception):
            raise run
        result = storable(declared(item, show(part, state, visit.run(run))))
        return _ended(part, state, visit, _finished(part, state, result), {})
    except Exception as error:  # noqa: BLE001 - a failing ending must not look like a good one
        stop = failure(item, error)
        line = visit.line({"reason": stop.reason})
        said = verdict(stop.reason, item.phase, stop.evidence)
        return {"route": FAILED_ENDING, "verdict": said, "log": [line]}


def _finished(part: Part, state: JsonObject, result: JsonObject) -> JsonObject:
    return {**_head(part, state), "status": "ok", "stop_reason": SUCCESS, **result}


def _stopped(part: Part, state: JsonObject) -> JsonObject:
    said = state["verdict"]
    stop = {"status": "stopped", "stop_reason": said["reason"], "phase": said["phase"]}
    return {**_head(part, state), **stop, **said["evidence"]}


def _head(part: Part, state: JsonObject) -> JsonObject:
    return {"run_id": state["run"], "pattern": part.frame.catalogue.pattern}


def _ended(part: Part, state: JsonObject, visit: Visit, head: JsonObject, said: JsonObject) -> JsonObject:
    log = [*visit.log, visit.line(said)]
    records = _records(part, state)
    result = {**head, **_told(log, records)}
    visit.session.over = True
    for keep in () if visit.session.is_replay else keepers(part.frame):
        made = recording(part, state, log, records, result)
        with suppress(Exception):  # whatever a recorder of somebody's raises, the result stays what it is
            keep(made)
    return result


def _records(part: Part, state: JsonObject) -> dict[int, VisitRecord]:
    kept = [record for channel in part.frame.records for record in state.get(channel) or ()]
    return {record["at"]: record for record in kept}


def _told(log: list[LogEntry], records: dict[int, VisitRecord]) -> JsonObject:
    """Return trace, history, path and timeline."""
    trace: list[JsonObject] = []
    history: list[JsonObject] = []
    timeline: list[TimelineEntry] = []
    elapsed = 0.0  # a step lasts from the end of the one before
    for at, entry in enumerate(log):
        elapsed += entry["elapsed_ms"]
        steps = entry.get("steps", ())
        for traced, told in steps:
            head, tail = {"step": len(trace) + 1}, {"elapsed_ms": round(elapsed, 3)}
            trace.append({**head, **traced, **tail, "ok": True})
            history.append({**head, **told, **tail})
            elapsed = 0.0
        line = {key: value for key, value in entry.items() if key not in _UNSHOWN}
        # The entry's own words first in order, and last in say: no proposer can rewrite the record.
        shown: Any = {**line, **_brought(records[at], entry), **line} if at in records else line
        if steps:
            shown["steps"] = [step["step"] for step in trace[-len(steps) :]]
        timeline.append(shown)
    return {"trace": trace, "history": history, "path": [entry["node"] for entry in log], "timeline": timeline}


def _brought(record: VisitRecord, entry: LogEntry) -> JsonObject:
    """Return what a timeline shows of the calls of a visit: what was proposed, what a person answered."""
    if entry["kind"] == "review":
        return _answered([Outcome.unpacked(call["outcome"]) for call in record["calls"]])
    outcomes = {call["number"]: call["outcome"] for call in record["calls"]}
    wrote = record.get("wrote", {})
    shown = {channel: _shown(outcomes[item] if isinstance(item, int) else item) for channel, item in wrote.items()}
    told = {key: value for item in shown.values() for key, value in item.items()}
    if len(shown) > 1 and "proposal" in told:
        told["proposal"] = {name: item["proposal"] for name, item in shown.items() if "proposal" in item}
    return told


def _answered(outcomes: list[Outcome]) -> JsonObject:
    """Return what a person answered, be it a yes or a no, or why no answer counts."""
    for outcome in outcomes:
        if outcome.form == "failure" and outcome.content["reason"] == REJECTED:
            return {"answer": outcome.content["details"]}
        return {"failure" if outcome.form == "failure" else "answer": outcome.content}
    return {}


def _shown(packed: str) -> JsonObject:
    try:
        return Outcome.unpacked(packed).shown()
    except NotJson:  # a body of a user's own may keep its proposal as any text
        return {"proposal": packed}
