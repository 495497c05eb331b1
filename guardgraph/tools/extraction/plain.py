"""Plain text."""

from __future__ import annotations

from guardgraph.tools.extraction.blocks import plain_text
from guardgraph.tools.extraction.extracted import Extracted
from guardgraph.tools.extraction.limits import within

__all__ = ["read_plain"]


def read_plain(text: str, max_chars: int) -> Extracted:
    """Return a text without what a reader does not see. It has no title, and declares no date.

    Raises:
        ExtractionFailed: `too_large`.
    """
    text = within(plain_text(text).strip(), max_chars)
    return Extracted("", text, (text,) if text else (), "", "")
