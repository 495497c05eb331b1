"""Bases of documents with readers, for what holds of every retriever that knows who asks."""

from collections.abc import Sequence
from pathlib import Path
from threading import RLock
from typing import Any

from guarded_stores import point, retriever
from langchain_core.documents import Document as LangChainDocument
from langchain_core.vectorstores import VectorStore

from guardgraph import Caller, Document, KnowledgeBase, LexicalRetriever
from guardgraph.state.context import is_access_allowed, normalize_document_access
from guardgraph.testing import GuardedDocument


class LexicalBase:
    """Searches what a caller may read as a base of its own: nothing else is counted.

    Args:
        counts_all: whether what he may not read is counted, and left out of what is found.
        filters: whether it is left out.
    """

    def __init__(self, *, counts_all: bool = False, filters: bool = True) -> None:
        self._held: dict[tuple[str | None, str], GuardedDocument] = {}
        self._counts_all = counts_all
        self._filters = filters
        self._lock = RLock()

    def put(self, documents: Sequence[GuardedDocument]) -> None:
        with self._lock:
            for item in documents:
                self._held.pop((item.tenant, item.id), None)  # or its old place would tell that it was here before
                self._held[item.tenant, item.id] = item

    def remove(self, documents: Sequence[GuardedDocument]) -> None:
        with self._lock:
            for item in documents:
                self._held.pop((item.tenant, item.id), None)

    def search(self, request: dict[str, Any]) -> list[dict[str, Any]]:
        caller = Caller(**request["caller"]) if "caller" in request else None
        with self._lock:
            held = [*self._held.values()]
        counted = [item for item in held if self._counts_all or not self._filters or _is_readable(item, caller)]
        named = {point(item.tenant, item.id): item for item in counted}
        found = LexicalRetriever([_document(name, item) for name, item in named.items()])(
            {**request, "top_k": len(counted) or 1}
        )
        shown = [(named[hit["doc_id"]], hit) for hit in found]
        allowed = [pair for pair in shown if not self._filters or _is_readable(pair[0], caller)]
        return [{**hit, "doc_id": item.id, "tenant": item.tenant, "readers": [*item.readers]} for item, hit in allowed][
            : request["top_k"]
        ]

    __call__ = search


class FileBase:
    """A knowledge base in a file, of words or of words and vectors."""

    def __init__(self, path: Path, **settings: Any) -> None:
        self._base = KnowledgeBase(path, **settings)
        self.search = self._base.__call__

    def put(self, documents: Sequence[GuardedDocument]) -> None:
        for item in documents:
            made = Document(id=item.id, source=item.source, title="", section="", updated_at="", text=item.text)
            self._base.add([made], tenant=item.tenant, readers=item.readers)

    def remove(self, documents: Sequence[GuardedDocument]) -> None:
        for item in documents:
            self._base.index.drop(item.tenant, [item.id])


class StoreBase:
    """A vector store of LangChain's behind its adapter, one writer or reader at a time: local stores are one dict."""

    def __init__(self, store: VectorStore, access: Any) -> None:
        self._store = store
        self._access = access
        self._lock = RLock()

    def put(self, documents: Sequence[GuardedDocument]) -> None:
        made = [
            LangChainDocument(
                item.text,
                metadata={"id": item.id, "source": item.source, "tenant": item.tenant, "readers": [*item.readers]},
            )
            for item in documents
        ]
        with self._lock:
            self._store.add_documents(made, ids=[point(item.tenant, item.id) for item in documents])

    def remove(self, documents: Sequence[GuardedDocument]) -> None:
        with self._lock:
            self._store.delete([point(item.tenant, item.id) for item in documents])

    def search(self, request: dict[str, Any]) -> list[dict[str, Any]]:
        with self._lock:
            return [*retriever(self._store, self._access).invoke(request)]


def _is_readable(item: GuardedDocument, caller: Caller | None) -> bool:
    return is_access_allowed(normalize_document_access(item.tenant, item.readers), caller)


def _document(name: str, item: GuardedDocument) -> Document:
    return Document(id=name, source=item.source, title="", section="", updated_at="", text=item.text)
