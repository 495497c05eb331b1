"""What a graph is called that nobody named."""

from __future__ import annotations

__all__ = ["DefaultName"]

_UNNAMED = "LangGraph"
"""What LangGraph calls such a graph."""


class DefaultName(str):
    """The name of a graph that nobody named: it reads as that of its pattern, and counts as LangGraph's own default.

    LangGraph's server calls a graph, its runs and its tool by the id in langgraph.json unless the graph has a name of
    its own, which it finds out by comparing with its default. With a name like any other, two agents of one pattern
    would be one tool.
    """

    __slots__ = ()
    __hash__ = str.__hash__

    def __eq__(self, other: object) -> bool:
        return str.__eq__(self, other) is True or (type(other) is str and other == _UNNAMED)

    def __ne__(self, other: object) -> bool:
        return not self == other
