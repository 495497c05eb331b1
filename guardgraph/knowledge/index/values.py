"""Values of a statement."""

import sqlite3
from collections.abc import Iterable, Sequence
from itertools import islice
from typing import Any, Final

__all__ = ["looked_up", "marks"]

_AT_ONCE: Final = 200
"""Terms that are looked up by one statement."""


def marks(values: Iterable[object]) -> str:
    """Return a question mark for each value."""
    return ", ".join("?" for _ in values)


def looked_up(
    connection: sqlite3.Connection, statement: str, of: Sequence[int], terms: Iterable[str]
) -> dict[str, tuple[Any, ...]]:
    """Return what a statement that begins with the term finds of terms, by term.

    Args:
        connection: in a transaction.
        statement: with a condition at its end.
        of: its values.
        terms: those that are looked up.
    """
    found, wanted = dict[str, tuple[Any, ...]](), iter(sorted(terms))
    while some := list(islice(wanted, _AT_ONCE)):
        some += [""] * (_AT_ONCE - len(some))  # so that the statement is one that is prepared
        rows = connection.execute(f"{statement} AND term IN ({', '.join('?' * _AT_ONCE)})", [*of, *some])
        found |= {term: tuple(rest) for term, *rest in rows}
    return found
