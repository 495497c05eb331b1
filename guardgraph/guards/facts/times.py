"""Dates, times of day, decades and quarters among the tokens of a text."""

from __future__ import annotations

import re
from typing import Final, TypeAlias

from guardgraph.guards.facts.tokens import Token, range_end
from guardgraph.guards.facts.units import MONTHS, UNITS, units_named
from guardgraph.guards.facts.values import Mark, Quantity, Value

__all__ = ["moment"]

_DATE = re.compile(
    r"(?P<y>\d{4})(?:([-/.])(?P<m>\d\d?)\2(?P<d>\d\d?)|[-/](?P<month>\d\d))"
    r"|(?P<one>\d\d?)(?:(?P<sign>[-/.])(?P<two>\d\d?)(?P=sign)(?P<year>\d{4})|/(?P<other>\d\d?)/(?P<short>\d\d))"
)
_CLOCK = re.compile(r"(\d\d?)(?::(\d\d)(?::(\d\d)(?:\.\d++)?)?)?([ap]m)?", re.IGNORECASE)
_DAY = re.compile(r"(\d\d?)(?:st|nd|rd|th)?")
_HALVES: Final = frozenset({"am", "pm"})
_YEAR = re.compile(r"[12]\d{3}")
_DECADE = re.compile(r"((?:[12]\d)?\d0)(s?)")

# How long the texts can be that the patterns match: most numbers need not be tried.
_DATE_CHARS: Final = range(6, 11)
_DAY_CHARS: Final = range(1, 5)
_HOUR_CHARS: Final = range(1, 5)

_Moment: TypeAlias = tuple[tuple[Value, ...], int]
"""What it can mean, and the index of the token behind it."""


def moment(tokens: list[Token], at: int) -> _Moment | None:
    """Read a date, a time of day, a decade or a quarter that begins at a token."""
    text = tokens[at].text
    if text.isalpha():
        return _date(tokens, at) if tokens[at].lower in MONTHS else None
    if text[0] in "QH":
        return _period(tokens, at)
    return _date(tokens, at) or _clock(tokens, at) or _decade(tokens, at)


def _date(tokens: list[Token], at: int) -> _Moment | None:
    token, end = tokens[at], at + 1
    if len(token.text) in _DATE_CHARS and (match := _DATE.fullmatch(token.text)):
        readings = tuple(Mark("date", date) for date in sorted(_numeric_dates(match)))
        return (readings, end) if readings else None
    day = _day(token.text)
    if day is None:
        month, end = _month(tokens, at)
        day = _day(tokens[end].text) if month else None
        end += day is not None
    else:
        month, end = _month(tokens, end + (tokens[end].text == "of"))
    if month is None:
        return None
    comma = tokens[end].text in (",", "of")
    year = int(tokens[end + comma].text) if _YEAR.fullmatch(tokens[end + comma].text) else None
    if year is not None:
        return (Mark("date", (year, month, day)),), end + comma + 1
    if day is None or units_named(tokens[end].text):
        return None
    return (Mark("date", (None, month, day)),), end


def _numeric_dates(match: re.Match[str]) -> set[tuple[int, int, int | None]]:
    if match["y"]:
        day = int(match["d"]) if match["d"] else None
        dates = {(int(match["y"]), int(match["m"] or match["month"]), day)}
    else:
        one, other, year = int(match["one"]), int(match["two"] or match["other"]), int(match["year"] or match["short"])
        # POSIX strptime %y: 69 to 99 are of the last century.
        year += 0 if match["year"] else 1900 if year >= 69 else 2000
        dates = {(year, one, other), (year, other, one)}
    return {(year, month, day) for year, month, day in dates if 1 <= month <= 12 and (day is None or 1 <= day <= 31)}


def _day(text: str) -> int | None:
    match = _DAY.fullmatch(text) if len(text) in _DAY_CHARS else None
    return day if match and 1 <= (day := int(match[1])) <= 31 else None


def _month(tokens: list[Token], at: int) -> tuple[int | None, int]:
    month = MONTHS.get(tokens[at].lower)
    if month is None or tokens[at].text in ("may", "march", "mar"):
        return None, at
    return month, at + 1 + (tokens[at + 1].text == ".")


def _clock(tokens: list[Token], at: int) -> _Moment | None:
    text = tokens[at].text
    if text.isdecimal() and tokens[at + 1].lower not in _HALVES and range_end(tokens, at, at + 1) is None:
        return None
    match = _CLOCK.fullmatch(text) if ":" in text or len(text) in _HOUR_CHARS else None
    if match is None:
        return None
    hour, minute, second = int(match[1]), int(match[2] or 0), int(match[3] or 0)
    half, end = _half(tokens, at, match)
    half = half or _half_of_end(tokens, at, hour)
    if minute > 59 or second > 59 or hour > (12 if half else 23) or not (half or match[2]):
        return None
    hours = _hours(hour, half, len(match[1]))
    return tuple(Mark("clock", (each * 60 + minute) * 60 + second) for each in hours), end


def _hours(hour: int, half: str, digits: int) -> list[int]:
    """Return the hours of the day that are meant: a single digit without a half of the day can mean two."""
    if half:
        return [hour % 12 + (12 if half == "pm" else 0)]
    return [hour, hour + 12] if 1 <= hour <= 11 and digits == 1 else [hour]


def _half(tokens: list[Token], at: int, clock: re.Match[str]) -> tuple[str, int]:
    following = tokens[at + 1].lower
    if not clock[4] and following in _HALVES:
        return following, at + 2
    return (clock[4] or "").lower(), at + 1


def _half_of_end(tokens: list[Token], at: int, hour: int) -> str:
    """Find the half of the day that a range says once: in "2 to 4 pm" for both, in "11 to 1 pm" for its end."""
    other = range_end(tokens, at, at + 1)
    clock = _CLOCK.fullmatch(tokens[other].text) if other else None
    half = _half(tokens, other, clock)[0] if other and clock else ""
    if half and clock and hour % 12 > int(clock[1]) % 12:
        return "am" if half == "pm" else "pm"
    return half


def _period(tokens: list[Token], at: int) -> _Moment | None:
    """Read a quarter, or a half where its year stands beside it ("H1" alone is a heading)."""
    text, following = tokens[at].text, tokens[at + 1].text
    years = (tokens[at - 1].text, tokens[at + 2].text if following == "of" else following)
    if text[0] == "H" and not any(_YEAR.fullmatch(year) for year in years):
        return None
    return (Mark("written", text.lower()),), at + 1


def _decade(tokens: list[Token], at: int) -> _Moment | None:
    text = tokens[at].text
    match = _DECADE.fullmatch(text) if text[-1] in "0s" else None
    if match is None:
        return None
    number = int(match[1])
    decade = Mark("decade", number // 10)
    if match[2]:
        return (decade, Quantity(number, UNITS["s"][0])), at + 1
    if tokens[at + 1].text in ("'", "’") and tokens[at + 2].text == "s":
        return (decade,), at + 3
    return None
