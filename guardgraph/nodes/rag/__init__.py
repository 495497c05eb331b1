"""The RAG agent's nodes, in the order of its diagram."""

from __future__ import annotations

from typing import Any

from guardgraph.guards import rag as guards
from guardgraph.guards.proposals import check_text, found, proposal, proposed_object
from guardgraph.guards.stop import Stop, evidence
from guardgraph.nodes.body import Body, Pass, Run, Step, Steps
from guardgraph.state.json import JsonObject
from guardgraph.state.outcome import Outcome
from guardgraph.state.plain import excerpt
from guardgraph.state.rag import Candidate, Intent, Passage, RagBudget, RagPolicy, RagState, Retrieval
from guardgraph.world.call import Call, Outside
from guardgraph.world.proposers import Proposer

__all__ = [
    "answered",
    "check_answer",
    "check_execution",
    "check_policy",
    "check_request",
    "clarified",
    "generate",
    "pack_context",
    "plan",
    "retrieve",
]

RagRun = Run[RagPolicy, RagBudget]

HISTORY_CHARS = 280
"""Characters of an answer that history keeps."""


def check_request(state: JsonObject, run: RagRun) -> Pass:
    """Parse the input."""
    return Pass({"task": guards.parse_rag_request(state.get("question"))})


def plan(planner: Proposer) -> Body:
    """Ask for a retrieval intent."""

    def body(state: RagState, run: RagRun) -> Steps:
        view = {
            "question": state["task"]["question"],
            "available_sources": sorted(run.policy.allowed_sources_policy),
        }
        outcome = yield planner.call(view)
        return {"proposed_intent": outcome.packed()}

    return body


def check_policy(state: RagState, run: RagRun) -> Pass:
    """Hold the intent against what the model may ask for."""
    given = proposal(state["proposed_intent"])
    with evidence(raw_intent=given.raw):
        if given.unreadable:
            raise Stop("invalid_intent:kind")
        intent = guards.parse_intent(
            given.value, allowed_sources=run.policy.allowed_sources_policy, max_top_k=run.budget.max_top_k
        )
    return Pass({"accepted_intent": intent, "planned_by": given.about})


def check_execution(state: RagState, run: RagRun) -> Pass:
    """Hold the intent against what the runtime will do now."""
    _sources(state["accepted_intent"], run)
    return Pass()


def _sources(intent: Intent, run: RagRun) -> list[str]:
    with evidence(intent=intent):
        return guards.check_execution(
            intent,
            policy=run.policy.allowed_sources_policy,
            execution=run.policy.allowed_sources_execution,
            max_query_chars=run.budget.max_query_chars,
        )


def retrieve(retriever: Outside) -> Body:
    """Read the sources that are switched on at this moment."""

    def body(state: RagState, run: RagRun) -> Steps:
        intent = state["accepted_intent"]
        request: JsonObject = {
            "query": intent["query"],
            "sources": _sources(intent, run),
            "top_k": min(intent["top_k"], run.budget.max_top_k),
        }
        nothing = Outcome("value", [])
        outcome = (yield Call("tool", retriever, request)) if request["sources"] else nothing
        return {"asked_retrieval": request, "found_candidates": outcome.packed()}

    return body


def pack_context(clarification: str) -> Body:
    """Choose the context; with nothing left, clarify instead of asking a model."""

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


def _usable_chunks(state: RagState, run: RagRun) -> list[Candidate]:
    """Return the context, unless one of its sources has been switched off since it was packed."""
    chunks = state["accepted_context"]["chunks"]
    allowed = set(run.policy.allowed_sources_policy) & set(run.policy.allowed_sources_execution)
    guards.check_sources({chunk["source"] for chunk in chunks}, allowed=allowed)
    return chunks


def generate(answerer: Proposer) -> Body:
    """Ask for an answer from the context alone."""

    def body(state: RagState, run: RagRun) -> Steps:
        keys = ("doc_id", "title", "section", "updated_at", "text")
        shown = [{key: chunk[key] for key in keys} for chunk in _usable_chunks(state, run)]  # type: ignore[literal-required]
        outcome = yield answerer.call({"question": state["task"]["question"], "context_chunks": shown})
        return {"proposed_answer": outcome.packed()}

    return body


def check_answer(state: RagState, run: RagRun) -> Pass:
    """Hold the answer against its context: citations first, then numbers."""
    given = proposed_object(state["proposed_answer"])
    check_text(given.value, "answer", ("citations",))
    answer, chunks = given.value["answer"].strip(), _usable_chunks(state, run)
    details = guards.cited(given.value["citations"], chunks)
    citations = [item["doc_id"] for item in details]
    used = [chunk for doc_id in citations for chunk in chunks if chunk["doc_id"] == doc_id]
    if run.policy.check_numbers:
        guards.check_numbers(answer, question=state["task"]["question"], chunks=used)
    passages = [Passage(doc_id=chunk["doc_id"], text=chunk["text"]) for chunk in used]
    history = {"action": "compose_grounded_answer", "answer": excerpt(answer, HISTORY_CHARS), "citations": citations}
    step = Step({"phase": "generate", "citation_count": len(citations)}, {**history, **given.about})
    accepted = {"answer": answer, "citations": citations, "citation_details": details, "passages": passages}
    return Pass({"accepted_answer": accepted}, steps=(step,))


def answered(state: RagState, run: RagRun) -> dict[str, Any]:
    """End with a grounded answer."""
    return {"outcome": "grounded_answer", **state["accepted_answer"]}


def clarified(state: RagState, run: RagRun) -> dict[str, Any]:
    """End with an honest request for clarification."""
    return {"outcome": "clarify", **state["accepted_answer"]}
