"""The parts of a picture as SVG elements: nodes by their kinds, edges with tips, endings, labels."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from itertools import pairwise
from math import copysign, hypot, sqrt

from guardgraph.drawing.diagram import Node
from guardgraph.drawing.geometry import Box, Point
from guardgraph.drawing.kinds import LOOKS, DrawnKind
from guardgraph.drawing.panels import Chip
from guardgraph.drawing.text import cells, shown

__all__ = ["DOT", "NAME_CELLS", "arrow", "chip", "group", "label", "node", "number", "outline", "text", "trimmed"]

NAME_CELLS = 32
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


def node(item: Node, box: Box) -> str:
    """Return a node: its shape, its name, and how often a run came here where that is more than once."""
    parts = [outline(item.kind, box)]
    if item.kind not in ("start", "end"):
        parts.append(text(shown(item.name, NAME_CELLS), box.x, box.y + 4.5))
    if item.visits > 1:
        parts.append(_badge(f"×{item.visits}", box.left + 6, box.top + 1))
    return "".join([f"<title>{escape(shown(item.about, 200))}</title>", *parts])


def outline(kind: DrawnKind, box: Box) -> str:
    """Return the shape of a kind of node."""
    look = LOOKS[kind]
    match look.outline:
        case "dot":
            return _circle("dot", box, 0.0)
        case "ring":
            return _circle("ring", box, 0.0) + _circle("dot", box, 4.0)
        case "hexagon":
            upper = [(box.left, box.y), (box.left + SLANT, box.top), (box.right - SLANT, box.top), (box.right, box.y)]
            return _polygon([*upper, (box.right - SLANT, box.bottom), (box.left + SLANT, box.bottom)])
        case "tray":
            below = [(box.right - SLANT, box.bottom), (box.left + SLANT, box.bottom)]
            return _polygon([(box.left, box.top), (box.right, box.top), *below])
    radius = box.height / 2 if look.outline == "round" else look.corner
    inner = Box(box.x, box.y, box.width - 8, box.height - 8)
    shape = _rectangle("shape", box, radius)
    return shape + _rectangle("inner", inner, radius - 3) if look.double else shape


def chip(item: Chip) -> str:
    """Return an ending."""
    box = item.box
    what = f"<title>{escape(shown(item.ending.about, 200))}</title>"
    return what + _rectangle("shape", box, 4.0) + text(item.text, box.x, box.y + 3.8)


def label(words: str, box: Box) -> str:
    """Return the label of an edge, on a ground that keeps it legible."""
    return f'<g class="chip">{_rectangle("halo", box, 3.0)}{text(words, box.x, box.y + 3.8)}</g>'


def arrow(points: Sequence[Point], line: str, *, bare: bool = False) -> str:
    """Return a line through points with round bends, and a tip unless it is bare."""
    if bare:
        return f'<path class="{line}" d="{_rounded(points)}"/>'
    *before, (x0, y0), (x, y) = points
    length = hypot(x - x0, y - y0) or 1.0
    across, down = (x - x0) / length, (y - y0) / length
    root = (x - across * TIP[0], y - down * TIP[0])
    wings = [(root[0] - sign * down * TIP[1], root[1] + sign * across * TIP[1]) for sign in (1, -1)]
    tip = " ".join(map(_pair, [(x, y), *wings]))
    return f'<path class="{line}" d="{_rounded([*before, (x0, y0), root])}"/><polygon class="tip" points="{tip}"/>'


def trimmed(points: Sequence[Point], start: tuple[DrawnKind, Box], end: tuple[DrawnKind, Box] | None) -> list[Point]:
    """Return the points of an edge, drawn out to the shapes at its ends: those are smaller than their places."""
    done = _begun(points, *start)
    return done if end is None else _begun(done[::-1], *end)[::-1]


def _begun(points: Sequence[Point], kind: DrawnKind, box: Box) -> list[Point]:
    """Return the points with the first one on the outline of its node; a round one is entered from its sides too."""
    first, *rest = points
    if LOOKS[kind].outline in _ROUND:
        aside, radius = first[0] - box.x, box.height / 2
        if abs(aside) > radius and abs(first[0] - rest[0][0]) <= _STRAIGHT:
            return [(box.x + copysign(radius, aside), box.y), (first[0], box.y), *rest]
        box = Box(box.x, box.y, box.height, box.height)
    return [_touching(first, rest[0], kind, box), *rest]


def _touching(point: Point, other: Point, kind: DrawnKind, box: Box) -> Point:
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


def _rounded(points: Sequence[Point]) -> str:
    path = [f"M{_pair(points[0])}"]
    for (before, corner), (_, after) in pairwise(pairwise(points)):
        bend = min(CORNER, _apart(before, corner) / 2, _apart(corner, after) / 2)
        path.append(f"L{_pair(_towards(corner, before, bend))}Q{_pair(corner)} {_pair(_towards(corner, after, bend))}")
    return "".join([*path, f"L{_pair(points[-1])}"])


def _apart(one: Point, other: Point) -> float:
    return hypot(one[0] - other[0], one[1] - other[1])


def _towards(start: Point, end: Point, distance: float) -> Point:
    share = distance / (_apart(start, end) or 1.0)
    return start[0] + (end[0] - start[0]) * share, start[1] + (end[1] - start[1]) * share


def _badge(words: str, x: float, y: float) -> str:
    box = Box(x, y, cells(words) * 6.7 + 10, 17.0)
    return f'<g class="badge">{_rectangle("", box, 8.5)}{text(words, x, y + 3.9)}</g>'


def _circle(kind: str, box: Box, within: float) -> str:
    """Return a circle in the middle of a place, which is wider where many edges end in it."""
    side = box.height - 2 * within
    return _rectangle(kind, Box(box.x, box.y, side, side), side / 2)


def _polygon(corners: Sequence[Point]) -> str:
    return f'<polygon class="shape" points="{" ".join(map(_pair, corners))}"/>'


def _rectangle(kind: str, box: Box, radius: float) -> str:
    named = f'class="{kind}" ' if kind else ""
    rounded = f' rx="{number(radius)}"' if radius else ""
    size = f'width="{number(box.width)}" height="{number(box.height)}"'
    return f'<rect {named}x="{number(box.left)}" y="{number(box.top)}" {size}{rounded}/>'


def text(words: str, x: float, y: float, kind: str = "") -> str:
    """Return a text; whatever is in it stays text."""
    named = f' class="{kind}"' if kind else ""
    return f'<text{named} x="{number(x)}" y="{number(y)}">{escape(words)}</text>'


def group(kinds: str, *parts: str) -> str:
    """Return parts under common classes, on a line of their own."""
    return f'<g class="{kinds}">{"".join(parts)}</g>\n'


def number(value: float) -> str:
    """Return a measure as short as it can be said."""
    return f"{round(value, 2) + 0.0:.2f}".rstrip("0").rstrip(".")


def _pair(point: Point) -> str:
    return f"{number(point[0])},{number(point[1])}"
