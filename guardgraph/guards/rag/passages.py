"""The best passage of a text that is longer than the whole context, and where an answer's evidence stands."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import accumulate
from typing import Final, NamedTuple

from guardgraph.grounding.marks import Sentence
from guardgraph.grounding.sentences import find_sentence_spans, unwrap_text_lines
from guardgraph.grounding.words import detect_language
from guardgraph.guards.rag.answer import Terms
from guardgraph.plain.memory import remember_by_text
from guardgraph.state.rag import PASSAGE_CHARS, Candidate, CitationDetail, ContextChunk, SpansBy

_LEAST_CUT: Final = 100
"""Characters. A sentence that does not fit is cut between words where as much remains; less says nothing."""
_PRECISION: Final = 1000
"""Weights are whole numbers, so that the order of adding changes nothing."""


class _Sentence(NamedTuple):
    start: int
    end: int
    terms: frozenset[str]
    """Those of the query that it has."""


def cut_to_best_passages(
    candidates: Sequence[Candidate], *, query: str, terms: Terms, min_score: float, max_chunks: int, max_chars: int
) -> list[Candidate]:
    """Cut every candidate that is longer than the context to its best passage for a query.

    A passage may be as long as its share of the context among the relevant candidates, or `PASSAGE_CHARS` where the
    share is less. A candidate that fits, that is not relevant, or that has no sentence short enough stays as it is.

    Args:
        candidates: ranked, best first.
        query: what was searched for.
        terms: reads a text in a language as terms.
        min_score: what relevance a chunk needs.
        max_chunks: the most chunks of the context.
        max_chars: the most characters of all chunks of the context.
    """
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
    """Return where the run of whole sentences stands that says most about a query, read in the text's language.

    It has the terms of the query with the greatest weight together, each counted once, ``ln(1 + S / n)`` for a
    term that n of the text's S sentences have (an inverse document frequency, Sparck Jones 1972, within the text);
    then the most repetitions; then it is the longest; then the first. A text without any of them is shown from its
    beginning.

    Args:
        text: any text.
        query: what was searched for.
        terms: reads a text in a language as terms.
        max_chars: the most characters of the passage.

    Returns:
        Where it begins and ends in the text; None where `max_chars` is too short for any sentence.
    """
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
    best = (-1, -1, -1, 0)
    window = (0, 0)
    for end, item in enumerate(found):
        for term in item.terms:
            covered += 0 if inside[term] else weights[term]
            repeated += weights[term]
            inside[term] += 1
        while item.end - found[start].start > max_chars:
            for term in found[start].terms:
                inside[term] -= 1
                repeated -= weights[term]
                covered -= 0 if inside[term] else weights[term]
            start += 1
        worth = (covered, repeated, item.end - found[start].start, -start)
        if worth > best:
            best, window = worth, (start, end)
    return window


def _split_long_sentence(text: str, start: int, end: int, max_chars: int) -> Iterator[tuple[int, int]]:
    """Return a sentence that fits, or else pieces of it between words; none where they would be too short."""
    if end - start > max_chars and max_chars < _LEAST_CUT:
        return
    while end - start > max_chars:
        window = text[start : start + max_chars + 1]
        head = window.rsplit(maxsplit=1)[0] if not window[-1].isspace() else window.rstrip()
        length = len(head) if 0 < len(head) <= max_chars else max_chars
        yield start, start + length
        start += length
        while start < end and text[start].isspace():
            start += 1
    if start < end:
        yield start, end


KNOWN_TEXTS: Final = 256
KNOWN_TEXT_CHARS: Final = 2500
"""How many passages are kept with the terms of their sentences, and how long each may be: 10 MB of ordinary texts."""


def find_chunk_span(chunk: ContextChunk) -> tuple[int, int]:
    """Return where a chunk's text stands in its document; without a word of the retriever, it is the document."""
    start, end = chunk.get("span", (0, len(chunk["text"])))
    return start, end


