"""Table of units: what people write from CLDR and Pint, and Pint's exact conversions."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from fractions import Fraction
from functools import cache
from typing import Any

import pint
import stopwordsiso
from babel import Locale

from guardgraph.languages.tables import LANGUAGES

SPECIAL = {
    "gallon-imperial": "imperial_gallon",
    "quart-imperial": "imperial_quart",
    "fluid-ounce-imperial": "imperial_fluid_ounce",
    "ounce-troy": "troy_ounce",
    "celsius": "degree_Celsius",
    "fahrenheit": "degree_Fahrenheit",
    "permillion": "ppm",
    "permyriad": "percent / 100",
    "electronvolt": "electron_volt",
    "british-thermal-unit": "british_thermal_unit",
    "foodcalorie": "kilocalorie",
    "pound-force": "pound_force",
    "pound-force-per-square-inch": "psi",
    "pound-force-foot": "pound_force * foot",
    "newton-meter": "newton * meter",
    "millimeter-ofhg": "mmHg",
    "inch-ofhg": "inHg",
    "mile-scandinavian": "10 * kilometer",
    "dunam": "1000 * meter ** 2",
    "arc-minute": "arcminute",
    "arc-second": "arcsecond",
    "carat": "carat",
    "light-year": "light_year",
}
"""Pint's expressions for CLDR's units where the two name them differently."""

CALENDAR = {"month": "1", "quarter": "3", "year": "12", "decade": "120", "century": "1200"}
"""Months: how many days a month or a year has depends on which."""

_REFUSED = """
    em dot point drop pinch cup cup-metric pint-metric jigger night item generic year-person month-person week-person
    day-person dessert-spoon dessert-spoon-imperial mole portion-per-1e9 gasoline-energy-density earth-radius
    light-speed karat dot-per-inch dot-per-centimeter kilowatt-hour-per-100-kilometer liter-per-100-kilometer
    mile-per-gallon-imperial therm-us solar-radius solar-luminosity radian revolution
"""
REFUSED = frozenset(_REFUSED.split())
"""CLDR's units whose names mostly mean something else, or that nobody writes behind a number."""

PREFIXED = {
    "meter": "pico nano micro milli centi deci kilo",
    "gram": "nano micro milli centi kilo",
    "second": "pico nano micro milli",
    "byte": "kilo mega giga tera peta exa kibi mebi gibi tebi pebi",
    "bit": "kilo mega giga tera",
    "watt": "micro milli kilo mega giga tera",
    "watt_hour": "kilo mega giga tera",
    "hertz": "kilo mega giga tera",
    "volt": "micro milli kilo mega",
    "ampere": "micro milli kilo",
    "joule": "milli kilo mega giga tera",
    "pascal": "hecto kilo mega giga",
    "liter": "micro milli centi deci hecto kilo mega",
    "newton": "kilo mega",
    "ohm": "kilo mega",
    "farad": "pico nano micro",
    "metric_ton": "kilo mega giga",
    "electron_volt": "kilo mega giga tera",
    "becquerel": "kilo mega giga tera",
    "sievert": "micro milli",
    "gray": "milli",
    "tesla": "micro milli",
    "henry": "milli",
    "calorie": "kilo",
    "parsec": "kilo mega giga",
    "pixel": "mega",
    "mole": "micro milli kilo",
    "bar": "milli",
    "coulomb": "",
    "candela": "",
}
"""Pint's units that are written with prefixes, and with which."""
_FURTHER = """
    fortnight curie angstrom micron gauss torr psi ksi long_ton short_ton quintal league us_hundredweight baud
    revolutions_per_minute metric_horsepower dyne erg degree
"""
FURTHER = _FURTHER.split()
"""Pint's units that people write and CLDR does not name."""

SHARED = {
    "kilometer-per-hour": ["kph", "kmh"],
    "mile-per-hour": ["mi/h"],
    "square-kilometer": ["sq km"],
    "square-meter": ["sq m"],
    "square-mile": ["sq mi"],
    "square-foot": ["sq ft"],
    "tonne": ["ton", "tons"],
    "long_ton": ["ton", "tons"],
    "gallon-imperial": ["gallon", "gallons"],
    "kilobyte": ["KB", "kb"],
    "kilobit": ["Kb", "kb"],
    "megabyte": ["mb"],
    "gigabyte": ["gb"],
    "terabyte": ["tb"],
    "petabyte": ["pb"],
    "bit-per-second": ["bps", "bit/s"],
    "kilobit-per-second": ["kbps", "Kbps", "kbit/s"],
    "megabit-per-second": ["Mbps", "mbps", "Mbit/s"],
    "gigabit-per-second": ["Gbps", "gbps", "Gbit/s"],
}
"""Further names in daily use, in any language."""

