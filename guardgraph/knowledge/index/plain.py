"""The arithmetic of a search by Python alone."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from heapq import nlargest
from math import inf
from typing import Final, TypeAlias

from guardgraph.knowledge.index.arithmetic import Found, Held
from guardgraph.knowledge.index.postings import decoded, lengths_of
from guardgraph.tools.relevance import damping

__all__ = ["Plain"]

_Columns: TypeAlias = list[list[float]]
"""A number for each place of each block."""

_STRETCH: Final = 256
"""Places of which the highest is sought."""


class Plain:
    """Adds up place by place, and looks up what is left to be known of few of them."""

    def damped(self, blocks: Iterable[Sequence[bytes]], average: float) -> _Columns:
        """As `Arithmetic.damped`."""
        columns = _Columns()
        for parts in blocks:
            longest, *others = sorted(map(lengths_of, parts), key=len, reverse=True)
            for lengths in others:
                longest[: len(lengths)] = type(lengths)("I", map(max, lengths, longest))
            by_length = {length: damping(length, average) for length in set(longest)} | {0: inf}
            columns.append([by_length[length] for length in longest])
        return columns

    def sums(self, damped: _Columns, terms: Sequence[Held]) -> _Sums:
        """As `Arithmetic.sums`."""
        return _Sums(damped, terms)


class _Sums:
    def __init__(self, damped: _Columns, terms: Sequence[Held]) -> None:
        self._damped = damped
        self._terms = terms
        self._sums = [[0.0] * len(column) for column in damped]

    def add(self, terms: Iterable[Held]) -> None:
        for term in terms:
            weight = term.weight
            for block, size, data in term.rows:
                sums, damped = self._sums[block], self._damped[block]
                for place, count in zip(*decoded(size, data), strict=True):
                    sums[place] += weight * (count / (count + damped[place]))

    def highest(self, wanted: int) -> list[Found]:
        stretches = (
            (max(sums[begin : begin + _STRETCH]), block, begin)
            for block, sums in enumerate(self._sums)
            for begin in range(0, len(sums), _STRETCH)
        )
        best = nlargest(wanted, stretches)
        return [self._found(block, self._sums[block].index(most, begin)) for most, block, begin in best if most]

    def reaching(self, least: float, rest: Sequence[Held]) -> list[Found]:
        left = sum(term.bound for term in rest)
        found = (self._found(*at) for at in self._at_least(least - left) if self._may_reach(*at, least, left, rest))
        return [hit for hit in found if hit.covered >= least]

    def _at_least(self, least: float) -> Iterator[tuple[int, int]]:
        """Yield where more than nothing is covered, and so much."""
        for block, column in enumerate(self._sums):
            if max(column, default=0.0) >= least:
                yield from ((block, place) for place, covered in enumerate(column) if covered >= least and covered)

    def _may_reach(self, block: int, place: int, least: float, left: float, rest: Iterable[Held]) -> bool:
        """Say whether a chunk may cover the least, looked up term by term until it cannot any more."""
        covered = self._sums[block][place]
        for term in rest:
            covered += term.share(block, place, self._damped[block][place])
            left -= term.bound
            if covered + left < least:
                return False
        return True

    def _found(self, block: int, place: int) -> Found:
        return Found.of(self._terms, block, place, self._damped[block][place])
