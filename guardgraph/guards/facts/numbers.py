"""Numbers in a text, as values: amounts with units, dates, times of day, decades."""

from __future__ import annotations

import re
from collections.abc import Iterator
from fractions import Fraction
from typing import Final, NamedTuple, TypeAlias

from guardgraph.guards.facts.spelling import plain
from guardgraph.guards.facts.times import moment
from guardgraph.guards.facts.tokens import MAX_DIGITS, ORDINAL_SUFFIXES, Token, number_in, range_end, shown, tokens_of
from guardgraph.guards.facts.units import (
    CURRENCIES,
    FRACTION,
    GLUED_SCALES,
    MONTHS,
    ORDINALS,
    PERCENT,
    SCALES,
    SYMBOLS,
    units_at,
    units_named,
)
from guardgraph.guards.facts.values import BARE, Amount, Mark, Number, Quantity, Unit, Value
from guardgraph.guards.facts.words import implied, ordinal, spelled
from guardgraph.guards.stop import shown_name
from guardgraph.state.json import JsonValue
from guardgraph.state.memory import remembered

__all__ = ["number_of", "numbers_in"]

_SIGNS: Final = frozenset("-−－﹣")
_BEFORE_SIGN: Final = frozenset("([{=:,;~≈<>/|*\"'`")
_STOP: Final = re.compile(r"[.!?]\s(?<=[a-z]{3}..)", re.DOTALL)
_MONTH_NAMES: Final = tuple(MONTHS)
_REFERENCES: Final = frozenset({"step", "section", "chapter", "appendix", "figure", "table", "footnote"})
_SUMMED: Final = frozenset({"time", "calendar"})
_NO_NUMBERS: Final[tuple[frozenset[Number], frozenset[Number]]] = (frozenset(), frozenset())
_PLAIN: Final = ((1, BARE),)
_UNWRITTEN: Final = str.maketrans("", "", ",-")
"""Signs that only group digits: "1-800-555-0199"."""

_ORDINAL: Final = frozenset({"st", "nd", "rd", "th"})

_Measures: TypeAlias = tuple[tuple[int, Unit], ...]
"""What may follow an amount: each meaning as a scale and a unit."""


class _Hit(NamedTuple):
    """A number and the tokens that it takes up."""

    readings: tuple[Value, ...]
    first: int
    end: int
    amount: Amount = 0
    measures: _Measures = ()
    implied: bool = False
    """Words say it in passing: it licenses and is not checked."""


def numbers_in(text: str) -> tuple[frozenset[Number], frozenset[Number]]:
    """Read the numbers of a text, in time linear in its length.

    Returns:
        The numbers it claims, and those that it says in passing ("the first", "an hour").
    """
    read = [_numbers_of(part) for part in _parts(plain(text))]
    if len(read) == 1:
        return read[0]
    return frozenset().union(*(found for found, _ in read)), frozenset().union(*(passing for _, passing in read))


def _parts(text: str) -> Iterator[str]:
    """Part a text where no number reaches across: behind a full stop, unless a month stands before ("Oct. 5").

    A revision has most of its sentences from its draft, and an answer from its notes.
    """
    start = 0
    for match in _STOP.finditer(text):
        end = match.end() - 1
        if not text[max(end - 12, start) : end - 1].lower().endswith(_MONTH_NAMES):
            yield text[start:end]
            start = end
    yield text[start:]


@remembered(texts=512, chars=300)
def _numbers_of(part: str) -> tuple[frozenset[Number], frozenset[Number]]:
    tokens = tokens_of(part)
    starts = [at for at, token in enumerate(tokens) if token.opens]
    if not starts:
        return _NO_NUMBERS
    found: list[Number] = []
    passing: list[Number] = []
    before = _Hit((), 0, 0)
    for at in starts:
        hit = _read(tokens, at, before.end) if at >= before.end else None
        if hit is None:
            continue
        if shared := _shared(tokens, before, hit):
            found[-1] = Number(found[-1].shown, _quantities(before.amount, shared))
            hit = hit._replace(readings=_quantities(hit.amount, shared), measures=shared)
        if _is_reference(tokens, hit):
            before = _Hit((), hit.first, hit.end)
            continue
        number = Number(shown_name(shown(tokens, hit.first, hit.end)), hit.readings)
        (passing if hit.implied else found).append(number)
        before = hit
    return frozenset(found), frozenset(passing)


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
    if not isinstance(value, int | float | str) or isinstance(value, bool):
        return None
    if isinstance(value, str) and value[:1].isalpha():
        return None  # as most texts are
    shown = str(value).strip()
    amount = value if type(value) is int else _amount_of(shown)
    if amount is None:
        return None
    if unit == FRACTION and not -1 <= amount <= 1:
        unit = BARE
    percent = (Quantity(amount * 100, PERCENT),) if unit == FRACTION else ()
    return Number(shown_name(shown), (Quantity(amount, unit), *percent))


def _amount_of(text: str) -> Amount | None:
    digits = text.lstrip("-")
    amount, suffix = (number_in(digits) if digits[:1].isdecimal() else None) or (None, "")
    if amount is None or suffix:
        return None
    return -amount if text.startswith("-") else amount


def _has_digits(text: str) -> bool:
    return text[:1].isdecimal() or (text[:1] == "." and len(text) > 1)