def find_document_span(chunk: ContextChunk, start: int, end: int) -> tuple[int, int]:
    """Return where a part of a chunk's text stands in its document.

    A retriever that shows another text than stands in its span, such as one without markup, says only where all of
    it stands: then every part is somewhere in there.
    """
    first, last = find_chunk_span(chunk)
    return (first + start, first + end) if last - first == len(chunk["text"]) else (first, last)


def cut_candidate_text(chunk: Candidate, start: int, end: int) -> Candidate:
    """Return a chunk that shows a part of its text, and says where in the document this part stands."""
    text = chunk["text"]
    if (start, end) == (0, len(text)):
        return chunk
    return Candidate(**{**chunk, "text": text[start:end], "span": list(find_document_span(chunk, start, end))})


def add_citation_spans(
    details: Sequence[CitationDetail],
    chunks: Sequence[ContextChunk],
    *,
    answer: str,
    sentences: Sequence[Sentence],
    spans_by: SpansBy,
    terms: Terms,
) -> list[CitationDetail]:
    """Return the details of citations with the sentences that rest on each, and the evidence for them.

    The evidence of a sentence is the sentence of the chunk with the greatest weight of its words, ``ln(1 + S / n)``
    for one that n of the chunk's S sentences have (an inverse document frequency, Sparck Jones 1972, within the
    chunk); then the one with the fewest others; then the first. `document_span` reaches from the first of them to the
    last; over the whole chunk where they share no word with it, and nowhere where no sentence rests on it.

    Args:
        details: of the citations.
        chunks: what is cited.
        answer: the answer, without marks.
        sentences: the answer's.
        spans_by: how it is known which of them rest on which chunk.
        terms: reads a text in a language as terms.
    """
    spanned = list[CitationDetail]()
    by_id = {chunk["doc_id"]: chunk for chunk in reversed(chunks)}
    for detail in details:
        chunk = by_id[detail["doc_id"]]
        own = [[item.start, item.end] for item in sentences if detail["doc_id"] in item.ids]
        span = _find_supporting_span(chunk["text"], [answer[start:end] for start, end in own], terms) if own else None
        spanned.append(
            CitationDetail(
                **{
                    **detail,
                    "answer_spans": own,
                    "spans_by": spans_by,
                    "document_span": list(find_document_span(chunk, *span)) if span else None,
                    "passage_span": list(find_chunk_span(chunk)),
                }
            )
        )
    return spanned


class _Read(NamedTuple):
    """A passage as it is searched for evidence."""

    language: str
    spans: list[tuple[int, int]]
    """Where its sentences stand."""
    terms: list[frozenset[str]]
    """Those of each sentence."""
    weights: dict[str, int]


@remember_by_text(texts=KNOWN_TEXTS, chars=KNOWN_TEXT_CHARS)
def _read_passage_terms(text: str, terms: Terms) -> _Read:
    language = detect_language(text)
    spans = find_sentence_spans(unwrap_text_lines(text))
    read = [frozenset(terms(text[start:end], language)) for start, end in spans]
    holders = Counter(term for words in read for term in words)
    weights = {term: round(_PRECISION * math.log(1 + len(spans) / held)) for term, held in holders.items()}
    return _Read(language, spans, read, weights)


def _find_supporting_span(text: str, said: Sequence[str], terms: Terms) -> tuple[int, int]:
    read = _read_passage_terms(text, terms)
    best = {
        _find_supporting_sentence(read, wanted)
        for wanted in {frozenset(terms(sentence, read.language)) for sentence in said}
    }
    found = [read.spans[place] for place in best if place is not None]
    if not found:
        return 0, len(text)
    return min(start for start, _ in found), max(end for _, end in found)


def _find_supporting_sentence(read: _Read, wanted: frozenset[str]) -> int | None:
    """Return the place of the sentence with the most of what is wanted, None where none has any."""
    weights = read.weights
    worth = [
        (sum([weights[term] for term in shared]), len(shared) - len(words), -at)
        for at, words in enumerate(read.terms)
        if (shared := words & wanted)
    ]
    weight, _, place = max(worth, default=(0, 0, 0))
    return -place if weight else None
