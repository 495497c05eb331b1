"""The result of a run, put together by terminal nodes from the log."""

from __future__ import annotations

from guardgraph.state.catalogue import SUCCESS
from guardgraph.state.json import JsonObject
from guardgraph.state.run import LogEntry, Verdict

__all__ = ["RECORDED", "finished", "stopped"]

RECORDED = ("run_id", "status", "stop_reason", "phase", "trace", "history", "path")
"""Keys of a result that say how the run went; no body writes them."""


def finished(state: JsonObject, node: str, result: JsonObject) -> JsonObject:
    """Return the result of a run that ended well at terminal `node`."""
    return {"run_id": state["run"], "status": "ok", "stop_reason": SUCCESS, **result, **_record(state, node)}


def stopped(state: JsonObject, node: str, verdict: Verdict) -> JsonObject:
    """Return the result of a run that a guard stopped, ended at terminal `node`."""
    head = {"run_id": state["run"], "status": "stopped", "stop_reason": verdict["reason"], "phase": verdict["phase"]}
    return {**head, **verdict["evidence"], **_record(state, node)}


def _record(state: JsonObject, node: str) -> JsonObject:
    log: list[LogEntry] = state["log"]
    trace, history = _steps(log)
    return {"trace": trace, "history": history, "path": [*(entry["node"] for entry in log), node]}


def _steps(log: list[LogEntry]) -> tuple[list[JsonObject], list[JsonObject]]:
    """Number the completed steps; each lasts from the end of the one before."""
    trace: list[JsonObject] = []
    history: list[JsonObject] = []
    elapsed = 0.0
    for entry in log:
        elapsed += entry["elapsed_ms"]
        for traced, told in entry.get("steps", ()):
            head, tail = {"step": len(trace) + 1}, {"elapsed_ms": round(elapsed, 3)}
            trace.append({**head, **traced, **tail, "ok": True})
            history.append({**head, **told, **tail})
            elapsed = 0.0
    return trace, history
