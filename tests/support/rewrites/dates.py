"""Days and years said otherwise: years, decades, dates, months, weekdays."""

from __future__ import annotations

import re
from random import Random

from rewrites.cardinals import alternatives, ordinal_digits, ordinal_word
from rewrites.kinds import Forms, Kind, pattern

MONTHS = (
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)
_MONTH = alternatives(MONTHS)
WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
DASHES = "-‐‑‒–—―−"


def _year_range_forms(match: re.Match[str], random: Random) -> Forms | None:
    first, last = int(match["first"]), int(match["first"][:2] + match["last"][-2:])
    if not 2 <= last - first < 95:
        return None

    def said(one: int, two: int) -> list[str]:
        ends = [f"from {one} to {two}", f"{one} to {two}", f"between {one} and {two}", f"from {one} until {two}"]
        dash = random.choice(DASHES)
        short = [f"{one}{dash}{two % 100:02}", f"{one}–{two % 100:02}"] if one // 100 == two // 100 else []
        return [f"{one}{dash}{two}", f"{one} – {two}", *ends, *short]

    inside = first + 1 + random.randrange(last - first - 1)
    other = [*random.sample(said(first, last + 1), 4), *random.sample(said(first - 1, last), 3), f"in {inside}"]
    return Forms(said(first, last), [f"in {first}", f"in {last}"], other)


YEAR_RANGES = Kind(
    "year_ranges",
    pattern(
        r"(?:\bfrom |(?<![\w.,/:–-])(?<!ary )(?<!ber )(?<!ch )(?<!il )(?<!May )(?<!ne )(?<!ly )(?<!st ))"
        r"(?<!between )(?P<first>1[1-9]\d\d|20\d\d)"
        r"(?:\s?[-–—]\s?| to | until )(?P<last>(?:1[1-9]|20)?\d\d)(?![\w:/–-]|[.,]\d| (?:" + _MONTH + "))"
    ),
    _year_range_forms,
    lambda random: (
        f"{random.choice(['in', 'during the war of'])} {(year := random.randint(1400, 2019))}"
        f"{random.choice(['-', '–', ' to '])}{min(year + random.randint(2, 9), year // 100 * 100 + 99)}"
    ),
)

_TENS = ["twenties", "thirties", "forties", "fifties", "sixties", "seventies", "eighties", "nineties"]


def _decade_forms(match: re.Match[str], random: Random) -> Forms | None:
    century, ten = int(match[1]), int(match[2])
    if ten < 2:
        return None

    def said(tens: int) -> list[str]:
        full, short = f"{century}{tens}0", f"{tens}0"
        brief = [f"{short}s", f"’{short}s", f"'{short}s", f"{short}'s"] if century > 17 else []
        return [f"{full}s", f"{full}'s", f"{full}’s", f"{full} 's", *brief]

    next_ten = random.choice([each for each in range(2, 10) if each != ten])
    if re.search(rf"\b{century}{next_ten}\d", match.string):
        return None
    others = [*said(next_ten), _TENS[next_ten - 2], f"{century - 1}{ten}0s", f"{century}{ten}7"]
    return Forms(said(ten), [_TENS[ten - 2]], others)


DECADES = Kind(
    "decades",
    pattern(r"(?<=\bthe )(1[5-9]|20)(\d)0 ?['’]?s\b"),
    _decade_forms,
    lambda random: f"in the {random.randint(15, 20)}{random.randint(2, 9)}0s",
)
SHORT_DECADES = Kind(
    "short_decades",
    pattern(r"(?<=\bthe )(['’]?)([2-9])0s\b"),
    lambda match, random: Forms(
        [f"{match[2]}0s", f"19{match[2]}0s", f"'{match[2]}0s"],
        other=[f"{(int(match[2]) - 1) % 8 + 2}0s", f"19{(int(match[2]) - 1) % 8 + 2}0s"],
    ),
    lambda random: f"in the {random.choice(['', '’', chr(39)])}{random.randint(2, 9)}0s",
)


