"""The formula of relevance: what words weigh, what a passage covers of a question, and what that is beyond chance."""

# `LexicalRetriever` tells what it is and where it comes from. It stands here once: an index counts words and adds up,
# by Python or by numpy, and all that it adds up is computed here. So scores of all indexes agree to the last digit.

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from heapq import nlargest
from typing import TYPE_CHECKING, Final, NamedTuple, TypeVar

from guardgraph.grounding.words import (
    DEFAULT_LANGUAGE,
    detect_language,
    list_content_words,
    list_word_beginnings,
    stem_words,
)

if TYPE_CHECKING:
    from numpy import float64
    from numpy.typing import NDArray


_Number = TypeVar("_Number", float, "NDArray[float64]")  # one, or an array of numpy's, which computes all of its own

_K1: Final = 1.6
_B: Final = 0.4  # BM25's saturation and length constants, as usual: 1.2..2 and 0.5..0.8 (Robertson and Zaragoza 2009)

_OPEN: Final = 0.5
_MORE_OPEN: Final = 0.3
_FEW: Final = 60
"""How much what is left open counts in a base of a few passages, how much more in one of very many, and with how many
passages half of that: only a base of many topics has some words of any question together in one passage."""

_CHANCE: Final = 0.53
_TRIES: Final = 1
_SHORT: Final = 6
_LARGEST_CHANCE: Final = 0.7
"""The share of ln N that chance covers, of how many passages, in passages of how many words half of it; and at most.

They were set so that with 0.2 at most 2 % of the questions pass that a base has nothing to do with, on bases of 5 to
10,000 passages and in five languages, and of the others at least 80 % on average. Other articles than those they were
set on read 1 to 3 points worse.
"""

MEASURED: Final = frozenset({"en", "de", "es", "ru", "zh", "hi"})
"""Languages in which it was measured what the default threshold lets pass; of others nobody can say it."""

_SHARES: Final = (0.7, 0.1, 0.2)
"""How much of a word each of its readings is: stem, spelling, beginning; set on questions in German, Spanish, Russian,
Chinese and Hindi."""

_LARGEST_EXPONENT: Final = 500  # from here on, 1 more or less makes no difference to the logarithm


def list_unmeasured_languages(passages: Mapping[str, int]) -> tuple[str, ...]:
    """Return the languages of most passages, where the default threshold was measured for less than half of them."""
    counts = Counter({language: count for language, count in passages.items() if language})
    ranked = sorted(counts, key=lambda language: (-counts[language], language))
    others = tuple(language for language in ranked if language not in MEASURED)
    return others if 2 * sum(counts[language] for language in others) > counts.total() else ()


class WordCounts(NamedTuple):
    """What is known of the words of a base in one reading."""

    passages: int
    words: int
    once: int  # how many words occur once

    @property
    def average(self) -> float:
        """Words of a passage."""
        return self.words / max(self.passages, 1)

    def weight(self, times: float, holders: int) -> float:
        """Return what a term weighs in a question; one that no passage has is evidence of something else."""
        if holders:
            return times * math.log(1 + self.passages / (holders + 0.5))
        return times * (math.log(1 + self.passages / 1.5) + math.log(max(self.words, 1) / max(self.once, 1)))

    @property
    def openness(self) -> float:
        """How much what a passage leaves open of a question counts against what it covers."""
        return _OPEN + _MORE_OPEN * self.passages / (self.passages + _FEW)

    @property
    def chance(self) -> float:
        """What the best passage covers by chance of any question."""
        known = (self.words - self.once) / max(self.words + _SHORT * self.passages, 1)
        return _CHANCE * known * math.log1p(self.passages / _TRIES)


Asked = tuple[Counter[tuple[str, ...]], ...]
"""What a question says in each reading: its stems in each language of the base, its words, their beginnings."""


def find_asked_terms(question: str, base_language: str, languages: Sequence[str]) -> Asked:
    """Count the terms of a question."""
    told = detect_language(question) or base_language
    # A short question may be told wrongly, and what the base leaves out of its documents can be in none.
    words = list_content_words(question, told, beside="" if told == base_language else base_language)
    return (
        Counter(zip(*(stem_words(words, language) for language in languages), strict=True)),
        Counter(zip(words, strict=True)),
        Counter(zip(list_word_beginnings(words), strict=True)),
    )


def weigh_asked_terms(terms: Asked) -> Iterator[tuple[int, tuple[str, ...], float]]:
    """Yield the reading, each term in it, and how much it counts, in the order in which all is summed."""
    for reading, (share, counted) in enumerate(zip(_SHARES, terms, strict=True)):
        scale = share * len(counted) / max(counted.total(), 1)
        for term, times in counted.items():
            yield reading, term, times * scale


def measure_length_damping(length: _Number, average: float) -> _Number:
    """Return what a term's count is held against, in a passage of so many words."""
    return _K1 * (1 - _B + _B * length / max(average, 1))


def measure_term_share(count: _Number, damped: _Number) -> _Number:
    """Return how much of a term's weight a passage covers."""
    return count / (count + damped)


def rank_relevant_passages(
    covered: Sequence[float], whole: float, known: WordCounts, wanted: int
) -> list[tuple[int, float]]:
    """Return the passages that cover most, with their relevance above 0; the best first, equal ones in their order."""
    rarity = math.exp(-min(known.chance, _LARGEST_CHANCE * whole))
    places = nlargest(wanted, range(len(covered)), key=covered.__getitem__)
    scored = [
        (place, _score_passage(covered[place], known.openness * (whole - covered[place]), rarity))
        for place in places
        if covered[place] > 0
    ]
    return sorted((hit for hit in scored if hit[1] > 0), key=lambda hit: (-hit[1], hit[0]))


def _score_passage(covered: float, left_open: float, rarity: float) -> float:
    # A question of hundreds of words may cover more than the exponential of a float can hold.
    beyond = math.log1p(math.expm1(min(covered, _LARGEST_EXPONENT)) * rarity) + max(covered - _LARGEST_EXPONENT, 0)
    return round(beyond / (beyond + left_open), 4)


_NAME_PART: Final = re.compile(
    r"(?<![a-z])[A-Z]?[a-z]{2,}+(?=[A-Z\d])|(?<![A-Z])[A-Z]{2,}(?=[A-Z][a-z])|(?<=[A-Za-z])[A-Z][a-z]+"
)
"""What a name of code is made of: `JSON` and `Response` in `JSONResponse`, `jinja` in `jinja2`."""


def join_searched_text(title: str, section: str, text: str) -> str:
    """Return what of a passage is searched: headings, text, and the parts of its names of code."""
    joined = "\n".join((title, section, text))
    return "\n".join((joined, *_NAME_PART.findall(joined)))


def find_main_language(told: Mapping[str, int]) -> str:
    """Return the language that most passages are in, of those that tell theirs."""
    return max(sorted(filter(None, told)), key=lambda language: told[language], default=DEFAULT_LANGUAGE)


def read_words_three_ways(words: Sequence[str], language: str) -> tuple[Iterable[str], ...]:
    """Return the three readings of words."""
    return stem_words(words, language), words, list_word_beginnings(words)
