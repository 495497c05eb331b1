"""Vectors as rows: what an embedding makes of a text, and by which embedding they were made."""

from __future__ import annotations

import hashlib
import math
import sqlite3
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from guardgraph.knowledge.documents import StoredDocument
from guardgraph.knowledge.storing.findings import Findings
from guardgraph.knowledge.storing.scopes import show_scope_tenant
from guardgraph.plain.errors import ConfigurationError
from guardgraph.plain.extras import explain_extra

if TYPE_CHECKING:
    from langchain_core.embeddings import Embeddings

MAX_DIMENSIONS: Final = 16_384
"""Numbers of a vector. Embeddings have some hundreds to some thousands."""


class Embedder:
    """Asks one of LangChain's embeddings, and holds what it returns against what vectors are."""

    def __init__(self, embedding: Embeddings) -> None:
        for method in ("embed_documents", "embed_query"):
            if not callable(getattr(embedding, method, None)):
                raise ConfigurationError(
                    f"embedding: an Embeddings of LangChain's is required; given: {embedding!r:.80}"
                )
        try:
            import numpy  # noqa: F401
        except ImportError:
            raise ConfigurationError(
                f"embedding: vectors need numpy, which is not installed; {explain_extra('kb')}"
            ) from None
        self._embedding = embedding
        self.name = _name_embedding_model(embedding)
        """By what the embedding is known in the file: its class, and its model where it names one."""

    def documents(self, texts: Sequence[str]) -> list[bytes]:
        """Return the vectors of texts, of length 1, as float32 in the machine's order of bytes."""
        vectors = [_normalise_vector(vector) for vector in self._embedding.embed_documents([*texts])]
        if len(vectors) != len(texts) or len({len(vector) for vector in vectors}) > 1:
            sizes = sorted({len(vector) // 4 for vector in vectors})
            raise ConfigurationError(
                f"embedding: {len(texts)} vectors of one size are required; {self.name} returned {len(vectors)}, "
                f"with {sizes!r:.80} numbers"
            )
        return vectors

    def query(self, text: str) -> bytes:
        """Return the vector of a query."""
        return _normalise_vector(self._embedding.embed_query(text))


def make_embedding_text(title: str, section: str, text: str) -> str:
    """Return what of a chunk is embedded: what its words are read from."""
    return "\n".join((title, section, text))


def hash_embedding_text(text: str) -> bytes:
    """Return by what a vector is known: a text that stands in two files, or in one that was renamed, has one vector."""
    return hashlib.sha256(text.encode()).digest()


def _normalise_vector(vector: Iterable[float]) -> bytes:
    """Return a vector of the same direction and of length 1; one of length 0 is like none."""
    try:
        numbers = [float(number) for number in vector]
    except (TypeError, ValueError):
        raise ConfigurationError(f"embedding: a vector is a list of numbers; returned: {vector!r:.80}") from None
    length = math.sqrt(math.fsum(number * number for number in numbers))
    if not numbers or len(numbers) > MAX_DIMENSIONS or not math.isfinite(length):
        raise ConfigurationError(
            f"embedding: 1 to {MAX_DIMENSIONS} finite numbers are required; returned: {len(numbers)} of length {length}"
        )
    return array("f", [number / length for number in numbers] if length else numbers).tobytes()


def _name_embedding_model(embedding: object) -> str:
    kind = f"{type(embedding).__module__}.{type(embedding).__qualname__}"
    for attribute in ("model", "model_name", "model_id", "deployment"):
        if isinstance(model := getattr(embedding, attribute, None), str) and model:
            return f"{kind}:{model}"
    return kind


FLOAT_BYTES: Final = 4
"""Of a number of a vector."""
_COPIES = (1, 2)
"""What is noted of an embedding is in the file twice: it is of few bytes, and without it no vector is of use."""


class EmbeddedTexts(NamedTuple):
    """By what the vectors of a file were made."""

    name: str
    """Of the embedding."""
    size: int
    """Numbers of a vector."""


def check_index_embedding(
    connection: sqlite3.Connection, embedder: Embedder | None, shown: str, *, to_write: bool
) -> None:
    """Refuse another embedding than the one by which the vectors of the file were made."""
    made = _read_made_vectors(connection)
    has_words_only = made is None and connection.execute("SELECT 1 FROM chunks LIMIT 1").fetchone() is not None
    refuse_other_embedding(made, embedder, shown, has_words_only=has_words_only, to_write=to_write)


def refuse_other_embedding(
    made: EmbeddedTexts | None, embedder: Embedder | None, shown: str, *, has_words_only: bool, to_write: bool
) -> None:
    """Refuse another embedding than the one by which vectors were made."""
    if embedder is None:
        if made is not None and to_write:
            raise ConfigurationError(
                f"embedding: {shown} has vectors of {made.name}; documents are put in with this embedding only"
            )
    elif made is not None and made.name != embedder.name:
        raise ConfigurationError(f"embedding: {shown} has vectors of {made.name}; given: {embedder.name}")
    elif has_words_only:
        raise ConfigurationError(
            f"embedding: {shown} has documents without vectors; give none, or add the documents to a new base"
        )


def check_vector_size(connection: sqlite3.Connection, vector: bytes, shown: str) -> bool:
    """Say whether there are vectors to compare with, and refuse one of another size."""
    made = _read_made_vectors(connection)
    if made is not None:
        refuse_other_size(made, vector, shown)
    return made is not None


def refuse_other_size(made: EmbeddedTexts, vector: bytes, shown: str) -> None:
    """Refuse a vector of another size than others have."""
    if len(vector) != FLOAT_BYTES * made.size:
        raise ConfigurationError(
            f"embedding: {shown} has vectors of {made.size} numbers; given: {len(vector) // FLOAT_BYTES}"
        )


def note_index_embedding(
    connection: sqlite3.Connection, embedder: Embedder, vectors: Iterable[bytes], shown: str
) -> None:
    """Note by what the first vectors of a file are made, and hold later ones against it."""
    check_index_embedding(connection, embedder, shown, to_write=True)
    for vector in vectors:
        if not check_vector_size(connection, vector, shown):
            _write_made_vectors(connection, EmbeddedTexts(embedder.name, len(vector) // FLOAT_BYTES))


def list_embedding_texts(document: StoredDocument) -> list[str]:
    """Return the texts of a document that are embedded."""
    return [make_embedding_text(document.title, chunk.section, chunk.text) for chunk in document.chunks]


def embed_document_chunks(
    connection: sqlite3.Connection, embedder: Embedder, some: Iterable[str]
) -> dict[bytes, bytes]:
    """Return the vectors of some texts, by text; only texts that no document of the file has are embedded."""
    select = "SELECT key, vector, hash FROM vectors WHERE key = ? LIMIT 1"
    return embed_new_texts(
        embedder, some, lambda keys: (row for key in keys for row in connection.execute(select, [key]))
    )


def embed_new_texts(
    embedder: Embedder, some: Iterable[str], look_up: Callable[[list[bytes]], Iterable[tuple[Any, Any, Any]]]
) -> dict[bytes, bytes]:
    """Return the vectors of some texts, by text; only those of new or damaged ones are made."""
    texts = {hash_embedding_text(text): text for text in some}
    known = {key: vector for key, vector, hashed in look_up([*texts]) if hashed == hash_vector(key, vector)}
    new = [key for key in texts if key not in known]
    made = embedder.documents([texts[key] for key in new]) if new else []
    return known | dict(zip(new, made, strict=True))


def insert_vector(
    connection: sqlite3.Connection, chunk: int, vectors: Mapping[bytes, bytes], *, title: str, section: str, text: str
) -> None:
    """Keep the vector of a chunk."""
    key = hash_embedding_text(make_embedding_text(title, section, text))
    connection.execute(
        "INSERT INTO vectors VALUES (?, ?, ?, ?)", [chunk, key, vectors[key], hash_vector(key, vectors[key])]
    )


def check_vectors(connection: sqlite3.Connection, findings: Findings) -> None:
    """Note which chunks have no vector where others have one, or one that is not what was put in."""
    noted = _read_noted_embedding(connection)
    has_vectors = noted or connection.execute("SELECT 1 FROM vectors LIMIT 1").fetchone()
    for copy in _COPIES if has_vectors else ():
        if noted.get(copy) is None:
            findings.note("vectors", f"embeddings: {copy}", "it does not say by which embedding vectors were made")
    for _, shown, problem in _find_vector_problems(connection):
        findings.note("vectors", f"vectors: {shown}", problem)


def chunks_without(connection: sqlite3.Connection, name: str) -> list[int]:
    """Return the chunks whose vectors are missing or damaged, where an embedding of this name made the others."""
    made = _is_vector_sound(_read_noted_embedding(connection))
    return [chunk for chunk, *_ in _find_vector_problems(connection)] if made is not None and made.name == name else []


def sift_vectors(connection: sqlite3.Connection, vectors: Mapping[bytes, bytes]) -> list[int]:
    """Take out vectors that are not what was put in, and return the documents whose chunks lack one then."""
    had = "SELECT DISTINCT document FROM chunks WHERE id IN (SELECT chunk FROM vectors)"
    of_words = [int(document) for (document,) in connection.execute(had)]
    connection.executemany(
        "DELETE FROM vectors WHERE chunk = ?", [[row[0]] for row in [*_find_vector_problems(connection)]]
    )
    made = _is_vector_sound(_read_noted_embedding(connection))
    connection.execute("DELETE FROM embeddings")
    if made is None:
        return of_words
    _write_made_vectors(connection, made)
    lacking = (
        "SELECT document, chunks.id, title, section, text FROM chunks JOIN documents ON documents.id = document "
        "WHERE chunks.id > 0 AND chunks.id NOT IN (SELECT chunk FROM vectors)"
    )
    left = set[int]()
    for document, chunk, title, section, text in connection.execute(lacking).fetchall():
        if hash_embedding_text(make_embedding_text(title, section, text)) in vectors:
            insert_vector(connection, chunk, vectors, title=title, section=section, text=text)
        else:
            left.add(document)
    return sorted(left)


def _find_vector_problems(connection: sqlite3.Connection) -> Iterator[tuple[int, str, str]]:
    """Yield chunks by number, how they are shown, and what is wrong with their vectors."""
    made = _is_vector_sound(_read_noted_embedding(connection))
    rows = connection.execute(
        "SELECT vectors.chunk, chunks.name, chunks.tenant, title, section, text, key, vector, vectors.hash "
        "FROM vectors LEFT JOIN chunks ON chunks.id = vectors.chunk LEFT JOIN documents ON documents.id = document"
    )
    for chunk, name, tenant, title, section, text, key, vector, hashed in rows:
        shown = str(chunk) if name is None else show_scope_tenant(name, tenant)
        if made is None or name is None or title is None or chunk < 1:
            yield chunk, shown, "it belongs to nothing"
        elif not all(isinstance(cell, bytes) for cell in (key, vector)) or hashed != hash_vector(key, vector):
            yield chunk, shown, "it is not what was put in"
        elif len(vector) != FLOAT_BYTES * made.size:
            yield chunk, shown, f"it has {len(vector) // FLOAT_BYTES} numbers, others {made.size}"
        elif not all(isinstance(cell, str) for cell in (title, section, text)) or key != hash_embedding_text(
            make_embedding_text(title, section, text)
        ):
            yield chunk, shown, "it is of another text"
    if made is not None:
        lacking = "SELECT id, name, tenant FROM chunks WHERE id > 0 AND id NOT IN (SELECT chunk FROM vectors)"
        for chunk, *named in connection.execute(lacking):
            yield chunk, show_scope_tenant(*named), "there is none"


def hash_vector(key: bytes, vector: bytes) -> bytes:
    """Return by what it is known that a vector is what was put in, of the text of a key."""
    return hashlib.sha256(key + vector).digest()


def _read_made_vectors(connection: sqlite3.Connection) -> EmbeddedTexts | None:
    """Return by what the vectors of a file were made; None where it has none."""
    noted = _read_noted_embedding(connection)
    made = _is_vector_sound(noted)
    if noted and made is None:
        raise ValueError("embeddings")
    return made


def _read_noted_embedding(connection: sqlite3.Connection) -> dict[int, EmbeddedTexts | None]:
    """Return what the copies say, None for one that is not what was noted; nothing where there are no vectors."""
    rows = connection.execute("SELECT id, hash, name, size FROM embeddings ORDER BY id").fetchall()
    return {copy: EmbeddedTexts(*made) if hashed == _hash_made_vectors(*made) else None for copy, hashed, *made in rows}


def _is_vector_sound(noted: Mapping[int, EmbeddedTexts | None]) -> EmbeddedTexts | None:
    return next(filter(None, noted.values()), None)


def _write_made_vectors(connection: sqlite3.Connection, made: EmbeddedTexts) -> None:
    rows = [(copy, *made, _hash_made_vectors(*made)) for copy in _COPIES]
    connection.executemany("INSERT INTO embeddings VALUES (?, ?, ?, ?)", rows)


def _hash_made_vectors(name: str, size: int) -> bytes:
    return hashlib.sha256(f"{size} {name}".encode(errors="surrogateescape")).digest()
