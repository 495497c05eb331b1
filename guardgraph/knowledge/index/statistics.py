"""What is known of the words of all that a caller may read, and of nothing else.

A scope is a combination of tenant, source and readers that documents have; a caller may read some of them.
"""

from __future__ import annotations

import json
import sqlite3
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import count
from typing import Final, NamedTuple, TypeAlias

from guardgraph.knowledge.index.kept import Latest
from guardgraph.knowledge.index.postings import KINDS, NAME
from guardgraph.knowledge.index.values import read_one_row
from guardgraph.state.context import Access, Caller, is_access_allowed
from guardgraph.tools.relevance import Known, most_common


class Scope(NamedTuple):
    """Where documents are that the same callers may read."""

    id: int
    source: str
    access: Access


def make_scope_key(tenant: str | None) -> str:
    """Return a tenant as it is kept: a text, also where there is none."""
    return "" if tenant is None else f"+{tenant}"


def read_scope_tenant(key: str) -> str | None:
    """Return the tenant of a key."""
    return key[1:] or None if not key else key[1:]


def show_scope_tenant(name: object, key: object) -> str:
    """Return how a name is shown beside those of other tenants; whatever the cells may hold."""
    return f"{name!s:.200} of {key[1:]:.80}" if isinstance(key, str) and key else f"{name!s:.200}"


def intern_scope(connection: sqlite3.Connection, source: str, access: Access) -> int:
    """Return the number of a scope, which is made when it is new."""
    row = [make_scope_key(access.tenant), source, json.dumps(access.readers, ensure_ascii=False)]
    connection.execute("INSERT OR IGNORE INTO scopes (tenant, source, readers) VALUES (?, ?, ?)", row)
    found = connection.execute("SELECT id FROM scopes WHERE tenant = ? AND source = ? AND readers = ?", row)
    return int(found.fetchone()[0])


def list_index_scopes(connection: sqlite3.Connection) -> dict[int, Scope]:
    """Return all scopes, by number."""
    return {
        number: Scope(number, source, Access(read_scope_tenant(tenant), tuple(json.loads(readers))))
        for number, tenant, source, readers in connection.execute("SELECT id, tenant, source, readers FROM scopes")
    }


def list_permitted_scopes(connection: sqlite3.Connection, caller: Caller | None) -> dict[int, Scope]:
    """Return the scopes that a caller may read."""
    return {
        number: scope
        for number, scope in list_index_scopes(connection).items()
        if is_access_allowed(scope.access, caller)
    }


_COUNTED: Final = 1 << 17
"""Parts of the sets of which it is kept in memory how many words occur once."""

_KEPT: Final = 1 << 14
"""Scopes and parts of views that are kept in memory, and readers of those who asked."""

_CHANGES: Final = "SELECT value FROM state WHERE name = 'changes'"
_ONCE: Final = "SELECT stems_once, words_once, beginnings_once FROM parts WHERE id = ?"
_MORE: Final = """
    SELECT substr(added.term, 1, 1), sum((added.total = 1 AND held.total IS NULL) - coalesce(held.total = 1, 0))
    FROM (SELECT term, sum(total) AS total FROM words WHERE part {} GROUP BY term) AS added
    LEFT JOIN words AS held ON held.part = ? AND held.term = added.term GROUP BY 1
"""
"""By how many words that occur once some parts make those of another one more."""


class StatisticsPart(NamedTuple):
    """The chunks of a scope that are read in one language.

    A chunk that does not tell its language is read in the one that most of what a caller may read is in, so such chunks
    are kept as read in each language of the file; of these parts a caller reads one.
    """

    id: int
    scope: int
    language: str
    passages: int
    words: int
    changed: int
    """By it a part is known to be what it was."""


class View(NamedTuple):
    """All that a caller may read."""

    scopes: Mapping[int, Scope]
    parts: tuple[StatisticsPart, ...]
    language: str
    """That most of it is in."""
    languages: tuple[str, ...]
    """All of it, sorted."""
    known: tuple[Known, ...]
    """By reading."""
    number: int = 0
    """By it the parts are known to be what they were."""


Once: TypeAlias = Latest[tuple[tuple[int, int], ...], tuple[int, ...]]
"""How many words occur once, by what parts are known by to be what they were."""


class Views:
    """What those may read who asked last, until something in the file changes."""

    def __init__(self) -> None:
        self._once = Once(_COUNTED)
        self._numbers = count(1)
        self._numbered = Latest[tuple[StatisticsPart, ...], int](_KEPT)
        self._kept = Latest[object, View](_KEPT)

    def of(self, connection: sqlite3.Connection, caller: Caller | None) -> View:
        """Return what a caller may read; None is somebody of whom nothing is known.

        Args:
            connection: in a transaction.
            caller: who asks.
        """
        changes = connection.execute(_CHANGES).fetchone()
        readers = caller.readers if caller else ()
        key = changes, caller and (caller.tenant, readers)
        view = self._kept.get(key)
        if view is None:
            view = self.over(connection, list_permitted_scopes(connection, caller))
            self._kept.keep(key, view, 1 + len(view.scopes) + len(view.parts) + len(readers))
        return view

    def over(self, connection: sqlite3.Connection, scopes: Mapping[int, Scope]) -> View:
        """Return what somebody may read who may read some scopes."""
        view = read_scope_view(connection, scopes, self._once)
        number = self._numbered.get(view.parts) or next(self._numbers)
        self._numbered.keep(view.parts, number, 1 + len(view.parts))
        return view._replace(number=number)


def read_scope_view(connection: sqlite3.Connection, scopes: Mapping[int, Scope], once: Once) -> View:
    """Return what a caller may read.

    Args:
        connection: in a transaction.
        scopes: those that he may read.
        once: what is kept of how many words of sets of parts occur once.
    """
    columns = "told, id, scope, language, passages, words, changed"
    rows = connection.execute(f"SELECT {columns} FROM parts WHERE passages > 0 ORDER BY id")
    found = [(is_told, part) for is_told, *rest in rows if (part := StatisticsPart(*rest)).scope in scopes]
    told = Counter[str]()
    for is_told, part in found:
        if is_told:
            told[part.language] += part.passages
    language = most_common(told)
    parts = tuple(part for is_told, part in found if is_told or part.language == language)
    passages, words = sum(part.passages for part in parts), sum(part.words for part in parts)
    key = tuple((part.id, part.changed) for part in parts)
    counts = once.get(key)
    if counts is None:
        counts = _merge_scope_counts(connection, parts)
        once.keep(key, counts, 1 + len(key))
    known = tuple(Known(passages, words, single) for single in counts)
    languages = tuple(sorted({part.language for part in parts}))
    return View(scopes, parts, language, languages, known)


def _merge_scope_counts(connection: sqlite3.Connection, parts: Sequence[StatisticsPart]) -> tuple[int, ...]:
    """Count the words that occur once in some parts, by reading.

    Of the part that has most of all words it is known; there, those are left out that others have, too.
    """
    largest = max(parts, key=lambda part: part.words, default=None)
    if largest is None or 2 * largest.words < sum(part.words for part in parts):
        largest = None
    others = [part.id for part in parts if part is not largest]
    known = connection.execute(_ONCE, [largest and largest.id]).fetchone() or [0] * len(KINDS)
    among, values = read_one_row(others)
    rows = connection.execute(_MORE.format(among), [*values, largest and largest.id])
    more = dict(rows.fetchall())
    return tuple(once + more.get(kind, 0) + more.get(NAME, 0) for once, kind in zip(known, KINDS, strict=True))
