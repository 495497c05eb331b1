"""An index, of either kind: a knowledge base puts documents in, and asks for what a caller may read."""

from __future__ import annotations

import json
import sqlite3
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Generic, NamedTuple, Self, TypeVar

from guardgraph.knowledge.documents import Stamp, StoredDocument
from guardgraph.knowledge.searching.arithmetic import NUMPY_FROM
from guardgraph.knowledge.searching.found import (
    POOL,
    NotFound,
    explain_missing_documents,
    fuse_word_and_vector_hits,
    read_chunk_candidates,
)
from guardgraph.knowledge.searching.memory import Memory
from guardgraph.knowledge.searching.ranking import Id, Nearness, Ranked, rank_index_chunks
from guardgraph.knowledge.searching.views import View
from guardgraph.knowledge.storing.collections import list_index_collections
from guardgraph.knowledge.storing.documents import drop_stored_documents, move_stored_document, put_stored_document
from guardgraph.knowledge.storing.file import File
from guardgraph.knowledge.storing.scopes import (
    Scope,
    list_index_scopes,
    make_scope_key,
    read_index_scope,
    read_rows_by_key,
    read_scope_tenant,
    read_value_rows,
)
from guardgraph.knowledge.storing.writing import Writer
from guardgraph.knowledge.vectors import (
    Embedder,
    check_index_embedding,
    check_vector_size,
    embed_document_chunks,
    list_embedding_texts,
    note_index_embedding,
)
from guardgraph.plain.errors import ConfigurationError
from guardgraph.plain.json import JsonObject
from guardgraph.state.context import Access, Caller, normalise_tenant

if TYPE_CHECKING:
    from langchain_core.embeddings import Embeddings


Opened = TypeVar("Opened")
"""A connection, inside a transaction."""

_MOST_CHUNKS: Final = 4_096
"""Of a transaction; those of a single document may be more."""


class Batch:
    """Puts documents in. They are kept in memory until there are enough for a transaction, or the block ends."""

    # Where the process ends, what waits is lost; in the base, each document is as it was or as it is put.

    def __init__(
        self,
        write: Callable[[Sequence[StoredDocument]], Iterable[tuple[StoredDocument, str]]],
        refuse: Callable[[StoredDocument, str], object],
    ) -> None:
        self._write = write
        self._refuse = refuse
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
        if documents:
            for document, reason in self._write(documents):
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


