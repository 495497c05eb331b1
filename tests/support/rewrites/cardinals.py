"""Number words of English for the generators, by num2words."""

from __future__ import annotations

import re
from functools import cache
from random import Random

from num2words import num2words

ROMANS = ((10, "X"), (9, "IX"), (5, "V"), (4, "IV"), (1, "I"))


def spelled(number: int, random: Random) -> str:
    """A number in words, with or without "and", commas and hyphens."""
    words = str(num2words(number))
    if random.random() < 0.6:
        words = words.replace(",", "")
    if random.random() < 0.3:
        words = words.replace(" and ", " ")
    return words.replace("-", " ") if random.random() < 0.2 else words


@cache
def cardinals() -> dict[str, int]:
    """The numbers from two to ninety-nine by their words."""
    return {str(num2words(number)): number for number in range(2, 100)}


@cache
def ordinals() -> dict[str, int]:
    """The numbers from first to ninety-ninth by their words."""
    return {str(num2words(number, to="ordinal")): number for number in range(1, 100)}


def ordinal_word(number: int) -> str:
    """The word of a place: "nineteenth"."""
    return str(num2words(number, to="ordinal"))


def ordinal_digits(number: int) -> str:
    """The digits of a place: "19th"."""
    return str(num2words(number, to="ordinal_num"))


def roman(number: int) -> str:
    """A Roman numeral below 40."""
    text = ""
    for value, letters in ROMANS:
        text += letters * (number // value)
        number %= value
    return text


def another(number: int, random: Random) -> int:
    """Another number of about the same size."""
    return number + random.choice([1, 2, 3, 7, 11] if number < 20 else [-7, -3, -1, 1, 2, 3, 10, 20])


@cache
def _words() -> tuple[re.Pattern[str], dict[str, int]]:
    words = cardinals() | ordinals() | {"one": 1, "ten": 10}
    return re.compile(rf"\b(?:{alternatives(words)})\b|(\d+)(?:st|nd|rd|th)\b"), words


def in_digits(text: str) -> str:
    """Write the numbers up to ninety-nine and their places in digits."""
    pattern, words = _words()
    return pattern.sub(lambda match: match[1] or str(words[match[0]]), text)


def alternatives(words: object) -> str:
    """A pattern for any of these words, the longest first."""
    return "|".join(sorted(map(str, words), key=len, reverse=True))  # type: ignore[call-overload]
