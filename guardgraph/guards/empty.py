"""Refuses a text that says nothing, in every pattern."""

from __future__ import annotations

from collections.abc import Iterable

from guardgraph.grounding.empty import is_empty_text
from guardgraph.guards.stop import Stop
from guardgraph.plain.json import excerpt_value


def check_text_is_said(
    text: str, reason: str, *, echoes: Iterable[str] = (), told: Iterable[str] = (), results: Iterable[str] = ()
) -> None:
    """Refuse a text that says nothing; see `is_empty_text`."""
    if is_empty_text(text, echoes=echoes, told=told, results=results):
        raise Stop(reason, details={"text": excerpt_value(text)})
