"""Which chunks cover most of what a question says, found without reading all postings of its common terms."""

from __future__ import annotations

import sqlite3
from array import array
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator, Sequence
from heapq import nlargest
from operator import itemgetter
from typing import Final, NamedTuple

from guardgraph.knowledge.index.postings import BLOCK, decoded, lengths_of
from guardgraph.knowledge.index.values import marks, rows_of
from guardgraph.tools.relevance import damping

__all__ = ["Gathering", "Term"]

_SLACK: Final = 1e-9
"""More than sums of some thousand weights differ when they are added up in another order."""


_FEW: Final = 4
"""Times what is wanted: so few chunks are summed one by one."""

_LOOKED_UP: Final = 6
"""To look a chunk up takes as long as to read so many of a term's chunks."""

_SOUGHT: Final = 16
"""Blocks that are sought one by one; of more, all of a term are read in turn."""

_BLOCK: Final = (
    "SELECT term, lengths.part, size, postings.data FROM lengths JOIN words ON words.part = lengths.part "
    "JOIN postings ON postings.id = ((lengths.id << 32) | (words.id & 0xFFFFFFFF)) WHERE block = ?"
)
_ONE_BLOCK: Final = (
    "SELECT size, postings.data FROM lengths JOIN words ON words.part = lengths.part "
    "JOIN postings ON postings.id = ((lengths.id << 32) | (words.id & 0xFFFFFFFF)) "
    "WHERE term = ? AND lengths.part = ? AND block = ?"
)


class _Cells(NamedTuple):
    """Three columns of the same length, of chunks that are there."""

    chunks: Sequence[int]
    """Their places in the block, rising."""
    counts: Sequence[int]
    lengths: Sequence[int]

    def at(self, chunk: int) -> tuple[int, int] | None:
        """Return the count and the length of a chunk, None where it does not have the term."""
        at = bisect_left(self.chunks, chunk)
        if at == len(self.chunks) or self.chunks[at] != chunk:
            return None
        return self.counts[at], self.lengths[at]


def _cells(size: int, data: bytes, lengths: array[int]) -> _Cells:
    places, counts = decoded(size, data)
    held = [lengths[place] for place in places]
    if 0 not in held:
        return _Cells(places, counts, held)
    there = [row for row in zip(places, counts, held, strict=True) if row[2]]
    return _Cells(*(list(column) for column in zip(*there, strict=True))) if there else _Cells((), (), ())


class Term(NamedTuple):
    """A term of a question that some passages have."""

    weight: float
    most: int
    """The largest count that a passage has."""
    holders: int
    forms: tuple[tuple[str, Sequence[int]], ...]
    """Its keys, each with the parts in which it counts."""
    stem: int | None = None
    """Of a spelling, the place of its stem among the terms: whatever has the one has the other."""


class _Damped(dict[int, float]):
    """Damping by length, computed once."""

    def __init__(self, average: float) -> None:
        super().__init__()
        self._average = average

    def __missing__(self, length: int) -> float:
        self[length] = damped = damping(length, self._average)
        return damped


