"""The index in PostgreSQL: documents are put in, moved and taken out, and found by those who may read them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from guardgraph.knowledge.checking.checked import CheckedBase
from guardgraph.knowledge.documents import Stamp, StoredDocument
from guardgraph.knowledge.indexes import AnyIndex, Listed
from guardgraph.knowledge.postgres.checking import check_rows_and_counts, rebuild_database
from guardgraph.knowledge.postgres.embedding import (
    check_server_embedding,
    note_server_embedding,
    read_known_vectors,
    read_server_embedding,
)
from guardgraph.knowledge.postgres.ranking import (
    SCOPE_COLUMNS,
    Place,
    rank_chunks,
    read_caller_view,
    read_found_chunks,
    read_permitted_parts,
    read_scope_vectors,
    read_tenant_view,
)
from guardgraph.knowledge.postgres.schema import is_writer, require_writer
from guardgraph.knowledge.postgres.server import Server
from guardgraph.knowledge.postgres.writing import TenantWriter
from guardgraph.knowledge.searching.found import (
    POOL,
    NotFound,
    explain_missing_documents,
    fuse_word_and_vector_hits,
    make_chunk_candidates,
)
from guardgraph.knowledge.searching.nearness import Nearness
from guardgraph.knowledge.searching.ranking import Ranked
from guardgraph.knowledge.searching.views import COUNTED_PARTS, Once, View
from guardgraph.knowledge.storing.scopes import Scope, make_scope_key, parse_scope_row, read_scope_tenant
from guardgraph.knowledge.vectors import Embedder, embed_new_texts, list_embedding_texts, refuse_other_size
from guardgraph.plain.json import JsonObject
from guardgraph.state.context import Access, Caller, normalise_tenant, normalize_document_access

if TYPE_CHECKING:
    from langchain_core.embeddings import Embeddings
    from psycopg import Connection

_LISTED: Final = (
    "SELECT name, collection, size, modified, sha256, source, to_json(readers) FROM guardgraph.documents d "
    "JOIN guardgraph.scopes s ON s.id = scope WHERE d.tenant = %s"
)


class PostgresIndex(AnyIndex):
    """An inverted index of documents in a database of PostgreSQL.

    Each change is a transaction: it is there as a whole or not at all, for queries that follow, from every machine.

    Args:
        url: of the database.
        embedding: as `Index` takes it.
        min_similarity: likewise.

    Raises:
        ConfigurationError: from every method, when the database or the role is refused.
        StoreError: likewise, when the server cannot be read or written.
    """

    def __init__(self, url: str, *, embedding: Embeddings | None = None, min_similarity: float | None = None) -> None:
        self.server = Server(url)
        self.embedder = None if embedding is None else Embedder(embedding)
        """What makes vectors of texts; None for words only."""
        self._once = Once(COUNTED_PARTS)
        self._nearness = Nearness(read_scope_vectors)
        self._min_similarity = min_similarity

    def check_embedding(self, *, to_write: bool = False) -> None:
        """As `AnyIndex.check_embedding`."""
        with self.server.reading(None) as connection:
            check_server_embedding(connection, self.embedder, self.server.shown, to_write=to_write)

    def _refuse_taken(self, document: StoredDocument) -> None:
        with self.server.reading_tenant(document.access.tenant) as connection:
            TenantWriter(connection, document.access.tenant).refuse_taken([document])

    def _write(self, documents: Sequence[StoredDocument]) -> None:
        for tenant in dict.fromkeys(document.access.tenant for document in documents):
            own = [document for document in documents if document.access.tenant == tenant]
            vectors = self._embed_waiting_chunks(tenant, own)
            with self.server.writing(tenant) as connection:
                note_server_embedding(connection, self.embedder, vectors.values(), self.server.shown)
                writer = TenantWriter(connection, tenant)
                writer.refuse_taken(own)
                for document in own:
                    writer.put(document, vectors)
                writer.flush()

    def _embed_waiting_chunks(self, tenant: str | None, documents: Iterable[StoredDocument]) -> dict[bytes, bytes]:
        """Return the vectors of documents, before others have to wait for the transaction."""
        if self.embedder is None:
            return {}
        with self.server.reading_tenant(tenant) as connection:
            texts = [text for document in documents for text in list_embedding_texts(document)]
            return embed_new_texts(self.embedder, texts, partial(read_known_vectors, connection, tenant))

    def drop(self, tenant: str | None, ids: Iterable[str]) -> None:
        """As `AnyIndex.drop`."""
        with self.server.writing(tenant) as connection:
            writer = TenantWriter(connection, tenant)
            writer.drop(ids)
            writer.flush()

    def drop_collection(self, tenant: str | None, collection: str) -> int:
        """As `AnyIndex.drop_collection`."""
        with self.server.writing(tenant) as connection:
            rows = connection.execute(f"{_LISTED} AND collection = %s", [make_scope_key(tenant), collection])
            writer = TenantWriter(connection, tenant)
            dropped = writer.drop([name for name, *_ in rows])
            writer.flush()
            return dropped

    def move(self, tenant: str | None, name: str, source: str, access: Access) -> None:
        """As `AnyIndex.move`."""
        with self.server.writing(tenant) as connection:
            writer = TenantWriter(connection, tenant)
            writer.move(name, source, normalize_document_access(tenant, access.readers))
            writer.flush()

    def restamp(self, tenant: str | None, stamps: Mapping[str, Stamp]) -> None:
        """As `AnyIndex.restamp`."""
        if stamps:
            with self.server.writing(tenant) as connection, connection.cursor() as cursor:
                cursor.executemany(
                    "UPDATE guardgraph.documents SET size = %s, modified = %s, sha256 = %s "
                    "WHERE tenant = %s AND name = %s",
                    [(*stamp, make_scope_key(tenant), name) for name, stamp in stamps.items()],
                )

    def read_rules_version(self, tenant: str | None, collection: str) -> object:
        """As `AnyIndex.read_rules_version`."""
        with self.server.reading_tenant(tenant) as connection:
            row = connection.execute(
                "SELECT rules FROM guardgraph.collections WHERE tenant = %s AND name = %s",
                [make_scope_key(tenant), collection],
            ).fetchone()
            return row and row[0]

    def note_rules_version(self, tenant: str | None, collection: str, version: int) -> None:
        """As `AnyIndex.note_rules_version`."""
        with self.server.writing(tenant) as connection:
            connection.execute(
                "INSERT INTO guardgraph.collections VALUES (%s, %s, %s) "
                "ON CONFLICT (tenant, name) DO UPDATE SET rules = excluded.rules",
                [make_scope_key(tenant), collection, version],
            )

    def listed(self, tenant: str | None, collection: str) -> dict[str, Listed]:
        """As `AnyIndex.listed`."""
        return self._list(tenant, "collection = %s", collection)

    def look_up(self, tenant: str | None, ids: Iterable[str]) -> dict[str, Listed]:
        """As `AnyIndex.look_up`."""
        return self._list(tenant, "name = ANY (%s)", [*ids])

    def _list(self, tenant: str | None, condition: str, value: object) -> dict[str, Listed]:
        with self.server.reading_tenant(tenant) as connection:
            require_writer(connection, self.server.shown)
            rows = connection.execute(f"{_LISTED} AND {condition}", [make_scope_key(tenant), value])
            return {
                name: Listed(collection, Stamp(*stamp), source, Access(tenant, tuple(readers)))
                for name, collection, *stamp, source, readers in rows
            }

    def spell_tenant(self, tenant: str | None) -> str | None:
        """Return a tenant in its composed form."""
        return normalise_tenant(tenant)

    def collections(self) -> dict[tuple[str | None, str], int]:
        """As `AnyIndex.collections`, as a writer."""
        rows = self._read_all("SELECT tenant, collection, count(*) FROM guardgraph.documents GROUP BY 1, 2")
        return {(read_scope_tenant(key), name): count for key, name, count in rows}

    def documents_by_scope(self) -> dict[Scope, int]:
        """As `AnyIndex.documents_by_scope`, as a writer."""
        rows = self._read_all(
            f"SELECT {SCOPE_COLUMNS}, count(*) FROM guardgraph.scopes s JOIN guardgraph.documents d ON d.scope = s.id "
            "GROUP BY s.id"
        )
        return {scope: count for *row, count in rows if (scope := parse_scope_row(*row)) is not None}

    def tenants(self) -> list[str | None]:
        """As `AnyIndex.tenants`, as a writer."""
        rows = self._read_all("SELECT DISTINCT tenant FROM guardgraph.documents ORDER BY 1")
        return [read_scope_tenant(key) for (key,) in rows]

    def _read_all(self, statement: str) -> list[tuple[Any, ...]]:
        with self.server.reading_all() as connection:
            require_writer(connection, self.server.shown)
            return connection.execute(statement).fetchall()

    def source_names(self) -> tuple[str, ...]:
        """As `AnyIndex.source_names`; as a role that only reads, of those documents that are for everybody."""
        with self.server.reading_all() as connection:
            rows = connection.execute(
                "SELECT DISTINCT source FROM guardgraph.scopes WHERE id = ANY (SELECT scope FROM guardgraph.documents)"
            )
            return tuple(sorted(source for (source,) in rows))

    def readable_sources(self, caller: Caller | None) -> list[str]:
        """As `AnyIndex.readable_sources`."""
        with self.server.reading(caller) as connection:
            scopes, rows = read_permitted_parts(connection, caller)
            return sorted({scopes[row[2]].source for row in rows})

    def search(
        self, query: str, *, sources: Collection[str] | None = None, caller: Caller | None = None, top_k: int = 4
    ) -> list[JsonObject]:
        """As `AnyIndex.search`.

        Raises:
            StoreError: a chunk that was found is not what was put in.
        """
        asked = None if self.embedder is None else self.embedder.query(query)
        with self.server.reading(caller) as connection:
            view = read_caller_view(connection, caller, self._once)
            found = self._find(connection, view, query, asked, sources=sources, top_k=top_k)
            return self._show(connection, view, caller, found)

    def _find(
        self,
        connection: Connection[Any],
        view: View,
        query: str,
        asked: bytes | None,
        *,
        sources: Collection[str] | None,
        top_k: int,
    ) -> list[Ranked[Place]]:
        """Return what words find; where there are vectors, in the order of both."""
        made = None if asked is None else read_server_embedding(connection)
        if asked is None or made is None or not made.name:
            return rank_chunks(connection, view, query, sources=sources, top_k=top_k)
        refuse_other_size(made, asked, self.server.shown)
        most = max(POOL, top_k)
        words = rank_chunks(connection, view, query, sources=sources, top_k=most)
        near = self._nearness.nearest(connection, view, asked, sources=sources, most=most)
        return fuse_word_and_vector_hits(words, near, top_k=top_k, min_similarity=self._min_similarity)

    def _show(
        self, connection: Connection[Any], view: View, caller: Caller | None, found: Sequence[Ranked[Place]]
    ) -> list[JsonObject]:
        rows = read_found_chunks(connection, view, [hit.chunk for hit in found])
        is_taken = partial(_is_chunk_id_taken, connection)
        return make_chunk_candidates(found, rows, view, caller, is_taken, shown=self.server.shown)

    def explain(
        self, query: str, *, caller: Caller | None = None, top_k: int = 4
    ) -> tuple[list[JsonObject], list[NotFound]]:
        """Return what a caller finds and, to a writer, why they do not find the best of all others of their tenant.

        To a role that only reads for callers the server shows no more than the caller finds.
        """
        asked = None if self.embedder is None else self.embedder.query(query)
        with self.server.reading(caller) as connection:
            view = read_caller_view(connection, caller, self._once)
            found = self._find(connection, view, query, asked, sources=None, top_k=top_k)
            candidates, ids = self._show(connection, view, caller, found), {hit.chunk for hit in found}
            if not is_writer(connection):
                return candidates, []
        with self.server.reading_tenant(caller.tenant if caller else None) as connection:
            whole = read_tenant_view(connection, self._once)
            others = [hit.chunk for hit in rank_chunks(connection, whole, query, sources=None, top_k=2 * top_k)]
            missing = [chunk for chunk in others if chunk not in ids]
            rows = read_found_chunks(connection, whole, missing)
            named = ((rows[chunk][4], whole.scopes[chunk[0]]) for chunk in missing)
            return candidates, explain_missing_documents(named, caller)

    def check(self) -> CheckedBase:
        """Check whether each row and all that is counted are what was put in, as a writer; nothing is changed."""
        with self.server.reading_all() as connection:
            require_writer(connection, self.server.shown)
            return check_rows_and_counts(connection)

    def rebuild(self) -> CheckedBase:
        """Make the index anew from the stored texts whose hash is right, as a writer, in one transaction."""
        with self.server.rebuilding() as connection:
            return rebuild_database(connection, partial(self.server.write_for, connection), self.embedder)

    def close(self) -> None:
        """Close the connections; others are opened when they are needed."""
        self.server.close()


def _is_chunk_id_taken(connection: Connection[Any], shown: str, tenant: str | None, name: str) -> bool:
    """Say whether another chunk that the caller may read has an id; no other ones are seen."""
    row = connection.execute(
        "SELECT 1 FROM guardgraph.chunks WHERE name = %s AND (tenant <> %s OR name <> %s) LIMIT 1",
        [shown, make_scope_key(tenant), name],
    ).fetchone()
    return row is not None
