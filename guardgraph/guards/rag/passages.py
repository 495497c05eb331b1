"""The best passage of a text that is longer than the whole context, and where an answer's evidence stands."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from itertools import accumulate
from typing import Final, NamedTuple, TypeAlias

from guardgraph.grounding.check import CheckedSentence, CheckedText
from guardgraph.grounding.sentences import find_sentence_spans, unwrap_text_lines
from guardgraph.grounding.words import detect_language
from guardgraph.guards.rag.answer import ReadAnswer
from guardgraph.state.rag import PASSAGE_CHARS, Candidate, CitationDetail, ContextChunk

Terms: TypeAlias = Callable[[str, str], Collection[str]]
"""Reads a text in a language as the terms that the retriever searches by."""

_LEAST_CUT: Final = 100
"""Characters. A sentence that does not fit is cut between words where as much remains; less says nothing."""
_PRECISION: Final = 1000  # weights are whole numbers, so that the order of adding changes nothing


class _Sentence(NamedTuple):
    start: int
    end: int
    terms: frozenset[str]  # those of the query that it has


def cut_to_best_passages(
    candidates: Sequence[Candidate], *, query: str, terms: Terms, min_score: float, max_chunks: int, max_chars: int
) -> list[Candidate]:
    """Cut every candidate that is longer than the context to its best passage for a query."""
    relevant = sum(item["score"] >= min_score for item in candidates)
    share = max_chars // max(min(relevant, max_chunks), 1)
    limit = max(share, min(PASSAGE_CHARS, max_chars))

    def cut_to_best_passage(item: Candidate) -> Candidate:
        if len(item["text"].strip()) <= max_chars or item["score"] < min_score:
            return item
        place = find_best_passage(item["text"], query, terms=terms, max_chars=limit)
        return cut_candidate_text(item, *place) if place else item

    return [cut_to_best_passage(item) for item in candidates]


def find_best_passage(text: str, query: str, *, terms: Terms, max_chars: int) -> tuple[int, int] | None:
    """Return where the run of whole sentences stands that says most about a query, read in the text's language."""
    pieces = [
        piece
        for span in find_sentence_spans(unwrap_text_lines(text))
        for piece in _split_long_sentence(text, *span, max_chars)
    ]
    language = detect_language(text)
    wanted = frozenset(terms(query, language))
    found = [_Sentence(start, end, wanted.intersection(terms(text[start:end], language))) for start, end in pieces]
    if not found:
        return None
    if not any(item.terms for item in found):
        fitting = sum(end <= found[0].start + max_chars for end in accumulate((item.end for item in found), max))
        return found[0].start, found[fitting - 1].end
    start, end = _find_best_sentences(found, max_chars)
    return found[start].start, found[end].end


def _find_best_sentences(found: Sequence[_Sentence], max_chars: int) -> tuple[int, int]:
    """Slide a window over the sentences; each enters and leaves it once."""
    holders = Counter(term for item in found for term in item.terms)
    weights = {term: round(_PRECISION * math.log(1 + len(found) / held)) for term, held in holders.items()}
    inside: Counter[str] = Counter()
    covered = repeated = start = 0
    windows = list[tuple[int, int, int, int, int]]()
    for end, item in enumerate(found):
        for term in item.terms:
            if not inside[term]:
                covered += weights[term]
            repeated += weights[term]
            inside[term] += 1
        while item.end - found[start].start > max_chars:
            for term in found[start].terms:
                inside[term] -= 1
                repeated -= weights[term]
                if not inside[term]:
                    covered -= weights[term]
            start += 1
        windows.append((covered, repeated, item.end - found[start].start, -start, end))
    *_, turned, end = max(windows)
    return -turned, end


def _split_long_sentence(text: str, start: int, end: int, max_chars: int) -> Iterator[tuple[int, int]]:
    """Return a sentence that fits, or else pieces of it between words; none where they would be too short."""
    if end - start > max_chars and max_chars < _LEAST_CUT:
        return
    while end - start > max_chars:
        window = text[start : start + max_chars + 1]
        head = window.rsplit(maxsplit=1)[0] if not window[-1].isspace() else window.rstrip()
        length = min(len(head), max_chars)
        yield start, start + length
        start += length
        while start < end and text[start].isspace():
            start += 1
    if start < end:
        yield start, end


def find_chunk_span(chunk: ContextChunk) -> tuple[int, int]:
    """Return where a chunk's text stands in its document; without a word of the retriever, it is the document."""
    start, end = chunk.get("span", (0, len(chunk["text"])))
    return start, end


def find_document_span(chunk: ContextChunk, start: int, end: int) -> tuple[int, int]:
    """Return where a part of a chunk's text stands in its document."""
    first, last = find_chunk_span(chunk)
    return (first + start, first + end) if last - first == len(chunk["text"]) else (first, last)


def cut_candidate_text(chunk: Candidate, start: int, end: int) -> Candidate:
    """Return a chunk that shows a part of its text, and says where in the document this part stands."""
    text = chunk["text"]
    if (start, end) == (0, len(text)):
        return chunk
    return Candidate(**{**chunk, "text": text[start:end], "span": list(find_document_span(chunk, start, end))})


def add_citation_spans(read: ReadAnswer, checked: CheckedText) -> list[CitationDetail]:
    """Return the details of citations with the sentences that rest on each, and the evidence for them."""
    resting = [
        (item, cited.ids if read.is_marked else _find_nearest_sources(item))
        for item, cited in zip(checked.sentences, read.sentences, strict=True)
    ]
    by_id = {chunk["doc_id"]: chunk for chunk in reversed(read.used)}
    return [_add_detail_spans(detail, by_id[detail["doc_id"]], resting, read.is_marked) for detail in read.details]


def _find_nearest_sources(item: CheckedSentence) -> tuple[str, ...]:
    most = max((evidence.share for evidence in item.evidence), default=0.0)
    return tuple(dict.fromkeys(each.source for each in item.evidence if each.share == most))


def _add_detail_spans(
    detail: CitationDetail,
    chunk: ContextChunk,
    resting: Sequence[tuple[CheckedSentence, tuple[str, ...]]],
    is_marked: bool,
) -> CitationDetail:
    own = [item for item, names in resting if detail["doc_id"] in names]
    found = [place for item in own if (place := _find_evidence(item, detail["doc_id"]))]
    span = (min(first for first, _ in found), max(last for _, last in found)) if found else (0, len(chunk["text"]))
    return CitationDetail(
        **{
            **detail,
            "answer_spans": [[item.start, item.end] for item in own],
            "spans_by": "cited" if is_marked else "words",
            "document_span": list(find_document_span(chunk, *span)) if own else None,
            "passage_span": list(find_chunk_span(chunk)),
        }
    )


def _find_evidence(item: CheckedSentence, doc_id: str) -> tuple[int, int] | None:
    """Return where the sentence of a chunk stands that is nearest to a sentence of the answer."""
    own = [each for each in item.evidence if each.source == doc_id]
    best = max(own, key=lambda each: each.share, default=None)
    return (best.start, best.end) if best else None
