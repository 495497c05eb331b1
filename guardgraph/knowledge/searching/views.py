"""What is known of the words of all that a caller may read, and of nothing else."""

from __future__ import annotations

import sqlite3
from collections import Counter, OrderedDict
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from functools import partial
from itertools import count
from threading import Lock
from typing import Any, Final, Generic, NamedTuple, TypeAlias, TypeVar

from guardgraph.knowledge.storing.postings import KINDS, NAME
from guardgraph.knowledge.storing.scopes import Scope, list_permitted_scopes, read_one_row, read_scope_rows
from guardgraph.state.context import Caller
from guardgraph.tools.relevance import Known, list_unmeasured_languages, most_common

_Key = TypeVar("_Key", bound=Hashable)
_Value = TypeVar("_Value")

_COUNTED: Final = 1 << 14
"""Keys of which it is counted how often they were asked for. With more, older times count half."""


class Latest(Generic[_Key, _Value]):
    """Keeps what was asked for last."""

    def __init__(self, room: int) -> None:
        self._room = room
        self._kept = OrderedDict[_Key, tuple[_Value, int]]()
        self._taken = 0
        self._lock = Lock()

    def get(self, key: _Key) -> _Value | None:
        """Return a value that is kept."""
        with self._lock:
            if key not in self._kept:
                return None
            self._kept.move_to_end(key)
            return self._kept[key][0]

    def keep(self, key: _Key, value: _Value, size: int) -> None:
        """Keep a value that takes so much."""
        with self._lock:
            _, before = self._kept.pop(key, (None, 0))
            self._kept[key] = value, size
            self._taken += size - before
            while len(self._kept) > 1 and self._taken > self._room:
                _, (_, freed) = self._kept.popitem(last=False)
                self._taken -= freed


