"""A document compressor of LangChain's as a reranker: cross-encoders, rerankers behind an API, filters."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypeGuard

from langchain_core.runnables import Runnable, RunnableConfig

from guardgraph.plain.json import JsonObject
from guardgraph.tools.langchain.documents import is_of_langchain_class

if TYPE_CHECKING:
    from langchain_core.documents import Document
    from langchain_core.documents.compressor import BaseDocumentCompressor


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
        return _read_reranked_candidates(
            self._compressor.compress_documents(_make_reranked_documents(input), input["query"], **asked)
        )

    async def ainvoke(self, input: JsonObject, config: RunnableConfig | None = None, **kwargs: Any) -> list[JsonObject]:
        """Order like `invoke`, without blocking the event loop."""
        asked = {"callbacks": (config or {}).get("callbacks")}
        return _read_reranked_candidates(
            await self._compressor.acompress_documents(_make_reranked_documents(input), input["query"], **asked)
        )


def _make_reranked_documents(request: JsonObject) -> list[Document]:
    from langchain_core.documents import Document

    return [
        Document(id=item["doc_id"], page_content=item["text"], metadata={key: item[key] for key in _METADATA})
        for item in request["candidates"]
    ]


def _read_reranked_candidates(documents: Sequence[Document]) -> list[JsonObject]:
    return [{"doc_id": item.metadata.get("doc_id", item.id), "text": item.page_content} for item in documents]
