"""Which chunks cover most of a question, among those that a caller may read."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence, Set
from typing import Final, NamedTuple

from guardgraph.knowledge.index.gathering import Gathering, Term
from guardgraph.knowledge.index.memory import Counts, Memory
from guardgraph.knowledge.index.statistics import View
from guardgraph.knowledge.index.values import read_rows_by_key
from guardgraph.tools.relevance import asked, best, scaled

_PLACES: Final = (
    "SELECT chunks.id, place, number FROM chunks JOIN documents ON documents.id = document WHERE chunks.id IN"
)


class Ranked(NamedTuple):
    """A chunk that was found."""

    chunk: int
    score: float


def rank_index_chunks(
    connection: sqlite3.Connection, view: View, memory: Memory, query: str, *, sources: Set[str] | None, top_k: int
) -> list[Ranked]:
    """Return the chunks that cover most of a question, best first, equal ones in the order of the documents.

    Args:
        connection: in a transaction.
        view: what the caller may read.
        memory: what was searched before.
        query: what is asked.
        sources: those that are searched; None for all.
        top_k: how many chunks at most.
    """
    if not view.parts or top_k < 1:
        return []
    whole, terms = _read_query_terms(connection, view, memory.counts, query)
    allowed = [part for part in view.parts if sources is None or view.scopes[part.scope].source in sources]
    known = view.known[0]
    gathering = Gathering(connection, memory.columns, terms, average=known.average, wanted=top_k)
    covered = gathering.best(memory.spans.of(connection, allowed, known.average))
    found = _sort_index_hits(connection, [chunk for chunk, weight in covered.items() if weight > 0])
    hits = best([covered[chunk] for chunk in found], whole, known, top_k)
    return [Ranked(found[place], score) for place, score in hits]


def _read_query_terms(
    connection: sqlite3.Connection, view: View, counts: Counts, query: str
) -> tuple[float, list[Term]]:
    """Return what a question says, and its terms, in the order in which they are summed."""
    whole, terms = 0.0, list[Term]()
    said = [*scaled(asked(query, view.language, view.languages))]
    counted = counts.of(connection, view, [(reading, term) for reading, term, _ in said])
    for reading, term, times in said:
        holders, most, numbers = counted[reading, term]
        weight = view.known[reading].weight(times, holders)
        whole += weight
        if holders:
            terms.append(Term(weight, most, numbers))
    return whole, terms


def _sort_index_hits(connection: sqlite3.Connection, chunks: Sequence[int]) -> list[int]:
    """Return chunks in the order of their documents."""
    places = read_rows_by_key(connection, _PLACES, chunks)
    return sorted(chunks, key=places.__getitem__)
