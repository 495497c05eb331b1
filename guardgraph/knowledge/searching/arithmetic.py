"""What is computed of postings, and by what: numpy where there is much of it and numpy is there, else Python alone."""

# Both do the same operations on the same numbers in the same order, so what they return is the same to the last digit.

from __future__ import annotations

import sys
from array import array
from bisect import bisect_left
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from heapq import nlargest
from math import inf
from typing import Any, Final, NamedTuple, Protocol, TypeVar

from guardgraph.knowledge.storing.postings import Cells, decode_chunk_lengths, decode_postings
from guardgraph.tools.relevance import damping, share

Key = TypeVar("Key", bound=Hashable)
"""By what a term is known."""

NUMPY_FROM: Final = 4096
"""Places. With fewer, Python alone takes less time than it takes to load numpy."""

_LOADED_FROM: Final = 256
"""Places, where numpy is loaded anyhow. With fewer, Python alone takes no longer."""


class PostingRow(NamedTuple):
    """What a block has of a term."""

    block: int
    """Its place among those that are searched."""
    size: int
    """How many of its chunks have the term."""
    data: bytes
    """Their postings."""


class Column(Protocol):
    """What some blocks have of a term, as it is computed with."""

    @property
    def size(self) -> int:
        """How many chunks have the term."""

    @property
    def bytes_taken(self) -> int:
        """Of memory."""


class Held(NamedTuple):
    """A term, and what some blocks have of it."""

    weight: float
    bound: float
    """More than that no chunk covers of it."""
    column: Any
    """A `Column`, as the arithmetic has it."""


class FoundPostings(NamedTuple):
    """What a chunk covers of all terms, summed in their order."""

    block: int
    """Its place among those that are searched."""
    place: int
    covered: float


class Sums(Protocol):
    """What each chunk of some blocks covers of the terms that were added."""

    def add(self, terms: Sequence[Held]) -> None:
        """Add what all chunks cover of some terms; where these are all, and in order, nothing is summed again."""

    def highest(self, wanted: int) -> list[FoundPostings]:
        """Return chunks that cover as much as any, about as many as wanted."""

    def reaching(self, least: float, rest: Sequence[Held]) -> list[FoundPostings]:
        """Return the chunks that cover so much of all terms; of those that cover nothing, none."""


class Arithmetic(Protocol):
    """What computes."""

    few: int
    """Postings. It takes no longer to add up so many than to find out which of them need not be."""

    def words(self, lengths: Iterable[bytes]) -> int:
        """Return how many words chunks have together."""

    def damped(self, blocks: Iterable[Sequence[bytes]], average: float) -> Any:
        """Return by what counts are damped at each place; where nobody is, so much that nothing of a count is left."""

    def columns(self, damped: Any, terms: Mapping[Key, Sequence[PostingRow]]) -> dict[Key, Any]:
        """Return what blocks have of terms, each a `Column` as it is computed with."""

    def sums(self, damped: Any, terms: Sequence[Held]) -> Sums:
        """Return nothing for each chunk, to which terms are added, some of all."""


def choose_posting_arithmetic(places: int, numpy_from: float = NUMPY_FROM) -> Arithmetic:
    """Return what computes with so many places."""
    enough = min(numpy_from, _LOADED_FROM) if "numpy" in sys.modules and numpy_from < inf else numpy_from
    return _make_numpy_arithmetic() if places >= enough else _make_plain_arithmetic()


@cache
def _make_numpy_arithmetic() -> Arithmetic:
    try:
        from guardgraph.knowledge.searching.by_numpy import ByNumpy
    except ImportError:  # the extra `kb` is not installed
        return _make_plain_arithmetic()
    return ByNumpy()


@cache
def _make_plain_arithmetic() -> Arithmetic:
    return Plain()


_TABLED: Final = 4
"""Counts up to this one have tables: to look a share up takes half the time that it takes to compute it."""

_FEW: Final = 4096

_OF_ROW: Final = 320
"""Bytes of memory that what a block has of a term takes beside its postings."""

_STRETCH: Final = 256
"""Places of which the highest is sought."""


class _Damped:
    """By what counts are damped at each place of a block."""

    def __init__(self, lengths: Sequence[int], average: float) -> None:
        by_length = {length: damping(length, average) for length in set(lengths)} | {0: inf}
        self.damped = list(map(by_length.__getitem__, lengths))
        self.shares = [list[float]()]
        """By count what it is of itself and what damps it."""
        for count in range(1, _TABLED + 1):
            of_count = {length: share(count, damped) for length, damped in by_length.items()}
            self.shares.append(list(map(of_count.__getitem__, lengths)))


