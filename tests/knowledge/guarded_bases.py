"""Bases of documents with readers, for what holds of every retriever that knows who asks."""

from collections.abc import Sequence
from pathlib import Path
from threading import RLock
from typing import Any

from guarded_stores import add_guarded, point, retriever
from langchain_core.vectorstores import VectorStore

from guardgraph import Caller, Document, KnowledgeBase, LexicalRetriever
from guardgraph.state.context import is_access_allowed, normalize_document_access
from guardgraph.testing import GuardedDocument


class LexicalBase:
    """A base of what a caller may read; other things are counted where it `counts_all`, left out if it `filters`."""

    def __init__(self, *, counts_all: bool = False, filters: bool = True) -> None:
        self._held: dict[tuple[str | None, str], GuardedDocument] = {}
        self._counts_all = counts_all
        self._filters = filters
        self._lock = RLock()

    def put(self, documents: Sequence[GuardedDocument]) -> None:
        with self._lock:
            self.remove(documents)  # or its old place would tell that it was here before
            self._held |= {(item.tenant, item.id): item for item in documents}

    def remove(self, documents: Sequence[GuardedDocument]) -> None:
        with self._lock:
            for item in documents:
                self._held.pop((item.tenant, item.id), None)

    def search(self, request: dict[str, Any]) -> list[dict[str, Any]]:
        caller = Caller(**request["caller"]) if "caller" in request else None
        with self._lock:
            held = [*self._held.values()]
        readable = [item for item in held if not self._filters or is_readable(item, caller)]
        counted = held if self._counts_all else readable
        named = {point(item.tenant, item.id): item for item in counted}
        retrieve = LexicalRetriever([_document(name, item) for name, item in named.items()])
        found = [(named[hit["doc_id"]], hit) for hit in retrieve({**request, "top_k": len(counted) or 1})]
        found = [(item, hit) for item, hit in found if item in readable][: request["top_k"]]
        return [{**hit, "doc_id": item.id, "tenant": item.tenant, "readers": [*item.readers]} for item, hit in found]

    __call__ = search


class FileBase:
    """A knowledge base in a file, of words or of words and vectors."""

    def __init__(self, path: Path, **settings: Any) -> None:
        self._base = KnowledgeBase(path, **settings)
        self.search = self._base.__call__

    def put(self, documents: Sequence[GuardedDocument]) -> None:
        for item in documents:
            self._base.add([_document(item.id, item)], tenant=item.tenant, readers=item.readers)

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
        with self._lock:
            add_guarded(self._store, documents)

    def remove(self, documents: Sequence[GuardedDocument]) -> None:
        with self._lock:
            self._store.delete([point(item.tenant, item.id) for item in documents])

    def search(self, request: dict[str, Any]) -> list[dict[str, Any]]:
        with self._lock:
            return [*retriever(self._store, self._access).invoke(request)]


def is_readable(item: GuardedDocument, caller: Caller | None) -> bool:
    return is_access_allowed(normalize_document_access(item.tenant, item.readers), caller)


def _document(name: str, item: GuardedDocument) -> Document:
    return Document(id=name, source=item.source, title="", section="", updated_at="", text=item.text)
