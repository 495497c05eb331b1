"""The tables: units with their names, scales, number words and months, and the unit that a JSON key gives."""

from __future__ import annotations

import re
from fractions import Fraction
from typing import Final

from guardgraph.guards.facts.values import Amount, Unit
from guardgraph.state.memory import remembered

__all__ = [
    "CURRENCIES",
    "EACH",
    "FIRST",
    "FRACTION",
    "GLUED_SCALES",
    "MONTHS",
    "NUMBER_WORDS",
    "ORDINALS",
    "PERCENT",
    "SCALES",
    "SHARES",
    "SMALL",
    "SYMBOLS",
    "UNITS",
    "key_unit",
    "units_at",
    "units_named",
]

# Dimension, factor to its base, names ("_" stands for a blank); a name may stand in several lines. Months and
# years have no exact length in days, business days none in hours: they are dimensions of their own.
# Lengths and weights: SI, and the international yard and pound agreement of 1959 (mile, foot, inch, pound).
_TABLE: Final = (
    ("time", "1/1000000000", "ns nanosecond nanoseconds"),
    ("time", "1/1000000", "µs μs microsecond microseconds"),
    ("time", "1/1000", "ms msec msecs millisecond milliseconds"),
    ("time", "1", "s sec secs second seconds"),
    ("time", "60", "m min mins minute minutes"),
    ("time", "3600", "h hr hrs hour hours"),
    ("time", "86400", "d day days calendar_day calendar_days"),
    ("time", "604800", "w wk wks week weeks"),
    ("business hour", "1", "business_hour business_hours working_hour working_hours"),
    ("business day", "1", "business_day business_days working_day working_days"),
    ("calendar", "1", "mo mos month months"),
    ("calendar", "12", "y yr yrs year years"),
    ("calendar", "120", "decade decades"),
    ("calendar", "1200", "century centuries"),
    ("ratio", "1/100", "% ％ ٪ pct percent per_cent percentage"),
    ("ratio", "1/1000", "‰"),
    ("ratio", "1/10000", "bps basis_point basis_points"),
    ("point", "1", "pp percentage_point percentage_points"),
    ("byte", "1", "byte bytes"),
    ("byte", "1000", "kb kilobyte kilobytes"),
    ("byte", "1000000", "mb megabyte megabytes"),
    ("byte", "1000000000", "gb gigabyte gigabytes"),
    ("byte", "1000000000000", "tb terabyte terabytes"),
    ("byte", "1000000000000000", "pb petabyte petabytes"),
    ("byte", "1024", "kib"),
    ("byte", "1048576", "mib"),
    ("byte", "1073741824", "gib"),
    ("byte", "1099511627776", "tib"),
    ("bit/s", "1", "bps bit/s"),
    ("bit/s", "1000", "kbps kbit/s"),
    ("bit/s", "1000000", "mbps mbit/s"),
    ("bit/s", "1000000000", "gbps gbit/s"),
    ("metre", "1/1000", "mm millimetre millimetres millimeter millimeters"),
    ("metre", "1/100", "cm centimetre centimetres centimeter centimeters"),
    ("metre", "1", "m metre metres meter meters"),
    ("metre", "1000", "km kilometre kilometres kilometer kilometers"),
    ("metre", "0.0254", "inch inches"),
    ("metre", "0.3048", "ft foot feet"),
    ("metre", "1609.344", "mi mile miles"),
    ("gram", "1/1000", "mg milligram milligrams"),
    ("gram", "1", "g gram grams"),
    ("gram", "1000", "kg kilogram kilograms"),
    ("gram", "1000000", "tonne tonnes"),
    ("gram", "453.59237", "lb lbs pound pounds"),
    ("USD", "1", "$ usd dollar dollars us_dollar us_dollars"),
    ("USD", "1/100", "¢ cent cents"),
    ("EUR", "1", "€ eur euro euros"),
    ("EUR", "1/100", "cent cents"),
    ("GBP", "1", "£ gbp pound pounds"),
    ("GBP", "1/100", "penny pence"),
    ("JPY", "1", "¥ jpy yen"),
    ("INR", "1", "₹ inr rupee rupees"),
    ("UAH", "1", "₴ uah hryvnia hryvnias"),
    ("CHF", "1", "chf"),
    ("CAD", "1", "cad"),
    ("AUD", "1", "aud"),
)

CURRENCIES: Final = frozenset(dimension for dimension, _, _ in _TABLE if dimension.isupper())
"""Currency codes. They and `SYMBOLS` also stand before an amount."""

