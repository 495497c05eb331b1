"""Layout: nodes and edges by graphlay's layered layout, endings and labels beside what they belong to."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import fsum
from typing import Any

from guardgraph.drawing.diagram import Diagram, Edge, Node
from guardgraph.drawing.shapes import (
    CHIP_CELL,
    DOT,
    NAME_CELLS,
    Box,
    Panel,
    Point,
    enclose_points,
    fit_label,
    measure_cells,
    measure_ending_panel,
    place_ending_panel,
    round_coordinate,
)
from guardgraph.plain.errors import ConfigurationError
from guardgraph.plain.extras import explain_extra

LABEL_CELLS = 24
LABEL_HEIGHT = 13.0
"""Less than the distance of two lines beside each other, doubled."""
BESIDE = 3.0
"""Between a line and a label beside it."""
TIP = 20.0
"""Room around the end of a line, where its tip is."""
SHARES = (0.5, 0.35, 0.65, 0.2, 0.8)
"""Where on a straight piece of the line a label is tried."""


def measure_label_width(edge: Edge) -> float:
    """Return the room that an edge's label takes across."""
    return measure_cells(fit_label(edge.label, LABEL_CELLS)) * CHIP_CELL + 8


def place_edge_labels(
    edges: Sequence[Edge], routes: Mapping[tuple[str, str], tuple[Point, ...]], nodes: Sequence[Box]
) -> dict[tuple[str, str], Box]:
    """Return the places of labels by the ends of their edges."""
    placed: dict[tuple[str, str], Box] = {}
    for edge in edges:
        if edge.label:
            key = (edge.start, edge.end)
            others = [
                enclose_points(pair) for other, points in routes.items() if other != key for pair in pairwise(points)
            ]
            taken = [*nodes, *placed.values(), *others, Box(*routes[key][-1], TIP, TIP)]
            placed[key] = min(
                _try_label_places(routes[key], measure_label_width(edge)),
                key=lambda box: sum(map(box.overlaps_box, taken)),
            )
    return placed


def _try_label_places(points: Sequence[Point], width: float) -> Iterator[Box]:
    """Yield places on a line, its longest piece first, then places beside it."""
    pieces = sorted(pairwise(points), key=_measure_line_length, reverse=True)
    for aside in (0.0, width / 2 + BESIDE, -width / 2 - BESIDE):
        for (x0, y0), (x1, y1) in pieces:
            for share in SHARES:
                yield Box(
                    round_coordinate(x0 + (x1 - x0) * share + aside),
                    round_coordinate(y0 + (y1 - y0) * share),
                    width,
                    LABEL_HEIGHT,
                )


def _measure_line_length(piece: tuple[Point, Point]) -> float:
    (x0, y0), (x1, y1) = piece
    return abs(x1 - x0) + abs(y1 - y0)


CELL = 7.83
"""Width of a letter of node names: 13 px, 0.602 em, as most fixed-width fonts have it."""
NODE_HEIGHT = 38.0
NODE_MARGIN = 48.0
LEAST_WIDTH = 140.0
DOT_EDGE = 26.0
"""START and END are round; their places are as much wider for every edge but one, which is led to their sides."""

REACH = 34.0
"""From a node to its endings."""
FARTHEST = 90.0
"""Edges that pass closer than this are reached across."""
CLEARANCE = 12.0
"""Around endings that stand beside their node."""

SPACING = {"layer_gap": 32.0, "node_gap": 34.0, "dummy_gap": 24.0}
MAIN_WEIGHT = 50.0
"""Of the edges of the main way, against 1, so that it is the one that is kept straight."""


@dataclass(frozen=True, slots=True)
class Placed:
    """A diagram with places for everything."""

    nodes: tuple[tuple[Node, Box], ...]
    edges: tuple[tuple[Edge, tuple[Point, ...], Box | None], ...]
    """With the points of the line, and the place of the label."""
    panels: tuple[Panel, ...]
    bounds: Box


@dataclass(frozen=True, slots=True)
class _Arranged:
    boxes: dict[str, Box]
    routes: dict[tuple[str, str], tuple[Point, ...]]
    labels: dict[tuple[str, str], Box]
    below: dict[str, Box]
    """Endings that stand in the layout themselves."""

    def mirror_layout(self) -> _Arranged:
        return _Arranged(
            {name: _mirror_box(box) for name, box in self.boxes.items()},
            {key: tuple(map(_mirror_point, points)) for key, points in self.routes.items()},
            {key: _mirror_box(box) for key, box in self.labels.items()},
            {name: _mirror_box(box) for name, box in self.below.items()},
        )


