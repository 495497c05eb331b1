"""A call: the only way in which a run reaches outside."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from langchain_core.runnables import Runnable

from guardgraph.state.json import JsonObject

__all__ = ["Call", "Outside"]

Outside: TypeAlias = "Runnable[Any, Any] | Callable[[JsonObject], Any]"
"""What may be called from a body: a Runnable, or a function of one dictionary."""


@dataclass(frozen=True, slots=True)
class Call:
    """One call to a proposer or a tool."""

    kind: Literal["proposer", "tool"]
    target: Outside
    request: JsonObject
    """What the other side sees, and all that it sees."""
    about: JsonObject = field(default_factory=dict)
    """What is known of the proposer before it answers."""
