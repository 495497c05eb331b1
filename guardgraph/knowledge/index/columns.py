"""Columns: where terms stand in a span, read from the file or, of terms that are asked for often, kept in memory."""

from __future__ import annotations

import sqlite3
from collections import defaultdict
from collections.abc import Collection, Iterable
from typing import Final, TypeAlias

from guardgraph.knowledge.index.arithmetic import Column, PostingRow
from guardgraph.knowledge.index.kept import Often
from guardgraph.knowledge.index.postings import make_posting_key
from guardgraph.knowledge.index.spans import PostingSpan
from guardgraph.knowledge.index.values import read_rows_by_key

Numbers: TypeAlias = tuple[tuple[int, int], ...]
"""The parts in which a term counts, and its number in each; sorted."""

_ROOM: Final = 48 << 20
"""Bytes of memory that columns take at most."""

_LEAST: Final = 512
_OF_NUMBER: Final = 128
"""Bytes for which a column counts beside its postings, and each number of its term."""

_POSTINGS: Final = "SELECT id, size, data FROM postings WHERE id IN"


class Columns:
    """Reads columns. Those of a span are of no use when a chunk of it changes: it is another span then."""

    def __init__(self) -> None:
        self._kept = Often[tuple[int, Numbers], Column](_ROOM)

    def of(
        self, connection: sqlite3.Connection, span: PostingSpan, terms: Collection[Numbers]
    ) -> dict[Numbers, Column]:
        """Return the columns of terms in a span."""

        def read(missing: Iterable[tuple[int, Numbers]]) -> dict[tuple[int, Numbers], tuple[Column, int]]:
            columns = _read_posting_column(connection, span, [term for _, term in missing])
            return {
                (span.number, term): (each, _LEAST + _OF_NUMBER * len(term) + each.bytes_taken)
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
    return {
        term: span.arithmetic.column(span.damped, sorted(held, key=lambda row: row.block))
        for term, held in rows.items()
    }
