"""The index: documents are put in, moved and taken out, and found by those who may read them."""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from guardgraph.knowledge.documents import Stamp, StoredDocument
from guardgraph.knowledge.index.arithmetic import NUMPY_FROM
from guardgraph.knowledge.index.batch import Batch
from guardgraph.knowledge.index.candidates import candidates
from guardgraph.knowledge.index.collected import collections
from guardgraph.knowledge.index.embedder import Embedder
from guardgraph.knowledge.index.explaining import NotFound, not_found
from guardgraph.knowledge.index.file import File
from guardgraph.knowledge.index.fusion import POOL, fused
from guardgraph.knowledge.index.memory import Memory
from guardgraph.knowledge.index.nearness import Nearness
from guardgraph.knowledge.index.ranking import Ranked, ranked
from guardgraph.knowledge.index.scopes import Scope, key_of, scopes, tenant_of
from guardgraph.knowledge.index.statistics import View
from guardgraph.knowledge.index.storing import drop, move
from guardgraph.knowledge.index.vectors import check_embedding, check_size
from guardgraph.plain.json import JsonObject
from guardgraph.state.access import Access
from guardgraph.state.context import Caller

if TYPE_CHECKING:
    from langchain_core.embeddings import Embeddings


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
            check_embedding(connection, self.embedder, self._file.shown, to_write=to_write)

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
                drop(connection, tenant, name)

    def move(self, tenant: str | None, name: str, source: str, access: Access) -> None:
        """Give a document whose text is unchanged another source and other readers."""
        with self._file.writing() as connection:
            move(connection, tenant, name, source, access)

    def restamp(self, tenant: str | None, stamps: Mapping[str, Stamp]) -> None:
        """Note by what documents are known now whose texts are unchanged, all of them in one transaction."""
        if stamps:
            with self._file.writing() as connection:
                connection.executemany(
                    "UPDATE documents SET size = ?, modified = ?, sha256 = ? WHERE tenant = ? AND name = ?",
                    [(*stamp, key_of(tenant), name) for name, stamp in stamps.items()],
                )

    def listed(self, tenant: str | None, collection: str) -> dict[str, Listed]:
        """Return the documents of a collection, by id."""
        with self._file.reading() as connection:
            known = scopes(connection)
            rows = connection.execute(
                "SELECT name, size, modified, sha256, scope FROM documents WHERE tenant = ? AND collection = ?",
                [key_of(tenant), collection],
            )
            return {
                name: Listed(Stamp(*stamp), known[scope].source, known[scope].access) for name, *stamp, scope in rows
            }

    def collections(self) -> dict[tuple[str | None, str], int]:
        """Return how many documents each collection of each tenant has."""
        with self._file.reading() as connection:
            return collections(connection)

    def documents_by_scope(self) -> dict[Scope, int]:
        """Return how many documents each scope has."""
        with self._file.reading() as connection:
            known = scopes(connection)
            rows = connection.execute("SELECT scope, count(*) FROM documents GROUP BY scope")
            return {known[scope]: count for scope, count in rows}

    def tenants(self) -> list[str | None]:
        """Return the tenants that have documents, None first where documents have none."""
        with self._file.reading() as connection:
            return [tenant_of(key) for (key,) in connection.execute("SELECT DISTINCT tenant FROM documents ORDER BY 1")]

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
            return candidates(connection, view, caller, found, self._file.shown)

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
        if asked is None or not check_size(connection, asked, self._file.shown):
            return ranked(connection, view, self._memory, query, sources=sources, top_k=top_k)
        most = max(POOL, top_k)
        words = ranked(connection, view, self._memory, query, sources=sources, top_k=most)
        near = self._nearness.nearest(connection, view, asked, sources=sources, most=most)
        return fused(words, near, top_k=top_k, min_similarity=self._min_similarity)

    def explain(
        self, query: str, *, caller: Caller | None = None, top_k: int = 4
    ) -> tuple[list[JsonObject], list[NotFound]]:
        """Return what a caller finds, and why he does not find the best of all others; it is for no caller's eyes.

        Raises:
            StoreError: as `search`.
        """
        asked = None if self.embedder is None else self.embedder.query(query)
        with self._file.reading() as connection:
            view, known = self._memory.views.of(connection, caller), scopes(connection)
            found = self._found(connection, view, query, asked, sources=None, top_k=top_k)
            whole = self._memory.views.over(connection, known)
            everything = ranked(connection, whole, self._memory, query, sources=None, top_k=2 * top_k)
            missing = not_found(connection, known, caller, found, everything)
            return candidates(connection, view, caller, found, self._file.shown), missing

    def close(self) -> None:
        """Close the file; it is opened again when it is needed."""
        self._file.close()
