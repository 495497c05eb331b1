"""Where the labels of edges stand: on their own line, where they cover nothing else if that can be."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise

from guardgraph.drawing.diagram import Edge
from guardgraph.drawing.geometry import Box, Point, around, near
from guardgraph.drawing.panels import CHIP_CELL
from guardgraph.drawing.text import cells, shown

__all__ = ["LABEL_CELLS", "LABEL_HEIGHT", "label_width", "labels"]

LABEL_CELLS = 24
LABEL_HEIGHT = 13.0
"""Less than the distance of two lines beside each other, doubled."""
BESIDE = 3.0
"""Between a line and a label beside it."""
TIP = 20.0
"""Room around the end of a line, where its tip is."""
SHARES = (0.5, 0.35, 0.65, 0.2, 0.8)
"""Where on a straight piece of the line a label is tried."""


def label_width(edge: Edge) -> float:
    """Return the room that an edge's label takes across."""
    return cells(shown(edge.label, LABEL_CELLS)) * CHIP_CELL + 8


def labels(
    edges: Sequence[Edge], routes: Mapping[tuple[str, str], tuple[Point, ...]], nodes: Sequence[Box]
) -> dict[tuple[str, str], Box]:
    """Return the places of labels by the ends of their edges.

    Args:
        edges: those that may have a label.
        routes: the points of every line.
        nodes: what stands there already.
    """
    placed: dict[tuple[str, str], Box] = {}
    for edge in edges:
        if edge.label:
            key = (edge.start, edge.end)
            others = [around(pair) for other, points in routes.items() if other != key for pair in pairwise(points)]
            taken = [*nodes, *placed.values(), *others, Box(*routes[key][-1], TIP, TIP)]
            placed[key] = min(_tries(routes[key], label_width(edge)), key=lambda box: _meeting(box, taken))
    return placed


def _meeting(box: Box, taken: Sequence[Box]) -> int:
    return sum(map(box.meets, taken))


def _tries(points: Sequence[Point], width: float) -> Iterator[Box]:
    """Yield places on a line, its longest piece first, then places beside it."""
    pieces = sorted(pairwise(points), key=_length, reverse=True)
    for aside in (0.0, width / 2 + BESIDE, -width / 2 - BESIDE):
        for (x0, y0), (x1, y1) in pieces:
            for share in SHARES:
                yield Box(near(x0 + (x1 - x0) * share + aside), near(y0 + (y1 - y0) * share), width, LABEL_HEIGHT)


def _length(piece: tuple[Point, Point]) -> float:
    (x0, y0), (x1, y1) = piece
    return abs(x1 - x0) + abs(y1 - y0)
