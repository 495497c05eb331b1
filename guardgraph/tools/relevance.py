"""The formula of relevance: what words weigh, what a passage covers of a question, and what that is beyond chance.

`LexicalRetriever` tells what it is and where it comes from. Every index computes it with the same operations in the
same order, so scores agree to the last digit.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from guardgraph.languages.language import language_of
from guardgraph.languages.terms import DEFAULT_LANGUAGE, beginnings, content_words, stems

__all__ = ["Asked", "Known", "asked", "damping", "most_common", "rarity", "readings", "scaled", "score", "searched"]

_K1: Final = 1.6
_B: Final = 0.4
"""BM25's saturation and length constants, as usual: 1.2..2 and 0.5..0.8 (Robertson and Zaragoza 2009)."""

_OPEN: Final = 0.5
_CHANCE: Final = 0.74
_TRIES: Final = 2
_SHORT: Final = 6
_LARGEST_CHANCE: Final = 0.6
"""How much what is left open counts; the share of ln N that chance covers, of how many passages, in passages of how
many words half of it; and at most.

They were set so that with 0.2 at most 2 % of the questions pass that a base has nothing to do with, on bases of 5 to
10,000 passages, and of the others at least 80 % on average. For that the share may be 0.66 to 0.82.
"""

_SHARES: Final = (0.7, 0.1, 0.2)
"""How much of a word each of its readings is: stem, spelling, beginning; set on questions in German, Spanish, Russian,
Chinese and Hindi."""

_LARGEST_EXPONENT: Final = 500
"""From here on, 1 more or less makes no difference to the logarithm."""


class Known(NamedTuple):
    """What is known of the words of a base in one reading."""

    passages: int
    words: int
    once: int
    """How many words occur once."""

    def weight(self, holders: int) -> float:
        """Return what a term weighs that so many passages have; one that none has is evidence of something else."""
        if holders:
            return math.log(1 + self.passages / (holders + 0.5))
        return math.log(1 + self.passages / 1.5) + math.log(max(self.words, 1) / max(self.once, 1))

    @property
    def chance(self) -> float:
        """What the best passage covers by chance of any question."""
        share = (self.words - self.once) / max(self.words + _SHORT * self.passages, 1)
        return _CHANCE * share * math.log1p(self.passages / _TRIES)


Asked = tuple[Counter[tuple[str, ...]], ...]
"""What a question says in each reading: its stems in each language of the base, its words, their beginnings."""


def asked(question: str, base_language: str, languages: Sequence[str]) -> Asked:
    """Count the terms of a question.

    Args:
        question: what is asked.
        base_language: the one that most of the base is in.
        languages: all of the base's, sorted.
    """
    told = language_of(question) or base_language
    words = content_words(question, told)
    if told != base_language:
        # A short question may be told wrongly, and what the base leaves out of its documents can be in none.
        kept = frozenset(content_words(question, base_language))
        words = [word for word in words if word in kept]
    return (
        Counter(zip(*(stems(words, language) for language in languages), strict=True)),
        Counter(zip(words, strict=True)),
        Counter(zip(beginnings(words), strict=True)),
    )


def scaled(terms: Asked) -> Iterator[tuple[int, tuple[str, ...], float]]:
    """Yield the reading, each term in it, and how much it counts, in the order in which all is summed."""
    for reading, (share, counted) in enumerate(zip(_SHARES, terms, strict=True)):
        scale = share * len(counted) / max(counted.total(), 1)
        for term, times in counted.items():
            yield reading, term, times * scale


def damping(length: int, average: float) -> float:
    """Return what a term's count is held against, in a passage of so many words."""
    return _K1 * (1 - _B + _B * length / max(average, 1))


def rarity(chance: float, whole: float) -> float:
    """Return how rarely chance covers what a question says."""
    return math.exp(-min(chance, _LARGEST_CHANCE * whole))


def score(covered: float, whole: float, rarity: float) -> float:
    """Return the relevance of a passage, 0..1, rounded to four digits."""
    # A question of hundreds of words may cover more than the exponential of a float can hold.
    beyond = math.log1p(math.expm1(min(covered, _LARGEST_EXPONENT)) * rarity) + max(covered - _LARGEST_EXPONENT, 0)
    return round(beyond / (beyond + _OPEN * (whole - covered)), 4)


def searched(title: str, section: str, text: str) -> str:
    """Return what of a passage is searched."""
    return "\n".join((title, section, text))


def most_common(told: Mapping[str, int]) -> str:
    """Return the language that most passages are in, of those that tell theirs."""
    return max(sorted(filter(None, told)), key=lambda language: told[language], default=DEFAULT_LANGUAGE)


def readings(words: Sequence[str], language: str) -> tuple[Iterable[str], ...]:
    """Return the three readings of words."""
    return stems(words, language), words, beginnings(words)
