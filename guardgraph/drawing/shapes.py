"""The parts of a picture as SVG elements: nodes by their kinds, edges with tips, endings, labels."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from html import escape
from itertools import pairwise
from math import copysign, fsum, hypot, sqrt
from unicodedata import east_asian_width

from guardgraph.drawing.diagram import DrawnEnding, Node
from guardgraph.drawing.style import LOOKS, DrawnKind
from guardgraph.plain.letters import escape_letter, is_harmless_text

Point = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Box:
    """A rectangle by its centre and size."""

    x: float
    y: float
    width: float
    height: float

    @property
    def min_x(self) -> float:
        """The left border."""
        return self.x - self.width / 2

    @property
    def max_x(self) -> float:
        """The right border."""
        return self.x + self.width / 2

    @property
    def min_y(self) -> float:
        """The upper border."""
        return self.y - self.height / 2

    @property
    def max_y(self) -> float:
        """The lower border."""
        return self.y + self.height / 2

    @property
    def corner_points(self) -> tuple[Point, Point]:
        """The upper left and the lower right corner."""
        return (self.min_x, self.min_y), (self.max_x, self.max_y)

    def overlaps_box(self, other: Box) -> bool:
        """Say whether two rectangles have a point in common."""
        apart = abs(self.x - other.x) > (self.width + other.width) / 2
        return not apart and abs(self.y - other.y) <= (self.height + other.height) / 2


def enclose_points(points: Iterable[Point]) -> Box:
    """Return the smallest rectangle with all these points in it."""
    across, down = zip(*points, strict=True)
    left, right, top, bottom = min(across), max(across), min(down), max(down)
    return Box((left + right) / 2, (top + bottom) / 2, right - left, bottom - top)


def round_coordinate(number: float) -> float:
    """Round to a hundredth, so that a picture is the same on every machine."""
    return round(number, 2) + 0.0


def fit_label(text: str, limit: int) -> str:
    r"""Return a text with letters that steer or hide as escapes, such as ``\x1b``, cut to `limit` cells."""
    safe = text
    if not is_harmless_text(text):
        safe = "".join(letter if is_harmless_text(letter) else escape_letter(letter) for letter in text)
    if measure_cells(safe) <= limit:
        return safe
    while measure_cells(safe) > limit - 1:
        safe = safe[: min(limit, len(safe) - 1)]
    return f"{safe}…"


def measure_cells(text: str) -> int:
    """Return how many letters of a fixed width a text takes; those of East Asia take two."""
    return len(text) + sum(east_asian_width(letter) in "WF" for letter in text)


CHIP_CELLS = 36
CHIP_CELL = 6.63  # width of a letter of endings: 11 px
CHIP_HEIGHT = 20.0
CHIP_MARGIN = 16.0
CHIP_GAP = 5.0
PANEL_WIDTH = 230.0  # where rows of endings break; a longer ending has a row of its own


@dataclass(frozen=True, slots=True)
class Chip:
    """An ending, placed."""

    ending: DrawnEnding
    text: str
    box: Box


@dataclass(frozen=True, slots=True)
class Panel:
    """The endings of a node."""

    node: str
    chips: tuple[Chip, ...]
    line: tuple[Point, ...]  # from the node to its endings


def place_ending_panel(node: Node, room: Box, line: tuple[Point, ...]) -> Panel:
    """Place endings in a room, in rows that are centred."""
    chips = []
    for number, row in enumerate(_split_chip_rows(node.endings)):
        y = round_coordinate(room.min_y + CHIP_HEIGHT / 2 + number * (CHIP_HEIGHT + CHIP_GAP))
        left = room.x - _measure_chip_row(row) / 2
        for ending, text, width in row:
            box = Box(round_coordinate(left + width / 2), y, round_coordinate(width), CHIP_HEIGHT)
            chips.append(Chip(ending, text, box))
            left += width + CHIP_GAP
    return Panel(node.name, tuple(chips), line)


def _split_chip_rows(endings: Iterable[DrawnEnding]) -> Iterator[list[tuple[DrawnEnding, str, float]]]:
    row: list[tuple[DrawnEnding, str, float]] = []
    for ending in endings:
        text = fit_label(ending.label, CHIP_CELLS)
        item = (ending, text, measure_cells(text) * CHIP_CELL + CHIP_MARGIN)
        if row and _measure_chip_row([*row, item]) > PANEL_WIDTH:
            yield row
            row = []
        row.append(item)
    yield row


def _measure_chip_row(row: list[tuple[DrawnEnding, str, float]]) -> float:
    return fsum(width for *_, width in row) + CHIP_GAP * (len(row) - 1)


def measure_ending_panel(node: Node) -> tuple[float, float]:
    """Return the width and height of a node's endings."""
    rows = list(_split_chip_rows(node.endings))
    return max(map(_measure_chip_row, rows)), len(rows) * (CHIP_HEIGHT + CHIP_GAP) - CHIP_GAP


NAME_CELLS = 32
PARTS = "parts"  # badge of the node from which two runs go different ways
DOT = 14.0  # width and height of what is round
SLANT = 12.0  # how far slanted sides reach inwards
CORNER = 7.0  # radius of the bends of an edge
TIP = (8.0, 3.6)  # length and half width of an arrow's tip
_ROUND = ("dot", "ring")  # shapes that are as wide as they are high, whatever their place is
_STRAIGHT = 0.01  # what two ends of a straight line may differ by, after rounding


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
    look, below = LOOKS[kind], [(box.max_x - SLANT, box.max_y), (box.min_x + SLANT, box.max_y)]
    match look.outline:
        case "dot":
            return _draw_circle("dot", box, 0.0)
        case "ring":
            return _draw_circle("ring", box, 0.0) + _draw_circle("dot", box, 4.0)
        case "hexagon":
            upper = [(box.min_x, box.y), (box.min_x + SLANT, box.min_y), (box.max_x - SLANT, box.min_y)]
            return _draw_polygon([*upper, (box.max_x, box.y), *below])
        case "tray":
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


def draw_arrow(points: Sequence[Point], line: str) -> str:
    """Return a line through points with round bends, and a tip."""
    *before, (x0, y0), (x, y) = points
    length = hypot(x - x0, y - y0) or 1.0
    across, down = (x - x0) / length, (y - y0) / length
    root = (x - across * TIP[0], y - down * TIP[0])
    wings = [(root[0] - sign * down * TIP[1], root[1] + sign * across * TIP[1]) for sign in (1, -1)]
    path = _draw_rounded_path([*before, (x0, y0), root])
    tip = " ".join(map(_write_svg_point, [(x, y), *wings]))
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
    path = [f"M{_write_svg_point(points[0])}"]
    for (before, corner), (_, after) in pairwise(pairwise(points)):
        bend = min(CORNER, _measure_distance(before, corner) / 2, _measure_distance(corner, after) / 2)
        begin, end = (_write_svg_point(_move_towards(corner, other, bend)) for other in (before, after))
        path.append(f"L{begin}Q{_write_svg_point(corner)} {end}")
    return "".join([*path, f"L{_write_svg_point(points[-1])}"])


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
    return f'<polygon class="shape" points="{" ".join(map(_write_svg_point, corners))}"/>'


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


def _write_svg_point(point: Point) -> str:
    return f"{to_svg_number(point[0])},{to_svg_number(point[1])}"
