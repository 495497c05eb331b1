"""Times of day and their zones among the tokens of a text."""

from __future__ import annotations

import re
from functools import cache
from typing import Final, NamedTuple, TypeAlias

from guardgraph.guards.facts.grammar import FUNCTION_WORDS
from guardgraph.guards.facts.moments import Clock
from guardgraph.guards.facts.tokens import Token, find_number_range_end
from guardgraph.guards.facts.units import SMALL, find_units
from guardgraph.languages.tables import load_time_zones

_NAMED: Final = {"noon": 12, "midday": 12, "midnight": 0}
"""Hours by their names."""

_PAST: Final = {"half": 30, "quarter": 15}
"""Minutes by their names, before "past"."""

_OF_THE_CLOCK: Final = range(1, 13)
_HOURS_OF_DAY: Final = range(24)
_MINUTES = re.compile("[0-5][0-9]")
_TWELVE: Final = frozenset({"12", "12:00", "12.00"})
_CLOCK = re.compile(r"(\d\d?)(?:([:.h])(\d\d)(?::(\d\d)(?:\.\d++)?)?)?(h)?([ap]m)?(z)?", re.IGNORECASE)
_OFFSET = re.compile(r"(\d\d?)(?::?(\d\d))?")
_HALVES: Final = frozenset({"am", "pm"})
_HOURS: Final = frozenset({"uhr", "o'clock", "hrs", "h"})
_BEFORE: Final = "at by until till before after um gegen à vers las los о в"
_AT: Final = frozenset(_BEFORE.split())
"""Words before a time of day."""

_GENERIC: Final = {"ET": "eastern time", "CT": "central time", "MT": "mountain time", "PT": "pacific time"}
"""Abbreviations of names that leave open whether summer time holds."""

_CLOCK_CHARS: Final = range(1, 9)
_ZONE_WORDS: Final = 4
_DIGITS: Final = frozenset("0123456789")

_Moment: TypeAlias = tuple[tuple[Clock, ...], int]
"""What it can mean, and the index of the token behind it."""


class _Time(NamedTuple):
    """Hours and minutes as written; the half of the day is "" where none is said."""

    hour: int
    minute: int
    second: int
    exact: bool
    half: str
    digits: int
    """How many digits the hour has."""
    whole: bool
    """Whether the hours are those of the whole day, as in "9h15"."""
    end: int
    zone: str = ""
    ahead: tuple[int, ...] = ()


def begins_clock_fact(text: str) -> bool:
    """Say whether a time of day can begin with a token of this text."""
    word = text.lower()
    return text[:1] in _DIGITS or word in _NAMED or word in _PAST or SMALL.get(word, 0) in _OF_THE_CLOCK


def read_clock_fact(tokens: list[Token], at: int) -> _Moment | None:
    """Read a time of day, with its zone, that begins at a token."""
    word = tokens[at].lower
    if word in _NAMED:
        zone, ahead, end = _read_clock_zone(tokens, at + 1)
        return (Clock(_NAMED[word] * 3600, False, zone, ahead),), end
    if tokens[at + 1].lower in _NAMED and tokens[at].text in _TWELVE:
        return read_clock_fact(tokens, at + 1)  # "12 noon"
    time = _read_spoken_clock(tokens, at) or _read_digital_clock(tokens, at)
    if time is None:
        return None
    if not time.half or not time.zone:
        time = _complete_clock_range(tokens, at, time)
    return tuple(
        Clock(((hour * 60 + time.minute) * 60 + time.second) % 86_400, time.exact, time.zone, time.ahead)
        for hour in _list_clock_hours(time)
    ), time.end


