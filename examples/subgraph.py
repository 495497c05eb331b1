"""A guarded graph in a graph of your own, which goes its own ways by how the run ended.

A run of a guarded graph ends in exactly one node, the last of its `path`. `ROUTES` says for each of these what happens
next, and `create_desk` refuses a table that leaves one out.
"""

from __future__ import annotations

from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from typing_extensions import TypedDict

from guardgraph import GuardedGraph, RagResult, create_rag_agent
from guardgraph.testing import ScriptedChatModel

ROUTES = {
    "answered": "send",
    "clarified": "ask_back",
    "stop_invalid_request": "ask_back",
    "stop_invalid_question": "ask_back",
    "stop_budget": "try_later",
    "stop_llm": "try_later",
    "stop_tool": "try_later",
    "stop_source_denied": "hand_over",
    "stop_access_revoked": "hand_over",
    "stop_invalid_intent": "hand_over",
    "stop_invalid_answer": "hand_over",
    "stop_guard_error": "hand_over",
    "stop_audit_unavailable": "hand_over",
}


class Desk(TypedDict, total=False):
    """The state of the desk."""

    question: str
    result: RagResult
    reply: str


def create_desk(agent: GuardedGraph, checkpointer: BaseCheckpointSaver | None = None) -> CompiledStateGraph:
    """Return a support desk around an RAG agent.

    Raises:
        ValueError: `ROUTES` does not name the endings of the agent.
    """
    endings = {name for name, node in agent.builder.nodes.items() if node.metadata["kind"] == "terminal"}
    if endings != ROUTES.keys():
        raise ValueError(f"ROUTES: one for each ending; wrong or missing: {sorted(endings ^ ROUTES.keys())}")

    def ask(desk: Desk) -> Desk:
        # The whole result stands under one key. Were its keys the desk's own, a stopped run would leave the answer
        # of the run before it on a thread that is used again.
        return {"result": agent.invoke({"question": desk["question"]})}

    graph = StateGraph(Desk)
    graph.add_node("ask", ask)
    graph.add_edge(START, "ask")
    graph.add_conditional_edges("ask", route, sorted(set(ROUTES.values())))
    for name, node in {"send": send, "ask_back": ask_back, "try_later": try_later, "hand_over": hand_over}.items():
        graph.add_node(name, node)
        graph.add_edge(name, END)
    return graph.compile(name="desk", checkpointer=checkpointer)


def route(desk: Desk) -> str:
    """Return where an ending leads."""
    return ROUTES[desk["result"]["path"][-1]]


def send(desk: Desk) -> Desk:
    """Reply with the answer."""
    result = desk["result"]
    return {"reply": result["answer"]} if result["status"] == "ok" else hand_over(desk)


def ask_back(desk: Desk) -> Desk:
    """Ask the customer what was meant."""
    result = desk["result"]
    return {"reply": result["answer"] if result["status"] == "ok" else "What would you like to know?"}


def try_later(desk: Desk) -> Desk:
    """Say that it may work another time."""
    return {"reply": "We are busy. Please ask again in a few minutes."}


def hand_over(desk: Desk) -> Desk:
    """Give the question to a person, with the reason."""
    return {"reply": f"A colleague looks into it ({desk['result']['stop_reason']})."}


def main() -> None:
    """Ask four questions, two of them on bad days."""
    cited_wrongly = create_rag_agent(answerer=lambda view: {"answer": "15 minutes.", "citations": ["a_rumour"]})
    out_of_order = create_rag_agent(ScriptedChatModel(ConnectionError("no route to the model")))
    target = "What is the P1 first response target?"
    for agent, question in (
        (create_rag_agent(), target),
        (create_rag_agent(), "Which planet has the most moons?"),
        (cited_wrongly, target),
        (out_of_order, target),
    ):
        desk = create_desk(agent).invoke({"question": question})
        print(f"{desk['result']['path'][-1]} -> {route(desk)}: {desk['reply']}")


if __name__ == "__main__":
    main()