class Often(Generic[_Key, _Value]):
    """Keeps what is asked for often: a value does not make room for one that was asked for less often."""

    # Each time that it stays for this reason it counts half, so what nobody asks for any more soon goes.

    def __init__(self, room: int) -> None:
        self._room = room
        self._kept = OrderedDict[_Key, tuple[_Value, int]]()
        self._taken = 0
        self._asked: dict[int, int] = {}
        """By the hash of a key, which may take much itself, how often it was asked for."""
        self._lock = Lock()

    def of(
        self, keys: Collection[_Key], read: Callable[[Sequence[_Key]], Mapping[_Key, tuple[_Value, int]]]
    ) -> dict[_Key, _Value]:
        """Return the values of keys."""
        with self._lock:
            found = {key: self._kept[key][0] for key in keys if key in self._kept}
            for hashed in map(hash, keys):
                self._asked[hashed] = self._asked.get(hashed, 0) + 1
            if len(self._asked) > _COUNTED:
                self._asked = {hashed: times // 2 for hashed, times in self._asked.items() if times > 1}
        if len(found) < len(keys):
            made = read([key for key in keys if key not in found])
            with self._lock:
                for key, (value, size) in made.items():
                    found[key] = value
                    self._keep(key, value, size)
        return found

    def _keep(self, key: _Key, value: _Value, size: int) -> None:
        """Keep a value where there is room for it, which is made where others are asked for less often."""
        while key not in self._kept and self._taken + size > self._room:
            oldest = next(iter(self._kept), key)
            times = self._asked.get(hash(oldest), 0)
            if times >= self._asked.get(hash(key), 0):
                if oldest in self._kept:
                    self._asked[hash(oldest)] = times // 2
                    self._kept.move_to_end(oldest)
                return
            self._taken -= self._kept.pop(oldest)[1]
        if key not in self._kept:
            self._kept[key] = value, size
            self._taken += size


COUNTED_PARTS: Final = 1 << 17
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
    """The chunks of a scope that are read in one language."""

    # A chunk that does not tell its language is read in the one that most of what a caller may read is in, so such
    # chunks are kept as read in each language of the file; of these parts a caller reads one.

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
    unmeasured: tuple[str, ...]
    """Where most of it is in languages for which the default `min_chunk_score` was not measured: their codes."""
    number: int = 0
    """By it the parts are known to be what they were."""


Once: TypeAlias = Latest[tuple[tuple[int, int], ...], tuple[int, ...]]
"""How many words occur once, by what parts are known by to be what they were."""


class _Permitted(NamedTuple):
    """What was read of all that a caller may read."""

    changes: object
    """The number of the last change of the file then."""
    scope_rows: Sequence[tuple[Any, ...]]
    scopes: Mapping[int, Scope]
    """Of these rows."""
    rows: Sequence[tuple[Any, ...]]
    """Of the parts in these scopes."""
    view: View


class Views:
    """What those may read who asked last, until something changes that they may read."""

    # After any change of the file, the scopes and parts of a caller are read again. Where they are what they were, as
    # after a change that is another tenant's, so is all that is kept in memory of them.

    def __init__(self) -> None:
        self._once = Once(COUNTED_PARTS)
        self._numbers = count(1)
        self._numbered = Latest[tuple[StatisticsPart, ...], int](_KEPT)
        self._kept = Latest[object, _Permitted](_KEPT)

    def of(self, connection: sqlite3.Connection, caller: Caller | None) -> View:
        """Return what a caller may read; None is somebody of whom nothing is known."""
        changes = connection.execute(_CHANGES).fetchone()
        readers = caller.readers if caller else ()
        key = caller and (caller.tenant, readers)
        kept = self._kept.get(key)
        if kept is not None and kept.changes == changes:
            return kept.view
        scope_rows = read_scope_rows(connection, caller)
        is_same = kept is not None and kept.scope_rows == scope_rows
        scopes = kept.scopes if kept is not None and is_same else list_permitted_scopes(scope_rows, caller)
        rows = read_part_rows(connection, scopes)
        if kept is not None and is_same and kept.rows == rows:
            view = kept.view
        else:
            view = self._number_view(read_scope_view(connection, scopes, rows, self._once))
        permitted = _Permitted(changes, scope_rows, scopes, rows, view)
        self._kept.keep(key, permitted, 1 + len(scope_rows) + len(rows) + len(readers))
        return view

    def over(self, connection: sqlite3.Connection, scopes: Mapping[int, Scope]) -> View:
        """Return what somebody may read who may read some scopes."""
        rows = read_part_rows(connection, scopes)
        return self._number_view(read_scope_view(connection, scopes, rows, self._once))

    def _number_view(self, view: View) -> View:
        number = self._numbered.get(view.parts) or next(self._numbers)
        self._numbered.keep(view.parts, number, 1 + len(view.parts))
        return view._replace(number=number)


def read_part_rows(connection: sqlite3.Connection, scopes: Mapping[int, Scope]) -> list[tuple[Any, ...]]:
    """Return the rows of the parts in some scopes that have chunks."""
    among, values = read_one_row([*scopes])
    columns = "told, id, scope, language, passages, words, changed"
    statement = f"SELECT {columns} FROM parts WHERE scope {among} AND passages > 0 ORDER BY id"
    return connection.execute(statement, values).fetchall()


def read_scope_view(
    connection: sqlite3.Connection, scopes: Mapping[int, Scope], rows: Iterable[tuple[Any, ...]], once: Once
) -> View:
    """Return what a caller may read."""
    return make_view(scopes, rows, once, partial(_merge_scope_counts, connection))


def make_view(
    scopes: Mapping[int, Scope],
    rows: Iterable[tuple[Any, ...]],
    once: Once,
    count_once: Callable[[Sequence[StatisticsPart]], tuple[int, ...]],
) -> View:
    """Return what a caller may read."""
    found = [(is_told, StatisticsPart(*rest)) for is_told, *rest in rows]
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
        counts = count_once(parts)
        once.keep(key, counts, 1 + len(key))
    known = tuple(Known(passages, words, single) for single in counts)
    languages = tuple(sorted({part.language for part in parts}))
    return View(scopes, parts, language, languages, known, list_unmeasured_languages(told))


def _merge_scope_counts(connection: sqlite3.Connection, parts: Sequence[StatisticsPart]) -> tuple[int, ...]:
    """Count the words that occur once in some parts, by reading."""
    largest = max(parts, key=lambda part: part.words, default=None)
    if largest is None or 2 * largest.words < sum(part.words for part in parts):
        largest = None
    others = [part.id for part in parts if part is not largest]
    known = connection.execute(_ONCE, [largest and largest.id]).fetchone() or [0] * len(KINDS)
    among, values = read_one_row(others)
    rows = connection.execute(_MORE.format(among), [*values, largest and largest.id])
    more = dict(rows.fetchall())
    return tuple(once + more.get(kind, 0) + more.get(NAME, 0) for once, kind in zip(known, KINDS, strict=True))
