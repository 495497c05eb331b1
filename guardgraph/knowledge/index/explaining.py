"""Why a document is not among what a caller finds: for whoever may open the file, and for nobody else."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from guardgraph.knowledge.index.ranking import Ranked
from guardgraph.knowledge.index.scopes import Scope
from guardgraph.state.access import is_access_allowed
from guardgraph.state.context import Caller


class NotFound(NamedTuple):
    """A chunk that has words of a query and is not among what a caller finds."""

    id: str
    tenant: str | None
    source: str
    reason: str


def not_found(
    connection: sqlite3.Connection,
    scopes: Mapping[int, Scope],
    caller: Caller | None,
    found: Iterable[Ranked],
    everything: Iterable[Ranked],
) -> list[NotFound]:
    """Return what a caller does not find, each with the reason.

    Args:
        connection: in a transaction.
        scopes: all of them.
        caller: who asks.
        found: what he finds.
        everything: what somebody would find who may read all.
    """
    known, missing = {hit.chunk for hit in found}, list[NotFound]()
    for hit in everything:
        if hit.chunk in known:
            continue
        scope, name = connection.execute(
            "SELECT scope, chunks.name FROM chunks JOIN documents ON documents.id = document WHERE chunks.id = ?",
            [hit.chunk],
        ).fetchone()
        missing.append(
            NotFound(name, scopes[scope].access.tenant, scopes[scope].source, _reason(scopes[scope], caller))
        )
    return missing


def _reason(scope: Scope, caller: Caller | None) -> str:
    if is_access_allowed(scope.access, caller):
        return "he may read it, and others that he may read are nearer"
    readers = ", ".join(scope.access.readers)
    if not readers:
        return "nobody may read it"
    of = "callers without a tenant" if scope.access.tenant is None else f"callers of {scope.access.tenant}"
    return f"he may not read it; it is for {of}: {readers}"
