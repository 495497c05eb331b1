"""Which chunks cover most of a question, among those that a caller may read."""

from __future__ import annotations

import sqlite3
from collections import defaultdict
from collections.abc import Sequence, Set
from heapq import nlargest
from typing import NamedTuple

from guardgraph.knowledge.index.postings import BLOCK, decoded
from guardgraph.knowledge.index.statistics import View, marks
from guardgraph.knowledge.index.words import term_of
from guardgraph.tools.relevance import asked, damping, rarity, scaled, score

__all__ = ["Ranked", "ranked"]


class Ranked(NamedTuple):
    """A chunk that was found."""

    chunk: int
    score: float


class _Term(NamedTuple):
    weight: float
    forms: tuple[tuple[str, Sequence[int]], ...]
    """Its keys, each with the parts in which it counts."""


def ranked(
    connection: sqlite3.Connection, view: View, query: str, *, sources: Set[str] | None, top_k: int
) -> list[Ranked]:
    """Return the chunks that cover most of a question, best first, equal ones in the order of the documents.

    Args:
        connection: in a transaction.
        view: what the caller may read.
        query: what is asked.
        sources: those that are searched; None for all.
        top_k: how many chunks at most.
    """
    if not view.parts:
        return []
    whole, terms = _terms(connection, view, query)
    covered = _covered(connection, view, terms, sources)
    if not covered:
        return []
    least = nlargest(top_k, covered.values())[-1] if top_k < len(covered) else 0.0
    found = _in_order(connection, [chunk for chunk, weight in covered.items() if weight >= least])
    best = nlargest(top_k, found, key=covered.__getitem__)
    rare = rarity(view.known[0].chance, whole)
    place = {chunk: at for at, chunk in enumerate(found)}
    scored = [Ranked(chunk, score(covered[chunk], whole, rare)) for chunk in best]
    return sorted((hit for hit in scored if hit.score > 0), key=lambda hit: (-hit.score, place[hit.chunk]))


def _terms(connection: sqlite3.Connection, view: View, query: str) -> tuple[float, list[_Term]]:
    """Return what a question says, and its terms, in the order in which they are summed."""
    whole, terms = 0.0, list[_Term]()
    everywhere = [part.id for part in view.parts]
    by_language = {
        language: [part.id for part in view.parts if part.language == language] for language in view.languages
    }
    for reading, term, times in scaled(asked(query, view.language, view.languages)):
        if reading == 0:
            forms = tuple(
                (term_of(reading, form), by_language[language])
                for language, form in zip(view.languages, term, strict=True)
            )
        else:
            forms = ((term_of(reading, term[0]), everywhere),)
        holders = sum(_holders(connection, key, parts) for key, parts in forms)
        weight = times * view.known[reading].weight(holders)
        whole += weight
        if holders:
            terms.append(_Term(weight, forms))
    return whole, terms


def _holders(connection: sqlite3.Connection, key: str, parts: Sequence[int]) -> int:
    statement = f"SELECT coalesce(sum(holders), 0) FROM words WHERE term = ? AND part IN ({marks(parts)})"
    return int(connection.execute(statement, [key, *parts]).fetchone()[0])


def _covered(
    connection: sqlite3.Connection, view: View, terms: Sequence[_Term], sources: Set[str] | None
) -> dict[int, float]:
    covered: defaultdict[int, float] = defaultdict(float)
    damped: dict[int, float] = {}
    allowed = {part.id for part in view.parts if sources is None or view.scopes[part.scope].source in sources}
    for weight, forms in terms:
        for key, parts in forms:
            wanted = [part for part in parts if part in allowed]
            statement = f"SELECT block, size, data FROM postings WHERE term = ? AND part IN ({marks(wanted)})"
            for block, size, data in connection.execute(statement, [key, *wanted]):
                first = block * BLOCK
                for chunk, count, length in zip(*decoded(size, data), strict=True):
                    if length not in damped:
                        damped[length] = damping(length, view.average)
                    covered[first + chunk] += weight * (count / (count + damped[length]))
    return covered


def _in_order(connection: sqlite3.Connection, chunks: Sequence[int]) -> list[int]:
    """Return chunks in the order of their documents."""
    places = {}
    for chunk in chunks:
        places[chunk] = connection.execute(
            "SELECT place, number FROM chunks JOIN documents ON documents.id = document WHERE chunks.id = ?", [chunk]
        ).fetchone()
    return sorted(chunks, key=places.__getitem__)
