"""Who may read the documents of a store: a caller becomes the store's filter, and what it finds is looked at again."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from guardgraph.plain.conversion import Unreturnable
from guardgraph.plain.errors import ConfigurationError
from guardgraph.plain.json import JsonObject
from guardgraph.state.access import Access, access_of, may_read
from guardgraph.state.context import Caller
from guardgraph.tools.langchain.asking import core, is_retriever, is_store, is_tool
from guardgraph.tools.langchain.documents import MetadataKeys

if TYPE_CHECKING:
    from langchain_core.documents import Document

__all__ = ["AccessFilter", "StoreAccess"]

AccessFilter: TypeAlias = Callable[[Caller | None, list[str]], Mapping[str, Any]]
"""Returns the keyword arguments of a search that hold it to what a caller may read, and to these sources."""

_FIELDS = ("tenant", "readers")


class StoreAccess:
    """Holds a search to what its caller may read.

    Its errors say nothing of a document: it is not known yet whether the caller may read it.

    Args:
        given: what is searched.
        keys: where the fields of a document stand.
        access: makes the store's filter of a caller; None where no document has a tenant or readers.

    Raises:
        ConfigurationError: there is no such function, though it is said where the readers of a document stand, or there
            is one, and what is searched takes no arguments of its own.
    """

    def __init__(self, given: object, keys: MetadataKeys, access: AccessFilter | None) -> None:
        takes_arguments = is_store(given) or is_retriever(core(given))
        allowed = "a function of a caller and of sources that returns the arguments of a search"
        if access is not None and not (callable(access) and takes_arguments):
            of = "for a vector store or a retriever,"
            raise ConfigurationError(f"access: {allowed}, {of} is required; given: {access!r:.80}")
        told = [field for field in _FIELDS if keys.are_told(field)]
        if access is None and told and (takes_arguments or is_tool(core(given))):
            where = f"where metadata= says what the {' and the '.join(told)} of a document are"
            raise ConfigurationError(f"access: {allowed} is required {where}; given: None")
        self._keys = keys
        self._filter = access

    @property
    def filters(self) -> bool:
        """Whether a caller becomes the arguments of the search."""
        return self._filter is not None

    def arguments(self, request: JsonObject) -> Mapping[str, Any]:
        """Return the arguments of a search that hold it to what the caller of a request may read."""
        if self._filter is None:
            return {}
        return self._filter(_caller(request), list(request["sources"]))

    def read(self, documents: Sequence[Document], request: JsonObject) -> list[JsonObject]:
        """Return what candidates say of who may read them; nothing for one of which nobody said it.

        Raises:
            Unreturnable: the caller may not read a document, or it does not say who may though the store has a filter.
        """
        caller = _caller(request)
        return [self._read(document, at, caller) for at, document in enumerate(documents)]

    def _read(self, document: Document, at: int, caller: Caller | None) -> JsonObject:
        access = self._access(document, at)
        if access is None and self._filter is None:
            return {}
        if access is None:
            raise _refused("a document without readers", "documents that say who may read them, since there is access=")
        if not may_read(access, caller):
            raise _refused("another document", "documents that the caller may read")
        return {"tenant": access.tenant, "readers": list(access.readers)}

    def _access(self, document: Document, at: int) -> Access | None:
        allowed = "a tenant that is a text or nothing, and a list of public, tenant, user:ID and group:ID as readers"
        try:
            tenant, readers = (self._keys.read(document, at, field) for field in _FIELDS)
            if tenant is None and readers is None:
                return None
            if isinstance(tenant, str | None) and isinstance(readers, list | tuple | None):
                return access_of(tenant, readers or ())
        except (Unreturnable, ValueError):  # which say what stands there
            pass
        raise _refused("a document with something else", allowed)


def _caller(request: JsonObject) -> Caller | None:
    given = request.get("caller")
    return None if given is None else Caller.model_validate(given)


def _refused(given: str, allowed: str) -> Unreturnable:
    return Unreturnable(given, place=("found",), allowed=allowed)
