"""How many documents each collection has, and how many collections there are: so what is gone as a whole is missed."""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from guardgraph.knowledge.index.findings import Findings
from guardgraph.knowledge.index.scopes import shown_with_tenant, tenant_of

_ALL: Final = ("-", "")
"""The row that counts the others; no tenant has this key."""

_THERE: Final = "SELECT tenant, collection, count(*) FROM documents GROUP BY 1, 2"


@dataclass(frozen=True, slots=True)
class Lost:
    """What was put in and is not there, and of which nothing is left that would name it."""

    tenant: str | None
    collection: str | None
    """None where whole collections are lost, of whatever tenant."""
    count: int
    """Of documents; of collections, where they are lost as a whole."""

    def __str__(self) -> str:
        plural = "s" if self.count > 1 else ""
        if self.collection is None:
            return f"{self.count} collection{plural} missing"
        whose = f" of {self.tenant}" if self.tenant else ""
        return f"{self.count} document{plural} of {self.collection}{whose} missing"


class _Row(NamedTuple):
    """A row of collections; whatever a cell may hold."""

    tenant: Any
    name: Any
    documents: Any
    hash: Any

    @property
    def holds(self) -> bool:
        """Whether it is what was noted."""
        try:
            return bool(self.hash == _digest(self.tenant, self.name, self.documents))
        except TypeError:  # bytes, where there was a text
            return False


def collections(connection: sqlite3.Connection) -> dict[tuple[str | None, str], int]:
    """Return how many documents each collection of each tenant has."""
    return {(tenant_of(row.tenant), row.name): row.documents for row in _rows(connection) if row[:2] != _ALL}


def count_none(connection: sqlite3.Connection) -> None:
    """Note that there are no collections."""
    _note(connection, *_ALL, 0)


def count(connection: sqlite3.Connection, more: Mapping[tuple[str, str], int]) -> None:
    """Note by how many documents collections have more, by the key of their tenants and their names."""
    for (tenant, name), added in more.items():
        before, documents = _count_more(connection, tenant, name, added)
        if documents <= 0:
            connection.execute("DELETE FROM collections WHERE tenant = ? AND name = ?", [tenant, name])
        if (documents > 0) != (before > 0):
            _count_more(connection, *_ALL, 1 if documents > 0 else -1)


def check_collections(connection: sqlite3.Connection, findings: Findings) -> None:
    """Note which collections have other documents than were put in."""
    there = _there(connection)
    rows = {row[:2]: row for row in _rows(connection)}
    expected = there | {_ALL: len(there)}
    for key in sorted({*rows, *expected}, key=str):
        row, documents = rows.get(key), expected.get(key, 0)
        if row is None or not row.holds:
            findings.note("row", _shown(key), "nothing says how many it has, or it is not what was noted")
        elif row.documents != documents:
            findings.note("reference", _shown(key), f"{row.documents} were put in, {documents} are there")


def count_anew(connection: sqlite3.Connection) -> Iterator[Lost]:
    """Count the documents of collections anew, in a transaction for writing, and yield what was lost."""
    there = _there(connection)
    noted = {row[:2]: row.documents for row in _rows(connection) if row.holds}
    connection.execute("DELETE FROM collections")
    collections = noted.pop(_ALL, 0)
    for key, documents in noted.items():
        if (missing := documents - there[key]) > 0:
            yield Lost(tenant_of(key[0]), key[1], missing)
    counted_twice = sum(documents < there[key] for key, documents in noted.items())  # its row was gone, and begun anew
    if (missing := collections - len({*there, *noted}) - counted_twice) > 0:
        yield Lost(None, None, missing)
    count_none(connection)
    count(connection, there)


def _digest(*covered: object) -> bytes:
    return hashlib.sha256(json.dumps(covered).encode()).digest()


def _there(connection: sqlite3.Connection) -> Counter[tuple[Any, Any]]:
    return Counter({(tenant, name): documents for tenant, name, documents in connection.execute(_THERE)})


def _rows(connection: sqlite3.Connection) -> Iterable[_Row]:
    return map(_Row._make, connection.execute("SELECT tenant, name, documents, hash FROM collections").fetchall())


def _count_more(connection: sqlite3.Connection, tenant: str, name: str, more: int) -> tuple[int, int]:
    """Note that there are more, and return how many there were, and are."""
    select = "SELECT tenant, name, documents, hash FROM collections WHERE tenant = ? AND name = ?"
    row = _Row(*(connection.execute(select, [tenant, name]).fetchone() or (tenant, name, 0, None)))
    before = int(row.documents)
    _note(connection, tenant, name, before + more, holds=row.hash is None or row.holds)
    return before, before + more


def _note(connection: sqlite3.Connection, tenant: str, name: str, documents: int, *, holds: bool = True) -> None:
    hashed = _digest(tenant, name, documents) if holds else b""  # what was damaged stays known to be
    connection.execute("REPLACE INTO collections VALUES (?, ?, ?, ?)", [tenant, name, documents, hashed])


def _shown(key: tuple[Any, Any]) -> str:
    return "collections" if key == _ALL else f"collections: {shown_with_tenant(key[1], key[0])}"
