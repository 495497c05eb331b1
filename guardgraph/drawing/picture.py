"""The picture of a graph: as SVG, as PNG, as Mermaid text, in a notebook, in a file."""

from __future__ import annotations

from base64 import b64encode
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from functools import cached_property
from html import escape
from itertools import takewhile
from pathlib import Path
from typing import Any

from langgraph.graph import START
from langgraph.graph.state import CompiledStateGraph

from guardgraph.drawing.diagram import (
    Diagram,
    DrawnEnding,
    Node,
    Taken,
    fit_way_to_graph,
    make_diagram,
    read_way_of_run,
)
from guardgraph.drawing.shapes import fit_label
from guardgraph.drawing.style import LOOKS, MONO, DrawnKind
from guardgraph.drawing.svg import draw_svg
from guardgraph.graphs.proof.topology import Topology
from guardgraph.plain.errors import ConfigurationError, InputError
from guardgraph.plain.extras import explain_extra
from guardgraph.plain.files import rewrite_file

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
PLAIN = frozenset(" _-.,:()×…")  # what stands for itself in a label, besides letters and digits


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
        arrow = "==>" if edge.taken else "-->"
        if edge.decided or (edge.earlier and not edge.taken):
            arrow = "-.->"
        lines.append(f"{ids[edge.start]} {arrow}{label} {ids[edge.end]}")
    for node in diagram.nodes:
        for kind, endings in _list_mermaid_boxes(diagram, node):
            box = f"{ids[node.name]}_{kind}"
            arrow = "==>" if kind == "stopping" else "-.->"
            lines.append(f"{ids[node.name]} {arrow} {box}{_write_mermaid_box('stop', endings)}")
            classes[kind].append(box)
    if diagram.behind:
        lines += [f"{ids[node.name]} -.-> behind" for node in diagram.nodes if node.kind == "ok"]
        named = [ending.terminal or ending.label for ending in diagram.behind]
        lines.append(f"behind{_write_mermaid_box('stop', named)}")
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


def draw_runs_beside(diagram: Diagram, earlier: Taken) -> Diagram:
    """Return a diagram of a run with the way of an earlier run of the same graph in it."""
    often, steps = Counter((START, *earlier.path)), set(earlier.edges_on_way)
    drawn = {node.name for node in diagram.nodes}
    stopped = earlier.path[-2:-1] if earlier.path[-1] not in drawn else ()
    nodes = []
    for node in diagram.nodes:
        endings = _list_earlier_endings(node, earlier) if node.name in stopped else node.endings
        nodes.append(replace(node, earlier=often[node.name] > 0, endings=endings))
    edges = [replace(edge, earlier=(edge.start, edge.end) in steps) for edge in diagram.edges]
    parting = None  # the node from which two runs go different ways
    if diagram.taken is not None and diagram.taken.edges_on_way != earlier.edges_on_way:
        both = zip(diagram.taken.path, earlier.path, strict=False)
        common = [now for now, _ in takewhile(lambda pair: pair[0] == pair[1], both)]
        parting = common[-1] if common else None
    return replace(diagram, nodes=tuple(nodes), edges=tuple(edges), earlier=earlier, parting=parting)


def _list_earlier_endings(node: Node, earlier: Taken) -> tuple[DrawnEnding, ...]:
    """Return the endings of the node at which the earlier run was stopped, with the reason."""
    terminal = earlier.path[-1]
    about = f"{terminal}: the earlier run ended here, {earlier.reason}"
    reached = DrawnEnding(earlier.reason, about, terminal, earlier=True)
    same = [ending for ending in node.endings if ending.taken and ending.label == earlier.reason]
    if same:
        return tuple(replace(ending, earlier=True) if ending in same else ending for ending in node.endings)
    left = [ending for ending in node.endings if ending.taken or ending.terminal != terminal]
    return (*(ending for ending in left if ending.taken), reached, *(ending for ending in left if not ending.taken))


_LETTERS = f"""\
<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><text y="9" font-family="{MONO}">{{}}</text></svg>
"""


