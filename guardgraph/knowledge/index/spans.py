"""Spans: blocks that are searched together, and what is kept of them in memory until a chunk of theirs changes."""

from __future__ import annotations

import sqlite3
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import count
from typing import Any, Final, NamedTuple

from guardgraph.knowledge.index.arithmetic import Arithmetic, choose_posting_arithmetic
from guardgraph.knowledge.index.kept import Latest
from guardgraph.knowledge.index.postings import BLOCK, LENGTH_BYTES
from guardgraph.knowledge.index.statistics import StatisticsPart
from guardgraph.knowledge.index.values import read_one_row

_BLOCKS: Final = 64
"""Of a span. More take more memory while they are searched, fewer more time."""

_KEPT: Final = 1 << 20
"""Places that are kept in memory, with a number of eight bytes for each; without numpy with five."""

_LEAST: Final = 1 << 10
_OF_PART: Final = 16
"""Places for which those of a set of parts count at least, and each part: what else is kept takes memory, too."""


class PostingSpan(NamedTuple):
    """Blocks that are searched together."""

    number: int
    """No other span has it."""
    blocks: Sequence[int]
    rows: Mapping[int, tuple[int, int]]
    """By the number of a row of lengths, under which postings stand: its part, and the place of its block here."""
    places: int
    arithmetic: Arithmetic
    damped: Any
    """By what counts are damped, as the arithmetic has it."""

    def chunk(self, block: int, place: int) -> int:
        """Return the number of the chunk at a place of a block."""
        return self.blocks[block] * BLOCK + place


class Spans:
    """The spans of what was searched last.

    Args:
        numpy_from: from so many places on numpy computes, where it is installed.
    """

    def __init__(self, numpy_from: float) -> None:
        self._numpy_from = numpy_from
        self._numbers = count()
        self._kept = Latest[object, tuple[PostingSpan, ...]](_KEPT)

    def of(
        self, connection: sqlite3.Connection, parts: Sequence[StatisticsPart], average: float
    ) -> tuple[PostingSpan, ...]:
        """Return the spans of some parts.

        Args:
            connection: in a transaction.
            parts: those that are searched, in one order.
            average: words of a passage, by which the counts of all are damped.
        """
        key = (average, *((part.id, part.changed) for part in parts))
        spans = self._kept.get(key)
        if spans is None:
            spans = tuple(self._read(connection, parts, average))
            self._kept.keep(key, spans, max(_LEAST, _OF_PART * len(parts) + sum(span.places for span in spans)))
        return spans

    def _read(
        self, connection: sqlite3.Connection, parts: Sequence[StatisticsPart], average: float
    ) -> Iterator[PostingSpan]:
        rows, lengths = defaultdict[int, list[tuple[int, int, bytes]]](list), defaultdict[int, list[bytes]](list)
        among, values = read_one_row([part.id for part in parts])
        statement = f"SELECT block, id, part, data FROM lengths WHERE part {among} ORDER BY part, block"
        for block, row, of, data in connection.execute(statement, values):
            rows[block].append((row, of, data))
            lengths[of].append(data)
        places = {block: max(len(data) for *_, data in held) // LENGTH_BYTES for block, held in rows.items()}
        computes = choose_posting_arithmetic(sum(places.values()), self._numpy_from)
        for part in parts:
            if computes.words(lengths[part.id]) != part.words:  # a place would be taken for one of another block
                raise ValueError(f"lengths of part {part.id}")
        blocks = sorted(rows)
        for begin in range(0, len(blocks), _BLOCKS):
            some = blocks[begin : begin + _BLOCKS]
            there = {row: (part, at) for at, block in enumerate(some) for row, part, _ in rows[block]}
            damped = computes.damped([[data for *_, data in rows[block]] for block in some], average)
            yield PostingSpan(next(self._numbers), some, there, sum(places[block] for block in some), computes, damped)
