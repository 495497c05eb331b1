"""What texts say in numbers, as typed values, and one comparison of them.

A value of a text is supported by one of a source that is equal to it after normalisation, or more exact than it.
"""

from __future__ import annotations

import math
import re
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

YEAR: Final = r"(?:1\d|20)\d\d"
_YEAR: Final = re.compile(YEAR)
SIGNED_UNIT: Final = "[temperature]"
"""The dimension of which a minus is read: of others a text says in a word what is less, "it fell by 5 %" of -5 %."""
SMALL: Final = 12  # whole numbers up to this say what a writer counts: texts have them without having read them
_FRACTION_STEP: Final = 1.5
_FRACTION_OFF: Final = 1.7  # per cent: "half" and "a third" are said of what is near them
_CONVERTED_OFF: Final = 0.05  # how far a conversion between units may round at most: "5 km" of "3 miles"
_DEGREES_OFF: Final = 0.51
_ROUNDED_OFF: Final = 0.01
_BOUND_OFF: Final = 0.1


class Value(NamedTuple):
    """A number, an amount, a date, a time, a score or a label of a text."""

    kind: str  # ``number``, ``ordinal``, ``percent``, ``money``, ``quantity``, ``date``, ``time``, ``score``, ``label``
    amounts: tuple[float, ...]
    """In the base unit; several where it may be read in several ways. Of a score its two numbers."""
    unit: str  # dimension, currency or zone; of a label what is compared of it
    step: float  # what its last significant digit is worth
    start: int
    end: int
    text: str
    mark: str = ""  # ``about``, ``more``, ``less``, or ``implied`` for the one of "an hour", which needs no support
    dates: tuple[tuple[int, int, int, int], ...] = ()
    """Readings of a date: first and last year, month, day; 0 where it is not said. A quarter is a month behind 20."""
    nouns: frozenset[str] = frozenset()  # the stems of the words that say what is counted
    said: tuple[float, ...] = ()  # the amounts as they are written, in the unit that stands there
    factor: float = 1.0  # what of the base unit the written one is
    per: tuple[str, float] = ("", 1.0)  # of a rate: the dimension of the time, and how much of it

    @property
    def said_anywhere(self) -> tuple[object, ...]:
        """All but where it stands, and how it is written."""
        return (*self[:4], *self[7:])

    @property
    def is_small(self) -> bool:
        """Whether it is a count that a writer makes: "two reasons", "first"."""
        amount = self.amounts[0]
        return self.kind in ("number", "ordinal") and amount <= SMALL and amount == int(amount)

    @property
    def is_year(self) -> bool:
        """Whether it is a bare number that may be a year."""
        return self.kind == "number" and _YEAR.fullmatch(self.text) is not None


def is_same_kind(one: Value, other: Value) -> bool:
    """Say whether two values can be compared: an amount without a unit can be with any."""
    if "number" in (one.kind, other.kind):
        return {one.kind, other.kind} <= {"number", "ordinal", "percent", "money", "quantity"}
    return one.kind == other.kind and (one.unit == other.unit or one.kind == "label")


def is_same_value(one: Value, other: Value) -> bool:
    """Say whether two values are the same for a licence: type, unit, zone and bound, and nothing is rounded."""
    bounds = {"more", "less"} & {one.mark, other.mark}
    if one.kind != other.kind or one.unit != other.unit or one.per != other.per:
        return False
    if bounds and one.mark != other.mark:
        return False
    if one.kind == "date":
        return bool(set(one.dates) & set(other.dates))
    return any(math.isclose(a, b, rel_tol=1e-9, abs_tol=1e-12) for a in one.amounts for b in other.amounts)


