"""What changes in a block of a part, gathered before it is written."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from guardgraph.knowledge.index.postings import encoded
from guardgraph.knowledge.index.words import Reader


class Added(NamedTuple):
    """The postings of a term that come behind those that a block has."""

    size: int
    data: bytes
    total: int
    """The sum of the counts."""
    most: int
    """The largest of them."""


class Gathered:
    """Gathers what changes in a block.

    Args:
        reader: of the part's language.
    """

    def __init__(self, reader: Reader) -> None:
        self._reader = reader
        self._by_word = defaultdict[str, list[int]](list)
        self.lengths: dict[int, int] = {}
        """By place; 0 where a chunk was taken out."""
        self.taken_out = Counter[str]()
        """How often chunks that were taken out had each term."""
        self.left = Counter[str]()
        """How many of them had it."""

    def put(self, place: int, words: Mapping[str, int], length: int) -> None:
        """Put a chunk in, behind all others."""
        self.lengths[place] = length
        for word, times in words.items():
            self._by_word[word] += (place, times)

    def take_out(self, place: int, words: Mapping[str, int]) -> None:
        """Take a chunk out: it has no length any more, and its postings stay."""
        self.lengths[place] = 0
        terms = self._reader.terms(words)
        self.taken_out.update(terms)
        self.left.update(terms.keys())

    def added(self) -> dict[str, Added]:
        """Return what was put in, by term.

        Most words share no term with another one, so what is made of a word serves for all of its terms.
        """
        found, shared = dict[str, Added](), defaultdict[str, list[str]](list)
        first: dict[str, str] = {}
        for word, values in self._by_word.items():
            one = _added(values)
            for term in self._reader[word]:
                if first.setdefault(term, word) == word:
                    found[term] = one
                else:
                    shared[term].append(word)
        for term, words in shared.items():
            found[term] = _added(_merged(self._by_word[word] for word in (first[term], *words)))
        return found


def _added(values: list[int]) -> Added:
    """Return the postings of place and count of chunk after chunk."""
    counts = values[1::2]
    return Added(len(counts), encoded(values[::2], counts), sum(counts), max(counts))


def _merged(some: Iterable[list[int]]) -> list[int]:
    """Return place and count of chunk after chunk that has any of some words."""
    counts = dict[int, int]()
    for values in some:
        for place, times in zip(values[::2], values[1::2], strict=True):
            counts[place] = counts.get(place, 0) + times
    return [value for place in sorted(counts) for value in (place, counts[place])]
