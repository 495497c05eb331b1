"""The conditional edges: a guard's goes where its verdict says, a terminal's to the end unless it cannot end there."""

from __future__ import annotations

from typing import Any, TypeAlias

from langchain_core.runnables import Runnable, RunnableConfig
from langgraph.graph import END
from langgraph.graph.state import CompiledStateGraph

from guardgraph.graphs.declaring.declaration import FAILED_ENDING, UNRECORDED_ENDING
from guardgraph.graphs.running.langgraph import BranchSpec
from guardgraph.plain.json import JsonObject

Graph: TypeAlias = CompiledStateGraph[Any, Any, Any, Any]


def drop_router_readers(graph: Graph) -> Graph:
    """Let our conditional edges read what their node has written, and nothing else.

    LangGraph would read the whole state anew for each of them, and so copy every channel of the graph, for a route that
    the node has just written.
    """
    for start, branches in graph.builder.branches.items():
        for name, branch in branches.items():
            if isinstance(branch.path, Router) and start in graph.nodes:
                writers = graph.nodes[start].writers
                writers[:] = [writer for writer in writers if not _is_branch_writer(branch, writer)]
                graph.attach_branch(start, name, branch, with_reader=False)
    return graph


def _is_branch_writer(branch: BranchSpec, writer: Any) -> bool:
    """Say whether a writer is what LangGraph made of a branch."""
    return getattr(getattr(writer, "func", None), "__self__", None) is branch


class Router(Runnable[JsonObject, str]):
    """Reads the route that the guard in front of it has written."""

    name = "route"

    def invoke(self, input: JsonObject, config: RunnableConfig | None = None, **kwargs: Any) -> str:
        """Return the name of the next node."""
        return str(input["route"])

    async def ainvoke(self, input: JsonObject, config: RunnableConfig | None = None, **kwargs: Any) -> str:
        """Return the name of the next node."""
        return self.invoke(input, config)


class EndingRouter(Router):
    """Ends the run after a terminal, or leads to the stop that says that it failed, or that the run is not recorded."""

    def invoke(self, input: JsonObject, config: RunnableConfig | None = None, **kwargs: Any) -> str:
        """Return the name of the next node."""
        route = input.get("route")
        return route if route in (FAILED_ENDING, UNRECORDED_ENDING) else END
