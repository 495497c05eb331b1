"""The one way in which a guard refuses."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

__all__ = ["NAME_LIMIT", "Stop", "evidence", "shown_name"]

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
