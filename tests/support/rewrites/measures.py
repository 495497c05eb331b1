"""Measures said otherwise: units, rates, durations, counted nouns."""

from __future__ import annotations

import re
from fractions import Fraction
from random import Random

from rewrites.cardinals import alternatives, another, spelled
from rewrites.kinds import Forms, Kind, pattern

UNITS: dict[str, tuple[str, str, tuple[str, ...]]] = {
    "kilometres": ("m", "1000", ("km", "kilometers")),
    "metres": ("m", "1", ("meters",)),
    "centimetres": ("m", "1/100", ("cm", "centimeters")),
    "miles": ("m", "1609.344", ()),
    "feet": ("m", "0.3048", ("ft",)),
    "inches": ("m", "0.0254", ()),
    "yards": ("m", "0.9144", ()),
    "kilograms": ("g", "1000", ("kg",)),
    "grams": ("g", "1", ()),
    "milligrams": ("g", "1/1000", ("mg",)),
    "ounces": ("g", "28.349523125", ("oz",)),
    "seconds": ("s", "1", ()),
    "milliseconds": ("s", "1/1000", ("ms",)),
    "minutes": ("s", "60", ("min",)),
    "hours": ("s", "3600", ()),
    "days": ("s", "86400", ()),
    "weeks": ("s", "604800", ()),
    "months": ("mo", "1", ()),
    "years": ("mo", "12", ()),
    "megabytes": ("B", "1000000", ("MB",)),
    "gigabytes": ("B", "1000000000", ("GB",)),
    "terabytes": ("B", "1000000000000", ("TB",)),
    "watts": ("W", "1", ()),
    "kilowatts": ("W", "1000", ("kW",)),
    "megawatts": ("W", "1000000", ("MW",)),
    "volts": ("V", "1", ()),
    "kilovolts": ("V", "1000", ("kV",)),
    "hertz": ("Hz", "1", ("Hz",)),
    "kilohertz": ("Hz", "1000", ("kHz",)),
    "megahertz": ("Hz", "1000000", ("MHz",)),
    "litres": ("l", "1", ("liters",)),
    "millilitres": ("l", "1/1000", ("ml",)),
    "hectares": ("m2", "10000", ()),
    "acres": ("m2", "4046.8564224", ()),
    "joules": ("J", "1", ()),
    "kilojoules": ("J", "1000", ("kJ",)),
    "calories": ("J", "4.184", ()),
    "pascals": ("Pa", "1", ("Pa",)),
    "kilopascals": ("Pa", "1000", ("kPa",)),
    "newtons": ("N", "1", ()),
    "horsepower": ("hp", "1", ("hp",)),
    "knots": ("knot", "1", ()),
    "decibels": ("dB", "1", ("dB",)),
    "amperes": ("A", "1", ()),
    "ohms": ("ohm", "1", ()),
    "kelvins": ("K", "1", ()),
    "lumens": ("lm", "1", ()),
}
NAMES = {name: long for long, (_, _, short) in UNITS.items() for name in (long, *short)}
LEFT = r"(?<![\w.,:/$€£¥–—−-])(?<![–—−-] )(?<!to )(?<!and )(?<!times )(?<!x )"


def _plain(value: Fraction) -> str | None:
    """A decimal number without an end that repeats, None where there is none or it is unhandy."""
    if value > 10**8 or value * 1000 != int(value * 1000):
        return None
    whole, rest = divmod(value, 1)
    return f"{whole:,}" if not rest else f"{float(value):.3f}".rstrip("0")


def _unit_forms(match: re.Match[str], random: Random) -> Forms | None:
    number, name = match[1], NAMES[match[2] if match[2] in NAMES else match[2].lower()]
    value, (dimension, factor, short) = Fraction(number.replace(",", "")), UNITS[name]
    if not value:
        return None
    same = [f"{number} {each}" for each in (name, *short)] + [f"{number}{each}" for each in short if each != "in"]
    if value.denominator == 1:
        same.append(f"{spelled(int(value), random)} {name}")
    for long, (other_dimension, other_factor, more) in UNITS.items():
        if other_dimension == dimension and long != name:
            converted = _plain(value * Fraction(factor) / Fraction(other_factor))
            same += [f"{converted} {random.choice([long, *more])}"] if converted else []
    others = [long for long, (of, by, _) in UNITS.items() if (of, by) != (dimension, factor)]
    nearby = [long for long in others if UNITS[long][0] == dimension]
    other = [f"{number} {each}" for each in [*nearby[:4], *random.sample(others, 4)]]
    other += [f"{number} percent", f"${number}", f"{another(int(value), random)} {name}"]
    return Forms(random.sample(same, min(len(same), 6)), [number], other)


