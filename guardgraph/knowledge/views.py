"""What is known of the words of all that a caller may read, and of nothing else."""

from __future__ import annotations

from collections import Counter, OrderedDict
from collections.abc import Hashable, Mapping, Sequence
from threading import Lock
from typing import Any, Final, Generic, NamedTuple, TypeAlias, TypeVar

from guardgraph.knowledge.database import Connection
from guardgraph.knowledge.postings import KINDS, NAME
from guardgraph.knowledge.scopes import Scope, make_caller_key, parse_scope_row
from guardgraph.state.context import Caller, is_access_allowed
from guardgraph.tools.relevance import WordCounts, find_main_language, list_unmeasured_languages

_Key = TypeVar("_Key", bound=Hashable)
_Value = TypeVar("_Value")

SCOPE_COLUMNS: Final = "scopes.id, scopes.tenant, source, CAST(readers AS TEXT)"  # what `parse_scope_row` reads

_PARTS: Final = (
    f"SELECT {SCOPE_COLUMNS}, told, parts.id, scope, language, passages, words, stems_once, words_once, "
    "beginnings_once, changed FROM parts JOIN scopes ON scopes.id = scope WHERE passages > 0"
)
_OF_TENANT: Final = "scopes.id IN (SELECT id FROM scopes WHERE tenant = ? UNION SELECT id FROM scopes WHERE everybody)"
_MORE_ONCE: Final = """
    SELECT substr(term, 1, 1), sum(CASE WHEN held IS NULL AND total = 1 THEN 1 WHEN held = 1 THEN -1 ELSE 0 END)
    FROM (
        SELECT term, sum(total) AS total, (
            SELECT sum(base.total) FROM postings base
            WHERE base.part = ? AND base.term = more.term
        ) AS held FROM postings more WHERE part = ANY (?) GROUP BY term
    ) AS added GROUP BY 1
"""
"""By how many words that occur once some parts make those of another one more."""


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


class StatisticsPart(NamedTuple):
    """The chunks of a scope that are read in one language."""

    # A chunk that does not tell its language is read in the one that most of what a caller may read is in, so such
    # chunks are kept as read in each language; of these parts a caller reads one.

    id: int
    scope: int
    language: str
    passages: int
    words: int
    stems_once: int
    words_once: int
    beginnings_once: int
    changed: int  # by it a part is known to be what it was


class View(NamedTuple):
    """All that a caller may read."""

    scopes: Mapping[int, Scope]
    parts: tuple[StatisticsPart, ...]
    language: str  # that most of it is in
    languages: tuple[str, ...]  # all of it, sorted
    known: tuple[WordCounts, ...]  # by reading
    unmeasured: tuple[str, ...]
    """Where most of it is in languages for which the default `min_chunk_score` was not measured: their codes."""


Once: TypeAlias = Latest[tuple[tuple[int, int], ...], tuple[int, ...]]
"""How many words occur once in several parts, by what these are known by to be what they were."""

ONCE_ROOM: Final = 1 << 17  # parts of the sets of which it is kept in memory how many words occur once


def read_caller_view(connection: Connection, caller: Caller | None, once: Once) -> View:
    """Return what a caller may read, and what is known of its words; None is somebody of whom nothing is known."""
    scopes, rows = read_permitted_parts(connection, caller)
    return _make_caller_view(connection, scopes, rows, once)


def read_writer_view(connection: Connection, once: Once) -> View:
    """Return all that a connection sees: of a server what a tenant has and what is for everybody, of a file all."""
    rows = connection.execute(f"{_PARTS} ORDER BY parts.id").fetchall()
    scopes = {scope.id: scope for row in rows if (scope := parse_scope_row(*row[:4])) is not None}
    return _make_caller_view(connection, scopes, [row[4:] for row in rows if row[0] in scopes], once)


def read_permitted_parts(
    connection: Connection, caller: Caller | None
) -> tuple[dict[int, Scope], list[tuple[Any, ...]]]:
    """Return the scopes that a caller may read, and the rows of their parts that have chunks."""
    # A server shows no others; they are held against the caller here, too.
    scopes, parts = dict[int, Scope](), list[tuple[Any, ...]]()
    chosen = f"{_PARTS} AND {_OF_TENANT} ORDER BY parts.id"
    for number, tenant, source, readers, *part in connection.execute(chosen, [make_caller_key(caller)]):
        scope = scopes.get(number) or parse_scope_row(number, tenant, source, readers)
        if scope is not None and is_access_allowed(scope.access, caller):
            scopes[number] = scope
            parts.append(tuple(part))
    return scopes, parts


def _make_caller_view(
    connection: Connection, scopes: Mapping[int, Scope], rows: Sequence[tuple[Any, ...]], once: Once
) -> View:
    found = [(is_told, StatisticsPart(*rest)) for is_told, *rest in rows]
    told = Counter[str]()
    for is_told, part in found:
        if is_told:
            told[part.language] += part.passages
    language = find_main_language(told)
    parts = tuple(part for is_told, part in found if is_told or part.language == language)
    passages, words = sum(part.passages for part in parts), sum(part.words for part in parts)
    known = tuple(WordCounts(passages, words, single) for single in _count_words_once(connection, parts, once))
    languages = tuple(sorted({part.language for part in parts}))
    return View(scopes, parts, language, languages, known, list_unmeasured_languages(told))


def _count_words_once(connection: Connection, parts: Sequence[StatisticsPart], once: Once) -> tuple[int, ...]:
    """Return how many words occur once in some parts, by reading: of the largest it is noted, others are read."""
    if not parts:
        return (0, 0, 0)
    largest = max(parts, key=lambda part: part.words)
    noted = (largest.stems_once, largest.words_once, largest.beginnings_once)
    if len(parts) == 1:
        return noted
    key = tuple((part.id, part.changed) for part in parts)
    if (counts := once.get(key)) is None:
        others = [part.id for part in parts if part is not largest]
        rows = connection.execute(_MORE_ONCE, [largest.id, others])
        more = {kind: int(count) for kind, count in rows}
        by_kind = zip(noted, KINDS, strict=True)
        counts = tuple(single + more.get(kind, 0) + more.get(NAME, 0) for single, kind in by_kind)
        once.keep(key, counts, 1 + len(key))
    return counts
