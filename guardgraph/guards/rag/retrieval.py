"""What a retriever returned, what a reranker made of it, and the context that is packed from it."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Final

from guardgraph.guards.rag.access import MALFORMED, parse_candidate_access
from guardgraph.guards.rag.evidence import cut_candidate_text
from guardgraph.guards.stop import Stop
from guardgraph.plain.json import JsonObject, JsonValue, excerpt_value
from guardgraph.state.context import Access
from guardgraph.state.rag import Candidate, ContextChunk, Retrieval

_CODE_CHARS: Final = 16
"""Characters of the code of a language."""


def parse_candidates(raw: JsonValue, *, allowed_sources: Collection[str], top_k: int) -> list[Candidate]:
    """Parse what a retriever returned.

    Args:
        raw: any JSON value; a list of candidates, best first: the order of the list is their rank, whatever their
            scores, so that a reranker may differ from the score.
        allowed_sources: the sources that were asked for; a candidate from another breaks the contract.
        top_k: the most that were asked for; a longer list is cut.

    Returns:
        At most `top_k` candidates with a score above 0, in rank order; one that was returned twice stands once, at
        its better rank.

    Raises:
        Stop: ``tool_invalid_output:retrieve`` with the first fault in details; two texts under one id are a fault.
    """
    if not isinstance(raw, list):
        raise _build_retriever_stop("a list of candidates is required", raw)
    candidates = [_parse_candidate(item, allowed_sources) for item in raw]
    _check_candidate_ids(candidates)
    once: dict[tuple[str, ...], Candidate] = {}
    for item in candidates:
        if item["score"] > 0:
            once.setdefault(_identify_candidate(item), item)
    return list(once.values())[:top_k]


def _check_candidate_ids(candidates: Sequence[Candidate]) -> None:
    """Refuse one id with two texts: a citation would not say which of them it means."""
    texts: dict[str, str] = {}
    for item in candidates:
        if texts.setdefault(item["doc_id"], item["text"].strip()) != item["text"].strip():
            raise _build_retriever_stop("doc_id: one text for each", item["doc_id"])


def _identify_candidate(item: Candidate) -> tuple[str, ...]:
    return (item["doc_id"], item["text"].strip(), *(item[key] for key in ("source", "title", "section", "updated_at")))


def _parse_candidate(item: JsonValue, allowed_sources: Collection[str]) -> Candidate:
    if not isinstance(item, dict):
        raise _build_retriever_stop("each candidate is an object", item)
    doc_id, text, source, score = (item.get(key) for key in ("doc_id", "text", "source", "score"))
    if not isinstance(doc_id, str) or not doc_id.strip():
        raise _build_retriever_stop("doc_id: a text that is not blank", doc_id)
    if not isinstance(text, str) or not text.strip():
        raise _build_retriever_stop("text: a text that is not blank", text)
    if not isinstance(source, str) or source not in allowed_sources:
        raise _build_retriever_stop("source: one of those asked for", source)
    if isinstance(score, bool) or not isinstance(score, int | float) or not 0 <= score <= 1:
        raise _build_retriever_stop("score: a number in 0..1", score)
    title, section, updated_at = (_parse_candidate_text(item, key) for key in ("title", "section", "updated_at"))
    candidate = Candidate(
        doc_id=doc_id.strip(),
        source=source,
        title=title,
        section=section,
        updated_at=updated_at,
        text=text,
        score=float(score),
    )
    if (access := _read_candidate_access(item)) is not None:
        candidate["tenant"], candidate["readers"] = access.tenant, list(access.readers)
    if item.get("span") is not None:
        candidate["span"] = _parse_candidate_span(item["span"])
    if item.get("unmeasured") is not None:
        candidate["unmeasured"] = _parse_candidate_languages(item["unmeasured"])
    return candidate


def _read_candidate_access(item: JsonObject) -> Access | None:
    try:
        return parse_candidate_access(item)
    except ValueError:
        raise Stop("tool_invalid_output:retrieve", details=dict(MALFORMED)) from None


def _parse_candidate_span(given: JsonValue) -> list[int]:
    match given:
        case [int(start), int(end)] if 0 <= start < end and not {type(start), type(end)} & {bool}:
            return [start, end]
    raise _build_retriever_stop("span: [start, end), whole numbers of characters of the document's text", given)


def _parse_candidate_languages(given: JsonValue) -> list[str]:
    if isinstance(given, list) and all(isinstance(code, str) and 0 < len(code) <= _CODE_CHARS for code in given):
        return [str(code) for code in given]
    raise _build_retriever_stop("unmeasured: a list of language codes", given)


def _parse_candidate_text(item: JsonObject, key: str) -> str:
    value = item.get(key)
    if value is None:
        return ""
    if not isinstance(value, str):
        raise _build_retriever_stop(f"{key}: a text", value)
    return value


def _build_retriever_stop(allowed: str, given: JsonValue) -> Stop:
    return Stop("tool_invalid_output:retrieve", details={"allowed": allowed, "given": excerpt_value(given)})


def pack_context(candidates: Sequence[Candidate], *, min_score: float, max_chunks: int, max_chars: int) -> Retrieval:
    """Choose the context from ranked candidates.

    In rank order: a score below `min_score` is counted as rejected, whatever the limits; the first good one beyond
    `max_chunks` ends the packing; a text that would exceed `max_chars` is skipped, and a later smaller one may fit.
    """
    chunks: list[ContextChunk] = []
    rejected = total = 0
    for item in candidates:
        chunk = _strip_candidate_text(item)
        if item["score"] < min_score:
            rejected += 1
        elif len(chunks) >= max_chunks:
            break
        elif total + len(chunk["text"]) <= max_chars:
            chunks.append(chunk)
            total += len(chunk["text"])
    return Retrieval(chunks=chunks, total_chars=total, rejected_low_score=rejected)


def _strip_candidate_text(item: Candidate) -> ContextChunk:
    text = item["text"]
    return cut_candidate_text(item, len(text) - len(text.lstrip()), len(text.rstrip()))


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
