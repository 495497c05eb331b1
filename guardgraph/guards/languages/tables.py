"""The shipped tables, each read once, when it is first asked for: calendars, territories, units and currencies.

They are made once from pinned libraries, so that a verdict never depends on which version of a library is installed.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any, Final, NamedTuple

LANGUAGES: Final = (
    "en",
    "de",
    "es",
    "fr",
    "uk",
    "ru",
    "it",
    "pt",
    "nl",
    "pl",
    "cs",
    "ro",
    "sv",
    "el",
    "tr",
    "vi",
    "ar",
    "hi",
    "th",
    "zh",
    "ja",
    "ko",
)
"""The languages of the tables, as ISO 639-1 codes."""

_DATA: Final = Path(__file__).parent / "data"


@cache
def load_language_table(name: str) -> Any:
    """Read a table.

    Args:
        name: of a file in `data`, without its ending.

    Returns:
        What the file holds. It is shared: nobody changes it.
    """
    return json.loads((_DATA / f"{name}.json").read_text("utf-8"))


def load_month_names(language: str) -> Mapping[str, int]:
    """Return the months of a language, 1 to 12, by every form of their names.

    Source: CLDR's wide and abbreviated names, within a date ("5 июля") and alone ("июль"), in lower case and
    without the full stop of an abbreviation.

    Args:
        language: a code of `LANGUAGES`; another one has no names.
    """
    return _load_calendar_names("months", language)


def load_weekday_names(language: str) -> Mapping[str, int]:
    """Return the days of the week of a language, Monday 1 to Sunday 7 as in ISO 8601, by every form of their names."""
    return _load_calendar_names("weekdays", language)


def load_time_zones() -> Mapping[str, tuple[int, ...]]:
    """Return the time zones by abbreviation and by English name: "PST", "pacific standard time".

    Returns:
        The minutes ahead of UTC of each zone that has the name: "IST" is India's, Ireland's and Israel's. A name
        that does not say whether summer time holds ("pacific time") has both. Sources: the time zone database from
        2015 to 2026, and CLDR's names.
    """
    return _load_zone_table()


@cache
def _load_zone_table() -> Mapping[str, tuple[int, ...]]:
    return {name: tuple(minutes) for name, minutes in load_language_table("zones").items()}


def _load_calendar_names(name: str, language: str) -> Mapping[str, int]:
    found: Mapping[str, int] = load_language_table(name).get(language, {})
    return found


class Territory(NamedTuple):
    """One territory, as a language names it."""

    code: str
    """ISO 3166 alpha-2, or the number of a region of the United Nations ("150" is Europe)."""
    others: tuple[str, ...]
    """Other codes that mean it: ISO 3166 alpha-3, reserved and former ones ("GBR" and "UK" of "GB")."""
    name: str
    languages: tuple[str, ...]
    """Names of its official languages, where they are most of all its own."""
    adjectives: tuple[str, ...]
    """In lower case: what the names of its currencies and of its own kind of a language have before the noun."""


@cache
def load_territory_names(language: str) -> tuple[Territory, ...]:
    """Return the territories as a language names them, by code.

    Args:
        language: a code of `LANGUAGES`; another one has none.
    """
    shipped = load_language_table("territories")
    names: Mapping[str, str] = shipped["names"].get(language, {})
    spoken: Mapping[str, list[str]] = shipped["languages"].get(language, {})
    adjectives: Mapping[str, list[str]] = shipped["adjectives"].get(language, {})
    codes: Mapping[str, list[str]] = shipped["codes"]
    return tuple(
        Territory(code, tuple(codes.get(code, ())), name, tuple(spoken.get(code, ())), tuple(adjectives.get(code, ())))
        for code, name in names.items()
    )


class Measure(NamedTuple):
    """What an amount can be measured in: amounts of one dimension compare as ``amount * factor + zero``."""

    dimension: str
    """Base units, such as "meter^2"; "time" (in seconds), "calendar" (in months) and "ratio" by name."""
    factor: Fraction
    zero: Fraction
    """Where its scale begins: 273.15 kelvin for degrees Celsius."""


@cache
def load_unit_names(language: str) -> Mapping[str, tuple[Measure, ...]]:
    """Return what units of measure a name stands for, in a language.

    Symbols and what is written in every language ("km", "%") are there for every language. Names are as written
    ("MB"; "Mb" is another unit) and, where they are words, in lower case; a name of several words has one blank
    between two. Sources: CLDR's names, Pint's names and exact conversions.

    Args:
        language: a code of `LANGUAGES`; another one has symbols alone.
    """
    shipped = load_language_table("units")
    known = _load_unit_measures()
    found: dict[str, dict[Measure, None]] = {}
    for names in (shipped["common"], shipped["names"].get(language, {})):
        for measure, forms in names.items():
            for form in forms.split("|"):
                found.setdefault(form, {})[known[measure]] = None
    return {name: tuple(each) for name, each in found.items()}


@cache
def _load_unit_measures() -> Mapping[str, Measure]:
    shipped: Mapping[str, list[str]] = load_language_table("units")["measures"]
    return {
        name: Measure(dimension, Fraction(factor), Fraction(zero[0]) if zero else Fraction(0))
        for name, (dimension, factor, *zero) in shipped.items()
    }


@cache
def load_currency_names(language: str) -> Mapping[str, tuple[str, ...]]:
    """Return what currencies a name or symbol stands for, in a language, as ISO 4217 codes.

    "$" and "dollars" are US dollars, "HK$" is another currency, "francs" are those of ten. Codes and symbols are as
    written, names in lower case. Source: CLDR.

    Args:
        language: a code of `LANGUAGES`; another one has codes and symbols alone.
    """
    shipped = load_language_table("currencies")
    found: dict[str, tuple[str, ...]] = {code: (code,) for code in shipped["codes"].split()}
    found |= {sign: tuple(codes) for sign, codes in shipped["symbols"].items()}
    return found | _map_codes_by_name(shipped["names"].get(language, {}).items())


def _map_codes_by_name(by_codes: Iterable[tuple[str, str]]) -> dict[str, tuple[str, ...]]:
    return {name: tuple(codes.split()) for codes, names in by_codes for name in names.split("|")}


@cache
def load_currency_hundredths() -> Mapping[str, tuple[str, ...]]:
    """Return the currencies of which a name means the hundredth part: "cents", "pence"."""
    return {name: tuple(codes) for name, codes in load_language_table("currencies")["hundredths"].items()}
