"""How many documents each collection has, and how many collections there are: so what is gone as a whole is missed."""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from guardgraph.knowledge.storing.findings import Findings
from guardgraph.knowledge.storing.scopes import read_scope_tenant, show_scope_tenant

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


class _StoredRow(NamedTuple):
    """A row of collections; whatever a cell may hold."""

    tenant: Any
    name: Any
    documents: Any
    hash: Any

    @property
    def holds(self) -> bool:
        """Whether it is what was noted."""
        try:
            return bool(self.hash == _hash_collection_rows(self.tenant, self.name, self.documents))
        except TypeError:  # bytes, where there was a text
            return False


def list_index_collections(connection: sqlite3.Connection) -> dict[tuple[str | None, str], int]:
    """Return how many documents each collection of each tenant has."""
    return {
        (read_scope_tenant(row.tenant), row.name): row.documents
        for row in _read_collection_rows(connection)
        if row[:2] != _ALL
    }


def reset_collection_counts(connection: sqlite3.Connection) -> None:
    """Note that there are no collections."""
    _note_collection_finding(connection, *_ALL, 0)


def count_collection_chunks(connection: sqlite3.Connection, more: Mapping[tuple[str, str], int]) -> None:
    """Note by how many documents collections have more, by the key of their tenants and their names."""
    for (tenant, name), added in more.items():
        before, documents = _add_collection_count(connection, tenant, name, added)
        if documents <= 0:
            connection.execute("DELETE FROM collections WHERE tenant = ? AND name = ?", [tenant, name])
        if (documents > 0) != (before > 0):
            _add_collection_count(connection, *_ALL, 1 if documents > 0 else -1)


def check_collections(connection: sqlite3.Connection, findings: Findings) -> None:
    """Note which collections have other documents than were put in."""
    there = _is_collection_there(connection)
    rows = {row[:2]: row for row in _read_collection_rows(connection)}
    expected = there | {_ALL: len(there)}
    for key in sorted({*rows, *expected}, key=str):
        row, documents = rows.get(key), expected.get(key, 0)
        if row is None or not row.holds:
            findings.note(
                "row", _show_collection_name(key), "nothing says how many it has, or it is not what was noted"
            )
        elif row.documents != documents:
            findings.note(
                "reference", _show_collection_name(key), f"{row.documents} were put in, {documents} are there"
            )


def recount_collections(connection: sqlite3.Connection) -> Iterator[Lost]:
    """Count the documents of collections anew, in a transaction for writing, and yield what was lost."""
    there = _is_collection_there(connection)
    noted = {row[:2]: row.documents for row in _read_collection_rows(connection) if row.holds}
    connection.execute("DELETE FROM collections")
    collections = noted.pop(_ALL, 0)
    for key, documents in noted.items():
        if (missing := documents - there[key]) > 0:
            yield Lost(read_scope_tenant(key[0]), key[1], missing)
    counted_twice = sum(documents < there[key] for key, documents in noted.items())  # its row was gone, and begun anew
    if (missing := collections - len({*there, *noted}) - counted_twice) > 0:
        yield Lost(None, None, missing)
    reset_collection_counts(connection)
    count_collection_chunks(connection, there)


def _hash_collection_rows(*covered: object) -> bytes:
    return hashlib.sha256(json.dumps(covered).encode()).digest()


def _is_collection_there(connection: sqlite3.Connection) -> Counter[tuple[Any, Any]]:
    return Counter({(tenant, name): documents for tenant, name, documents in connection.execute(_THERE)})


def _read_collection_rows(connection: sqlite3.Connection) -> Iterable[_StoredRow]:
    return map(_StoredRow._make, connection.execute("SELECT tenant, name, documents, hash FROM collections").fetchall())


def _add_collection_count(connection: sqlite3.Connection, tenant: str, name: str, more: int) -> tuple[int, int]:
    """Note that there are more, and return how many there were, and are."""
    select = "SELECT tenant, name, documents, hash FROM collections WHERE tenant = ? AND name = ?"
    row = _StoredRow(*(connection.execute(select, [tenant, name]).fetchone() or (tenant, name, 0, None)))
    before = int(row.documents)
    _note_collection_finding(connection, tenant, name, before + more, holds=row.hash is None or row.holds)
    return before, before + more


def _note_collection_finding(
    connection: sqlite3.Connection, tenant: str, name: str, documents: int, *, holds: bool = True
) -> None:
    hashed = _hash_collection_rows(tenant, name, documents) if holds else b""  # what was damaged stays known to be
    connection.execute("REPLACE INTO collections VALUES (?, ?, ?, ?)", [tenant, name, documents, hashed])


def _show_collection_name(key: tuple[Any, Any]) -> str:
    return "collections" if key == _ALL else f"collections: {show_scope_tenant(key[1], key[0])}"
