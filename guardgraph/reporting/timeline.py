"""The timeline: every node that ran, how long it took, and what it decided."""

from __future__ import annotations

from collections.abc import Iterator

from guardgraph.plain.json import JsonValue
from guardgraph.reporting.elements import Child, Html, tag
from guardgraph.reporting.head import duration
from guardgraph.reporting.reading import Entry, Reading
from guardgraph.reporting.values import name, named

__all__ = ["decided", "timeline"]

LEAST = 0.8
"""Of a hundred parts of a bar, so that what took no time is seen too."""


def timeline(reading: Reading) -> Html:
    """Return a table with a row for each node."""
    columns = tag("tr", (tag("th", column, scope="col") for column in ("node", "decision", "time")))
    total = tag("tr", tag("th", "active time", scope="row", colspan=2), tag("td", duration(reading.active_ms)))
    rows = tag("tbody", _rows(reading))
    return tag("table", tag("thead", columns), rows, tag("tfoot", total), class_="card timeline")


def _rows(reading: Reading) -> Iterator[Html]:
    whole = sum(entry.elapsed_ms or 0.0 for entry in reading.entries) or 1.0
    begun = 0.0
    for entry in reading.entries:
        took = entry.elapsed_ms
        about = ", ".join(filter(None, (entry.kind, entry.phase)))
        node = tag("th", name(entry.node), tag("small", tag("bdi", about)) if about else None, scope="row")
        kind = _look(entry, ok=reading.taken.ok)
        bar = _bar(kind, begun / whole, (took or 0.0) / whole)
        time = "–" if took is None else tag("div", bar, tag("span", duration(took)), class_="time")
        yield tag("tr", node, tag("td", decided(entry)), tag("td", time), class_=kind)
        begun += took or 0.0


def _look(entry: Entry, *, ok: bool) -> str:
    if entry.kind == "terminal":
        return "ok" if ok else "stop"
    return entry.kind or "plain"


def _bar(kind: str, start: float, share: float) -> Html:
    width = max(100 * share, LEAST)
    left = min(100 * start, 100 - width)
    rect = tag("rect", class_=kind, x=f"{left:.2f}", width=f"{width:.2f}", height=1)
    return tag("svg", rect, viewBox="0 0 100 1", preserveAspectRatio="none", aria_hidden="true", class_="bar")


def decided(entry: Entry) -> Child:
    """Return in a word what was decided: a guard's verdict, a person's decision, that a proposer proposed or failed."""
    told = entry.told
    if "verdict" in told:
        stopped = told["verdict"] == "stop"
        return tag("span", named(told["verdict"]), class_="verdict stop" if stopped else "verdict pass")
    if "failure" in told:
        return tag("span", "failed", class_="verdict stop")
    if entry.kind == "review" and isinstance(answer := told.get("answer"), dict):
        return _answered(answer.get("decision"))
    return "proposed" if "proposal" in told else None


def _answered(decision: JsonValue) -> Child:
    rejected = decision == "reject"
    return tag("span", named(decision), class_="verdict stop" if rejected else "verdict pass")
