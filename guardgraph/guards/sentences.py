"""Where a text's sentences end."""

from __future__ import annotations

import re

__all__ = ["sentences"]

_END = re.compile(r"(?<=[.!?])[\"')\]]?\s+(?=[\"'(\[]?[^\W_a-z])|\n+")
"""A full stop, then white space, then a capital or a digit; every line ends a sentence too. "99.95" and "24/7." hold
together, "e.g. this" as well."""


def sentences(text: str) -> list[str]:
    """Split a text into its sentences, stripped, in order, blanks dropped."""
    return [part.strip() for part in _END.split(text) if part.strip()]
