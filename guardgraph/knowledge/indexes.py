"""An index, of either kind: a knowledge base puts documents in, and asks for what a caller may read."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Final, NamedTuple, Self

from guardgraph.knowledge.documents import Stamp, StoredDocument
from guardgraph.knowledge.searching.found import NotFound
from guardgraph.knowledge.storing.scopes import Scope
from guardgraph.plain.json import JsonObject
from guardgraph.state.context import Access, Caller

_MOST_CHUNKS: Final = 4_096
"""Of a transaction; those of a single document may be more."""


class Batch:
    """Puts documents in. They are kept in memory until there are enough for a transaction, or the block ends.

    Where the process ends, what waits is lost; in the base, each document is as it was or as it is put.

    Args:
        refuse: raises where the id of a document, or of a chunk of it, is taken.
        write: puts documents in, in one transaction.
    """

    def __init__(
        self, refuse: Callable[[StoredDocument], None], write: Callable[[Sequence[StoredDocument]], None]
    ) -> None:
        self._refuse = refuse
        self._write = write
        self._waiting: dict[tuple[str | None, str], StoredDocument] = {}
        self._chunks: set[tuple[str | None, str]] = set()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        self.flush()

    def put(self, document: StoredDocument) -> None:
        """Put a document in, in place of the one of its tenant that has its id.

        Raises:
            ConfigurationError: its id, or that of a chunk, is taken in its tenant; nothing of it is put in.
            StoreError: the file cannot be written.
        """
        tenant = document.access.tenant
        ids = {(tenant, chunk.id) for chunk in document.chunks}
        if (tenant, document.id) in self._waiting or not ids.isdisjoint(self._chunks):
            self.flush()
        self._refuse(document)
        self._waiting[tenant, document.id] = document
        self._chunks |= ids
        if len(self._chunks) >= _MOST_CHUNKS:
            self.flush()

    def flush(self) -> None:
        """Write what waits.

        Raises:
            ConfigurationError: an id was taken meanwhile; none of what waited is put in.
            StoreError: the file cannot be written; likewise.
        """
        documents = list(self._waiting.values())
        self._waiting.clear()
        self._chunks.clear()
        if documents:
            self._write(documents)


class Listed(NamedTuple):
    """A document that is in the index."""

    collection: str
    stamp: Stamp
    source: str
    access: Access


class AnyIndex(ABC):
    """What both kinds of index do.

    A tenant is None for documents of callers without one, and a caller is None where nothing is known of them.
    """

    @abstractmethod
    def check_embedding(self, *, to_write: bool = False) -> None:
        """Refuse what is no knowledge base of this version, or has vectors of another embedding.

        Args:
            to_write: whether documents are put in.

        Raises:
            ConfigurationError: it says what there is, and what was given.
        """

    def put(self, document: StoredDocument) -> None:
        """Put a document in, in place of the one of its tenant that has its id.

        Raises:
            ConfigurationError: its id, or that of a chunk, is in another collection of the tenant.
        """
        with self.together() as batch:
            batch.put(document)

    def together(self) -> Batch:
        """Return what puts many documents in, several in a transaction; use it as a context manager."""
        return Batch(self._refuse_taken, self._write)

    @abstractmethod
    def _refuse_taken(self, document: StoredDocument) -> None:
        """Refuse a document whose id, or one of whose chunks' ids, others of the tenant have."""

    @abstractmethod
    def _write(self, documents: Sequence[StoredDocument]) -> None:
        """Put documents in, in one transaction for each tenant at most."""

    @abstractmethod
    def drop(self, tenant: str | None, ids: Iterable[str]) -> None:
        """Take documents out, in one transaction; ids that are not there are none."""

    @abstractmethod
    def drop_collection(self, tenant: str | None, collection: str) -> int:
        """Take all documents of a collection out, in one transaction, and return how many there were."""

    @abstractmethod
    def move(self, tenant: str | None, name: str, source: str, access: Access) -> None:
        """Give a document whose text is unchanged another source and other readers."""

    @abstractmethod
    def restamp(self, tenant: str | None, stamps: Mapping[str, Stamp]) -> None:
        """Note by what documents are known now whose texts are unchanged."""

    @abstractmethod
    def read_rules_version(self, tenant: str | None, collection: str) -> object:
        """Return the version of the rules by which a collection was narrowed; None where nothing says it."""

    @abstractmethod
    def note_rules_version(self, tenant: str | None, collection: str, version: int) -> None:
        """Note by which version of the rules a collection was narrowed."""

    @abstractmethod
    def listed(self, tenant: str | None, collection: str) -> dict[str, Listed]:
        """Return the documents of a collection, by id."""

    @abstractmethod
    def look_up(self, tenant: str | None, ids: Iterable[str]) -> dict[str, Listed]:
        """Return those of some documents of a tenant that are there, by id, in any collection."""

    @abstractmethod
    def spell_tenant(self, tenant: str | None) -> str | None:
        """Return a tenant as the index spells it."""

    @abstractmethod
    def collections(self) -> dict[tuple[str | None, str], int]:
        """Return how many documents each collection of each tenant has."""

    @abstractmethod
    def documents_by_scope(self) -> dict[Scope, int]:
        """Return how many documents each scope has."""

    @abstractmethod
    def tenants(self) -> list[str | None]:
        """Return the tenants that have documents, None first where documents have none."""

    @abstractmethod
    def readable_sources(self, caller: Caller | None) -> list[str]:
        """Return the sources of which a caller may read something, sorted."""

    @abstractmethod
    def source_names(self) -> tuple[str, ...]:
        """Return the names of the sources of all documents, sorted."""

    @abstractmethod
    def search(
        self, query: str, *, sources: Collection[str] | None = None, caller: Caller | None = None, top_k: int = 4
    ) -> list[JsonObject]:
        """Find the chunks that answer a query, among those that a caller may read; sources of None are all."""

    @abstractmethod
    def explain(
        self, query: str, *, caller: Caller | None = None, top_k: int = 4
    ) -> tuple[list[JsonObject], list[NotFound]]:
        """Return what a caller finds, and why they do not find the best of all others, where the index can say it."""

    @abstractmethod
    def close(self) -> None:
        """Close what is open; it is opened again when it is needed."""
