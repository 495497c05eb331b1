"""Numbers in a text, as values: amounts with units, dates, times of day, decades."""

from __future__ import annotations

import re
from fractions import Fraction
from typing import Final, NamedTuple, TypeAlias

from guardgraph.guards.facts.times import moment
from guardgraph.guards.facts.tokens import NUMBER, ORDINAL_SUFFIXES, Token, plain, tokens_of
from guardgraph.guards.facts.units import (
    CURRENCIES,
    FRACTION,
    GLUED_SCALES,
    MONTHS,
    ORDINALS,
    PERCENT,
    SCALES,
    SMALL,
    SYMBOLS,
    units_named,
)
from guardgraph.guards.facts.values import BARE, Mark, Number, Quantity, Unit, Value
from guardgraph.guards.stop import shown_name
from guardgraph.state.json import JsonValue

__all__ = ["number_of", "numbers_in"]

MAX_DIGITS = 400
"""Longest amount and largest power of ten to compute with (a double has 308); others compare as written."""

_DASHES: Final = frozenset({"-", "–", "—", "‒", "to"})
_NEARLY: Final = frozenset({"within", "in", "under", "than", "about", "around", "approximately", "after"})
_SIGNS: Final = frozenset("-−－﹣")
_BEFORE_SIGN: Final = frozenset("([{=:,;~≈<>/|*\"'`")
_WORD_STARTS: Final = frozenset({*SMALL, *ORDINALS, *MONTHS, "a", "an", "half"})
_SUMMED: Final = frozenset({"time", "calendar"})
_PLAIN: Final = ((1, BARE),)

_Measures: TypeAlias = tuple[tuple[int, Unit], ...]
"""What may follow an amount: each meaning as a scale and a unit."""


class _Hit(NamedTuple):
    """A number and the tokens that it takes up."""

    readings: tuple[Value, ...]
    first: int
    end: int
    amount: Fraction = Fraction(0)
    measures: _Measures = ()


def numbers_in(text: str) -> frozenset[Number]:
    """Read the numbers of a text, in time linear in its length."""
    text = plain(text)
    tokens = tokens_of(text)
    found: list[Number] = []
    before = _Hit((), 0, 0)
    at = 0
    while at < len(tokens):
        hit = _read(tokens, at, before.end) if _may_start(tokens[at].text) else None
        if hit is None:
            at += 1
            continue
        if shared := _shared(tokens, before, hit):
            found[-1] = Number(found[-1].shown, _quantities(before.amount, shared))
            hit = hit._replace(readings=_quantities(hit.amount, shared), measures=shared)
        shown = " ".join(text[tokens[hit.first].start : tokens[hit.end - 1].end].split())
        found.append(Number(shown_name(shown), hit.readings))
        before, at = hit, hit.end
    return frozenset(found)


def number_of(value: JsonValue, unit: Unit) -> Number | None:
    """Read a number of a JSON value.

    Args:
        value: an int of any size, a float (NaN and the infinities are no numbers), or a string that is one.
        unit: the unit that its key gives. A share of one is also read as the percentage that it is.

    Returns:
        The number, or None where the value is none.
    """
    if isinstance(value, int) and not isinstance(value, bool) and value.bit_length() > MAX_DIGITS * 3:
        return Number(shown_name(hex(value)), (Mark("written", hex(value)),))
    amount = None
    if isinstance(value, int | float | str) and not isinstance(value, bool):
        match = NUMBER.fullmatch(str(value).strip().lstrip("-"))
        amount = _parsed(match) if match and match["whole"] and not match["suffix"] else None
    if amount is None:
        return None
    shown = str(value).strip()
    amount = -amount if shown.startswith("-") else amount
    if unit == FRACTION and abs(amount) > 1:
        unit = BARE
    percent = (Quantity(amount * 100, PERCENT),) if unit == FRACTION else ()
    return Number(shown_name(shown), (Quantity(amount, unit), *percent))


def _may_start(text: str) -> bool:
    return _has_digits(text) or text.lower() in _WORD_STARTS


def _has_digits(text: str) -> bool:
    return text[:1].isdecimal() or (text[:1] == "." and len(text) > 1)


def _read(tokens: list[Token], at: int, floor: int) -> _Hit | None:
    if found := moment(tokens, at):
        return _Hit(found[0], at, found[1])
    return _quantity(tokens, at, floor) or _written(tokens, at)


def _shared(tokens: list[Token], before: _Hit, hit: _Hit) -> _Measures:
    """Find what both ends of a range are measured in: "10-15 minutes", "$5 to 10 million"."""
    glued = before.end == hit.first and tokens[hit.first].glued
    word = tokens[before.end].text.lower() if before.end + 1 == hit.first else ""
    between = word == "and" and tokens[before.first - 1].text.lower() == "between"
    if not (before.measures and hit.measures and (glued or word in _DASHES or between)):
        return ()
    if before.measures == _PLAIN:
        return hit.measures
    unit = before.measures[0][1]
    if unit.dimension in CURRENCIES and all(own == BARE for _, own in hit.measures):
        return tuple((scale, unit) for scale, _ in hit.measures)
    return ()


def _quantities(amount: Fraction, measures: _Measures) -> tuple[Quantity, ...]:
    return tuple(Quantity(amount * scale if scale != 1 else amount, unit) for scale, unit in measures)


def _written(tokens: list[Token], at: int) -> _Hit | None:
    text = tokens[at].text
    if not _has_digits(text):
        return None
    return _Hit((Mark("written", text.replace(",", "").casefold()),), at, at + 1)


