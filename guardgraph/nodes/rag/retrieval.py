"""The retrieval: read what the intent names, and choose the context of the answer."""

from __future__ import annotations

from guardgraph.guards import rag as guards
from guardgraph.guards.proposals import found
from guardgraph.nodes.body import Body, Pass, Step, Steps, declares
from guardgraph.nodes.rag.request import RagRun, usable_sources
from guardgraph.state.json import JsonObject
from guardgraph.state.outcome import Outcome
from guardgraph.state.rag import Candidate, RagState, Retrieval
from guardgraph.world.call import Call, Outside

__all__ = ["pack_context", "retrieve"]


def retrieve(retriever: Outside) -> Body:
    """Read the sources that are switched on at this moment."""

    @declares(phase="retrieve", reads=["accepted_intent"], writes=["asked_retrieval", "found_candidates"])
    def body(state: RagState, run: RagRun) -> Steps:
        intent = state["accepted_intent"]
        request: JsonObject = {
            "query": intent["query"],
            "sources": usable_sources(intent, run),
            "top_k": min(intent["top_k"], run.budget.max_top_k),
        }
        nothing = Outcome("value", [])
        outcome = (yield Call("tool", retriever, request)) if request["sources"] else nothing
        return {"asked_retrieval": request, "found_candidates": outcome.packed()}

    return body


def pack_context(clarification: str) -> Body:
    """Choose the context; with nothing left, clarify instead of asking a model."""

    @declares(
        phase="retrieve",
        reads=["accepted_intent", "planned_by", "asked_retrieval", "found_candidates"],
        writes=["accepted_context", "accepted_answer"],
        stops=["invalid_intent", "source_denied", "tool"],
    )
    def body(state: RagState, run: RagRun) -> Pass:
        asked, budget = state["asked_retrieval"], run.budget
        returned = found(state["found_candidates"], "retrieve")
        candidates = guards.parse_candidates(returned, allowed_sources=asked["sources"], top_k=asked["top_k"])
        packed = guards.pack(
            candidates,
            min_score=budget.min_chunk_score,
            max_chunks=budget.max_context_chunks,
            max_chars=budget.max_context_chars,
        )
        step = _retrieved(state, candidates, packed)
        if packed["chunks"]:
            return Pass({"accepted_context": packed}, "generate", (step,))
        fallback = Step(
            {"phase": "fallback", "reason": "no_grounded_context"},
            {"action": "fallback", "answer": clarification},
        )
        accepted = {"answer": clarification, "citations": [], "citation_details": [], "passages": []}
        return Pass({"accepted_answer": accepted}, "clarified", (step, fallback))

    return body


def _retrieved(state: RagState, candidates: list[Candidate], packed: Retrieval) -> Step:
    asked, chunks = state["asked_retrieval"], packed["chunks"]
    trace = {
        "phase": "retrieve",
        "query": asked["query"],
        "requested_sources": asked["sources"],
        "candidates": len(candidates),
        "context_chunks": len(chunks),
        "rejected_low_score": packed["rejected_low_score"],
    }
    shown = [{key: item[key] for key in ("doc_id", "source", "score")} for item in candidates]
    retrieval = {"candidates": shown, "context_chunks": [chunk["doc_id"] for chunk in chunks]}
    return Step(trace, {"intent": state["accepted_intent"], "retrieval": retrieval, **state["planned_by"]})
