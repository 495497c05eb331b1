"""What an answer cites, by its list and by the marks in its text, and what its sentences are held against."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, cast

from guardgraph.grounding.check import CheckedText, Source
from guardgraph.grounding.marks import CitingSentence, read_marks
from guardgraph.guards.answers import assign_marks, check_answer, check_sentence_quotes
from guardgraph.guards.stop import Stop
from guardgraph.plain.json import JsonValue
from guardgraph.state.rag import CitationDetail, ContextChunk, RagPolicy, RagTask


def is_abstaining_answer(proposed: JsonValue) -> bool:
    """Say whether an answerer says that its context does not answer the question."""
    return isinstance(proposed, dict) and proposed.get("insufficient") is True


def parse_citations(citations: Sequence[str], chunks: Sequence[ContextChunk]) -> tuple[list[str], list[str]]:
    """Split citations into those that name a packed chunk and those that do not."""
    known = {chunk["doc_id"] for chunk in chunks}
    given = list(dict.fromkeys(item.strip() for item in citations if item.strip()))
    return [item for item in given if item in known], sorted(item for item in given if item not in known)


def check_citations(citations: Sequence[str], chunks: Sequence[ContextChunk]) -> list[CitationDetail]:
    """Return the details of citations, in their order."""
    valid, invalid = parse_citations(citations, chunks)
    if invalid:
        known = sorted({chunk["doc_id"] for chunk in chunks})
        raise Stop("invalid_answer:citations_out_of_context", invalid_citations=invalid, context_doc_ids=known)
    if not valid:
        raise Stop("invalid_answer:missing_citations")
    by_id = {chunk["doc_id"]: chunk for chunk in reversed(chunks)}
    return [_make_citation_detail(by_id[doc_id]) for doc_id in valid]


def _make_citation_detail(chunk: ContextChunk) -> CitationDetail:
    shown = ("doc_id", "title", "section", "updated_at", "source", "score", "duplicates")
    return cast(CitationDetail, {key: chunk[key] for key in shown if key in chunk})  # type: ignore[literal-required]


class ReadAnswer(NamedTuple):
    """An answer as it was read: its sentences cite what is cited."""

    text: str  # without its marks
    sentences: list[CitingSentence]
    details: list[CitationDetail]
    used: list[ContextChunk]  # the chunks that it cites
    is_marked: bool  # whether every sentence says itself what it cites


def read_answer(text: str, citations: Sequence[str], chunks: Sequence[ContextChunk], *, must_cite: bool) -> ReadAnswer:
    """Read what an answer cites: by its list, and by the marks in its text."""
    ids = {chunk["doc_id"] for chunk in chunks}
    said, marks, unknown = read_marks(text, ids, [chunk["text"] for chunk in chunks])
    if unknown:
        raise Stop("invalid_answer:citations_out_of_context", invalid_citations=unknown, context_doc_ids=sorted(ids))
    if not said:
        raise Stop("llm_empty", details={"field": "answer"})
    details = check_citations([*citations, *(name for mark in marks for name in mark.ids)], chunks)
    cited = [item["doc_id"] for item in details]
    sentences = assign_marks(said, marks, cited, must_cite=must_cite)
    used = [chunk for name in cited for chunk in chunks if chunk["doc_id"] == name]
    return ReadAnswer(said, sentences, details, used, must_cite or len(cited) == 1)


def check_answer_sentences(
    read: ReadAnswer, *, task: RagTask, workings: Sequence[str], policy: RagPolicy
) -> CheckedText:
    """Hold every sentence of an answer against the chunks that it cites; where each must cite, its quotes too."""
    if policy.require_sentence_citations:
        texts = {chunk["doc_id"]: [chunk[key] for key in ("text", "title", "section")] for chunk in read.used}
        check_sentence_quotes(read.text, read.sentences, texts)
    return check_answer(
        read.text,
        [make_source(chunk) for chunk in read.used],
        read.sentences,
        policy=policy,
        question=task["question"],
        turns=[turn["content"] for turn in task.get("history", ()) if turn["role"] == "user"],
        workings=workings,
        known_names=[chunk["doc_id"] for chunk in read.used],
    )


def make_source(chunk: ContextChunk) -> Source:
    """Return a chunk as sentences are held against it: title, section, source and date belong to all of it."""
    about = tuple(chunk[key] for key in ("title", "section", "source", "updated_at") if chunk[key])
    return Source(chunk["doc_id"], chunk["text"], about)
