"""The floor under an agent: a plain LangGraph graph of the same shape, whose nodes do nothing but route.

Nodes, edges, path maps, schemas and channels are taken from the agent's builder. A node in front of a branch writes
the way that the agent's run took; the last node writes the agent's result; all others write nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import Any

from langgraph.graph import END, StateGraph
from langgraph.graph.state import CompiledStateGraph
from scripted_agents import Scripted

from guardgraph import GuardedGraph

Updates = Mapping[str, Any]
Graphs = dict[str, CompiledStateGraph[Any, Any, Any, Any]]


def floor(
    agent: GuardedGraph, result: dict[str, Any], *, coroutines: bool = False, checkpointer: Any = None
) -> CompiledStateGraph[Any, Any, Any, Any]:
    """Return the floor under an agent.

    Args:
        agent: the agent, of any pattern.
        result: of the run whose way the floor goes; it must leave each node in one way.
        coroutines: nodes and routers are coroutine functions, for `ainvoke`; LangGraph would run plain ones in threads.
        checkpointer: LangGraph's.

    Raises:
        ValueError: the run left a node in two ways.
    """
    made, ways = agent.builder, _ways(result["path"])
    writing, routing = (_coroutine_writing, _coroutine_routing) if coroutines else (_writing, _routing)
    graph = StateGraph(
        made.state_schema,
        context_schema=made.context_schema,
        input_schema=made.input_schema,
        output_schema=made.output_schema,
    )
    for name, node in made.nodes.items():
        update = {"route": ways[name]} if name in made.branches and name in ways else {}
        if name == result["path"][-1]:
            update = {key: result[key] for key in made.schemas[made.output_schema] if key in result}
        graph.add_node(name, writing(update), input_schema=node.input_schema)
    for start, end in made.edges:
        graph.add_edge(start, end)
    for name, branches in made.branches.items():
        for branch in branches.values():
            graph.add_conditional_edges(name, routing, branch.ends)
    return graph.compile(checkpointer=checkpointer, name=f"floor_of_{agent.name}")


def beside_floor(scripted: Scripted, *, coroutines: bool = False, savers: Sequence[Any] = (None, None)) -> Graphs:
    """Return a scripted agent and its floor, as ``agent`` and ``floor``.

    Args:
        scripted: the agent.
        coroutines: as for `floor`.
        savers: the agent's checkpointer and the floor's.
    """
    agent = scripted.make(checkpointer=savers[0])
    plain = floor(agent, scripted.result, coroutines=coroutines, checkpointer=savers[1])
    return {"agent": agent, "floor": plain}


def _ways(path: list[str]) -> dict[str, str]:
    ways = dict(pairwise(path))
    if list(pairwise(path)) != list(ways.items()):
        raise ValueError(f"a floor leaves each node in one way; the run's path: {', '.join(path)}")
    return ways


def _writing(update: Updates) -> Callable[[Any], Any]:
    def node(state):
        return update

    return node


def _coroutine_writing(update: Updates) -> Callable[[Any], Any]:
    async def node(state):
        return update

    return node


def _routing(state):
    return state.get("route", END)  # an ending writes no route


async def _coroutine_routing(state):
    return state.get("route", END)
