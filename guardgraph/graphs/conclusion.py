"""A run that is over: what came of it, and how it went, as its result tells it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from guardgraph.graphs.frame import Part
from guardgraph.plain.json import JsonObject, NotJson, storable
from guardgraph.state.catalogue import AUDIT_UNAVAILABLE
from guardgraph.state.outcome import Outcome
from guardgraph.state.recording import VisitRecord
from guardgraph.state.run import LogEntry, TimelineEntry
from guardgraph.world.people import REJECTED

__all__ = ["Conclusion"]

_UNSHOWN = ("clock", "active", "opening", "withheld")
"""Of a line in the log: what is for the record alone."""


@dataclass(frozen=True)
class Conclusion:
    """A run that is over."""

    part: Part
    """Its terminal."""
    state: JsonObject
    """What the terminal read."""
    log: list[LogEntry]
    """Every line, the terminal's last."""
    came: JsonObject
    """What came of it: the result but for how it went."""

    @cached_property
    def records(self) -> dict[int, VisitRecord]:
        """What the nodes called, by their place in the log."""
        channels = self.part.frame.records
        return {record["at"]: record for channel in channels for record in self.state.get(channel) or ()}

    @cached_property
    def result(self) -> JsonObject:
        """What came of it, with trace, history, path and timeline."""
        result = {**self.came, **self._told()}
        if "audit" in result:  # it stands last, as in what the graph returns
            result["audit"] = result.pop("audit")
        return result

    def _told(self) -> JsonObject:
        if self.part.declaration.family == AUDIT_UNAVAILABLE:
            return _withheld(_told(self.log, {}), "history")
        withholds = self.part.frame.catalogue.withholds(self.came["stop_reason"])
        if withholds or any(line.get("withheld") for line in self.log):
            return _withheld(_told(self.log, {}), "trace", "history")
        return _told(self.log, self.records)


def _withheld(record: JsonObject, *names: str) -> JsonObject:
    """Return how a run went without what came of it, such as the answer of a run that is not recorded."""
    kept = ("step", "phase", "elapsed_ms", "ok")
    bare = {name: [{key: step[key] for key in kept if key in step} for step in record[name]] for name in names}
    return {**record, **bare}


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
            return {"answer": storable(outcome.content["details"])}
        return {"failure" if outcome.form == "failure" else "answer": storable(outcome.content)}
    return {}


def _shown(packed: str) -> JsonObject:
    try:
        return Outcome.unpacked(packed).shown()
    except NotJson:  # a body of a user's own may keep its proposal as any text
        return {"proposal": packed}
