"""What follows from dates and times of day: how long it is from 14:00 to 16:00, which day and year the next one is."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date, timedelta
from fractions import Fraction
from itertools import combinations, islice, pairwise
from typing import Final

from guardgraph.guards.facts.numbers import FoundNumber, NumberSentence
from guardgraph.guards.facts.tokens import Token
from guardgraph.guards.facts.values import Amount, Clock, Date, Quantity, Value, Weekday

_DAY: Final = 86_400
WEEK: Final = 7
_MONTHS: Final = 12
_MOST_DAYS: Final = 366
_MOST_YEARS: Final = 500
_DAYS: Final = ("time", _DAY, _MOST_DAYS)
_YEARS: Final = ("calendar", _MONTHS, _MOST_YEARS)
"""What days and years are counted in: of which kind, how long one is, and how many at most."""
_MOST_BASES: Final = 8
"""Days of two sentences from which others are counted."""

_JOINING: Final = frozenset({"-", "–", "—", "‒", "to", "until", "till", "and"})
_NEXT: Final = {("next", "day"): 1, ("following", "day"): 1, ("day", "after"): 1, ("day", "later"): 1}
_BEFORE: Final = {("previous", "day"): -1, ("day", "before"): -1, ("day", "earlier"): -1}
_DAY_SHIFTS: Final = {**_NEXT, **_BEFORE}
_YEAR_SHIFTS: Final = {
    **{("year", word): -1 for word in ("earlier", "ago", "before")},
    **{("year", word): 1 for word in ("later", "after")},
    **{(word, "year"): -1 for word in ("previous", "prior", "preceding", "last")},
    **{(word, "year"): 1 for word in ("next", "following")},
    **{(word, "year"): -1 for word in ("over", "on")},  # "up 9 % year over year"
}
_TURNS: Final = {"later": 1, "after": 1, "earlier": -1, "before": -1}
_PLAIN_YEAR: Final = 2001
"""For days without a year: no leap year."""


def list_clock_spans(sentence: NumberSentence) -> Iterator[int]:
    """Yield how many seconds it is between the ends of each span of hours of a sentence: "14:00-16:00"."""
    for one, other in pairwise(sentence.found):
        between = [token.lower for token in sentence.tokens[one.end : other.first]]
        if len(between) > 1 or not _JOINING.issuperset(between):
            continue
        lengths = {(end - start) % _DAY for start in _list_seconds(one) for end in _list_seconds(other)} - {0}
        if lengths:
            yield min(lengths)  # "from 2 to 4" is two hours, by day and by night


def list_clock_gaps(sentences: Sequence[NumberSentence]) -> Iterator[int]:
    """Yield how many seconds lie between the times of day of each sentence and of the one behind it.

    Args:
        sentences: those of one text, in their order.
    """
    before: list[int] = []
    for sentence in sentences:
        own = list(islice(list_clock_seconds([sentence]), _MOST_BASES))
        yield from (abs(one - other) for one, other in combinations([*before, *own], 2) if one != other)
        before = own


def list_clock_seconds(sentences: Iterable[NumberSentence]) -> Iterator[int]:
    """Yield the times of day of sentences, in seconds since midnight."""
    return (second for sentence in sentences for each in sentence.found for second in _list_seconds(each))


def _list_seconds(found: FoundNumber) -> list[int]:
    return [value.second for value in found.readings if isinstance(value, Clock)]


def list_offsets(sentence: NumberSentence) -> Iterator[tuple[Amount, frozenset[str]]]:
    """Yield how many seconds before or after another something is, and the sentence's words: "45 minutes before"."""
    for each in sentence.found:
        turn = _TURNS.get(sentence.tokens[each.end].lower)
        for value in each.readings if turn else ():
            if turn and isinstance(value, Quantity) and value.unit.dimension == "time" and value.base < _DAY:
                yield turn * value.base, frozenset(token.lower for token in sentence.tokens)


def list_weekdays(sentences: Iterable[NumberSentence]) -> frozenset[int]:
    """Return the days of the week that sentences name, by their number."""
    values = (value for sentence in sentences for each in sentence.found for value in each.readings)
    return frozenset(value.number for value in values if isinstance(value, Weekday))