def _read(tokens: list[Token], at: int, floor: int) -> _Hit | None:
    if found := moment(tokens, at):
        return _Hit(found[0], at, found[1])
    if hit := _quantity(tokens, at, floor) or _written(tokens, at):
        return hit
    said = implied(tokens, at)
    return _Hit(said[0], at, said[1], implied=True) if said else None


def _is_reference(tokens: list[Token], hit: _Hit) -> bool:
    """Say whether a number without a unit only counts the parts of a text: "Step 3", "Section 4.2"."""
    return tokens[hit.first - 1].lower in _REFERENCES and hit.measures in (_PLAIN, ()) and not hit.implied


def _shared(tokens: list[Token], before: _Hit, hit: _Hit) -> _Measures:
    """Find what both ends of a range are measured in: "10-15 minutes", "$5 to 10 million"."""
    if hit.measures is _PLAIN or not (
        before.measures and hit.measures and range_end(tokens, before.first, before.end) == hit.first
    ):
        return ()
    if before.measures is _PLAIN:
        return hit.measures
    unit = before.measures[0][1]
    if unit.dimension in CURRENCIES and all(own == BARE for _, own in hit.measures):
        return tuple((scale, unit) for scale, _ in hit.measures)
    return ()


def _quantities(amount: Amount, measures: _Measures) -> tuple[Quantity, ...]:
    if measures is _PLAIN:
        return (Quantity(amount, BARE),)
    return tuple([Quantity(amount * scale if scale != 1 else amount, unit) for scale, unit in measures])


def _written(tokens: list[Token], at: int) -> _Hit | None:
    text = tokens[at].text
    if not _has_digits(text):
        return None
    return _Hit((Mark("written", text.translate(_UNWRITTEN).casefold()),), at, at + 1)


def _quantity(tokens: list[Token], at: int, floor: int) -> _Hit | None:
    """Read an amount with its unit, the parts of a duration as one ("1 hour and 30 minutes")."""
    hit = _measured(tokens, at)
    if hit is None:
        return None
    while hit.measures[0][1].dimension in _SUMMED:
        at_next = hit.end + (tokens[hit.end].text == "and")
        following = _measured(tokens, at_next) if tokens[at_next].opens else None
        longer = _sum(hit, following) if following else None
        if longer is None:
            break
        hit = longer
    return _signed(tokens, _priced(tokens, hit, floor))


def _measured(tokens: list[Token], at: int) -> _Hit | None:
    token, end, suffix, loose = tokens[at], at + 1, "", False
    if token.number:
        amount, suffix = token.number
    elif token.lower in ORDINALS:
        amount, suffix = ORDINALS[token.lower], "th"
    else:
        amount, end, loose = spelled(tokens, at)
    if amount is None:
        return None
    measures, end = _measures(tokens, end, suffix)
    # "one of them", "two-factor": without a unit these words count nothing.
    if measures is _PLAIN and not token.number and (loose or tokens[end].glued):
        return None
    readings: tuple[Value, ...] = _quantities(amount, measures)
    if names := _names(tokens, at, amount, suffix):
        readings = (*readings, *names)
    return _Hit(readings, at, end, amount, measures)


def _names(tokens: list[Token], at: int, amount: Amount, suffix: str) -> tuple[Mark, ...]:
    """What a number names beside its amount: a place, a quarter, a version."""
    if suffix and suffix.lower() in _ORDINAL:
        return ordinal(int(amount), tokens[at + 1].lower)
    return (Mark("written", tokens[at].text),) if tokens[at - 1].lower == "version" else ()


def _measures(tokens: list[Token], at: int, suffix: str) -> tuple[_Measures, int]:
    scale = 1
    if suffix:
        if suffix.lower() in ORDINAL_SUFFIXES:
            return _PLAIN, at
        scale = GLUED_SCALES.get(suffix) or SCALES.get(suffix.lower(), 1)
        if glued := tuple((1, unit) for unit in units_named(suffix)):
            return (*glued, (scale, BARE)) if scale != 1 else glued, at
    if scale == 1 and tokens[at].lower in SCALES:
        scale, at = SCALES[tokens[at].lower], at + 1
    name, following = tokens[at].text, tokens[at + 1].text
    before_amount = name in SYMBOLS and _has_digits(following)
    units, width = ((), 0) if before_amount else units_at(name, following)
    if units:
        return tuple([(scale, unit) for unit in units]), at + width
    return (_PLAIN if scale == 1 else ((scale, BARE),)), at


def _sum(one: _Hit, other: _Hit) -> _Hit | None:
    """Add the smaller unit that follows a duration, in that unit."""
    for scale, big in one.measures:
        for other_scale, small in other.measures:
            if big.dimension == small.dimension and small.factor < big.factor:
                amount = one.amount * scale * big.factor / Fraction(small.factor) + other.amount * other_scale
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
    sign, start = tokens[hit.first - 1], tokens[hit.first]
    if hit.first == 0 or sign.text not in _SIGNS or start.leads or sign.end != start.start:
        return hit
    if hit.first > 1 and not sign.leads:
        before = tokens[hit.first - 2]
        if before.end == sign.start and before.text not in _BEFORE_SIGN:
            return hit
    return hit._replace(readings=_quantities(-hit.amount, hit.measures), first=hit.first - 1, amount=-hit.amount)
