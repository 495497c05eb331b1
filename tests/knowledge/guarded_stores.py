"""Vector stores of LangChain's whose documents have readers, and the filters that a caller becomes."""

from collections.abc import Sequence
from typing import Any
from uuid import NAMESPACE_URL, uuid5

from langchain_core.documents import Document
from langchain_core.vectorstores import InMemoryVectorStore, VectorStore
from langchain_finds import SIZE, WordEmbedding
from langchain_qdrant import QdrantVectorStore
from qdrant_client import QdrantClient, models

from guardgraph import LangChainRetriever
from guardgraph.testing import GuardedDocument


class SureEmbedding(WordEmbedding):
    """Embeds a text without words somewhere, too, so that a cosine is a number."""

    def embed_query(self, text: str) -> list[float]:
        return [part + 1e-6 for part in super().embed_query(text)]


def in_memory() -> InMemoryVectorStore:
    return InMemoryVectorStore(SureEmbedding())


def qdrant() -> QdrantVectorStore:
    client = QdrantClient(":memory:")
    client.create_collection("kb", models.VectorParams(size=SIZE, distance=models.Distance.COSINE))
    return QdrantVectorStore(client, "kb", SureEmbedding())


def of_documents(caller, sources) -> dict[str, Any]:
    def allows(document: Document) -> bool:
        held = document.metadata
        mine = caller is not None and held.get("tenant") == caller.tenant and set(held["readers"]) & {*caller.readers}
        return held["source"] in sources and bool("public" in held["readers"] or mine)

    return {"filter": allows}


def of_points(caller, sources) -> dict[str, Any]:
    allowed: list[Any] = [_has("readers", "public")]
    if caller is not None:
        field = models.PayloadField(key="metadata.tenant")
        of_none = models.IsNullCondition(is_null=field)
        tenant = of_none if caller.tenant is None else _has("tenant", caller.tenant)
        allowed.append(models.Filter(must=[tenant, _has("readers", *caller.readers)]))
    return {"filter": models.Filter(must=[_has("source", *sources)], should=allowed)}


def _has(field: str, *values: str) -> models.FieldCondition:
    return models.FieldCondition(key=f"metadata.{field}", match=models.MatchAny(any=list(values)))


STORES = {"in memory": (in_memory, of_documents), "qdrant": (qdrant, of_points)}
"""Each store with its filter."""


def point(*names: str | None) -> str:
    return str(uuid5(NAMESPACE_URL, "/".join(map(repr, names))))


def add_guarded(store: VectorStore, documents: Sequence[GuardedDocument]) -> VectorStore:
    made = []
    for item in documents:
        access = {"tenant": item.tenant, "readers": [*item.readers]}
        made.append(Document(item.text, metadata={"id": item.id, "source": item.source, **access}))
    store.add_documents(made, ids=[point(item.tenant, item.id) for item in documents])
    return store


def retriever(store: VectorStore, access, **kwargs) -> LangChainRetriever:
    return LangChainRetriever(store, sources=["kb", "other"], access=access, **kwargs)
