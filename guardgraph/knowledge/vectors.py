"""Vectors: what an embedding makes of texts, by which embedding those of a base were made, and which are nearest."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy

from guardgraph.knowledge.database import Connection
from guardgraph.knowledge.documents import StoredDocument
from guardgraph.knowledge.scopes import make_scope_key
from guardgraph.plain.errors import ConfigurationError

if TYPE_CHECKING:
    from langchain_core.embeddings import Embeddings

MAX_DIMENSIONS: Final = 16_384  # Numbers of a vector. Embeddings have some hundreds to some thousands.
FLOAT_BYTES: Final = 4  # of a number of a vector


class Embedder:
    """Asks one of LangChain's embeddings, and holds what it returns against what vectors are."""

    def __init__(self, embedding: Embeddings) -> None:
        for method in ("embed_documents", "embed_query"):
            if not callable(getattr(embedding, method, None)):
                required = "an Embeddings of LangChain's is required"
                raise ConfigurationError(f"embedding: {required}; given: {embedding!r:.80}")
        self._embedding = embedding
        models = (getattr(embedding, name, None) for name in ("model", "model_name", "model_id", "deployment"))
        model = next((model for model in models if isinstance(model, str) and model), "")
        self.name = f"{type(embedding).__module__}.{type(embedding).__qualname__}{f':{model}' if model else ''}"
        """By what the embedding is known in the base: its class, and its model where it names one."""

    def documents(self, texts: Sequence[str]) -> list[bytes]:
        """Return the vectors of texts, of length 1, as float32."""
        vectors = [_normalise_vector(vector) for vector in self._embedding.embed_documents([*texts])]
        if len(vectors) != len(texts) or len({len(vector) for vector in vectors}) > 1:
            sizes = sorted({len(vector) // FLOAT_BYTES for vector in vectors})
            returned = f"{self.name} returned {len(vectors)}, with {sizes!r:.80} numbers"
            raise ConfigurationError(f"embedding: {len(texts)} vectors of one size are required; {returned}")
        return vectors

    def query(self, text: str) -> bytes:
        """Return the vector of a query."""
        return _normalise_vector(self._embedding.embed_query(text))


def make_embedding_text(title: str, section: str, text: str) -> str:
    """Return what of a chunk is embedded: what its words are read from."""
    return "\n".join((title, section, text))


def hash_embedding_text(text: str) -> bytes:
    """Return by what a vector is known: a text that stands in two files, or in one that was renamed, has one vector."""
    return hashlib.sha256(text.encode(errors="surrogateescape")).digest()


def hash_vector(key: bytes, vector: bytes) -> bytes:
    """Return by what it is known that a vector is what was put in, of the text of a key."""
    return hashlib.sha256(key + vector).digest()


def _normalise_vector(vector: Iterable[float]) -> bytes:
    """Return a vector of the same direction and of length 1; one of length 0 is like none."""
    try:
        numbers = [float(number) for number in vector]
    except (TypeError, ValueError):
        raise ConfigurationError(f"embedding: a vector is a list of numbers; returned: {vector!r:.80}") from None
    length = math.sqrt(math.fsum(number * number for number in numbers))
    if not numbers or len(numbers) > MAX_DIMENSIONS or not math.isfinite(length):
        required = f"1 to {MAX_DIMENSIONS} finite numbers are required"
        raise ConfigurationError(f"embedding: {required}; returned: {len(numbers)} of length {length}")
    return numpy.array([number / length for number in numbers] if length else numbers, dtype="<f4").tobytes()


class EmbeddedTexts(NamedTuple):
    """By what the vectors of a base were made."""

    name: str  # of the embedding; "" in a base of words
    size: int  # numbers of a vector


_WORDS_ONLY: Final = EmbeddedTexts("", 0)


def read_embedding(connection: Connection) -> EmbeddedTexts | None:
    """Return by what vectors were made; one without a name in a base of words, None before the first addition."""
    row = connection.execute("SELECT value FROM state WHERE name = 'embedding'").fetchone()
    if row is None:
        return None
    size, _, name = row[0].partition(" ")
    return EmbeddedTexts(name, int(size))


def check_embedding(connection: Connection, embedder: Embedder | None, shown: str, *, to_write: bool) -> None:
    """Refuse another embedding than the one by which the vectors of the base were made."""
    made = read_embedding(connection)
    if made is None:
        return
    if embedder is None:
        if made.name and to_write:
            only = "documents are put in with this embedding only"
            raise ConfigurationError(f"embedding: {shown} has vectors of {made.name}; {only}")
    elif not made.name:
        advice = "give none, or add the documents to a new base"
        raise ConfigurationError(f"embedding: {shown} has documents without vectors; {advice}")
    elif made.name != embedder.name:
        raise ConfigurationError(f"embedding: {shown} has vectors of {made.name}; given: {embedder.name}")


def note_embedding(connection: Connection, embedder: Embedder | None, vectors: Iterable[bytes], shown: str) -> None:
    """Note by what the first vectors are made, or that there are none, and hold later ones against it."""
    held = [*vectors]
    if held or embedder is None:
        made = EmbeddedTexts(embedder.name, len(held[0]) // FLOAT_BYTES) if embedder else _WORDS_ONLY
        note = "INSERT INTO state VALUES ('embedding', ?) ON CONFLICT DO NOTHING"
        connection.execute(note, [f"{made.size} {made.name}"])
    check_embedding(connection, embedder, shown, to_write=True)
    noted = read_embedding(connection) or _WORDS_ONLY
    for vector in held:
        refuse_other_size(noted, vector, shown)


def refuse_other_size(made: EmbeddedTexts, vector: bytes, shown: str) -> None:
    """Refuse a vector of another size than others have."""
    if len(vector) != FLOAT_BYTES * made.size:
        given = len(vector) // FLOAT_BYTES
        raise ConfigurationError(f"embedding: {shown} has vectors of {made.size} numbers; given: {given}")


def list_embedding_texts(document: StoredDocument) -> list[str]:
    """Return the texts of a document that are embedded."""
    return [make_embedding_text(document.title, chunk.section, chunk.text) for chunk in document.chunks]


def embed_new_texts(
    connection: Connection, embedder: Embedder, tenant: str | None, some: Iterable[str]
) -> dict[bytes, bytes]:
    """Return the vectors of some texts, by text; only texts that no document of the tenant has are embedded."""
    texts = {hash_embedding_text(text): text for text in some}
    select = "SELECT key, vector, vector_hash FROM chunks WHERE vector IS NOT NULL AND tenant = ? AND key = ANY (?)"
    rows = connection.execute(select, [make_scope_key(tenant), [key.hex() for key in texts]])
    known = {
        key: vector
        for key, vector, hashed in ((bytes.fromhex(row[0]), *row[1:]) for row in rows)
        if hashed == hash_vector(key, vector)
    }
    new = [key for key in texts if key not in known]
    made = embedder.documents([texts[key] for key in new]) if new else []
    return known | dict(zip(new, made, strict=True))
