"""Which chunks cover most of a question, among those that a caller may read."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence, Set
from heapq import nlargest
from typing import NamedTuple

from guardgraph.knowledge.index.gathering import Gathering, Term
from guardgraph.knowledge.index.statistics import View
from guardgraph.knowledge.index.values import marks
from guardgraph.knowledge.index.words import term_of
from guardgraph.tools.relevance import asked, rarity, scaled, score
from guardgraph.tools.terms import stems

__all__ = ["Ranked", "ranked"]


class Ranked(NamedTuple):
    """A chunk that was found."""

    chunk: int
    score: float


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
    if not view.parts or top_k < 1:
        return []
    whole, terms = _terms(connection, view, query)
    allowed = {part.id for part in view.parts if sources is None or view.scopes[part.scope].source in sources}
    covered = Gathering(connection, terms, average=view.average, parts=allowed, wanted=top_k).best()
    found = _in_order(connection, [chunk for chunk, weight in covered.items() if weight > 0])
    best = nlargest(top_k, found, key=covered.__getitem__)
    rare = rarity(view.known[0].chance, whole)
    place = {chunk: at for at, chunk in enumerate(found)}
    scored = [Ranked(chunk, score(covered[chunk], whole, rare)) for chunk in best]
    return sorted((hit for hit in scored if hit.score > 0), key=lambda hit: (-hit.score, place[hit.chunk]))


def _terms(connection: sqlite3.Connection, view: View, query: str) -> tuple[float, list[Term]]:
    """Return what a question says, and its terms, in the order in which they are summed."""
    whole, terms, stems_at = 0.0, list[Term](), dict[tuple[str, ...], int]()
    everywhere = [part.id for part in view.parts]
    by_language = {
        language: [part.id for part in view.parts if part.language == language] for language in view.languages
    }
    for reading, term, times in scaled(asked(query, view.language, view.languages)):
        stem = None
        if reading == 0:
            forms = tuple(
                (term_of(reading, form), by_language[language])
                for language, form in zip(view.languages, term, strict=True)
            )
            stems_at[term] = len(terms)
        else:
            forms = ((term_of(reading, term[0]), everywhere),)
            if reading == 1:
                stem = stems_at[tuple(stems(term, language)[0] for language in view.languages)]
        known = [_known(connection, key, parts) for key, parts in forms]
        holders = sum(each for each, _ in known)
        weight = times * view.known[reading].weight(holders)
        whole += weight
        if holders:
            terms.append(Term(weight, max(most for _, most in known), holders, forms, stem))
    return whole, terms


def _known(connection: sqlite3.Connection, key: str, parts: Sequence[int]) -> tuple[int, int]:
    """Return how many chunks of some parts have a term, and its largest count in one."""
    counted = "SELECT coalesce(sum(holders), 0), coalesce(max(most), 0) FROM words"
    statement = f"{counted} WHERE term = ? AND part IN ({marks(parts)})"
    holders, most = connection.execute(statement, [key, *parts]).fetchone()
    return holders, most


def _in_order(connection: sqlite3.Connection, chunks: Sequence[int]) -> list[int]:
    """Return chunks in the order of their documents."""
    places = {}
    for chunk in chunks:
        places[chunk] = connection.execute(
            "SELECT place, number FROM chunks JOIN documents ON documents.id = document WHERE chunks.id = ?", [chunk]
        ).fetchone()
    return sorted(chunks, key=places.__getitem__)
