"""Which chunks answer a question, among those that a caller may read: by their words, by vectors, by both."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence, Set
from math import inf
from typing import Any, Final, NamedTuple, TypeAlias

import numpy
from numpy.typing import NDArray

from guardgraph.knowledge.database import Connection
from guardgraph.knowledge.postings import BLOCK, Numbers, decode_lengths, decode_postings, make_index_term
from guardgraph.knowledge.views import Latest, StatisticsPart, View
from guardgraph.tools.relevance import (
    find_asked_terms,
    measure_length_damping,
    measure_term_share,
    rank_relevant_passages,
    weigh_asked_terms,
)

_POSTINGS: Final = "SELECT part, term, block, data FROM postings WHERE part = ANY (?) AND term = ANY (?)"
_LENGTHS: Final = "SELECT part, block, data FROM lengths WHERE part = ANY (?)"
_FOUND: Final = "FROM chunks JOIN documents ON documents.id = document WHERE chunks.scope = ? AND at = ANY (?)"
_ORDER: Final = f"SELECT at, place, number {_FOUND}"
_SHOWN: Final = f"SELECT at, documents.name, title, updated_at, chunks.name, section, start, stop, text, hash {_FOUND}"
_VECTORS: Final = (
    "SELECT at, place, number, vector FROM chunks JOIN documents ON documents.id = document "
    "WHERE chunks.scope = ? AND vector IS NOT NULL ORDER BY place, number"
)

Place: TypeAlias = tuple[int, int]  # A chunk by its scope and its place there; a block likewise


class Ranked(NamedTuple):
    """A chunk that was found."""

    chunk: Place
    score: float


def rank_chunks(
    connection: Connection, view: View, query: str, *, sources: Set[str] | None, top_k: int
) -> list[Ranked]:
    """Return the chunks that cover most of a question with their scores, best first, equal ones in their order."""
    allowed = [part for part in view.parts if sources is None or view.scopes[part.scope].source in sources]
    if not allowed or top_k < 1:
        return []
    whole, covered = _cover_question(connection, view, allowed, query, top_k)
    order = _read_chunk_rows(connection, covered, _ORDER)
    found = sorted(covered, key=order.__getitem__)
    hits = rank_relevant_passages([covered[chunk] for chunk in found], whole, view.known[0], top_k)
    return [Ranked(found[place], score) for place, score in hits]


def read_found_chunks(connection: Connection, found: Iterable[Place]) -> dict[Place, tuple[Any, ...]]:
    """Return of chunks the document's id, title and date, and their id, section, beginning, end, text and hash."""
    return _read_chunk_rows(connection, found, _SHOWN)


def _read_chunk_rows(connection: Connection, chunks: Iterable[Place], statement: str) -> dict[Place, tuple[Any, ...]]:
    places = defaultdict[int, list[int]](list)
    for scope, at in chunks:
        places[scope].append(at)
    return {
        (scope, row[0]): tuple(row[1:])
        for scope, some in places.items()
        for row in connection.execute(statement, [scope, some])
    }


class _Lengths(NamedTuple):
    """How long the chunks of some blocks are, one block behind the other."""

    starts: dict[Place, int]
    column: Numbers

    def find(self, at: int) -> Place:
        """Return the chunk at a place of the column."""
        block = max((start, block) for block, start in self.starts.items() if start <= at)
        (scope, number), start = block[1], block[0]
        return scope, number * BLOCK + at - start


def _cover_question(
    connection: Connection, view: View, allowed: Sequence[StatisticsPart], query: str, wanted: int
) -> tuple[float, dict[Place, float]]:
    """Return what a question says, and how much of it the best chunks cover, those equal to the last one, too."""
    said = [
        (reading, times, dict(zip(view.languages, _name_forms(view.languages, reading, forms), strict=True)))
        for reading, forms, times in weigh_asked_terms(find_asked_terms(query, view.language, view.languages))
    ]
    terms = [*{term for *_, forms in said for term in forms.values()}]
    postings = defaultdict[tuple[int, str], list[tuple[int, Numbers]]](list)
    parts = [part.id for part in view.parts]
    for part, term, block, data in connection.execute(_POSTINGS, [parts, terms]):
        postings[part, term].append((block, decode_postings(data)))
    lengths = _read_block_lengths(connection, allowed)
    searched = {part.id for part in allowed}
    whole, weights, cells, starts = 0.0, list[float](), list[Numbers](), list[int]()
    for reading, times, forms in said:
        held = [(part, *row) for part in view.parts for row in postings.get((part.id, forms[part.language]), ())]
        weight = view.known[reading].weight(times, sum(len(column) for *_, column in held))
        whole += weight
        for part, block, column in held:
            if part.id in searched:
                weights.append(weight)
                cells.append(column)
                starts.append(lengths.starts[part.scope, block])
    if not cells:
        return whole, {}
    sizes, joined = [*map(len, cells)], numpy.concatenate(cells)
    places = joined[:, 0].astype(numpy.intp) + numpy.repeat(starts, sizes)
    damped = measure_length_damping(lengths.column.astype(numpy.float64), view.known[0].average)
    damped[lengths.column == 0] = inf  # where nobody is
    # In the order of the formula, so that a score is that of `LexicalRetriever` to the last digit.
    shares = measure_term_share(joined[:, 1].astype(numpy.float64), damped.take(places)) * numpy.repeat(weights, sizes)
    sums = numpy.zeros(len(damped))
    numpy.add.at(sums, places, shares)
    least = numpy.partition(sums, -wanted)[-wanted] if len(sums) > wanted else 0.0
    found = numpy.flatnonzero((sums >= least) & (sums > 0))
    return whole, {lengths.find(int(at)): float(sums[at]) for at in found}


