"""A diagram as Mermaid text, for pages that draw it themselves. It needs no layout, and so no extra."""

from __future__ import annotations

from collections.abc import Iterator

from guardgraph.drawing.diagram import Diagram, DrawnKind, Node
from guardgraph.drawing.text import shown

__all__ = ["mermaid"]

SHAPES: dict[DrawnKind, tuple[str, str]] = {
    "start": ("((", "))"),
    "propose": ("([", "])"),
    "act": ("[", "]"),
    "guard": ("{{", "}}"),
    "ok": ("[[", "]]"),
    "stop": ("[/", "/]"),
    "plain": ("(", ")"),
    "end": ("(((", ")))"),
}
STYLES: dict[str, str] = {
    "propose": "fill:#fff3d1,stroke:#b27a10,color:#1f2328",
    "act": "fill:#e5ebff,stroke:#4c63d2,color:#1f2328",
    "guard": "fill:#dbf3f4,stroke:#0b7f8f,color:#1f2328",
    "ok": "fill:#def5e3,stroke:#2b8a3e,color:#1f2328",
    "stop": "fill:#fff0f0,stroke:#d6545a,color:#b02528",
    "taken": "stroke-width:4px",
    "stopping": "fill:#c92a2a,stroke:#c92a2a,color:#ffffff",
}
NAMES = {"start": "START", "end": "END"}
LABEL_CELLS = 80
PLAIN = frozenset(" _-.,:()×…")
"""What stands for itself in a label, besides letters and digits."""


def mermaid(diagram: Diagram) -> str:
    """Return a flowchart: every node and edge, the endings of a node in one box beside it."""
    ids = {node.name: f"n{number}" for number, node in enumerate(diagram.nodes)}
    classes: dict[str, list[str]] = {kind: [] for kind in STYLES}
    lines = ["flowchart TD"]
    for node in diagram.nodes:
        name = NAMES.get(node.kind, node.name)
        often = f" ×{node.visits}" if node.visits > 1 else ""
        lines.append(f"{ids[node.name]}{_shape(node.kind, [name + often])}")
        for kind in (node.kind, "taken") if node.visits else (node.kind,):
            classes.get(kind, []).append(ids[node.name])
    for edge in diagram.edges:
        arrow = "-.->" if edge.decided else "==>" if edge.taken else "-->"
        label = f'|"{_label(edge.label)}"|' if edge.label else ""
        lines.append(f"{ids[edge.start]} {arrow}{label} {ids[edge.end]}")
    for node in diagram.nodes:
        for kind, endings in _boxes(diagram, node):
            box = f"{ids[node.name]}_{kind}"
            lines.append(f"{ids[node.name]} {'==>' if kind == 'stopping' else '-.->'} {box}{_shape('stop', endings)}")
            classes[kind].append(box)
    for kind, members in classes.items():
        if members:
            lines += [f"classDef {kind} {STYLES[kind]}", f"class {','.join(members)} {kind}"]
    head, *rest = lines
    return "".join([f"{head}\n", *(f"  {line}\n" for line in rest)])


def _boxes(diagram: Diagram, node: Node) -> Iterator[tuple[str, list[str]]]:
    """Yield the endings of a node, those of every guard among them, and apart from them the one that a run took."""
    reached = [ending for ending in node.endings if ending.taken]
    known = {ending.terminal for ending in reached}
    common = diagram.everywhere if node.kind == "guard" else ()
    left = [ending for ending in (*node.endings, *common) if not ending.taken and ending.terminal not in known]
    for kind, endings in (("stop", left), ("stopping", reached)):
        if endings:
            yield kind, [ending.label if ending.taken else ending.terminal or ending.label for ending in endings]


def _shape(kind: DrawnKind, lines: list[str]) -> str:
    opening, closing = SHAPES[kind]
    return f'{opening}"{"<br>".join(map(_label, lines))}"{closing}'


def _label(text: str) -> str:
    """Return a text in which nothing is markup: all but letters, digits and a few marks as character codes."""
    words = shown(text, LABEL_CELLS)
    return "".join(letter if letter.isalnum() or letter in PLAIN else f"#{ord(letter)};" for letter in words)