UNIT = Kind(
    "units",
    re.compile(
        rf"{LEFT}(\d{{1,3}}(?:,\d{{3}})+|\d{{1,6}}(?:\.\d{{1,2}})?) ({alternatives(NAMES)})"
        r"\b(?![-/²³^]| (?:per|a|an|and|sec|squared?|old|\d|ago|pounds?))"
    ),
    _unit_forms,
    lambda random: f"with {_some(random)} {random.choice(list(NAMES))}",
)
_SQUARE = {"kilometres": "km²", "metres": "m²", "miles": "sq mi", "feet": "sq ft", "kilometers": "km²"}
SQUARES = Kind(
    "square_units",
    pattern(rf"{LEFT}(\d[\d,.]*\d|\d) square (kilometres|metres|miles|feet|kilometers)\b"),
    lambda match, random: Forms(
        [f"{match[1]} square {match[2]}", f"{match[1]} {_SQUARE[match[2]]}"],
        other=[
            *(f"{match[1]} {each}" for each in ("kilometres", "miles", "feet", "acres")),
            *(f"{match[1]} square {each}" for each in _SQUARE if _SQUARE[each] != _SQUARE[match[2]]),
            f"{match[1]} cubic metres",
        ],
    ),
    lambda random: f"on {random.randint(11, 99)} square {random.choice(list(_SQUARE))}",
)


def _some(random: Random) -> str:
    return random.choice(
        [str(random.randint(2, 99)), f"{random.randint(1000, 90_000):,}", f"{random.randint(1, 99)}.5"]
    )


def _glued_forms(match: re.Match[str], random: Random) -> Forms:
    number, unit = match[1], match[2]
    others = [each for each in ("hp", "kW", "km", "GB", "mph", "ml", "zq", "px") if each != unit]
    changed = another(int(number), random)
    return Forms([f"{number}{unit}"], [number], [f"{changed}{unit}", *(f"{number}{each}" for each in others)])


GLUED = Kind(
    "glued_numbers",
    re.compile(r"(?<![\w.,:/$€£–-])([2-9]\d|\d{3})(hp|km|kg|mm|MB|GB|kW|rpm|px|dpi|cc|kph|mph|zt|wq)\b(?![-/])"),
    _glued_forms,
    lambda random: (
        f"with {random.randint(20, 999)}"
        f"{random.choice(['hp', 'km', 'kg', 'mm', 'MB', 'GB', 'kW', 'rpm', 'px', 'dpi', 'cc', 'mph', 'zt', 'wq'])}"
    ),
)

_PERIODS = ("second", "minute", "hour", "day", "week", "month", "year")


def _rate_forms(match: re.Match[str], random: Random) -> Forms:
    what, period = match[1], match[2].lower()
    others = [each for each in _PERIODS if each != period]
    signs = ["per", "a", "every"] if period != "hour" else ["per", "an", "every"]
    other = [f"{what} {sign} {each}" for each in random.sample(others, 3) for sign in ("per", "each")]
    return Forms([f"{what} {sign} {period}" for sign in signs], other=other)


RATE = Kind(
    "rates",
    pattern(
        rf"(?<![\w.,:/–-])([$€£]?\d[\d,.]*(?: million)?(?: (?!per )[a-z]+s)?)"
        rf" per ({'|'.join(_PERIODS)})\b(?![-/] ?| per)"
    ),
    _rate_forms,
    lambda random: (
        f"at {random.choice(['$12', '€300'])} per {random.choice(_PERIODS)}"
        if random.random() < 0.3
        else f"with {random.randint(2, 999)}{random.choice(['', ' letters', ' visitors', ' litres'])} "
        f"per {random.choice(_PERIODS)}"
    ),
)
_SPEEDS = {
    "km/h": ("km per hour", "kilometres per hour", "kph"),
    "mph": ("miles per hour", "miles an hour", "mi/h"),
    "m/s": ("metres per second", "meters per second"),
    "km/s": ("kilometres per second",),
    "ft/s": ("feet per second", "ft per second"),
    "GB/s": ("gigabytes per second", "GB per second"),
    "kg/day": ("kilograms per day", "kg a day"),
}


