"""The one way in which a guard refuses."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from guardgraph.state.json import JsonValue
from guardgraph.state.plain import excerpt

__all__ = ["NAME_LIMIT", "Stop", "evidence", "refused", "shown_name"]

NAME_LIMIT = 80
"""Characters of a name written by a model that a stop reason repeats."""


class Stop(Exception):
    """A guard's refusal: why, and the evidence, as data.

    Args:
        reason: an entry of the stop-reason catalogue, such as ``"invalid_intent:kind"``.
        evidence: keys of the result that show what was refused; plain JSON values.
    """

    def __init__(self, reason: str, **evidence: Any) -> None:
        super().__init__(reason)
        self.reason = reason
        self.evidence = evidence

    def __repr__(self) -> str:
        return f"Stop({self.reason!r}, {', '.join(self.evidence)})"


def refused(field: str, given: JsonValue, allowed: str) -> Stop:
    """Return the stop for a field of the input that cannot be read.

    Args:
        field: its name, or its path with points.
        given: what was given; the details show an excerpt.
        allowed: what would have been, in words.

    Returns:
        ``invalid_request:<field>`` with `details` ``{field, given, allowed}``.
    """
    details = {"field": field, "given": excerpt(given), "allowed": allowed}
    return Stop(f"invalid_request:{field}", details=details)


def shown_name(name: str) -> str:
    """Cut a name written by a model to what a stop reason may repeat."""
    return name[:NAME_LIMIT]


@contextmanager
def evidence(**shown: Any) -> Iterator[None]:
    """Add evidence to whatever stop is raised inside."""
    try:
        yield
    except Stop as stop:
        raise Stop(stop.reason, **{**shown, **stop.evidence}) from None
