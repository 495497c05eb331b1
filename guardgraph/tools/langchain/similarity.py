"""An embedding of LangChain's that measures how near sentences are to phrases."""

from __future__ import annotations

import math
from collections.abc import Sequence
from operator import mul
from typing import TYPE_CHECKING, Any

from langchain_core.runnables import Runnable, RunnableConfig

from guardgraph.plain.conversion import Unreturnable
from guardgraph.plain.errors import ConfigurationError
from guardgraph.plain.json import JsonObject

if TYPE_CHECKING:
    from langchain_core.embeddings import Embeddings

_DIGITS = 6
"""Of a similarity: what is behind them differs between machines."""


class LangChainSimilarity(Runnable[JsonObject, JsonObject]):
    """Measures sentences against phrases; `create_self_critique_agent(embedding=...)` makes one of what it is given."""

    asks_model = False  # that writes, and so uses up tokens

    def __init__(self, embedding: Embeddings) -> None:
        if not callable(getattr(embedding, "embed_documents", None)):
            raise ConfigurationError(
                f"embedding: an Embeddings of LangChain's is required; given: {type(embedding).__name__}"
            )
        self.name = type(embedding).__name__
        self._embedding = embedding

    def __repr__(self) -> str:
        return f"LangChainSimilarity({self.name})"

    def invoke(self, input: JsonObject, config: RunnableConfig | None = None, **kwargs: Any) -> JsonObject:
        """Measure sentences."""
        return _measure(input, self._embedding.embed_documents(_list_texts(input)))

    async def ainvoke(self, input: JsonObject, config: RunnableConfig | None = None, **kwargs: Any) -> JsonObject:
        """Measure like `invoke`, without blocking the event loop."""
        return _measure(input, await self._embedding.aembed_documents(_list_texts(input)))


def _list_texts(request: JsonObject) -> list[str]:
    return [*request["phrases"], *request["sentences"]]


def _measure(request: JsonObject, given: Sequence[Sequence[float]]) -> JsonObject:
    count = len(_list_texts(request))
    try:
        vectors = [_normalise(vector) for vector in given]
    except (TypeError, ValueError):
        vectors = []
    if len(vectors) != count or len({len(vector) for vector in vectors}) > 1:
        raise Unreturnable(f"{given!r:.80}", allowed=f"{count} vectors of one size, of finite numbers")
    phrases = len(request["phrases"])
    return {"similarities": [[_cosine(one, other) for other in vectors[phrases:]] for one in vectors[:phrases]]}


def _normalise(vector: Sequence[float]) -> list[float]:
    numbers = [float(number) for number in vector]
    length = math.hypot(*numbers)
    if not numbers or not math.isfinite(length):
        raise ValueError("no vector")
    return [number / length for number in numbers] if length else numbers


def _cosine(one: Sequence[float], other: Sequence[float]) -> float:
    """Return the cosine of two vectors of length 1; one of length 0 is like none."""
    return min(1.0, max(-1.0, round(math.fsum(map(mul, one, other)), _DIGITS)))
