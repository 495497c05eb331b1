"""Capitalised words that are no names but parts of facts, which other guards judge."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from functools import cache
from typing import Final

from guardgraph.guards.names.words import Word, split_name_words
from guardgraph.languages.calendar import load_month_names, load_time_zones, load_weekday_names
from guardgraph.languages.tables import LANGUAGES
from guardgraph.languages.units import load_currency_names, load_unit_names

_ROMAN: Final = re.compile(r"[IVXL]+")
"""Numerals below 90, as they stand behind names; "I" is also a pronoun. With C, D and M they would be CD and DC too."""

_HALVES: Final = frozenset({"am", "pm"})


def is_numeral_word(word: Word) -> bool:
    """Say whether a word is a Roman numeral or has digits in it."""
    return _ROMAN.fullmatch(word.text) is not None or not word.letters.isalpha()


def find_day_names(found: Sequence[Word], languages: tuple[str, ...]) -> set[int]:
    """Return which words are months or weekdays.

    Args:
        found: the words of a text.
        languages: those that the text may be in. Where they are all, English names alone count: the short names of
            every language are given names too (Sam, Mar).
    """
    known = _list_day_names(("en",) if languages == LANGUAGES else languages)
    return {at for at, word in enumerate(found) if word.key in known}


@cache
def _list_day_names(languages: tuple[str, ...]) -> frozenset[str]:
    named = {
        name for language in languages for names in (load_month_names, load_weekday_names) for name in names(language)
    }
    return frozenset(word.key for name in named for word in split_name_words(name))


def find_unit_names(found: Sequence[Word], languages: Collection[str]) -> set[int]:
    """Return which words are units, currencies, time zones or halves of a day beside a number: 5 GB, 3 PM UTC, EUR 20.

    Args:
        found: the words of a text.
        languages: those in which units and currencies are named.
    """
    known = [names for language in languages for names in (load_unit_names(language), load_currency_names(language))]
    measured: set[int] = set()
    for at, word in enumerate(found):
        before = at > 0 and (found[at - 1].text[0].isdecimal() or at - 1 in measured)
        behind = at + 1 < len(found) and found[at + 1].text[0].isdecimal()
        if (before or behind) and _is_unit_name(word, known):
            measured.add(at)
    return measured


def _is_unit_name(word: Word, known: Sequence[Collection[str]]) -> bool:
    if word.letters in _HALVES or word.text in load_time_zones():
        return True
    return any(word.text in names or word.text.lower() in names for names in known)
