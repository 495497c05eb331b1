"""The desk: it answers a customer's message from the handbook."""

from __future__ import annotations

from pathlib import Path

from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from state import Order

from guardgraph import GuardedGraph, create_rag_agent

HANDBOOK = Path(__file__).parents[1] / "handbook"


def create_agent() -> GuardedGraph:
    """Return the agent that knows the handbook."""
    return create_rag_agent(knowledge_base=HANDBOOK)


def create_desk(agent: GuardedGraph) -> CompiledStateGraph:
    """Return the desk around an agent."""

    def ask(order: Order) -> Order:
        return {"result": agent.invoke({"question": order["message"]})}

    graph = StateGraph(Order)
    graph.add_node("ask", ask)
    graph.add_node("reply", reply)
    graph.add_edge(START, "ask")
    graph.add_edge("ask", "reply")
    graph.add_edge("reply", END)
    return graph.compile(name="desk")


def reply(order: Order) -> Order:
    """Write the reply, whatever came of the run."""
    result = order["result"]
    return {"reply": result["answer"] if result["status"] == "ok" else f"We will call you ({result['stop_reason']})."}
