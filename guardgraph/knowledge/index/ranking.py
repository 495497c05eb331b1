"""Which chunks cover most of a question, among those that a caller may read."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence, Set
from heapq import nlargest
from typing import Any, Final, NamedTuple, TypeAlias

from guardgraph.knowledge.index.gathering import Gathering, Term
from guardgraph.knowledge.index.postings import number_of
from guardgraph.knowledge.index.spans import Spans
from guardgraph.knowledge.index.statistics import View
from guardgraph.knowledge.index.values import one_of, rows_by_key, rows_of
from guardgraph.knowledge.index.words import term_of
from guardgraph.tools.relevance import asked, rarity, scaled, score

__all__ = ["Ranked", "ranked"]

_Counted: TypeAlias = tuple[Any, ...]
"""A row of words."""

_COUNTED: Final = "SELECT part, term, id, holders, most FROM words"
_PLACES: Final = (
    "SELECT chunks.id, place, number FROM chunks JOIN documents ON documents.id = document WHERE chunks.id IN"
)
_HOLDERS: Final = 3
_MOST: Final = 4


class Ranked(NamedTuple):
    """A chunk that was found."""

    chunk: int
    score: float


def ranked(
    connection: sqlite3.Connection, view: View, spans: Spans, query: str, *, sources: Set[str] | None, top_k: int
) -> list[Ranked]:
    """Return the chunks that cover most of a question, best first, equal ones in the order of the documents.

    Args:
        connection: in a transaction.
        view: what the caller may read.
        spans: of what was searched before.
        query: what is asked.
        sources: those that are searched; None for all.
        top_k: how many chunks at most.
    """
    if not view.parts or top_k < 1:
        return []
    whole, terms = _terms(connection, view, query)
    allowed = [part for part in view.parts if sources is None or view.scopes[part.scope].source in sources]
    gathering = Gathering(connection, terms, average=view.average, wanted=top_k)
    covered = gathering.best(spans.of(connection, allowed, view.average))
    found = _in_order(connection, [chunk for chunk, weight in covered.items() if weight > 0])
    best = nlargest(top_k, found, key=covered.__getitem__)
    rare = rarity(view.known[0].chance, whole)
    place = {chunk: at for at, chunk in enumerate(found)}
    scored = [Ranked(chunk, score(covered[chunk], whole, rare)) for chunk in best]
    return sorted((hit for hit in scored if hit.score > 0), key=lambda hit: (-hit.score, place[hit.chunk]))


def _terms(connection: sqlite3.Connection, view: View, query: str) -> tuple[float, list[Term]]:
    """Return what a question says, and its terms, in the order in which they are summed."""
    whole, terms = 0.0, list[Term]()
    parts = [[part.id for part in view.parts if part.language == language] for language in view.languages]
    everywhere = [[part.id for part in view.parts]]
    said = [
        (
            reading,
            times,
            [*zip((term_of(reading, form) for form in term), everywhere if reading else parts, strict=True)],
        )
        for reading, term, times in scaled(asked(query, view.language, view.languages))
    ]
    known = _known(connection, everywhere[0], {key for *_, forms in said for key, _ in forms})
    for reading, times, forms in said:
        held = [counted for key, among in forms for part in among if (counted := known.get((part, key)))]
        holders = sum([counted[_HOLDERS] for counted in held])
        weight = times * view.known[reading].weight(holders)
        whole += weight
        if holders:
            most = max([counted[_MOST] for counted in held])
            terms.append(Term(weight, most, holders, [(part, number_of(row)) for part, _, row, *_ in held]))
    return whole, terms


def _known(
    connection: sqlite3.Connection, parts: Sequence[int], keys: Iterable[str]
) -> dict[tuple[int, str], _Counted]:
    """Return what is counted of terms in parts, by part and term."""
    among, values = one_of(parts)
    found = rows_of(connection, f"{_COUNTED} WHERE part {among}", values, keys)
    return {row[:2]: row for row in found}


def _in_order(connection: sqlite3.Connection, chunks: Sequence[int]) -> list[int]:
    """Return chunks in the order of their documents."""
    places = rows_by_key(connection, _PLACES, chunks)
    return sorted(chunks, key=places.__getitem__)
