"""The arithmetic of a search by numpy, which the extra ``kb`` brings."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from math import inf
from typing import Any, Final, NamedTuple, TypeAlias, cast

import numpy
from numpy.typing import NDArray

from guardgraph.knowledge.index.arithmetic import Found, Held
from guardgraph.tools.relevance import damping

__all__ = ["ByNumpy"]

_Floats: TypeAlias = NDArray[numpy.float64]
_Places: TypeAlias = NDArray[numpy.intp]
"""Counted through all blocks."""

_PLACE_BYTES: Final = 2

_TOGETHER: Final = 1 << 15
"""Postings that are computed at once: fewer take more calls, more do not stay in the processor's cache."""

_STRETCH: Final = 256
"""Places of which the highest is sought."""


class _Damped(NamedTuple):
    """By what counts are damped, block after block."""

    starts: _Places
    """Where each block begins."""
    column: _Floats


class ByNumpy:
    """Adds up a term at all places at once."""

    def damped(self, blocks: Iterable[Sequence[bytes]], average: float) -> _Damped:
        """As `Arithmetic.damped`."""
        columns = [_lengths(parts) for parts in blocks]
        lengths = numpy.concatenate(columns)
        damped = cast("_Floats", damping(cast("Any", lengths.astype(numpy.float64)), average))
        damped[lengths == 0] = inf
        return _Damped(numpy.cumsum([0, *map(len, columns)], dtype=numpy.intp)[:-1], damped)

    def sums(self, damped: _Damped, terms: Sequence[Held]) -> _Sums:
        """As `Arithmetic.sums`."""
        return _Sums(damped, terms)


class _Sums:
    def __init__(self, damped: _Damped, terms: Sequence[Held]) -> None:
        self._damped = damped
        self._terms = terms
        self._sums = numpy.zeros(len(damped.column))
        self._added: list[Held] = []

    def add(self, terms: Sequence[Held]) -> None:
        self._added += terms
        for held in _postings(self._damped.starts, terms):
            _add(self._sums, numpy.repeat(held.weights, held.sizes), held.places, held.counts, self._damped.column)

    def highest(self, wanted: int) -> list[Found]:
        most = numpy.maximum.reduceat(self._sums, numpy.arange(0, len(self._sums), _STRETCH))
        begins = _STRETCH * numpy.argsort(most)[-wanted:]
        places = [int(begin + self._sums[begin : begin + _STRETCH].argmax()) for begin in begins]
        blocks, within = self._divided(numpy.array(places, dtype=numpy.intp))
        return [
            Found.of(self._terms, block, place, float(self._damped.column[at]))
            for block, place, at in zip(blocks, within, places, strict=True)
            if self._sums[at]
        ]

    def reaching(self, least: float, rest: Sequence[Held]) -> list[Found]:
        left = sum(term.bound for term in rest)
        places = numpy.flatnonzero((self._sums >= least - left) & (self._sums > 0))
        sums = self._sums if self._added == self._terms else self._summed_again(places)
        places = places[sums.take(places) >= least]
        return list(map(Found, *self._divided(places), sums.take(places).tolist()))

    def _summed_again(self, chosen: _Places) -> _Floats:
        """Return what some chunks cover of all terms."""
        sums, is_chosen = numpy.zeros(len(self._sums)), numpy.zeros(len(self._sums), dtype=numpy.bool_)
        is_chosen[chosen] = True
        for held in _postings(self._damped.starts, self._terms):
            at = numpy.flatnonzero(is_chosen.take(held.places))
            weights = held.weights.take(numpy.searchsorted(numpy.cumsum(held.sizes), at, side="right"))
            _add(sums, weights, held.places.take(at), held.counts.take(at), self._damped.column)
        return sums

    def _divided(self, places: _Places) -> tuple[list[int], list[int]]:
        """Return the blocks and the places there."""
        blocks = numpy.searchsorted(self._damped.starts, places, side="right") - 1
        return blocks.tolist(), (places - self._damped.starts.take(blocks)).tolist()


def _add(sums: _Floats, weights: _Floats, places: _Places, counts: NDArray[Any], damped: _Floats) -> None:
    """Add what chunks cover of terms, in their order."""
    times = counts.astype(numpy.float64)
    shares = damped.take(places)
    shares += times
    numpy.divide(times, shares, out=shares)
    shares *= weights
    numpy.add.at(sums, places, shares)


class _Postings(NamedTuple):
    """Postings row after row, and what of them belongs to which row."""

    weights: _Floats
    sizes: _Places
    places: _Places
    counts: NDArray[Any]


def _postings(starts: _Places, terms: Iterable[Held]) -> Iterator[_Postings]:
    """Yield the postings of terms, some rows at a time."""
    some, size = list[tuple[float, int, int, bytes]](), 0
    for term in terms:
        for block, held, data in term.rows:
            some.append((term.weight, block, held, data))
            size += held
        if size >= _TOGETHER:
            yield _read(starts, some)
            some, size = [], 0
    if some:
        yield _read(starts, some)


def _read(starts: _Places, rows: Sequence[tuple[float, int, int, bytes]]) -> _Postings:
    weights, blocks, sizes, data = zip(*rows, strict=True)
    within = b"".join([held[: _PLACE_BYTES * size] for size, held in zip(sizes, data, strict=True)])
    counts = [held[_PLACE_BYTES * size :] for size, held in zip(sizes, data, strict=True)]
    places = numpy.repeat(starts.take(blocks), sizes)
    places += numpy.frombuffer(within, dtype=numpy.uint16)
    return _Postings(numpy.array(weights), numpy.array(sizes), places, _counts(counts, sizes))


def _counts(given: Sequence[bytes], sizes: Sequence[int]) -> NDArray[Any]:
    joined = b"".join(given)
    if len(joined) == sum(sizes):
        return numpy.frombuffer(joined, dtype=numpy.uint8)
    kinds = (numpy.uint8 if len(counts) == size else numpy.uint32 for counts, size in zip(given, sizes, strict=True))
    return numpy.concatenate([numpy.frombuffer(*each) for each in zip(given, kinds, strict=True)])


def _lengths(parts: Sequence[bytes]) -> NDArray[numpy.uint32]:
    """Return how long the chunks of a block are, each of which is in one part."""
    lengths = numpy.zeros(max(map(len, parts)) // 4, dtype=numpy.uint32)
    for data in parts:
        given = numpy.frombuffer(data, dtype=numpy.uint32)
        numpy.maximum(lengths[: len(given)], given, out=lengths[: len(given)])
    return lengths
