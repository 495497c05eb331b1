"""Dates, weekdays, decades and quarters among the tokens of a text."""

from __future__ import annotations

import re
from functools import cache
from typing import Final, TypeAlias

from guardgraph.guards.facts.grammar import FUNCTION_WORDS
from guardgraph.guards.facts.moments import YEARS, Date, Decade, Weekday
from guardgraph.guards.facts.tokens import Token
from guardgraph.guards.facts.units import FIRST, ORDINALS, find_units
from guardgraph.guards.facts.values import Label, Value
from guardgraph.languages.tables import LANGUAGES, load_month_names, load_weekday_names

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


def begins_date_fact(text: str) -> bool:
    """Say whether a date, a month or a weekday can begin with a token of this text."""
    word = text.lower()
    weekdays_named = _index_date_weekdays()
    named = word in _index_date_months() or word in weekdays_named or f"{word}." in weekdays_named
    return named or text[:1].isdecimal() or word in FIRST or word in ORDINALS


def read_date_fact(tokens: list[Token], at: int) -> _Moment | None:
    """Read a date, a month or a weekday that begins at a token."""
    token, end = tokens[at], at + 1
    if len(token.text) in _DATE_CHARS and (match := _DATE.fullmatch(token.text)):
        readings = tuple(Date(*date) for date in sorted(_list_numeric_dates(match), key=str))
        return (readings, end) if readings else None
    name = f"{token.lower}." if tokens[end].text == "." and not tokens[end].leads else token.lower
    day = _index_date_weekdays().get(name) or _index_date_weekdays().get(token.lower)
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
    # "6 march 2026" and "on 6 march ." are days, and "the 6 march home" is none.
    dated = end > at + 1 or _read_date_year(tokens, end + 1)[0] is not None or _ends_phrase(tokens, end + 1)
    month, end = _read_date_month(tokens, end, dated=dated)
    return _complete_date_year(tokens, month, day, end) if month else None


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
