"""Attempts: what was proposed, what was sent back before, and what history is told of all of them."""

from __future__ import annotations

from guardgraph.guards.proposals import proposed_text
from guardgraph.plain.json import JsonObject, JsonValue
from guardgraph.state.self_critique import Rejected

__all__ = ["proposed", "rejected_before", "told"]


def proposed(packed: str, name: str) -> tuple[JsonValue, JsonObject]:
    """Return a proposed text, not yet judged, and what history says of its proposer."""
    given = proposed_text(packed, name)
    return given.value.get(name) if isinstance(given.value, dict) else None, given.about


def rejected_before(attempt: Rejected | None) -> list[JsonObject]:
    """Return what is known of the attempts that were sent back."""
    return attempt["by"] if attempt is not None else []


def told(about: JsonObject, rejected: list[JsonObject]) -> JsonObject:
    """Tell history of the proposer, and of every attempt where there were several: each of them cost tokens."""
    return {**about, "attempts": [*rejected, about]} if rejected else about