def supports(value: Value, source: Value) -> bool:
    """Say whether a source's value is what a text's value says, or says it more exactly."""
    if value.kind == "date" or source.kind == "date":
        return any(_is_date_within(said, told) for said in _list_dates(value) for told in _list_dates(source))
    if "score" in (value.kind, source.kind) and value.kind != source.kind:
        pair, other = (value, source) if value.kind == "score" else (source, value)
        if pair.unit != "of":
            return False
        if other.kind == "percent":
            return abs(100 * pair.amounts[0] / pair.amounts[1] - other.amounts[0]) <= other.step / 2 * (1 + 1e-9)
        return other is value and other.kind == "number" and other.amounts[0] in pair.amounts
    if value.kind in ("time", "label", "score") or source.kind in ("time", "label", "score"):
        return value.kind == source.kind and _is_same_sign(value, source)
    if not is_same_kind(value, source):
        return False
    said, told, steps = value.amounts, source.amounts, (value.step, source.step)
    if value.kind != source.kind and "number" in (value.kind, source.kind):
        if not _counts_what_is_measured(value, source):
            return False
        said, told = value.said or said, source.said or told
        steps = (value.step / value.factor, source.step / source.factor)
    elif value.per[0] and source.per[0]:
        if value.per[0] != source.per[0]:
            return False
        told = tuple(amount * value.per[1] / source.per[1] for amount in told)
    return any(_is_near(value, a, source, b, steps) for a in said for b in told)


def _is_same_sign(value: Value, source: Value) -> bool:
    if value.kind == "label":
        return value.unit == source.unit
    if value.kind == "score":
        return sorted(value.amounts) == sorted(source.amounts)
    is_zone = value.unit == source.unit or not (value.unit and source.unit)
    return is_zone and bool(set(value.amounts) & set(source.amounts))


def _counts_what_is_measured(value: Value, source: Value) -> bool:
    """Say whether what a bare number counts is named where the other one has its unit: "5 dollars" of 5 of them."""
    counted, measured = (value, source) if value.kind == "number" else (source, value)
    if not counted.nouns or any("#" in noun for noun in counted.nouns):
        return True
    return not counted.nouns.isdisjoint(measured.nouns)


def _list_dates(value: Value) -> tuple[tuple[int, int, int, int], ...]:
    if value.is_year:
        year = int(value.amounts[0])
        return ((year, year, 0, 0),)
    return value.dates


def _is_date_within(said: tuple[int, ...], told: tuple[int, ...]) -> bool:
    is_year = not said[0] or (told[0] and said[0] <= told[0] and told[1] <= said[1])
    return bool(is_year) and all(not mine or mine == theirs for mine, theirs in zip(said[2:], told[2:], strict=True))


def _is_near(value: Value, said: float, source: Value, told: float, steps: tuple[float, float]) -> bool:
    """Say whether an amount is another one, or that one rounded as a text may round it."""
    if math.isclose(said, told, rel_tol=1e-9, abs_tol=1e-12):
        return True
    if not told or not said or value.is_year or value.kind == "ordinal" or value.is_small:
        return False
    off, step, is_rounder = abs(said - told), steps[0], steps[0] > steps[1]
    if value.kind == "percent" and _FRACTION_STEP in steps:
        return off <= _FRACTION_OFF
    if value.kind == source.kind == "quantity" and value.factor != source.factor:
        if value.unit == SIGNED_UNIT:
            return off <= _DEGREES_OFF * min(1.0, step)
        return off <= step and off <= _CONVERTED_OFF * told
    if value.mark in ("more", "less"):
        return is_rounder and 0 <= (told - said) * (1 if value.mark == "more" else -1) <= _BOUND_OFF * told
    if value.mark:
        return is_rounder and off <= step
    return is_rounder and off <= step / 2 * (1 + 1e-9) and (step < 1 or off <= _ROUNDED_OFF * told)


def find_support(value: Value, values: Iterable[Value]) -> Value | None:
    """Return a value that says what another one says, equal after normalisation or more exactly; None for none."""
    values = values if isinstance(values, Sequence) else list(values)
    if hit := next((each for each in values if supports(value, each)), None):
        return hit
    for year, last, month, day in value.dates:
        if year and (month or day) and find_support(value._replace(dates=((year, last, 0, 0),)), values):
            undated = (each for each in values for told in each.dates if not told[0])
            if hit := next((s for s in undated if any(_is_date_within((0, 0, month, day), d) for d in s.dates)), None):
                return hit
    if value.kind == "score" and (value.unit or min(value.amounts) > SMALL):
        ends = [Value("number", (amount,), "", 1.0, value.start, value.end, f"{amount:g}") for amount in value.amounts]
        found = [next((each for each in values if supports(end, each)), None) for end in ends]
        return found[0] if all(found) else None
    return None