class AnyIndex(ABC, Generic[Opened, Id]):
    """What both kinds of index do."""

    # A tenant is None for documents of callers without one, and a caller is None where nothing is known of them.

    def __init__(
        self,
        embedding: Embeddings | None,
        min_similarity: float | None,
        read_vectors: Callable[[Opened, Scope], Sequence[tuple[Id, int, int, bytes]]],
    ) -> None:
        self.embedder = None if embedding is None else Embedder(embedding)
        """What makes vectors of texts; None for words only."""
        self._nearness = Nearness(read_vectors)
        self._min_similarity = min_similarity

    @abstractmethod
    def check_embedding(self, *, to_write: bool = False) -> None:
        """Refuse what is no knowledge base of this version, or has vectors of another embedding."""

    def put(self, document: StoredDocument) -> None:
        """Put a document in, in place of the one of its tenant that has its id."""
        with self.together() as batch:
            batch.put(document)

    def together(self, refuse: Callable[[StoredDocument, str], object] = refuse_document) -> Batch:
        """Return what puts many documents in, several in a transaction; use it as a context manager."""
        return Batch(self._write, refuse)

    @abstractmethod
    def _write(self, documents: Sequence[StoredDocument]) -> Iterable[tuple[StoredDocument, str]]:
        """Put documents in, in one transaction for each tenant at most, but for those an id of which is taken."""

    @abstractmethod
    def drop(self, tenant: str | None, ids: Iterable[str]) -> None:
        """Take documents out, in one transaction; ids that are not there are none."""

    @abstractmethod
    def drop_collection(self, tenant: str | None, collection: str) -> int:
        """Take all documents of a collection out, in one transaction, and return how many there were."""

    @abstractmethod
    def move(self, tenant: str | None, name: str, source: str, access: Access) -> None:
        """Give a document whose text is unchanged another source and other readers."""

    @abstractmethod
    def restamp(self, tenant: str | None, stamps: Mapping[str, Stamp]) -> None:
        """Note by what documents are known now whose texts are unchanged."""

    @abstractmethod
    def read_rules_version(self, tenant: str | None, collection: str) -> object:
        """Return the version of the rules by which a collection was narrowed; None where nothing says it."""

    @abstractmethod
    def note_rules_version(self, tenant: str | None, collection: str, version: int) -> None:
        """Note by which version of the rules a collection was narrowed."""

    @abstractmethod
    def listed(self, tenant: str | None, collection: str) -> dict[str, Listed]:
        """Return the documents of a collection, by id."""

    @abstractmethod
    def look_up(self, tenant: str | None, ids: Iterable[str]) -> dict[str, Listed]:
        """Return those of some documents of a tenant that are there, by id, in any collection."""

    @abstractmethod
    def spell_tenant(self, tenant: str | None) -> str | None:
        """Return a tenant as the index spells it."""

    @abstractmethod
    def collections(self) -> dict[tuple[str | None, str], int]:
        """Return how many documents each collection of each tenant has."""

    @abstractmethod
    def documents_by_scope(self) -> dict[Scope, int]:
        """Return how many documents each scope has."""

    @abstractmethod
    def tenants(self) -> list[str | None]:
        """Return the tenants that have documents, None first where documents have none."""

    @abstractmethod
    def readable_sources(self, caller: Caller | None) -> list[str]:
        """Return the sources of which a caller may read something, sorted."""

    @abstractmethod
    def source_names(self) -> tuple[str, ...]:
        """Return the names of the sources of all documents, sorted."""

    def search(
        self, query: str, *, sources: Collection[str] | None = None, caller: Caller | None = None, top_k: int = 4
    ) -> list[JsonObject]:
        """Find the chunks that answer a query, among those that a caller may read."""
        asked = None if self.embedder is None else self.embedder.query(query)
        within = None if sources is None else frozenset(sources)
        with self._reading(caller) as connection:
            view = self._read_view(connection, caller)
            found = self._find(connection, view, query, asked, sources=within, top_k=top_k)
            return self._read_candidates(connection, view, caller, found)

    def explain(
        self, query: str, *, caller: Caller | None = None, top_k: int = 4
    ) -> tuple[list[JsonObject], list[NotFound]]:
        """Return what a caller finds, and why they do not find the best of all others; it is for no caller's eyes."""
        asked = None if self.embedder is None else self.embedder.query(query)
        with self._reading(caller) as connection:
            view = self._read_view(connection, caller)
            found = self._find(connection, view, query, asked, sources=None, top_k=top_k)
            candidates, ids = self._read_candidates(connection, view, caller, found), {hit.chunk for hit in found}
        best = self._rank_for_all(query, caller, 2 * top_k)
        others = ((name, scope) for chunk, name, scope in best if chunk not in ids)
        return candidates, explain_missing_documents(others, caller)

    def _find(
        self,
        connection: Opened,
        view: View,
        query: str,
        asked: bytes | None,
        *,
        sources: frozenset[str] | None,
        top_k: int,
    ) -> list[Ranked[Id]]:
        """Return what words find; where there are vectors, in the order of both."""
        if asked is None or not self._has_vectors(connection, asked):
            return self._rank(connection, view, query, sources, top_k)
        most = max(POOL, top_k)
        words = self._rank(connection, view, query, sources, most)
        near = self._nearness.nearest(connection, view, asked, sources=sources, most=most)
        return fuse_word_and_vector_hits(words, near, top_k=top_k, min_similarity=self._min_similarity)

    @abstractmethod
    def _reading(self, caller: Caller | None) -> AbstractContextManager[Opened]:
        """Return what yields a connection that sees one state of what a caller may read."""

    @abstractmethod
    def _read_view(self, connection: Opened, caller: Caller | None) -> View:
        """Return what a caller may read, and what is known of its words."""

    @abstractmethod
    def _has_vectors(self, connection: Opened, asked: bytes) -> bool:
        """Say whether there are vectors to compare with one, and refuse one of another size."""

    @abstractmethod
    def _rank(
        self, connection: Opened, view: View, query: str, sources: frozenset[str] | None, top_k: int
    ) -> list[Ranked[Id]]:
        """Return the chunks that cover most of a question by words, best first."""

    @abstractmethod
    def _read_candidates(
        self, connection: Opened, view: View, caller: Caller | None, found: Sequence[Ranked[Id]]
    ) -> list[JsonObject]:
        """Return candidates of what was found."""

    @abstractmethod
    def _rank_for_all(self, query: str, caller: Caller | None, top_k: int) -> list[tuple[Id, str, Scope]]:
        """Return the best chunks by words, their ids and scopes, whoever may read them, where it can be told."""

    @abstractmethod
    def close(self) -> None:
        """Close what is open; it is opened again when it is needed."""


