"""Vectors as rows, and by which embedding they were made."""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from guardgraph.knowledge.documents import StoredDocument
from guardgraph.knowledge.index.embedder import Embedder, embedded_text, key_of_text
from guardgraph.knowledge.index.findings import Findings
from guardgraph.state.errors import ConfigurationError

__all__ = [
    "Made",
    "check_embedding",
    "check_size",
    "check_vectors",
    "insert_vector",
    "mend_vectors",
    "note_embedding",
    "vectors_of",
]

_FLOAT_BYTES = 4


class Made(NamedTuple):
    """By what the vectors of a file were made."""

    name: str
    """Of the embedding."""
    size: int
    """Numbers of a vector."""


def check_embedding(connection: sqlite3.Connection, embedder: Embedder | None, shown: str, *, to_write: bool) -> None:
    """Refuse another embedding than the one by which the vectors of the file were made.

    Args:
        connection: in a transaction.
        embedder: the embedding that was given; None for words only.
        shown: the file.
        to_write: whether documents are put in, which need vectors where others have them.

    Raises:
        ConfigurationError: it says what the file has, and what was given.
    """
    made = _made(connection)
    if embedder is None:
        if made is not None and to_write:
            raise ConfigurationError(
                f"embedding: {shown} has vectors of {made.name}; documents are put in with this embedding only"
            )
        return
    if made is None:
        if connection.execute("SELECT 1 FROM chunks LIMIT 1").fetchone():
            raise ConfigurationError(
                f"embedding: {shown} has documents without vectors; give none, or `guardgraph kb add` into a new file"
            )
    elif made.name != embedder.name:
        raise ConfigurationError(f"embedding: {shown} has vectors of {made.name}; given: {embedder.name}")


def check_size(connection: sqlite3.Connection, vector: bytes, shown: str) -> bool:
    """Say whether there are vectors to compare with, and refuse one of another size.

    Raises:
        ConfigurationError: it names both sizes.
    """
    made = _made(connection)
    if made is not None and len(vector) != _FLOAT_BYTES * made.size:
        raise ConfigurationError(
            f"embedding: {shown} has vectors of {made.size} numbers; given: {len(vector) // _FLOAT_BYTES}"
        )
    return made is not None


def note_embedding(connection: sqlite3.Connection, embedder: Embedder, vectors: Iterable[bytes], shown: str) -> None:
    """Note by what the first vectors of a file are made, and hold later ones against it.

    Raises:
        ConfigurationError: as `check_embedding`, or for vectors of another size.
    """
    check_embedding(connection, embedder, shown, to_write=True)
    for vector in vectors:
        if not check_size(connection, vector, shown):
            rows = [("embedding", embedder.name), ("dimensions", len(vector) // _FLOAT_BYTES)]
            connection.executemany("INSERT INTO state VALUES (?, ?)", rows)


def vectors_of(
    connection: sqlite3.Connection, embedder: Embedder, documents: Iterable[StoredDocument]
) -> dict[bytes, bytes]:
    """Return the vectors of documents, by text; only texts that no document of the file has are embedded.

    Raises:
        ConfigurationError: the embedding returned no vectors.
    """
    texts = {key_of_text(text): text for document in documents for text in _texts(document)}
    known = dict[bytes, bytes]()
    for key in texts:
        row = connection.execute("SELECT vector, hash FROM vectors WHERE key = ? LIMIT 1", [key]).fetchone()
        if row is not None and row[1] == _hash(key, row[0]):
            known[key] = row[0]
    new = [key for key in texts if key not in known]
    made = embedder.documents([texts[key] for key in new]) if new else []
    return known | dict(zip(new, made, strict=True))


def insert_vector(
    connection: sqlite3.Connection, chunk: int, vectors: Mapping[bytes, bytes], *, title: str, section: str, text: str
) -> None:
    """Keep the vector of a chunk."""
    key = key_of_text(embedded_text(title, section, text))
    connection.execute("INSERT INTO vectors VALUES (?, ?, ?, ?)", [chunk, key, vectors[key], _hash(key, vectors[key])])


def check_vectors(connection: sqlite3.Connection, findings: Findings) -> None:
    """Note which chunks have no vector where others have one, or one that is not what was put in."""
    for chunk, name, problem in _problems(connection):
        findings.note("vectors", f"vectors: {chunk if name is None else name}", problem)


def mend_vectors(connection: sqlite3.Connection) -> list[int]:
    """Take out vectors that are not what was put in, and return the documents whose chunks lack one."""
    connection.executemany("DELETE FROM vectors WHERE chunk = ?", [[row[0]] for row in [*_problems(connection)]])
    if _made(connection) is None:
        return []
    lacking = "SELECT DISTINCT document FROM chunks WHERE id NOT IN (SELECT chunk FROM vectors)"
    return [int(document) for (document,) in connection.execute(lacking)]


def _problems(connection: sqlite3.Connection) -> Iterator[tuple[int, str | None, str]]:
    made = _made(connection)
    rows = connection.execute(
        "SELECT vectors.chunk, chunks.name, title, section, text, key, vector, vectors.hash FROM vectors "
        "LEFT JOIN chunks ON chunks.id = vectors.chunk LEFT JOIN documents ON documents.id = document"
    )
    for chunk, name, title, section, text, key, vector, hashed in rows:
        if made is None or name is None or title is None:
            yield chunk, name, "it belongs to nothing"
        elif not all(isinstance(cell, bytes) for cell in (key, vector)) or hashed != _hash(key, vector):
            yield chunk, name, "it is not what was put in"
        elif len(vector) != _FLOAT_BYTES * made.size:
            yield chunk, name, f"it has {len(vector) // _FLOAT_BYTES} numbers, others {made.size}"
        elif not all(isinstance(cell, str) for cell in (title, section, text)) or key != key_of_text(
            embedded_text(title, section, text)
        ):
            yield chunk, name, "it is of another text"
    if made is not None:
        lacking = "SELECT id, name FROM chunks WHERE id NOT IN (SELECT chunk FROM vectors)"
        yield from ((chunk, name, "there is none") for chunk, name in connection.execute(lacking))


def _hash(key: bytes, vector: bytes) -> bytes:
    return hashlib.sha256(key + vector).digest()


def _texts(document: StoredDocument) -> list[str]:
    return [embedded_text(document.title, chunk.section, chunk.text) for chunk in document.chunks]


def _made(connection: sqlite3.Connection) -> Made | None:
    names = "SELECT value FROM state WHERE name = ?"
    name, size = (connection.execute(names, [key]).fetchone() for key in ("embedding", "dimensions"))
    return None if name is None or size is None else Made(str(name[0]), int(size[0]))
