"""A diagram as Mermaid text, for pages that draw it themselves. It needs no layout, and so no extra."""

from __future__ import annotations

from collections.abc import Iterator

from guardgraph.drawing.diagram import Diagram, Edge, Node
from guardgraph.drawing.geometry import fit_label
from guardgraph.drawing.style import LOOKS, DrawnKind

STYLES: dict[str, str] = {
    **{
        kind: f"fill:{look.light[0]},stroke:{look.light[1]},color:{look.ink}"
        for kind, look in LOOKS.items()
        if look.light and kind != "plain"  # which looks as the page's own theme has it
    },
    "taken": "stroke-width:4px",
    "waiting": "stroke-width:4px,stroke-dasharray:6 4",
    "earlier": "stroke-width:3px,stroke-dasharray:6 4",
    "stopping": "fill:#c92a2a,stroke:#c92a2a,color:#ffffff",
}
NAMES = {"start": "START", "end": "END"}
LABEL_CELLS = 80
PLAIN = frozenset(" _-.,:()×…")
"""What stands for itself in a label, besides letters and digits."""


def draw_mermaid_flowchart(diagram: Diagram) -> str:
    """Return a flowchart: every node and edge, the endings of a node in one box beside it."""
    ids = {node.name: f"n{number}" for number, node in enumerate(diagram.nodes)}
    classes: dict[str, list[str]] = {kind: [] for kind in STYLES}
    lines = ["flowchart TD"]
    for node in diagram.nodes:
        often = f" ×{node.visits}" if node.visits > 1 else ""
        lines.append(f"{ids[node.name]}{_write_mermaid_box(node.kind, [NAMES.get(node.kind, node.name) + often])}")
        for kind in _list_mermaid_classes(diagram, node):
            classes.get(kind, []).append(ids[node.name])
    for edge in diagram.edges:
        label = f'|"{_escape_mermaid_label(edge.label)}"|' if edge.label else ""
        lines.append(f"{ids[edge.start]} {_draw_mermaid_arrow(edge)}{label} {ids[edge.end]}")
    for node in diagram.nodes:
        for kind, endings in _list_mermaid_boxes(diagram, node):
            box = f"{ids[node.name]}_{kind}"
            lines.append(
                f"{ids[node.name]} {'==>' if kind == 'stopping' else '-.->'} {box}{_write_mermaid_box('stop', endings)}"
            )
            classes[kind].append(box)
    if diagram.behind:
        lines += [f"{ids[node.name]} -.-> behind" for node in diagram.nodes if node.kind == "ok"]
        lines.append(
            f"behind{_write_mermaid_box('stop', [ending.terminal or ending.label for ending in diagram.behind])}"
        )
        classes["stop"].append("behind")
    for kind, members in classes.items():
        if members:
            lines += [f"classDef {kind} {STYLES[kind]}", f"class {','.join(members)} {kind}"]
    head, *rest = lines
    return "".join([f"{head}\n", *(f"  {line}\n" for line in rest)])


def _list_mermaid_classes(diagram: Diagram, node: Node) -> Iterator[str]:
    """Yield how a node looks: as its kind, and as the runs that came to it."""
    yield node.kind
    if node.visits:
        yield "waiting" if diagram.taken is not None and diagram.taken.is_waiting_node(node.name) else "taken"
    elif node.earlier:
        yield "earlier"


def _draw_mermaid_arrow(edge: Edge) -> str:
    if edge.decided or (edge.earlier and not edge.taken):
        return "-.->"
    return "==>" if edge.taken else "-->"


def _list_mermaid_boxes(diagram: Diagram, node: Node) -> Iterator[tuple[str, list[str]]]:
    """Yield the endings of a node, those of every guard among them, and apart from them the one that a run took."""
    reached = [ending for ending in node.endings if ending.taken]
    known = {ending.terminal for ending in reached}
    common = diagram.everywhere if node.kind == "guard" else ()
    left = [ending for ending in (*node.endings, *common) if not ending.taken and ending.terminal not in known]
    for kind, endings in (("stop", left), ("stopping", reached)):
        if endings:
            yield kind, [ending.label if ending.taken else ending.terminal or ending.label for ending in endings]


def _write_mermaid_box(kind: DrawnKind, lines: list[str]) -> str:
    opening, closing = LOOKS[kind].mermaid
    return f'{opening}"{"<br>".join(map(_escape_mermaid_label, lines))}"{closing}'


def _escape_mermaid_label(text: str) -> str:
    """Return a text in which nothing is markup: all but letters, digits and a few marks as character codes."""
    words = fit_label(text, LABEL_CELLS)
    return "".join(letter if letter.isalnum() or letter in PLAIN else f"#{ord(letter)};" for letter in words)
