"""Values of a statement."""

import json
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Any, Final

_AT_ONCE: Final = (16, 64, 200)
"""Terms that are looked up by one statement: of few sizes, so that statements are prepared once."""


_MOST: Final = 500
"""Numbers with a mark each. A statement of SQLite has 32,766 marks at most, and some are made for 999."""


def read_one_row(numbers: Sequence[int]) -> tuple[str, Sequence[Any]]:
    """Return a condition that what stands before it is one of some numbers, however many they are, and its values."""
    if len(numbers) <= _MOST:
        return f"IN ({_make_sql_marks(numbers)})", numbers
    return "IN (SELECT value FROM json_each(?))", [json.dumps(numbers)]  # which takes longer for few


def read_value_rows(
    connection: sqlite3.Connection, statement: str, of: Sequence[Any], terms: Iterable[str], *, column: str = "term"
) -> Iterator[tuple[Any, ...]]:
    """Yield the rows that a statement finds of terms."""
    wanted = iter(sorted(terms))
    while some := list(islice(wanted, _AT_ONCE[-1])):
        size = next(size for size in _AT_ONCE if size >= len(some))
        some += [""] * (size - len(some))
        yield from connection.execute(f"{statement} AND {column} IN ({_make_sql_marks(some)})", [*of, *some])


def look_up_index_rows(
    connection: sqlite3.Connection, statement: str, of: Sequence[int], terms: Iterable[str]
) -> dict[str, tuple[Any, ...]]:
    """Return what a statement that begins with the term finds of terms, by term; each is in one row at most."""
    return {row[0]: row[1:] for row in read_value_rows(connection, statement, of, terms)}


def read_rows_by_key(connection: sqlite3.Connection, statement: str, keys: Iterable[int]) -> dict[int, tuple[Any, ...]]:
    """Return what a statement that begins with the key finds of keys, by key."""
    wanted, found = iter(sorted(keys)), dict[int, tuple[Any, ...]]()
    while some := list(islice(wanted, _AT_ONCE[-1])):
        size = next(size for size in _AT_ONCE if size >= len(some))
        some += [some[-1]] * (size - len(some))  # no other number: a refused chunk may have any
        rows = connection.execute(f"{statement} ({_make_sql_marks(some)})", some)
        found |= {row[0]: row[1:] for row in rows}
    return found


def _make_sql_marks(values: Iterable[object]) -> str:
    return ", ".join(["?" for _ in values])