def _complete_clock_range(tokens: list[Token], at: int, time: _Time) -> _Time:
    """Let the other end of a range say the half of the day and the zone for both: "11 to 1 pm UTC"."""
    other = find_number_range_end(tokens, at, time.end)
    end = _read_digital_clock(tokens, other) if other else None
    if end is None:
        return time
    half = time.half
    if end.half and not half:
        crosses = time.hour % 12 > end.hour % 12
        half = ("am" if end.half == "pm" else "pm") if crosses else end.half
        half = half if 1 <= time.hour <= 12 else ""
    return time._replace(half=half, zone=time.zone or end.zone, ahead=time.ahead or end.ahead)


def _list_clock_hours(time: _Time) -> list[int]:
    """Return the hours of the day that are meant: a single digit without a half of the day can mean two."""
    if time.whole:
        return [time.hour]
    if time.half:
        return [time.hour % 12 + (12 if time.half == "pm" else 0)]
    return [time.hour, time.hour + 12] if 1 <= time.hour <= 11 and time.digits == 1 else [time.hour]


def _read_digital_clock(tokens: list[Token], at: int) -> _Time | None:
    match = _match_digital_clock(tokens[at].text)
    if match is None:
        return None
    half, end = (match[6] or "").lower(), at + 1
    if not half and tokens[end].lower in _HALVES:
        half, end = tokens[end].lower, end + 1
    zone, ahead, end = ("Z", (0,), end) if match[7] else _read_clock_zone(tokens, end)
    spoken = tokens[end].lower in _HOURS or tokens[end].lower == "o" or bool(match[5])
    hour, minute, second = (int(digits or 0) for digits in match.group(1, 3, 4))
    if not _is_clock_time(tokens, at, match, bool(half or zone), spoken) or not _is_valid_clock_time(
        hour, minute, second, half
    ):
        return None
    end, is_whole = _skip_hour_word(tokens, end), match[2] in ("h", "H") or tokens[end].lower == "uhr"
    return _Time(hour, minute, second, match[4] is not None, half, len(match[1]), is_whole, end, zone, ahead)


def _match_digital_clock(text: str) -> re.Match[str] | None:
    may_be = text[:1] in _DIGITS and (len(text) in _CLOCK_CHARS or ":" in text)
    return _CLOCK.fullmatch(text) if may_be else None


def _is_valid_clock_time(hour: int, minute: int, second: int, half: str) -> bool:
    return minute <= 59 and second <= 59 and hour <= (12 if half else 24) and not (hour == 24 and minute)


def _read_spoken_clock(tokens: list[Token], at: int) -> _Time | None:
    """Read "half past four", "ten o'clock" and "12 h 30"."""
    word, following = tokens[at].lower, tokens[at + 1].lower
    if following == "h":
        return _read_parted_clock(tokens, at)
    minute, end = 0, at
    if word in _PAST and following == "past":
        minute, end = _PAST[word], at + 2
    elif following != "o" or tokens[at + 3].lower != "clock" or tokens[at].number:
        return None
    said = tokens[end].number
    hour = said[0] if said and not said[1] else SMALL.get(tokens[end].lower, 0)
    if not isinstance(hour, int) or hour not in _OF_THE_CLOCK:
        return None
    end = _skip_hour_word(tokens, end + 1)
    half = tokens[end].lower if tokens[end].lower in _HALVES else ""
    zone, ahead, end = _read_clock_zone(tokens, end + bool(half))
    return _Time(hour, minute, 0, False, half, 1, False, end, zone, ahead)


def _read_parted_clock(tokens: list[Token], at: int) -> _Time | None:
    """Read "12 h 30", which is no "12 h 30 min"."""
    hour, _ = tokens[at].number or (None, "")
    minute = tokens[at + 2].text
    if hour not in _HOURS_OF_DAY or not _MINUTES.fullmatch(minute) or find_units(tokens[at + 3].text):
        return None
    return _Time(int(hour or 0), int(minute), 0, False, "", 2, True, at + 3)


