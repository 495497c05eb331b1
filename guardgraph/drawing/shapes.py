"""The parts of a picture as SVG elements: nodes by their kinds, edges with tips, endings, labels."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from itertools import pairwise
from math import copysign, hypot, sqrt

from guardgraph.drawing.diagram import Node
from guardgraph.drawing.geometry import Box, Point, fit_label, measure_cells
from guardgraph.drawing.panels import Chip
from guardgraph.drawing.style import LOOKS, DrawnKind

NAME_CELLS = 32
PARTS = "parts"
"""Badge of the node from which two runs go different ways."""
DOT = 14.0
"""Width and height of what is round."""
SLANT = 12.0
"""How far slanted sides reach inwards."""
CORNER = 7.0
"""Radius of the bends of an edge."""
TIP = (8.0, 3.6)
"""Length and half width of an arrow's tip."""
_ROUND = ("dot", "ring")
"""Shapes that are as wide as they are high, whatever their place is."""
_STRAIGHT = 0.01
"""What two ends of a straight line may differ by, after rounding."""


def draw_node(item: Node, box: Box, *, parting: bool = False) -> str:
    """Return a node: its shape, its name, how often a run came here where that is more than once, whether two part."""
    parts = [draw_node_outline(item.kind, box)]
    if item.kind not in ("start", "end"):
        parts.append(draw_text(fit_label(item.name, NAME_CELLS), box.x, box.y + 4.5))
    if item.visits > 1:
        parts.append(draw_badge(f"×{item.visits}", box.min_x + 6, box.min_y + 1))
    if parting:
        parts.append(draw_badge(PARTS, box.max_x - 8, box.min_y - 1))
    return "".join([f"<title>{escape(fit_label(item.about, 200))}</title>", *parts])


def draw_node_outline(kind: DrawnKind, box: Box) -> str:
    """Return the shape of a kind of node."""
    look = LOOKS[kind]
    match look.outline:
        case "dot":
            return _draw_circle("dot", box, 0.0)
        case "ring":
            return _draw_circle("ring", box, 0.0) + _draw_circle("dot", box, 4.0)
        case "hexagon":
            upper = [
                (box.min_x, box.y),
                (box.min_x + SLANT, box.min_y),
                (box.max_x - SLANT, box.min_y),
                (box.max_x, box.y),
            ]
            return _draw_polygon([*upper, (box.max_x - SLANT, box.max_y), (box.min_x + SLANT, box.max_y)])
        case "tray":
            below = [(box.max_x - SLANT, box.max_y), (box.min_x + SLANT, box.max_y)]
            return _draw_polygon([(box.min_x, box.min_y), (box.max_x, box.min_y), *below])
    radius = box.height / 2 if look.outline == "round" else look.corner
    inner = Box(box.x, box.y, box.width - 8, box.height - 8)
    shape = _draw_rectangle("shape", box, radius)
    return shape + _draw_rectangle("inner", inner, radius - 3) if look.double else shape


def draw_ending_chip(item: Chip) -> str:
    """Return an ending."""
    box = item.box
    what = f"<title>{escape(fit_label(item.ending.about, 200))}</title>"
    return what + _draw_rectangle("shape", box, 4.0) + draw_text(item.text, box.x, box.y + 3.8)


def draw_edge_label(words: str, box: Box) -> str:
    """Return the label of an edge, on a ground that keeps it legible."""
    return f'<g class="chip">{_draw_rectangle("halo", box, 3.0)}{draw_text(words, box.x, box.y + 3.8)}</g>'


def draw_arrow(points: Sequence[Point], line: str, *, bare: bool = False) -> str:
    """Return a line through points with round bends, and a tip unless it is bare."""
    if bare:
        return f'<path class="{line}" d="{_draw_rounded_path(points)}"/>'
    *before, (x0, y0), (x, y) = points
    length = hypot(x - x0, y - y0) or 1.0
    across, down = (x - x0) / length, (y - y0) / length
    root = (x - across * TIP[0], y - down * TIP[0])
    wings = [(root[0] - sign * down * TIP[1], root[1] + sign * across * TIP[1]) for sign in (1, -1)]
    path = _draw_rounded_path([*before, (x0, y0), root])
    tip = " ".join(map(_write_point, [(x, y), *wings]))
    return f'<path class="{line}" d="{path}"/><polygon class="tip" points="{tip}"/>'


