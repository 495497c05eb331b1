"""Spans of days and of hours: "Monday to Friday" is "on weekdays", and "open from 9 to 17" is 9 am to 5 pm.

Both ends of a span say what the whole says, so that "Monday" of "Monday to Friday" is supported where a source says
"weekdays", and no other Monday is. Bare numbers are hours where words of opening times stand beside them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from guardgraph.guards.facts.tokens import Token
from guardgraph.guards.facts.units import SPOKEN_DAYS
from guardgraph.guards.facts.values import Amount, Clock, DaySpan, Value, Weekday
from guardgraph.languages.tables import load_weekday_names

_WEEKEND: Final = DaySpan(6, 7)

_JOINING_DAYS: Final = frozenset({"-", "–", "—", "‒", "to", "through", "thru", "till", "until"})
_ADDING: Final = frozenset({"and", "&", "/", "or"})
_JOINING_HOURS: Final = frozenset({"-", "–", "—", "‒", "to", "till", "until"})

_OPENING: Final = frozenset(
    {"open", "opens", "opening", "hours", "available", "availability", "staffed", "reachable", "reached"}
    | {"shift", "shifts", "desk", "hotline", *SPOKEN_DAYS, *(word.removesuffix("s") for word in SPOKEN_DAYS)}
)
"""Words beside bare numbers that are hours of a day."""

_WINDOW: Final = 12
"""Tokens on each side of two numbers that are looked at, at most."""

_NOON: Final = 12
_MIDNIGHT: Final = 24


def read_short_weekday(tokens: Sequence[Token], at: int) -> int | None:
    """Read "Mon" and "Fri" without a full stop, which are days where two of them are joined: "Mon-Fri"."""
    day, following = _read_day_word(tokens[at]), tokens[at + 1]
    if day is None:
        return None
    joining = _JOINING_DAYS | _ADDING
    if following.glued or following.lower in joining:
        other = tokens[at + 1 if following.glued else at + 2]
        if _read_day_word(other):
            return day
    if at > 0 and tokens[at].glued:
        return day if _read_day_word(tokens[at - 1]) else None
    return day if at > 1 and tokens[at - 1].lower in joining and _read_day_word(tokens[at - 2]) else None


def is_short_day(tokens: Sequence[Token], at: int) -> bool:
    """Say whether a short name before a full stop can be a day: "on Sun." can, "the Sun." and "she sat." cannot."""
    before = tokens[at - 1].lower if at else ""
    if tokens[at].text.islower():
        return before in _JOINING_DAYS | _ADDING | {"on"}
    return before not in _DETERMINERS


_DETERMINERS: Final = frozenset({"the", "a", "an", "our", "its", "this"})


def _read_day_word(token: Token) -> int | None:
    return load_weekday_names("en").get(token.lower) if token.text[:1].isupper() else None


def read_spoken_days(tokens: Sequence[Token], at: int) -> tuple[tuple[Value, ...], int] | None:
    """Read words that support days and claim none, as "weekdays" may be fewer than these: also "on Mondays"."""
    first, last = SPOKEN_DAYS.get(tokens[at].lower, (0, 0))
    if not first:
        return None
    return ((Weekday(first) if first == last else DaySpan(first, last)),), at + 1


def join_weekdays(tokens: Sequence[Token], end: int, at: int, days: tuple[int, int]) -> DaySpan | None:
    """Return the span of two days of the week, None where they are none: "Monday to Friday", "Sat and Sun".

    Args:
        tokens: of a sentence.
        end: the index behind the day before.
        at: the index at which the other day begins.
        days: both.
    """
    between = [token.lower for token in tokens[end:at]]
    if (not between and tokens[at].glued) or (len(between) == 1 and between[0] in _JOINING_DAYS):
        return DaySpan(*days)
    is_weekend = len(between) == 1 and between[0] in _ADDING and days == (_WEEKEND.first, _WEEKEND.last)
    return _WEEKEND if is_weekend else None


def join_hours(
    tokens: Sequence[Token], before: tuple[int, int, Amount], now: tuple[int, int, Amount]
) -> tuple[tuple[Clock, ...], tuple[Clock, ...]] | None:
    """Return what two bare numbers are as hours of a day, None where they are none: "open from 9 to 17".

    Args:
        tokens: of a sentence.
        before: where the one begins in it and ends, and its amount.
        now: the same of the other.
    """
    first, last = before[2], now[2]
    if not (isinstance(first, int) and isinstance(last, int) and 0 <= first < _MIDNIGHT and 0 < last <= _MIDNIGHT):
        return None
    between, is_between = [token.lower for token in tokens[before[1] : now[0]]], tokens[before[0] - 1].lower
    is_range = not between or (len(between) == 1 and between[0] in _JOINING_HOURS)
    if not is_range and not (between == ["and"] and is_between == "between"):
        return None
    around = tokens[max(before[0] - _WINDOW, 0) : now[1] + _WINDOW]
    if _OPENING.isdisjoint(token.lower for token in around):
        return None
    if last <= first:  # "from nine to five"
        return ((_make_hour(first),), (_make_hour(last + _NOON),)) if max(first, last) <= _NOON else None
    if last > _NOON:
        return (_make_hour(first),), (_make_hour(last),)
    return (_make_hour(first), _make_hour(first + _NOON)), (_make_hour(last), _make_hour(last + _NOON))


def _make_hour(hour: int) -> Clock:
    return Clock(hour * 3600 % 86_400)
