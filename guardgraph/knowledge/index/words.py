"""The words of a chunk, as the index keeps them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from functools import cache
from typing import Final

from guardgraph.languages.terms import is_name_word, list_content_words
from guardgraph.tools.relevance import readings, searched

KINDS: Final = ("s", "w", "b")
"""What a term begins with, by its reading: stem, spelling, beginning."""

NAME: Final = "n"
"""What a term begins with that stands for all three: a word with digits is read as itself, and so is nothing else."""

_KEPT_WORDS: Final = 65_536
"""Words of a language whose terms are kept in memory."""


def make_index_term(reading: int, form: str) -> str:
    """Return the key of a form in a reading."""
    return (NAME if is_name_word(form) else KINDS[reading]) + form


class Reader(dict[str, tuple[str, ...]]):
    """Reads chunks in a language; it keeps the terms of words that it has met.

    Args:
        language: an ISO 639-1 code.
    """

    def __init__(self, language: str) -> None:
        super().__init__()
        self._language = language

    def __missing__(self, word: str) -> tuple[str, ...]:
        if len(self) >= _KEPT_WORDS:
            self.clear()
        if is_name_word(word):
            terms: tuple[str, ...] = (NAME + word,)
        else:
            (stem,), (spelling,), (beginning,) = readings([word], self._language)
            terms = (KINDS[0] + stem, KINDS[1] + spelling, KINDS[2] + beginning)
        self[word] = terms
        return terms

    def words(self, title: str, section: str, text: str) -> Counter[str]:
        """Count the words of a chunk."""
        return Counter(list_content_words(searched(title, section, text), self._language))

    def terms(self, words: Mapping[str, int]) -> dict[str, int]:
        """Count the terms of all readings of words that were counted."""
        terms = dict[str, int]()
        for word, times in words.items():
            for term in self[word]:
                terms[term] = terms.get(term, 0) + times
        return terms


@cache
def choose_word_reader(language: str) -> Reader:
    """Return the reader of a language: one for all of the process, since most words of a chunk were met before."""
    return Reader(language)
