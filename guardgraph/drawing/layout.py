"""Layout: nodes, edges and endings by graphlay's layered layout, labels beside what they belong to."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from guardgraph.drawing import shapes
from guardgraph.drawing.diagram import Diagram, Edge, Node
from guardgraph.drawing.shapes import Box, Point, round_coordinate
from guardgraph.plain.errors import ConfigurationError
from guardgraph.plain.extras import explain_extra

LABEL_CELLS = 24
LABEL_HEIGHT = 13.0  # less than the distance of two lines beside each other, doubled
BESIDE = 3.0  # between a line and a label beside it
TIP = 20.0  # room around the end of a line, where its tip is
SHARES = (0.5, 0.35, 0.65, 0.2, 0.8)  # where on a straight piece of the line a label is tried


def measure_label_width(edge: Edge) -> float:
    """Return the room that an edge's label takes across."""
    return shapes.measure_cells(shapes.fit_label(edge.label, LABEL_CELLS)) * shapes.CHIP_CELL + 8


def place_edge_labels(
    edges: Sequence[Edge], routes: Mapping[tuple[str, str], tuple[Point, ...]], nodes: Sequence[Box]
) -> dict[tuple[str, str], Box]:
    """Return the places of labels by the ends of their edges."""
    placed: dict[tuple[str, str], Box] = {}
    for edge in edges:
        if edge.label:
            key = (edge.start, edge.end)
            taken = [*nodes, *placed.values(), Box(*routes[key][-1], TIP, TIP)]
            for points in (each for other, each in routes.items() if other != key):
                taken += map(shapes.enclose_points, pairwise(points))
            places = _try_label_places(routes[key], measure_label_width(edge))
            placed[key] = min(places, key=lambda box: sum(map(box.overlaps_box, taken)))
    return placed


def _try_label_places(points: Sequence[Point], width: float) -> Iterator[Box]:
    """Yield places on a line, its longest piece first, then places beside it."""

    def measure_length(piece: tuple[Point, Point]) -> float:
        (x0, y0), (x1, y1) = piece
        return abs(x1 - x0) + abs(y1 - y0)

    pieces = sorted(pairwise(points), key=measure_length, reverse=True)
    for aside in (0.0, width / 2 + BESIDE, -width / 2 - BESIDE):
        for (x0, y0), (x1, y1) in pieces:
            for share in SHARES:
                x, y = x0 + (x1 - x0) * share + aside, y0 + (y1 - y0) * share
                yield Box(round_coordinate(x), round_coordinate(y), width, LABEL_HEIGHT)


CELL = 7.83  # width of a letter of node names: 13 px, 0.602 em, as most fixed-width fonts have it
NODE_HEIGHT = 38.0
NODE_MARGIN = 48.0
LEAST_WIDTH = 140.0
DOT_EDGE = 26.0
"""START and END are round; their places are as much wider for every edge but one, which is led to their sides."""

SPACING = {"layer_gap": 32.0, "node_gap": 34.0, "dummy_gap": 24.0}
MAIN_WEIGHT = 50.0  # of the edges of the main way, against 1, so that it is the one that is kept straight


@dataclass(frozen=True, slots=True)
class Placed:
    """A diagram with places for everything."""

    nodes: tuple[tuple[Node, Box], ...]
    edges: tuple[tuple[Edge, tuple[Point, ...], Box | None], ...]
    """With the points of the line, and the place of the label."""
    panels: tuple[shapes.Panel, ...]
    bounds: Box


def place_diagram(diagram: Diagram) -> Placed:
    """Lay a diagram out, main way down the middle; the endings of a node are a node of their own beside it."""
    try:
        import graphlay
    except ImportError as error:
        raise ConfigurationError(f"draw: {explain_extra('draw')} ({error})") from error
    graph = graphlay.Graph()
    number = {node.name: index for index, node in enumerate(diagram.nodes)}  # names may be what no JSON can say
    names = [shapes.fit_label(node.name, shapes.NAME_CELLS) for node in diagram.nodes]
    width = max([LEAST_WIDTH, *(shapes.measure_cells(name) * CELL + NODE_MARGIN for name in names)])
    panels = [node for node in diagram.nodes if node.endings]
    for node in diagram.nodes:
        size = _measure_node_box(diagram, node, width)
        lane = int(bool(panels) and node.name in diagram.main)  # leaves the other side to the stops
        graph.node(number[node.name], width=size.width, height=size.height, group=lane)
    main = set(pairwise(diagram.main))
    for edge in diagram.edges:
        label = {"label_size": {"width": measure_label_width(edge), "height": LABEL_HEIGHT}} if edge.label else {}
        weight = MAIN_WEIGHT if (edge.start, edge.end) in main else 1.0
        graph.edge(number[edge.start], number[edge.end], weight=weight, **label)
    for node in panels:
        panel_width, panel_height = shapes.measure_ending_panel(node)
        graph.edge(number[node.name], graph.node(width=panel_width, height=panel_height, group=0))
    options = {"spacing": SPACING, "routing": {"port_sides": "facing_only"}}
    done = graphlay.layout(graph, preset="process_map", options=options)
    return _read_graphlay_layout(diagram, panels, done, width)


def _read_graphlay_layout(diagram: Diagram, panels: list[Node], done: Any, width: float) -> Placed:
    middle = round_coordinate(done.nodes[0]["center"]["x"])  # START stands on the main way

    def convert_layout_point(point: Any) -> Point:
        return round_coordinate(point["x"] - middle), round_coordinate(point["y"])

    centres = [convert_layout_point(item["center"]) for item in done.nodes]
    lines = [tuple(map(convert_layout_point, edge["points"])) for edge in done.edges]
    boxes = {}
    for node, (x, y) in zip(diagram.nodes, centres, strict=False):
        size = _measure_node_box(diagram, node, width)
        boxes[node.name] = Box(x, y, size.width, size.height)
    routes = dict(zip([(edge.start, edge.end) for edge in diagram.edges], lines, strict=False))
    for start, end in pairwise(diagram.main):
        there, back = routes[start, end], routes.get((end, start), ())
        if len(there) == len(back) == 2 and there[0][0] and not back[0][0]:
            routes[start, end], routes[end, start] = back[::-1], there[::-1]
    placed = []
    for node, (x, y), line in zip(panels, centres[len(diagram.nodes) :], lines[len(diagram.edges) :], strict=True):
        placed.append(shapes.place_ending_panel(node, Box(x, y, *shapes.measure_ending_panel(node)), line))
    rooms = []
    for panel in placed:
        rooms.append(shapes.enclose_points([corner for chip in panel.chips for corner in chip.box.corner_points]))
    labels = place_edge_labels(diagram.edges, routes, [*boxes.values(), *rooms])
    corners = [corner for box in (*boxes.values(), *labels.values(), *rooms) for corner in box.corner_points]
    corners += [point for line in lines for point in line]
    return Placed(
        tuple((node, boxes[node.name]) for node in diagram.nodes),
        tuple((edge, routes[key], labels.get(key)) for edge in diagram.edges for key in [(edge.start, edge.end)]),
        tuple(placed),
        shapes.enclose_points(corners),
    )


def _measure_node_box(diagram: Diagram, node: Node, width: float) -> Box:
    """Return a node's size; the places of START and END grow with their edges."""
    if node.kind in ("start", "end"):
        ends = sum(node.name in (edge.start, edge.end) for edge in diagram.edges)
        return Box(0.0, 0.0, shapes.DOT + DOT_EDGE * max(ends - 1, 0), shapes.DOT)
    return Box(0.0, 0.0, width, NODE_HEIGHT)