BENT = {
    "ru": {"year": ["лет"]},
    "pl": {"year": ["lat"]},
    "vi": {"year": ["năm"]},
    "ar": {"year": ["سنة", "عاما", "عامًا"]},
    "hi": {"year": ["साल", "सालों", "वर्षों"], "month": ["महीने", "महीनों"]},
    "el": {"year": ["χρόνια", "χρόνων", "ετών"]},
    "th": {"day": ["วัน"]},
}
"""Plurals and other forms behind a number that CLDR does not have, or that are stop words elsewhere."""

SPELLINGS = {"en": ["en", "en_GB"]}
"""Places whose spellings of the names are taken: "square metres" beside "square meters"."""

REFUSED_NAME = re.compile(
    r"[A-Za-zÀ-ÿА-яЁёІіЇїЄєҐґΑ-ωµ]|#|in|as|at|are|rad|cd|mu|mc|rem|pt|st|oz t|.?dot|.?pel|cal|Cal|.?amp|al|au|"
    r"ac|sm|pc|gr|fm|fur|bu|cth|an|el|EL|tl|TL|tc|sem|rev|mb|mol|dr|da|de|mac|mach|pm|PM|ct|Ct|dt|ch|no|so|mo|"
    r"moles?|grays?|grains?|candles?|henrys?|leagues?|dec|Gs|CD|erg|octets?|"
    r".*(?:octets?|international|thermochemical| th).*"
)
"""Names that texts use for something else; of single letters only those of `LETTERS` are read."""
LETTERS = {
    "meter": "m м",
    "second": "s",
    "hour": "h ч",
    "gram": "g",
    "watt": "W Вт",
    "volt": "V В",
    "liter": "l L л",
    "kelvin": "K",
    "tonne": "t т",
    "ohm": "Ω",
    "degree": "°",
    "percent": "% ％ ٪ pct",
    "permille": "‰",
    "arc-minute": "′",
    "arc-second": "″",
}
"""What short names stand for in every language."""


@cache
def registry() -> pint.UnitRegistry:
    """Return Pint's units with exact fractions as factors."""
    return pint.UnitRegistry(non_int_type=Fraction, cache_folder=None)


def units() -> dict[str, dict[str, object]]:
    """Return the measures (dimension, factor, zero), the names in every language, and those of each language."""
    measures = {name: measure for name, measure in sorted(_measures().items()) if measure}
    common = {measure: set(names.split()) for measure, names in LETTERS.items()}
    names: dict[str, dict[str, set[str]]] = {language: {} for language in LANGUAGES}
    for measure, name in _pint_names(measures):
        if not REFUSED_NAME.fullmatch(name):
            (names["en"] if name.islower() and len(name) > 4 else common).setdefault(measure, set()).add(name)
    for measure, shared in SHARED.items():
        if measure in measures:
            common.setdefault(measure, set()).update(shared)
    for language in LANGUAGES:
        for measure, name in _cldr_names(language):
            if not REFUSED_NAME.fullmatch(name) and not (len(name) < 4 and name in stopwordsiso.stopwords(language)):
                names[language].setdefault(measure, set()).add(name)
        for measure, bent in BENT.get(language, {}).items():
            names[language].setdefault(measure, set()).update(bent)
    everywhere = {(measure, name) for measure, found in common.items() for name in found}
    return {
        "measures": measures,
        "common": _joined(common),
        "names": {
            language: _joined({m: {n for n in found if (m, n) not in everywhere} for m, found in by_measure.items()})
            for language, by_measure in names.items()
        },
    }


def _joined(names: dict[str, set[str]]) -> dict[str, str]:
    return {measure: "|".join(sorted(found)) for measure, found in sorted(names.items()) if found}


def _measures() -> dict[str, list[str] | None]:
    made: dict[str, list[str] | None] = {}
    for category, name in _cldr_units():
        made[name] = ["calendar", CALENDAR[name]] if name in CALENDAR else _converted(_expression(name))
        if made[name] is None:
            made[name] = [f"{category} {name}", "1"]
    prefixed = [prefix + base for base, prefixes in PREFIXED.items() for prefix in ("", *prefixes.split())]
    for name in [*FURTHER, *prefixed, *(name for name in SHARED if "-per-second" in name)]:
        made.setdefault(name, _converted(_expression(name)))
    return made


