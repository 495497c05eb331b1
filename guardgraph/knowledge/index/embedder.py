"""Vectors: what an embedding makes of a text, as a knowledge base keeps it."""

from __future__ import annotations

import hashlib
import math
from array import array
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Final

from guardgraph.plain.errors import ConfigurationError

if TYPE_CHECKING:
    from langchain_core.embeddings import Embeddings


MAX_DIMENSIONS: Final = 16_384
"""Numbers of a vector. Embeddings have some hundreds to some thousands."""


class Embedder:
    """Asks one of LangChain's embeddings, and holds what it returns against what vectors are.

    Args:
        embedding: LangChain's.

    Raises:
        ConfigurationError: it is none, or NumPy is not installed.
    """

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
                "embedding: vectors need numpy, which is not installed; pip install 'guardgraph[kb]'"
            ) from None
        self._embedding = embedding
        self.name = _name_embedding_model(embedding)
        """By what the embedding is known in the file: its class, and its model where it names one."""

    def documents(self, texts: Sequence[str]) -> list[bytes]:
        """Return the vectors of texts, of length 1, as float32 in the machine's order of bytes.

        Raises:
            ConfigurationError: the embedding returned something else than as many vectors of one size.
        """
        vectors = [_normalise_vector(vector) for vector in self._embedding.embed_documents([*texts])]
        if len(vectors) != len(texts) or len({len(vector) for vector in vectors}) > 1:
            sizes = sorted({len(vector) // 4 for vector in vectors})
            raise ConfigurationError(
                f"embedding: {len(texts)} vectors of one size are required; {self.name} returned {len(vectors)}, "
                f"with {sizes!r:.80} numbers"
            )
        return vectors

    def query(self, text: str) -> bytes:
        """Return the vector of a query.

        Raises:
            ConfigurationError: the embedding returned no vector.
        """
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
