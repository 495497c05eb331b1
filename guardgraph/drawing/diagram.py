"""What a picture of a graph shows, without where: nodes with their kinds, edges, endings, and the run that was made."""

# The many edges to stop terminals would hide the way through a graph, so they are folded: a stop terminal is shown at
# every node that leads to it, and one that every guard leads to is named once for all. A terminal's edge to END is
# folded into its shape, and so are those to the stops that it ends in if it cannot end the run itself: if it fails, or
# if the run is not recorded that has to be. A stop that only terminals lead to is named once for all too. The main way
# is the one through most nodes, loops left out.

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from langgraph.graph import END, START
from langgraph.graph.state import CompiledStateGraph

from guardgraph.drawing.style import DrawnKind
from guardgraph.graphs.proof.topology import Topology
from guardgraph.plain.errors import InputError
from guardgraph.state.catalogue import SUCCESS


@dataclass(frozen=True, slots=True)
class Taken:
    """The way of a run that is finished, or waits for a person."""

    path: tuple[str, ...]
    reason: str
    outcome: str
    waiting: bool = False  # whether it waits for a person at the last node of its path; it has no reason yet

    @property
    def is_ok_way(self) -> bool:
        """Whether the run ended well."""
        return self.reason == SUCCESS

    @property
    def way_status(self) -> Literal["ok", "stopped", "waiting"]:
        """How the run stands."""
        return "waiting" if self.waiting else "ok" if self.is_ok_way else "stopped"

    @property
    def ending_label(self) -> str:
        """What came of the run in a word: the outcome, the stop reason, or the node where it waits."""
        return {"ok": self.outcome or self.reason, "stopped": self.reason, "waiting": self.path[-1]}[self.way_status]

    def is_waiting_node(self, name: str) -> bool:
        """Say whether the run waits at a node."""
        return self.waiting and name == self.path[-1]

    @property
    def edges_on_way(self) -> list[tuple[str, str]]:
        """The edges that the run took, from START on."""
        return list(itertools.pairwise((START, *self.path, *(() if self.waiting else (END,)))))


def read_way_of_run(run: object) -> Taken:
    """Return the way of a run that is finished or waits, whatever its graph."""
    given = run if isinstance(run, dict) else {}
    waiting = given.get("status") == "waiting" and isinstance(given.get("waiting_for"), dict)
    path, reason, outcome = given.get("path"), "" if waiting else given.get("stop_reason"), given.get("outcome", "")
    if not isinstance(path, list) or not path or not isinstance(reason, str):
        keys = "path, a list of node names, and stop_reason, or of one that waits, with path and waiting_for"
        said = type(run).__name__ if not isinstance(run, dict) else "an empty dictionary"
        if given:
            said = f"a dictionary with {', '.join(sorted(map(str, given)))}"[:200]
        raise InputError(f"run: the result of a finished run is required, with {keys}; given: {said}")
    for number, name in enumerate(path, 1):
        if not isinstance(name, str):
            asked = "run: the result of a finished run is required"
            raise InputError(f"{asked}; path: entry {number} is the name of no node; given: {name!r:.80}")
    return Taken(tuple(path), reason, outcome if isinstance(outcome, str) else "", waiting)


def fit_way_to_graph(shape: Topology, taken: Taken) -> Taken:
    """Return the way of a run, if it is one through a graph."""
    if unknown := [name for name in taken.path if name not in shape.nodes]:
        raise InputError(f"run: a run of another graph; {shape.graph.get_name()} has no node {unknown[0]!r:.80}")
    for name, following in taken.edges_on_way:
        if following not in shape.list_following_nodes(name):
            raise InputError(f"run: a run of another graph; no edge leads from {name} to {following}")
    return taken


def find_main_way(nodes: Sequence[str], edges: Iterable[tuple[str, str]]) -> tuple[str, ...]:
    """Return the longest way from the first node on; of equally long ones, the one that was declared first."""
    after: dict[str, list[str]] = {name: [] for name in nodes}
    for start, end in edges:
        after[start].append(end)
    length: dict[str, int] = {}
    following: dict[str, str] = {}
    for name, ways in _order_nodes_backwards(nodes[0], after):
        length[name] = 1
        for way in ways:
            if length[way] >= length[name]:
                length[name], following[name] = length[way] + 1, way
    longest = [nodes[0]]
    while longest[-1] in following:
        longest.append(following[longest[-1]])
    return tuple(longest)