def _cldr_units() -> Iterator[tuple[str, str]]:
    for identifier in sorted(Locale.parse("en")._data["unit_patterns"]):
        category, _, name = identifier.partition("-")
        if name not in REFUSED:
            yield category, name


def _expression(name: str) -> str:
    if name in SPECIAL:
        return SPECIAL[name]
    parts = []
    for part in name.split("-per-"):
        power = {"square": " ** 2", "cubic": " ** 3"}.get(part.split("-")[0], "")
        parts.append(part.removeprefix("square-").removeprefix("cubic-").replace("-", "_") + power)
    return " / ".join(parts)


def _converted(expression: str) -> list[str] | None:
    """Return dimension, factor and offset of an expression; None where Pint has no exact conversion."""
    ureg = registry()
    try:
        unit = ureg.parse_units(expression) if expression.isidentifier() else None
        whole = ureg.parse_expression(expression)
        zero, one = (
            [ureg.Quantity(Fraction(value), unit).to_root_units() for value in (0, 1)]
            if unit is not None
            else [Fraction(value) * whole.to_root_units() for value in (0, 1)]
        )
    except (pint.PintError, AttributeError):
        return None
    factor, offset = Fraction(one.magnitude) - Fraction(zero.magnitude), Fraction(zero.magnitude)
    dimension = _dimension(one.unit_items())
    if "radian" in dimension:  # whole turns, for pi is no fraction
        factor /= Fraction(ureg.Quantity(1, "turn").to_root_units().magnitude)
        dimension = dimension.replace("radian", "turn")
    return [dimension, str(factor), *([str(offset)] if offset else [])]


def _dimension(items: Iterable[tuple[str, Fraction]]) -> str:
    items = list(items)
    powers = {name: Fraction(power) for name, power in items}
    if powers == {"second": 1}:
        return "time"
    if len(powers) == 2 and powers.pop("second", None) == -1:
        return f"{_dimension(powers.items())}/time"  # as "60 miles per hour" is read
    powers = {name: Fraction(power) for name, power in items}
    return " ".join(f"{name}^{power}" if power != 1 else name for name, power in sorted(powers.items())) or "ratio"


def _pint_names(measures: Iterable[str]) -> Iterator[tuple[str, str]]:
    ureg = registry()
    for measure in measures:
        try:
            prefix, base, _ = ureg.parse_unit_name(_expression(measure))[0]
        except (pint.PintError, IndexError):
            continue
        if measure in CALENDAR:
            continue
        definition = ureg._units[base]
        short = (ureg._prefixes[prefix].defined_symbol or "") if prefix else ""
        for name in (definition.name, definition.defined_symbol, *definition.aliases):
            if name and len(name) > 3 and name.isascii() and name.replace("_", "").islower():
                yield from ((measure, form) for form in _plurals((prefix + name).replace("_", " ")))
            elif name and len(name) <= 3:
                yield from ((measure, f"{sign}{name}") for sign in ("µμu" if short in ("µ", "μ") else [short]))


def _plurals(name: str) -> tuple[str, ...]:
    if name.endswith(("s", "z", "feet", "inches", "lux")):
        return (name,)
    return name, {"foot": "feet", "inch": "inches"}.get(name, f"{name}s")


def _cldr_names(language: str) -> Iterator[tuple[str, str]]:
    for place in SPELLINGS.get(language, [language]):
        yield from _cldr_names_of(Locale.parse(place)._data["unit_patterns"])


def _cldr_names_of(patterns: Mapping[str, Mapping[str, Any]]) -> Iterator[tuple[str, str]]:
    for _, measure in _cldr_units():
        for identifier, widths in patterns.items():
            if identifier.partition("-")[2] == measure:
                for width in ("long", "short", "narrow"):
                    for count, pattern in dict(widths.get(width, {})).items():
                        if count != "per" and isinstance(pattern, str) and "{0}" in pattern and _bare(pattern):
                            yield measure, _bare(pattern)


def _bare(pattern: str) -> str:
    """Return what a pattern writes beside the number, without case where it is a word."""
    name = pattern.replace("{0}", " ").replace("\u00a0", " ").replace("\u202f", " ").strip(" .\u200e\u200f")
    return name if len(name) < 3 or name[1:] != name[1:].lower() else name.lower()