SYMBOLS: Final = frozenset("$€£¥₹₴")


def _named() -> dict[str, tuple[Unit, ...]]:
    units: dict[str, tuple[Unit, ...]] = {}
    for dimension, factor, names in _TABLE:
        for name in names.replace("_", "\0").split():
            key = name.replace("\0", " ")
            exact: Amount = int(factor) if factor.isdecimal() else Fraction(factor)
            units[key] = (*units.get(key, ()), Unit(dimension, exact))
    return units


UNITS: Final = _named()
"""Every unit a name can stand for: "m" is a minute or a metre, "pounds" are money or weight."""

_FIRST_OF_TWO: Final = frozenset(name.partition(" ")[0] for name in UNITS if " " in name)
"""Words with which a unit of two words begins."""

PERCENT: Final = UNITS["%"][0]
FRACTION: Final = Unit(PERCENT.dimension, 1)
"""A share of one: 0.27 of this unit is 27 percent."""

SCALES: Final = {
    "dozen": 12,
    "hundred": 100,
    "thousand": 10**3,
    "million": 10**6,
    "billion": 10**9,
    "trillion": 10**12,
    "mn": 10**6,
    "bn": 10**9,
}
GLUED_SCALES: Final = {"k": 10**3, "K": 10**3, "m": 10**6, "M": 10**6, "b": 10**9, "B": 10**9}
"""Scales that count only without a blank ("12k")."""

_ONES = "zero one two three four five six seven eight nine ten"
_TEENS = "eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen"
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety"
SMALL: Final = {
    **{word: value for value, word in enumerate(f"{_ONES} {_TEENS}".split())},
    **{word: value * 10 for value, word in enumerate(_TENS.split(), start=2)},
}

SHARES: Final = {"½": Fraction(1, 2), "¼": Fraction(1, 4), "¾": Fraction(3, 4)}

# "first", "second" and "third" claim nothing: first come, a second later, a third party.
_ORDINALS = "fourth fifth sixth seventh eighth ninth tenth eleventh twelfth"
ORDINALS: Final = {word: value for value, word in enumerate(_ORDINALS.split(), start=4)}

_MONTH_NAMES = "january february march april may june july august september october november december"
MONTHS: Final = {
    **{name: value for value, name in enumerate(_MONTH_NAMES.split(), start=1)},
    **{name[:3]: value for value, name in enumerate(_MONTH_NAMES.split(), start=1)},
    "sept": 9,
}

FIRST: Final = {"first": 1, "second": 2, "third": 3}
EACH: Final = frozenset({"a", "an", "every", "each"})

NUMBER_WORDS: Final = frozenset({*SMALL, *ORDINALS, *MONTHS, *SHARES, *FIRST, *EACH, "half"})
"""Words with which a number can begin, or with which one is said in passing."""

_SHARES: Final = frozenset({"rate", "ratio", "fraction", "share", "probability"})
_OPEN_KEYS: Final = frozenset({"m", "min", "d", "g", "w", "y", "second", "foot", "feet", "pound", "pounds"})
"""Names that mean something else in a key ("temperature_min", "second"): the number stays bare."""

_KEY_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+|%|µs|μs")


def units_named(name: str) -> tuple[Unit, ...]:
    """Look up a unit as written: the case of single letters matters ("5m" is no "5M")."""
    return UNITS.get(name) or (UNITS.get(name.lower(), ()) if len(name) > 1 else ())


def units_at(name: str, following: str) -> tuple[tuple[Unit, ...], int]:
    """Look up a unit of one or two words, the longer first: the units and how many words they take up."""
    if name.lower() in _FIRST_OF_TWO and (units := units_named(f"{name} {following}")):
        return units, 2
    return units_named(name), 1


@remembered(texts=1024, chars=64)
def key_unit(key: str) -> Unit | None:
    """Read the unit of a number from the JSON key it stands under.

    Args:
        key: such as ``"eta_minutes"``, ``"affected_checkout_pct"``, ``"failureRate"``, ``"days_open"``.

    Returns:
        The unit (`FRACTION` for rates and shares), or None where the key names none or a quotient
        (``"alerts_per_hour"``).
    """
    words = [word.lower() for word in _KEY_WORD.findall(key)]
    if not words or "per" in words:
        return None
    if words[-1] in _SHARES:
        return FRACTION
    leading = [words[0]] if words[0].endswith("s") or words[0] in ("pct", "percent") else []
    for word in [words[-1], *leading]:
        units = () if word in _OPEN_KEYS else UNITS.get(word, ())
        if len(units) == 1:
            return units[0]
    return None
