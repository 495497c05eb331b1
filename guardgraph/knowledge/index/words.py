"""The words of a chunk, as the index keeps them."""

from __future__ import annotations

from collections import Counter
from typing import Final

from guardgraph.tools.relevance import readings, searched
from guardgraph.tools.terms import content_words

__all__ = ["KINDS", "Reader", "term_of"]

KINDS: Final = ("s", "w", "b")
"""What a term begins with, by its reading: stem, spelling, beginning."""


def term_of(reading: int, form: str) -> str:
    """Return the key of a form in a reading."""
    return KINDS[reading] + form


class Reader(dict[str, tuple[str, str, str]]):
    """Reads chunks in a language; it keeps the terms of each word that it has met.

    Args:
        language: an ISO 639-1 code.
    """

    def __init__(self, language: str) -> None:
        super().__init__()
        self._language = language

    def __missing__(self, word: str) -> tuple[str, str, str]:
        (stem,), (spelling,), (beginning,) = readings([word], self._language)
        self[word] = terms = (term_of(0, stem), term_of(1, spelling), term_of(2, beginning))
        return terms

    def counted(self, title: str, section: str, text: str) -> tuple[dict[str, int], int]:
        """Count the terms of all readings of a chunk, and its words."""
        words = Counter(content_words(searched(title, section, text), self._language))
        terms = dict[str, int]()
        for word, times in words.items():
            for term in self[word]:
                terms[term] = terms.get(term, 0) + times
        return terms, words.total()
