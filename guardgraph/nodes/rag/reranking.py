"""The reranking: somebody orders what was found anew, or leaves some of it out, before the context is chosen."""

from __future__ import annotations

from typing import Final

from guardgraph.guards import rag as guards
from guardgraph.guards.proposals import found
from guardgraph.nodes.body import Body, Pass, Steps, declares
from guardgraph.nodes.rag.request import RagRun, check_chunks
from guardgraph.nodes.rag.retrieval import found_candidates, packed_or_clarified
from guardgraph.plain.json import JsonObject
from guardgraph.state.outcome import Outcome
from guardgraph.state.rag import RagState
from guardgraph.world.call import Call, Outside

__all__ = ["check_candidates", "pack_reranked", "rerank"]

SHOWN: Final = ("doc_id", "source", "title", "section", "updated_at", "text", "score")
"""What a reranker sees of a candidate."""


@declares(
    phase="retrieve",
    reads=["asked_retrieval", "found_candidates"],
    writes=["accepted_candidates"],
    stops=["invalid_intent", "source_denied", "tool", "access_revoked"],
)
def check_candidates(state: RagState, run: RagRun) -> Pass:
    """Hold what was found against what was asked for, before anybody else sees it."""
    asked, candidates = found_candidates(state, run)
    return Pass({"accepted_candidates": {"asked": asked, "candidates": candidates}})


def rerank(reranker: Outside) -> Body:
    """Show the candidates to a reranker; where there are none, it is not asked."""

    @declares(phase="retrieve", reads=["accepted_candidates"], writes=["found_ranking"])
    def body(state: RagState, run: RagRun) -> Steps:
        accepted = state["accepted_candidates"]
        check_chunks(accepted["candidates"], run)
        shown = [{key: item[key] for key in SHOWN} for item in accepted["candidates"]]
        request: JsonObject = {"query": accepted["asked"]["query"], "candidates": shown}
        outcome = (yield Call("tool", reranker, request)) if shown else Outcome("value", [])
        return {"found_ranking": outcome.packed()}

    return body


def pack_reranked(clarification: str) -> Body:
    """Choose the context in the reranker's order; with nothing left, clarify instead of asking a model."""

    @declares(
        phase="retrieve",
        reads=["accepted_intent", "planned_by", "accepted_candidates", "found_ranking"],
        writes=["accepted_context", "nearest_score", "accepted_clarification"],
        stops=["source_denied", "tool", "access_revoked"],
    )
    def body(state: RagState, run: RagRun) -> Pass:
        accepted = state["accepted_candidates"]
        check_chunks(accepted["candidates"], run)
        returned = found(state["found_ranking"], "rerank")
        ranked = guards.parse_ranking(returned, candidates=accepted["candidates"])
        return packed_or_clarified(state, run, accepted, clarification, ranked=ranked)

    return body
