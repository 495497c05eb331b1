"""Numbers said otherwise: words, ordinals, fractions, Roman numerals."""

from __future__ import annotations

import re
from fractions import Fraction
from random import Random

from rewrites.cardinals import alternatives, another, cardinals, ordinal_digits, ordinal_word, ordinals, roman, spelled
from rewrites.kinds import Forms, Kind, pattern

LEFT, RIGHT = r"(?<![\w.,:/$€£¥%#&+'’–—−-])", r"(?![\w:/%$€£°'’–—−-]|[.,]\d| ?[–—-] ?\d)"
NOUNS = ("players", "visitors", "letters", "churches", "wells", "students", "lamps", "engines", "votes", "songs")
COUNTED = r"(?P<noun>[a-z]{3,}s)\b(?<!was)(?<!has)(?<!its)(?<!this)(?<!years)(?<!hours)"


_APART = re.compile(r"Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec|\(\d\)|ibm \d")
"""Where digits are no count: dates, markers, names of machines."""


def some_amount(random: Random) -> int:
    """A count of two to five digits."""
    return random.choice([random.randint(2, 99), random.randint(100, 999), random.randint(3000, 99_999)])


def _words_forms(match: re.Match[str], random: Random) -> Forms | None:
    number = int(match[0].replace(",", ""))
    around = match.string[max(0, match.start() - 12) : match.end() + 12]
    if number < 2 or (1000 <= number < 2100 and "," not in match[0]) or _APART.search(around):
        return None
    same = [spelled(number, random), spelled(number, random), f"{number:,}", str(number)]
    if number % 100 == 0 and 1000 < number < 10_000 and number % 1000:
        same.append(f"{spelled(number // 100, random)} hundred")
    others = [another(number, random), number * 10, number + 1]
    return Forms(same, other=[*(spelled(each, random) for each in others), *map(str, others)])


def _digits_forms(match: re.Match[str], random: Random) -> Forms:
    number = cardinals()[match[0].lower()]
    others = (another(number, random), number + 1, number * 10)
    return Forms([str(number)], other=[*map(str, others), *(spelled(each, random) for each in others)])


_CARDINAL = rf"(?<![\w-])(?<!hundred )(?<!and )(?<!point )(?:{alternatives(cardinals())})"
_NO_MORE = (
    r"(?![\w-]| (?:hundred|thousand|million|billion|dozen|and a|half|halves|thirds?|quarters?|\w+ths?\b|of them))"
)

CARDINALS = Kind(
    "words_of_digits",
    pattern(rf"{LEFT}(?:\d{{1,3}}(?:,\d{{3}})+|\d{{1,5}}){RIGHT}"),
    _words_forms,
    lambda random: f"for {some_amount(random):,} {random.choice(NOUNS)}",
)
DIGITS = Kind(
    "digits_of_words",
    re.compile(_CARDINAL + _NO_MORE),
    _digits_forms,
    lambda random: f"with {random.choice(list(cardinals()))} {random.choice(NOUNS)}",
)


def _ordinal_forms(match: re.Match[str], random: Random) -> Forms:
    text = match[0].lower()
    number = int(re.sub(r"\D", "", text)) if text[0].isdigit() else ordinals()[text]
    others = {another(number, random), number + 1}
    return Forms(
        [ordinal_word(number), ordinal_digits(number)],
        other=[say(each) for each in others for say in (ordinal_word, ordinal_digits)],
    )


_PLACE = rf"(?:{alternatives(ordinals())}|\d{{1,2}}(?:st|nd|rd|th))"
ORDINALS = Kind(
    "ordinals",
    re.compile(rf"(?<![\w./,-])(?<!^)(?<!\b[Aa]t )(?<!\b[Pp]er )(?<!\b[Aa] )(?<!one ){_PLACE}(?![\w-]|,| of| and a)"),
    _ordinal_forms,
    lambda random: (
        f"on the {random.choice([ordinal_word, ordinal_digits])(random.randint(1, 60))} "
        f"{random.choice(['floor', 'attempt', 'line', 'day', 'quarter', 'street', 'place'])}"
    ),
)
QUARTERS = Kind(
    "quarters",
    pattern(r"\b(first|second|third|1st|2nd|3rd) quarter of (20\d\d)"),
    lambda match, random: _quarter_forms(match),
    lambda random: f"in the {random.choice(['first', 'second', 'third'])} quarter of {random.randint(2001, 2026)}",
)


def _quarter_forms(match: re.Match[str]) -> Forms:
    number = {"f": 1, "s": 2, "t": 3}.get(match[1][0].lower()) or int(match[1][0])
    next_one = ordinal_word(number + 1)
    same = [f"{ordinal_digits(number)} quarter of {match[2]}", f"Q{number} {match[2]}", f"Q{number} of {match[2]}"]
    return Forms(same, other=[f"{next_one} quarter of {match[2]}", f"Q{number + 1} {match[2]}"])