class Picture:
    """A drawn graph. A notebook shows it; `save` writes it to a file.

    Nothing is asked of any network, neither to draw it nor to show it.
    """

    def __init__(self, diagram: Diagram) -> None:
        self.diagram = diagram

    @cached_property
    def svg(self) -> str:
        """The picture as SVG, for light and dark surroundings; the same bytes on every machine with one graphlay.

        Raises:
            ConfigurationError: the extra ``draw`` is not installed.
        """
        return draw_svg(self.diagram)

    @cached_property
    def mermaid(self) -> str:
        """The graph as Mermaid text, which GitHub and others draw; no extra is needed."""
        return draw_mermaid_flowchart(self.diagram)

    def png(self, *, dark: bool = False, scale: float = 2.0) -> bytes:
        """Return the picture as PNG, on a light ground or a dark one, with `scale` pixels for each CSS pixel.

        Raises:
            ConfigurationError: the extra ``draw`` is not installed, the scale is not in 0.1 to 10, or the machine has
                no font.
        """
        if not 0.1 <= scale <= 10:
            raise ConfigurationError(f"scale: a number from 0.1 to 10 is required; given: {scale!r:.80}")
        try:
            from resvg_py import svg_to_bytes
        except ImportError as error:
            raise ConfigurationError(f"png: {explain_extra('draw')} ({error})") from error
        if svg_to_bytes(_LETTERS.format("M")) == svg_to_bytes(_LETTERS.format("")):
            raise ConfigurationError("png: this machine has no font; install one, such as DejaVu, or save SVG")
        return bytes(svg_to_bytes(draw_svg(self.diagram, dark=dark), zoom=scale))

    def save(self, path: str | Path) -> None:
        """Write the picture to a file; the ending of its name says as what: .svg, .png or .mmd.

        Raises:
            ConfigurationError: another ending, or the extra ``draw`` is not installed.
            OSError: the file cannot be written.
        """
        file = Path(path)
        match file.suffix.lower():
            case ".svg":
                content: str | bytes = self.svg
            case ".png":
                content = self.png()
            case ".mmd":
                content = self.mermaid
            case _:
                raise ConfigurationError(f"file: a name that ends in .svg, .png or .mmd; given: {str(path)!r:.200}")
        rewrite_file(file, content)

    def _repr_mimebundle_(self, **_: Any) -> dict[str, str]:
        """Return what notebooks show: the SVG as an image; without the extra ``draw``, the graph as Mermaid text."""
        # JupyterLab shows no bare SVG that it does not trust, as in every notebook that was run elsewhere, and GitHub
        # takes the style sheet out of it.
        try:
            image = b64encode(self.svg.encode()).decode()
        except ConfigurationError:
            return {"text/vnd.mermaid": self.mermaid, "text/plain": f"{self!r}\n\n{self.mermaid}"}
        shown = f'<img alt="{escape(self.described)}" src="data:image/svg+xml;base64,{image}">'
        return {"text/html": shown, "text/plain": repr(self)}

    @property
    def described(self) -> str:
        """What is to be seen, in a few words."""
        diagram = self.diagram
        folded = {ending.terminal for node in diagram.nodes for ending in node.endings if ending.terminal}
        nodes = sum(node.kind not in ("start", "end") for node in diagram.nodes)
        stops = len(folded.union(ending.terminal for ending in (*diagram.everywhere, *diagram.behind)))
        said = f"{diagram.name}, {nodes} nodes and {stops} stops"
        for named, taken in (("a run", diagram.taken), ("beside an earlier one", diagram.earlier)):
            if taken is not None:
                how = f"waits at {taken.ending_label}" if taken.waiting else f"ended with {taken.reason}"
                said += f", {named} that {how}"
        return said

    def __repr__(self) -> str:
        return f"<Picture: {self.described}>"


def draw(graph: CompiledStateGraph[Any, Any, Any, Any], run: object = None, *, earlier: object = None) -> Picture:
    """Draw a compiled graph, ours or any other, without a network.

    Kinds of nodes differ in shape and colour, the main way runs straight down, and the stops stand at the side of the
    guards that can make them.

    Args:
        graph: what a `create_…` function, `Pattern.compile` or a builder's `compile` returned.
        run: the result of a run of it, whose way then stands out, and the guard that stopped it, with the reason, or
            the node where it waits for a person.
        earlier: the result of another run of it, such as the one that a what-if judged again. Where it went another
            way, that way is grey and dashed, the run's is in colour, and the node is marked where they part.

    Raises:
        InputError: the graph is no compiled LangGraph graph, a run is no finished or waiting run of it, or an earlier
            one is given alone.
    """
    diagram = make_diagram(graph, run)
    if earlier is None:
        return Picture(diagram)
    if run is None:
        raise InputError("earlier: the way of a run is required beside it; given: no run")
    return Picture(draw_runs_beside(diagram, fit_way_to_graph(Topology(graph), read_way_of_run(earlier))))
