"""Which chunks cover most of a question, among those that a caller may read."""

from __future__ import annotations

import sqlite3
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence, Set
from heapq import nlargest
from typing import NamedTuple

from guardgraph.knowledge.index.gathering import Gathering, Term
from guardgraph.knowledge.index.statistics import View
from guardgraph.knowledge.index.values import marks, rows_of
from guardgraph.knowledge.index.words import term_of
from guardgraph.tools.relevance import asked, rarity, scaled, score
from guardgraph.tools.terms import stems

__all__ = ["Ranked", "ranked"]


_Form = tuple[str, tuple[int, ...]]
"""The key of a term, and the parts in which it counts."""


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
    parts = {
        language: tuple(part.id for part in view.parts if part.language == language) for language in view.languages
    }
    everywhere = tuple(part.id for part in view.parts)
    said = [
        (reading, term, times, _forms(reading, term, everywhere if reading else parts))
        for reading, term, times in scaled(asked(query, view.language, view.languages))
    ]
    known = _known(connection, (form for *_, forms in said for form in forms))
    for reading, term, times, forms in said:
        stem = None
        if reading == 0:
            stems_at[term] = len(terms)
        elif reading == 1:
            stem = stems_at[tuple(stems(term, language)[0] for language in view.languages)]
        counts = [known.get(form, (0, 0)) for form in forms]
        holders = sum(each for each, _ in counts)
        weight = times * view.known[reading].weight(holders)
        whole += weight
        if holders:
            terms.append(Term(weight, max(most for _, most in counts), holders, forms, stem))
    return whole, terms


def _forms(
    reading: int, term: tuple[str, ...], parts: tuple[int, ...] | Mapping[str, tuple[int, ...]]
) -> tuple[_Form, ...]:
    """Return the keys of a term, each with the parts in which it counts: all, or for a stem those of its language."""
    if isinstance(parts, tuple):
        return ((term_of(reading, term[0]), parts),)
    return tuple((term_of(reading, form), among) for form, among in zip(term, parts.values(), strict=True))


def _known(connection: sqlite3.Connection, forms: Iterable[_Form]) -> dict[_Form, tuple[int, int]]:
    """Return how many chunks of some parts have a term, and its largest count in one."""
    keys = defaultdict[tuple[int, ...], set[str]](set)
    for key, parts in forms:
        keys[parts].add(key)
    known = dict[_Form, tuple[int, int]]()
    for parts, wanted in keys.items():
        statement = f"SELECT term, sum(holders), max(most) FROM words WHERE part IN ({marks(parts)})"
        for key, holders, most in rows_of(connection, statement, parts, wanted, then="GROUP BY term"):
            known[key, parts] = holders, most
    return known


def _in_order(connection: sqlite3.Connection, chunks: Sequence[int]) -> list[int]:
    """Return chunks in the order of their documents."""
    places = {}
    for chunk in chunks:
        places[chunk] = connection.execute(
            "SELECT place, number FROM chunks JOIN documents ON documents.id = document WHERE chunks.id = ?", [chunk]
        ).fetchone()
    return sorted(chunks, key=places.__getitem__)