def _order_nodes_backwards(start: str, after: dict[str, list[str]]) -> list[tuple[str, list[str]]]:
    """Return the nodes that can be reached, each behind all that it leads to, with the ways that do not lead back."""
    done: dict[str, list[str]] = {}
    open_ways = {start: iter(after[start])}
    while open_ways:
        name = next(reversed(open_ways))
        unseen = next((way for way in open_ways[name] if way not in open_ways and way not in done), None)
        if unseen is None:
            del open_ways[name]
            done[name] = [way for way in after[name] if way in done]
        else:
            open_ways[unseen] = iter(after[unseen])
    return list(done.items())


ANYWHERE = "any node"  # label of what stands for the edges of a branch without a path map


@dataclass(frozen=True, slots=True)
class DrawnEnding:
    """Edges that are folded into the node that they leave."""

    label: str
    about: str
    terminal: str | None  # the stop terminal; None for the edges of a branch that can lead anywhere
    taken: bool = False
    earlier: bool = False  # whether an earlier run took it


@dataclass(frozen=True, slots=True)
class Node:
    """A node that is drawn."""

    name: str
    kind: DrawnKind
    about: str
    endings: tuple[DrawnEnding, ...] = ()
    visits: int = 0
    earlier: bool = False  # whether an earlier run came here


@dataclass(frozen=True, slots=True)
class Edge:
    """An edge that is drawn."""

    start: str
    end: str
    label: str = ""  # what the branch calls this way, where that is not the node's name
    decided: bool = False  # whether a node that is no guard decides if it is taken
    taken: bool = False
    earlier: bool = False  # whether an earlier run took it


@dataclass(frozen=True, slots=True)
class Diagram:
    """A graph, ready to be laid out."""

    name: str
    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...]
    everywhere: tuple[DrawnEnding, ...]  # endings of every guard, which stand at none of them
    main: tuple[str, ...]  # the way through most nodes, from START on
    taken: Taken | None = None
    earlier: Taken | None = None  # another run of the same graph, whose way stands beside
    parting: str | None = None  # the node from which the two runs go different ways
    behind: tuple[DrawnEnding, ...] = ()  # endings of terminals alone, which stand at none of them


def make_diagram(graph: CompiledStateGraph[Any, Any, Any, Any], run: object = None) -> Diagram:
    """Return what is to be seen of a compiled graph, and of a run of it."""
    if not isinstance(graph, CompiledStateGraph):
        raise InputError(f"graph: a compiled LangGraph graph is required; given: {type(graph).__name__}")
    shape = Topology(graph)
    taken = None if run is None else fit_way_to_graph(shape, read_way_of_run(run))
    nodes, edges = _list_drawn_nodes(shape, taken), _list_drawn_edges(shape, taken)
    everywhere = _list_endings_of_all_guards(nodes)
    for at, node in enumerate(nodes):
        if node.kind == "guard":
            nodes[at] = replace(node, endings=tuple(each for each in node.endings if each not in everywhere))
    main = find_main_way([node.name for node in nodes], [(edge.start, edge.end) for edge in edges])
    endings = []
    for name in shape.builder.nodes:
        entries = {other for other, item in shape.items.items() if item.entry}
        before = shape.list_preceding_nodes(name) - entries
        only = _is_folded_terminal(shape, name) and all(_is_drawn_terminal(shape, other) for other in before)
        if only and before and (taken is None or name != taken.path[-1]):
            endings.append(_make_drawn_ending(shape, name))
    return Diagram(graph.get_name(), tuple(nodes), tuple(edges), everywhere, main, taken, behind=tuple(endings))


def _list_drawn_nodes(shape: Topology, taken: Taken | None) -> list[Node]:
    visits = Counter(taken.path if taken else ())
    drawn = [Node(START, "start", "every run begins here", visits=bool(taken))]
    for name in shape.builder.nodes:
        if not _is_folded_terminal(shape, name):
            kind, about, item = _choose_drawn_kind(shape, name), name, shape.items.get(name)
            if item is not None:
                about += f": {item.kind}, phase {item.phase}" if item.phase else f": {item.kind}"
            drawn.append(Node(name, kind, about, _list_drawn_endings(shape, name, taken), visits[name]))
    ways = [name for name in [START, *shape.builder.nodes] if not _is_drawn_terminal(shape, name)]
    if any(END in _map_edge_labels(shape, name) for name in ways):
        ended_here = taken is not None and not taken.waiting and not _is_drawn_terminal(shape, taken.path[-1])
        drawn.append(Node(END, "end", "the run ends here", visits=ended_here))
    return drawn


