"""Dates and times of day among the tokens of a text: days, months, decades and quarters, clocks, zones, and spans.

"Monday to Friday" is "on weekdays", and "open from 9 to 17" is 9 am to 5 pm. Both ends of a span say what the whole
says, so that "Monday" of "Monday to Friday" is supported where a source says "weekdays", and no other Monday is. Bare
numbers are hours where words of opening times stand beside them.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from typing import Final, NamedTuple, TypeAlias

from guardgraph.guards.facts.tokens import Token, find_number_range_end
from guardgraph.guards.facts.values import YEARS, Amount, Clock, Date, DaySpan, Decade, Label, Value, Weekday
from guardgraph.guards.facts.words import (
    FIRST,
    FUNCTION_WORDS,
    HOLIDAY_OPENINGS,
    HOLIDAYS,
    ORDINALS,
    SMALL,
    SPOKEN_DAYS,
    find_units,
)
from guardgraph.guards.languages.tables import LANGUAGES, load_month_names, load_time_zones, load_weekday_names

_WEEKEND: Final = DaySpan(6, 7)

_JOINING_DAYS: Final = frozenset({"-", "–", "—", "‒", "to", "through", "thru", "till", "until"})
_ADDING: Final = frozenset({"and", "&", "/", "or"})
_JOINING_HOURS: Final = frozenset({"-", "–", "—", "‒", "to", "till", "until"})

_OPENING: Final = frozenset(
    {"open", "opens", "opening", "hours", "available", "availability", "staffed", "reachable", "reached"}
    | {"uhr", "geöffnet", "öffnungszeiten", "sprechzeiten", "erreichbar", "abierto", "abierta", "ouvert", "ouverte"}
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


_DATE = re.compile(
    r"(?P<y>\d{4})(?:([-/.])(?P<m>\d\d?)\2(?P<d>\d\d?)|[-/](?P<month>\d\d))"
    r"|(?P<one>\d\d?)(?:(?P<sign>[-/.])(?P<two>\d\d?)(?P=sign)(?P<year>\d{4})|/(?P<other>\d\d?)/(?P<short>\d\d))"
)
_DAY = re.compile(r"(\d\d?)(?:st|nd|rd|th|er|º|ª)?")
_YEAR = re.compile(r"[12]\d{3}")
_DECADE = re.compile(r"((?:[12]\d)?\d0)(s?)")
_TEENS: Final = "tens twenties thirties forties fifties sixties seventies eighties nineties"
_DECADES: Final = {word: number for number, word in enumerate(_TEENS.split(), start=1) if number > 1}
"""Decades by their names."""

# How long the texts can be that the patterns match: most numbers need not be tried.
_DATE_CHARS: Final = range(6, 11)
_DAY_CHARS: Final = range(1, 5)

_BEFORE_TIME: Final = "in since until till by from of to before after during around circa early late mid"
_BEFORE_MONTH: Final = "im seit bis ab ende anfang mitte en de del desde hasta à au depuis fin début in a da em di do"
_TIME_WORDS: Final = frozenset(_BEFORE_TIME.split())
"""Words before a year or a month."""

_TIME_WORDS_ABROAD: Final = frozenset(_BEFORE_MONTH.split())
"""Words before a month in languages that write it with Latin letters."""

_TIME_WORDS_OF_MONTHS: Final = _TIME_WORDS - {"to", "of"}
"""Those that a verb does not follow: "to march", "of march"."""

_TELLING_TOKENS: Final = 12
_FEWEST_TOKENS: Final = 4
"""Tokens on each side, and at least, that tell whether a text has capitals at all."""

_VERBS: Final = frozenset({"may", "march", "mar"})
"""English words that are a month only with a capital, and beside a day or a year."""

_Moment: TypeAlias = tuple[tuple[Value, ...], int]
"""What it can mean, and the index of the token behind it."""


@cache
def _index_date_months() -> dict[str, int]:
    """Every month by its names in all languages, without the short names that are other words in one of them."""
    names: dict[str, int] = {}
    clashing = set()
    for language in LANGUAGES:
        longest: dict[int, int] = {}
        for name, number in load_month_names(language).items():
            longest[number] = max(longest.get(number, 0), len(name))
        for name, number in load_month_names(language).items():
            if len(name) < 4 and name.isascii() and len(name) < longest[number] and language != "en":
                continue
            if names.setdefault(name, number) != number:
                clashing.add(name)
    return {name: number for name, number in names.items() if name in load_month_names("en") or name not in clashing}


@cache
def _index_date_weekdays() -> dict[str, int]:
    """Every day of the week by its full names in all languages."""
    names: dict[str, int] = {f"{name}.": day for name, day in load_weekday_names("en").items() if len(name) < 5}
    for language in LANGUAGES:
        names |= {
            name: day for name, day in load_weekday_names(language).items() if len(name) > 4 or not name.isascii()
        }
    return names | {name: day for name, day in load_weekday_names("en").items() if len(name) > 4}


def _read_holiday(tokens: list[Token], at: int) -> _Moment | None:
    """Read "Christmas Day" and "New Year's Day", which are dates."""
    words, end = list[str](), at
    while len(words) < _HOLIDAY_WORDS:
        words.append(tokens[end].lower)
        end += 1
        day = HOLIDAYS.get(tuple(words))
        if day is not None:
            return _complete_date_year(tokens, *day, end)
        if tokens[end].text == "." and len(words) == 1:  # "St. Stephen's Day"
            end += 1
        if tokens[end].text in _APOSTROPHES:  # "New Year's Eve", "All Saints' Day"
            end += 2 if tokens[end + 1].lower == "s" else 1
    return None


_HOLIDAY_WORDS: Final = max(map(len, HOLIDAYS))
_APOSTROPHES: Final = frozenset("'’ʼ")


def begins_date_fact(text: str) -> bool:
    """Say whether a date, a month, a weekday or a holiday can begin with a token of this text."""
    word = text.lower()
    if word in HOLIDAY_OPENINGS:
        return True
    weekdays_named = _index_date_weekdays()
    named = word in _index_date_months() or word in weekdays_named or f"{word}." in weekdays_named
    return named or text[:1].isdecimal() or word in FIRST or word in ORDINALS


def read_date_fact(tokens: list[Token], at: int) -> _Moment | None:
    """Read a date, a month, a weekday or a holiday that begins at a token."""
    token, end = tokens[at], at + 1
    if token.lower in HOLIDAY_OPENINGS and (holiday := _read_holiday(tokens, at)):
        return holiday
    if len(token.text) in _DATE_CHARS and (match := _DATE.fullmatch(token.text)):
        readings = tuple(Date(*date) for date in sorted(_list_numeric_dates(match), key=str))
        return (readings, end) if readings else None
    name = f"{token.lower}." if tokens[end].text == "." and not tokens[end].leads else token.lower
    weekdays_named = _index_date_weekdays()
    day = weekdays_named.get(name) if is_short_day(tokens, at) else None
    day = day or weekdays_named.get(token.lower) or read_short_weekday(tokens, at)
    if day and (not token.text.islower() or token.lower in load_weekday_names("en")):
        beside = end + (tokens[end].text == ",")
        dated = (
            tokens[end].text != ""
            and (_read_day_first_date(tokens, beside) or _read_month_first_date(tokens, beside)) is not None
        )
        return (Weekday(day, dated),), end
    return _read_day_first_date(tokens, at) or _read_month_first_date(tokens, at)


def _read_day_first_date(tokens: list[Token], at: int) -> _Moment | None:
    """Read "6 March 2026", "the 6th of March", "the fifth of July"."""
    day, end = _read_date_day(tokens[at]), at + 1
    if day is None and tokens[end].lower == "of":
        day = FIRST.get(tokens[at].lower)
    if day is None:
        return None
    end += tokens[end].text == "." and tokens[at].text.isdecimal()
    end += tokens[end].lower in ("of", "de")
    if tokens[end].text in _VERBS and _is_said_of_number(tokens, at, end):
        return None
    # "6 march 2026" and "on 6 march ." are days, and "the 6 march home" is none.
    dated = end > at + 1 or _read_date_year(tokens, end + 1)[0] is not None or _ends_phrase(tokens, end + 1)
    month, end = _read_date_month(tokens, end, dated=dated)
    return _complete_date_year(tokens, month, day, end) if month else None


_VERB_FOLLOWERS: Final = frozenset({"not", "be", "have", "also", "only", "still", "never", "need", "get", "no"})
_OF_AGES: Final = frozenset({"under", "over", "below", "above", "aged", "age", "than", "type", "least", "most"})


def _is_said_of_number(tokens: list[Token], at: int, end: int) -> bool:
    """Say whether "may" or "march" in lower case is a verb: "persons under 18 may not enter", "type 2 may be"."""
    is_dated = _read_date_year(tokens, end + 1)[0] is not None
    return not is_dated and (tokens[end + 1].lower in _VERB_FOLLOWERS or tokens[at - 1].lower in _OF_AGES)


def _ends_phrase(tokens: list[Token], at: int) -> bool:
    """Say whether no noun follows, which a number before would count: "on may 30 ." and not "they may 30 times"."""
    return not tokens[at].text.isalpha() or tokens[at].lower in FUNCTION_WORDS


def _read_month_first_date(tokens: list[Token], at: int) -> _Moment | None:
    """Read "March 6, 2026", "March 2026", "in March"."""
    following = tokens[at + 1]
    beside = following.text[:1].isdecimal() and not following.glued and _ends_phrase(tokens, at + 2)
    month, end = _read_date_month(
        tokens, at, dated=(beside and _read_date_day(following) is not None) or _is_lowercase_month(tokens, at)
    )
    if month is None:
        return None
    the = tokens[end].lower == "the"
    day = _read_date_day(tokens[end + the]) or (FIRST.get(tokens[end + the].lower) if the else None)
    if day and not _is_number_with_unit(tokens, end + the):
        return _complete_date_year(tokens, month, day, end + the + 1)
    year, behind = _read_date_year(tokens, end)
    if year is not None:
        return (Date(year, month),), behind
    return ((Date(None, month),), end) if _is_month_without_day(tokens, at) else None


def _is_number_with_unit(tokens: list[Token], at: int) -> bool:
    """Say whether a number behind a month measures something: "in March 15 minutes were lost"."""
    return tokens[at].text.isdecimal() and bool(find_units(tokens[at + 1].text))


def _is_month_without_day(tokens: list[Token], at: int) -> bool:
    text, before = tokens[at].text, tokens[at - 1].lower
    if tokens[at + 1].text == "." and text.istitle() and len(text) < 5 and text != "Mar":
        return True
    if len(text) < 4 and text.isascii() and text != "May":
        return text.lower() not in _list_english_months() and before in _TIME_WORDS_ABROAD
    if text.islower() and text in _VERBS:
        return _is_lowercase_month(tokens, at)
    if text.lower() in _VERBS:
        return text.istitle() and (text != "May" or before in _TIME_WORDS or before in ("last", "next", "this"))
    if text.lower() in _list_english_months():
        return not text.islower() or before in _TIME_WORDS
    return not text.isascii() or before in _TIME_WORDS_ABROAD


def _is_lowercase_month(tokens: list[Token], at: int) -> bool:
    """Say whether a word that is mostly a verb is a month: behind a word of time, in a sentence without a capital."""
    if tokens[at - 1].lower not in _TIME_WORDS_OF_MONTHS or tokens[at].lower == "mar":
        return False
    around = tokens[max(at - _TELLING_TOKENS, 0) : at + _TELLING_TOKENS]
    return (
        all(token.text == token.lower for token in around)
        and sum(token.text != "" for token in around) >= _FEWEST_TOKENS
    )


@cache
def _list_english_months() -> frozenset[str]:
    return frozenset(load_month_names("en"))


def _complete_date_year(tokens: list[Token], month: int, day: int, end: int) -> _Moment:
    year, behind = _read_date_year(tokens, end)
    return (Date(year, month, day),), end if year is None else behind


def _read_date_year(tokens: list[Token], at: int) -> tuple[int | None, int]:
    for between in (1, 0):
        if between and tokens[at].lower not in (",", "of", "de", "del"):
            continue
        if _YEAR.fullmatch(text := tokens[at + between].text):
            return int(text), at + between + 1
    return None, at


def _list_numeric_dates(match: re.Match[str]) -> set[tuple[int, int | None, int | None]]:
    if match["y"]:
        day = int(match["d"]) if match["d"] else None
        dates: set[tuple[int, int | None, int | None]] = {(int(match["y"]), int(match["m"] or match["month"]), day)}
        if match["month"] and match["month"] > match["y"][2:]:
            dates.add((int(match["y"][:2] + match["month"]), None, None))  # "1910-12" ends in 1912
    else:
        one, other, year = int(match["one"]), int(match["two"] or match["other"]), int(match["year"] or match["short"])
        # POSIX strptime %y: 69 to 99 are of the last century.
        year += 0 if match["year"] else 1900 if year >= 69 else 2000
        dates = {(year, one, other), (year, other, one)}
    return {date for date in dates if 1 <= (date[1] or 1) <= 12 and 1 <= (1 if date[2] is None else date[2]) <= 31}


def _read_date_day(token: Token) -> int | None:
    text = token.text
    if text.isalpha():
        return ORDINALS.get(token.lower) or FIRST.get(token.lower)
    match = _DAY.fullmatch(token.lower) if len(text) in _DAY_CHARS else None
    return day if match and 1 <= (day := int(match[1])) <= 31 else None


def _read_date_month(tokens: list[Token], at: int, *, dated: bool = False) -> tuple[int | None, int]:
    month = _index_date_months().get(tokens[at].lower)
    if month is None or (tokens[at].text in _VERBS and not dated):
        return None, at
    return month, at + 1 + (tokens[at + 1].text == "." and len(tokens[at].text) < 6)


def read_year_number(tokens: list[Token], at: int) -> int | None:
    """Return the year that a token can be."""
    text = tokens[at].text
    return int(text) if len(text) == 4 and text.isdecimal() and int(text) in YEARS else None


def is_year_number(tokens: list[Token], at: int) -> bool:
    """Say whether a word before a number makes it a year: "in 2026", "since 2026"."""
    return tokens[at - 1].lower in _TIME_WORDS


def begins_period_fact(text: str) -> bool:
    """Say whether a part of a year can begin with a token of this text."""
    return len(text) == 2 and text[0] in "QH" and text[1] in "1234"


def read_period_fact(tokens: list[Token], at: int) -> _Moment | None:
    """Read a quarter ("Q3"), or a half where its year stands beside it ("H1" alone is a heading)."""
    text, following = tokens[at].text, tokens[at + 1].text
    if not begins_period_fact(text):
        return None
    years = (tokens[at - 1].text, tokens[at + 2].text if following == "of" else following)
    if text[0] == "H" and not any(_YEAR.fullmatch(year) for year in years):
        return None
    return (Label("quarter" if text[0] == "Q" else "half", text[1], int(text[1])),), at + 1


def begins_decade_fact(text: str) -> bool:
    """Say whether ten years can begin with a token of this text."""
    return text.lower() in _DECADES or (text[:1].isdecimal() and text[-1] in "0s")


def read_decade_fact(tokens: list[Token], at: int) -> _Moment | None:
    """Read "the 1990s", "the '90s", "the 1990 's", "the nineties"."""
    text = tokens[at].text
    if (named := _DECADES.get(tokens[at].lower)) is not None:
        return (Decade(named, short=True),), at + 1
    match = _DECADE.fullmatch(text)
    if match is None:
        return None
    number = int(match[1])
    decade = Decade(number // 10, short=number < 100)
    if match[2]:
        return (decade,), at + 1
    if tokens[at + 1].text in ("'", "’") and tokens[at + 2].text == "s":
        return (decade,), at + 3
    return None


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
_PARTS_OF_DAY: Final = {"morning": "am", "afternoon": "pm", "evening": "pm"}
_EVENING: Final = range(6, 12)
"""Hours at night that are before midnight."""
_ENDING_HOUR: Final = _HALVES | {"uhr"}
_HOURS_ABROAD: Final = frozenset({"heures", "heure", "horas", "hora", "часов", "часа", "час"})
"""Words between an hour and its part of the day: "8 heures du soir"."""
_HOURS: Final = frozenset({"uhr", "o'clock", "hrs", "h"})
_BEFORE: Final = "at by until till before after um gegen à vers las los о в"
_AT: Final = frozenset(_BEFORE.split())
"""Words before a time of day."""
_AT_HOUR: Final = _AT | {
    "around",
    "about",
    "from",
    "since",
    "a",
    "alle",
    "dalle",
    "às",
    "as",
    "ab",
    "de",
    "desde",
    "du",
}
"""Words before an hour alone that its part of the day makes a time: "at two in the morning"."""

_GENERIC: Final = {"ET": "eastern time", "CT": "central time", "MT": "mountain time", "PT": "pacific time"}
"""Abbreviations of names that leave open whether summer time holds."""

_CLOCK_CHARS: Final = range(1, 9)
_ZONE_WORDS: Final = 4
_DIGITS: Final = frozenset("0123456789")


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
    whole = time.whole or (end.whole and not half)
    return time._replace(half=half, zone=time.zone or end.zone, ahead=time.ahead or end.ahead, whole=whole)


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
    if not half:
        said, behind = _read_half(tokens, end + (tokens[end].word.lower() in _HOURS_ABROAD), int(match[1]))
        half, end = (said, behind) if said else ("", end)
    zone, ahead, end = ("Z", (0,), end) if match[7] else _read_clock_zone(tokens, end)
    spoken = tokens[end].lower in _HOURS or tokens[end].lower == "o" or bool(match[5])
    hour, minute, second = (int(digits or 0) for digits in match.group(1, 3, 4))
    if not _is_clock_time(tokens, at, match, half, bool(zone) or spoken) or not _is_valid_clock_time(
        hour, minute, second, half
    ):
        return None
    is_whole = not half and (match[2] in ("h", "H") or tokens[end].lower == "uhr")
    end = _skip_hour_word(tokens, end)
    if not half:
        half, end = _read_half(tokens, end, hour)
        is_whole = is_whole and not half
    return _Time(hour, minute, second, match[4] is not None, half, len(match[1]), is_whole, end, zone, ahead)


def _is_hour_word(tokens: list[Token], at: int) -> bool:
    """Say whether an hour alone can stand behind a token: "at 2", "to 2" but for "up to 2", "it is 2"."""
    word, before = tokens[at].lower, tokens[at - 1].lower
    if word == "to":
        return before != "up"
    return word in _AT_HOUR or tokens[at].word.lower() in _AT_HOUR or (word in ("is", "was") and before == "it")


def _read_half(tokens: list[Token], at: int, hour: int) -> tuple[str, int]:
    """Read which half of the day an hour is of: "pm", "in the afternoon", "at night"; none where 13 and more say it."""
    word, following = tokens[at].lower, tokens[at + 1].lower
    if word in _HALVES:
        return word, at + 1
    if word == "in" and following == "the" and tokens[at + 2].lower in _PARTS_OF_DAY:
        half, end = _PARTS_OF_DAY[tokens[at + 2].lower], at + 3
    elif (word, following) == ("at", "night"):
        half, end = "pm" if hour in _EVENING else "am", at + 2
    else:
        return "", at
    return (half, end) if hour in _OF_THE_CLOCK else ("", end)


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
    elif tokens[at].number or not (
        (following == "o" and tokens[at + 3].lower == "clock")
        or (_is_hour_word(tokens, at - 1) and _read_half(tokens, at + 1, 1)[0])
    ):
        return None
    said = tokens[end].number
    hour = said[0] if said and not said[1] else SMALL.get(tokens[end].lower, 0)
    if not isinstance(hour, int) or hour not in _OF_THE_CLOCK:
        return None
    end = _skip_hour_word(tokens, end + 1)
    half, end = _read_half(tokens, end, hour)
    zone, ahead, end = _read_clock_zone(tokens, end)
    return _Time(hour, minute, 0, False, half, 1, False, end, zone, ahead)


def _read_parted_clock(tokens: list[Token], at: int) -> _Time | None:
    """Read "12 h 30", which is no "12 h 30 min"."""
    hour, _ = tokens[at].number or (None, "")
    minute = tokens[at + 2].text
    if hour not in _HOURS_OF_DAY or not _MINUTES.fullmatch(minute) or find_units(tokens[at + 3].text):
        return None
    return _Time(int(hour or 0), int(minute), 0, False, "", 2, True, at + 3)


def _is_clock_time(tokens: list[Token], at: int, match: re.Match[str], half: str, beside: bool) -> bool:
    """A colon makes a time; a full stop does between a time word and no unit ("at 12.30"), an hour what follows it."""
    sign = match[2]
    if sign is not None and sign in ":hH":
        return True
    if sign == ".":
        return half != "" or beside or (tokens[at - 1].lower in _AT and not _is_amount_unit(tokens, at + 1))
    if match[6] or tokens[at + 1].lower in _HALVES or (half and _is_hour_word(tokens, at - 1)):
        return True
    if tokens[at + 1].lower in ("uhr", "o"):
        return tokens[at + 1].lower == "uhr" or tokens[at + 3].lower == "clock"
    return _is_clock_range(tokens, at)


def _is_amount_unit(tokens: list[Token], at: int) -> bool:
    """Say whether what follows makes an amount of a number with a full stop."""
    text = tokens[at].text
    return (text != "" and text[0] in _AMOUNT_SIGNS) or (
        text.isalpha() and text.lower() not in FUNCTION_WORDS - _AMOUNT_WORDS
    )


_AMOUNT_SIGNS: Final = frozenset("%‰€$£¥°º")
_AMOUNT_WORDS: Final = frozenset({"per", "times"})
"""What follows a number with a full stop that is no time of day: "by 0.42 °C", "by 3.10 per cent"."""


def _is_clock_range(tokens: list[Token], at: int) -> bool:
    """Say whether a bare hour is one end of a range whose other end is a time: "2 to 4 pm"."""
    other = find_number_range_end(tokens, at, at + 1)
    if other is None:
        return False
    match = _CLOCK.fullmatch(tokens[other].text) if tokens[other].text[:1] in _DIGITS else None
    return match is not None and bool(match[6] or match[2] == ":" or tokens[other + 1].lower in _ENDING_HOUR)


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
