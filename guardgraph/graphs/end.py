"""Ending: a terminal puts the result of a run together, and hands the record of it to the recorder."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import suppress
from typing import Any

from guardgraph.graphs.audit import Closing, NoRecorder, is_required, unavailable
from guardgraph.graphs.conclusion import Conclusion
from guardgraph.graphs.declaration import FAILED_ENDING, UNRECORDED_ENDING
from guardgraph.graphs.frame import GrammarBreach, Part, declared, described, failure, show, verdict
from guardgraph.graphs.record import recording, watchers
from guardgraph.graphs.visit import Visit
from guardgraph.guards.stop import Stop
from guardgraph.nodes.body import Run
from guardgraph.plain.json import JsonObject, copied, storable
from guardgraph.state.catalogue import AUDIT_UNAVAILABLE, SUCCESS
from guardgraph.state.recording import Recording
from guardgraph.state.run import AUDITED, Audit

__all__ = ["end"]


def end(part: Part, state: JsonObject, run: Run[Any, Any] | Exception, visit: Visit) -> Closing:
    """Run a terminal, and return the result, or the way to the stop that says why there is none.

    An ok terminal that fails leads to a stop, and so does every terminal whose run had to be recorded and was not.
    """
    item = part.declaration
    if item.family is not None:
        return (yield from _ended(part, state, run, visit, _stopped(part, state)))
    try:
        if isinstance(run, Exception):
            raise run
        result = _unaudited(storable(declared(item, show(part, state, visit.run(run))), around=1))
        return (yield from _ended(part, state, run, visit, _finished(part, state, result)))
    except Exception as error:  # noqa: BLE001 - a failing ending must not look like a good one
        stop = failure(part, error)
        withholds = isinstance(error, Stop) and part.frame.catalogue.withholds(error.reason)
        line = visit.line({"reason": stop.reason, **({"withheld": True} if withholds else {})})
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
    evidence = said["evidence"]
    stop = {"status": "stopped", "stop_reason": said["reason"], "phase": said["phase"], **evidence}
    audit = {"audit": unavailable(evidence["details"])} if part.declaration.family == AUDIT_UNAVAILABLE else {}
    return {**_head(part, state), **stop, **audit}


def _head(part: Part, state: JsonObject) -> JsonObject:
    return {"run_id": state["run"], "pattern": part.frame.catalogue.pattern}


def _ended(part: Part, state: JsonObject, run: Run[Any, Any] | Exception, visit: Visit, came: JsonObject) -> Closing:
    line: Any = visit.line({"phase": came["phase"]} if "phase" in came else {})
    visit.session.over = over = Conclusion(part, state, [*visit.log, line], came)
    if visit.session.is_replay:
        return came
    if part.declaration.family == AUDIT_UNAVAILABLE:  # it is not tried once more
        return over.result
    audit, required = (yield from _recorded(over)), is_required(part.frame, run)
    if required and part.frame.recorder is None:
        audit = unavailable(described(NoRecorder()))
    if required and audit is not None and audit["status"] == "unavailable":
        return _unrecorded(part, over.result, audit, {**line, "reason": AUDIT_UNAVAILABLE})
    return over.result if audit is None else {**over.result, "audit": {**over.result.get("audit", {}), **audit}}


def _recorded(over: Conclusion) -> Generator[Recording, Audit | None, Audit | None]:
    """Hand out the recording of a run, where there is a recorder, with what the shadows make of it.

    The run's time is over, and nothing of theirs is in it.
    """
    frame, watching = over.part.frame, watchers()
    if frame.recorder is None and not watching:
        return None
    made = recording(over)
    if frame.shadows and frame.recorder is not None:
        made["shadows"] = {name: judge(made) for name, judge in frame.shadows.items()}
    for watch in watching:
        with suppress(Exception):  # for tests; they change no run
            watch(frame, copied(made))
    return None if frame.recorder is None else (yield made)


def _unrecorded(part: Part, result: JsonObject, audit: Audit, line: Any) -> JsonObject:
    """Return the way to the stop of a run that had to be recorded, with how it would have ended and no more."""
    ending: JsonObject = {key: result[key] for key in ("stop_reason", "outcome") if key in result}
    details: JsonObject = {**audit["error"], **ending}
    said = verdict(AUDIT_UNAVAILABLE, result.get("phase", part.declaration.phase), {"details": details})
    return {"route": UNRECORDED_ENDING, "verdict": said, "log": [line]}
