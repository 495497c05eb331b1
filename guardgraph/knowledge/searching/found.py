"""What a search returns: one order of two, that of words and that of vectors, as candidates with their texts."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any, Final, NamedTuple

from guardgraph.knowledge.searching.ranking import Id, Near, Ranked
from guardgraph.knowledge.searching.views import View
from guardgraph.knowledge.storing.documents import hash_stored_row
from guardgraph.knowledge.storing.scopes import Scope, make_scope_key, read_rows_by_key
from guardgraph.plain.errors import StoreError
from guardgraph.plain.json import JsonObject
from guardgraph.state.context import PUBLIC, Caller, is_access_allowed, normalise_tenant

_CHUNKS: Final = (
    "SELECT chunks.id, scope, documents.name, title, updated_at, chunks.name, section, start, stop, text, hash "
    "FROM chunks JOIN documents ON documents.id = document WHERE chunks.id IN"
)


def read_chunk_candidates(
    connection: sqlite3.Connection, view: View, caller: Caller | None, found: Sequence[Ranked[int]], shown: str
) -> list[JsonObject]:
    """Return candidates of what was found."""
    rows = read_rows_by_key(connection, _CHUNKS, [hit.chunk for hit in found])
    return make_chunk_candidates(found, rows, view, caller, partial(_is_chunk_id_taken, connection, view), shown=shown)


def make_chunk_candidates(
    found: Iterable[Ranked[Id]],
    rows: Mapping[Id, tuple[Any, ...]],
    view: View,
    caller: Caller | None,
    is_taken: Callable[[str, str | None, str], bool],
    *,
    shown: str,
) -> list[JsonObject]:
    """Return candidates of what was found."""
    return [
        _make_chunk_candidate(rows.get(hit.chunk), view, caller, is_taken, score=hit.score, shown=shown)
        for hit in found
    ]


def _make_chunk_candidate(
    row: tuple[Any, ...] | None,
    view: View,
    caller: Caller | None,
    is_taken: Callable[[str, str | None, str], bool],
    *,
    score: float,
    shown: str,
) -> JsonObject:
    if row is None or row[0] not in view.scopes:
        raise StoreError(f"{shown}: damaged: what its words lead to is not there; `guardgraph kb check` tells more")
    scope, document, title, updated_at, name, section, start, stop, text, hashed = row
    source, access = view.scopes[scope].source, view.scopes[scope].access
    if hash_stored_row(access, (document, source, title, updated_at), (name, section, start, stop, text)) != hashed:
        raise StoreError(f"{shown}: damaged: a chunk is not what was put in; `guardgraph kb check` tells more")
    candidate: JsonObject = {
        "doc_id": _show_chunk_id(caller, access.tenant, name, is_taken),
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
    return {**candidate, "unmeasured": list(view.unmeasured)} if view.unmeasured else candidate


def _show_chunk_id(
    caller: Caller | None, tenant: str | None, name: str, is_taken: Callable[[str, str | None, str], bool]
) -> str:
    """Return by what id a caller knows a chunk: its own, or with its tenant where another that they may read has it."""
    # Those of their own tenant keep theirs. It depends on nothing that they may not read, and no two chunks are shown
    # by one id.
    if normalise_tenant(tenant) == normalise_tenant(caller.tenant if caller else None):
        return name
    shown, colons = name, ""
    while is_taken(shown, tenant, name):
        colons += ":"
        shown = f"{_make_collection_prefix(tenant)}{colons}{name}"
    return shown


def _is_chunk_id_taken(connection: sqlite3.Connection, view: View, shown: str, tenant: str | None, name: str) -> bool:
    """Say whether another chunk that the caller may read has an id."""
    others = connection.execute(
        "SELECT scope FROM chunks JOIN documents ON documents.id = document "
        "WHERE chunks.name = ? AND (chunks.tenant <> ? OR chunks.name <> ?)",
        [shown, make_scope_key(tenant), name],
    )
    return any(scope in view.scopes for (scope,) in others)


def _make_collection_prefix(tenant: str | None) -> str:
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
    return [
        NotFound(name, scope.access.tenant, scope.source, _explain_unreadable_document(scope, caller))
        for name, scope in missing
    ]


def _explain_unreadable_document(scope: Scope, caller: Caller | None) -> str:
    if is_access_allowed(scope.access, caller):
        return "they may read it, and others that they may read are nearer"
    readers = ", ".join(scope.access.readers)
    if not readers:
        return "nobody may read it"
    of = "callers without a tenant" if scope.access.tenant is None else f"callers of {scope.access.tenant}"
    return f"they may not read it; it is for {of}: {readers}"


POOL: Final = 100
"""Chunks of each order that count."""

_SMOOTHING: Final = 60
"""By how much a rank is raised before its reciprocal is taken (Cormack, Clarke and Büttcher, Reciprocal Rank Fusion
outperforms Condorcet and individual Rank Learning Methods, 2009)."""


def fuse_word_and_vector_hits(
    words: Sequence[Ranked[Id]], near: Sequence[Near[Id]], *, top_k: int, min_similarity: float | None = None
) -> list[Ranked[Id]]:
    """Return chunks in the order of the sum of their reciprocal ranks, best first."""
    # The score of each is that of its words: how near its vector is says nothing of relevance. So vectors order anew
    # what words found and find nothing alone; with `min_similarity` they do, and the score of what they found is the
    # cosine.
    scores = {hit.chunk: hit.score for hit in words}
    if min_similarity is not None:
        scores = {hit.chunk: hit.similarity for hit in near if hit.similarity >= max(min_similarity, 0.0)} | scores
    by_words = {hit.chunk: rank for rank, hit in enumerate(words, 1)}
    by_vectors = {hit.chunk: rank for rank, hit in enumerate(near, 1)}

    def worth(chunk: Id) -> float:
        ranks = (order[chunk] for order in (by_words, by_vectors) if chunk in order)
        return sum(1 / (_SMOOTHING + rank) for rank in ranks)

    # Of two that are worth the same, the one that words put first stands first.
    chunks = sorted(scores, key=lambda chunk: (-worth(chunk), by_words.get(chunk, POOL + by_vectors.get(chunk, 0))))
    return [Ranked(chunk, scores[chunk]) for chunk in chunks if scores[chunk] > 0][:top_k]
