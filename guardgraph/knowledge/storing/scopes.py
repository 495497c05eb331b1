"""Scopes: a scope is a combination of tenant, source and readers that documents have, read by some."""

# No row of another tenant is looked at for a caller, but those that are for everybody.

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Any, Final, NamedTuple

from guardgraph.state.context import Access, Caller, find_reader_problem, is_access_allowed, normalise_tenant

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


def is_scope_key(key: object) -> bool:
    """Say whether a cell is the key of a tenant."""
    return isinstance(key, str) and (not key or (key[0] == "+" and len(key) > 1))


def parse_scope_row(number: int, tenant: Any, source: Any, readers: Any) -> Scope | None:
    """Return the scope of a row; None of one that nobody wrote so, which is nobody's."""
    try:
        named = json.loads(readers)
        is_normal = is_scope_key(tenant) and isinstance(source, str) and named == sorted(set(named))
        if not is_normal or any(map(find_reader_problem, named)):
            return None
    except (TypeError, ValueError):
        return None
    return Scope(number, source, Access(read_scope_tenant(tenant), tuple(named)))


_SCOPES: Final = "SELECT id, tenant, source, readers FROM scopes"
FOR_EVERYBODY: Final = "instr(readers, '\"public\"') > 0"
"""A condition that all scopes meet which are for everybody, and maybe others; there is an index of those."""


def list_index_scopes(connection: sqlite3.Connection) -> dict[int, Scope]:
    """Return all scopes that can be read, by number."""
    rows = (parse_scope_row(*row) for row in connection.execute(_SCOPES))
    return {scope.id: scope for scope in rows if scope is not None}


def read_index_scope(connection: sqlite3.Connection, number: int) -> Scope:
    """Return a scope."""
    row = connection.execute(f"{_SCOPES} WHERE id = ?", [number]).fetchone()
    scope = parse_scope_row(*row) if row else None
    if scope is None:
        raise LookupError(f"scopes: {number}")
    return scope


def read_scope_rows(connection: sqlite3.Connection, caller: Caller | None) -> list[tuple[Any, ...]]:
    """Return the rows of the scopes that a caller may read, and of others of the tenant."""
    rows = connection.execute(f"{_SCOPES} WHERE {FOR_EVERYBODY}").fetchall()
    if caller is not None:
        key = make_scope_key(normalise_tenant(caller.tenant))
        rows += connection.execute(f"{_SCOPES} WHERE tenant = ?", [key])
    return rows


def list_permitted_scopes(rows: Iterable[tuple[Any, ...]], caller: Caller | None) -> dict[int, Scope]:
    """Return the scopes that a caller may read, of those that `read_scope_rows` returned for them."""
    scopes = (parse_scope_row(*row) for row in {row[0]: row for row in rows}.values())
    return {scope.id: scope for scope in scopes if scope is not None and is_access_allowed(scope.access, caller)}