def _choose_drawn_kind(shape: Topology, name: str) -> DrawnKind:
    kind = shape.get_kind(name)
    if kind == "terminal":
        return "ok" if shape.is_ok_terminal(name) else "stop"
    return kind or "plain"


def _is_drawn_terminal(shape: Topology, name: str) -> bool:
    """Say whether a node is a terminal, whose edge to END is part of its shape."""
    return shape.get_kind(name) == "terminal" and shape.list_following_nodes(name) == shape.get_endings(name)


def _is_folded_terminal(shape: Topology, name: str) -> bool:
    """Say whether a stop terminal is shown at the nodes that lead to it, instead of by itself."""
    if _choose_drawn_kind(shape, name) != "stop" or not _is_drawn_terminal(shape, name):
        return False
    before = shape.list_preceding_nodes(name)
    return bool(before) and START not in before


def _list_drawn_endings(shape: Topology, name: str, taken: Taken | None) -> tuple[DrawnEnding, ...]:
    endings = []
    for way in () if _is_drawn_terminal(shape, name) else _map_edge_labels(shape, name):
        if _is_folded_terminal(shape, way):
            endings.append(_make_drawn_ending(shape, way))
    if any(branch.ends is None for branch in shape.builder.branches.get(name, {}).values()):
        endings.append(DrawnEnding(ANYWHERE, "a branch without a path map, which can lead to any node", None))
    # Two stops follow the last node that is drawn by itself, if the first could not be recorded.
    drawn = () if taken is None else [each for each in taken.path if not _is_folded_terminal(shape, each)]
    if taken is not None and drawn and name == drawn[-1] != taken.path[-1]:
        terminal = taken.path[-1]
        reached = DrawnEnding(taken.reason, f"{terminal}: the run ended here, {taken.reason}", terminal, taken=True)
        endings = [reached, *(ending for ending in endings if ending.terminal != terminal)]
    return tuple(endings)


def _make_drawn_ending(shape: Topology, name: str) -> DrawnEnding:
    item = shape.items.get(name)
    return DrawnEnding((item and item.family) or name, f"{name}: the run ends here", name)


def _list_endings_of_all_guards(nodes: Iterable[Node]) -> tuple[DrawnEnding, ...]:
    guards = [node for node in nodes if node.kind == "guard"]
    if len(guards) < 2:
        return ()
    known = {ending.terminal: ending for node in guards for ending in node.endings if not ending.taken}
    led_to = Counter(ending.terminal for node in guards for ending in node.endings)
    everywhere = [ending for terminal, ending in known.items() if terminal and led_to[terminal] == len(guards)]
    return tuple(sorted(everywhere, key=lambda ending: ending.label))


def _list_drawn_edges(shape: Topology, taken: Taken | None) -> list[Edge]:
    steps = set(taken.edges_on_way if taken else ())
    edges = []
    for name in [START, *shape.builder.nodes]:
        for way, labels in _map_edge_labels(shape, name).items():
            is_folded = _is_folded_terminal(shape, way) or _is_folded_terminal(shape, name)
            if is_folded or (way == END and _is_drawn_terminal(shape, name)):
                continue
            decided = labels is not None and _choose_drawn_kind(shape, name) != "guard"
            edges.append(Edge(name, way, ", ".join(labels or ()), decided, (name, way) in steps))
    return edges


def _map_edge_labels(shape: Topology, name: str) -> dict[str, list[str] | None]:
    """Return where edges lead to, with the labels of those that are decided on; None for plain edges."""
    ways: dict[str, list[str] | None] = {}
    for key, way in _list_branch_labels(shape, name):
        labels = ways.setdefault(way, [])
        if labels is not None and key not in ("", way, *labels):
            labels.append(key)
    order = {other: number for number, other in enumerate([*shape.builder.nodes, END])}
    for way in sorted(shape.list_static_followers(name) - ways.keys(), key=order.__getitem__):
        ways[way] = None
    return ways


def _list_branch_labels(shape: Topology, name: str) -> Iterator[tuple[str, str]]:
    for branch in shape.builder.branches.get(name, {}).values():
        for key, way in (branch.ends or {}).items():
            yield str(key), way
    spec = shape.builder.nodes.get(name)
    if spec is not None:
        ends: Any = spec.ends or ()
        labels = ends if isinstance(ends, dict) else {}
        yield from ((labels.get(way, ""), way) for way in ends)
        if spec.error_handler_node is not None:
            yield "on error", spec.error_handler_node