def place_diagram(diagram: Diagram) -> Placed:
    """Lay a diagram out, main way down the middle."""
    below = {node.name for node in diagram.nodes if node.endings and not _has_outgoing_edge(diagram, node.name)}
    while True:
        arranged = _arrange_drawn_nodes(diagram, below)
        sides = [(side, _place_panels_beside(diagram, side)) for side in (arranged, arranged.mirror_layout())]
        arranged, beside = min(
            sides, key=lambda side: (len(_find_clashing_panels(*side)), _weigh_right_side_nodes(side[0]))
        )
        clashing = _find_clashing_panels(arranged, beside)
        if not clashing:
            return _place_arranged_nodes(diagram, arranged, beside)
        below |= clashing


def _has_outgoing_edge(diagram: Diagram, name: str) -> bool:
    return any(edge.start == name for edge in diagram.edges)


def _weigh_right_side_nodes(arranged: _Arranged) -> float:
    """Return by how much nodes stand on the right of the main way, where endings should be."""
    return fsum(box.x for box in [*arranged.boxes.values(), *arranged.below.values()])


def _arrange_drawn_nodes(diagram: Diagram, below: set[str]) -> _Arranged:
    try:
        import graphlay
    except ImportError as error:
        raise ConfigurationError(f"draw: {explain_extra('draw')} ({error})") from error
    graph = graphlay.Graph()
    number = {node.name: index for index, node in enumerate(diagram.nodes)}  # names may be what no JSON can say
    width = _measure_node_width(diagram.nodes)
    stops = any(node.endings for node in diagram.nodes)
    for node in diagram.nodes:
        box = _measure_visible_box(diagram, node, width)
        lane = int(stops and node.name in diagram.main)  # leaves the other side to the stops
        beside = 0.0 if node.name in below else measure_ending_panel(node)[1]
        graph.node(number[node.name], width=box.width, height=max(box.height, beside), group=lane)
    main = set(pairwise(diagram.main))
    for edge in diagram.edges:
        label = {"label_size": {"width": measure_label_width(edge), "height": LABEL_HEIGHT}} if edge.label else {}
        weight = MAIN_WEIGHT if (edge.start, edge.end) in main else 1.0
        graph.edge(number[edge.start], number[edge.end], weight=weight, **label)
    panels = [node for node in diagram.nodes if node.name in below]
    for node in panels:
        size = measure_ending_panel(node)
        graph.edge(number[node.name], graph.node(width=size[0], height=size[1], group=0))
    options = {"spacing": SPACING, "routing": {"port_sides": "facing_only"}}
    done = graphlay.layout(graph, preset="process_map", options=options)
    return _read_graphlay_layout(diagram, panels, done, width)


def _read_graphlay_layout(diagram: Diagram, panels: list[Node], done: Any, width: float) -> _Arranged:
    centres = [(round_coordinate(item["center"]["x"]), round_coordinate(item["center"]["y"])) for item in done.nodes]
    middle = centres[0][0]  # START stands on the main way
    boxes, below = {}, {}
    for node, (x, y) in zip(diagram.nodes, centres, strict=False):
        size = _measure_visible_box(diagram, node, width)
        boxes[node.name] = Box(round_coordinate(x - middle), y, size.width, size.height)
    for node, (x, y) in zip(panels, centres[len(diagram.nodes) :], strict=True):
        below[node.name] = Box(round_coordinate(x - middle), y, *measure_ending_panel(node))
    keys = [*((edge.start, edge.end) for edge in diagram.edges), *((node.name, "") for node in panels)]
    routes = {}
    for key, edge in zip(keys, done.edges, strict=True):
        routes[key] = tuple(
            (round_coordinate(point["x"] - middle), round_coordinate(point["y"])) for point in edge["points"]
        )
    _straighten_main_way(diagram.main, routes)
    return _Arranged(boxes, routes, place_edge_labels(diagram.edges, routes, [*boxes.values(), *below.values()]), below)


def _straighten_main_way(main: tuple[str, ...], routes: dict[tuple[str, str], tuple[Point, ...]]) -> None:
    """Give the main way the middle where an edge leads straight back beside it."""
    for start, end in pairwise(main):
        there, back = routes[start, end], routes.get((end, start), ())
        if len(there) == len(back) == 2 and there[0][0] and not back[0][0]:
            routes[start, end], routes[end, start] = back[::-1], there[::-1]


