"""The result of a run, put together by terminal nodes from the log."""

from __future__ import annotations

from typing import Any

from guardgraph.state.catalogue import SUCCESS
from guardgraph.state.json import JsonObject
from guardgraph.state.outcome import Outcome
from guardgraph.state.plain import NotJson
from guardgraph.state.run import LogEntry, Proposed, TimelineEntry, Verdict

__all__ = ["RECORDED", "finished", "stopped"]

RECORDED = ("run_id", "status", "stop_reason", "phase", "trace", "history", "path", "timeline")
"""Keys of a result that say how the run went; no body writes them."""


def finished(state: JsonObject, ending: LogEntry, result: JsonObject) -> JsonObject:
    """Return the result of a run that ended well at the terminal of the entry `ending`."""
    return {"run_id": state["run"], "status": "ok", "stop_reason": SUCCESS, **result, **_record(state, ending)}


def stopped(state: JsonObject, ending: LogEntry, verdict: Verdict) -> JsonObject:
    """Return the result of a run that was stopped, ended at the terminal of the entry `ending`."""
    head = {"run_id": state["run"], "status": "stopped", "stop_reason": verdict["reason"], "phase": verdict["phase"]}
    return {**head, **verdict["evidence"], **_record(state, ending)}


def _record(state: JsonObject, ending: LogEntry) -> JsonObject:
    log: list[LogEntry] = [*state["log"], ending]
    proposed: dict[int, Proposed] = {item["at"]: item for item in state.get("proposals") or ()}
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
        # The entry's own words first in order, and last in say: no proposer can rewrite the record.
        shown: Any = {**entry, **_proposal(proposed[at]["channels"]), **entry} if at in proposed else {**entry}
        if steps:
            shown["steps"] = [step["step"] for step in trace[-len(steps) :]]
        timeline.append(shown)
    return {"trace": trace, "history": history, "path": [entry["node"] for entry in log], "timeline": timeline}


def _proposal(channels: dict[str, str]) -> JsonObject:
    shown = {name: _outcome(packed) for name, packed in channels.items()}
    told = {key: value for item in shown.values() for key, value in item.items()}
    if len(shown) > 1 and "proposal" in told:
        told["proposal"] = {name: item["proposal"] for name, item in shown.items() if "proposal" in item}
    return told


def _outcome(packed: str) -> JsonObject:
    try:
        return Outcome.unpacked(packed).shown()
    except NotJson:  # a body of a user's own may keep its proposal as any text
        return {"proposal": packed}
