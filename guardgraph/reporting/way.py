"""The way of a run: the nodes that ran, how long each took and what it decided, and the graph in which they stand."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import get_args

from guardgraph.drawing.diagram import Diagram
from guardgraph.drawing.svg import svg
from guardgraph.drawing.way import way_of
from guardgraph.plain.errors import ConfigurationError
from guardgraph.plain.json import JsonValue
from guardgraph.reporting.document import Child, Html, tag
from guardgraph.reporting.reading import Entry, Reading
from guardgraph.reporting.values import duration, name, named
from guardgraph.state.run import Kind

__all__ = ["decided", "graph", "timeline", "way"]

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


DRAWN = 150
"""Different steps from node to node up to which a way is drawn; nobody can read a longer one."""


def way(reading: Reading) -> Html:
    """Return the nodes that ran, as a picture that fits beside the text and on a phone."""
    kinds: dict[str, Kind] = {entry.node: entry.kind for entry in reading.entries if entry.kind is not None}
    if reading.waiting_for is not None:  # it has no timeline yet
        drawn = reading.graph.nodes if reading.graph else ()
        kinds |= {node.name: kind for node in drawn for kind in get_args(Kind) if kind == node.kind}
        kinds.setdefault(reading.taken.path[-1], "review")
    if len(set(pairwise(reading.taken.path))) > DRAWN:
        return tag("p", "The way of this run is too long to be drawn; the timeline has all of it.", class_="none")
    return _picture(way_of(reading.taken, kinds), headed=False)


def graph(reading: Reading) -> Html | None:
    """Return the whole graph with the way of the run, None if it is not known."""
    return None if reading.graph is None else tag("div", _picture(reading.graph), class_="whole")


def _picture(diagram: Diagram, *, headed: bool = True) -> Html:
    try:
        return tag("figure", Html(svg(diagram, narrow=True, headed=headed)))  # a picture escapes what it shows
    except ConfigurationError as error:
        return tag("p", str(error), class_="none")
