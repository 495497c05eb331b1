"""The RAG agent as an engineer writes it by hand; see nodes.py."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal
from uuid import uuid4

from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from measured import Outside

from by_hand_agents.nodes import (
    Ending,
    Update,
    Way,
    add_nodes,
    attempt,
    ended,
    on,
    passed_or_stopped,
    returned,
    router,
    step,
    stops_in,
)
from guardgraph import RagBudget, RagPolicy
from guardgraph.graphs.rag import CLARIFICATION
from guardgraph.grounding.words import read_terms
from guardgraph.guards.answers import judge_answer, read_workings
from guardgraph.guards.proposals import check_proposed_text
from guardgraph.guards.rag import answer as answer_guards
from guardgraph.guards.rag import intent as intent_guards
from guardgraph.guards.rag import passages as passage_guards
from guardgraph.guards.rag import retrieval as retrieval_guards
from guardgraph.guards.stop import evidence
from guardgraph.plain.json import excerpt_value
from guardgraph.state.grounding import UnverifiedSentence
from guardgraph.state.rag import CitationDetail, ClarifyReason, Intent, Passage, Retrieval

SHOWN = ("doc_id", "title", "section", "updated_at", "text")


class State(Ending, total=False):
    question: str
    proposed_intent: Any
    intent: Intent
    sources: list[str]
    found: Any
    context: Retrieval
    nearest: float
    proposed_answer: Any
    answer: str
    citations: list[str]
    citation_details: list[CitationDetail]
    passages: list[Passage]
    unverified: list[UnverifiedSentence]
    clarify_reason: ClarifyReason
    best_score: float


@dataclass(frozen=True)
class RagNodes:
    """The nodes, in the order of the run."""

    planner: Outside
    answerer: Outside
    retriever: Outside
    policy: RagPolicy
    budget: RagBudget

    @stops_in("plan")
    def check_request(self, state: State) -> Update:
        return {"run_id": str(uuid4()), **intent_guards.parse_rag_request(state.get("question"))}

    def plan(self, state: State) -> Update:
        sources = sorted(self.policy.allowed_sources_policy)
        return {"proposed_intent": self.planner({"question": state["question"], "available_sources": sources})}

    @stops_in("plan")
    def check_policy(self, state: State) -> Update:
        raw, allowed = state["proposed_intent"], self.policy.allowed_sources_policy
        with evidence(raw_intent=raw):
            return {"intent": intent_guards.parse_intent(raw, allowed_sources=allowed, max_top_k=self.budget.max_top_k)}

    @stops_in("retrieve")
    def check_execution(self, state: State) -> Update:
        with evidence(intent=state["intent"]):
            sources = intent_guards.check_intent_execution(
                state["intent"],
                policy=self.policy.allowed_sources_policy,
                execution=self.policy.allowed_sources_execution,
                max_query_chars=self.budget.max_query_chars,
            )
        return {"sources": sources}

    def retrieve(self, state: State) -> Update:
        intent, sources = state["intent"], state["sources"]
        if not sources:
            return {"found": []}
        request = {"query": intent["query"], "sources": sources, "top_k": intent["top_k"]}
        return {"found": attempt(self.retriever, request)}

    @stops_in("retrieve")
    def pack(self, state: State) -> Update:
        intent, found = state["intent"], returned(state["found"], "retrieve")
        candidates = retrieval_guards.parse_candidates(
            found, allowed_sources=state["sources"], top_k=intent["top_k"]
        ).candidates
        limits = {
            "min_score": self.budget.min_chunk_score,
            "max_chunks": self.budget.max_context_chunks,
            "max_chars": self.budget.max_context_chars,
        }
        once = retrieval_guards.drop_duplicates(candidates, min_score=self.budget.min_chunk_score)
        shown = passage_guards.cut_to_best_passages(once, query=intent["query"], terms=read_terms, **limits)
        context = retrieval_guards.pack_context(shown, **limits)
        nearest = max((item["score"] for item in candidates), default=0.0)
        shown = [{key: item[key] for key in ("doc_id", "source", "score")} for item in candidates]
        retrieval = {"candidates": shown, "context_chunks": [chunk["doc_id"] for chunk in context["chunks"]]}
        return {"context": context, "nearest": nearest, **step(state, {"intent": intent, "retrieval": retrieval})}

    def clarify(self, state: State) -> Update:
        why = "answerer_abstained" if state["context"]["chunks"] else "nothing_relevant"
        empty: Update = {"citations": [], "citation_details": [], "passages": []}
        empty |= {"clarify_reason": why, "best_score": state["nearest"]}
        told = {"action": "fallback", "answer": CLARIFICATION}
        return {"answer": CLARIFICATION, **empty, **ended("clarify"), **step(state, told)}

    def generate(self, state: State) -> Update:
        chunks = [{key: chunk[key] for key in SHOWN} for chunk in state["context"]["chunks"]]
        return {"proposed_answer": self.answerer({"question": state["question"], "context_chunks": chunks})}

    @stops_in("generate")
    def check_answer(self, state: State) -> Update:
        proposed, chunks = state["proposed_answer"], state["context"]["chunks"]
        if answer_guards.is_abstaining_answer(proposed):
            return {}
        check_proposed_text(proposed, "answer", ("citations",))
        read = answer_guards.read_answer(proposed["answer"], proposed["citations"], chunks, must_cite=False)
        task: Any = {"question": state["question"]}
        checked = answer_guards.check_answer_sentences(
            read, task=task, workings=read_workings(proposed), policy=self.policy
        )
        judged = judge_answer(checked, self.policy)
        if judged.stops and judged.refusal is not None:
            raise judged.refusal
        answer, details = read.text, passage_guards.add_citation_spans(read, checked)
        citations = [item["doc_id"] for item in details]
        told = {"action": "compose_grounded_answer", "answer": excerpt_value(answer, 280), "citations": citations}
        told |= {"unverified": [item["text"] for item in judged.unverified]} if judged.unverified else {}
        return {
            "answer": answer,
            "citations": citations,
            "citation_details": details,
            "passages": [Passage(doc_id=chunk["doc_id"], text=chunk["text"]) for chunk in read.used],
            **({"unverified": judged.unverified} if judged.unverified else {}),
            **ended("grounded_answer"),
            **step(state, told),
        }


def after_packing(state: State) -> Literal["generate", "clarify", "stopped"]:
    if "status" in state:
        return "stopped"
    return "generate" if state["context"]["chunks"] else "clarify"


def after_answering(state: State) -> Literal["clarify", "ended"]:
    return "ended" if "status" in state else "clarify"


def rag_by_hand(
    *, policy: RagPolicy, budget: RagBudget | None = None, way: Way = "sync", **parts: Outside
) -> CompiledStateGraph[Any, Any, Any, Any]:
    """Return the RAG agent, written by hand; `parts` are its proposers and its retriever, named as for the factory."""
    do = RagNodes(**parts, policy=policy, budget=budget or RagBudget())
    checks = {
        "check_request": do.check_request,
        "check_policy": do.check_policy,
        "check_execution": do.check_execution,
        "pack": do.pack,
        "clarify": do.clarify,
        "check_answer": do.check_answer,
    }
    graph, passing = StateGraph(State), router(passed_or_stopped, way)
    add_nodes(graph, asks={"plan": do.plan, "retrieve": do.retrieve, "generate": do.generate}, checks=checks, way=way)
    graph.add_edge(START, "check_request")
    graph.add_conditional_edges("check_request", passing, on("plan"))
    graph.add_edge("plan", "check_policy")
    graph.add_conditional_edges("check_policy", passing, on("check_execution"))
    graph.add_conditional_edges("check_execution", passing, on("retrieve"))
    graph.add_edge("retrieve", "pack")
    packed = {"generate": "generate", "clarify": "clarify", "stopped": END}
    graph.add_conditional_edges("pack", router(after_packing, way), packed)
    graph.add_edge("clarify", END)
    graph.add_edge("generate", "check_answer")
    graph.add_conditional_edges("check_answer", router(after_answering, way), {"clarify": "clarify", "ended": END})
    return graph.compile()
