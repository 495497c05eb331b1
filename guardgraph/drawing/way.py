"""What a picture shows of a run alone: the nodes that ran, without the graph that they are of."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Mapping

from langgraph.graph import START

from guardgraph.drawing.diagram import Diagram, Edge, Node, find_main_way
from guardgraph.drawing.kinds import DrawnKind
from guardgraph.drawing.taken import Taken
from guardgraph.state.run import Kind


def make_way_diagram(taken: Taken, kinds: Mapping[str, Kind]) -> Diagram:
    """Return the way of a run as a graph of its own, which runs straight down where the run never went back.

    Args:
        taken: the run.
        kinds: what its nodes are; one that is missing is drawn as a plain node.
    """
    visits = Counter(taken.path)
    nodes = [Node(START, "start", "the run began here", visits=1)]
    for name, often in visits.items():
        nodes.append(
            Node(
                name, _choose_way_node_kind(name, kinds.get(name), taken), _describe_way_node(name, kinds), visits=often
            )
        )
    steps = dict.fromkeys(itertools.pairwise((START, *taken.path)))
    edges = tuple(Edge(start, end, taken=True) for start, end in steps)
    return Diagram("the run", tuple(nodes), edges, (), find_main_way([node.name for node in nodes], steps), taken)


def _choose_way_node_kind(name: str, kind: Kind | None, taken: Taken) -> DrawnKind:
    if kind == "terminal":
        return "stop" if not taken.is_ok_way and name == taken.path[-1] else "ok"  # one that failed leads to a stop
    return kind or "plain"


def _describe_way_node(name: str, kinds: Mapping[str, Kind]) -> str:
    return f"{name}: {kinds[name]}" if name in kinds else name
