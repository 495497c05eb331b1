"""What the shapes and colours of a picture mean, in rows below it; only what is in the picture is explained."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from guardgraph.drawing.diagram import ANYWHERE, Diagram, DrawnEnding
from guardgraph.drawing.geometry import Box, fit_label, measure_cells
from guardgraph.drawing.panels import CHIP_CELL, CHIP_CELLS, CHIP_GAP, CHIP_HEIGHT, CHIP_MARGIN, Chip
from guardgraph.drawing.shapes import (
    DOT,
    PARTS,
    draw_arrow,
    draw_badge,
    draw_ending_chip,
    draw_node_outline,
    draw_text,
    group_svg,
)
from guardgraph.drawing.style import LOOKS
from guardgraph.drawing.taken import Taken

ROW = 25.0
SWATCH = 34.0
APART = 22.0
SANS_CELL = 6.3
"""Width of a letter at 12 px; proportional fonts differ, so it is that of a wide one."""


class LegendEntry(NamedTuple):
    """One explanation."""

    kinds: str
    swatch: str
    """Drawn around 0, 0."""
    width: float
    words: str

    @property
    def total_width(self) -> float:
        """The room that it takes across."""
        return self.width + 8 + measure_legend_text(self.words)


def measure_legend_text(words: str) -> float:
    """Return the room that a text of the legend takes across."""
    return measure_cells(words) * SANS_CELL


def draw_legend(diagram: Diagram, width: float) -> tuple[str, float]:
    """Return the legend as SVG, from 0, 0 on, and its height."""
    parts, x, y = [], 0.0, ROW / 2
    for entry in _list_legend_entries(diagram):
        if x and x + entry.total_width > width:
            x, y = 0.0, y + ROW
        place = f"translate({x + entry.width / 2:g} {y:g})"
        swatch = f'<g transform="{place}">{entry.swatch}</g>'
        parts.append(group_svg(entry.kinds, swatch, draw_text(entry.words, x + entry.width + 8, y + 4.2, "sans muted")))
        x += entry.total_width + APART
    return "".join(parts), y + ROW / 2


def measure_legend_width(diagram: Diagram) -> float:
    """Return the least width of a legend: that of its widest entry."""
    return max(entry.total_width for entry in _list_legend_entries(diagram))


def _list_legend_entries(diagram: Diagram) -> Iterator[LegendEntry]:
    for kind, look in LOOKS.items():
        if drawn := [item for item in diagram.nodes if item.kind == kind]:
            width, height = (DOT, DOT) if look.light is None else (SWATCH, 16.0)
            all_taken = diagram.taken is not None and all(item.visits for item in drawn)
            swatch = group_svg(
                f"{kind} taken" if all_taken else kind, draw_node_outline(kind, Box(0.0, 0.0, width, height))
            )
            yield LegendEntry(kind, swatch, width, look.words)
    endings = [ending for item in diagram.nodes for ending in item.endings]
    if any(ending.terminal for ending in endings):
        yield _draw_legend_chips([DrawnEnding("name", "", None)], "the run can end here, in the node stop_name")
    if diagram.everywhere:
        yield _draw_legend_chips(diagram.everywhere, "every guard can also end the run so")
    if diagram.behind:
        yield _draw_legend_chips(diagram.behind, "every ending can lead here")
    if any(ending.label == ANYWHERE for ending in endings):
        yield LegendEntry(
            "plain", draw_arrow([(-SWATCH / 2, 0), (SWATCH / 2, 0)], "fold"), SWATCH, "can lead to any node"
        )
    if any(edge.decided for edge in diagram.edges):
        yield LegendEntry(
            "", draw_arrow([(-SWATCH / 2, 0), (SWATCH / 2, 0)], "edge decided"), SWATCH, "the node decides"
        )
    if diagram.taken is not None:
        yield from _list_legend_way_entries(diagram, diagram.taken)


def _list_legend_way_entries(diagram: Diagram, taken: Taken) -> Iterator[LegendEntry]:
    often = ", ×2: twice" if any(item.visits > 1 for item in diagram.nodes) else ""
    if taken.waiting:
        [kind] = [item.kind for item in diagram.nodes if taken.is_waiting_node(item.name)]
        swatch = draw_node_outline(kind, Box(0.0, 0.0, SWATCH, 16.0))
        yield LegendEntry(f"{kind} taken waiting", swatch, SWATCH, "the run waits here")
    line = draw_arrow([(-SWATCH / 2, 0), (SWATCH / 2, 0)], "edge")
    if diagram.earlier is None:
        yield LegendEntry("taken", line, SWATCH, f"the way of this run{often}")
        return
    yield LegendEntry("taken", line, SWATCH, f"the way of both runs{often}")
    steps, before = set(taken.edges_on_way), set(diagram.earlier.edges_on_way)
    if steps - before:
        yield LegendEntry("taken newer", line, SWATCH, "of this run alone")
    if before - steps:
        yield LegendEntry("earlier", line, SWATCH, "of the earlier run alone")
    if diagram.parting is not None:
        yield LegendEntry("", draw_badge(PARTS, 0.0, 0.0), SWATCH + 8, "here they part")


def _draw_legend_chips(endings: Iterable[DrawnEnding], words: str) -> LegendEntry:
    parts, x = [], 0.0
    for ending in endings:
        label = fit_label(ending.label, CHIP_CELLS)
        width = measure_cells(label) * CHIP_CELL + CHIP_MARGIN
        parts.append((ending, label, x + width / 2, width))
        x += width + CHIP_GAP
    total = x - CHIP_GAP
    chips = [
        draw_ending_chip(Chip(it, label, Box(at - total / 2, 0.0, width, CHIP_HEIGHT)))
        for it, label, at, width in parts
    ]
    return LegendEntry("stop chip", "".join(chips), total, words)
