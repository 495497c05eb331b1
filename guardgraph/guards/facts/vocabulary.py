"""What is known of the words of a language around numbers: of all its names and of its grammar, as English has them."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from functools import cache
from typing import Final, NamedTuple

from guardgraph.guards.facts.numerals import UNPARTED_NAMES
from guardgraph.guards.facts.tokens import LOOKAHEAD, split_number_tokens
from guardgraph.guards.facts.tongues import GRAMMAR, HALVES, MIXED, PARTS, POINTS
from guardgraph.guards.facts.units import (
    EACH,
    FIRST,
    MONTHS,
    NUMBER_WORDS,
    SCALES,
    SHARES,
    find_units,
    name_foreign_unit,
    name_number_scale,
)
from guardgraph.languages.calendar import load_month_names, load_weekday_names
from guardgraph.languages.numbers import NumberWords, load_magnitude_words, load_number_words
from guardgraph.languages.units import load_currency_names, load_unit_names
from guardgraph.languages.words import load_stop_words

_MAY: Final = 5
"""The month whose name is no longer than an abbreviation."""

OF: Final = frozenset({"de", "d", "di"})
"""Words between a magnitude and its unit in Romance languages."""

WRITTEN: Final = {f"{part}/{of}": Fraction(part, of) for of in (2, 3, 4, 5, 6, 8, 16) for part in range(1, of)}
"""Parts behind a whole number: "2 1/2"."""


class Vocabulary(NamedTuple):
    """What is known of a language, for the search through tokens."""

    code: str
    numbers: NumberWords
    names: Mapping[str, str]
    """What a phrase is translated to: units, magnitudes and grammar."""
    heads: frozenset[str]
    """First words of phrases."""
    begins: frozenset[str]
    """Words with which what is said in several words can begin."""
    starts: frozenset[str]
    """These, and words that can add to a number in digits."""
    follow: frozenset[str]
    """Words with which it can go on."""
    touched: frozenset[str]
    """Words that do not always stay as they are in English."""
    ordinary: frozenset[str]
    """Words of grammar, and those that mean a number or a month in English alone."""
    halves: Mapping[str, Fraction]
    mixed: Mapping[str, Fraction]
    parts: Mapping[str, int]
    point: str


@cache
def build_number_vocabulary(language: str) -> Vocabulary:
    """Return the vocabulary of a language, a code of `LANGUAGES`."""
    numbers = load_number_words(language)
    point = POINTS.get(language, "")
    names = _list_number_phrases(language)
    heads = frozenset(name.partition(" ")[0] for name in names)
    begins = heads | numbers.beginnings | {"a"}
    behind = frozenset({"and", point, *SHARES, *WRITTEN})
    return Vocabulary(
        code=language,
        numbers=numbers,
        names=names,
        heads=heads,
        begins=begins,
        follow=numbers.beginnings | {"and", point, ",", *SHARES},
        starts=begins | behind,
        touched=begins | OF,
        ordinary=_list_words_without_numbers(language, names) if language != "en" else frozenset(),
        halves={phrase: Fraction(part) for phrase, part in HALVES.get(language, {}).items()},
        mixed={word: Fraction(amount) for word, amount in MIXED.get(language, {}).items()},
        parts=PARTS.get(language, {}),
        point=point,
    )


def _list_number_phrases(language: str) -> Mapping[str, str]:
    """Return what each phrase is translated to. In English that is what has more words than the readers look up."""
    names: dict[str, str] = {}
    for known in (load_unit_names(language), load_currency_names(language)):
        if language == "en":
            names |= {name: f"en:{name}" for name in known if name.count(" ") > 1}
        else:
            names |= {
                name.lower(): name_foreign_unit(language, name) for name in known if _is_foreign_unit(language, name)
            }
    if language != "en":
        months_named = load_month_names(language)  # "julio" is July, and a joule
        names = {name: text for name, text in names.items() if name not in months_named}
        names |= {name: name_number_scale(amount) for name, amount in load_magnitude_words(language).items()}
        names |= GRAMMAR.get(language, {})
        names |= {name: "May" for name, month in months_named.items() if month == _MAY and len(name) == len("May")}
    # Marks part the letters of some scripts, and signs the parts of "km/h": names are kept as their tokens.
    return {
        " ".join(token.lower for token in split_number_tokens(name)[:-LOOKAHEAD]): text for name, text in names.items()
    }


def _is_foreign_unit(language: str, name: str) -> bool:
    return len(name) > 1 and name[0].isalpha() and find_units(f"{language}:{name}") != find_units(name)


def _list_words_without_numbers(language: str, names: Mapping[str, str]) -> frozenset[str]:
    """Return the words that have another meaning in English or none at all."""
    kept = {*load_month_names(language), *load_weekday_names(language), *UNPARTED_NAMES}
    others = {"to", "and", "or", "of", "per", "than", "at", "in", "on", "noon"}
    short = {name for name in MONTHS if len(name) < 6}
    english = {*NUMBER_WORDS} - {*MONTHS} | {*short, *FIRST, *EACH, *others}
    # "37 million de pasajeros": what multiplies is the same wherever it is written.
    return frozenset((english | load_stop_words(language)) - kept - set(names) - set(SHARES) - set(SCALES))
