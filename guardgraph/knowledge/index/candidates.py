"""What a search returns: chunks with what their documents say of them, as they were put in."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from typing import Any, Final

from guardgraph.knowledge.index.ranking import Ranked
from guardgraph.knowledge.index.scopes import key_of
from guardgraph.knowledge.index.statistics import View
from guardgraph.knowledge.index.storing import digest_of
from guardgraph.knowledge.index.values import rows_by_key
from guardgraph.plain.errors import StoreError
from guardgraph.plain.json import JsonObject
from guardgraph.state.access import PUBLIC
from guardgraph.state.context import Caller

_CHUNKS: Final = (
    "SELECT chunks.id, scope, documents.name, title, updated_at, chunks.name, section, start, stop, text, hash "
    "FROM chunks JOIN documents ON documents.id = document WHERE chunks.id IN"
)


def candidates(
    connection: sqlite3.Connection, view: View, caller: Caller | None, found: Iterable[Ranked], shown: str
) -> list[JsonObject]:
    """Return candidates of what was found.

    Raises:
        StoreError: a chunk is not what was put in.
    """
    hits = [*found]
    rows = rows_by_key(connection, _CHUNKS, [hit.chunk for hit in hits])
    return [_candidate(connection, view, caller, rows.get(hit.chunk), score=hit.score, shown=shown) for hit in hits]


def _candidate(
    connection: sqlite3.Connection,
    view: View,
    caller: Caller | None,
    row: tuple[Any, ...] | None,
    *,
    score: float,
    shown: str,
) -> JsonObject:
    if row is None or row[0] not in view.scopes:
        raise StoreError(f"{shown}: damaged: what its words lead to is not there; `guardgraph kb check` tells more")
    scope, document, title, updated_at, name, section, start, stop, text, hashed = row
    source, access = view.scopes[scope].source, view.scopes[scope].access
    if digest_of(access, (document, source, title, updated_at), (name, section, start, stop, text)) != hashed:
        raise StoreError(f"{shown}: damaged: a chunk is not what was put in; `guardgraph kb check` tells more")
    return {
        "doc_id": _shown_id(connection, view, caller, access.tenant, name),
        "source": source,
        "title": title,
        "section": section,
        "updated_at": updated_at,
        "text": text,
        "score": score,
        "tenant": access.tenant,
        "readers": list(access.readers),
        "span": [start, stop],
    }


def _shown_id(connection: sqlite3.Connection, view: View, caller: Caller | None, tenant: str | None, name: str) -> str:
    """Return by what id a caller knows a chunk: its own, or with its tenant where another that he may read has it.

    His own tenant's keep theirs. It depends on nothing that he may not read, and no two chunks are shown by one id.
    """
    if tenant == (caller.tenant if caller else None):
        return name
    shown, colons = name, ""
    while _is_taken(connection, view, shown, tenant, name):
        colons += ":"
        shown = f"{_prefix(tenant)}{colons}{name}"
    return shown


def _is_taken(connection: sqlite3.Connection, view: View, shown: str, tenant: str | None, name: str) -> bool:
    """Say whether another chunk that the caller may read has an id."""
    others = connection.execute(
        "SELECT scope FROM chunks JOIN documents ON documents.id = document "
        "WHERE chunks.name = ? AND (chunks.tenant <> ? OR chunks.name <> ?)",
        [shown, key_of(tenant), name],
    )
    return any(scope in view.scopes for (scope,) in others)


def _prefix(tenant: str | None) -> str:
    """Return what of an id says whose it is, another for each tenant, without colons."""
    if tenant is None:
        return PUBLIC
    written = tenant.replace("%", "%25").replace(":", "%3A")
    return f"%{ord(PUBLIC[0]):X}{PUBLIC[1:]}" if written == PUBLIC else written