class Gathering:
    """Finds the chunks that cover most.

    Terms that tell chunks apart are read whole, and the best chunks so far are summed over all terms: that is what a
    chunk must cover at least. As soon as the terms that are left could not lift a new chunk so far, they are looked up
    only for chunks that may still be among the best (Turtle and Flood, Query evaluation: strategies and optimizations,
    1995). What is returned is summed in the order of the formula, so that no score depends on the way.

    Args:
        connection: in a transaction.
        terms: of the question, in the order of the formula.
        average: words of a passage.
        parts: those that are searched.
        wanted: how many chunks.
    """

    def __init__(
        self, connection: sqlite3.Connection, terms: Sequence[Term], *, average: float, parts: set[int], wanted: int
    ) -> None:
        self._connection = connection
        self._terms = terms
        self._held = [
            tuple((key, tuple(part for part in among if part in parts)) for key, among in term.forms) for term in terms
        ]
        self._wanted = wanted
        self._damped = _Damped(average)
        statement = f"SELECT part, block, data FROM lengths WHERE part IN ({marks(parts)})"
        self._lengths = {
            (part, block): lengths_of(data) for part, block, data in connection.execute(statement, [*parts])
        }
        self._blocks_of = defaultdict[int, list[int]](list)
        for part, block in self._lengths:
            self._blocks_of[part].append(block)
        self._covered: dict[int, float] | defaultdict[int, float] = {}
        """What chunks cover of the terms that were read."""
        self._summed: dict[int, float] = {}
        """What chunks cover of all terms."""
        self._least = 0.0
        """What a chunk must cover at least to be among the best, as far as that is known."""
        self._read: list[dict[int, list[_Cells]]] = [{} for _ in terms]
        """Of each term the blocks that were read; more than one where several parts have chunks in it."""

    def best(self) -> dict[int, float]:
        """Return what the best chunks cover; those that cover as much as the last of them are among them."""
        bounds = [self._bound(term) for term in self._terms]
        waiting, read = self._in_turn(bounds), 0
        while waiting and self._left(waiting, bounds, of_new=True) >= self._least:
            self._add_all(waiting.pop())
            read += 1
            if not read & (read - 1):  # after one, two, four, eight...: to do so takes time
                self._sum_best()
        waiting.sort(key=bounds.__getitem__)
        self._narrow(self._left(waiting, bounds))
        while waiting and len(self._covered) > _FEW * self._wanted:
            self._add_known(waiting.pop())
            self._narrow(self._left(waiting, bounds))
        return {chunk: self._sum(chunk) for chunk in self._covered}

    def _in_turn(self, bounds: Sequence[float]) -> list[int]:
        """Return the terms, those that weigh most for what it takes to read them last; a spelling before its stem."""
        worth = [bound / term.holders for bound, term in zip(bounds, self._terms, strict=True)]
        for number, term in enumerate(self._terms):
            if term.stem is not None:
                worth[number] = min(worth[number], worth[term.stem])
        return sorted(range(len(worth)), key=lambda number: (worth[number], self._terms[number].stem is None))

    def _left(self, waiting: Sequence[int], bounds: Sequence[float], *, of_new: bool = False) -> float:
        """Return how much the terms that were not read lift a chunk at most, or one that has none that were."""
        unread = {None, *waiting} if of_new else set()
        return sum(bounds[number] for number in waiting if not of_new or self._terms[number].stem in unread)

    def _bound(self, term: Term) -> float:
        """Return how much of a term a chunk covers at most: one that has nothing but the term."""
        return term.weight * term.most / (term.most + self._damped[term.most])

    def _narrow(self, left: float) -> None:
        """Leave out the chunks that cannot be among the best any more."""
        high = [covered for covered in self._covered.values() if covered >= self._least]
        if len(high) >= self._wanted:
            self._least = max(self._least, nlargest(self._wanted, high)[-1] * (1 - _SLACK))
        least = self._least - left - _SLACK
        self._covered = {chunk: covered for chunk, covered in self._covered.items() if covered >= least}

    def _sum_best(self) -> None:
        """Sum the best so far over all terms: the least of them is what a chunk must cover to be among the best."""
        for chunk, _ in nlargest(self._wanted, self._covered.items(), key=itemgetter(1)):
            self._sum(chunk)
        if len(self._summed) >= self._wanted:
            self._least = nlargest(self._wanted, self._summed.values())[-1] * (1 - _SLACK)

    def _sum(self, chunk: int) -> float:
        """Return what a chunk covers, summed in the order of the terms."""
        if chunk not in self._summed:
            covered, block, at = 0.0, chunk // BLOCK, chunk % BLOCK
            self._read_block(block)
            for number, term in enumerate(self._terms):
                for cells in self._read[number].get(block, ()):
                    if held := cells.at(at):
                        covered += term.weight * (held[0] / (held[0] + self._damped[held[1]]))
            self._summed[chunk] = covered
        return self._summed[chunk]

    def _add_all(self, number: int) -> None:
        """Add what all chunks cover of a term."""
        weight, damped = self._terms[number].weight, self._damped
        covered = self._covered = defaultdict(float, self._covered)
        for block, cells in self._blocks(number):
            first = block * BLOCK
            for chunk, count, length in zip(*cells, strict=True):
                covered[first + chunk] += weight * (count / (count + damped[length]))

    def _add_known(self, number: int) -> None:
        """Add what the chunks that are left cover of a term."""
        weight, damped, covered = self._terms[number].weight, self._damped, self._covered
        if self._terms[number].holders > _LOOKED_UP * len(covered):
            wanted = {chunk // BLOCK for chunk in covered}
            if len(wanted) > _SOUGHT:
                self._read[number] = {block: [] for block in wanted}
                for block, cells in self._rows(number):
                    if block in wanted:
                        self._read[number][block].append(cells)
            for chunk in covered:
                for cells in self._block(number, chunk // BLOCK):
                    if held := cells.at(chunk % BLOCK):
                        covered[chunk] += weight * (held[0] / (held[0] + damped[held[1]]))
            return
        for block, cells in self._blocks(number):
            first = block * BLOCK
            for chunk, count, length in zip(*cells, strict=True):
                if first + chunk in covered:
                    covered[first + chunk] += weight * (count / (count + damped[length]))

    def _blocks(self, number: int) -> Iterator[tuple[int, _Cells]]:
        """Read all blocks of a term."""
        blocks = self._read[number] = defaultdict[int, list[_Cells]](list)
        for block, cells in self._rows(number):
            blocks[block].append(cells)
            yield block, cells

    def _rows(self, number: int) -> Iterator[tuple[int, _Cells]]:
        for key, parts in self._held[number]:
            for part in parts:
                for block in self._blocks_of[part]:
                    row = self._connection.execute(_ONE_BLOCK, [key, part, block]).fetchone()
                    if row:
                        yield block, _cells(row[0], row[1], self._lengths[part, block])

    def _read_block(self, block: int) -> None:
        """Read what of a block was not read: by few statements, since there are many terms."""
        unread: defaultdict[tuple[int, ...], defaultdict[str, list[int]]] = defaultdict(lambda: defaultdict(list))
        for number, read in enumerate(self._read):
            if block not in read and not isinstance(read, defaultdict):
                read[block] = []
                for key, parts in self._held[number]:
                    unread[parts][key].append(number)
        for parts, numbers in unread.items():
            statement = f"{_BLOCK} AND lengths.part IN ({marks(parts)})"
            for key, part, size, data in rows_of(self._connection, statement, [block, *parts], numbers):
                cells = _cells(size, data, self._lengths[part, block])
                for number in numbers[key]:
                    self._read[number][block].append(cells)

    def _block(self, number: int, block: int) -> Sequence[_Cells]:
        """Return the postings of a term in a block, by part."""
        read = self._read[number]
        if (found := read.get(block)) is None:
            if isinstance(read, defaultdict):  # all of them were read
                return ()
            found = read[block] = []
            for key, parts in self._held[number]:
                for part in parts:
                    row = self._connection.execute(_ONE_BLOCK, [key, part, block]).fetchone()
                    if row:
                        found.append(_cells(row[0], row[1], self._lengths[part, block]))
        return found