def _name_forms(languages: Sequence[str], reading: int, forms: Sequence[str]) -> list[str]:
    """Return the terms of a form of a question by language: a stem differs, a spelling does not."""
    spelled = forms if len(forms) == len(languages) else [*forms] * len(languages)
    return [make_index_term(reading, form) for form in spelled]


def _read_block_lengths(connection: Connection, parts: Sequence[StatisticsPart]) -> _Lengths:
    by_id, words = {part.id: part for part in parts}, dict.fromkeys((part.id for part in parts), 0)
    blocks = defaultdict[Place, list[Numbers]](list)
    for part, block, data in connection.execute(_LENGTHS, [[*by_id]]):
        column = decode_lengths(data)
        blocks[by_id[part].scope, block].append(column)
        words[part] += int(column.sum())
    if any(words[part.id] != part.words for part in parts):  # a place would be taken for one of another block
        raise ValueError("lengths")
    starts, end = dict[Place, int](), 0
    for block, columns in blocks.items():
        starts[block] = end
        end += max(map(len, columns))
    joined = numpy.zeros(end, dtype=numpy.uint32)
    for block, columns in blocks.items():
        for column in columns:  # each chunk of a block is in one part
            joined[starts[block] : starts[block] + len(column)] += column
    return _Lengths(starts, joined)


_DIGITS: Final = 5
"""Of a cosine. What comes after them may depend on the rows around, and those on what a caller may not read."""

_ROOM: Final = 1 << 30
"""Bytes of vectors that are kept in memory; those of the scope that was asked for last, however many."""


class Near(NamedTuple):
    """A chunk, and how near it is."""

    chunk: Place
    similarity: float  # the cosine, of -1 to 1


class _Rows(NamedTuple):
    """The vectors of a scope, in the order of its documents."""

    version: tuple[tuple[int, int], ...]
    chunks: list[Place]
    places: list[tuple[int, int]]
    matrix: NDArray[numpy.float32]


class Nearness:
    """Compares vectors. Those of a scope are kept in memory until something of the scope changes."""

    def __init__(self) -> None:
        self._rows = Latest[int, _Rows](_ROOM)

    def nearest(
        self, connection: Connection, view: View, vector: bytes, *, sources: Set[str] | None, most: int
    ) -> list[Near]:
        """Return the chunks whose vectors are nearest, best first, equal ones in the order of the documents."""
        asked = numpy.frombuffer(vector, dtype="<f4")
        found = list[tuple[float, tuple[int, int], Place]]()
        for scope in sorted({part.scope for part in view.parts}):
            if sources is not None and view.scopes[scope].source not in sources:
                continue
            rows = self._read_scope_vectors(connection, view, scope)
            if not rows.chunks:
                continue
            with numpy.errstate(invalid="ignore"):  # BLAS may raise the flag for lanes that hold no number of ours
                products = rows.matrix @ asked
            cosines = numpy.round(products.astype(numpy.float64), _DIGITS)
            least = numpy.partition(cosines, -most)[-most] if len(cosines) > most else -2.0
            found += [(-float(cosines[at]), rows.places[at], rows.chunks[at]) for at in (cosines >= least).nonzero()[0]]
        found.sort(key=lambda hit: hit[:2])
        return [Near(chunk, -less) for less, _, chunk in found[:most]]

    def _read_scope_vectors(self, connection: Connection, view: View, scope: int) -> _Rows:
        version = tuple((part.id, part.changed) for part in view.parts if part.scope == scope)
        kept = self._rows.get(scope)
        if kept is None or kept.version != version:
            rows = connection.execute(_VECTORS, [scope]).fetchall()
            matrix = numpy.frombuffer(b"".join(row[3] for row in rows), dtype="<f4")
            chunks, places = [(scope, row[0]) for row in rows], [(row[1], row[2]) for row in rows]
            kept = _Rows(version, chunks, places, matrix.reshape(max(len(rows), 1), -1))
            self._rows.keep(scope, kept, matrix.nbytes)
        return kept


POOL: Final = 100  # chunks of each order that count
_SMOOTHING: Final = 60
"""By how much a rank is raised before its reciprocal is taken (Cormack, Clarke and Büttcher, Reciprocal Rank Fusion
outperforms Condorcet and individual Rank Learning Methods, 2009)."""


def fuse_word_and_vector_hits(
    words: Sequence[Ranked], near: Sequence[Near], *, top_k: int, min_similarity: float | None = None
) -> list[Ranked]:
    """Return chunks in the order of the sum of their reciprocal ranks, best first."""
    # The score of each is that of its words: how near its vector is says nothing of relevance. So vectors order anew
    # what words found and find nothing alone; with `min_similarity` they do, and the score of what they found is the
    # cosine.
    scores = {hit.chunk: hit.score for hit in words}
    if min_similarity is not None:
        scores = {hit.chunk: hit.similarity for hit in near if hit.similarity >= max(min_similarity, 0.0)} | scores
    by_words = {hit.chunk: rank for rank, hit in enumerate(words, 1)}
    by_vectors = {hit.chunk: rank for rank, hit in enumerate(near, 1)}

    def worth(chunk: Place) -> float:
        ranks = (order[chunk] for order in (by_words, by_vectors) if chunk in order)
        return sum(1 / (_SMOOTHING + rank) for rank in ranks)

    # Of two that are worth the same, the one that words put first stands first.
    chunks = sorted(scores, key=lambda chunk: (-worth(chunk), by_words.get(chunk, POOL + by_vectors.get(chunk, 0))))
    return [Ranked(chunk, scores[chunk]) for chunk in chunks if scores[chunk] > 0][:top_k]
