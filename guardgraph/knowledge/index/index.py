"""The index: documents are put in, moved and taken out, and found by those who may read them.

Many documents are put in several to a transaction, since to commit each for itself takes most of the time. What a
search returns is one order of two, that of the words and that of the vectors. Whoever may open the file can ask why a
document is not among what a caller finds.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Self

from guardgraph.knowledge.documents import Stamp, StoredDocument
from guardgraph.knowledge.index.arithmetic import NUMPY_FROM
from guardgraph.knowledge.index.collected import list_index_collections
from guardgraph.knowledge.index.file import File
from guardgraph.knowledge.index.memory import Memory
from guardgraph.knowledge.index.nearness import Near, Nearness
from guardgraph.knowledge.index.ranking import Ranked, rank_index_chunks
from guardgraph.knowledge.index.statistics import Scope, View, list_index_scopes, make_scope_key, read_scope_tenant
from guardgraph.knowledge.index.storing import (
    drop_stored_document,
    hash_stored_row,
    move_stored_document,
    put_stored_document,
    refuse_taken,
)
from guardgraph.knowledge.index.values import read_rows_by_key
from guardgraph.knowledge.index.vectors import (
    Embedder,
    check_index_embedding,
    check_vector_size,
    embed_document_chunks,
    list_embedding_texts,
    note_index_embedding,
)
from guardgraph.knowledge.index.writing import Writer
from guardgraph.plain.errors import StoreError
from guardgraph.plain.json import JsonObject
from guardgraph.state.context import PUBLIC, Access, Caller, is_access_allowed

if TYPE_CHECKING:
    from langchain_core.embeddings import Embeddings

_MOST_CHUNKS: Final = 4_096
"""Of a transaction; those of a single document may be more."""


class Batch:
    """Puts documents in. They are kept in memory until there are enough for a transaction, or the block ends.

    Whoever ends the process loses what waits; in the file, each document is as it was or as it is put.
    """

    def __init__(self, file: File, embedder: Embedder | None = None) -> None:
        self._file = file
        self._embedder = embedder
        self._waiting: dict[tuple[str | None, str], StoredDocument] = {}
        self._chunks: set[tuple[str | None, str]] = set()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        self.flush()

    def put(self, document: StoredDocument) -> None:
        """Put a document in, in place of the one of its tenant that has its id.

        Raises:
            ConfigurationError: its id, or that of a chunk, is taken in its tenant; nothing of it is put in.
            StoreError: the file cannot be written.
        """
        tenant = document.access.tenant
        ids = {(tenant, chunk.id) for chunk in document.chunks}
        if (tenant, document.id) in self._waiting or not ids.isdisjoint(self._chunks):
            self.flush()
        with self._file.reading() as connection:
            refuse_taken(connection, document)
        self._waiting[tenant, document.id] = document
        self._chunks |= ids
        if len(self._chunks) >= _MOST_CHUNKS:
            self.flush()

    def flush(self) -> None:
        """Write what waits.

        Raises:
            ConfigurationError: an id was taken meanwhile; none of what waited is put in.
            StoreError: the file cannot be written; likewise.
        """
        documents = list(self._waiting.values())
        self._waiting.clear()
        self._chunks.clear()
        if not documents:
            return
        vectors = self._embed_waiting_chunks(documents)
        with self._file.writing() as connection:
            if self._embedder is not None and vectors:
                note_index_embedding(connection, self._embedder, vectors.values(), self._file.shown)
            writer = Writer(connection)
            for document in documents:
                put_stored_document(connection, writer, document, vectors)
            writer.flush()

    def _embed_waiting_chunks(self, documents: list[StoredDocument]) -> dict[bytes, bytes] | None:
        """Return the vectors of documents, before others have to wait for the transaction."""
        if self._embedder is None:
            return None
        with self._file.reading() as connection:
            texts = [text for document in documents for text in list_embedding_texts(document)]
            return embed_document_chunks(connection, self._embedder, texts)


_CHUNKS: Final = (
    "SELECT chunks.id, scope, documents.name, title, updated_at, chunks.name, section, start, stop, text, hash "
    "FROM chunks JOIN documents ON documents.id = document WHERE chunks.id IN"
)


def read_chunk_candidates(
    connection: sqlite3.Connection, view: View, caller: Caller | None, found: Iterable[Ranked], shown: str
) -> list[JsonObject]:
    """Return candidates of what was found.

    Raises:
        StoreError: a chunk is not what was put in.
    """
    hits = [*found]
    rows = read_rows_by_key(connection, _CHUNKS, [hit.chunk for hit in hits])
    return [
        _make_chunk_candidate(connection, view, caller, rows.get(hit.chunk), score=hit.score, shown=shown)
        for hit in hits
    ]


def _make_chunk_candidate(
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
    if hash_stored_row(access, (document, source, title, updated_at), (name, section, start, stop, text)) != hashed:
        raise StoreError(f"{shown}: damaged: a chunk is not what was put in; `guardgraph kb check` tells more")
    return {
        "doc_id": _show_chunk_id(connection, view, caller, access.tenant, name),
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


def _show_chunk_id(
    connection: sqlite3.Connection, view: View, caller: Caller | None, tenant: str | None, name: str
) -> str:
    """Return by what id a caller knows a chunk: its own, or with its tenant where another that he may read has it.

    His own tenant's keep theirs. It depends on nothing that he may not read, and no two chunks are shown by one id.
    """
    if tenant == (caller.tenant if caller else None):
        return name
    shown, colons = name, ""
    while _is_chunk_id_taken(connection, view, shown, tenant, name):
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


def explain_missing_document(
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
            NotFound(
                name,
                scopes[scope].access.tenant,
                scopes[scope].source,
                _explain_unreadable_document(scopes[scope], caller),
            )
        )
    return missing


def _explain_unreadable_document(scope: Scope, caller: Caller | None) -> str:
    if is_access_allowed(scope.access, caller):
        return "he may read it, and others that he may read are nearer"
    readers = ", ".join(scope.access.readers)
    if not readers:
        return "nobody may read it"
    of = "callers without a tenant" if scope.access.tenant is None else f"callers of {scope.access.tenant}"
    return f"he may not read it; it is for {of}: {readers}"


POOL: Final = 100
"""Chunks of each order that count."""

_SMOOTHING: Final = 60
"""By how much a rank is raised before its reciprocal is taken (Cormack, Clarke and Büttcher, Reciprocal Rank Fusion
outperforms Condorcet and individual Rank Learning Methods, 2009)."""


def fuse_word_and_vector_hits(
    words: Sequence[Ranked], near: Sequence[Near], *, top_k: int, min_similarity: float | None = None
) -> list[Ranked]:
    """Return chunks in the order of the sum of their reciprocal ranks, best first.

    The score of each is that of its words: how near its vector is says nothing of relevance. So vectors order anew what
    words found and find nothing alone; with `min_similarity` they do, and the score of what they found is the cosine.

    Args:
        words: by words, best first.
        near: by vectors, best first.
        top_k: how many at most.
        min_similarity: the cosine from which on a vector finds a chunk that no word does; None for never.
    """
    scores = {hit.chunk: hit.score for hit in words}
    if min_similarity is not None:
        scores = {hit.chunk: hit.similarity for hit in near if hit.similarity >= max(min_similarity, 0.0)} | scores
    by_words = {hit.chunk: rank for rank, hit in enumerate(words, 1)}
    by_vectors = {hit.chunk: rank for rank, hit in enumerate(near, 1)}

    def worth(chunk: int) -> float:
        ranks = (order[chunk] for order in (by_words, by_vectors) if chunk in order)
        return sum(1 / (_SMOOTHING + rank) for rank in ranks)

    # Of two that are worth the same, the one that words put first stands first.
    chunks = sorted(scores, key=lambda chunk: (-worth(chunk), by_words.get(chunk, POOL + by_vectors.get(chunk, 0))))
    return [Ranked(chunk, scores[chunk]) for chunk in chunks if scores[chunk] > 0][:top_k]


class Listed(NamedTuple):
    """A document that is in the index."""

    stamp: Stamp
    source: str
    access: Access


class Index:
    """An inverted index of documents in one SQLite file.

    Each change is a transaction: it is there as a whole or not at all, for queries that follow, in every process.

    Args:
        path: the file; it is made when it is not there.
        embedding: LangChain's, by whose vectors what words find is ordered, too; None for words only.
        min_similarity: the cosine from which on a vector finds what no word does; None for never.
        numpy_from: from so many chunks on that are searched numpy computes, where it is installed; what is found is
            the same.

    Raises:
        ConfigurationError: from every method, when the file is no knowledge base of this version.
        StoreError: likewise, when it cannot be read or written.
    """

    def __init__(
        self,
        path: str | Path,
        *,
        embedding: Embeddings | None = None,
        min_similarity: float | None = None,
        numpy_from: float = NUMPY_FROM,
    ) -> None:
        self.path = Path(path)
        self._file = File(self.path)
        self.embedder = None if embedding is None else Embedder(embedding)
        """What makes vectors of texts; None for words only."""
        self._nearness = Nearness()
        self._memory = Memory(numpy_from)
        self._min_similarity = min_similarity

    def check_embedding(self, *, to_write: bool = False) -> None:
        """Refuse an embedding that is not the one by which the file's vectors were made.

        Args:
            to_write: whether documents are put in, which need vectors where others have them.

        Raises:
            ConfigurationError: it says what the file has, and what was given.
        """
        with self._file.reading() as connection:
            check_index_embedding(connection, self.embedder, self._file.shown, to_write=to_write)

    def put(self, document: StoredDocument) -> None:
        """Put a document in, in place of the one of its tenant that has its id.

        Raises:
            ConfigurationError: its id, or that of a chunk, is in another collection of the tenant.
        """
        with self.together() as batch:
            batch.put(document)

    def together(self) -> Batch:
        """Return what puts many documents in, several in a transaction; use it as a context manager."""
        return Batch(self._file, self.embedder)

    def drop(self, tenant: str | None, ids: Iterable[str]) -> None:
        """Take documents of a tenant out, each in a transaction of its own; ids that are not there are none."""
        for name in ids:
            with self._file.writing() as connection:
                drop_stored_document(connection, tenant, name)

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

    def listed(self, tenant: str | None, collection: str) -> dict[str, Listed]:
        """Return the documents of a collection, by id."""
        with self._file.reading() as connection:
            known = list_index_scopes(connection)
            rows = connection.execute(
                "SELECT name, size, modified, sha256, scope FROM documents WHERE tenant = ? AND collection = ?",
                [make_scope_key(tenant), collection],
            )
            return {
                name: Listed(Stamp(*stamp), known[scope].source, known[scope].access) for name, *stamp, scope in rows
            }

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

    def source_names(self) -> tuple[str, ...]:
        """Return the names of the sources of all documents, sorted."""
        with self._file.reading() as connection:
            rows = connection.execute("SELECT DISTINCT source FROM scopes WHERE id IN (SELECT scope FROM documents)")
            return tuple(sorted(source for (source,) in rows))

    def search(
        self, query: str, *, sources: Collection[str] | None = None, caller: Caller | None = None, top_k: int = 4
    ) -> list[JsonObject]:
        """Find the chunks that answer a query, among those that a caller may read.

        Args:
            query: what is asked.
            sources: those that are searched; None for all.
            caller: who asks; None is somebody of whom nothing is known.
            top_k: how many at most.

        Returns:
            Candidates with a score above 0, best first; equal ones in the order in which their documents were put in.

        Raises:
            StoreError: a chunk that was found is not what was put in.
        """
        asked = None if self.embedder is None else self.embedder.query(query)
        with self._file.reading() as connection:
            view = self._memory.views.of(connection, caller)
            within = None if sources is None else frozenset(sources)
            found = self._found(connection, view, query, asked, sources=within, top_k=top_k)
            return read_chunk_candidates(connection, view, caller, found, self._file.shown)

    def _found(
        self,
        connection: sqlite3.Connection,
        view: View,
        query: str,
        asked: bytes | None,
        *,
        sources: frozenset[str] | None,
        top_k: int,
    ) -> list[Ranked]:
        """Return what words find; where there are vectors, in the order of both."""
        if asked is None or not check_vector_size(connection, asked, self._file.shown):
            return rank_index_chunks(connection, view, self._memory, query, sources=sources, top_k=top_k)
        most = max(POOL, top_k)
        words = rank_index_chunks(connection, view, self._memory, query, sources=sources, top_k=most)
        near = self._nearness.nearest(connection, view, asked, sources=sources, most=most)
        return fuse_word_and_vector_hits(words, near, top_k=top_k, min_similarity=self._min_similarity)

    def explain(
        self, query: str, *, caller: Caller | None = None, top_k: int = 4
    ) -> tuple[list[JsonObject], list[NotFound]]:
        """Return what a caller finds, and why he does not find the best of all others; it is for no caller's eyes.

        Raises:
            StoreError: as `search`.
        """
        asked = None if self.embedder is None else self.embedder.query(query)
        with self._file.reading() as connection:
            view, known = self._memory.views.of(connection, caller), list_index_scopes(connection)
            found = self._found(connection, view, query, asked, sources=None, top_k=top_k)
            whole = self._memory.views.over(connection, known)
            everything = rank_index_chunks(connection, whole, self._memory, query, sources=None, top_k=2 * top_k)
            missing = explain_missing_document(connection, known, caller, found, everything)
            return read_chunk_candidates(connection, view, caller, found, self._file.shown), missing

    def close(self) -> None:
        """Close the file; it is opened again when it is needed."""
        self._file.close()
