"""One scanner that reads the values of a text, by the tables of its language."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from itertools import accumulate
from string import ascii_letters
from typing import Any, Final, NamedTuple

from guardgraph.grounding.languages import LANGUAGES, list_hand_words, load_hand_table, load_made_table, load_names
from guardgraph.grounding.values import SIGNED_UNIT, YEAR, Value
from guardgraph.grounding.words import DEFAULT_LANGUAGE, detect_language, load_joining_words, stem
from guardgraph.plain.letters import is_unspaced_letter
from guardgraph.plain.memory import remember_by_text

_Date = tuple[int, int, int, int]

_MASKED: Final = {
    "://": re.compile(r"https?://\S+"),
    "www.": re.compile(r"www\.\S+"),
    "@": re.compile(r"[^\s@]{1,64}@[^\s@]+\.\w+"),
    "[": re.compile(r"\[\d{1,3}(?:, ?\d{1,3})*\]"),
}
"""What says nothing in numbers, by a sign that it has: addresses, and marks that cite."""
_ITEM: Final = re.compile(r"[ \t]*(?:[-*•][ \t]+)?\(?\d{1,2}[.)][ \t]+")
"""The number of an item, where a line begins."""
_ODD_BLANK: Final = re.compile(r"[\t\v\f\x1c-\x1f]")  # of ASCII characters, those that are read as another one
_DIGIT: Final = re.compile(r"\d(?<!\d\d)")
_LETTERS: Final = frozenset(ascii_letters)
_UNSPACED: Final = "\u0e00"  # before the letters of scripts without blanks between words
_DIGITS: Final = re.compile(
    r"(?<![\w.,])(?<!\d[-:/])\d{1,3}(?:(?P<sep>[ ,.']| , )\d{3})(?:(?P=sep)\d{3})*(?:[.,]\d+)?(?!\d|[.,]\d)"
    r"|\d{1,3}(?:,\d\d)+,\d{3}(?!\d)"
    r"|(?<![A-Za-z_\d])\d+(?:[.,]\d+)?(?!\d)|(?<![\w.,])\.\d+(?!\d)"
)
"""Digits with groups of three, of two and three as in India, or with one sign between."""
_LABEL: Final = re.compile(
    r"(?<![\w.$€£])(?:[A-Z][A-Za-z]*-?\d[\w-]*|v\d[\w.]*\w|\d+(?:\.\d+){2,}|\d+[A-Z](?!\w)|\d+(?:-\d+){2,}"
    r"|[A-Z]{2,}(?:-\d+)+)(?:\.\d+)*(?!\w)"
)
_TIME: Final = (
    r"(?<![\w.:$€£])(\d{1,2})(?:(?::|(?=\.\d\d ?[apAP]\.?[mM])\.|h(?=\d))(\d\d)(?::\d\d)?)?"
    r"(?: ?([apAP])\.?[mM]\b\.?)?( ?(?:HOUR)(?!\w))?(?: ?(UTC|GMT|Z|[A-Z]{1,3}T)\b)?"
)
"""With the words of a language behind an hour."""
_UTC: Final = {"GMT": "UTC", "Z": "UTC"}
_NUMERIC_DATE: Final = re.compile(
    rf"(?<![\w/.-])(?:({YEAR})[-/](\d\d?)[-/](\d\d?)|(\d\d?)[./-](\d\d?)[./-]({YEAR}))(?!\d)"
)
_ISO_TIME: Final = re.compile(
    r"(?:(?<=T)|(?<= )(?=\d\d:\d\d:\d))(\d\d):(\d\d)(?::\d\d(?:[.,]\d+)?)?"
    r"(?: ?([apAP])\.?[mM]\b\.?)?(?: ?(UTC|GMT|Z|[A-Z]{1,3}T|[+-]\d\d:?\d\d)\b|([+-]\d\d)\b)?(?![\w:])"
)
"""What stands behind the date where a program writes both; a zone is a name or its distance from UTC."""
_SIGNED_DATE: Final = re.compile(rf"({YEAR}) ?[年년] ?(?:(\d\d?) ?[月월] ?(?:(\d\d?) ?[日号일])?)?")
_QUARTER: Final = re.compile(
    rf"(?<!\w)(?:Q(?P<q>[1-4])|(?P<q2>[1-4])Q|(?P<y2>{YEAR})[ -]?Q(?P<q3>[1-4]))"
    rf"(?:[ -]?'?(?P<y>{YEAR}|\d\d)(?!\d))?(?!\w)"
)
_FISCAL: Final = re.compile(rf"(?<!\w)FY[ -]?'?({YEAR}|\d\d)(?!\w)")
_DECADE: Final = re.compile(r"(?<!\w)'?((?:1\d|20)?\d0)'?s\b")
_SHORT_RANGE: Final = re.compile(r"(?<![\w.,-])((?:1[5-9]|20)\d)(\d) ?--? ?(\d)?(\d)(?![\w-]|[.,]\d)")
_SCORE: Final = re.compile(r"(?<![\w.,/$€£-])(\d{1,3}) ?- ?(\d{1,3})(?![\w/%-]|[.,]\d| ?[%°])")
_FRACTION: Final = re.compile(r"(?<![\w.,/$])([1-9])/([2-9]|10)(?![\w/])")
_CURRENCY_BEFORE: Final = re.compile(r"(?:(?:(?<![A-Za-z])([A-Z]{1,3}) ?)?([$€£¥₹₩₪])|\b([A-Z]{3})) ?\(?$")
_WORD: Final = re.compile(r"[^\W\d_]+")
_WORDS: Final = re.compile(r"([^\W\d_]++)")
_ASCII_WORDS: Final = re.compile(r"([a-z]++)")  # the same in a text of small ASCII letters alone
_AFTER: Final = re.compile(r"\)?[ -]?([^\W\d_]+|[%‰°$€£¥₹₩][A-Za-z]?)")
_MIXED_SIGNS: Final = {"½": 0.5, "¼": 0.25, "¾": 0.75, "⅓": 1 / 3, "⅔": 2 / 3}
_NOUN: Final = re.compile(r"[ -]([^\W\d_]+)|(\S)")
_NOUN_BEFORE: Final = re.compile(r"([^\W\d_]{2,}) $")
_CLAUSE_END: Final = re.compile(r"[\d,;:.()]")
_MARK_WORD: Final = re.compile(r"[^\W\d_]+|[~≈<>≤≥]")
_MOST_UNIT_WORDS: Final = 3
_MOST_UNIT_LETTERS: Final = 12  # of a unit in a script without blanks
_MOST_NUMBER_WORDS: Final = 6
_LOOKBACK: Final = 30
_TURNED: Final = {"more": "less", "less": "more"}
"""What a bound is behind a negation: "not more than", "must not weigh less than"."""
_NEAR_NEGATION: Final = 2
"""Words before a bound of which one may deny it; one farther off says what is not: "not paid for over 6 days"."""
_BEFORE_LETTER: Final = re.compile(rf"\d(?<!\b{YEAR})")
"""The last digit before a letter that may be a unit; behind a year it begins a name."""
_NOUN_WINDOW: Final = 60
_NAME_END: Final = r"(?:\b|(?!\w))"
"""Behind a letter, or behind a mark that belongs to one, as vowels of Thai and Hindi do."""
_QUARTERS: Final = 20  # what stands before the number of a quarter where a date has its month


class _SameLength(dict[int, str | int]):
    """What each character is read as: one character, so that places stay."""

    def __missing__(self, code: int) -> str | int:
        letter = chr(code)
        if letter in "–—−‑‒―﹣－":
            read = "-"
        elif letter in "’‘ʼ＇":
            read = "'"
        elif letter.isspace() and letter not in "\n\r":
            read = " "
        elif letter == "İ":  # a capital that no pattern takes for i
            read = "I"
        elif letter == "µ":  # a sign of its own for micro, in older fonts
            read = "μ"
        elif letter.isdecimal() or "₀" <= letter <= "₉":
            read = str(int(letter)) if letter.isdecimal() else chr(code - 0x2080 + 48)
        else:
            read = "%" if letter == "％" else letter
        self[code] = read
        return read


_SAME_LENGTH: Final = _SameLength()


class _Number(NamedTuple):
    """A number where it stands in a text."""

    start: int
    end: int
    amount: float
    step: float
    ordinal: bool = False
    implied: bool = False


def _list_first_words(names: Iterable[str]) -> frozenset[str]:
    return frozenset(match[0].lower() for match in map(_WORD.match, names) if match)


def _list_lowered_forms(name: str) -> set[str]:
    """Return what a name, and a name in capitals, becomes in small letters: the capital of ı is that of i."""
    return {name, name.upper().lower()}


def _count_minutes(hour: str, minute: str | None, half: str | None) -> float:
    """Return the minutes since midnight of a time of day, with the half of the day that is said: "p" of pm."""
    hours = int(hour) if not half else int(hour) % 12 + (12 if half in "pP" else 0)
    return float(hours % 24 * 60 + int(minute or 0))


class _Scanner:
    """Reads the texts of a language."""

    def __init__(self, language: str) -> None:
        self.language = language
        self.decimal = load_made_table(language).get("decimal", ".")
        left_out = list_hand_words(language, "no_units")
        self.units = {name: unit for name, unit in load_names(language, "units").items() if name not in left_out}
        self.units |= load_hand_table(language).get("units", {})
        self.symbols = load_made_table(DEFAULT_LANGUAGE)["symbols"]
        self.currencies = load_names(language, "currencies")
        self.percent, self.points = (list_hand_words(language, key) for key in ("percent", "points"))
        self.unit_words = _list_first_words((*self.units, *self.symbols, *self.currencies, *self.percent))
        short = {name: size for name, size in load_names(DEFAULT_LANGUAGE, "scales").items() if len(name) < 3}
        self.scales = {**short, **load_names(language, "scales")}
        self.joining = load_joining_words(language)
        self.marks = {kind: list_hand_words(language, kind) for kind in ("about", "more", "less")}
        self.marking = frozenset().union(*self.marks.values())
        self.articles, self.joins = (list_hand_words(language, key) for key in ("articles", "joins"))
        self.no_labels = {stem(word, language) for word in self.joining | list_hand_words(language, "frame_words")}
        self.denying = list_hand_words(language, "negating") - list_hand_words(language, "conditions")
        hand = load_hand_table(language)
        words = "|".join(map(re.escape, hand.get("minus", "").split())) or "(?!)"
        self.minus = re.compile(rf"(?:(?<![^\s(\[])(?<!\d\s)-|\b(?:{words}) ?)\Z", re.IGNORECASE)
        self.below_zero: tuple[str, ...] = tuple(hand.get("below_zero", ()))
        self.behind: Mapping[str, str] = hand.get("bounds_behind", {})
        self.parts: dict[str, float] = {**hand.get("mixed", {}), **_MIXED_SIGNS}
        self._compile_words()
        self.words: dict[tuple[str, ...], tuple[float, str]] = {}
        for kind, names in (
            ("share", hand.get("shares", {})),
            ("times", hand.get("times", {})),
            ("ordinal", load_names(self.language, "ordinals")),
            ("number", load_names(self.language, "numbers")),
        ):
            self.words |= {tuple(name.split()): (float(amount), kind) for name, amount in names.items()}
        self.number_words = {words[0] for words in self.words}
        self.inner_words = {word for words in self.words for word in words[1:]}
        self.first = {*self.number_words, *self.scales, *self.articles}
        self.digits: Mapping[str, int] = hand.get("digits", {})
        self.places: Mapping[str, int] = hand.get("places", {})
        endings = "|".join(map(re.escape, sorted(list_hand_words(self.language, "ordinal_endings"), key=len)))
        self.ordinal_ending = re.compile(rf"-?(?:{endings or '(?!)'})(?!\w)")
        signs = "".join(map(re.escape, (*self.digits, *self.places)))
        self.numerals = re.compile(rf"[{signs}]{{2,}}|[{signs}](?=[{''.join(self.scales)}])") if signs else None
        self._compile_dates()

    def _compile_words(self) -> None:
        """Compile what stands around numbers: hours, rates, and the parts of "one and a half" and "1½"."""

        def join(key: str) -> str:
            return (
                "|".join(map(re.escape, sorted(list_hand_words(self.language, key), key=len, reverse=True))) or "(?!)"
            )

        self.time = re.compile(_TIME.replace("HOUR", join("hour_words")))
        self.per = re.compile(rf"( ?(?:/| (?:{join('per_words')})(?!\w)))(?= ?[^\W\d_])")
        words = "|".join(sorted(load_hand_table(self.language).get("mixed", {}), key=len, reverse=True)) or "(?!)"
        joining, one = join("joins"), join("articles")
        self.mixed = re.compile(
            rf"[ -](?:{joining})[ -](?:(?:{one}|one)[ -])?({words})\b|[ -](?:(?:{joining})[ -])?([1-9])/([2-9])(?!\d)"
            rf"|([{''.join(_MIXED_SIGNS)}])"
        )

    def _compile_dates(self) -> None:
        months = {name: number for name, number in load_names(self.language, "months").items() if name}
        self.months = {form: number for name, number in months.items() for form in _list_lowered_forms(name)}
        self.month_words = _list_first_words(self.months)
        self.day_words = {
            form.replace(" ", "[- ]"): int(n)
            for name, n in load_names(self.language, "ordinals").items()
            if n <= 31
            for form in _list_lowered_forms(name)
        }
        names = "|".join(sorted(map(re.escape, self.months), key=len, reverse=True)) or "(?!)"
        days = "|".join(sorted(self.day_words, key=len, reverse=True)) or "(?!)"
        joins, of = ("|".join(sorted(list_hand_words(self.language, key))) or "(?!)" for key in ("joins", "name_joins"))
        ordinal_endings = sorted(list_hand_words(self.language, "ordinal_endings"))
        self.day_beginnings = _list_first_words(
            f"{day}{end}" for day in self.day_words for end in ("", *ordinal_endings)
        )
        endings = "|".join(map(re.escape, ordinal_endings)) or "(?!)"
        ending = rf"(?:{endings}|\.|º)?"
        day = rf"(?P<d>\d\d?(?!\d)|{days}){ending}(?:(?: ?- ?| (?:{joins}) )(?P<d2>\d\d?){ending}(?!\d))?"
        month, year = rf"(?P<m>{names}){_NAME_END}\.?", rf"(?P<y>{YEAR})(?!\d)"
        self.dates = [
            re.compile(pattern, re.IGNORECASE)
            for pattern in (
                rf"(?<!\w){day} (?:(?:{of}) )?{month}(?:,? (?:(?:{of}) )?{year})?",
                rf"\b{month} (?:the )?{day}(?![\d%]|[.,:]\d)(?:,? {year})?",
                rf"\b{month},? (?:(?:{of}) )?{year}",
            )
        ]
        also_words = list_hand_words(self.language, "month_words")
        long = [name for name in months if len(name) > 3 and name not in also_words]
        alone = "|".join(re.escape(form) for name in long for form in sorted(_list_lowered_forms(name))) or "(?!)"
        behind = "|".join(re.escape(name.capitalize()) for name in months if name in also_words) or "(?!)"
        leads = "|".join(rf"(?<=\b(?i:{lead}) )" for lead in list_hand_words(self.language, "month_leads")) or "(?!)"
        self.month = re.compile(rf"\b(?P<m>(?i:{alone})){_NAME_END}|(?:{leads})(?P<m2>{behind})\b")
        out_of = load_hand_table(self.language).get("out_of", "(?!)")
        self.share = re.compile(rf"(?<![\w.,])(\d+(?:,\d{{3}})*) (?:{out_of}) (\d+(?:,\d{{3}})*)(?![\w%]|[.,]\d)")

    def read(self, text: str) -> list[Value]:
        """Return the values of a text, in their order."""
        is_plain = text.isascii() and _ODD_BLANK.search(text) is None
        self.text = self.rest = text if is_plain else text.translate(_SAME_LENGTH)
        self.source = text
        self._find_digits()
        self._take_out_masked()
        self._find_words()
        found: list[Value] = []
        for read in (self._read_dates, self._read_times, self._read_scores, self._read_labels):
            read_values = list(read())
            found += read_values
            self._take_out((value.start, value.end) for value in read_values)
        complete: list[Value] = []
        for number in sorted([*self._read_digits(), *self._read_words()]):
            if not complete or number.start >= complete[-1].end:  # the "cent" of "5 pour cent" is none of its own
                complete.append(self._complete_number(number))
        return sorted([*found, *self._share_units(complete)], key=lambda value: value.start)

    def _find_digits(self) -> None:
        self.digits_at = [match.start() for match in _DIGIT.finditer(self.rest)]

    def _find_words(self) -> None:
        if self.rest.isascii():
            parts = _ASCII_WORDS.split(self.rest.lower())
            words = parts[1::2]
        else:  # whose lower case may be longer
            parts = _WORDS.split(self.rest)
            words = [*map(str.lower, parts[1::2])]
        ends = [*accumulate(map(len, parts))]
        self.words_at, self.said = [*zip(ends[::2], ends[1::2], words, strict=False)], {*words}

    def _take_out_masked(self) -> None:
        """Leave out addresses, marks and the numbers of items; each kind by itself, for a mail may be in an address."""
        for sign, pattern in _MASKED.items():
            if sign in self.text:
                self._take_out(match.span() for match in pattern.finditer(self.text))
        items, line = list[tuple[int, int]](), 0
        while self.digits_at and line <= self.digits_at[-1]:
            if match := _ITEM.match(self.text, line):
                items.append(match.span())
            line = self.text.find("\n", line) + 1 or len(self.text)
        self._take_out(items)

    def _match_at(self, places: Iterable[int], pattern: re.Pattern[str]) -> Iterator[re.Match[str]]:
        """Yield the matches of a pattern that begins at one of some places; at every letter it would take long."""
        end = 0
        for at in places:
            if at >= end and (match := pattern.match(self.rest, at)):
                end = match.end()
                yield match

    def _list_word_places(self, beginnings: frozenset[str]) -> list[int]:
        return [start for start, _, word in self.words_at if word in beginnings]

    def _list_digit_places(self, lead: str) -> Iterator[int]:
        """Yield where digits stand, with a sign before them and without it."""
        for at in self.digits_at:
            if self.rest[at - 1 : at] == lead:
                yield at - 1
            yield at

    def _list_label_places(self) -> Iterator[int]:
        """Yield where digits stand, with the letters before them and without."""
        for at in self.digits_at:
            first = at - 1 if self.rest[at - 1 : at] == "-" else at
            while first and self.rest[first - 1] in _LETTERS:
                first -= 1
            yield first
            yield at

    def _take_out(self, spans: Iterable[tuple[int, int]]) -> None:
        """Leave out of the rest what has been read."""
        spans = sorted({*spans})
        if not spans:
            return
        parts, at = list[str](), 0
        for start, end in spans:
            if start >= at:
                parts += [self.rest[at:start], " " * (end - start)]
                at = end
        self.rest = "".join([*parts, self.rest[at:]])
        if any(self.rest[end : end + 1].isalnum() for _, end in spans):  # what was read was the beginning of a word
            self._find_digits()
            self._find_words()

    def _make_value(
        self, kind: str, match: re.Match[str], amounts: tuple[float, ...], unit: str = "", **more: Any
    ) -> Value:
        start, end = match.span()
        return Value(kind, amounts, unit, 1.0, start, end, self.source[start:end].strip(), **more)

    def _make_date(self, match: re.Match[str], *dates: _Date) -> Value:
        return self._make_value("date", match, (0.0,), dates=dates)

    # ---- dates and times

    def _read_dates(self) -> Iterator[Value]:
        found = [*self._read_numeric_dates()]
        yield from found
        self._take_out((value.start, value.end) for value in found)
        if not self.month_words.isdisjoint(self.said):
            for pattern in self.dates:
                places = self._list_word_places(self.month_words)
                if pattern is self.dates[0]:
                    places = sorted([*self.digits_at, *self._list_word_places(self.day_beginnings)])
                found = [each for match in self._match_at(places, pattern) for each in self._read_named_date(match)]
                yield from found
                self._take_out((value.start, value.end) for value in found)
            for match in self._match_at(self._list_word_places(self.month_words), self.month):
                if month := self.months.get((match["m"] or match["m2"]).lower()):
                    yield self._make_date(match, (0, 0, month, 0))
        yield from self._read_years()

    def _read_numeric_dates(self) -> Iterator[Value]:
        for match in self._match_at(self.digits_at, _NUMERIC_DATE):
            groups = match.groups()
            year, one, two = map(int, groups[:3] if match[1] else (groups[5], groups[4], groups[3]))
            orders = ((one, two), (two, one))[: 1 if match[1] else 2]
            readings = [(year, year, month, day) for month, day in orders if 1 <= month <= 12 and 1 <= day <= 31]
            if readings:
                yield self._make_date(match, *readings)
            timed = _ISO_TIME.match(self.rest, match.end() + 1)
            if timed and int(timed[1]) <= 24:
                zone = timed[4] or timed[5] or ""
                is_utc = zone in _UTC or (zone and not zone.strip("+-:0"))
                minutes = _count_minutes(timed[1], timed[2], timed[3])
                yield self._make_value("time", timed, (minutes,), "UTC" if is_utc else zone)
        for match in _SIGNED_DATE.finditer(self.rest) if "年" in self.rest or "년" in self.rest else ():
            yield self._make_date(match, (int(match[1]), int(match[1]), int(match[2] or 0), int(match[3] or 0)))

    def _read_named_date(self, match: re.Match[str]) -> Iterator[Value]:
        parts = match.groupdict()
        month, year = self.months.get(parts["m"].lower()), int(parts.get("y") or 0)
        days = [day for day in (parts.get("d"), parts.get("d2")) if day]
        for day in days or ["0"]:
            said = re.sub(r"[- ]", "[- ]", day.lower())
            number = int(day) if day.isdecimal() else self.day_words.get(said)
            if month and number is not None:
                yield self._make_date(match, (year, year, month, number))

    def _read_years(self) -> Iterator[Value]:
        """Yield quarters, fiscal years, decades and spans of years."""
        for match in _QUARTER.finditer(self.rest) if "Q" in self.rest else ():
            said = match["y"] or match["y2"] or "0"
            year = int(said) + (2000 if len(said) == 2 else 0)
            yield self._make_date(match, (year, year, _QUARTERS + int(match["q"] or match["q2"] or match["q3"]), 0))
        for match in _FISCAL.finditer(self.rest) if "FY" in self.rest else ():
            year = int(match[1]) + (2000 if len(match[1]) == 2 else 0)
            yield self._make_date(match, (year, year, 0, 0))
        for match in self._match_at(self._list_digit_places("'"), _DECADE):
            said = int(match[1])
            first = [said] if len(match[1]) == 4 else [1900 + said, 2000 + said][: 1 if said > 20 else 2]
            yield self._make_date(match, *((year, year + 9, 0, 0) for year in first))
        for match in self._match_at(self.digits_at, _SHORT_RANGE) if "-" in self.rest else ():
            year = int(match[1] + match[2])
            last = int(match[1][:2] + match[3] + match[4]) if match[3] else int(match[1] + match[4])
            if last > year:
                yield self._make_date(match, (year, year, 0, 0))
                yield self._make_date(match, (last, last, 0, 0))

    def _read_times(self) -> Iterator[Value]:
        for match in self._match_at(self.digits_at, self.time):
            if not (match[2] or match[3] or match[4]) or int(match[1]) > 24:
                continue
            minutes = _count_minutes(match[1], match[2], match[3])
            is_sure = match[3] or int(match[1]) > 12 or int(match[1]) == 0
            both = (minutes,) if is_sure else (minutes, (minutes + 720) % 1440)
            yield self._make_value("time", match, both, _UTC.get(match[5], match[5] or ""))
        for name, minutes in load_hand_table(self.language).get("day_times", {}).items():
            for match in re.finditer(rf"\b{name}\b", self.rest) if name in self.said else ():
                yield self._make_value("time", match, (float(minutes),))

    # ---- scores and labels

    def _read_scores(self) -> Iterator[Value]:
        """Yield "27 out of 100", and pairs that are no range, since the first is not smaller: that is two numbers."""
        for match in self._match_at(self.digits_at, self.share):
            part, whole = (parse_digits(match[number], self.decimal)[0] for number in (1, 2))
            if 0 < part <= whole:
                yield self._make_value("score", match, (part, whole), "of")
        for match in self._match_at(self.digits_at, _SCORE) if "-" in self.rest else ():
            one, two = float(match[1]), float(match[2])
            if one >= two and not self._match_unit(match.end()):
                yield self._make_value("score", match, (one, two))

    def _read_labels(self) -> Iterator[Value]:
        for match in self._match_at(self.digits_at, _FRACTION) if "/" in self.rest else ():
            yield self._make_value("percent", match, (100 * int(match[1]) / int(match[2]),), "%")._replace(step=1.5)
        for match in self._match_at(self._list_label_places(), _LABEL):
            glued = re.fullmatch(r"\d+([A-Za-z]+)", match[0])
            if not (glued and (glued[1].lower() in self.units or glued[1] in ("K", "M", "B", "T"))):
                yield self._make_value("label", match, (0.0,), re.sub(r"[\W_]", "", match[0]).lower())

    # ---- numbers

    def _read_digits(self) -> Iterator[_Number]:
        for match in self._match_at(self._list_digit_places("."), _DIGITS):
            amount, step = parse_digits(match[0], self.decimal)
            ending = self.ordinal_ending.match(self.rest, match.end())
            end = ending.end() if ending else match.end()
            yield _Number(match.start(), end, amount, step, ordinal=bool(ending))
        if self.numerals:
            for match in self.numerals.finditer(self.rest):
                yield _Number(
                    match.start(), match.end(), amount := float(self._add_numerals(match[0])), find_step(amount)
                )

    def _add_numerals(self, said: str) -> int:
        """Return the number of signs that stand for digits and places: 三百二十一."""
        total = digit = 0
        for sign in said:
            if sign in self.places:
                total, digit = total + (digit or 1) * self.places[sign], 0
            else:
                digit = digit * 10 + self.digits[sign]
        return total + digit

    def _read_words(self) -> Iterator[_Number]:
        words, following = self.words_at, 0
        if self.rest is not self.text:
            words = [word for word in words if self.rest[word[0]] != " "]
        for at, (start, _, word) in enumerate(words):
            if word not in self.first or at < following:
                continue
            if word in self.articles and (number := self._read_article(words[at])):
                yield number
            if hit := self._add_words(words, at):
                count, amount, kind = hit
                following, end = at + count, words[at + count - 1][1]
                if kind in ("share", "times"):
                    yield _Number(start, end, amount, 1.5 if kind == "share" else 1.0, implied=True)
                else:
                    yield _Number(start, end, amount, find_step(amount), ordinal=kind == "ordinal")

    def _read_article(self, word: tuple[int, int, str]) -> _Number | None:
        """Read the one of "an hour"; it may support, and needs no support."""
        unit = self._match_unit(word[1])
        return _Number(word[0], word[1], 1.0, 1.0, implied=True) if unit and unit[0] != "money" else None

    def _add_words(self, words: list[tuple[int, int, str]], at: int) -> tuple[int, float, str] | None:
        """Read the words of a number: those below a thousand, then thousand or million, and what follows."""
        size, total, part = 0, 0.0, self._match_words(words, at)
        if part is None:
            before = words[at - 1][2] if at else ""
            is_one = before in self.articles and len(words[at][2]) > 4 and words[at][2] in self.scales
            return (1, float(self.scales[words[at][2]]), "number") if is_one else None
        while part is not None:
            length, number, kind = part
            size += length
            after = words[at + size][2] if self._are_number_words_joined(words, at + size) else ""
            if kind != "number" or len(after) < 4 or after not in self.scales:
                return size, total + number, kind
            total, size = total + number * self.scales[after], size + 1
            part = self._match_words(words, at + size) if self._are_number_words_joined(words, at + size) else None
        return size, total, "number"

    def _are_number_words_joined(self, words: list[tuple[int, int, str]], at: int) -> bool:
        return at < len(words) and self.rest[words[at - 1][1] : words[at][0]] in (" ", "-", " - ")

    def _match_words(self, words: list[tuple[int, int, str]], at: int) -> tuple[int, float, str] | None:
        if words[at][2] not in self.number_words:
            return None
        limit = 1
        while (
            limit < _MOST_NUMBER_WORDS
            and self._are_number_words_joined(words, at + limit)
            and words[at + limit][2] in self.inner_words
        ):
            limit += 1
        for length in range(limit, 0, -1):
            if got := self.words.get(tuple(word for _, _, word in words[at : at + length])):
                return length, *got
        return None

    # ---- what stands around a number

    def _complete_number(self, number: _Number) -> Value:
        """Put to a number what stands around it: currency, thousands, unit, bound, and what it counts."""
        start, end, amount, step, ordinal, implied = number
        text, kind, unit, begin = self.text, "ordinal" if ordinal else "number", "", start
        if implied and step == 1.5:
            return self._finish_value("percent", number, start, end, unit="%", mark="implied")
        if not ordinal and (code := self._find_currency(start)):
            kind, unit, begin = "money", code[0], code[1]
        if not implied and not ordinal and (match := self.mixed.match(text, end)):
            share = int(match[2]) / int(match[3]) if match[2] else self.parts[match[1] or match[4]]
            if share < 1:
                amount, step, end = amount + share, 0.1, match.end()
        if not ordinal and (scaled := self._match_scale(end, kind == "money")):
            amount, step, end = amount * scaled[0], step * scaled[0], scaled[1]
        said, factor = amount, 1.0
        if kind != "money" and (hit := self._match_unit(end)):
            kind, unit, factor, offset, end = hit
            if ordinal and unit == "calendar":
                start, _, amount = number[:3]
                made = Value("date", (0.0,), "", 0.0, start, end, self.source[start:end])
                if factor == 1200:
                    first = int(amount - 1) * 100 + 1
                    return made._replace(dates=((first, first + 99, 0, 0), (first - 1, first + 98, 0, 0)))
                if factor == 3 and amount <= 4:
                    return made._replace(dates=((0, 0, _QUARTERS + int(amount), 0),))
                return self._finish_value("ordinal", number, start, end)
            if ordinal:
                kind, unit, factor, offset = "ordinal", "", 1.0, 0.0
            if unit == SIGNED_UNIT and (below := self._find_minus(start, end)):
                amount, (begin, end) = -amount, below
            amount, step = amount * factor + offset, step * factor
        per = ("", 1.0)
        match = self.per.match(text, end) if kind in ("money", "quantity", "percent") else None
        if match and (hit := self._match_unit(match.end(1))) and hit[0] == "quantity":
            per, end = (hit[1], hit[2]), hit[4]
        mark = "implied" if implied else self._find_mark(begin, end)
        nouns = self._find_nouns(begin, end, number.end)
        said_as = self.source[begin:end]
        return Value(kind, (amount,), unit, step, begin, end, said_as, mark, (), nouns, (said,), factor, per)

    def _finish_value(
        self, kind: str, number: _Number, start: int, end: int, *, unit: str = "", mark: str = ""
    ) -> Value:
        nouns, text = self._find_nouns(start, end, number.end), self.source[start:end]
        return Value(kind, (number.amount,), unit, number.step, start, end, text, mark, nouns=nouns)

    def _find_currency(self, start: int) -> tuple[str, int] | None:
        match = _CURRENCY_BEFORE.search(self.text, max(0, start - 7), start)
        if match is None:
            return None
        country, sign, code = match.groups()
        if code:
            found = self.currencies.get(code)
        else:
            plain = self.currencies.get(sign) if country in ("US", None) else f"{country}{sign}"
            found = self.currencies.get(f"{country or ''}{sign}") or plain
        return (found, match.start()) if found else None

    def _match_scale(self, end: int, money: bool) -> tuple[int, int] | None:
        """Read a magnitude behind a number: "million", and "k" or "bn" where it is joined or money is meant."""
        after = _AFTER.match(self.text, end)
        if after is None:
            return None
        word = after[1]
        if is_unspaced_letter(word[0]):
            size = next((n for n in (2, 1) if word[:n] in self.scales), 0)
            return (self.scales[word[:size]], after.start(1) + size) if size else None
        times = self.scales.get(word.lower(), 0)
        if len(word) < 3:
            is_glued = after.start(1) == end
            times = times if (is_glued or money) and (money or not word.islower() or word in ("k", "bn")) else 0
        return (times, after.end()) if times else None

    def _match_unit(self, end: int) -> tuple[str, str, float, float, int] | None:
        """Read a unit or currency behind a number: of at most three words, the longest."""
        places, at = list[int](), end
        first = _AFTER.match(self.text, end)
        if first is None or not self._may_begin_unit(first[1].lower()):
            return None
        while len(places) < _MOST_UNIT_WORDS and (match := _AFTER.match(self.text, at)):
            if places and self.text[at] != " ":
                break
            at = match.end()
            places.append(at)
        for to in filter(self._ends_letter, reversed(places)):
            said = self.text[end:to].lstrip(" -)")
            if (what := self.symbols.get(said)) and (len(said) > 1 or _BEFORE_LETTER.match(self.text, end - 1, end)):
                return "quantity", what[0], what[1], 0.0, to
            if hit := self._look_up_unit(said, to):
                return hit
        if places and is_unspaced_letter(self.text[end : end + 2].strip()[:1] or "a"):
            begin = end + (self.text[end] == " ")
            tries = filter(self._ends_letter, range(min(begin + _MOST_UNIT_LETTERS, len(self.text)), begin, -1))
            return next((hit for to in tries if (hit := self._look_up_unit(self.text[begin:to], to))), None)
        return None

    def _may_begin_unit(self, word: str) -> bool:
        return word in self.unit_words or word.rstrip("s") in self.unit_words or not word.isalpha() or word > _UNSPACED

    def _ends_letter(self, at: int) -> bool:
        """Say whether no mark follows that belongs to the letter before, as Thai vowels do."""
        return not unicodedata.category(self.text[at : at + 1] or " ").startswith("M")

    def _look_up_unit(self, said: str, to: int) -> tuple[str, str, float, float, int] | None:
        name = said.lower()
        if code := self.currencies.get(said) or (
            self.currencies.get(name) if len(name) > 3 or not name.isascii() else None
        ):
            return "money", code, 1.0, 0.0, to
        words = name.split()
        if (words and words[0] in self.percent) or name == "%":
            points = re.match(r" (\w+)", self.text[to:]) if len(words) < 2 else None
            if points and points[1] in self.points:
                return "quantity", "points", 1.0, 0.0, to + points.end()
            return ("percent", "%", 1.0, 0.0, to) if len(words) < 2 else None
        what = self.units.get(name) or (self.units.get(name.rstrip("s")) if len(name) > 4 else None)
        if what is None:
            return None
        return "percent" if what[0] == "%" else "quantity", what[0], what[1], what[2] if len(what) > 2 else 0.0, to

    def _find_minus(self, start: int, end: int) -> tuple[int, int] | None:
        """Return where an amount that is below zero begins and ends, with what says so."""
        if before := self.minus.search(self.text, max(0, start - _LOOKBACK), start):
            return before.start(), end
        behind = (f" {phrase}" for phrase in self.below_zero if self.text.startswith(f" {phrase}", end))
        return next(((start, end + len(phrase)) for phrase in behind), None)

    def _find_scale(self, value: Value) -> float:
        """Return what the digits of a value are multiplied by: a thousand of "3 thousand"."""
        match = _DIGITS.search(self.text, value.start, value.end)
        written = parse_digits(match[0], self.decimal)[0] if match else 0.0
        return value.said[0] / written if written and value.said else 1.0

    def _share_units(self, values: list[Value]) -> list[Value]:
        """Give the first of "10 to 15 minutes" and "$5-10 million" what the second says."""
        for n in range(len(values) - 2, -1, -1):
            one, two = values[n], values[n + 1]
            between = self.text[one.end : two.start].strip(" -")
            if two.start - one.end > 6 or (between and between not in self.joins) or "ordinal" in (one.kind, two.kind):
                continue
            if one.kind == "money" and two.kind == "number":
                two = values[n + 1] = two._replace(kind="money", unit=one.unit)
            times = 1.0 if self._find_scale(one) > 1 else self._find_scale(two)  # "$5bn and 3 thousand" are two numbers
            is_open = one.kind == "number" or (one.kind == "money" and one.unit == two.unit and times > 1)
            if is_open and (two.kind != "number" or times > 1):
                is_signed, is_below = two.unit == SIGNED_UNIT, two.text.endswith(self.below_zero)
                sign = -1 if is_signed and (is_below or not two.text[0].isdecimal()) else 1
                offset = two.amounts[0] - sign * two.said[0] * two.factor if two.said else 0.0
                [said] = one.amounts
                sign = -1 if is_signed and (is_below or self._find_minus(one.start, one.end)) else 1
                amounts = (sign * said * times * two.factor + offset, said)
                values[n] = one._replace(
                    kind=two.kind,
                    unit=two.unit,
                    factor=two.factor,
                    amounts=tuple(dict.fromkeys(amounts)),
                    step=one.step * times * two.factor,
                    said=tuple(dict.fromkeys((said, said * times))),
                    nouns=one.nouns | two.nouns,
                )
        return values

    def _find_mark(self, start: int, end: int) -> str:
        """Return how an amount is bounded by the three words before it, or by "or more" behind it."""
        for phrase, kind in self.behind.items():
            if self.text.startswith(phrase, end) and not self.text[end + len(phrase) : end + len(phrase) + 1].isalnum():
                return kind
        before = self.text[max(0, start - _LOOKBACK) : start].lower().replace("n't", " not")
        clause = _MARK_WORD.findall(_CLAUSE_END.split(before)[-1])
        words, near = clause[-3:], self.marks["about"]
        if self.marking.isdisjoint(words):
            return ""
        for kind in ("more", "less", "about"):
            held = [kind == "about" or word not in near for word in words]
            at = next((n for n, word in enumerate(words) if word in self.marks[kind] and held[n]), None)
            if at is None:
                continue
            before_bound = clause[: len(clause) - len(words) + at]
            denied = next((n for n, word in enumerate(reversed(before_bound)) if word in self.denying), None)
            if denied is None or kind == "about":
                return kind
            return _TURNED[kind] if denied < _NEAR_NEGATION else ""
        return ""

    def _find_nouns(self, start: int, end: int, unit: int) -> frozenset[str]:
        """Return the stems of what a number counts: of the three words behind it, and of its unit.

        So a bare number of the same noun is known for the same.
        """
        nouns = self._find_counted(start, end)
        if unit == end:
            return nouns
        return nouns | {stem(word.lower(), self.language) for word in _WORD.findall(self.text[unit:end])}

    def _find_counted(self, start: int, end: int) -> frozenset[str]:
        words = list[str]()
        for match in _NOUN.finditer(self.text, end, end + _NOUN_WINDOW):
            word = (match[1] or "").lower()
            if not word or word in self.joining or len(words) == 3:
                break
            words.append(stem(word, self.language))
        if words:
            return frozenset(words)
        before = _NOUN_BEFORE.search(self.text, max(0, start - 20), start)
        if before is None or stem(before[1].lower(), self.language) in self.no_labels:
            return frozenset()
        return frozenset([f"{before[1].lower()} #"])


def parse_digits(text: str, decimal: str) -> tuple[float, float]:
    """Return the amount of digits as a language writes them, and what the last significant one is worth."""
    if text.isdecimal():
        return (amount := float(text[:300])), find_step(amount)
    digits = re.sub(r"[ ']", "", text)
    marks = re.findall(r"[.,]", digits)
    last = digits.rpartition(marks[-1])[2] if marks else ""
    is_repeated = len(marks) > 1 and len(set(marks)) == 1
    is_group = is_repeated or (len(last) == 3 and len(marks) == 1 and marks[0] != decimal and digits[0] not in ".,0")
    if marks and not is_group:
        whole = re.sub(r"[.,]", "", digits[: -len(last) - 1]) or "0"
        return float(f"{whole}.{last}"), 10.0 ** -len(last)
    amount = float(re.sub(r"[.,]", "", digits)[:300])
    return amount, find_step(amount)


def find_step(amount: float) -> float:
    """Return what the last significant digit of a whole number is worth: 100 of 1,200."""
    whole = f"{amount:.0f}"
    return 10.0 ** (len(whole) - len(whole.rstrip("0"))) if amount else 1.0


@cache
def _get_scanner_tables(language: str) -> _Scanner:
    return _Scanner(language)


@remember_by_text(texts=1024, chars=20_000)
def scan_text(text: str, language: str = "") -> tuple[Value, ...]:
    """Return the values of a text, in their order; see `scan_values`."""
    language = language or detect_language(text) or DEFAULT_LANGUAGE
    scanner = _Scanner.__new__(_Scanner)  # texts share tables
    vars(scanner).update(vars(_get_scanner_tables(language if language in LANGUAGES else DEFAULT_LANGUAGE)))
    return tuple(scanner.read(text))
