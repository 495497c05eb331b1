"""Which chunks cover most of a question, among those that a caller may read."""

from __future__ import annotations

import sqlite3
from bisect import bisect_left
from collections.abc import Callable, Collection, Hashable, Iterable, Sequence, Set
from heapq import nlargest
from itertools import accumulate
from typing import TYPE_CHECKING, Any, Final, Generic, NamedTuple, TypeVar

from guardgraph.knowledge.searching.arithmetic import FoundPostings, Held, Sums
from guardgraph.knowledge.searching.memory import Columns, Counts, Memory, Numbers, PostingSpan
from guardgraph.knowledge.searching.views import Latest, View
from guardgraph.knowledge.storing.scopes import Scope, read_rows_by_key
from guardgraph.tools.relevance import asked, best, damping, scaled, share

if TYPE_CHECKING:
    from numpy import float32
    from numpy.typing import NDArray


_DIGITS: Final = 5
"""Of a cosine. What comes after them may depend on the rows around, and those on what a caller may not read."""


_ROOM: Final = 1 << 30
"""Bytes of vectors that are kept in memory; those of the scope that was asked for last, however many."""

Id = TypeVar("Id", bound=Hashable)
"""By what an index knows a chunk."""


class Near(NamedTuple, Generic[Id]):
    """A chunk, and how near it is."""

    chunk: Id
    similarity: float
    """The cosine, of -1 to 1."""


class _Rows(NamedTuple, Generic[Id]):
    """The vectors of a scope, in the order of its documents."""

    version: tuple[tuple[int, int], ...]
    chunks: list[Id]
    places: list[tuple[int, int]]
    matrix: NDArray[float32]


class Nearness(Generic[Id]):
    """Compares vectors. Those of a scope are kept in memory until something of the scope changes."""

    def __init__(self, read: Callable[[Any, Scope], Sequence[tuple[Id, int, int, bytes]]]) -> None:
        self._read = read
        self._rows = Latest[int, _Rows[Id]](_ROOM)

    def nearest(
        self, connection: object, view: View, vector: bytes, *, sources: Collection[str] | None, most: int
    ) -> list[Near[Id]]:
        """Return the chunks whose vectors are nearest, best first, equal ones in the order of the documents."""
        import numpy

        asked = numpy.frombuffer(vector, dtype=numpy.float32)
        found = list[tuple[float, tuple[int, int], Id]]()
        for scope in sorted({part.scope for part in view.parts}):
            if sources is not None and view.scopes[scope].source not in sources:
                continue
            rows = self._of(connection, view, scope)
            if not rows.chunks:
                continue
            cosines = numpy.round((rows.matrix @ asked).astype(numpy.float64), _DIGITS)
            least = numpy.partition(cosines, -most)[-most] if len(cosines) > most else -2.0
            found += [(-float(cosines[at]), rows.places[at], rows.chunks[at]) for at in (cosines >= least).nonzero()[0]]
        found.sort(key=lambda hit: hit[:2])
        return [Near(chunk, -less) for less, _, chunk in found[:most]]

    def _of(self, connection: object, view: View, scope: int) -> _Rows[Id]:
        import numpy

        version = tuple((part.id, part.changed) for part in view.parts if part.scope == scope)
        kept = self._rows.get(scope)
        if kept is None or kept.version != version:
            rows = self._read(connection, view.scopes[scope])
            matrix = numpy.frombuffer(b"".join(row[3] for row in rows), dtype=numpy.float32)
            places = [(row[1], row[2]) for row in rows]
            kept = _Rows(version, [row[0] for row in rows], places, matrix.reshape(max(len(rows), 1), -1))
            self._rows.keep(scope, kept, matrix.nbytes)
        return kept


_SLACK: Final = 1e-9
"""More than sums differ when they are added up in another order, as a share of all that is added."""

_LEFT: Final = 0.9
"""Of what a chunk must cover: where all terms that are left lift one by less, few may still reach it."""

_FIRST: Final = 1 / 16
"""Of all postings: so many tell roughly which chunks are among the best."""

_FEW: Final = 4096
"""Postings. So many are summed first at least."""


class Term(NamedTuple):
    """A term of a question that some passages have."""

    weight: float
    most: int
    """The largest count that a passage has."""
    numbers: Numbers


