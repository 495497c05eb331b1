"""What a tool is, and what a retriever may say of itself."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol, TypeAlias, runtime_checkable

from guardgraph.plain.errors import ConfigurationError
from guardgraph.plain.json import JsonObject, JsonValue

Tool: TypeAlias = Callable[[JsonObject], JsonValue]
"""A function of one dictionary that returns a JSON value; where one is asked for, a Runnable will do too."""


@runtime_checkable
class HasSources(Protocol):
    """A retriever that knows which sources it has; one over a live index does not."""

    @property
    def sources(self) -> Sequence[str]:
        """The names of its sources, as a list or a tuple: what a policy may list."""


def read_retriever_sources(retriever: object) -> tuple[str, ...] | None:
    """Return the sources that a retriever says it has, each once; None where it does not say."""
    if not isinstance(retriever, HasSources):
        return None
    return _check_source_names("retriever.sources", retriever.sources)


def choose_retriever_sources(retriever: object, named: Sequence[str] | None) -> tuple[str, ...] | None:
    """Return the sources that a retriever has, as it says itself or as somebody names them; None where nobody does."""
    said = read_retriever_sources(retriever)
    if named is None:
        return said
    if said is not None:
        raise ConfigurationError(f"sources: to be left out, the retriever says itself that it has {', '.join(said)}")
    names = _check_source_names("sources", named)
    if not names or not all(map(str.strip, names)):
        raise ConfigurationError(f"sources: names that are not blank, at least one; given: {named!r:.80}")
    return names


def _check_source_names(slot: str, given: object) -> tuple[str, ...]:
    if not isinstance(given, list | tuple) or not all(isinstance(name, str) for name in given):
        raise ConfigurationError(f"{slot}: a list of strings; given: {given!r:.80}")
    return tuple(dict.fromkeys(given))