def _date_forms(match: re.Match[str], random: Random) -> Forms | None:
    month, day, year = match["m"] or match["m2"], int(match["d"] or match["d2"]), match["y"] or match["y2"]
    at = next((at for at, name in enumerate(MONTHS) if name.lower() == month.lower()), None)
    if at is None or not 1 <= day <= 28:
        return None

    def said(month_at: int, number: int) -> list[str]:
        name, tail, comma = MONTHS[month_at], f" {year}" if year else "", f", {year}" if year else ""
        iso = [f"{year}-{month_at + 1:02}-{number:02}"] if year else []
        ordinal = ordinal_digits(number)
        forms = [f"{name} {number}{comma}", f"{number} {name}{tail}", f"{ordinal} of {name}{tail}"]
        forms += [
            f"{name} {ordinal}{comma}",
            f"the {ordinal_word(number)} of {name}{tail}",
            f"{number} {name[:3]}{tail}",
        ]
        return [*forms, f"{name[:3]}. {number}{comma}", f"{number} OF {name.upper()}{tail}", *iso]

    day_after, month_after = day % 28 + 1, (at + random.randint(1, 11)) % 12
    other = [*random.sample(said(at, day_after), 4), *random.sample(said(month_after, day), 4)]
    if year:
        other += [form.replace(year, str(int(year) + 1)) for form in random.sample(said(at, day), 2)]
        return Forms(said(at, day), [f"{MONTHS[at]} {year}", f"{MONTHS[at]} {day}"], other)
    return Forms(said(at, day), other=other)


DATES = Kind(
    "dates",
    re.compile(
        rf"(?<![\d–-])(?<![\d–-] )\b(?:(?P<m>{_MONTH}) (?P<d>\d\d?)(?:(?: ?,)? (?P<y>[12]\d{{3}})\b)?"
        rf"|(?P<d2>\d\d?) (?P<m2>{_MONTH})(?: (?P<y2>[12]\d{{3}})\b)?)(?![\w–/-]| ?[–-] ?\d|[:.,]\d|st|nd|rd|th)"
    ),
    _date_forms,
    lambda random: (
        f"on {random.choice(MONTHS)} {random.randint(1, 28)}"
        f"{random.choice(['', f', {random.randint(1500, 2026)}', f', {random.randint(1500, 2026)}'])}"
    ),
)


def _date_range_forms(match: re.Match[str], random: Random) -> Forms | None:
    month, low, high = match[1], int(match[2]), int(match[3])
    if not 2 <= high - low <= 27:
        return None

    def said(name: str, one: int, two: int) -> list[str]:
        dash = random.choice("-–—")
        return [
            f"{name} {one}{dash}{two}",
            f"{name} {one} to {two}",
            f"{one}–{two} {name}",
            f"from {name} {one} to {name} {two}",
            f"from {one} to {two} {name}",
            f"between {one} and {two} {name}",
            f"the {ordinal_digits(one)} to the {ordinal_digits(two)} of {name}",
        ]

    other_month = random.choice([each for each in MONTHS if each != month])
    less = [f"{month} {high}", f"{low} {month}", f"{high} {month}", f"the {ordinal_word(high)} of {month}"]
    other = [*random.sample(said(month, low, high + 1), 3), *random.sample(said(other_month, low, high), 3)]
    return Forms(said(month, low, high), less, [*other, f"{month} {low + 1}", f"{low + 1} {month}"])


DATE_RANGES = Kind(
    "date_ranges",
    re.compile(rf"\b({_MONTH}) ([12]?\d) ?[-–] ?([12]\d)(?![\w/-]|\.\d)"),
    _date_range_forms,
    lambda random: f"on {random.choice(MONTHS)} {random.randint(1, 12)}{random.choice('-–')}{random.randint(14, 28)}",
)


