"""The arithmetic of a search by numpy, which the extra ``kb`` brings."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
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

    def add(self, terms: Iterable[Held]) -> None:
        for term in terms:
            if term.rows:
                _add(self._sums, term.weight, *_postings(self._damped.starts, term.rows), self._damped.column)

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
        sums, is_sought = numpy.zeros(len(self._sums)), numpy.zeros(len(self._sums), dtype=numpy.bool_)
        is_sought[places] = True
        for term in self._terms:
            if term.rows and places.size:
                held, counts = _postings(self._damped.starts, term.rows)
                sought = numpy.flatnonzero(is_sought.take(held))
                _add(sums, term.weight, held.take(sought), counts.take(sought), self._damped.column)
        places = places[sums.take(places) >= least]
        return list(map(Found, *self._divided(places), sums.take(places).tolist()))

    def _divided(self, places: _Places) -> tuple[list[int], list[int]]:
        """Return the blocks and the places there."""
        blocks = numpy.searchsorted(self._damped.starts, places, side="right") - 1
        return blocks.tolist(), (places - self._damped.starts.take(blocks)).tolist()


def _add(sums: _Floats, weight: float, places: _Places, counts: NDArray[Any], damped: _Floats) -> None:
    """Add what chunks cover of a term."""
    times = counts.astype(numpy.float64)
    share = damped.take(places)
    share += times
    numpy.divide(times, share, out=share)
    share *= weight
    share += sums.take(places)
    sums[places] = share


def _postings(starts: _Places, rows: Sequence[tuple[int, int, bytes]]) -> tuple[_Places, NDArray[Any]]:
    """Return where chunks have a term, and how often."""
    blocks, sizes, data = zip(*rows, strict=True)
    within = b"".join([held[: _PLACE_BYTES * size] for size, held in zip(sizes, data, strict=True)])
    counts = [held[_PLACE_BYTES * size :] for size, held in zip(sizes, data, strict=True)]
    places = numpy.repeat(starts.take(blocks), sizes)
    places += numpy.frombuffer(within, dtype=numpy.uint16)
    return places, _counts(counts, sizes)


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
