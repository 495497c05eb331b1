"""Units of measure and currencies: what a name stands for in a language, and how units convert."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fractions import Fraction
from functools import cache
from typing import NamedTuple

from guardgraph.languages.tables import load_language_table


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
