"""Postings: for a term and a block of places which of its chunks have it, and how often, and how long they are."""

# A chunk's number is that of its block times `BLOCK`, and its place in it. A block belongs to one scope. A chunk that
# was taken out has no length any more; its postings stay until the block is written anew, and count for nothing. The
# words of a chunk are kept as terms of the index.

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Final, NamedTuple

from guardgraph.grounding.words import is_name_word, list_content_words
from guardgraph.tools.relevance import readings, searched

BLOCK: Final = 16_384
"""Places of a block. More make a term quicker to read and slower to change; a place has two bytes."""

_NUMBER_BITS: Final = 32
"""Of a key: a word's number in its part. What is above is the part or, of postings, the row of lengths."""

_PLACE, _LONG = "H", "I"
_SHORT_BYTES: Final = 3
_LONG_BYTES: Final = 6
"""Of a chunk: its place in two bytes, its count in one. Where one is too large for it, all counts have four."""
_PLACE_BYTES: Final = 2
LENGTH_BYTES: Final = 4
"""Of a chunk's length."""


class Cells(NamedTuple):
    """Two columns of the same length."""

    places: array[int]
    """In the block, rising. Where nobody is any more, the length is 0."""
    counts: Sequence[int]


def check_posting_size(size: int, data: bytes) -> None:
    """Refuse postings that are not those of `size` chunks."""
    if len(data) not in (_SHORT_BYTES * size, _LONG_BYTES * size):
        raise ValueError(f"{size} postings in {len(data)} bytes")


def decode_postings(size: int, data: bytes) -> Cells:
    """Return the postings that `size` chunks of a block have."""
    check_posting_size(size, data)
    split = _PLACE_BYTES * size
    places, counts = array(_PLACE, data[:split]), data[split:]
    return Cells(places, counts if len(data) == _SHORT_BYTES * size else array(_LONG, counts))


def encode_postings(places: Sequence[int], counts: Sequence[int]) -> bytes:
    """Return places that rise, and how often the chunks there have a term, as postings."""
    return array(_PLACE, places).tobytes() + _pack_posting_numbers(counts)


def append_postings(size: int, data: bytes, more: int, added: bytes) -> bytes:
    """Return the postings that `size` chunks of a block have, and those of `more` chunks behind them."""
    split, end = _PLACE_BYTES * size, _PLACE_BYTES * more
    before, behind = data[split:], added[end:]
    if len(before) > size or len(behind) > more:
        before = array(_LONG, [*decode_postings(size, data).counts, *decode_postings(more, added).counts]).tobytes()
        behind = b""
    return data[:split] + added[:end] + before + behind


def make_posting_key(high: int, number: int) -> int:
    """Return the key of a row."""
    return high << _NUMBER_BITS | number


def read_posting_number(key: int) -> int:
    """Return the word's number of a key."""
    return key & (1 << _NUMBER_BITS) - 1


def decode_chunk_lengths(data: bytes) -> array[int]:
    """Return how many words the chunks of a block have, by place; 0 where none is that has any."""
    return array(_LONG, data)


def resize_chunk_lengths(lengths: array[int], size: int) -> None:
    """Let lengths have so many places at least."""
    lengths.extend([0] * (size - len(lengths)))


def _pack_posting_numbers(counts: Sequence[int]) -> bytes:
    try:
        return bytes(counts)
    except ValueError:
        return array(_LONG, counts).tobytes()


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
    """Reads chunks in a language; it keeps the terms of words that it has met."""

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
