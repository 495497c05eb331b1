"""Points, rectangles and texts as pictures show them, in CSS pixels."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from unicodedata import east_asian_width

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

    def widen_box(self, by: float) -> Box:
        """Return a rectangle around this one, wider and higher by so much."""
        return Box(self.x, self.y, self.width + by, self.height + by)

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
    safe = text if is_harmless_text(text) else "".join(map(_escape_label_letter, text))
    if measure_cells(safe) <= limit:
        return safe
    while measure_cells(safe) > limit - 1:
        safe = safe[: min(limit, len(safe) - 1)]
    return f"{safe}…"


def measure_cells(text: str) -> int:
    """Return how many letters of a fixed width a text takes; those of East Asia take two."""
    return len(text) if text.isascii() else sum(map(_measure_cell, text))


def _escape_label_letter(letter: str) -> str:
    return letter if is_harmless_text(letter) else escape_letter(letter)


def _measure_cell(letter: str) -> int:
    return 2 if east_asian_width(letter) in "WF" else 1
