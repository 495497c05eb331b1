"""The way of a run: the nodes that ran, how long each took and what it decided, and the graph in which they stand."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import get_args

from langgraph.graph import START

from guardgraph.drawing.diagram import Diagram, Edge, Node, find_main_way
from guardgraph.drawing.style import DrawnKind
from guardgraph.drawing.svg import draw_svg
from guardgraph.drawing.taken import Taken
from guardgraph.plain.errors import ConfigurationError
from guardgraph.plain.json import JsonValue
from guardgraph.reporting.document import Child, Html, make_tag
from guardgraph.reporting.reading import RunReading, TimelineRow
from guardgraph.reporting.values import format_duration, render_inline, render_name
from guardgraph.state.run import Kind


def make_way_diagram(taken: Taken, kinds: Mapping[str, Kind]) -> Diagram:
    """Return the way of a run as a graph of its own, which runs straight down where the run never went back."""
    visits = Counter(taken.path)
    nodes = [Node(START, "start", "the run began here", visits=1)]
    for name, often in visits.items():
        nodes.append(
            Node(
                name, _choose_way_node_kind(name, kinds.get(name), taken), _describe_way_node(name, kinds), visits=often
            )
        )
    steps = dict.fromkeys(itertools.pairwise((START, *taken.path)))
    edges = tuple(Edge(start, end, taken=True) for start, end in steps)
    return Diagram("the run", tuple(nodes), edges, (), find_main_way([node.name for node in nodes], steps), taken)


def _choose_way_node_kind(name: str, kind: Kind | None, taken: Taken) -> DrawnKind:
    if kind == "terminal":
        return "stop" if not taken.is_ok_way and name == taken.path[-1] else "ok"  # one that failed leads to a stop
    return kind or "plain"


def _describe_way_node(name: str, kinds: Mapping[str, Kind]) -> str:
    return f"{name}: {kinds[name]}" if name in kinds else name


LEAST = 0.8
"""Of a hundred parts of a bar, so that what took no time is seen too."""


def render_timeline(reading: RunReading) -> Html:
    """Return a table with a row for each node."""
    columns = make_tag("tr", (make_tag("th", column, scope="col") for column in ("node", "decision", "time")))
    total = make_tag(
        "tr",
        make_tag("th", "active time", scope="row", colspan=2),
        make_tag("td", format_duration(reading.total_active_ms)),
    )
    rows = make_tag("tbody", _render_timeline_rows(reading))
    return make_tag("table", make_tag("thead", columns), rows, make_tag("tfoot", total), class_="card timeline")


def _render_timeline_rows(reading: RunReading) -> Iterator[Html]:
    whole = sum(entry.elapsed_ms or 0.0 for entry in reading.entries) or 1.0
    begun = 0.0
    for entry in reading.entries:
        took = entry.elapsed_ms
        about = ", ".join(filter(None, (entry.kind, entry.phase)))
        node = make_tag(
            "th", render_name(entry.node), make_tag("small", make_tag("bdi", about)) if about else None, scope="row"
        )
        kind = _choose_row_class(entry, ok=reading.taken.is_ok_way)
        bar = _render_time_bar(kind, begun / whole, (took or 0.0) / whole)
        time = "–" if took is None else make_tag("div", bar, make_tag("span", format_duration(took)), class_="time")
        yield make_tag("tr", node, make_tag("td", render_decision_word(entry)), make_tag("td", time), class_=kind)
        begun += took or 0.0


def _choose_row_class(entry: TimelineRow, *, ok: bool) -> str:
    if entry.kind == "terminal":
        return "ok" if ok else "stop"
    return entry.kind or "plain"


def _render_time_bar(kind: str, start: float, share: float) -> Html:
    width = max(100 * share, LEAST)
    left = min(100 * start, 100 - width)
    rect = make_tag("rect", class_=kind, x=f"{left:.2f}", width=f"{width:.2f}", height=1)
    return make_tag("svg", rect, viewBox="0 0 100 1", preserveAspectRatio="none", aria_hidden="true", class_="bar")


def render_decision_word(entry: TimelineRow) -> Child:
    """Return in a word what was decided: a guard's verdict, a person's decision, that a proposer proposed or failed."""
    told = entry.told
    if "verdict" in told:
        stopped = told["verdict"] == "stop"
        return make_tag("span", render_inline(told["verdict"]), class_="verdict stop" if stopped else "verdict pass")
    if "failure" in told:
        return make_tag("span", "failed", class_="verdict stop")
    if entry.kind == "review" and isinstance(answer := told.get("answer"), dict):
        return _render_person_decision(answer.get("decision"))
    return "proposed" if "proposal" in told else None


def _render_person_decision(decision: JsonValue) -> Child:
    rejected = decision == "reject"
    return make_tag("span", render_inline(decision), class_="verdict stop" if rejected else "verdict pass")


DRAWN = 150
"""Different steps from node to node up to which a way is drawn; nobody can read a longer one."""


def render_way_picture(reading: RunReading) -> Html:
    """Return the nodes that ran, as a picture that fits beside the text and on a phone."""
    kinds: dict[str, Kind] = {entry.node: entry.kind for entry in reading.entries if entry.kind is not None}
    if reading.pending_request is not None:  # it has no timeline yet
        drawn = reading.graph.nodes if reading.graph else ()
        kinds |= {node.name: kind for node in drawn for kind in get_args(Kind) if kind == node.kind}
        kinds.setdefault(reading.taken.path[-1], "review")
    if len(set(pairwise(reading.taken.path))) > DRAWN:
        return make_tag("p", "The way of this run is too long to be drawn; the timeline has all of it.", class_="none")
    return _render_picture(make_way_diagram(reading.taken, kinds), headed=False)


def render_whole_graph(reading: RunReading) -> Html | None:
    """Return the whole graph with the way of the run, None if it is not known."""
    return None if reading.graph is None else make_tag("div", _render_picture(reading.graph), class_="whole")


def _render_picture(diagram: Diagram, *, headed: bool = True) -> Html:
    try:
        return make_tag(
            "figure", Html(draw_svg(diagram, narrow=True, headed=headed))
        )  # a picture escapes what it shows
    except ConfigurationError as error:
        return make_tag("p", str(error), class_="none")