class _Column(NamedTuple):
    """Where a term stands, and how often."""

    size: int
    bytes_taken: int
    cells: dict[int, list[Cells]]
    """By block."""

    def share(self, block: int, place: int, damped: float) -> float:
        """Return what a chunk's count is of itself and what damps it."""
        for places, counts in self.cells.get(block, ()):
            at = bisect_left(places, place)
            if at < len(places) and places[at] == place:
                return share(counts[at], damped)
        return 0.0


class Plain:
    """Adds up place by place, and looks up what is left to be known of few of them."""

    few = _FEW

    def words(self, lengths: Iterable[bytes]) -> int:
        """As `Arithmetic.words`."""
        return sum(map(sum, map(decode_chunk_lengths, lengths)))

    def damped(self, blocks: Iterable[Sequence[bytes]], average: float) -> list[_Damped]:
        """As `Arithmetic.damped`."""
        return [_Damped(_read_chunk_lengths(parts), average) for parts in blocks]

    def columns(self, damped: object, terms: Mapping[Key, Sequence[PostingRow]]) -> dict[Key, _Column]:
        """As `Arithmetic.columns`."""
        return {term: _decode_column(rows) for term, rows in terms.items()}

    def sums(self, damped: Sequence[_Damped], terms: Sequence[Held]) -> _Sums:
        """As `Arithmetic.sums`."""
        return _Sums(damped, terms)


def _decode_column(rows: Sequence[PostingRow]) -> _Column:
    cells = dict[int, list[Cells]]()
    for block, size, data in rows:
        cells.setdefault(block, []).append(decode_postings(size, data))
    return _Column(sum(row.size for row in rows), sum(_OF_ROW + len(row.data) for row in rows), cells)


def _read_chunk_lengths(parts: Sequence[bytes]) -> array[int]:
    """Return how long the chunks of a block are, each of which is in one part."""
    longest, *others = sorted(map(decode_chunk_lengths, parts), key=len, reverse=True)
    for lengths in others:
        longest[: len(lengths)] = array(lengths.typecode, map(max, lengths, longest))
    return longest


class _Sums:
    def __init__(self, blocks: Sequence[_Damped], terms: Sequence[Held]) -> None:
        self._blocks = blocks
        self._terms = terms
        self._sums = [[0.0] * len(block.damped) for block in blocks]
        self._added: list[Held] = []

    def add(self, terms: Sequence[Held]) -> None:
        self._added += terms
        for term in terms:
            weight = term.weight
            for block, some in term.column.cells.items():
                sums, shares, damped = self._sums[block], self._blocks[block].shares, self._blocks[block].damped
                for cells in some:
                    for place, count in zip(*cells, strict=True):
                        covered = shares[count][place] if count <= _TABLED else share(count, damped[place])
                        sums[place] += weight * covered

    def highest(self, wanted: int) -> list[FoundPostings]:
        stretches = (
            (max(sums[begin : begin + _STRETCH]), block, begin)
            for block, sums in enumerate(self._sums)
            for begin in range(0, len(sums), _STRETCH)
        )
        best = nlargest(wanted, stretches)
        return [self._found(block, self._sums[block].index(most, begin)) for most, block, begin in best if most]

    def reaching(self, least: float, rest: Sequence[Held]) -> list[FoundPostings]:
        left = sum(term.bound for term in rest)
        found = (self._found(*at) for at in self._at_least(least - left) if self._may_reach(*at, least, left, rest))
        return [hit for hit in found if hit.covered >= least]

    def _at_least(self, least: float) -> Iterator[tuple[int, int]]:
        """Yield where more than nothing is covered, and so much."""
        for block, sums in enumerate(self._sums):
            if max(sums, default=0.0) >= least:
                yield from ((block, place) for place, covered in enumerate(sums) if covered >= least and covered)

    def _may_reach(self, block: int, place: int, least: float, left: float, rest: Iterable[Held]) -> bool:
        """Say whether a chunk may cover the least, looked up term by term until it cannot any more."""
        covered = self._sums[block][place]
        for term in rest:
            covered += term.weight * term.column.share(block, place, self._blocks[block].damped[place])
            left -= term.bound
            if covered + left < least:
                return False
        return True

    def _found(self, block: int, place: int) -> FoundPostings:
        covered = self._sums[block][place] if self._added == self._terms else self._summed_again(block, place)
        return FoundPostings(block, place, covered)

    def _summed_again(self, block: int, place: int) -> float:
        covered, damped = 0.0, self._blocks[block].damped[place]
        for term in self._terms:  # not by `sum`, which adds up otherwise from Python 3.12 on
            covered += term.weight * term.column.share(block, place, damped)
        return covered
