"""Ending: a terminal puts the result of a run together, and hands the record of it to the recorder."""

from __future__ import annotations

from functools import partial
from typing import Any

from guardgraph.graphs.audit import NoRecorder, is_required, kept, unavailable
from guardgraph.graphs.decided import Decided
from guardgraph.graphs.declaration import FAILED_ENDING, UNRECORDED_ENDING
from guardgraph.graphs.frame import Frame, GrammarBreach, Part, declared, described, failure, show, verdict
from guardgraph.graphs.record import recording, watchers
from guardgraph.graphs.visit import Visit
from guardgraph.guards.stop import Stop
from guardgraph.nodes.body import Run
from guardgraph.state.catalogue import AUDIT_UNAVAILABLE, SUCCESS
from guardgraph.state.json import JsonObject
from guardgraph.state.outcome import Outcome
from guardgraph.state.plain import NotJson, storable
from guardgraph.state.recording import Recording, VisitRecord
from guardgraph.state.run import AUDITED, Audit, LogEntry, TimelineEntry
from guardgraph.world.people import REJECTED

__all__ = ["end"]

_UNSHOWN = ("clock", "active", "opening", "withheld")
"""Of a line in the log: what is for the record alone."""


def end(part: Part, state: JsonObject, run: Run[Any, Any] | Exception, visit: Visit) -> JsonObject:
    """Run a terminal, and return the result, or the way to the stop that says why there is none.

    An ok terminal that fails leads to a stop, and so does every terminal whose run had to be recorded and was not.
    """
    item = part.declaration
    if item.family is not None:
        return _ended(part, state, run, visit, _stopped(part, state))
    try:
        if isinstance(run, Exception):
            raise run
        result = _unaudited(storable(declared(item, show(part, state, visit.run(run)))))
        return _ended(part, state, run, visit, _finished(part, state, result))
    except Exception as error:  # noqa: BLE001 - a failing ending must not look like a good one
        stop = failure(item, error)
        withheld = {"withheld": True} if isinstance(error, Stop) and _withholds(part, error.reason) else {}
        line = visit.line({"reason": stop.reason, **withheld})
        said = verdict(stop.reason, item.phase, stop.evidence)
        return {"route": FAILED_ENDING, "verdict": said, "log": [line]}


def _unaudited(result: JsonObject) -> JsonObject:
    """Return what an ok terminal's body wrote, if what it calls its audit does not say whether the run was recorded."""
    own = result.get("audit", {})
    if not isinstance(own, dict) or own.keys() & {*AUDITED}:
        raise GrammarBreach(f"wrote an audit that is no object without {', '.join(AUDITED)}")
    return result


def _finished(part: Part, state: JsonObject, result: JsonObject) -> JsonObject:
    return {**_head(part, state), "status": "ok", "stop_reason": SUCCESS, **result}


def _stopped(part: Part, state: JsonObject) -> JsonObject:
    said = state["verdict"]
    stop = {"status": "stopped", "stop_reason": said["reason"], "phase": said["phase"]}
    return {**_head(part, state), **stop, **said["evidence"]}


def _head(part: Part, state: JsonObject) -> JsonObject:
    return {"run_id": state["run"], "pattern": part.frame.catalogue.pattern}


def _ended(part: Part, state: JsonObject, run: Run[Any, Any] | Exception, visit: Visit, head: JsonObject) -> JsonObject:
    line: Any = visit.line({"phase": head["phase"]} if "phase" in head else {})
    log, records = [*visit.log, line], _records(part, state)
    visit.session.over = True
    if part.declaration.family == AUDIT_UNAVAILABLE:  # it is not tried once more
        return {**head, **_withheld(_told(log, {}), "history"), "audit": unavailable(head["details"])}
    is_withheld = _withholds(part, head["stop_reason"]) or any(entry.get("withheld") for entry in log)
    whole = partial(_whole, head, log, records, is_withheld=is_withheld)
    if visit.session.is_replay:
        visit.session.decided = Decided(head, whole, partial(recording, part, state, log, records))
        return head
    result = whole()
    audit, required = None, is_required(part.frame, run)
    if part.frame.recorder is not None or watchers():
        audit = kept(part.frame, _shadowed(part.frame, recording(part, state, log, records, result)))
    if required and part.frame.recorder is None:
        audit = unavailable(described(NoRecorder()))
    if required and audit is not None and audit["status"] == "unavailable":
        return _unrecorded(part, result, audit, {**line, "reason": AUDIT_UNAVAILABLE})
    return result if audit is None else {**result, "audit": {**result.get("audit", {}), **audit}}


def _whole(head: JsonObject, log: list[LogEntry], records: dict[int, VisitRecord], *, is_withheld: bool) -> JsonObject:
    """Return a result with how the run went."""
    withheld = _withheld(_told(log, {}), "trace", "history") if is_withheld else None
    result = {**head, **(withheld or _told(log, records))}
    if "audit" in result:  # it stands last, as in what the graph returns
        result["audit"] = result.pop("audit")
    return result


def _shadowed(frame: Frame, made: Recording) -> Recording:
    """Add what the shadows make of a run, if it is to be kept; its time is over, and nothing of theirs is in it."""
    if frame.shadows and frame.recorder is not None:
        made["shadows"] = {name: judge(made) for name, judge in frame.shadows.items()}
    return made


def _unrecorded(part: Part, result: JsonObject, audit: Audit, line: Any) -> JsonObject:
    """Return the way to the stop of a run that had to be recorded, with how it would have ended and no more."""
    ending: JsonObject = {key: result[key] for key in ("stop_reason", "outcome") if key in result}
    details: JsonObject = {**audit["error"], **ending}
    said = verdict(AUDIT_UNAVAILABLE, result.get("phase", part.declaration.phase), {"details": details})
    return {"route": UNRECORDED_ENDING, "verdict": said, "log": [line]}


def _withholds(part: Part, stop_reason: str) -> bool:
    reason = part.frame.catalogue.find(stop_reason)
    return reason is not None and reason.withholds


def _withheld(record: JsonObject, *names: str) -> JsonObject:
    """Return how a run went without what came of it, such as the answer of a run that is not recorded."""
    kept = ("step", "phase", "elapsed_ms", "ok")
    bare = {name: [{key: step[key] for key in kept if key in step} for step in record[name]] for name in names}
    return {**record, **bare}


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