def _list_documents(connection: sqlite3.Connection, rows: Iterable[tuple[Any, ...]]) -> dict[str, Listed]:
    scopes, found = dict[int, Scope](), dict[str, Listed]()
    for name, collection, *stamp, number in rows:
        if number not in scopes:
            scopes[number] = read_index_scope(connection, number)
        found[name] = Listed(collection, Stamp(*stamp), scopes[number].source, scopes[number].access)
    return found


def _read_scope_vectors(connection: sqlite3.Connection, scope: Scope) -> list[tuple[int, int, int, bytes]]:
    return connection.execute(
        "SELECT chunks.id, place, number, vector FROM documents JOIN chunks ON document = documents.id "
        "JOIN vectors ON vectors.chunk = chunks.id WHERE scope = ? ORDER BY place, number",
        [scope.id],
    ).fetchall()


def _name_rules_note(tenant: str | None, collection: str) -> str:
    return f"rules of {json.dumps([tenant, collection])}"


_NAMED: Final = (
    "SELECT chunks.id, scope, chunks.name FROM chunks JOIN documents ON documents.id = document WHERE chunks.id IN"
)
_LISTED: Final = "SELECT name, collection, size, modified, sha256, scope FROM documents WHERE tenant = ?"


class Index(AnyIndex[sqlite3.Connection, int]):
    """An inverted index of documents in one SQLite file."""

    def __init__(
        self,
        path: str | Path,
        *,
        embedding: Embeddings | None = None,
        min_similarity: float | None = None,
        numpy_from: float = NUMPY_FROM,
    ) -> None:
        self.path = Path(path)
        super().__init__(embedding, min_similarity, _read_scope_vectors)
        self._file = File(self.path)
        self._memory = Memory(numpy_from)

    def check_embedding(self, *, to_write: bool = False) -> None:
        """Refuse an embedding that is not the one by which the file's vectors were made."""
        with self._file.reading() as connection:
            check_index_embedding(connection, self.embedder, self._file.shown, to_write=to_write)

    def _write(self, documents: Sequence[StoredDocument]) -> list[tuple[StoredDocument, str]]:
        refused = []
        vectors = self._embed_waiting_chunks(documents)
        with self._file.writing() as connection:
            if self.embedder is not None and vectors:
                note_index_embedding(connection, self.embedder, vectors.values(), self._file.shown)
            writer = Writer(connection)
            for document in documents:
                if (reason := put_stored_document(connection, writer, document, vectors)) is not None:
                    refused.append((document, reason))
            writer.flush()
        return refused

    def _embed_waiting_chunks(self, documents: Sequence[StoredDocument]) -> dict[bytes, bytes] | None:
        """Return the vectors of documents, before others have to wait for the transaction."""
        if self.embedder is None:
            return None
        with self._file.reading() as connection:
            texts = [text for document in documents for text in list_embedding_texts(document)]
            return embed_document_chunks(connection, self.embedder, texts)

    def drop(self, tenant: str | None, ids: Iterable[str]) -> None:
        """Take documents of a tenant out, in one transaction; ids that are not there are none."""
        with self._file.writing() as connection:
            drop_stored_documents(connection, tenant, ids)

    def drop_collection(self, tenant: str | None, collection: str) -> int:
        """Take all documents of a collection out, in one transaction, and return how many there were."""
        with self._file.writing() as connection:
            rows = connection.execute(f"{_LISTED} AND collection = ?", [make_scope_key(tenant), collection])
            names = [name for name, *_ in rows]
            drop_stored_documents(connection, tenant, names)
            return len(names)

    def move(self, tenant: str | None, name: str, source: str, access: Access) -> None:
        """Give a document whose text is unchanged another source and other readers."""
        with self._file.writing() as connection:
            move_stored_document(connection, tenant, name, source, access)

    def restamp(self, tenant: str | None, stamps: Mapping[str, Stamp]) -> None:
        """Note by what documents are known now whose texts are unchanged, all of them in one transaction."""
        if stamps:
            with self._file.writing() as connection:
                connection.executemany(
                    "UPDATE documents SET size = ?, modified = ?, sha256 = ? WHERE tenant = ? AND name = ?",
                    [(*stamp, make_scope_key(tenant), name) for name, stamp in stamps.items()],
                )

    def read_rules_version(self, tenant: str | None, collection: str) -> object:
        """Return the version of the rules by which the documents of a collection were narrowed, if it was noted."""
        with self._file.reading() as connection:
            name = _name_rules_note(tenant, collection)
            row = connection.execute("SELECT value FROM state WHERE name = ?", [name]).fetchone()
            return row and row[0]

    def note_rules_version(self, tenant: str | None, collection: str, version: int) -> None:
        """Note by which version of the rules the documents of a collection were narrowed."""
        with self._file.writing() as connection:
            name = _name_rules_note(tenant, collection)
            connection.execute("INSERT OR REPLACE INTO state VALUES (?, ?)", [name, version])

    def listed(self, tenant: str | None, collection: str) -> dict[str, Listed]:
        """Return the documents of a collection, by id."""
        with self._file.reading() as connection:
            rows = connection.execute(f"{_LISTED} AND collection = ?", [make_scope_key(tenant), collection])
            return _list_documents(connection, rows)

    def look_up(self, tenant: str | None, ids: Iterable[str]) -> dict[str, Listed]:
        """Return those of some documents of a tenant that are there, by id, whatever collection they are in."""
        with self._file.reading() as connection:
            rows = read_value_rows(connection, _LISTED, [make_scope_key(tenant)], ids, column="name")
            return _list_documents(connection, rows)

    def spell_tenant(self, tenant: str | None) -> str | None:
        """Return a tenant in its composed form."""
        return normalise_tenant(tenant)

    def collections(self) -> dict[tuple[str | None, str], int]:
        """Return how many documents each collection of each tenant has."""
        with self._file.reading() as connection:
            return list_index_collections(connection)

    def documents_by_scope(self) -> dict[Scope, int]:
        """Return how many documents each scope has."""
        with self._file.reading() as connection:
            known = list_index_scopes(connection)
            rows = connection.execute("SELECT scope, count(*) FROM documents GROUP BY scope")
            return {known[scope]: count for scope, count in rows}

    def tenants(self) -> list[str | None]:
        """Return the tenants that have documents, None first where documents have none."""
        with self._file.reading() as connection:
            return [
                read_scope_tenant(key)
                for (key,) in connection.execute("SELECT DISTINCT tenant FROM documents ORDER BY 1")
            ]

    def readable_sources(self, caller: Caller | None) -> list[str]:
        """Return the sources of which a caller may read something, sorted; None is somebody unknown."""
        with self._file.reading() as connection:
            view = self._memory.views.of(connection, caller)
            return sorted({view.scopes[part.scope].source for part in view.parts})

    def source_names(self) -> tuple[str, ...]:
        """Return the names of the sources of all documents, sorted."""
        with self._file.reading() as connection:
            rows = connection.execute("SELECT DISTINCT source FROM scopes WHERE id IN (SELECT scope FROM documents)")
            return tuple(sorted(source for (source,) in rows))

    def _reading(self, caller: Caller | None) -> AbstractContextManager[sqlite3.Connection]:
        return self._file.reading()

    def _read_view(self, connection: sqlite3.Connection, caller: Caller | None) -> View:
        return self._memory.views.of(connection, caller)

    def _has_vectors(self, connection: sqlite3.Connection, asked: bytes) -> bool:
        return check_vector_size(connection, asked, self._file.shown)

    def _rank(
        self, connection: sqlite3.Connection, view: View, query: str, sources: frozenset[str] | None, top_k: int
    ) -> list[Ranked[int]]:
        return rank_index_chunks(connection, view, self._memory, query, sources=sources, top_k=top_k)

    def _read_candidates(
        self, connection: sqlite3.Connection, view: View, caller: Caller | None, found: Sequence[Ranked[int]]
    ) -> list[JsonObject]:
        return read_chunk_candidates(connection, view, caller, found, self._file.shown)

    def _rank_for_all(self, query: str, caller: Caller | None, top_k: int) -> list[tuple[int, str, Scope]]:
        with self._file.reading() as connection:
            known = list_index_scopes(connection)
            found = self._rank(connection, self._memory.views.over(connection, known), query, None, top_k)
            rows = read_rows_by_key(connection, _NAMED, [hit.chunk for hit in found])
            return [(hit.chunk, rows[hit.chunk][1], known[rows[hit.chunk][0]]) for hit in found]

    def close(self) -> None:
        """Close the file; it is opened again when it is needed."""
        self._file.close()