def _speed_forms(match: re.Match[str], random: Random) -> Forms:
    number, unit = match[1], match[2]
    others = [each for key, more in _SPEEDS.items() if key != unit for each in (key, *more)]
    own = unit.partition("/")[0] if "/" in unit else "miles"
    other = [f"{number} {each}" for each in [*random.sample(others, 5), own]]
    return Forms([f"{number} {each}" for each in (unit, *_SPEEDS[unit])], other=other)


SPEED = Kind(
    "speeds",
    re.compile(rf"{LEFT}(\d+) ({alternatives(_SPEEDS)})(?![\w/])"),
    _speed_forms,
    lambda random: f"at {random.randint(11, 99)} {random.choice(list(_SPEEDS))}",
)


def _counted_forms(match: re.Match[str], random: Random) -> Forms | None:
    number, noun = match[1], match[2]
    if noun.lower() in NAMES or (len(number) == 4 and number[0] in "12"):
        return None
    less = [f"{number} {each}" for each in ("people", noun, "of them")] + [f"{spelled(int(number), random)} {noun}"]
    units = ["km", "percent", "hours", "kilograms", "volts", "acres", "GB", "degrees Celsius", "euros", "miles", "mg"]
    other = [f"{number} {each}" for each in random.sample(units, 5)] + [f"{number}%", f"${number}", f"€{number}"]
    return Forms([], less, other)


COUNTED_NOUNS = "players visitors letters churches wells students lamps engines votes songs people members games films"
COUNTED = Kind(
    "counted_nouns",
    pattern(rf"{LEFT}(\d{{2,5}}) ({'|'.join(COUNTED_NOUNS.split())})\b(?! (?:per|an?)\b)"),
    _counted_forms,
    lambda random: f"with {random.randint(11, 999)} {random.choice(COUNTED_NOUNS.split())}",
)
BARE = Kind(
    "bare_numbers",
    pattern(r"(?<=\bcount was )(\d+)(?=[,.;)]|$)"),
    lambda match, random: Forms(
        [],
        [f"{match[0]} {unit}" for unit in ("km", "minutes", "people", "dollars", "percent")],
        [f"{another(int(match[0]), random)} {unit}" for unit in ("km", "minutes", "people", "percent")],
    ),
    lambda random: f"count was {random.randint(11, 999)}",
    carriers=("The {}.", "In the north the {}, said the owners.", "The {}; nobody knew why."),
)

_LENGTHS = {"hour": "60 minutes", "day": "24 hours", "week": "7 days", "minute": "60 seconds", "year": "12 months"}


def _single_forms(match: re.Match[str], random: Random) -> Forms:
    unit = match[1].lower()
    article = "an" if unit == "hour" else "a"
    others = [each for each in _LENGTHS if each != unit]
    other = [f"{'an' if each == 'hour' else 'a'} {each}" for each in others] + [
        f"2 {unit}s",
        f"1 {random.choice(others)}",
    ]
    return Forms([f"{article} {unit}", f"1 {unit}", f"one {unit}", _LENGTHS[unit]], other=other)


SINGLE = Kind(
    "an_hour",
    pattern(rf"(?:(?<=within )|(?<=after )|(?<=about ))an? ({'|'.join(_LENGTHS)})\b(?! and|['’-])"),
    _single_forms,
    lambda random: (
        f"{random.choice(['within', 'after', 'about'])} "
        f"{'an hour' if (unit := random.choice(list(_LENGTHS))) == 'hour' else f'a {unit}'}"
    ),
)
_PARTS = {
    "a quarter of an hour": 15,
    "half an hour": 30,
    "three quarters of an hour": 45,
    "an hour and a quarter": 75,
    "an hour and a half": 90,
}
PARTS_OF_HOURS = Kind(
    "parts_of_hours",
    pattern(
        r"\b(a quarter of an hour|half an hour|three quarters of an hour|an hour and a half|an hour and a quarter)"
    ),
    lambda match, random: _part_forms(match[1].lower(), random),
    lambda random: f"for {random.choice(list(_PARTS))}",
)


def _part_forms(phrase: str, random: Random) -> Forms:
    minutes = _PARTS[phrase]
    other = [each for each in _PARTS if each != phrase]
    hours = f"{minutes / 60:g} hours"
    return Forms(
        [f"{minutes} minutes", hours, f"{minutes} min"], other=[*other, f"{minutes + 5} minutes", f"{minutes} hours"]
    )


KINDS = (UNIT, SQUARES, GLUED, RATE, SPEED, COUNTED, BARE, SINGLE, PARTS_OF_HOURS)