FRACTIONS = {
    "half": (Fraction(1, 2), ("1/2", "½", "50 %", "50 percent", "one half")),
    "a third": (Fraction(1, 3), ("one third", "one-third", "1/3", "⅓")),
    "two-thirds": (Fraction(2, 3), ("two thirds", "2/3", "⅔")),
    "a quarter": (Fraction(1, 4), ("one quarter", "1/4", "¼", "25 %", "25 per cent", "one-fourth")),
    "three-quarters": (Fraction(3, 4), ("three quarters", "3/4", "¾", "75 %", "75 percent", "three fourths")),
    "two-fifths": (Fraction(2, 5), ("two fifths", "2/5", "40 %", "⅖")),
    "three-fifths": (Fraction(3, 5), ("three fifths", "3/5", "60%")),
    "seven-eighths": (Fraction(7, 8), ("seven eighths", "7/8", "⅞")),
    "nine-tenths": (Fraction(9, 10), ("nine tenths", "9/10", "90 percent")),
}


def _fraction_forms(match: re.Match[str], random: Random) -> Forms:
    text = re.sub(r"\s+", "-", match[1].lower()).replace("a-", "a ").replace("one-", "a ")
    name = text if text in FRACTIONS else match[1].lower()
    value, same = FRACTIONS[name]
    other = [f"{each} of" for key, (_, more) in FRACTIONS.items() if key != name for each in (key, *more)]
    assert value < 1
    return Forms([f"{each} of" for each in same], other=random.sample(other, 6))


FRACTION = Kind(
    "fractions",
    pattern(
        r"(?:(?<=about )|(?<=than )|(?<=nearly )|(?<=least )|(?<=almost )|(?<=away )|(?<=lost )|(?<=when )|(?<=, )|^)"
        rf"({alternatives([*FRACTIONS, 'two thirds', 'three quarters', 'one third'])}) of(?= the)"
    ),
    _fraction_forms,
    lambda random: f"{random.choice(list(FRACTIONS))} of the {random.choice(NOUNS)}",
    carriers=("The council sent away {} in June.", "When {} had left, the town was quiet.", "It lost {}."),
)


def _mixed_forms(match: re.Match[str], random: Random) -> Forms:
    whole, part, unit = cardinals()[match[1].lower()], match[2].lower(), match[3]
    tail, sign, ratio = {"half": ("5", "½", "1/2"), "quarter": ("25", "¼", "1/4")}[part]
    rest = "quarter" if part == "half" else "half"
    same = [f"{whole}.{tail} {unit}", f"{whole}{sign} {unit}", f"{whole} {ratio} {unit}", f"{whole} {sign} {unit}"]
    other = [
        f"{match[1]} and a {rest} {unit}",
        f"{whole + 1}.{tail} {unit}",
        f"{whole + 3} {unit}",
        f"{whole}.1 {unit}",
    ]
    return Forms(same, other=other)


MIXED = Kind(
    "mixed_fractions",
    pattern(rf"(?<![\w-])({alternatives(list(cardinals())[:19])}) and a (half|quarter) ([a-z]+)"),
    _mixed_forms,
    lambda random: (
        f"for {random.choice(list(cardinals())[:11])} and a {random.choice(['half', 'quarter'])} "
        f"{random.choice(['hours', 'miles', 'years', 'tonnes', 'million', 'kilometres'])}"
    ),
)


def _roman_forms(match: re.Match[str], random: Random) -> Forms | None:
    number = next((each for each in range(1, 40) if roman(each) == match[2]), 0)
    if not number:
        return None
    others = {another(number, random), number + 1}
    other = [f"{match[1]} {say(each)}" for each in others if each < 40 for say in (roman, str)]
    return Forms([f"{match[1]} {number}"], other=other)


ROMAN = Kind(
    "roman_numerals",
    re.compile(r"\b([A-Z][a-z]+) ((?:X{0,3})(?:IX|IV|V?I{2,3}|VI))(?![\w'’.-])"),
    _roman_forms,
    lambda random: (
        f"under {random.choice(['World War', 'Louis', 'Henry', 'Rocky', 'Type', 'Apollo', 'Pius', 'Volume'])} "
        f"{roman(random.choice([2, 3, 4, 6, 7, 8, 9, 11, 12, 13, 14, 16]))}"
    ),
)

KINDS = (CARDINALS, DIGITS, ORDINALS, QUARTERS, FRACTION, MIXED, ROMAN)
