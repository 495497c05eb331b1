"""The index: documents are put in, moved and taken out, and found by those who may read them."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Self

from guardgraph.knowledge import ranking, views
from guardgraph.knowledge.database import Connection, KnowledgeDatabase
from guardgraph.knowledge.documents import Stamp, StoredDocument, hash_stored_row
from guardgraph.knowledge.scopes import Scope, make_scope_key, parse_scope_row, read_scope_tenant
from guardgraph.knowledge.vectors import (
    Embedder,
    check_embedding,
    embed_new_texts,
    list_embedding_texts,
    note_embedding,
    read_embedding,
    refuse_other_size,
)
from guardgraph.knowledge.writing import TenantWriter
from guardgraph.plain.errors import ConfigurationError, StoreError
from guardgraph.plain.json import JsonObject
from guardgraph.state.context import (
    PUBLIC,
    Access,
    Caller,
    is_access_allowed,
    normalise_tenant,
    normalize_document_access,
)

if TYPE_CHECKING:
    from langchain_core.embeddings import Embeddings

_LISTED: Final = (
    "SELECT name, collection, size, modified, sha256, source, CAST(readers AS TEXT) FROM documents "
    "JOIN scopes ON scopes.id = scope WHERE documents.tenant = ?"
)

_MOST_CHUNKS: Final = 4_096  # of a transaction; those of a single document may be more


class Batch:
    """Puts documents in. They are kept in memory until there are enough for a transaction, or the block ends."""

    # Where the process ends, what waits is lost; in the base, each document is as it was or as it is put.

    def __init__(
        self,
        write: Callable[[Sequence[StoredDocument]], Iterable[tuple[StoredDocument, str]]],
        refuse: Callable[[StoredDocument, str], object],
    ) -> None:
        self._write_documents, self._refuse = write, refuse
        self._waiting: dict[tuple[str | None, str], StoredDocument] = {}
        self._chunks: set[tuple[str | None, str]] = set()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        self.flush()

    def put(self, document: StoredDocument) -> None:
        """Put a document in, in place of the one of its tenant that has its id."""
        tenant = document.access.tenant
        ids = {(tenant, chunk.id) for chunk in document.chunks}
        if (tenant, document.id) in self._waiting or not ids.isdisjoint(self._chunks):
            self.flush()
        self._waiting[tenant, document.id] = document
        self._chunks |= ids
        if len(self._chunks) >= _MOST_CHUNKS:
            self.flush()

    def flush(self) -> None:
        """Write what waits."""
        documents = list(self._waiting.values())
        self._waiting.clear()
        self._chunks.clear()
        for document, reason in self._write_documents(documents) if documents else ():
            self._refuse(document, reason)


def refuse_document(_: StoredDocument, reason: str) -> None:
    """Refuse a document for a reason."""
    raise ConfigurationError(reason)


class Listed(NamedTuple):
    """A document that is in the index."""

    collection: str
    stamp: Stamp
    source: str
    access: Access


class Index:
    """An inverted index of documents in a database."""

    # A tenant is None for documents of callers without one, and a caller is None where nothing is known of them.

    def __init__(
        self, database: KnowledgeDatabase, *, embedding: Embeddings | None = None, min_similarity: float | None = None
    ) -> None:
        self.database = database
        self.embedder = None if embedding is None else Embedder(embedding)
        """What makes vectors of texts; None for words only."""
        self._min_similarity = min_similarity
        self._nearness = ranking.Nearness()
        self._once = views.Once(views.ONCE_ROOM)

    def check_embedding(self, *, to_write: bool = False) -> None:
        """Refuse what is no knowledge base of this version, or has vectors of another embedding."""
        with self.database.reading(None) as connection:
            check_embedding(connection, self.embedder, self.database.shown, to_write=to_write)

    def put(self, document: StoredDocument) -> None:
        """Put a document in, in place of the one of its tenant that has its id."""
        with self.together() as batch:
            batch.put(document)

    def together(self, refuse: Callable[[StoredDocument, str], object] = refuse_document) -> Batch:
        """Return what puts many documents in, several in a transaction; use it as a context manager."""
        return Batch(self._write_documents, refuse)

    def _write_documents(self, documents: Sequence[StoredDocument]) -> list[tuple[StoredDocument, str]]:
        """Put documents in, in a transaction for each tenant, but for those an id of which is taken."""
        refused = list[tuple[StoredDocument, str]]()
        for tenant in dict.fromkeys(document.access.tenant for document in documents):
            own = [document for document in documents if document.access.tenant == tenant]
            vectors = dict[bytes, bytes]()
            if self.embedder is not None:  # before others have to wait for the transaction
                texts = [text for document in own for text in list_embedding_texts(document)]
                with self.database.reading_tenant(tenant) as connection:
                    vectors = embed_new_texts(connection, self.embedder, tenant, texts)
            with self.database.writing(tenant) as connection:
                note_embedding(connection, self.embedder, vectors.values(), self.database.shown)
                writer = TenantWriter(connection, tenant)
                taken = writer.put(own, vectors)
                writer.flush()
            refused += [(document, taken[document.id]) for document in own if document.id in taken]
        return refused

    def drop(self, tenant: str | None, ids: Iterable[str]) -> None:
        """Take documents out, in one transaction; ids that are not there are none."""
        with self.database.writing(tenant) as connection:
            writer = TenantWriter(connection, tenant)
            writer.drop(ids)
            writer.flush()

    def drop_collection(self, tenant: str | None, collection: str) -> int:
        """Take all documents of a collection out, in one transaction, and return how many there were."""
        with self.database.writing(tenant) as connection:
            select = "SELECT name FROM documents WHERE tenant = ? AND collection = ?"
            names = [name for (name,) in connection.execute(select, [make_scope_key(tenant), collection])]
            writer = TenantWriter(connection, tenant)
            dropped = writer.drop(names)
            writer.flush()
            return dropped

    def move(self, tenant: str | None, name: str, source: str, access: Access) -> None:
        """Give a document whose text is unchanged another source and other readers."""
        if access.tenant != tenant:
            raise ConfigurationError(f"document {name!r}: a document stays with its tenant")
        with self.database.writing(tenant) as connection:
            writer = TenantWriter(connection, tenant)
            writer.move(name, source, normalize_document_access(tenant, access.readers))
            writer.flush()

    def restamp(self, tenant: str | None, stamps: Mapping[str, Stamp]) -> None:
        """Note by what documents are known now whose texts are unchanged, all of them in one transaction."""
        if stamps:
            with self.database.writing(tenant) as connection:
                update = "UPDATE documents SET size = ?, modified = ?, sha256 = ? WHERE tenant = ? AND name = ?"
                rows = [(*stamp, make_scope_key(tenant), name) for name, stamp in stamps.items()]
                connection.executemany(update, rows)

    def read_rules_version(self, tenant: str | None, collection: str) -> object:
        """Return the version of the rules by which a collection was narrowed; None where nothing says it."""
        with self.database.reading_tenant(tenant) as connection:
            select = "SELECT rules FROM collections WHERE tenant = ? AND name = ?"
            row = connection.execute(select, [make_scope_key(tenant), collection]).fetchone()
            return row and row[0]

    def note_rules_version(self, tenant: str | None, collection: str, version: int) -> None:
        """Note by which version of the rules a collection was narrowed."""
        with self.database.writing(tenant) as connection:
            insert = "INSERT INTO collections VALUES (?, ?, ?)"
            update = "ON CONFLICT (tenant, name) DO UPDATE SET rules = excluded.rules"
            connection.execute(f"{insert} {update}", [make_scope_key(tenant), collection, version])

    def listed(self, tenant: str | None, collection: str) -> dict[str, Listed]:
        """Return the documents of a collection, by id."""
        return self._list_documents(tenant, "collection = ?", collection)

    def look_up(self, tenant: str | None, ids: Iterable[str]) -> dict[str, Listed]:
        """Return those of some documents of a tenant that are there, by id, in any collection."""
        return self._list_documents(tenant, "name = ANY (?)", [*ids])

    def _list_documents(self, tenant: str | None, condition: str, value: object) -> dict[str, Listed]:
        with self.database.reading_tenant(tenant) as connection:
            self.database.require_writer(connection)
            rows = connection.execute(f"{_LISTED} AND {condition}", [make_scope_key(tenant), value])
            return {
                name: Listed(collection, Stamp(*stamp), source, Access(tenant, tuple(json.loads(readers))))
                for name, collection, *stamp, source, readers in rows
            }

    def collections(self) -> dict[tuple[str | None, str], int]:
        """Return how many documents each collection of each tenant has, as a writer."""
        rows = self._read_all_rows("SELECT tenant, collection, count(*) FROM documents GROUP BY 1, 2")
        return {(read_scope_tenant(key), name): count for key, name, count in rows}

    def documents_by_scope(self) -> dict[Scope, int]:
        """Return how many documents each scope has, as a writer."""
        select = (
            f"SELECT {views.SCOPE_COLUMNS}, count(*) FROM scopes JOIN documents ON scope = scopes.id GROUP BY scopes.id"
        )
        rows = self._read_all_rows(select)
        return {scope: count for *row, count in rows if (scope := parse_scope_row(*row)) is not None}

    def tenants(self) -> list[str | None]:
        """Return the tenants that have documents, None first where documents have none, as a writer."""
        rows = self._read_all_rows("SELECT DISTINCT tenant FROM documents ORDER BY 1")
        return [read_scope_tenant(key) for (key,) in rows]

    def _read_all_rows(self, statement: str) -> list[tuple[Any, ...]]:
        with self.database.reading_all() as connection:
            self.database.require_writer(connection)
            rows: list[tuple[Any, ...]] = connection.execute(statement).fetchall()
            return rows

    def source_names(self) -> tuple[str, ...]:
        """Return the names of the sources of all documents, sorted; of a server's as a reader, of those for all."""
        with self.database.reading_all() as connection:
            rows = connection.execute("SELECT DISTINCT source FROM scopes WHERE id IN (SELECT scope FROM documents)")
            return tuple(sorted(source for (source,) in rows))

    def readable_sources(self, caller: Caller | None) -> list[str]:
        """Return the sources of which a caller may read something, sorted."""
        with self.database.reading(caller) as connection:
            scopes, _ = views.read_permitted_parts(connection, caller)
            return sorted({scope.source for scope in scopes.values()})

    def search(
        self, query: str, *, sources: Collection[str] | None = None, caller: Caller | None = None, top_k: int = 4
    ) -> list[JsonObject]:
        """Find the chunks that answer a query, among those that a caller may read."""
        return self._search_ranked(query, sources, caller, top_k)[1]

    def explain(
        self, query: str, *, caller: Caller | None = None, top_k: int = 4
    ) -> tuple[list[JsonObject], list[NotFound]]:
        """Return what a caller finds, and why not the best of all others; on a server, of all that their tenant has."""
        # It is for no caller's eyes, and a role that only reads is told nothing of others.
        found, candidates = self._search_ranked(query, None, caller, top_k)
        with self.database.reading_tenant(caller.tenant if caller else None) as connection:
            if not self.database.is_writer(connection):
                return candidates, []
            view = views.read_writer_view(connection, self._once)
            best = [hit.chunk for hit in ranking.rank_chunks(connection, view, query, sources=None, top_k=2 * top_k)]
            rows = ranking.read_found_chunks(connection, best)
        known = {hit.chunk for hit in found}
        others = [(rows[chunk][3], view.scopes[chunk[0]]) for chunk in best if chunk not in known]
        return candidates, _explain_missing(others, caller)

    def _search_ranked(
        self, query: str, sources: Collection[str] | None, caller: Caller | None, top_k: int
    ) -> tuple[list[ranking.Ranked], list[JsonObject]]:
        asked = None if self.embedder is None else self.embedder.query(query)
        within = None if sources is None else frozenset(sources)
        with self.database.reading(caller) as connection:
            view = views.read_caller_view(connection, caller, self._once)
            made = None if asked is None else read_embedding(connection)
            if asked is None or made is None or not made.name:
                found = ranking.rank_chunks(connection, view, query, sources=within, top_k=top_k)
            else:  # in the order of words and vectors
                refuse_other_size(made, asked, self.database.shown)
                most = max(ranking.POOL, top_k)
                words = ranking.rank_chunks(connection, view, query, sources=within, top_k=most)
                near = self._nearness.nearest(connection, view, asked, sources=within, most=most)
                found = ranking.fuse_word_and_vector_hits(words, near, top_k=top_k, min_similarity=self._min_similarity)
            return found, _read_candidates(connection, view, caller, found, self.database.shown)

    def close(self) -> None:
        """Close what is open; it is opened again when it is needed."""
        self.database.close()


_OTHERS: Final = "SELECT scope FROM chunks WHERE name = ? AND (tenant <> ? OR name <> ?)"  # other chunks of an id


def _read_candidates(
    connection: Connection, view: views.View, caller: Caller | None, found: Sequence[ranking.Ranked], shown: str
) -> list[JsonObject]:
    """Return candidates of what was found, each held against the hash that it was put in with."""
    rows, candidates = ranking.read_found_chunks(connection, [hit.chunk for hit in found]), list[JsonObject]()
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


def _name_for_caller(
    connection: Connection, view: views.View, caller: Caller | None, tenant: str | None, name: str
) -> str:
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


def _explain_missing(missing: Iterable[tuple[str, Scope]], caller: Caller | None) -> list[NotFound]:
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
