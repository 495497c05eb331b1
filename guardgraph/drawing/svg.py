"""A diagram as SVG text: no scripts, no links, no fonts, and every name only ever as text."""

from __future__ import annotations

from html import escape

from guardgraph.drawing.diagram import Diagram, Edge, Ending, Node
from guardgraph.drawing.geometry import Box
from guardgraph.drawing.kinds import DrawnKind
from guardgraph.drawing.layout import LABEL_CELLS, Placed, place
from guardgraph.drawing.legend import legend, legend_width, wide
from guardgraph.drawing.panels import Panel
from guardgraph.drawing.shapes import arrow, chip, group, label, node, number, text, trimmed
from guardgraph.drawing.style import style_sheet
from guardgraph.drawing.text import shown

__all__ = ["svg"]

MARGIN = 28.0
NARROW_MARGIN = 14.0
LEAST_WIDTH = 560.0
"""So that the legend stands in few rows."""
NARROW_WIDTH = 250.0
HEAD_CELLS = 96
WASTE = 1.7
"""How much wider a picture may become so that the main way runs down its middle."""
GAP = 22.0
"""Between the graph and the legend."""


def svg(diagram: Diagram, *, dark: bool | None = None, narrow: bool = False, headed: bool = True) -> str:
    """Return a picture.

    Args:
        diagram: what it shows.
        dark: whether for dark surroundings; None for both, of which the reader's system takes one.
        narrow: whether it is to be no wider than the graph, so that it can be read on a phone.
        headed: whether it tells the graph's name and how the run ended.

    Raises:
        ConfigurationError: the layout library is not installed.
    """
    placed = place(diagram)
    heads = _heads(diagram) if headed else []
    middle, across = (placed.bounds.x, placed.bounds.width) if narrow else _framed(placed.bounds)
    least, margin = (NARROW_WIDTH, NARROW_MARGIN) if narrow else (LEAST_WIDTH, MARGIN)
    inside = max(across, least, legend_width(diagram), *(wide(words) * size for words, _, size in heads))
    width = inside + 2 * margin
    explained, explained_height = legend(diagram, inside)
    top = margin + 22 * len(heads) + (18 if heads else 0)
    rule = top + placed.bounds.height + GAP
    height = rule + GAP / 2 + explained_height + margin / 2
    shift = (number(width / 2 - middle), number(top - placed.bounds.top))
    size = f'width="{number(width)}" height="{number(height)}"'
    name = escape(_spoken(diagram), quote=True)
    head = [text(words, margin, margin + 10 + 22 * row, kind) for row, (words, kind, _) in enumerate(heads)]
    return "".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" class="gg" {size} ',
            f'viewBox="0 0 {number(width)} {number(height)}" role="img" aria-label="{name}">\n',
            f"<style>\n{style_sheet(_drawn_kinds(diagram), dark=dark, beside=diagram.earlier is not None)}</style>\n",
            f'<rect class="paper" x="0.5" y="0.5" width="{number(width - 1)}" height="{number(height - 1)}" rx="8"/>\n',
            *(f"{line}\n" for line in head),
            f'<g transform="translate({shift[0]} {shift[1]})">\n{_drawn(diagram, placed)}</g>\n',
            f'<path class="rule" d="M{margin:g},{number(rule)}H{number(width - margin)}"/>\n',
            f'<g transform="translate({margin:g} {number(rule + GAP / 2)})">\n{explained}</g>\n',
            "</svg>\n",
        ]
    )


def _framed(bounds: Box) -> tuple[float, float]:
    """Return what stands in the middle of the picture, and the width: the main way, unless that wastes much room."""
    centred = 2 * max(-bounds.left, bounds.right)
    return (0.0, centred) if centred <= WASTE * bounds.width else (bounds.x, bounds.width)


def _heads(diagram: Diagram) -> list[tuple[str, str, float]]:
    """Return the lines above the graph, with their classes and size as to that of the legend."""
    heads = [(shown(diagram.name, 60), "sans title", 1.4)]
    if (taken := diagram.taken) is not None:
        ink = {"ok": "ok_ink", "stopped": "stop_ink", "waiting": "wait_ink"}[taken.status]
        words = shown(f"{taken.status}: {taken.ending}", HEAD_CELLS)
        heads.append((words, f"sans {ink}", 1.0))
    if diagram.earlier is not None:
        heads.append(
            (shown(f"before: {diagram.earlier.status}: {diagram.earlier.ending}", HEAD_CELLS), "sans muted", 1.0)
        )
    return heads


