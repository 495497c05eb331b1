"""The arithmetic of a search by numpy, which the extra ``kb`` brings."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from math import inf, ulp
from typing import Any, Final, NamedTuple, TypeAlias, TypeVar, cast

import numpy
from numpy.typing import NDArray

from guardgraph.knowledge.searching.arithmetic import FoundPostings, Held, Key, PostingRow
from guardgraph.knowledge.storing.postings import check_posting_size
from guardgraph.tools.relevance import damping, share

_Floats: TypeAlias = NDArray[numpy.float64]
_Places: TypeAlias = NDArray[numpy.int32]
"""Counted through all blocks."""

_Term = TypeVar("_Term")

_PLACE_BYTES: Final = 2

_FEW: Final = 1 << 15

_TOGETHER: Final = 1 << 13
"""Postings that are computed at once: fewer take more calls, more do not stay in the processor's cache."""

_AT_ONCE: Final = 1 << 10
"""Places of which all terms are looked up at once."""

_DENSE_FROM: Final = 1 << 14
"""Places. With fewer, it takes longer to find where a term of which a count is kept for each place stands."""

_STRETCH: Final = 64
"""Places of which the highest is sought."""


class _NumpyDamping(NamedTuple):
    """By what counts are damped, block after block."""

    starts: _Places
    """Where each block begins."""
    column: _Floats


class _Cells(NamedTuple):
    """Where a term stands, and how often."""

    places: _Places
    counts: NDArray[Any]


class _Sparse:
    """A term that few have, its places rising."""

    def __init__(self, cells: _Cells) -> None:
        self.cells = cells
        self.size = len(cells.places)
        self.bytes_taken = sum(column.nbytes for column in cells)

    def counts(self, places: _Places) -> NDArray[Any]:
        """Return how often it stands at places."""
        at = self.cells.places.searchsorted(places)
        is_there = self.cells.places.take(at, mode="clip") == places
        return cast("NDArray[Any]", self.cells.counts.take(at, mode="clip") * is_there)


class _Dense:
    """A term that so many have that a count for each place takes less memory, and less time to look up."""

    def __init__(self, damped: _NumpyDamping, rows: Sequence[PostingRow], count_bytes: int) -> None:
        self._counts = numpy.zeros(len(damped.column), dtype=f"u{count_bytes}")
        for block, size, data in rows:
            within = numpy.frombuffer(data, dtype=numpy.uint16, count=size).astype(numpy.intp)
            self._counts[damped.starts[block] :][within] = _read_posting_counts([data[_PLACE_BYTES * size :]], [size])
        self.size = sum(row.size for row in rows)
        self.bytes_taken = self._counts.nbytes

    @property
    def cells(self) -> _Cells:
        """As those of a term that few have."""
        places = numpy.flatnonzero(self._counts != 0).astype(numpy.int32)
        return _Cells(places, self._counts.take(places))

    def counts(self, places: _Places) -> NDArray[Any]:
        """Return how often it stands at places."""
        return self._counts.take(places)


class ByNumpy:
    """Adds up at all places at once, and looks up what is left to be known of few of them."""

    few = _FEW

    def words(self, lengths: Iterable[bytes]) -> int:
        """As `Arithmetic.words`."""
        return sum(int(numpy.frombuffer(data, dtype=numpy.uint32).sum(dtype=numpy.uint64)) for data in lengths)

    def damped(self, blocks: Iterable[Sequence[bytes]], average: float) -> _NumpyDamping:
        """As `Arithmetic.damped`."""
        columns = [_read_chunk_lengths(parts) for parts in blocks]
        lengths = numpy.concatenate(columns)
        damped = damping(lengths.astype(numpy.float64), average)
        damped[lengths == 0] = inf
        return _NumpyDamping(numpy.cumsum([0, *map(len, columns)], dtype=numpy.int32)[:-1], damped)

    def columns(self, damped: _NumpyDamping, terms: Mapping[Key, Sequence[PostingRow]]) -> dict[Key, _Sparse | _Dense]:
        """As `Arithmetic.columns`."""
        found, sizes = dict[Key, _Sparse | _Dense](), dict[Key, int]()
        for term, rows in terms.items():
            size, count_bytes = _measure_postings(rows)
            if (places := len(damped.column)) >= _DENSE_FROM and count_bytes * places < (4 + count_bytes) * size:
                found[term] = _Dense(damped, rows, count_bytes)
            else:
                sizes[term] = size
        for some in _together(sizes, sizes.__getitem__):
            cells, end = _map_posting_cells(damped.starts, [row for term in some for row in terms[term]]), 0
            for term in some:
                begin, end = end, end + sizes[term]
                own = _Cells(cells.places[begin:end].copy(), cells.counts[begin:end].copy())
                found[term] = _Sparse(_sort_places(own) if _has_block_twice(terms[term]) else own)
        return found

    def sums(self, damped: _NumpyDamping, terms: Sequence[Held]) -> _NumpySums:
        """As `Arithmetic.sums`."""
        return _NumpySums(damped, terms)


