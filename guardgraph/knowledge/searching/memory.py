"""What is kept in memory of a file that is searched, each until something of what it was read from changes."""

from __future__ import annotations

import sqlite3
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import count
from operator import itemgetter
from typing import Any, Final, NamedTuple, TypeAlias

from guardgraph.knowledge.searching.arithmetic import Arithmetic, Column, PostingRow, choose_posting_arithmetic
from guardgraph.knowledge.searching.views import Latest, Often, StatisticsPart, View, Views
from guardgraph.knowledge.storing.postings import (
    BLOCK,
    LENGTH_BYTES,
    make_index_term,
    make_posting_key,
    read_posting_number,
)
from guardgraph.knowledge.storing.scopes import read_one_row, read_rows_by_key, read_value_rows

_BLOCKS: Final = 64
"""Of a span. More take more memory while they are searched, fewer more time."""

_KEPT: Final = 1 << 20
"""Places that are kept in memory, with a number of eight bytes for each; without numpy with five."""

_LEAST_OF_SPANS: Final = 1 << 10
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
    """The spans of what was searched last."""

    def __init__(self, numpy_from: float) -> None:
        self._numpy_from = numpy_from
        self._numbers = count()
        self._kept = Latest[object, tuple[PostingSpan, ...]](_KEPT)

    def of(
        self, connection: sqlite3.Connection, parts: Sequence[StatisticsPart], average: float
    ) -> tuple[PostingSpan, ...]:
        """Return the spans of some parts."""
        key = (average, *((part.id, part.changed) for part in parts))
        spans = self._kept.get(key)
        if spans is None:
            spans = tuple(self._read(connection, parts, average))
            self._kept.keep(
                key, spans, max(_LEAST_OF_SPANS, _OF_PART * len(parts) + sum(span.places for span in spans))
            )
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


Numbers: TypeAlias = tuple[tuple[int, int], ...]
"""The parts in which a term counts, and its number in each; sorted."""

_COLUMNS_ROOM: Final = 48 << 20
"""Bytes of memory that columns take at most."""

_LEAST_OF_COLUMN: Final = 512
_OF_NUMBER: Final = 128
"""Bytes for which a column counts beside its postings, and each number of its term."""

_POSTINGS: Final = "SELECT id, size, data FROM postings WHERE id IN"


class Columns:
    """Reads columns. Those of a span are of no use when a chunk of it changes: it is another span then."""

    def __init__(self) -> None:
        self._kept = Often[tuple[int, Numbers], Column](_COLUMNS_ROOM)

    def of(
        self, connection: sqlite3.Connection, span: PostingSpan, terms: Collection[Numbers]
    ) -> dict[Numbers, Column]:
        """Return the columns of terms in a span."""

        def read(missing: Iterable[tuple[int, Numbers]]) -> dict[tuple[int, Numbers], tuple[Column, int]]:
            columns = _read_posting_column(connection, span, [term for _, term in missing])
            return {
                (span.number, term): (each, _LEAST_OF_COLUMN + _OF_NUMBER * len(term) + each.bytes_taken)
                for term, each in columns.items()
            }

        columns = self._kept.of({(span.number, term) for term in terms}, read)
        return {term: column for (_, term), column in columns.items()}


def _read_posting_column(
    connection: sqlite3.Connection, span: PostingSpan, terms: Collection[Numbers]
) -> dict[Numbers, Column]:
    numbers = defaultdict[int, defaultdict[int, list[Numbers]]](lambda: defaultdict(list))
    for term in terms:
        for part, number in term:
            numbers[part][number].append(term)
    keys = {
        make_posting_key(row, number): (block, having)
        for row, (part, block) in span.rows.items()
        if part in numbers
        for number, having in numbers[part].items()
    }
    rows: dict[Numbers, list[PostingRow]] = {term: [] for term in terms}
    for at, (size, data) in read_rows_by_key(connection, _POSTINGS, keys).items():
        block, having = keys[at]
        for term in having:
            rows[term].append(PostingRow(block, size, data))
    for held in rows.values():
        held.sort(key=itemgetter(0))
    return span.arithmetic.columns(span.damped, rows)


Said: TypeAlias = tuple[int, tuple[str, ...]]
"""A reading, and a term in it: one form, or that of each language."""

_Key: TypeAlias = tuple[int, int, tuple[str, ...]]
"""The number of a view, and what is said."""

_COUNTS_ROOM: Final = 1 << 16
"""Numbers that are kept, each of which takes some hundred bytes."""

_LEAST_OF_COUNT: Final = 4
"""Numbers for which a term counts beside its own."""

_CHARACTERS: Final = 128
"""Of a term, for which it counts as another number: a question of a hundred thousand may be one word."""

_WORDS: Final = "SELECT part, term, id, holders, most FROM words"


class Counted(NamedTuple):
    """What is counted of a term."""

    holders: int
    """How many passages have it."""
    most: int
    """The largest count that one of them has."""
    numbers: Numbers


class _CountRow(NamedTuple):
    part: int
    term: str
    id: int
    holders: int
    most: int


class Counts:
    """Reads counts. Those of a view are of no use when something in it changes: it is another view then."""

    def __init__(self) -> None:
        self._kept = Often[_Key, Counted](_COUNTS_ROOM)

    def of(self, connection: sqlite3.Connection, view: View, terms: Collection[Said]) -> dict[Said, Counted]:
        """Return what is counted of terms."""

        def read(missing: Collection[_Key]) -> dict[_Key, tuple[Counted, int]]:
            counts = _read_word_counts(connection, view, [key[1:] for key in missing])
            return {(view.number, *said): (each, _measure_counts_memory(said, each)) for said, each in counts.items()}

        counts = self._kept.of({(view.number, *said) for said in terms}, read)
        return {key[1:]: counted for key, counted in counts.items()}


def _measure_counts_memory(said: Said, counted: Counted) -> int:
    """Return how many numbers a term counts for."""
    return _LEAST_OF_COUNT + len(counted.numbers) + sum(map(len, said[1])) // _CHARACTERS


def _read_word_counts(connection: sqlite3.Connection, view: View, terms: Collection[Said]) -> dict[Said, Counted]:
    among = [[part.id for part in view.parts if part.language == language] for language in view.languages]
    everywhere = [part.id for part in view.parts]
    forms = {said: [make_index_term(said[0], form) for form in said[1]] for said in terms}
    known = _read_count_rows(connection, everywhere, {form for some in forms.values() for form in some})
    found = dict[Said, Counted]()
    for said, some in forms.items():
        there = zip(some, [everywhere] if said[0] else among, strict=True)
        held = [row for form, parts in there for part in parts if (row := known.get((part, form)))]
        found[said] = Counted(
            holders=sum([row.holders for row in held]),
            most=max([row.most for row in held], default=0),
            numbers=tuple(sorted([(row.part, read_posting_number(row.id)) for row in held])),
        )
    return found


def _read_count_rows(
    connection: sqlite3.Connection, parts: Sequence[int], forms: Iterable[str]
) -> dict[tuple[int, str], _CountRow]:
    """Return what is counted of terms in parts, by part and term."""
    among, values = read_one_row(parts)
    rows = map(_CountRow._make, read_value_rows(connection, f"{_WORDS} WHERE part {among}", values, forms))
    return {(row.part, row.term): row for row in rows}


class Memory:
    """What a search need not read again. Several threads may ask for it at once."""

    def __init__(self, numpy_from: float) -> None:
        self.views = Views()
        self.counts = Counts()
        self.spans = Spans(numpy_from)
        self.columns = Columns()
