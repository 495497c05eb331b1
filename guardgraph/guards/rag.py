"""What the RAG agent's guards decide: the intent, the retrieval's context, the answer's citations and numbers."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from guardgraph.guards.plain import excerpt
from guardgraph.guards.stop import Stop, shown_name
from guardgraph.state.json import JsonObject, JsonValue
from guardgraph.state.rag import Candidate, CitationDetail, ContextChunk, Intent, RagTask, Retrieval

__all__ = [
    "DEFAULT_TOP_K",
    "check_execution",
    "check_numbers",
    "check_sources",
    "cited",
    "pack",
    "parse_candidates",
    "parse_citations",
    "parse_intent",
    "parse_rag_request",
]

DEFAULT_TOP_K = 4
"""Candidates asked for when an intent does not say."""


def parse_rag_request(question: JsonValue) -> RagTask:
    """Parse the input of a run.

    Raises:
        Stop: ``invalid_request:question``.
    """
    if not isinstance(question, str) or not question.strip():
        details = {"field": "question", "given": excerpt(question), "allowed": "a text that is not blank"}
        raise Stop("invalid_request:question", details=details)
    return RagTask(question=question.strip())


def parse_intent(raw: JsonValue, *, allowed_sources: Collection[str], max_top_k: int) -> Intent:
    """Parse a proposed retrieval intent against the policy list.

    Args:
        raw: any JSON value.
        allowed_sources: the policy list.
        max_top_k: the most candidates that may be asked for.

    Returns:
        The intent; sources without duplicates in the order asked for, absent when none were named.

    Raises:
        Stop: ``invalid_intent:…``, the first that applies.
    """
    if not isinstance(raw, dict):
        raise Stop("invalid_intent:not_object")
    if raw.get("kind") != "retrieve":
        raise Stop("invalid_intent:kind")
    query = raw.get("query")
    if not isinstance(query, str) or not query.strip():
        raise Stop("invalid_intent:query")
    top_k = raw.get("top_k", min(DEFAULT_TOP_K, max_top_k))
    if not isinstance(top_k, int) or isinstance(top_k, bool) or not 1 <= top_k <= max_top_k:
        raise Stop("invalid_intent:top_k")
    intent = Intent(kind="retrieve", query=query.strip(), top_k=top_k)
    if raw.get("sources") is not None:
        intent["sources"] = _parse_sources(raw["sources"], allowed_sources)
    return intent


def _parse_sources(raw: JsonValue, allowed: Collection[str]) -> list[str]:
    if not isinstance(raw, list) or not raw:
        raise Stop("invalid_intent:sources")
    return list(dict.fromkeys(_parse_source(item, allowed) for item in raw))


def _parse_source(item: JsonValue, allowed: Collection[str]) -> str:
    if not isinstance(item, str) or not item.strip():
        raise Stop("invalid_intent:source_item")
    name = item.strip()
    if name not in allowed:
        raise Stop(f"invalid_intent:source_not_allowed:{shown_name(name)}")
    return name


def check_execution(
    intent: Intent, *, policy: Sequence[str], execution: Collection[str], max_query_chars: int
) -> list[str]:
    """Hold a valid intent against what the runtime will do now.

    Returns:
        The sources to read, sorted; those on both lists when the intent names none.

    Raises:
        Stop: ``invalid_intent:query_too_long``, or ``source_denied:<name>`` for the first in sorted order.
    """
    if len(intent["query"]) > max_query_chars:
        raise Stop("invalid_intent:query_too_long")
    both = sorted(name for name in policy if name in execution)
    if "sources" not in intent:
        return both
    requested = sorted(intent["sources"])
    check_sources(requested, allowed=both)
    return requested


def check_sources(sources: Collection[str], *, allowed: Collection[str]) -> None:
    """Refuse a source that is not switched on.

    Raises:
        Stop: ``source_denied:<name>`` for the first in sorted order.
    """
    for name in sorted(sources):
        if name not in allowed:
            raise Stop(f"source_denied:{shown_name(name)}")


def parse_candidates(raw: JsonValue, *, allowed_sources: Collection[str], top_k: int) -> list[Candidate]:
    """Parse what a retriever returned.

    Args:
        raw: any JSON value; a list of candidates, best first: the order of the list is their rank, whatever their
            scores, so that a reranker may differ from the score.
        allowed_sources: the sources that were asked for; a candidate from another breaks the contract.
        top_k: the most that were asked for; a longer list is cut.

    Returns:
        At most `top_k` candidates with a score above 0, in rank order.

    Raises:
        Stop: ``tool_invalid_output:retrieve`` with the first fault in details.
    """
    if not isinstance(raw, list):
        raise _retriever_fault("a list of candidates is required", raw)
    candidates = [_parse_candidate(item, allowed_sources) for item in raw]
    return [item for item in candidates if item["score"] > 0][:top_k]


def _parse_candidate(item: JsonValue, allowed_sources: Collection[str]) -> Candidate:
    if not isinstance(item, dict):
        raise _retriever_fault("each candidate is an object", item)
    doc_id, text, source, score = (item.get(key) for key in ("doc_id", "text", "source", "score"))
    if not isinstance(doc_id, str) or not doc_id.strip():
        raise _retriever_fault("doc_id: a text that is not blank", doc_id)
    if not isinstance(text, str) or not text.strip():
        raise _retriever_fault("text: a text that is not blank", text)
    if not isinstance(source, str) or source not in allowed_sources:
        raise _retriever_fault("source: one of those asked for", source)
    if isinstance(score, bool) or not isinstance(score, int | float) or not 0 <= score <= 1:
        raise _retriever_fault("score: a number in 0..1", score)
    title, section, updated_at = (_optional_text(item, key) for key in ("title", "section", "updated_at"))
    return Candidate(
        doc_id=doc_id.strip(),
        source=source,
        title=title,
        section=section,
        updated_at=updated_at,
        text=text,
        score=float(score),
    )


def _optional_text(item: JsonObject, key: str) -> str:
    value = item.get(key)
    if value is None:
        return ""
    if not isinstance(value, str):
        raise _retriever_fault(f"{key}: a text", value)
    return value


def _retriever_fault(allowed: str, given: JsonValue) -> Stop:
    return Stop("tool_invalid_output:retrieve", details={"allowed": allowed, "given": excerpt(given)})


def pack(candidates: Sequence[Candidate], *, min_score: float, max_chunks: int, max_chars: int) -> Retrieval:
    """Choose the context from ranked candidates.

    In rank order: a score below `min_score` is counted as rejected, whatever the limits; the first good one beyond
    `max_chunks` ends the packing; a text that would exceed `max_chars` is skipped, and a later smaller one may fit.
    """
    chunks: list[ContextChunk] = []
    rejected = total = 0
    for item in candidates:
        text = item["text"].strip()
        if item["score"] < min_score:
            rejected += 1
        elif len(chunks) >= max_chunks:
            break
        elif total + len(text) <= max_chars:
            chunks.append(ContextChunk(**{**item, "text": text}))
            total += len(text)
    return Retrieval(chunks=chunks, total_chars=total, rejected_low_score=rejected)


def parse_citations(citations: Sequence[str], chunks: Sequence[ContextChunk]) -> tuple[list[str], list[str]]:
    """Split citations into those that name a packed chunk and those that do not.

    Returns:
        Valid ids in the order given and invalid ids sorted; stripped, blanks dropped, without duplicates.
    """
    known = {chunk["doc_id"] for chunk in chunks}
    given = list(dict.fromkeys(item.strip() for item in citations if item.strip()))
    return [item for item in given if item in known], sorted(item for item in given if item not in known)


def cited(citations: Sequence[str], chunks: Sequence[ContextChunk]) -> list[CitationDetail]:
    """Return the details of citations, in their order.

    Args:
        citations: as the model gave them.
        chunks: the packed context.

    Raises:
        Stop: ``invalid_answer:citations_out_of_context`` or ``invalid_answer:missing_citations``.
    """
    valid, invalid = parse_citations(citations, chunks)
    if invalid:
        known = sorted({chunk["doc_id"] for chunk in chunks})
        raise Stop("invalid_answer:citations_out_of_context", invalid_citations=invalid, context_doc_ids=known)
    if not valid:
        raise Stop("invalid_answer:missing_citations")
    by_id = {chunk["doc_id"]: chunk for chunk in reversed(chunks)}
    return [_detail(by_id[doc_id]) for doc_id in valid]


def _detail(chunk: ContextChunk) -> CitationDetail:
    return CitationDetail(
        doc_id=chunk["doc_id"],
        title=chunk["title"],
        section=chunk["section"],
        updated_at=chunk["updated_at"],
        source=chunk["source"],
        score=chunk["score"],
    )


def check_numbers(answer: str, *, question: str, chunks: Sequence[ContextChunk]) -> None:
    """Refuse an answer that states a number which neither a cited chunk nor the question has.

    Args:
        answer: the answer's text.
        question: the user's question.
        chunks: the chunks that the answer cites.

    Raises:
        Stop: ``invalid_answer:unsupported_number``.
    """
    from guardgraph.guards.facts import facts_in_text, facts_in_texts, unsupported  # the largest part of an import

    licence = facts_in_texts([question, *(text for chunk in chunks for text in _texts(chunk))])
    if missing := unsupported(facts_in_text(answer), licence).numbers:
        raise Stop("invalid_answer:unsupported_number", unsupported=list(missing))


def _texts(chunk: ContextChunk) -> tuple[str, ...]:
    return chunk["text"], chunk["title"], chunk["section"], chunk["updated_at"]