def _is_clock_time(tokens: list[Token], at: int, match: re.Match[str], zoned: bool, spoken: bool) -> bool:
    """A colon makes a time; a full stop does between a time word and no unit ("at 12.30"), an hour what follows it."""
    sign = match[2]
    if sign is not None and sign in ":hH":
        return True
    if sign == ".":
        return zoned or spoken or (tokens[at - 1].lower in _AT and not _is_amount_unit(tokens, at + 1))
    if match[6] or tokens[at + 1].lower in _HALVES:
        return True
    if tokens[at + 1].lower in ("uhr", "o"):
        return tokens[at + 1].lower == "uhr" or tokens[at + 3].lower == "clock"
    return _is_clock_range(tokens, at)


def _is_amount_unit(tokens: list[Token], at: int) -> bool:
    """Say whether what follows makes an amount of a number with a full stop."""
    text = tokens[at].text
    return text in {"%", "€", "$", "£"} or (text.isalpha() and text.lower() not in FUNCTION_WORDS)


def _is_clock_range(tokens: list[Token], at: int) -> bool:
    """Say whether a bare hour is one end of a range whose other end is a time: "2 to 4 pm"."""
    other = find_number_range_end(tokens, at, at + 1)
    if other is None:
        return False
    match = _CLOCK.fullmatch(tokens[other].text) if tokens[other].text[:1] in _DIGITS else None
    return match is not None and bool(match[6] or match[2] == ":" or tokens[other + 1].lower in _HALVES)


def _skip_hour_word(tokens: list[Token], at: int) -> int:
    if tokens[at].lower in ("uhr", "hrs"):
        return at + 1
    return at + 3 if tokens[at].lower == "o" and tokens[at + 2].lower == "clock" else at


def _read_clock_zone(tokens: list[Token], at: int) -> tuple[str, tuple[int, ...], int]:
    """Read a zone: "UTC", "(PST)", "GMT+2", "+02:00", "Pacific Standard Time", "Eastern time"."""
    bracket = tokens[at].text == "("
    start = at + bracket
    token = tokens[start]
    if token.text in ("+", "-", "−") and (not token.leads or ":" in tokens[start + 1].text):
        minutes, end = _read_clock_zone_offset(tokens, start)
        return (f"{minutes:+}", (minutes,), end) if minutes is not None else ("", (), at)
    name, end = _read_clock_zone_name(tokens, start)
    if not name:
        return "", (), at
    ahead = _index_zone_names()[name]
    if ahead == (0,) and tokens[end].text in ("+", "-", "−", "–"):
        minutes, behind = _read_clock_zone_offset(tokens, end)
        if minutes is not None:
            name, ahead, end = f"{minutes:+}", (minutes,), behind
    return name, ahead, end + (bracket and tokens[end].text == ")")


def _read_clock_zone_name(tokens: list[Token], at: int) -> tuple[str, int]:
    if not tokens[at].text.isalpha():
        return "", at
    if tokens[at].text in _index_zone_names():
        return tokens[at].text, at + 1
    if tokens[at].lower not in _list_zone_first_words():
        return "", at
    for length in range(_ZONE_WORDS, 0, -1):
        name = " ".join(token.lower for token in tokens[at : at + length])
        if name in _index_zone_names():
            return name, at + length
    return "", at


def _read_clock_zone_offset(tokens: list[Token], at: int) -> tuple[int | None, int]:
    match = _OFFSET.fullmatch(tokens[at + 1].text)
    if match is None:
        return None, at
    minutes = int(match[1]) * 60 + int(match[2] or 0)
    if minutes > 14 * 60:
        return None, at
    return (minutes if tokens[at].text == "+" else -minutes), at + 2


@cache
def _list_zone_first_words() -> frozenset[str]:
    """First words of names in lower case, by which names of several words are looked up."""
    return frozenset(name.partition(" ")[0] for name in _index_zone_names())


@cache
def _index_zone_names() -> dict[str, tuple[int, ...]]:
    names = {name: ahead for name, ahead in load_time_zones().items() if len(name) > 1}
    names |= {short: names[name] for short, name in _GENERIC.items()}
    return names | {name.lower().title(): ahead for name, ahead in names.items() if " " in name}