def _quantity(tokens: list[Token], at: int, floor: int) -> _Hit | None:
    """Read an amount with its unit, the parts of a duration as one ("1 hour and 30 minutes")."""
    hit = _measured(tokens, at)
    if hit is None:
        return None
    while hit.measures[0][1].dimension in _SUMMED:
        following = _measured(tokens, hit.end + (tokens[hit.end].text == "and"))
        longer = _sum(hit, following) if following else None
        if longer is None:
            break
        hit = longer
    return _signed(tokens, _priced(tokens, hit, floor))


def _measured(tokens: list[Token], at: int) -> _Hit | None:
    text, end, suffix, loose = tokens[at].text, at + 1, "", False
    if match := NUMBER.fullmatch(text) if _has_digits(text) else None:
        amount, suffix = _parsed(match), match["suffix"]
    elif text.lower() in ORDINALS:
        amount, suffix = Fraction(ORDINALS[text.lower()]), "th"
    else:
        amount, end, loose = _spelled(tokens, at)
    if amount is None:
        return None
    measures, end = _measures(tokens, end, suffix)
    # "one of them", "two-factor": without a unit these words count nothing.
    if measures == _PLAIN and not match and (loose or tokens[end].glued):
        return None
    return _Hit(_quantities(amount, measures), at, end, amount, measures)


def _parsed(match: re.Match[str]) -> Fraction | None:
    whole = (match["whole"] or "0").replace(",", "").replace("_", "")
    part = (match["point"] or "")[1:]
    power = int((match["power"] or "e0")[1:]) - len(part)
    if len(whole) + len(part) > MAX_DIGITS or abs(power) > MAX_DIGITS:
        return None
    digits = int(whole + part)
    return Fraction(digits * 10**power) if power >= 0 else Fraction(digits, 10**-power)


def _measures(tokens: list[Token], at: int, suffix: str) -> tuple[_Measures, int]:
    if suffix.lower() in ORDINAL_SUFFIXES:
        return _PLAIN, at
    scale = GLUED_SCALES.get(suffix) or SCALES.get(suffix.lower(), 1)
    glued = tuple((1, unit) for unit in units_named(suffix))
    if glued:
        return (*glued, (scale, BARE)) if scale != 1 else glued, at
    if scale == 1 and tokens[at].text.lower() in SCALES:
        scale, at = SCALES[tokens[at].text.lower()], at + 1
    name, pair = tokens[at].text, f"{tokens[at].text} {tokens[at + 1].text}"
    if name in SYMBOLS and _has_digits(tokens[at + 1].text):
        return ((scale, BARE),), at
    for text, width in ((pair, 2), (name, 1)):
        if units := units_named(text):
            return tuple((scale, unit) for unit in units), at + width
    return ((scale, BARE),), at


def _spelled(tokens: list[Token], at: int) -> tuple[Fraction | None, int, bool]:
    """Read number words: the value, the index after them, and whether they count only with a unit."""
    word, following = tokens[at].text.lower(), tokens[at + 1].text.lower()
    if word == "half" and following in ("a", "an"):
        return Fraction(1, 2), at + 2, True
    if word in ("a", "an") and following != "hundred":
        near = tokens[at - 1].text.lower() in _NEARLY or following in SCALES
        return (Fraction(1), at + 1, True) if near else (None, at, True)
    value, start, at = (1, at, at + 1) if word == "a" else (-1, at, at)
    while True:
        word, following = tokens[at].text.lower(), tokens[at + 1].text.lower()
        open_tens = value % 100 >= 20 and value % 10 == 0
        hundreds = value >= 100 and value % 100 == 0
        small = SMALL.get(word)
        if small is not None and (value < 0 or hundreds or (open_tens and 1 <= small <= 9)):
            value = max(value, 0) + small
        elif word == "hundred" and 0 < value < 10:
            value *= 100
        elif not (word == "and" and hundreds and following in SMALL):
            break
        at += 1
    return (Fraction(value) if at > start else None), at, at == start + 1 and value == 1


def _sum(one: _Hit, other: _Hit) -> _Hit | None:
    """Add the smaller unit that follows a duration, in that unit."""
    for scale, big in one.measures:
        for other_scale, small in other.measures:
            if big.dimension == small.dimension and small.factor < big.factor:
                amount = one.amount * scale * big.factor / small.factor + other.amount * other_scale
                measures = ((1, small),)
                return _Hit(_quantities(amount, measures), one.first, other.end, amount, measures)
    return None


def _priced(tokens: list[Token], hit: _Hit, floor: int) -> _Hit:
    """Let a currency before the amount be its unit, where the amount has none of its own."""
    name = tokens[hit.first - 1].text
    if hit.first <= floor or (name not in CURRENCIES and name not in SYMBOLS):
        return hit
    unit = units_named(name)[0]
    measures = tuple((scale, unit) for scale, own in hit.measures if own == BARE)
    if not measures:
        return hit
    return _Hit(_quantities(hit.amount, measures), hit.first - 1, hit.end, hit.amount, measures)


def _signed(tokens: list[Token], hit: _Hit) -> _Hit:
    sign, start = tokens[hit.first - 1], tokens[hit.first].start
    if hit.first == 0 or sign.text not in _SIGNS or sign.end != start:
        return hit
    if hit.first > 1:
        before = tokens[hit.first - 2]
        if before.end == sign.start and before.text not in _BEFORE_SIGN:
            return hit
    return hit._replace(readings=_quantities(-hit.amount, hit.measures), first=hit.first - 1, amount=-hit.amount)