class _NumpySums:
    def __init__(self, damped: _NumpyDamping, terms: Sequence[Held]) -> None:
        self._starts, self._damped = damped
        self._terms = terms
        self._sums = numpy.zeros(len(self._damped))
        self._added: list[Held] = []

    def add(self, terms: Sequence[Held]) -> None:
        self._added += terms
        for some in _together(terms, _count_postings):
            held, counted = zip(*(term.column.cells for term in some), strict=True)
            places, counts = numpy.concatenate(held, dtype=numpy.intp), numpy.concatenate(counted, dtype=numpy.float64)
            shares = share(counts, self._damped.take(places))
            shares *= numpy.repeat([term.weight for term in some], [term.column.size for term in some])
            numpy.add.at(self._sums, places, shares)

    def highest(self, wanted: int) -> list[FoundPostings]:
        most = numpy.maximum.reduceat(self._sums, numpy.arange(0, len(self._sums), _STRETCH))
        begins = _STRETCH * numpy.sort(most.argsort()[-wanted:])
        found = [int(begin + self._sums[begin : begin + _STRETCH].argmax()) for begin in begins]
        return self._found(numpy.array([place for place in found if self._sums[place]], dtype=numpy.int32))

    def reaching(self, least: float, rest: Sequence[Held]) -> list[FoundPostings]:
        left = sum(term.bound for term in rest)
        places = numpy.flatnonzero(self._sums >= max(least - left, ulp(0.0))).astype(numpy.int32)
        covered, damped = self._sums.take(places), self._damped.take(places)
        for term in rest:
            counts = term.column.counts(places)
            covered += term.weight * share(counts, damped)
            left -= term.bound
            is_left = covered >= least - left
            places, covered, damped = places[is_left], covered[is_left], damped[is_left]
        return [hit for hit in self._found(places) if hit.covered >= least]

    def _found(self, places: _Places) -> list[FoundPostings]:
        """Return what chunks cover of all terms, at places that rise."""
        covered = self._sums.take(places) if self._added == self._terms else self._summed_again(places)
        blocks = self._starts.searchsorted(places, side="right") - 1
        return list(
            map(FoundPostings, blocks.tolist(), (places - self._starts.take(blocks)).tolist(), covered.tolist())
        )

    def _summed_again(self, places: _Places) -> _Floats:
        weights = numpy.array([[term.weight] for term in self._terms])
        covered = [numpy.zeros(0)]
        for begin in range(0, len(places), _AT_ONCE):
            some = places[begin : begin + _AT_ONCE]
            counts = numpy.array([term.column.counts(some) for term in self._terms])
            shares = share(counts, self._damped.take(some))
            shares *= weights
            covered.append(numpy.cumsum(shares, axis=0)[-1])  # one after the other, which `sum` does not promise
        return numpy.concatenate(covered)


def _count_postings(term: Held) -> int:
    return int(term.column.size)


def _together(terms: Iterable[_Term], size_of: Callable[[_Term], int]) -> Iterator[list[_Term]]:
    """Yield some terms at a time, in their order."""
    some, size = list[_Term](), 0
    for term in terms:
        some.append(term)
        size += size_of(term)
        if size >= _TOGETHER:
            yield some
            some, size = [], 0
    if some:
        yield some


def _measure_postings(rows: Iterable[PostingRow]) -> tuple[int, int]:
    """Return how many postings a term has, and in how many bytes a count of it is; before room is made for so many."""
    size, count_bytes = 0, 1
    for row in rows:
        check_posting_size(row.size, row.data)
        size += row.size
        if len(row.data) > (_PLACE_BYTES + 1) * row.size:
            count_bytes = 4
    return size, count_bytes


def _has_block_twice(rows: Sequence[PostingRow]) -> bool:
    return len({row.block for row in rows}) < len(rows)


def _sort_places(cells: _Cells) -> _Cells:
    order = cells.places.argsort(kind="stable")
    return _Cells(cells.places.take(order), cells.counts.take(order))


def _map_posting_cells(starts: _Places, rows: Sequence[PostingRow]) -> _Cells:
    """Read where terms stand, one behind the other."""
    if not rows:
        return _NONE
    blocks, sizes, data = zip(*rows, strict=True)
    within = b"".join([held[: _PLACE_BYTES * size] for size, held in zip(sizes, data, strict=True)])
    places = numpy.repeat(starts.take(blocks), sizes)
    places += numpy.frombuffer(within, dtype=numpy.uint16)
    counts = _read_posting_counts([held[_PLACE_BYTES * size :] for size, held in zip(sizes, data, strict=True)], sizes)
    return _Cells(places, counts)


def _read_posting_counts(given: Sequence[bytes], sizes: Sequence[int]) -> NDArray[Any]:
    joined = b"".join(given)
    if len(joined) == sum(sizes):
        return numpy.frombuffer(joined, dtype=numpy.uint8)
    kinds = (numpy.uint8 if len(counts) == size else numpy.uint32 for counts, size in zip(given, sizes, strict=True))
    return numpy.concatenate([numpy.frombuffer(*each) for each in zip(given, kinds, strict=True)])


def _read_chunk_lengths(parts: Sequence[bytes]) -> NDArray[numpy.uint32]:
    """Return how long the chunks of a block are, each of which is in one part."""
    lengths = numpy.zeros(max(map(len, parts)) // 4, dtype=numpy.uint32)
    for data in parts:
        given = numpy.frombuffer(data, dtype=numpy.uint32)
        numpy.maximum(lengths[: len(given)], given, out=lengths[: len(given)])
    return lengths


_NONE: Final = _Cells(numpy.zeros(0, dtype=numpy.int32), numpy.zeros(0, dtype=numpy.uint8))
