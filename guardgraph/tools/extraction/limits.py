"""How much text there may be."""

from __future__ import annotations

from guardgraph.tools.extraction.extracted import ExtractionFailed

__all__ = ["within"]


def within(text: str, max_chars: int) -> str:
    """Return a text that is not too long.

    Raises:
        ExtractionFailed: `too_large`.
    """
    if len(text) > max_chars:
        raise ExtractionFailed("too_large", {"limit": "max_chars", "characters": len(text), "allowed": max_chars})
    return text
