"""A diagram as SVG text: no scripts, no links, no fonts, and every name only ever as text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from html import escape
from typing import NamedTuple

from guardgraph.drawing import shapes
from guardgraph.drawing.diagram import ANYWHERE, Diagram, DrawnEnding, Edge, Node, Taken
from guardgraph.drawing.layout import LABEL_CELLS, Placed, place_diagram
from guardgraph.drawing.shapes import Box, fit_label, group_svg, to_svg_number
from guardgraph.drawing.style import LOOKS, DrawnKind, write_style_sheet

ROW = 25.0
SWATCH = 34.0
_LINE = ((-SWATCH / 2, 0.0), (SWATCH / 2, 0.0))
APART = 22.0
SANS_CELL = 6.3  # width of a letter at 12 px; proportional fonts differ, so it is that of a wide one


class LegendEntry(NamedTuple):
    """One explanation."""

    kinds: str
    swatch: str  # drawn around 0, 0
    width: float
    words: str

    @property
    def total_width(self) -> float:
        """The room that it takes across."""
        return self.width + 8 + measure_legend_text(self.words)


def measure_legend_text(words: str) -> float:
    """Return the room that a text of the legend takes across."""
    return shapes.measure_cells(words) * SANS_CELL


def draw_legend(diagram: Diagram, width: float) -> tuple[str, float]:
    """Return the legend as SVG, from 0, 0 on, and its height."""
    parts, x, y = [], 0.0, ROW / 2
    for entry in _list_legend_entries(diagram):
        if x and x + entry.total_width > width:
            x, y = 0.0, y + ROW
        place = f"translate({x + entry.width / 2:g} {y:g})"
        swatch = f'<g transform="{place}">{entry.swatch}</g>'
        said = shapes.draw_text(entry.words, x + entry.width + 8, y + 4.2, "sans muted")
        parts.append(group_svg(entry.kinds, swatch, said))
        x += entry.total_width + APART
    return "".join(parts), y + ROW / 2


def _list_legend_entries(diagram: Diagram) -> Iterator[LegendEntry]:
    for kind, look in LOOKS.items():
        if drawn := [item for item in diagram.nodes if item.kind == kind]:
            width, height = (shapes.DOT, shapes.DOT) if look.light is None else (SWATCH, 16.0)
            all_taken = diagram.taken is not None and all(item.visits for item in drawn)
            outline = shapes.draw_node_outline(kind, Box(0.0, 0.0, width, height))
            swatch = group_svg(f"{kind} taken" if all_taken else kind, outline)
            yield LegendEntry(kind, swatch, width, look.words)
    endings = [ending for item in diagram.nodes for ending in item.endings]
    if any(ending.terminal for ending in endings):
        yield _draw_legend_chips([DrawnEnding("name", "", None)], "the run can end here, in the node stop_name")
    if diagram.everywhere:
        yield _draw_legend_chips(diagram.everywhere, "every guard can also end the run so")
    if diagram.behind:
        yield _draw_legend_chips(diagram.behind, "every ending can lead here")
    if any(ending.label == ANYWHERE for ending in endings):
        yield LegendEntry("plain", shapes.draw_arrow(_LINE, "fold"), SWATCH, "can lead to any node")
    if any(edge.decided for edge in diagram.edges):
        yield LegendEntry("", shapes.draw_arrow(_LINE, "edge decided"), SWATCH, "the node decides")
    if diagram.taken is not None:
        yield from _list_legend_way_entries(diagram, diagram.taken)


def _list_legend_way_entries(diagram: Diagram, taken: Taken) -> Iterator[LegendEntry]:
    often = ", ×2: twice" if any(item.visits > 1 for item in diagram.nodes) else ""
    if taken.waiting:
        [kind] = [item.kind for item in diagram.nodes if taken.is_waiting_node(item.name)]
        swatch = shapes.draw_node_outline(kind, Box(0.0, 0.0, SWATCH, 16.0))
        yield LegendEntry(f"{kind} taken waiting", swatch, SWATCH, "the run waits here")
    line = shapes.draw_arrow(_LINE, "edge")
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
        yield LegendEntry("", shapes.draw_badge(shapes.PARTS, 0.0, 0.0), SWATCH + 8, "here they part")


def _draw_legend_chips(endings: Iterable[DrawnEnding], words: str) -> LegendEntry:
    parts, x = [], 0.0
    for ending in endings:
        label = fit_label(ending.label, shapes.CHIP_CELLS)
        width = shapes.measure_cells(label) * shapes.CHIP_CELL + shapes.CHIP_MARGIN
        parts.append((ending, label, x + width / 2, width))
        x += width + shapes.CHIP_GAP
    total = x - shapes.CHIP_GAP
    swatch = ""
    for ending, label, at, width in parts:
        box = Box(at - total / 2, 0.0, width, shapes.CHIP_HEIGHT)
        swatch += shapes.draw_ending_chip(shapes.Chip(ending, label, box))
    return LegendEntry("stop chip", swatch, total, words)


MARGIN = 28.0
NARROW_MARGIN = 14.0
LEAST_WIDTH = 560.0  # so that the legend stands in few rows
NARROW_WIDTH = 250.0
HEAD_CELLS = 96
WASTE = 1.7  # how much wider a picture may become so that the main way runs down its middle
GAP = 22.0  # between the graph and the legend


def draw_svg(diagram: Diagram, *, dark: bool | None = None, narrow: bool = False, headed: bool = True) -> str:
    """Return a picture."""
    placed = place_diagram(diagram)
    heads = _list_picture_headings(diagram) if headed else []
    middle, across = placed.bounds.x, placed.bounds.width
    centred = 2 * max(-placed.bounds.min_x, placed.bounds.max_x)
    if not narrow and centred <= WASTE * across:  # the main way runs down the middle, unless that wastes much room
        middle, across = 0.0, centred
    least, margin = (NARROW_WIDTH, NARROW_MARGIN) if narrow else (LEAST_WIDTH, MARGIN)
    widest = max(entry.total_width for entry in _list_legend_entries(diagram))
    inside = max(across, least, widest, *(measure_legend_text(words) * size for words, _, size in heads))
    width = inside + 2 * margin
    explained, explained_height = draw_legend(diagram, inside)
    top = margin + 22 * len(heads) + (18 if heads else 0)
    rule = top + placed.bounds.height + GAP
    height = rule + GAP / 2 + explained_height + margin / 2
    shift = (to_svg_number(width / 2 - middle), to_svg_number(top - placed.bounds.min_y))
    size = f'width="{to_svg_number(width)}" height="{to_svg_number(height)}"'
    paper = f'width="{to_svg_number(width - 1)}" height="{to_svg_number(height - 1)}"'
    way = " to ".join(fit_label(name, 40) for name in diagram.main[1:])
    run = "" if diagram.taken is None else f" This run: {' to '.join(fit_label(n, 40) for n in diagram.taken.path)}."
    if diagram.earlier is not None:
        run += f" The earlier run: {' to '.join(fit_label(n, 40) for n in diagram.earlier.path)}."
    name = escape(f"Graph {fit_label(diagram.name, 60)}. Main way: {way}.{run}", quote=True)
    waiting: set[DrawnKind] = {"review"} if diagram.taken and diagram.taken.waiting else set()
    styles = write_style_sheet(
        waiting | {item.kind for item in diagram.nodes}, dark=dark, beside=diagram.earlier is not None
    )
    head = [shapes.draw_text(words, margin, margin + 10 + 22 * row, kind) for row, (words, kind, _) in enumerate(heads)]
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" class="gg" {size} ',
        f'viewBox="0 0 {to_svg_number(width)} {to_svg_number(height)}" role="img" aria-label="{name}">\n',
        f"<style>\n{styles}</style>\n",
        f'<rect class="paper" x="0.5" y="0.5" {paper} rx="8"/>\n',
        *(f"{line}\n" for line in head),
        f'<g transform="translate({shift[0]} {shift[1]})">\n{_draw_placed_diagram(diagram, placed)}</g>\n',
        f'<path class="rule" d="M{margin:g},{to_svg_number(rule)}H{to_svg_number(width - margin)}"/>\n',
        f'<g transform="translate({margin:g} {to_svg_number(rule + GAP / 2)})">\n{explained}</g>\n',
        "</svg>\n",
    ]
    return "".join(parts)


def _list_picture_headings(diagram: Diagram) -> list[tuple[str, str, float]]:
    """Return the lines above the graph, with their classes and size as to that of the legend."""
    heads = [(fit_label(diagram.name, 60), "sans title", 1.4)]
    if (taken := diagram.taken) is not None:
        ink = {"ok": "ok_ink", "stopped": "stop_ink", "waiting": "wait_ink"}[taken.way_status]
        words = fit_label(f"{taken.way_status}: {taken.ending_label}", HEAD_CELLS)
        heads.append((words, f"sans {ink}", 1.0))
    if diagram.earlier is not None:
        words = fit_label(f"before: {diagram.earlier.way_status}: {diagram.earlier.ending_label}", HEAD_CELLS)
        heads.append((words, "sans muted", 1.0))
    return heads


def _draw_placed_diagram(diagram: Diagram, placed: Placed) -> str:
    boxes = {item.name: (item, box) for item, box in placed.nodes}
    lines, labels = [], []
    for edge, points, room in placed.edges:
        (start, start_box), (end, end_box) = boxes[edge.start], boxes[edge.end]
        there = shapes.trim_edge(points, (start.kind, start_box), (end.kind, end_box))
        state = _choose_run_classes(diagram, edge) or "way"
        drawn = group_svg(state, shapes.draw_arrow(there, "edge decided" if edge.decided else "edge"))
        lines.append(((edge.taken, edge.earlier), drawn))
        if room is not None:
            labels.append(group_svg(state, shapes.draw_edge_label(fit_label(edge.label, LABEL_CELLS), room)))
    lines.sort(key=lambda line: line[0])
    panels = [_draw_ending_panel(diagram, panel, *boxes[panel.node]) for panel in placed.panels]
    nodes = [
        group_svg(_join_node_classes(diagram, item), shapes.draw_node(item, box, parting=item.name == diagram.parting))
        for item, box in placed.nodes
    ]
    return "".join([*(line for _, line in lines), *panels, *nodes, *labels])


def _draw_ending_panel(diagram: Diagram, panel: shapes.Panel, item: Node, box: Box) -> str:
    line = shapes.trim_edge(panel.line, (item.kind, box), None)
    endings = [placed.ending for placed in panel.chips]
    kind = "stop" if any(ending.terminal for ending in endings) else "plain"
    furthest = max(endings, key=lambda ending: (ending.taken, ending.earlier))
    parts = [group_svg(_join_classes(kind, _choose_run_classes(diagram, furthest)), shapes.draw_arrow(line, "fold"))]
    for placed in panel.chips:
        classes = _join_classes(f"{kind} chip", _choose_run_classes(diagram, placed.ending))
        parts.append(group_svg(classes, shapes.draw_ending_chip(placed)))
    return "".join(parts)


def _join_node_classes(diagram: Diagram, item: Node) -> str:
    taken = diagram.taken
    if taken is None or not item.visits:
        return _join_classes(item.kind, _choose_run_classes(diagram, item))
    state = _join_classes(item.kind, _choose_run_classes(diagram, item))
    if taken.is_waiting_node(item.name):
        return f"{state} waiting"
    stopping = taken.way_status == "stopped" and item.name == next(
        name for name in reversed(taken.path) if name in {other.name for other in diagram.nodes}
    )
    return f"{state} stopping" if stopping else state


def _choose_run_classes(diagram: Diagram, item: Node | Edge | DrawnEnding) -> str:
    """Return the classes that say which runs came by: the run, the run alone, an earlier one alone, none of them."""
    if diagram.taken is None:
        return ""
    if item.visits if isinstance(item, Node) else item.taken:
        return "taken" if diagram.earlier is None or item.earlier else "taken newer"
    return "earlier" if item.earlier else "faded"


def _join_classes(*classes: str) -> str:
    return " ".join(filter(None, classes))
