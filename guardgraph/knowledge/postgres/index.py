"""The index in PostgreSQL: documents are put in, moved and taken out, and found by those who may read them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from guardgraph.knowledge.checking.checked import CheckedBase
from guardgraph.knowledge.documents import Stamp, StoredDocument
from guardgraph.knowledge.indexes import AnyIndex, Listed
from guardgraph.knowledge.postgres.checking import check_rows_and_counts, rebuild_database
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
from guardgraph.knowledge.postgres.schema import (
    check_server_embedding,
    is_writer,
    note_server_embedding,
    read_known_vectors,
    read_server_embedding,
    require_writer,
)
from guardgraph.knowledge.postgres.server import Server
from guardgraph.knowledge.postgres.writing import TenantWriter
from guardgraph.knowledge.searching.found import make_chunk_candidates
from guardgraph.knowledge.searching.ranking import Ranked
from guardgraph.knowledge.searching.views import COUNTED_PARTS, Once, View
from guardgraph.knowledge.storing.scopes import Scope, make_scope_key, parse_scope_row, read_scope_tenant
from guardgraph.knowledge.vectors import embed_new_texts, list_embedding_texts, refuse_other_size
from guardgraph.plain.json import JsonObject
from guardgraph.state.context import Access, Caller, normalise_tenant, normalize_document_access

if TYPE_CHECKING:
    from langchain_core.embeddings import Embeddings
    from psycopg import Connection

_LISTED: Final = (
    "SELECT name, collection, size, modified, sha256, source, to_json(readers) FROM guardgraph.documents d "
    "JOIN guardgraph.scopes s ON s.id = scope WHERE d.tenant = %s"
)


class PostgresIndex(AnyIndex["Connection[Any]", Place]):
    """An inverted index of documents in a database of PostgreSQL."""

    def __init__(self, url: str, *, embedding: Embeddings | None = None, min_similarity: float | None = None) -> None:
        self.server = Server(url)
        super().__init__(embedding, min_similarity, read_scope_vectors)
        self._once = Once(COUNTED_PARTS)

    def check_embedding(self, *, to_write: bool = False) -> None:
        """As `AnyIndex.check_embedding`."""
        with self.server.reading(None) as connection:
            check_server_embedding(connection, self.embedder, self.server.shown, to_write=to_write)

    def _write(self, documents: Sequence[StoredDocument]) -> list[tuple[StoredDocument, str]]:
        refused = list[tuple[StoredDocument, str]]()
        for tenant in dict.fromkeys(document.access.tenant for document in documents):
            own = [document for document in documents if document.access.tenant == tenant]
            vectors = self._embed_waiting_chunks(tenant, own)
            with self.server.writing(tenant) as connection:
                note_server_embedding(connection, self.embedder, vectors.values(), self.server.shown)
                writer = TenantWriter(connection, tenant)
                taken = writer.put(own, vectors)
                writer.flush()
            refused += [(document, taken[document.id]) for document in own if document.id in taken]
        return refused

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

    def _reading(self, caller: Caller | None) -> AbstractContextManager[Connection[Any]]:
        return self.server.reading(caller)

    def _read_view(self, connection: Connection[Any], caller: Caller | None) -> View:
        return read_caller_view(connection, caller, self._once)

    def _has_vectors(self, connection: Connection[Any], asked: bytes) -> bool:
        made = read_server_embedding(connection)
        if made is None or not made.name:
            return False
        refuse_other_size(made, asked, self.server.shown)
        return True

    def _rank(
        self, connection: Connection[Any], view: View, query: str, sources: frozenset[str] | None, top_k: int
    ) -> list[Ranked[Place]]:
        return rank_chunks(connection, view, query, sources=sources, top_k=top_k)

    def _read_candidates(
        self, connection: Connection[Any], view: View, caller: Caller | None, found: Sequence[Ranked[Place]]
    ) -> list[JsonObject]:
        rows = read_found_chunks(connection, view, [hit.chunk for hit in found])
        is_taken = partial(_is_chunk_id_taken, connection)
        return make_chunk_candidates(found, rows, view, caller, is_taken, shown=self.server.shown)

    def _rank_for_all(self, query: str, caller: Caller | None, top_k: int) -> list[tuple[Place, str, Scope]]:
        """As `AnyIndex._rank_for_all`, of the caller's tenant; to a role that only reads the server shows none."""
        with self.server.reading_tenant(caller.tenant if caller else None) as connection:
            if not is_writer(connection):
                return []
            view = read_tenant_view(connection, self._once)
            found = [hit.chunk for hit in self._rank(connection, view, query, None, top_k)]
            rows = read_found_chunks(connection, view, found)
            return [(chunk, rows[chunk][4], view.scopes[chunk[0]]) for chunk in found]

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