def _name_forms(names: tuple[str, ...], word: str) -> Forms:
    at = next(at for at, name in enumerate(names) if name.lower() == word.lower())
    others = [name for name in names if name.lower() != word.lower()]
    short = [] if len(word) < 6 else [f"{names[at][:3]}."]
    return Forms([word, names[at], *short], other=others)


MONTH = Kind(
    "months",
    re.compile(rf"(?<=\b[Ii]n )(?:{_MONTH})\b(?! \d|,? \d)"),
    lambda match, random: _name_forms(MONTHS, match[0]),
    lambda random: f"in {random.choice(MONTHS)}",
)
MONTH_YEAR = Kind(
    "months_of_years",
    re.compile(rf"(?<=\b[Ii]n )({_MONTH}),? ([12]\d\d\d)\b"),
    lambda match, random: Forms(
        [f"{match[1]} {match[2]}", f"{match[1]}, {match[2]}", f"{match[2]}-{MONTHS.index(match[1]) + 1:02}"],
        [match[1], match[2]],
        [
            *(f"{(other := MONTHS[MONTHS.index(match[1]) - 2])} {match[2]}", f"{other}, {match[2]}", other),
            *(f"{match[1]} {int(match[2]) + 1}", f"{int(match[2]) - 1}"),
        ],
    ),
    lambda random: f"in {random.choice(MONTHS)} {random.randint(1500, 2026)}",
)
WEEKDAY = Kind(
    "weekdays",
    re.compile(rf"(?<=\bon )(?:{alternatives(WEEKDAYS)})\b"),
    lambda match, random: None if re.search(r"\d{4}", match.string) else _name_forms(WEEKDAYS, match[0]),
    lambda random: f"on {random.choice(WEEKDAYS)}",
)


def _far_year_forms(match: re.Match[str], random: Random) -> Forms:
    year = random.randint(1950, 2026)
    before = random.choice(
        [f"Report of {year}.", f"Updated {year}-11-30.", f"It was the summer of {year}.", f"News, December 12, {year}:"]
    )
    said = match[0]
    return Forms(
        [f"{said}, {year}"], [said], [f"{said}, {year - 1}", f"{said}, {year + 3}"], source=said, before=before
    )


FAR_YEAR = Kind(
    "dates_whose_year_stands_elsewhere",
    re.compile(rf"\b(?:{_MONTH}) (?:[1-9]|1\d|2[0-8])\b(?! ?,? ?\d)(?![\w:./–-])"),
    _far_year_forms,
    lambda random: f"on {random.choice(MONTHS)} {random.randint(1, 28)}",
)


def _may_forms(match: re.Match[str], random: Random) -> Forms:
    month = random.choice([each for each in MONTHS if each != "May"])
    source = f"in {month} they"
    # Neither names a month: "may" here is a verb.
    return Forms(
        [], [f"they may, in {month},", f"may they in {month}", f"in {month} May Smith"], ["in May they"], source=source
    )


MAY = Kind(
    "may",
    pattern(r"(?<![\w-])they(?=[ ,])"),
    _may_forms,
    lambda random: "they",
    carriers=(
        "When {} leave, the town is quiet.",
        "The owners say {} leave.",
        "If {}, as planned, build it, it lasts.",
    ),
)
YEAR = Kind(
    "years",
    pattern(r"(?<=\b[Ii]n )(1[5-9]\d\d|20[0-2]\d)(?![\w/–-]| ?[–-] ?\d|[.,:]\d|['’]s)"),
    lambda match, random: Forms(
        [match[0], f"the year {match[0]}"],
        other=[str(int(match[0]) + each) for each in (1, -1, 10, -100)]
        + [match[0][:2] + match[0][3] + match[0][2] + "1"],
    ),
    lambda random: f"in {random.randint(1500, 2026)}",
)

KINDS = (YEAR_RANGES, DECADES, SHORT_DECADES, DATES, DATE_RANGES, MONTH, MONTH_YEAR, WEEKDAY, FAR_YEAR, MAY, YEAR)
