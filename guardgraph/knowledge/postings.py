"""Postings: for a term and a block of places which of its chunks have it, and how often, and how long they are."""

# A chunk's place in its scope is that of its block times `BLOCK`, and its place in it. The words of a chunk are kept as
# terms of the index: each word as its stem, as it is spelled and by its beginning.

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Mapping
from functools import cache
from struct import Struct
from typing import Final, TypeAlias

import numpy
from numpy.typing import NDArray

from guardgraph.grounding.words import is_name_word, list_content_words
from guardgraph.tools.relevance import join_searched_text, read_words_three_ways

BLOCK: Final = 16_384
"""Places of a block. More make a term quicker to read and slower to change; a place has two bytes."""

Numbers: TypeAlias = NDArray[numpy.integer]

MOST_OF_TERM: Final = (1 << 16) - 1
"""A chunk that has a term more often counts as if it had it so often: two bytes hold no more."""

_PAIR: Final = Struct("<HH")  # A place and a count
KINDS: Final = ("s", "w", "b")  # what a term begins with, by its reading: stem, spelling, beginning
NAME: Final = "n"
"""What a term begins with that stands for all three: a word with digits is read as itself, and so is nothing else."""

_LONGEST_TERM: Final = 200
"""Letters of a term that stand in a database. An index of PostgreSQL takes no row of more than 2,700 bytes."""

_KEPT_WORDS: Final = 65_536  # words of a language whose terms are kept in memory


def decode_postings(data: bytes) -> Numbers:
    """Return places in the block, rising, and how often the chunk there has the term, as rows of two numbers."""
    return numpy.frombuffer(data, dtype="<u2").reshape(-1, 2)


def change_postings(data: bytes, total: int, changed: Mapping[int, int]) -> tuple[bytes, int]:
    """Return postings after a change, by place how often the chunk there has the term now; and the sum of counts."""
    new = sorted((at, min(count, MOST_OF_TERM)) for at, count in changed.items() if count)
    if len(new) == len(changed) and (not data or new[0][0] > _PAIR.unpack_from(data, len(data) - _PAIR.size)[0]):
        # Only put in, behind all others, as most changes are.
        return data + b"".join([_PAIR.pack(*pair) for pair in new]), total + sum(count for _, count in new)
    held = decode_postings(data)
    left = numpy.array(new, dtype="<u2").reshape(-1, 2)
    left = numpy.concatenate([held[~numpy.isin(held[:, 0], [*changed])], left])
    left = left[left[:, 0].argsort()]
    return left.tobytes(), int(left[:, 1].sum())


def decode_lengths(data: bytes) -> Numbers:
    """Return how many words the chunks of a block have, by place; 0 where none is that has any."""
    return numpy.frombuffer(data, dtype="<u4")


def change_lengths(data: bytes, changed: Mapping[int, int]) -> bytes:
    """Return lengths after a change, by place."""
    held = decode_lengths(data)
    lengths = numpy.zeros(max(len(held), 1 + max(changed)), dtype="<u4")
    lengths[: len(held)] = held
    lengths[[*changed]] = [*changed.values()]
    return lengths.tobytes()


def make_index_term(reading: int, form: str) -> str:
    """Return the key of a form in a reading."""
    return _shorten_term((NAME if is_name_word(form) else KINDS[reading]) + form)


def _shorten_term(term: str) -> str:
    """Return a term as it is kept: what is too long for an index is its beginning and its hash."""
    if len(term) <= _LONGEST_TERM:
        return term
    return term[:_LONGEST_TERM] + hashlib.sha256(term.encode()).hexdigest()


class Reader(dict[str, tuple[str, ...]]):
    """Reads chunks in a language; it keeps the terms of words that it has met."""

    def __init__(self, language: str) -> None:
        super().__init__()
        self._language = language

    def __missing__(self, word: str) -> tuple[str, ...]:
        if len(self) >= _KEPT_WORDS:
            self.clear()
        if is_name_word(word):
            terms: tuple[str, ...] = (_shorten_term(NAME + word),)
        else:
            forms = read_words_three_ways([word], self._language)
            terms = tuple(_shorten_term(kind + form) for kind, (form,) in zip(KINDS, forms, strict=True))
        self[word] = terms
        return terms

    def count(self, title: str, section: str, text: str) -> tuple[int, dict[str, int]]:
        """Return how many words a chunk has, and count the terms of all their readings."""
        words = Counter(list_content_words(join_searched_text(title, section, text), self._language))
        terms = dict[str, int]()
        for word, times in words.items():
            for term in self[word]:
                terms[term] = terms.get(term, 0) + times
        return words.total(), terms


@cache
def choose_word_reader(language: str) -> Reader:
    """Return the reader of a language: one for all of the process, since most words of a chunk were met before."""
    return Reader(language)