def _spoken(diagram: Diagram) -> str:
    """Return the picture in words, for those who cannot see it."""
    way = " to ".join(shown(name, 40) for name in diagram.main[1:])
    run = "" if diagram.taken is None else f" This run: {' to '.join(shown(n, 40) for n in diagram.taken.path)}."
    if diagram.earlier is not None:
        run += f" The earlier run: {' to '.join(shown(n, 40) for n in diagram.earlier.path)}."
    return f"Graph {shown(diagram.name, 60)}. Main way: {way}.{run}"


def _drawn(diagram: Diagram, placed: Placed) -> str:
    boxes = {item.name: (item, box) for item, box in placed.nodes}
    lines, labels = [], []
    for edge, points, room in placed.edges:
        (start, start_box), (end, end_box) = boxes[edge.start], boxes[edge.end]
        there = trimmed(points, (start.kind, start_box), (end.kind, end_box))
        state = _state(diagram, edge) or "way"
        lines.append(
            ((edge.taken, edge.earlier), group(state, arrow(there, "edge decided" if edge.decided else "edge")))
        )
        if room is not None:
            labels.append(group(state, label(shown(edge.label, LABEL_CELLS), room)))
    lines.sort(key=lambda line: line[0])
    panels = [_panel(diagram, panel, *boxes[panel.node]) for panel in placed.panels]
    shapes = [
        group(_classes(diagram, item), node(item, box, parting=item.name == diagram.parting))
        for item, box in placed.nodes
    ]
    return "".join([*(line for _, line in lines), *panels, *shapes, *labels])


def _panel(diagram: Diagram, panel: Panel, item: Node, box: Box) -> str:
    line = trimmed(panel.line, (item.kind, box), None)
    endings = [placed.ending for placed in panel.chips]
    kind = "stop" if any(ending.terminal for ending in endings) else "plain"
    furthest = max(endings, key=lambda ending: (ending.taken, ending.earlier))
    parts = [arrow(line, "bridge", bare=True)]
    if panel.rail:
        parts.append(group(f"{kind} faded" if diagram.taken else kind, arrow(panel.rail, "fold", bare=True)))
    parts.append(group(_joined(kind, _state(diagram, furthest)), arrow(line, "fold", bare=bool(panel.rail))))
    for placed in panel.chips:
        parts.append(group(_joined(f"{kind} chip", _state(diagram, placed.ending)), chip(placed)))
    return "".join(parts)


def _classes(diagram: Diagram, item: Node) -> str:
    taken = diagram.taken
    if taken is None or not item.visits:
        return _joined(item.kind, _state(diagram, item))
    state = _joined(item.kind, _state(diagram, item))
    if taken.waits_at(item.name):
        return f"{state} waiting"
    stopping = taken.status == "stopped" and item.name == _stopping(taken.path, {other.name for other in diagram.nodes})
    return f"{state} stopping" if stopping else state


def _state(diagram: Diagram, item: Node | Edge | Ending) -> str:
    """Return the classes that say which runs came by: the run, the run alone, an earlier one alone, none of them."""
    if diagram.taken is None:
        return ""
    if item.visits if isinstance(item, Node) else item.taken:
        return "taken" if diagram.earlier is None or item.earlier else "taken newer"
    return "earlier" if item.earlier else "faded"


def _joined(*classes: str) -> str:
    return " ".join(filter(None, classes))


def _drawn_kinds(diagram: Diagram) -> set[DrawnKind]:
    """Return the kinds of the nodes; a run that waits has the colour of those that ask a person."""
    waiting: set[DrawnKind] = {"review"} if diagram.taken and diagram.taken.waiting else set()
    return waiting | {item.kind for item in diagram.nodes}


def _stopping(path: tuple[str, ...], drawn: set[str]) -> str:
    """Return the node that stopped a run: the last one that is drawn, since stop terminals stand at their guards."""
    return next(name for name in reversed(path) if name in drawn)
