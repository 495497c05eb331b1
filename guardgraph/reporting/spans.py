"""What an answer rests on: the cited sentences in it, and the evidence in the passages of its sources."""

from __future__ import annotations

from collections.abc import Sequence

from guardgraph.plain.json import JsonObject, JsonValue
from guardgraph.reporting.values import Marked, Marks

__all__ = ["answer_marks", "evidence_marks", "laid_out"]

BY = {"cited": "cited by the answer", "words": "by shared words, a guess"}
"""How it is known which sentences rest on a source."""


def answer_marks(answer: str, sources: Sequence[JsonObject]) -> Marks:
    """Return what marks the sentences of an answer with the numbers of the sources that they rest on.

    None where no source says any, or where they cannot be places of this answer's sentences.
    """
    numbers: dict[tuple[int, int], list[str]] = {}
    for number, source in enumerate(sources, 1):
        given = source.get("answer_spans")
        for item in given if isinstance(given, list) else ():
            if (span := _span(item, len(answer))) is None:
                return None
            numbers.setdefault(span, []).append(str(number))
    spans, end = sorted(numbers), 0
    for first, last in spans:
        if first < end:
            return None
        end = last
    marked = [Marked(first, last, "cited", " ".join(numbers[first, last])) for first, last in spans]
    return (lambda text: marked) if marked else None


def evidence_marks(source: JsonObject, text: str) -> Marks:
    """Return what marks the evidence in a source's passage; None where it does not say where that stands."""
    passage, evidence = source.get("passage_span"), source.get("document_span")
    whole = _span(passage)
    if whole is None or whole[1] - whole[0] != len(text) or not isinstance(evidence, list):
        return None
    span = _span([place - whole[0] for place in evidence if isinstance(place, int)], len(text))
    return (lambda text: [Marked(*span, "evidence")]) if span else None


def laid_out(source: JsonObject) -> tuple[JsonObject, list[tuple[str, str]]]:
    """Take out of a source what it says of places, and return what is left, and the same in words.

    What it says in another form than our results do stays.
    """
    span, by = _span(source.get("document_span")), source.get("spans_by")
    said = {
        "document_span": [("evidence", f"characters {span[0]:,} to {span[1]:,} of the document")] if span else None,
        "spans_by": [("sentences", BY[by])] if isinstance(by, str) and by in BY else None,
        "passage_span": [] if _span(source.get("passage_span")) else None,
        "answer_spans": [] if _are_spans(source.get("answer_spans")) else None,
    }
    left = {key: item for key, item in source.items() if said.get(key) is None}
    return left, [pair for pairs in said.values() for pair in pairs or ()]


def _are_spans(given: JsonValue) -> bool:
    return isinstance(given, list) and all(_span(item) for item in given)


def _span(given: JsonValue, length: int | None = None) -> tuple[int, int] | None:
    match given:
        case [int(start), int(end)] if type(start) is int and 0 <= start < end and (length is None or end <= length):
            return start, end
    return None
