"""What a reranker made of the candidates: another order of them, or fewer, and nothing else."""

from __future__ import annotations

from collections.abc import Sequence

from guardgraph.guards.stop import Stop
from guardgraph.plain.json import JsonValue, excerpt_value
from guardgraph.state.rag import Candidate


def parse_ranking(raw: JsonValue, *, candidates: Sequence[Candidate]) -> list[Candidate]:
    """Parse what a reranker returned.

    Args:
        raw: any JSON value; a list of objects with the `doc_id` and the `text` of candidates, best first.
        candidates: what the reranker was given.

    Returns:
        The candidates themselves in the order of the list, without those that are not in it; one that was returned
        twice stands once. Whatever else the reranker says of one, such as a score of its own, is not taken over.

    Raises:
        Stop: ``tool_invalid_output:rerank`` with the first fault in details: a candidate that it was not given, or one
            with another text.
    """
    if not isinstance(raw, list):
        raise _build_rerank_stop("a list of candidates is required", raw)
    texts = {item["doc_id"]: item["text"] for item in candidates}
    ids = dict.fromkeys(_parse_ranked_candidate(item, texts) for item in raw)
    return [item for doc_id in ids for item in candidates if item["doc_id"] == doc_id]


def _parse_ranked_candidate(item: JsonValue, texts: dict[str, str]) -> str:
    doc_id = item.get("doc_id") if isinstance(item, dict) else None
    if not isinstance(item, dict) or not isinstance(doc_id, str):
        raise _build_rerank_stop("each candidate is an object with its doc_id", item)
    if doc_id not in texts:
        raise _build_rerank_stop("doc_id: one of those that it was given", doc_id)
    if item.get("text") != texts[doc_id]:
        raise _build_rerank_stop(f"text: that of {excerpt_value(doc_id)}, unchanged", item.get("text"))
    return doc_id


def _build_rerank_stop(allowed: str, given: JsonValue) -> Stop:
    return Stop("tool_invalid_output:rerank", details={"allowed": allowed, "given": excerpt_value(given)})
