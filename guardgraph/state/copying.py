"""Copying plain JSON, which every node is shown a copy of."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

__all__ = ["copied"]

_ATOMS = frozenset({str, int, float, bool, type(None)})


def copied(value: Any) -> Any:
    """Copy a value deeply, plain JSON several times faster than `copy.deepcopy` does."""
    kind = type(value)
    if kind is not dict and kind is not list:
        return value if kind in _ATOMS else deepcopy(value)
    made = value.copy()
    for key, item in made.items() if kind is dict else enumerate(made):
        if type(item) not in _ATOMS:
            made[key] = copied(item)
    return made