def trim_edge(points: Sequence[Point], start: tuple[DrawnKind, Box], end: tuple[DrawnKind, Box] | None) -> list[Point]:
    """Return the points of an edge, drawn out to the shapes at its ends: those are smaller than their places."""
    done = _begin_edge_on_outline(points, *start)
    return done if end is None else _begin_edge_on_outline(done[::-1], *end)[::-1]


def _begin_edge_on_outline(points: Sequence[Point], kind: DrawnKind, box: Box) -> list[Point]:
    """Return the points with the first one on the outline of its node; a round one is entered from its sides too."""
    first, *rest = points
    if LOOKS[kind].outline in _ROUND:
        aside, radius = first[0] - box.x, box.height / 2
        if abs(aside) > radius and abs(first[0] - rest[0][0]) <= _STRAIGHT:
            return [(box.x + copysign(radius, aside), box.y), (first[0], box.y), *rest]
        box = Box(box.x, box.y, box.height, box.height)
    return [_find_outline_point(first, rest[0], kind, box), *rest]


def _find_outline_point(point: Point, other: Point, kind: DrawnKind, box: Box) -> Point:
    x, _y = point
    if abs(x - other[0]) > _STRAIGHT:
        return point
    half, aside, below = box.height / 2, abs(x - box.x), other[1] > box.y
    edge, outline = box.width / 2 - aside, LOOKS[kind].outline
    if outline == "hexagon" and edge < SLANT:
        half *= max(edge, 0.0) / SLANT
    elif outline == "tray" and below and edge < SLANT:
        half *= 2 * max(edge, 0.0) / SLANT - 1
    elif outline in ("round", *_ROUND) and edge < half:
        half = sqrt(max(half * half - (half - edge) ** 2, 0.0))
    return x, box.y + (half if below else -half)


def _draw_rounded_path(points: Sequence[Point]) -> str:
    path = [f"M{_write_point(points[0])}"]
    for (before, corner), (_, after) in pairwise(pairwise(points)):
        bend = min(CORNER, _measure_distance(before, corner) / 2, _measure_distance(corner, after) / 2)
        begin, end = (_write_point(_move_towards(corner, other, bend)) for other in (before, after))
        path.append(f"L{begin}Q{_write_point(corner)} {end}")
    return "".join([*path, f"L{_write_point(points[-1])}"])


def _measure_distance(one: Point, other: Point) -> float:
    return hypot(one[0] - other[0], one[1] - other[1])


def _move_towards(start: Point, end: Point, distance: float) -> Point:
    share = distance / (_measure_distance(start, end) or 1.0)
    return start[0] + (end[0] - start[0]) * share, start[1] + (end[1] - start[1]) * share


def draw_badge(words: str, x: float, y: float) -> str:
    """Return a few letters on a ground of their own, around a place."""
    box = Box(x, y, measure_cells(words) * 6.7 + 10, 17.0)
    return f'<g class="badge">{_draw_rectangle("", box, 8.5)}{draw_text(words, x, y + 3.9)}</g>'


def _draw_circle(kind: str, box: Box, within: float) -> str:
    """Return a circle in the middle of a place, which is wider where many edges end in it."""
    side = box.height - 2 * within
    return _draw_rectangle(kind, Box(box.x, box.y, side, side), side / 2)


def _draw_polygon(corners: Sequence[Point]) -> str:
    return f'<polygon class="shape" points="{" ".join(map(_write_point, corners))}"/>'


def _draw_rectangle(kind: str, box: Box, radius: float) -> str:
    named = f'class="{kind}" ' if kind else ""
    rounded = f' rx="{to_svg_number(radius)}"' if radius else ""
    size = f'width="{to_svg_number(box.width)}" height="{to_svg_number(box.height)}"'
    return f'<rect {named}x="{to_svg_number(box.min_x)}" y="{to_svg_number(box.min_y)}" {size}{rounded}/>'


def draw_text(words: str, x: float, y: float, kind: str = "") -> str:
    """Return a text; whatever is in it stays text."""
    named = f' class="{kind}"' if kind else ""
    return f'<text{named} x="{to_svg_number(x)}" y="{to_svg_number(y)}">{escape(words)}</text>'


def group_svg(kinds: str, *parts: str) -> str:
    """Return parts under common classes, on a line of their own."""
    return f'<g class="{kinds}">{"".join(parts)}</g>\n'


def to_svg_number(value: float) -> str:
    """Return a measure as short as it can be said."""
    return f"{round(value, 2) + 0.0:.2f}".rstrip("0").rstrip(".")


def _write_point(point: Point) -> str:
    return f"{to_svg_number(point[0])},{to_svg_number(point[1])}"
