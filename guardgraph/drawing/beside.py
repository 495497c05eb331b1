"""The way of an earlier run beside that of a run, in one picture: what both took, what one alone, where they part."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from itertools import takewhile

from langgraph.graph import START

from guardgraph.drawing.diagram import Diagram, Ending, Node
from guardgraph.drawing.taken import Taken


def draw_runs_beside(diagram: Diagram, earlier: Taken) -> Diagram:
    """Return a diagram of a run with the way of an earlier run of the same graph in it.

    Args:
        diagram: of the graph, with a run.
        earlier: how the other run went.
    """
    often, steps = Counter((START, *earlier.path)), set(earlier.edges_on_way)
    drawn = {node.name for node in diagram.nodes}
    stopped = earlier.path[-2:-1] if earlier.path[-1] not in drawn else ()
    nodes = [replace(node, earlier=often[node.name] > 0) for node in diagram.nodes]
    nodes = [
        replace(node, endings=_list_earlier_endings(node, earlier)) if node.name in stopped else node for node in nodes
    ]
    edges = [replace(edge, earlier=(edge.start, edge.end) in steps) for edge in diagram.edges]
    parting = _find_parting_node(diagram.taken, earlier)
    return replace(diagram, nodes=tuple(nodes), edges=tuple(edges), earlier=earlier, parting=parting)


def _list_earlier_endings(node: Node, earlier: Taken) -> tuple[Ending, ...]:
    """Return the endings of the node at which the earlier run was stopped, with the reason."""
    terminal = earlier.path[-1]
    reached = Ending(
        earlier.reason, f"{terminal}: the earlier run ended here, {earlier.reason}", terminal, earlier=True
    )
    same = [ending for ending in node.endings if ending.taken and ending.label == earlier.reason]
    if same:
        return tuple(replace(ending, earlier=True) if ending in same else ending for ending in node.endings)
    left = [ending for ending in node.endings if ending.taken or ending.terminal != terminal]
    return (*(ending for ending in left if ending.taken), reached, *(ending for ending in left if not ending.taken))


def _find_parting_node(taken: Taken | None, earlier: Taken) -> str | None:
    """Return the node from which two runs go different ways, None where they go the same or have none in common."""
    if taken is None or taken.edges_on_way == earlier.edges_on_way:
        return None
    common = [now for now, _ in takewhile(lambda pair: pair[0] == pair[1], zip(taken.path, earlier.path, strict=False))]
    return common[-1] if common else None
