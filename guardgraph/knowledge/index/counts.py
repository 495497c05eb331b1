"""What is counted of terms in all that a caller may read, read from the file or, where it is asked for often, kept."""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Iterable, Sequence
from typing import Final, NamedTuple, TypeAlias

from guardgraph.knowledge.index.columns import Numbers
from guardgraph.knowledge.index.kept import Often
from guardgraph.knowledge.index.postings import read_posting_number
from guardgraph.knowledge.index.statistics import View
from guardgraph.knowledge.index.values import read_one_row, read_value_rows
from guardgraph.knowledge.index.words import make_index_term

Said: TypeAlias = tuple[int, tuple[str, ...]]
"""A reading, and a term in it: one form, or that of each language."""

_Key: TypeAlias = tuple[int, int, tuple[str, ...]]
"""The number of a view, and what is said."""

_ROOM: Final = 1 << 16
"""Numbers that are kept, each of which takes some hundred bytes."""

_LEAST: Final = 4
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
        self._kept = Often[_Key, Counted](_ROOM)

    def of(self, connection: sqlite3.Connection, view: View, terms: Collection[Said]) -> dict[Said, Counted]:
        """Return what is counted of terms."""

        def read(missing: Collection[_Key]) -> dict[_Key, tuple[Counted, int]]:
            counts = _read_word_counts(connection, view, [key[1:] for key in missing])
            return {(view.number, *said): (each, _measure_counts_memory(said, each)) for said, each in counts.items()}

        counts = self._kept.of({(view.number, *said) for said in terms}, read)
        return {key[1:]: counted for key, counted in counts.items()}


def _measure_counts_memory(said: Said, counted: Counted) -> int:
    """Return how many numbers a term counts for."""
    return _LEAST + len(counted.numbers) + sum(map(len, said[1])) // _CHARACTERS


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
