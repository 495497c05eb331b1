"""The main way through a graph: the one through most nodes, loops left out."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

__all__ = ["main_way"]


def main_way(nodes: Sequence[str], edges: Iterable[tuple[str, str]]) -> tuple[str, ...]:
    """Return the longest way from the first node on; of equally long ones, the one that was declared first.

    Args:
        nodes: in order; the first is where every run begins.
        edges: pairs of nodes; those that lead back are left out, where depth-first search meets them.
    """
    after: dict[str, list[str]] = {name: [] for name in nodes}
    for start, end in edges:
        after[start].append(end)
    length: dict[str, int] = {}
    following: dict[str, str] = {}
    for name, ways in _backwards(nodes[0], after):
        length[name] = 1
        for way in ways:
            if length[way] >= length[name]:
                length[name], following[name] = length[way] + 1, way
    longest = [nodes[0]]
    while longest[-1] in following:
        longest.append(following[longest[-1]])
    return tuple(longest)


def _backwards(start: str, after: dict[str, list[str]]) -> list[tuple[str, list[str]]]:
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
