"""What a search returns: candidates with their texts, by ids that tell nothing of what a caller may not read."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

from guardgraph.knowledge.database import Connection
from guardgraph.knowledge.documents import hash_stored_row
from guardgraph.knowledge.ranking import Ranked, read_found_chunks
from guardgraph.knowledge.scopes import Scope, make_scope_key
from guardgraph.knowledge.views import View
from guardgraph.plain.errors import StoreError
from guardgraph.plain.json import JsonObject
from guardgraph.state.context import PUBLIC, Caller, is_access_allowed, normalise_tenant

_OTHERS: Final = "SELECT scope FROM chunks WHERE name = ? AND (tenant <> ? OR name <> ?)"


def read_chunk_candidates(
    connection: Connection, view: View, caller: Caller | None, found: Sequence[Ranked], shown: str
) -> list[JsonObject]:
    """Return candidates of what was found, each held against the hash that it was put in with."""
    rows, candidates = read_found_chunks(connection, [hit.chunk for hit in found]), list[JsonObject]()
    for hit in found:
        if hit.chunk not in rows:
            raise StoreError(f"{shown}: damaged: what its words lead to is not there; `guardgraph kb check` tells more")
        document, title, updated_at, name, section, start, stop, text, hashed = rows[hit.chunk]
        _, source, access = view.scopes[hit.chunk[0]]
        if hash_stored_row(access, (document, source, title, updated_at), (name, section, start, stop, text)) != hashed:
            raise StoreError(f"{shown}: damaged: a chunk is not what was put in; `guardgraph kb check` tells more")
        candidate: JsonObject = {
            "doc_id": _name_for_caller(connection, view, caller, access.tenant, name), "source": source, "title": title,
            "section": section, "updated_at": updated_at, "text": text, "score": hit.score, "tenant": access.tenant,
            "readers": list(access.readers), "span": [start, stop],
        }  # fmt: skip
        if view.unmeasured:
            candidate["unmeasured"] = list(view.unmeasured)
        candidates.append(candidate)
    return candidates


def _name_for_caller(connection: Connection, view: View, caller: Caller | None, tenant: str | None, name: str) -> str:
    """Return by what id a caller knows a chunk: its own, or with its tenant where another that they may read has it."""
    # Those of their own tenant keep theirs. It depends on nothing that they may not read, and no two chunks are shown
    # by one id.
    if normalise_tenant(tenant) == normalise_tenant(caller.tenant if caller else None):
        return name
    shown, colons = name, ""
    others = [make_scope_key(tenant), name]
    while any(scope in view.scopes for (scope,) in connection.execute(_OTHERS, [shown, *others])):
        colons += ":"
        shown = f"{_make_prefix(tenant)}{colons}{name}"
    return shown


def _make_prefix(tenant: str | None) -> str:
    """Return what of an id says whose it is, another for each tenant, without colons."""
    if tenant is None:
        return PUBLIC
    written = tenant.replace("%", "%25").replace(":", "%3A")
    return f"%{ord(PUBLIC[0]):X}{PUBLIC[1:]}" if written == PUBLIC else written


class NotFound(NamedTuple):
    """A chunk that has words of a query and is not among what a caller finds."""

    id: str
    tenant: str | None
    source: str
    reason: str


def explain_missing_documents(missing: Iterable[tuple[str, Scope]], caller: Caller | None) -> list[NotFound]:
    """Return of chunks that a caller does not find, by id and scope, why they do not."""
    explained = list[NotFound]()
    for name, scope in missing:
        tenant, readers = scope.access.tenant, ", ".join(scope.access.readers)
        of = "callers without a tenant" if tenant is None else f"callers of {tenant}"
        if is_access_allowed(scope.access, caller):
            reason = "they may read it, and others that they may read are nearer"
        else:
            reason = f"they may not read it; it is for {of}: {readers}" if readers else "nobody may read it"
        explained.append(NotFound(name, tenant, scope.source, reason))
    return explained
