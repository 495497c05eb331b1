"""Models of LangChain that judge texts: rerankers, embeddings that measure, cross-encoders that verify."""

from __future__ import annotations

import math
from collections.abc import Sequence
from numbers import Real
from operator import mul
from typing import TYPE_CHECKING, Any, TypeGuard

from langchain_core.runnables import Runnable, RunnableConfig

from guardgraph.plain.conversion import Unreturnable
from guardgraph.plain.errors import ConfigurationError
from guardgraph.plain.json import JsonObject
from guardgraph.tools.langchain.documents import is_of_langchain_class

if TYPE_CHECKING:
    from langchain_core.cross_encoders import BaseCrossEncoder
    from langchain_core.documents import Document
    from langchain_core.documents.compressor import BaseDocumentCompressor
    from langchain_core.embeddings import Embeddings


_METADATA = ("doc_id", "source", "title", "section", "updated_at", "score")
"""What a compressor may read of a candidate, beside its text."""


def is_document_compressor(given: object) -> TypeGuard[BaseDocumentCompressor]:
    """Say whether something is a document compressor."""
    return is_of_langchain_class(given, "documents.compressor", "BaseDocumentCompressor")


class LangChainReranker(Runnable[JsonObject, list[JsonObject]]):
    """Orders candidates by a document compressor; `create_rag_agent(reranker=...)` makes one of what it is given."""

    def __init__(self, compressor: BaseDocumentCompressor) -> None:
        self._compressor = compressor

    def __repr__(self) -> str:
        return f"LangChainReranker({type(self._compressor).__name__})"

    def invoke(self, input: JsonObject, config: RunnableConfig | None = None, **kwargs: Any) -> list[JsonObject]:
        """Order candidates."""
        asked = {"callbacks": (config or {}).get("callbacks")}
        shown = _make_reranked_documents(input)
        return _read_reranked_candidates(self._compressor.compress_documents(shown, input["query"], **asked))

    async def ainvoke(self, input: JsonObject, config: RunnableConfig | None = None, **kwargs: Any) -> list[JsonObject]:
        """Order like `invoke`, without blocking the event loop."""
        asked = {"callbacks": (config or {}).get("callbacks")}
        shown = _make_reranked_documents(input)
        return _read_reranked_candidates(await self._compressor.acompress_documents(shown, input["query"], **asked))


def _make_reranked_documents(request: JsonObject) -> list[Document]:
    from langchain_core.documents import Document

    return [
        Document(id=item["doc_id"], page_content=item["text"], metadata={key: item[key] for key in _METADATA})
        for item in request["candidates"]
    ]


def _read_reranked_candidates(documents: Sequence[Document]) -> list[JsonObject]:
    return [{"doc_id": item.metadata.get("doc_id", item.id), "text": item.page_content} for item in documents]


_DIGITS = 6  # of a similarity: what is behind them differs between machines


class LangChainSimilarity(Runnable[JsonObject, JsonObject]):
    """Measures sentences against phrases; `create_self_critique_agent(embedding=...)` makes one of what it is given."""

    asks_model = False  # that writes, and so uses up tokens

    def __init__(self, embedding: Embeddings) -> None:
        if not callable(getattr(embedding, "embed_documents", None)):
            given = type(embedding).__name__
            raise ConfigurationError(f"embedding: an Embeddings of LangChain's is required; given: {given}")
        self.name = type(embedding).__name__
        self._embedding = embedding

    def __repr__(self) -> str:
        return f"LangChainSimilarity({self.name})"

    def invoke(self, input: JsonObject, config: RunnableConfig | None = None, **kwargs: Any) -> JsonObject:
        """Measure sentences."""
        return _measure_similarities(input, self._embedding.embed_documents(_list_texts_to_embed(input)))

    async def ainvoke(self, input: JsonObject, config: RunnableConfig | None = None, **kwargs: Any) -> JsonObject:
        """Measure like `invoke`, without blocking the event loop."""
        return _measure_similarities(input, await self._embedding.aembed_documents(_list_texts_to_embed(input)))


