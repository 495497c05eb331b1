"""Endings in rows: small boxes that stand together beside a node or below it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from math import fsum

from guardgraph.drawing.diagram import DrawnEnding, Node
from guardgraph.drawing.geometry import Box, Point, fit_label, measure_cells, round_coordinate

CHIP_CELLS = 36
CHIP_CELL = 6.63
"""Width of a letter of endings: 11 px."""
CHIP_HEIGHT = 20.0
CHIP_MARGIN = 16.0
CHIP_GAP = 5.0
PANEL_WIDTH = 230.0
"""Where rows of endings break; a longer ending has a row of its own."""

RAIL = 9.0
"""From the line in front of several rows of endings to them."""


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
    line: tuple[Point, ...]
    """From the node to its endings."""
    rail: tuple[Point, ...]
    """In front of several rows, else empty."""


def place_ending_panel(node: Node, room: Box, line: tuple[Point, ...], sign: int = 0) -> Panel:
    """Place endings in a room, in rows that begin at the side where the line arrives; centred when that is above."""
    rows = list(_split_chip_rows(node.endings))
    shift = RAIL if sign and len(rows) > 1 else 0.0
    chips = []
    for number, row in enumerate(rows):
        y = room.min_y + CHIP_HEIGHT / 2 + number * (CHIP_HEIGHT + CHIP_GAP)
        total = _measure_chip_row(row)
        left = room.x - total / 2 if not sign else room.min_x + shift if sign > 0 else room.max_x - shift - total
        for ending, text, width in row:
            chips.append(
                Chip(
                    ending,
                    text,
                    Box(round_coordinate(left + width / 2), round_coordinate(y), round_coordinate(width), CHIP_HEIGHT),
                )
            )
            left += width + CHIP_GAP
    x = line[-1][0]
    rail = ((x, room.min_y + 4), (x, room.max_y - 4)) if shift else ()
    return Panel(node.name, tuple(chips), line, rail)


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
    """Return the width and height of a node's endings, zero where it has none."""
    if not node.endings:
        return 0.0, 0.0
    rows = list(_split_chip_rows(node.endings))
    widest = max(map(_measure_chip_row, rows)) + (RAIL if len(rows) > 1 else 0.0)
    return widest, len(rows) * (CHIP_HEIGHT + CHIP_GAP) - CHIP_GAP