class Gathering:
    """Finds the chunks that cover most."""

    # Terms that tell chunks apart are summed at all places, until those that are left would not lift a chunk by much;
    # they are looked up for the chunks that may be among the best with them (Turtle and Flood, Query evaluation:
    # strategies and optimizations, 1995). What a chunk must cover at least is known from those that were found before,
    # and at first from the best by the terms that tell most. What is returned is summed in the order of the formula, so
    # that no score depends on the way.

    def __init__(
        self, connection: sqlite3.Connection, columns: Columns, terms: Sequence[Term], *, average: float, wanted: int
    ) -> None:
        self._connection = connection
        self._columns = columns
        self._terms = terms
        self._wanted = wanted
        self._bounds = [term.weight * share(term.most, damping(term.most, average)) for term in terms]
        self._slack = _SLACK * sum(self._bounds)
        self._best: dict[int, float] = {}
        self._least = 0.0
        """What a chunk must cover at least to be among the best, as far as that is known."""

    def best(self, spans: Iterable[PostingSpan]) -> dict[int, float]:
        """Return what the best chunks cover; those that cover as much as the last of them are among them."""
        for span in spans:
            terms = self._read_held_chunks(span)
            sums = span.arithmetic.sums(span.damped, terms)
            if sum(term.column.size for term in terms) <= span.arithmetic.few:
                sums.add(terms)
                self._keep_chunk_scores(span, sums.highest(self._wanted))
                rest = list[Held]()
            else:
                rest = self._add_postings(span, sums, terms)
            self._keep_chunk_scores(span, sums.reaching(self._least, rest))
        return self._best

    def _add_postings(self, span: PostingSpan, sums: Sums, terms: Sequence[Held]) -> list[Held]:
        """Add terms until those that are left do not lift a chunk by much; return these, the largest bounds first."""
        in_turn = sorted(terms, key=lambda term: term.bound / term.column.size, reverse=True)
        read = 0
        if not self._least:
            read = self._gather_first_postings(in_turn)
            sums.add(in_turn[:read])
            self._keep_chunk_scores(span, sums.highest(self._wanted))
        enough = max(read, self._has_enough_chunks(in_turn))
        if enough > read:
            sums.add(in_turn[read:enough])
            self._keep_chunk_scores(span, sums.highest(self._wanted))
        return sorted(in_turn[enough:], key=lambda term: term.bound, reverse=True)

    def _gather_first_postings(self, terms: Sequence[Held]) -> int:
        """Return how many terms tell roughly which chunks are among the best."""
        sizes = [*accumulate(term.column.size for term in terms)]
        return bisect_left(sizes, max(_FEW, _FIRST * sizes[-1])) + 1

    def _has_enough_chunks(self, terms: Sequence[Held]) -> int:
        """Return how many terms are to be summed until those that are left do not lift a chunk by much."""
        left = sum(term.bound for term in terms)
        for read, term in enumerate(terms):
            if left < _LEFT * self._least:
                return read
            left -= term.bound
        return len(terms)

    def _keep_chunk_scores(self, span: PostingSpan, found: Iterable[FoundPostings]) -> None:
        """Keep the best of what was found."""
        self._best |= {span.chunk(block, place): covered for block, place, covered in found}
        if len(self._best) >= self._wanted:
            self._least = nlargest(self._wanted, self._best.values())[-1] - self._slack
            self._best = {chunk: covered for chunk, covered in self._best.items() if covered >= self._least}

    def _read_held_chunks(self, span: PostingSpan) -> list[Held]:
        """Return the terms that a span has, in the order of the formula."""
        columns = self._columns.of(self._connection, span, {term.numbers for term in self._terms})
        held = (
            Held(term.weight, bound, columns[term.numbers])
            for term, bound in zip(self._terms, self._bounds, strict=True)
        )
        return [term for term in held if term.column.size]


_PLACES: Final = (
    "SELECT chunks.id, place, number FROM chunks JOIN documents ON documents.id = document WHERE chunks.id IN"
)


class Ranked(NamedTuple, Generic[Id]):
    """A chunk that was found."""

    chunk: Id
    score: float


def rank_index_chunks(
    connection: sqlite3.Connection, view: View, memory: Memory, query: str, *, sources: Set[str] | None, top_k: int
) -> list[Ranked[int]]:
    """Return the chunks that cover most of a question, best first, equal ones in the order of the documents."""
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