def _list_texts_to_embed(request: JsonObject) -> list[str]:
    return [*request["phrases"], *request["sentences"]]


def _measure_similarities(request: JsonObject, given: Sequence[Sequence[float]]) -> JsonObject:
    count = len(_list_texts_to_embed(request))
    try:
        vectors = [_scale_to_unit_vector(vector) for vector in given]
    except (TypeError, ValueError):
        vectors = []
    if len(vectors) != count or len({len(vector) for vector in vectors}) > 1:
        raise Unreturnable(f"{given!r:.80}", allowed=f"{count} vectors of one size, of finite numbers")
    phrases = len(request["phrases"])
    return {"similarities": [[_measure_cosine(one, other) for other in vectors[phrases:]] for one in vectors[:phrases]]}


def _scale_to_unit_vector(vector: Sequence[float]) -> list[float]:
    numbers = [float(number) for number in vector]
    length = math.hypot(*numbers)
    if not numbers or not math.isfinite(length):
        raise ValueError("no vector")
    return [number / length for number in numbers] if length else numbers


def _measure_cosine(one: Sequence[float], other: Sequence[float]) -> float:
    """Return the cosine of two vectors of length 1; one of length 0 is like none."""
    return min(1.0, max(-1.0, round(math.fsum(map(mul, one, other)), _DIGITS)))


def is_cross_encoder(given: object) -> TypeGuard[BaseCrossEncoder]:
    """Say whether something is a cross-encoder; LangChain's packages have more than one class of that name."""
    bases = {f"{base.__module__.partition('.')[0]}.{base.__name__}" for base in type(given).__mro__}
    return any(name.startswith("langchain") and name.endswith(".BaseCrossEncoder") for name in bases)


class LangChainVerifier(Runnable[JsonObject, JsonObject]):
    """Judges claims by a cross-encoder; the factories' `verifier=` makes one of what it is given.

    The encoder has to be trained for what follows from a text (natural language inference, factual consistency), and
    is given pairs of evidence and claim. One that was trained for relevance says how near they are, not what follows.

    Args:
        encoder: the cross-encoder, all of whose pairs are scored in one call.
        min_score: the score from which on a claim is supported.

    Raises:
        ConfigurationError: it is no cross-encoder of LangChain's, or the score no number.
    """

    asks_model = False  # that writes, and so uses up tokens

    def __init__(self, encoder: BaseCrossEncoder, *, min_score: float = 0.5) -> None:
        if not is_cross_encoder(encoder):
            raise ConfigurationError(f"encoder: a BaseCrossEncoder of LangChain's; given: {type(encoder).__name__}")
        if not isinstance(min_score, int | float) or isinstance(min_score, bool) or not math.isfinite(min_score):
            raise ConfigurationError(f"min_score: a number is required; given: {min_score!r:.80}")
        self.name = type(encoder).__name__
        self._encoder = encoder
        self._min_score = min_score

    def __repr__(self) -> str:
        return f"LangChainVerifier({self.name})"

    def invoke(self, input: JsonObject, config: RunnableConfig | None = None, **kwargs: Any) -> JsonObject:
        """Return ``{"claims": [{number, supported}]}`` for ``{"claims": [{number, claim, evidence}]}``.

        Scores that are not as many numbers as there are claims are Unreturnable.
        """
        claims = input["claims"]
        scores = self._encoder.score([(item["evidence"], item["claim"]) for item in claims])
        given = [scores[at] for at in range(len(scores))] if hasattr(scores, "__len__") else []
        if len(given) != len(claims) or not all(isinstance(item, Real) and not math.isnan(item) for item in given):
            raise Unreturnable(f"{scores!r:.80}", allowed=f"{len(claims)} scores, one number for each claim")
        supported = [bool(score >= self._min_score) for score in given]
        return {"claims": [{"number": at, "supported": is_so} for at, is_so in enumerate(supported, 1)]}
