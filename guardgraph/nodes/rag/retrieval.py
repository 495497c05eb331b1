"""The retrieval: read what the intent names, and choose the context of the answer."""

from __future__ import annotations

from functools import partial

from guardgraph.guards import rag as guards
from guardgraph.guards.proposals import found
from guardgraph.languages.terms import terms
from guardgraph.nodes.body import Body, Pass, Step, Steps, declares
from guardgraph.nodes.rag.clarification import asked_to_clarify
from guardgraph.nodes.rag.request import RagRun, usable_sources
from guardgraph.plain.json import JsonObject, JsonValue
from guardgraph.state.outcome import Outcome
from guardgraph.state.rag import Candidate, Found, RagBudget, RagState, Retrieval, RetrievalRequest
from guardgraph.world.call import Call, Outside

__all__ = ["found_candidates", "pack_context", "packed_or_clarified", "retrieve"]


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
        if run.caller is not None:  # a request without one keeps the hash that it was recorded with
            request["caller"] = {**run.caller.model_dump(mode="json"), "groups": sorted(run.caller.groups)}
        nothing = Outcome("value", [])
        outcome = (yield _call(retriever, request, run)) if request["sources"] else nothing
        return {"asked_retrieval": request, "found_candidates": outcome.packed()}

    return body


def _call(retriever: Outside, request: JsonObject, run: RagRun) -> Call:
    """Return the call to a retriever; nothing of a document that the caller may not read is even kept."""
    required = run.policy.require_access

    def holds(recorded: JsonValue) -> str | None:
        is_refusal = isinstance(recorded, dict) and guards.is_uncontrolled(recorded.get("details"))
        return "what it found had no readers, and was not kept" if is_refusal and not required else None

    refuse = partial(guards.access_refusal, caller=run.caller, required=required)
    return Call("tool", retriever, request, refuse=refuse, holds=holds)


def pack_context(clarification: str) -> Body:
    """Choose the context; with nothing left, clarify instead of asking a model."""

    @declares(
        phase="retrieve",
        reads=["accepted_intent", "planned_by", "asked_retrieval", "found_candidates"],
        writes=["accepted_context", "nearest_score", "accepted_clarification"],
        stops=["invalid_intent", "source_denied", "tool", "access_revoked"],
    )
    def body(state: RagState, run: RagRun) -> Pass:
        asked, candidates = found_candidates(state, run)
        return packed_or_clarified(state, run, Found(asked=asked, candidates=candidates), clarification)

    return body


def found_candidates(state: RagState, run: RagRun) -> tuple[RetrievalRequest, list[Candidate]]:
    """Return what a retriever was asked, and what it returned, held against it."""
    asked = state["asked_retrieval"]
    returned = found(state["found_candidates"], "retrieve")
    guards.check_access(returned, caller=run.caller, required=run.policy.require_access)
    return asked, guards.parse_candidates(returned, allowed_sources=asked["sources"], top_k=asked["top_k"])


def packed_or_clarified(
    state: RagState, run: RagRun, given: Found, clarification: str, *, ranked: list[Candidate] | None = None
) -> Pass:
    """Return the way on with a context, or without one.

    Args:
        state: the channels.
        run: the run.
        given: what was found.
        clarification: what a run says without a context.
        ranked: the candidates in the order of a reranker, where there is one.
    """
    candidates = given["candidates"]
    packed = _packed(given["asked"]["query"], candidates if ranked is None else ranked, run.budget)
    nearest = max((item["score"] for item in candidates), default=0.0)
    step = _retrieved(state, given, packed, ranked)
    if packed["chunks"]:
        return Pass({"accepted_context": packed, "nearest_score": nearest}, "generate", (step,))
    return asked_to_clarify(clarification, "nothing_relevant", nearest, before=(step,))


def _packed(query: str, candidates: list[Candidate], budget: RagBudget) -> Retrieval:
    """Leave out near-duplicates, cut what is longer than the whole context to its best passage, then pack."""
    relevant, chunks, chars = budget.min_chunk_score, budget.max_context_chunks, budget.max_context_chars
    once = guards.collapse(candidates, min_score=relevant)
    shown = guards.shown_passages(
        once, query=query, terms=terms, min_score=relevant, max_chunks=chunks, max_chars=chars
    )
    return guards.pack(shown, min_score=relevant, max_chunks=chunks, max_chars=chars)


def _retrieved(state: RagState, given: Found, packed: Retrieval, ranked: list[Candidate] | None) -> Step:
    asked, candidates, chunks = given["asked"], given["candidates"], packed["chunks"]
    trace: JsonObject = {
        "phase": "retrieve",
        "query": asked["query"],
        "requested_sources": asked["sources"],
        "candidates": len(candidates),
        "context_chunks": len(chunks),
        "rejected_low_score": packed["rejected_low_score"],
    }
    shown = [{key: item[key] for key in ("doc_id", "source", "score")} for item in candidates]
    retrieval: JsonObject = {"candidates": shown, "context_chunks": [chunk["doc_id"] for chunk in chunks]}
    if ranked is not None:
        trace["reranked"] = retrieval["reranked"] = [item["doc_id"] for item in ranked]
    if left_out := [name for chunk in chunks for name in chunk.get("duplicates", [])]:
        trace["duplicates"] = retrieval["duplicates"] = left_out
    return Step(trace, {"intent": state["accepted_intent"], "retrieval": retrieval, **state["planned_by"]})
