"""Plain JSON, the only thing that enters a state."""

from __future__ import annotations

from typing import Any, TypeAlias

__all__ = ["JsonObject", "JsonValue", "unambiguous"]

JsonValue: TypeAlias = Any
"""None, bool, int, float, str, or a list or a dictionary of them.

mypy cannot narrow a recursive alias without noise at every access, hence `Any`; guards parse before they use.
"""

JsonObject: TypeAlias = dict[str, Any]
"""A JSON object."""


def unambiguous(pairs: list[tuple[str, Any]]) -> JsonObject:
    """Return an object of the names and values that stand in a JSON text; given as ``object_pairs_hook``.

    Raises:
        ValueError: a name stands twice: one reader takes the first value, another one the last.
    """
    made = dict(pairs)
    if len(made) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for at, name in enumerate(names) if name in names[:at])
        raise ValueError(f"the key {twice!r:.80} stands twice in one object")
    return made
