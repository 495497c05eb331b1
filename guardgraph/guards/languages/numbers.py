"""How a language writes numbers: in words, and with which signs between the digits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Final, NamedTuple

from guardgraph.guards.languages.tables import load_language_table

_LONGEST_WORD: Final = 80
"""Letters of the longest compound that is taken apart: "einhundertdreiundzwanzigtausendvierhundertsechsundfünfzig"."""

_LONGEST_GROUP: Final = 7
"""Words up to the magnitude of a group: a comma and "six hundred and forty five thousand"."""

_LONGEST_PHRASE: Final = 4
"""Words of the longest phrase in the tables: "quatre vingt dix neuf"."""


class Spelled(NamedTuple):
    """A number in words."""

    amount: int
    ordinal: bool
    end: int
    """The index of the word behind it."""


class NumberWords:
    """The number words of a language, and how they add up.

    A phrase of the table is a number below a thousand. A hundred and a magnitude multiply what stands before them
    and is smaller; what follows is added where its place is still free, so that "twenty five" is 25 and
    "five twenty" are two numbers.
    """

    def __init__(self, shipped: Mapping[str, Mapping[str, int]], scales: Mapping[str, int]) -> None:
        self.cardinals = self._words = shipped.get("cardinals", {})
        """Phrases below a thousand, by value."""
        self.ordinals = self._ordinals = shipped.get("ordinals", {})
        """Phrases for a place, by it."""
        self._scales = {**shipped.get("hundred", {}), **scales}
        self._alone = shipped.get("alone", {})
        self._joiners = frozenset(shipped.get("joiners", {}))
        self._inside = dict.fromkeys(shipped.get("joined", {}), 0) | {
            word: value for words in (self._words, self._scales) for word, value in words.items() if " " not in word
        }
        self.beginnings = frozenset(
            phrase.partition(" ")[0] for words in (self._words, self._scales, self._ordinals) for phrase in words
        )
        """Words with which a number can begin."""
        self._heads = frozenset(word[:3] for word in self._inside if len(word) > 1) if "compounds" in shipped else None

    def is_number_opening(self, word: str) -> bool:
        """Say whether a number can begin with a word, in lower case."""
        if word in self.beginnings:
            return True
        return self._heads is not None and word[:3] in self._heads and self._split_compound_number(word) is not None

    def read_spelled_number(self, words: Sequence[str], at: int) -> Spelled | None:
        """Read the number that begins at a word.

        Args:
            words: in lower case, hyphens and blanks between them left out. Reading never goes beyond the end.
            at: the index of the first.

        Returns:
            The number, None where the word begins none.
        """
        parts: list[int] = []
        end = at
        while True:
            start = end + 1 if parts and self._is_joined_number(parts, words, end) else end
            if longer := self._lengthen_number(parts, words, start):
                parts, end = longer
                continue
            ordinal, after = self._read_number_phrase(self._ordinals, words, start)
            if ordinal is not None and _is_free_number_place(parts, ordinal):
                return Spelled(sum(parts) + ordinal, True, after)
            return Spelled(sum(parts), False, end) if parts else None

    def _is_joined_number(self, parts: list[int], words: Sequence[str], at: int) -> bool:
        if _pick_word_at(words, at) != ",":
            return _pick_word_at(words, at) in self._joiners
        if "," not in self._joiners or parts[-1] < 1000:
            return False
        # "one thousand, six hundred" is a number, "in one thousand, five of them" has two.
        for word in words[at + 1 : at + _LONGEST_GROUP]:
            if word in self._scales:
                return 100 <= self._scales[word] < parts[-1] and word != words[at + 1]
            if word not in self._words and word not in self._joiners and not self._split_compound_number(word):
                return False
        return False

    def _lengthen_number(self, parts: list[int], words: Sequence[str], at: int) -> tuple[list[int], int] | None:
        scale, after_scale = self._read_number_phrase(self._scales, words, at)
        value, after = self._read_number_phrase(self._words, words, at)
        if scale is not None and (value is None or after_scale > after):
            if not parts and words[at] not in self._alone:
                return None  # "hundreds of them"
            more = _multiply_number_parts(parts, scale)
            return (more, after_scale) if more is not None else None
        if value is not None:
            added = _add_number_part(parts, value)
            return (added, after) if added is not None else None
        values = self._split_compound_number(_pick_word_at(words, at)) if self._heads is not None else None
        for each, multiplies in values or ():
            more = _multiply_number_parts(parts, each) if multiplies else _add_number_part(parts, each)
            if more is None:
                return None
            parts = more
        return (parts, at + 1) if values else None

    @staticmethod
    def _read_number_phrase(known: Mapping[str, int], words: Sequence[str], at: int) -> tuple[int | None, int]:
        phrase, best, after = "", None, at
        for end in range(at, min(at + _LONGEST_PHRASE, len(words))):
            phrase = f"{phrase} {words[end]}" if phrase else words[end]
            if phrase in known:
                best, after = known[phrase], end + 1
        return best, after

    def _split_compound_number(self, word: str) -> list[tuple[int, bool]] | None:
        """Take a compound apart, the longest part first: "einhundertfünfundzwanzig" is 1, 100 and 25."""
        if self._heads is None or len(word) > _LONGEST_WORD or word[:3] not in self._heads:
            return None
        found: list[tuple[int, bool]] = []
        start = 0
        while start < len(word):
            end = next((end for end in range(len(word), start, -1) if word[start:end] in self._inside), None)
            if end is None:
                return None
            part = word[start:end]
            if self._inside[part] or part not in self._joiners:
                found.append((self._inside[part], part in self._scales))
            start = end
        return found


def _pick_word_at(words: Sequence[str], at: int) -> str:
    return words[at] if at < len(words) else ""


def _is_free_number_place(parts: list[int], value: int) -> bool:
    """Say whether the place of a value is still free behind the last part: 25 fits behind 100, and not behind 20."""
    if not parts:
        return True
    last, place = parts[-1], 1
    while last and last % (place * 10) == 0:
        place *= 10
    return 0 < value < place


def _add_number_part(parts: list[int], value: int) -> list[int] | None:
    return [*parts, value] if _is_free_number_place(parts, value) else None


def _multiply_number_parts(parts: list[int], scale: int) -> list[int] | None:
    """Multiply the parts below a scale: 2 and 100 before a thousand are 102,000."""
    kept = [part for part in parts if part >= scale]
    below = sum(parts[len(kept) :]) if kept == parts[: len(kept)] else 0
    if not below and parts[len(kept) :]:
        return None
    more = (below or 1) * scale
    if scale == 100 and below > 99:
        return None
    return [*kept, more] if _is_free_number_place(kept, more) else None


@cache
def load_number_words(language: str) -> NumberWords:
    """Return the number words of a language: num2words' cardinals and ordinals, CLDR's magnitudes.

    Args:
        language: a code of `LANGUAGES`; another one has none.
    """
    return NumberWords(load_language_table("number_words").get(language, {}), load_magnitude_words(language))


def load_magnitude_words(language: str) -> Mapping[str, int]:
    """Return the words that multiply a number in digits: "million", "mil millones", "тыс", "万", "lakh".

    Source: CLDR's compact numbers, in lower case and without full stops.

    Args:
        language: a code of `LANGUAGES`; another one has none.
    """
    found: Mapping[str, int] = load_language_table("magnitudes").get(language, {})
    return found


class Separators(NamedTuple):
    """The signs in the numbers of one place where a language is written."""

    decimal: str
    group: str


@cache
def load_number_separators(language: str) -> frozenset[Separators]:
    """Return the ways in which numbers are written wherever a language is: 1.600 in Spain, 1,600 in Mexico.

    Source: CLDR, all locales of the language.

    Args:
        language: a code of `LANGUAGES`; another one has none.
    """
    return frozenset(
        Separators(decimal, group) for decimal, group in load_language_table("separators").get(language, ())
    )
