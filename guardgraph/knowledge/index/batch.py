"""Many documents that are put in, several in a transaction: to commit each for itself takes most of the time."""

from __future__ import annotations

from typing import Final, Self

from guardgraph.knowledge.documents import StoredDocument
from guardgraph.knowledge.index.embedder import Embedder
from guardgraph.knowledge.index.file import File
from guardgraph.knowledge.index.storing import put, refuse_taken
from guardgraph.knowledge.index.vectors import note_embedding, texts_of, vectors_of
from guardgraph.knowledge.index.writing import Writer

_CHUNKS: Final = 4_096
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
        if len(self._chunks) >= _CHUNKS:
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
        vectors = self._vectors(documents)
        with self._file.writing() as connection:
            if self._embedder is not None and vectors:
                note_embedding(connection, self._embedder, vectors.values(), self._file.shown)
            writer = Writer(connection)
            for document in documents:
                put(connection, writer, document, vectors)
            writer.flush()

    def _vectors(self, documents: list[StoredDocument]) -> dict[bytes, bytes] | None:
        """Return the vectors of documents, before others have to wait for the transaction."""
        if self._embedder is None:
            return None
        with self._file.reading() as connection:
            texts = [text for document in documents for text in texts_of(document)]
            return vectors_of(connection, self._embedder, texts)
