"""A knowledge base on disk: what users hold."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Self

from pydantic import ValidationError

from guardgraph.knowledge.documents import Chunk, Stamp, StoredDocument
from guardgraph.knowledge.index import Index
from guardgraph.state.access import Access, access_of
from guardgraph.state.context import Caller
from guardgraph.state.errors import ConfigurationError
from guardgraph.state.findings import configuration_error
from guardgraph.state.json import JsonObject
from guardgraph.tools.knowledge_base import Document

__all__ = ["KnowledgeBase"]


class KnowledgeBase:
    """Documents of tenants in one SQLite file, searched by those who may read them, while they change.

    The order of what is found, and each score, are those of `LexicalRetriever` over what the caller may read. It is a
    retriever, too: call it with ``{"query", "sources", "top_k"}`` and, of a run that has one, the ``"caller"``.

    Args:
        path: the file; it is made when it is not there, readable by its owner only.
        embedding: reserved; words only for now.

    Raises:
        ConfigurationError: the file is no knowledge base of this version, or cannot be made.
        StoreError: it cannot be read.
    """

    def __init__(self, path: str | Path, *, embedding: None = None) -> None:
        if not isinstance(path, str | Path) or not str(path).strip():
            raise ConfigurationError(f"knowledge base: the path of a file is required; given: {path!r}")
        self.path = Path(path)
        self.embedding = embedding
        self.index = Index(self.path)
        self.index.source_names()  # a file that is none is refused at once

    def __repr__(self) -> str:
        return f"KnowledgeBase({str(self.path)!r})"

    def __reduce__(self) -> tuple[type[Self], tuple[Path]]:
        return type(self), (self.path,)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file; it is opened again when it is needed."""
        self.index.close()

    def add(
        self,
        documents: Iterable[Document],
        *,
        tenant: str | None = None,
        readers: Iterable[str] | None = None,
        name: str | None = None,
    ) -> None:
        """Put documents in, each in place of the one that has its id.

        Args:
            documents: as `LexicalRetriever` takes them.
            tenant: whose they are.
            readers: who may read them: ``public``, ``tenant``, ``user:ID``, ``group:ID``; without any, nobody.
            name: of the collection; it stands before each id.

        Raises:
            ConfigurationError: a document lacks a field, or a reader is none.
        """
        access = _access(tenant, readers or ())
        with self.index.together() as batch:
            for at, document in enumerate(documents):
                batch.put(_stored(at, document, access, name or ""))

    def remove(self, name: str, *, tenant: str | None = None) -> None:
        """Take the documents of a collection out."""
        self.index.drop(tenant, self.index.listed(tenant, name))

    def search(
        self, query: str, *, caller: Caller | Mapping[str, Any] | None = None, top_k: int = 4
    ) -> list[JsonObject]:
        """Find the chunks that answer a query, among those that a caller may read.

        Args:
            query: what is asked.
            caller: who asks, as ``{"tenant", "user", "groups"}``; None is somebody of whom nothing is known.
            top_k: how many at most.

        Returns:
            Candidates with a score above 0, best first.

        Raises:
            ConfigurationError: the caller is none.
            StoreError: the file cannot be read, or what was found is not what was put in.
        """
        return self.index.search(query, caller=_caller(caller), top_k=top_k)

    def __call__(self, request: JsonObject) -> list[JsonObject]:
        """Find what answers a request: a retriever's, and who asks."""
        caller = _caller(request.get("caller"))
        return self.index.search(request["query"], sources=request["sources"], caller=caller, top_k=request["top_k"])

    def source_names(self) -> tuple[str, ...]:
        """Return the names of the sources of all documents, sorted."""
        return self.index.source_names()


def _caller(given: Caller | Mapping[str, Any] | None) -> Caller | None:
    if given is None or isinstance(given, Caller):
        return given
    try:
        return Caller.model_validate(given)
    except ValidationError as error:
        raise configuration_error("caller", error) from None


def _access(tenant: str | None, readers: Iterable[str]) -> Access:
    try:
        return access_of(tenant, tuple(readers))
    except ValueError as error:
        raise ConfigurationError(f"readers: {error}") from None


def _stored(at: int, document: Mapping[str, Any], access: Access, name: str) -> StoredDocument:
    if not isinstance(document, Mapping):
        raise ConfigurationError(f"document {at} is no dictionary but a {type(document).__name__}")
    for field in sorted(Document.__required_keys__):
        if not isinstance(document.get(field), str):
            raise ConfigurationError(f"document {at}: {field!r} is missing or no string")
    text = document["text"]
    number = f"{name}/{document['id']}" if name else document["id"]
    chunk = Chunk(number, document["section"], text, 0, len(text))
    stamp = Stamp(len(text.encode()), 0, hashlib.sha256(text.encode()).hexdigest())
    title, day = document["title"], document["updated_at"]
    return StoredDocument(number, name, document["source"], title, day, access, (chunk,), stamp)
