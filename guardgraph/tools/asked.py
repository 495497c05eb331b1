"""What a retriever of ours is asked, read field by field: a graph asks as it should, a person may not."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from guardgraph.plain.errors import ConfigurationError
from guardgraph.plain.findings import shown

__all__ = ["Asked"]


class Asked(NamedTuple):
    """A request as it was read."""

    query: str
    sources: frozenset[str]
    top_k: int

    @classmethod
    def of(cls, request: object) -> Asked:
        """Read a request.

        Args:
            request: ``{"query": str, "sources": list[str], "top_k": int}``; other keys are not read.

        Raises:
            ConfigurationError: a field is missing or wrong; it says which, and what is allowed.
        """
        if not isinstance(request, Mapping):
            raise ConfigurationError(f"request: a dictionary is required; given: {shown(request)}")
        query, sources, top_k = (_field(request, name) for name in cls._fields)
        if not isinstance(query, str):
            raise _wrong("query", "a text", query)
        if not isinstance(sources, list | tuple | set | frozenset) or not {*map(type, sources)} <= {str}:
            raise _wrong("sources", "a list of texts", sources)
        if isinstance(top_k, bool) or not isinstance(top_k, int) or top_k < 1:
            raise _wrong("top_k", "a whole number from 1 on", top_k)
        return cls(query, frozenset(sources), top_k)


def _field(request: Mapping[object, object], name: str) -> object:
    if name not in request:
        raise ConfigurationError(f"request: {name} is missing; query, sources and top_k are required")
    return request[name]


def _wrong(field: str, allowed: str, given: object) -> ConfigurationError:
    return ConfigurationError(f"request: {field}: {allowed} is required; given: {shown(given)}")
