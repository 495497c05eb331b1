"""The drawn path of a run: the nodes that ran, and the whole graph in which they stand."""

from __future__ import annotations

from itertools import pairwise
from typing import get_args

from guardgraph.drawing.diagram import Diagram
from guardgraph.drawing.svg import svg
from guardgraph.drawing.way import way_of
from guardgraph.plain.errors import ConfigurationError
from guardgraph.reporting.elements import Html, tag
from guardgraph.reporting.reading import Reading
from guardgraph.state.run import Kind

__all__ = ["graph", "way"]

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