def list_shifted_days(sentences: Sequence[NumberSentence]) -> Iterator[Date | Weekday]:
    """Yield the days that a text counts from others: "opened on 5 March and closed the next day" is 6 March.

    Args:
        sentences: those of one text, in their order.
    """
    before: list[Date | Weekday] = []
    for sentence in sentences:
        days = [day for each in sentence.found for value in each.readings if (day := _read_day(value))][:_MOST_BASES]
        for shift in {*_list_shifts(sentence.tokens, _DAY_SHIFTS), *_list_counted_shifts(sentence, *_DAYS)}:
            yield from (shifted for day in (days or before[-1:]) if (shifted := _shift_day(day, shift)))
        before = days or before


def list_shifted_years(sentences: Sequence[NumberSentence]) -> Iterator[int]:
    """Yield the years that a text counts from others: "$412 million in 2025, up from $378 million a year earlier".

    Args:
        sentences: those of one text, in their order.
    """
    before: list[int] = []
    for sentence in sentences:
        dates = (value for each in sentence.found for value in each.readings if isinstance(value, Date))
        years = [date.year for date in dates if date.year is not None][:_MOST_BASES]
        for shift in {*_list_shifts(sentence.tokens, _YEAR_SHIFTS), *_list_counted_shifts(sentence, *_YEARS)}:
            base = set(years or before)
            yield from (year + shift for year in base if len(base) == 1)  # of several, nothing says which
        before = years or before


def shift_date(start: Date, length: Quantity) -> Date | None:
    """Return the date that lies a length of time behind another one: 14 months after March 2025 it is May 2026.

    Args:
        start: a date with its year.
        length: whole days, months or years; before it with a negative amount.

    Returns:
        The date as exactly as `start` is known; None where the length is finer than that, or there is no such day.
    """
    if start.year is None or length.per is not None or length.unit.zero:
        return None
    amount = Fraction(length.base)
    if length.unit.dimension == "time" and (amount / _DAY).denominator == 1 and abs(amount) <= _MOST_DAYS * _DAY:
        shifted = _shift_day(start, int(amount / _DAY)) if start.month and start.day else None
        return shifted if isinstance(shifted, Date) else None
    if length.unit.dimension != "calendar" or amount.denominator != 1 or abs(amount) > _MOST_YEARS * _MONTHS:
        return None
    if start.month is None:
        return start._replace(year=start.year + int(amount) // _MONTHS) if amount % _MONTHS == 0 else None
    years, month = divmod(start.month - 1 + int(amount), _MONTHS)
    return start._replace(year=start.year + years, month=month + 1)


def step_back(end: Date) -> Date | None:
    """Return the last day of a term that runs up to a date: of five years from 1 July on it is 30 June."""
    before = _shift_day(end, -1) if end.month and end.day else None
    return before if isinstance(before, Date) else None


def _read_day(value: Value) -> Date | Weekday | None:
    if isinstance(value, Weekday):
        return value
    return value if isinstance(value, Date) and value.month is not None and value.day is not None else None


def _list_shifts(tokens: Sequence[Token], shifts: Mapping[tuple[str, str], int]) -> Iterator[int]:
    return (shifts[pair] for pair in pairwise([token.lower for token in tokens]) if pair in shifts)


def _list_counted_shifts(sentence: NumberSentence, dimension: str, unit: int, most: int) -> Iterator[int]:
    """Yield how many days or years something is later or earlier: "ten days later"."""
    for each in sentence.found:
        turn = _TURNS.get(sentence.tokens[each.end].lower)
        for value in each.readings if turn else ():
            if isinstance(value, Quantity) and value.unit.dimension == dimension and value.per is None:
                amount = Fraction(value.base) / unit
                if amount.denominator == 1 and 1 <= amount <= most and turn:
                    yield turn * int(amount)


def _shift_day(day: Date | Weekday, by: int) -> Date | Weekday | None:
    if isinstance(day, Weekday):
        return Weekday((day.number - 1 + by) % WEEK + 1)
    try:
        shifted = date(day.year or _PLAIN_YEAR, day.month or 1, day.day or 1) + timedelta(days=by)
    except (ValueError, OverflowError):  # no such day
        return None
    year = None if day.year is None else shifted.year
    return Date(year, shifted.month, shifted.day)


def is_shifted_day(value: Value, shifted: Date | Weekday) -> bool:
    """Say whether a claimed day is one that a source counts from another; where one has no year, any fits."""
    if isinstance(value, Weekday):
        return isinstance(shifted, Weekday) and value.number == shifted.number
    if not isinstance(value, Date) or not isinstance(shifted, Date):
        return False
    same_year = None in (value.year, shifted.year) or value.year == shifted.year
    return same_year and (value.month, value.day) == (shifted.month, shifted.day)