class ValueIndex:
    """The values of what a text rests on; the few that could support another one are found at once."""

    def __init__(self, values: Iterable[Value]) -> None:
        self.values = tuple({value.said_anywhere: value for value in reversed([*values])}.values())[::-1]
        self._keyed: defaultdict[object, list[int]] = defaultdict(list)
        amounts = list[tuple[float, int]]()
        for at, value in enumerate(self.values):
            keys, stated = _list_keys(value)
            for key in keys:
                self._keyed[key].append(at)
            amounts += [(amount, at) for amount, _ in stated]
        amounts.sort()
        self._amounts, self._places = [amount for amount, _ in amounts], [at for _, at in amounts]

    def find_like(self, value: Value) -> list[Value]:
        """Return all that could support a value, in their order."""
        if not self.values:
            return []
        keys, stated = _list_keys(value)
        found = {at for key in keys for at in self._keyed.get(key, ())}
        share = 1.2 * _BOUND_OFF if value.mark in ("more", "less") else 0.0
        for amount, step in stated:
            off = step + _FRACTION_OFF + share * abs(amount)
            first = bisect_left(self._amounts, amount - off)
            found.update(self._places[first : bisect_right(self._amounts, amount + off, first)])
        return [self.values[at] for at in sorted(found)]


def _list_keys(value: Value) -> tuple[list[object], list[tuple[float, float]]]:
    """Return what a value shares with all that could support it: years, months, labels, amounts with their steps."""
    keys = list[object]([value.unit]) if value.kind == "label" else []
    for first, last, month, _ in value.dates:
        keys += [*range(first, last + 1)] if first else []
        keys += [f"month {month}"] if month else []
    if value.kind in ("label", "date"):
        return keys, []
    stated = [(amount, value.step) for amount in value.amounts]
    if value.factor != 1.0:
        stated += [(amount, value.step / value.factor) for amount in value.said]
    elif value.said != value.amounts:
        stated += [(amount, value.step) for amount in value.said]
    if value.is_year:
        keys.append(int(value.amounts[0]))
    if value.unit == "of":  # "27 out of 100" is 27 per cent
        stated.append((100 * value.amounts[0] / value.amounts[1], 1.0))
    times = value.per[1]
    return keys, [*stated, *((amount / times, step / times) for amount, step in stated)] if value.per[0] else stated


def scan_values(text: str, language: str = "") -> tuple[Value, ...]:
    """Return the values of a text, in their order."""
    from guardgraph.grounding.scanning import scan_text  # it makes the values that this module compares

    return scan_text(text, language)


def find_unsupported_values(text: str, texts: Sequence[str]) -> list[str]:
    """Return the values of a text that no other text has, as they are written, small counts among them."""
    told = [value for each in texts for value in scan_values(each)]
    written = "\n".join(texts)
    said = [value for value in scan_values(text) if value.mark != "implied"]
    missing = [value for value in said if not is_written(value, written) and find_support(value, told) is None]
    return list(dict.fromkeys(value.text for value in missing))


_LONGEST: Final = 200  # characters of a value that is looked for as it is written
_BEFORE_WORD, _BEFORE_NUMBER = re.compile(r"(?<![^\W_])"), re.compile(r"(?<!\d)(?<![.,])(?<!\d[-/:])(?<!\s[-–−])")
_BEHIND_WORD, _BEHIND_SIGN = re.compile(r"(?!\w)(?![.,/:-]\d)"), re.compile(r"(?![.,/:-]\d)")


def is_written(value: Value, text: str) -> bool:
    """Say whether a text has a value as it is written, and not as a part of a longer number, date or word."""
    said = value.text
    if value.kind == "label":  # "3D" of "3d"
        said, text = said.lower(), text.lower()
    if len(said) > _LONGEST:
        return False
    before = _BEFORE_WORD if said[0].isalpha() else _BEFORE_NUMBER
    behind = _BEHIND_WORD if said[-1].isalnum() else _BEHIND_SIGN
    at = text.find(said)
    while at >= 0 and not (before.match(text, at) and behind.match(text, at + len(said))):
        at = text.find(said, at + 1)
    return at >= 0
