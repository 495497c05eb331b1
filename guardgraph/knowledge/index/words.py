"""The words of a chunk, as the index keeps them."""

from __future__ import annotations

from collections import Counter
from typing import Final

from guardgraph.tools.relevance import readings, searched
from guardgraph.tools.terms import content_words

__all__ = ["KINDS", "counted", "term_of"]

KINDS: Final = ("s", "w", "b")
"""What a term begins with, by its reading: stem, spelling, beginning."""


def term_of(reading: int, form: str) -> str:
    """Return the key of a form in a reading."""
    return KINDS[reading] + form


def counted(title: str, section: str, text: str, language: str) -> tuple[Counter[str], int]:
    """Count the terms of all readings of a chunk, and its words."""
    words = content_words(searched(title, section, text), language)
    terms = Counter(term_of(reading, form) for reading, forms in enumerate(readings(words, language)) for form in forms)
    return terms, len(words)
