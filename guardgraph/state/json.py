"""Plain JSON, the only thing that enters a state."""

from __future__ import annotations

from typing import Any, TypeAlias

__all__ = ["JsonObject", "JsonValue"]

JsonValue: TypeAlias = Any
"""None, bool, int, float, str, or a list or a dictionary of them.

mypy cannot narrow a recursive alias without noise at every access, hence `Any`; guards parse before they use.
"""

JsonObject: TypeAlias = dict[str, Any]
"""A JSON object."""
