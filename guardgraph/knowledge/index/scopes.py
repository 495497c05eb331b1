"""Scopes: each combination of tenant, source and readers that documents have, and which of them a caller may read."""

from __future__ import annotations

import json
import sqlite3
from typing import NamedTuple

from guardgraph.state.access import Access, is_access_allowed
from guardgraph.state.context import Caller


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