def _place_arranged_nodes(diagram: Diagram, arranged: _Arranged, beside: dict[str, Panel]) -> Placed:
    nodes = tuple((node, arranged.boxes[node.name]) for node in diagram.nodes)
    edges = []
    for edge in diagram.edges:
        key = (edge.start, edge.end)
        edges.append((edge, arranged.routes[key], arranged.labels.get(key)))
    panels = [
        beside.get(node.name) or place_ending_panel(node, arranged.below[node.name], arranged.routes[node.name, ""])
        for node in diagram.nodes
        if node.endings
    ]
    chips = [chip.box for panel in panels for chip in panel.chips]
    boxes = [*arranged.boxes.values(), *arranged.labels.values(), *chips]
    corners = [corner for box in boxes for corner in box.corner_points]
    corners += [point for points in arranged.routes.values() for point in points]
    return Placed(nodes, tuple(edges), tuple(panels), enclose_points(corners))


def _place_panels_beside(diagram: Diagram, arranged: _Arranged) -> dict[str, Panel]:
    """Place endings beside their nodes, on the side away from the main way; those of a column in one lane."""
    columns: dict[tuple[int, float], list[Node]] = {}
    for node in diagram.nodes:
        if node.endings and node.name not in arranged.below:
            box = arranged.boxes[node.name]
            sign = 1 if box.x >= 0 else -1
            columns.setdefault((sign, box.x + sign * box.width / 2), []).append(node)
    panels = {}
    for (sign, border), nodes in columns.items():
        lane = border + sign * _measure_panel_reach(nodes, arranged, sign, border)
        for node in nodes:
            width, height = measure_ending_panel(node)
            y = arranged.boxes[node.name].y
            room = Box(lane + sign * width / 2, y, width, height)
            panels[node.name] = place_ending_panel(node, room, ((border, y), (lane, y)), sign)
    return panels


def _measure_panel_reach(nodes: Iterable[Node], arranged: _Arranged, sign: int, border: float) -> float:
    """Return how far from a column its endings stand: behind the edges that pass close by."""
    reach = REACH
    for node in nodes:
        room = Box(0.0, arranged.boxes[node.name].y, 0.0, measure_ending_panel(node)[1] + CLEARANCE)
        for line in _list_edge_lines(arranged):
            away = sign * (line.x - border)
            if not line.width and 0 < away < FARTHEST and abs(line.y - room.y) <= (line.height + room.height) / 2:
                reach = max(reach, away + CLEARANCE)
    return reach


def _list_edge_lines(arranged: _Arranged) -> list[Box]:
    """Return every straight piece of every edge."""
    return [enclose_points(pair) for points in arranged.routes.values() for pair in pairwise(points)]


def _find_clashing_panels(arranged: _Arranged, beside: dict[str, Panel]) -> set[str]:
    """Return the nodes whose endings, beside them, would meet another node, edge or ending."""
    rooms, ways = {}, {}
    for name, panel in beside.items():
        corners = [corner for chip in panel.chips for corner in chip.box.corner_points]
        rooms[name] = enclose_points([*corners, panel.line[1]]).widen_box(CLEARANCE)
        ways[name] = enclose_points(panel.line).widen_box(CLEARANCE)
    lines = _list_edge_lines(arranged)
    along = [line for line in lines if line.width]
    clashing = set()
    for name, room in rooms.items():
        others = [box for other, box in [*arranged.boxes.items(), *rooms.items()] if other != name]
        others += [*arranged.below.values(), *arranged.labels.values()]
        if any(map(room.overlaps_box, [*others, *lines])) or any(map(ways[name].overlaps_box, [*others, *along])):
            clashing.add(name)
    return clashing


def _measure_node_width(nodes: Iterable[Node]) -> float:
    """Return one width for all nodes, so that they stand in columns."""
    return max([LEAST_WIDTH, *(measure_cells(fit_label(node.name, NAME_CELLS)) * CELL + NODE_MARGIN for node in nodes)])


def _measure_visible_box(diagram: Diagram, node: Node, width: float) -> Box:
    """Return a node's size; the places of START and END grow with their edges."""
    if node.kind in ("start", "end"):
        ends = sum(node.name in (edge.start, edge.end) for edge in diagram.edges)
        return Box(0.0, 0.0, DOT + DOT_EDGE * max(ends - 1, 0), DOT)
    return Box(0.0, 0.0, width, NODE_HEIGHT)


def _mirror_point(point: Point) -> Point:
    return 0.0 - point[0], point[1]


def _mirror_box(box: Box) -> Box:
    return Box(0.0 - box.x, box.y, box.width, box.height)
