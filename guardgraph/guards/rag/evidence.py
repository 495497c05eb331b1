"""Where an answer's evidence stands: in the answer, in the passage, in the document."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from typing import Final, NamedTuple

from guardgraph.guards.rag.sentences import Sentence, Terms
from guardgraph.languages.language import detect_language
from guardgraph.languages.sentences import find_sentence_spans, unwrap_text_lines
from guardgraph.plain.memory import remember_by_text
from guardgraph.state.rag import Candidate, CitationDetail, ContextChunk, SpansBy

_PRECISION: Final = 1000
"""Weights are whole numbers, so that the order of adding changes nothing."""

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
        (sum([weights[term] for term in words & wanted]), -len(words - wanted), -at)
        for at, words in enumerate(read.terms)
    ]
    weight, _, place = max(worth, default=(0, 0, 0))
    return -place if weight else None
