"""Values of a statement."""

from collections.abc import Iterable

__all__ = ["marks"]


def marks(values: Iterable[object]) -> str:
    """Return a question mark for each value."""
    return ", ".join("?" for _ in values)
