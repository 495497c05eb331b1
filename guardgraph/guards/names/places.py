"""Capitalised words that are no names of their own: territories, and parts of facts, which other guards judge."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cache
from itertools import chain
from typing import Final, NamedTuple

from guardgraph.guards.languages.tables import (
    LANGUAGES,
    load_currency_names,
    load_month_names,
    load_territory_names,
    load_time_zones,
    load_unit_names,
    load_weekday_names,
)
from guardgraph.guards.names.words import NameWord, split_name_words
from guardgraph.guards.word_lists import load_word_lists

MOST_TERRITORY_WORDS: Final = 9
"""Words of a territory's name that is found, at most."""

_MORE_TERRITORIES: Final[dict[str, list[str]]] = load_word_lists("names")["territories"]
"""Names and adjectives of territories that CLDR has otherwise or not at all, by code."""

_PARTS = re.compile(r"[()]")

Codes = tuple[str, ...]


def find_territory_names(
    found: Sequence[NameWord], languages: tuple[str, ...], starts: Iterable[int] | None = None
) -> Iterator[tuple[int, int, Codes]]:
    """Yield the territories that a text names.

    Args:
        found: the words of the text.
        languages: those in which the names are known; codes are known in each.
        starts: the first words of the names that are wanted; all where it is None.

    Yields:
        The first index, the one behind the last, and the codes of the territories that this can be.
    """
    names, codes = _index_territory_names(languages), _index_territory_codes()
    stems = [word.name_stem for word in found]
    for first in range(len(found)) if starts is None else starts:
        word = found[first]
        if word.is_acronym and (named := codes.get(word.letters)):
            yield first, first + 1, named
        for length in names.lengths.get(stems[first], ()):
            if named := names.codes.get(tuple(stems[first : first + length])):
                yield first, first + length, named


class _TerritoryNames(NamedTuple):
    """Names and adjectives of territories, by the stems of their words."""

    codes: Mapping[Codes, Codes]
    lengths: Mapping[str, Sequence[int]]
    """How many words those have that begin with a stem."""


@cache
def _index_territory_names(languages: tuple[str, ...]) -> _TerritoryNames:
    found: dict[Codes, Codes] = {}
    for territory in chain.from_iterable(map(load_territory_names, languages)):
        for name in (*_PARTS.split(territory.name), *territory.adjectives) if territory.code.isalpha() else ():
            stems = tuple(word.name_stem for word in split_name_words(name))
            found[stems] = (*found.get(stems, ()), territory.code)
    for code, names in _MORE_TERRITORIES.items() if "en" in languages else ():
        for name in names:
            stems = (split_name_words(name)[0].name_stem,)
            found[stems] = (*found.get(stems, ()), code)
    found.pop((), None)
    lengths = defaultdict[str, set[int]](set)
    for stems in found:
        if len(stems) <= MOST_TERRITORY_WORDS:
            lengths[stems[0]].add(len(stems))
    return _TerritoryNames(found, {stem: sorted(each) for stem, each in lengths.items()})


@cache
def _index_territory_codes() -> Mapping[str, Codes]:
    every = load_territory_names("en")
    return {code.lower(): (each.code,) for each in every for code in (each.code, *each.others) if code.isalpha()}


_ROMAN: Final = re.compile(r"[IVXL]+")
"""Numerals below 90, as they stand behind names; "I" is also a pronoun. With C, D and M they would be CD and DC too."""

_HALVES: Final = frozenset({"am", "pm"})


def is_numeral_word(word: NameWord) -> bool:
    """Say whether a word is a Roman numeral or has digits in it."""
    return _ROMAN.fullmatch(word.text) is not None or not word.letters.isalpha()


def find_day_names(found: Sequence[NameWord], languages: tuple[str, ...]) -> set[int]:
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


def find_holiday_names(found: Sequence[NameWord]) -> set[int]:
    """Return which words name a holiday of a fixed date, which the check of numbers reads as one: Christmas Day."""
    named, known = set[int](), _list_holiday_names()
    most = max(map(len, known))
    for at in range(len(found)):
        for end in range(at + 1, at + 1 + most):
            if tuple(word.letters for word in found[at:end]) in known:
                named |= {*range(at, end)}
    return named


@cache
def _list_holiday_names() -> frozenset[tuple[str, ...]]:
    return frozenset(tuple(word.letters for word in split_name_words(name)) for name in load_word_lists("holidays"))


def find_unit_names(found: Sequence[NameWord], languages: Collection[str]) -> set[int]:
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
        if (before or behind or word.sign == "°") and _is_unit_name(word, known):
            measured.add(at)
    return measured


def _is_unit_name(word: NameWord, known: Sequence[Collection[str]]) -> bool:
    if word.letters in _HALVES or word.text in load_time_zones():
        return True
    name = f"°{word.text}" if word.sign == "°" else word.text
    return any(name in names or name.lower() in names for names in known)
