"""What a tool is."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from guardgraph.state.json import JsonObject, JsonValue

__all__ = ["Tool"]

Tool: TypeAlias = Callable[[JsonObject], JsonValue]
"""A function of one dictionary that returns a JSON value; where one is asked for, a Runnable will do too."""
