"""Amounts said otherwise: magnitudes, bounds, ranges, and the numerals of other scripts."""

from __future__ import annotations

import re
from fractions import Fraction
from random import Random

from rewrites.cardinals import alternatives, another, spelled
from rewrites.kinds import Forms, Kind, pattern
from rewrites.numbers import LEFT, NOUNS, RIGHT, some_amount

_SCALES = {"thousand": 3, "million": 6, "billion": 9, "trillion": 12}
_SHORT = {"thousand": "k", "million": "M", "billion": "bn", "trillion": "trillion"}


def _scale_forms(match: re.Match[str], random: Random) -> Forms | None:
    digits, scale = match[1], match[2].lower()
    value = Fraction(digits) * 10 ** _SCALES[scale]
    if value.denominator != 1:
        return None
    glue = "" if scale != "trillion" else " "
    same = [f"{digits} {scale}", f"{int(value):,}", f"{digits}{glue}{_SHORT[scale]}"]
    if "." not in digits:
        same.append(f"{spelled(int(digits), random)} {scale}")
    others = [each for each in _SCALES if each != scale]
    other = [*(f"{digits} {each}" for each in others), f"{int(value) * 1000:,}", digits, f"{int(value) + 1:,}"]
    return Forms(same, other=other)


SCALE = Kind(
    "magnitudes",
    pattern(
        r"(?<![\w.,$€£¥/:–—-])(?<![$€£¥] )(?<!to )(?<!and )(\d{1,3}(?:\.\d{1,2})?) (thousand|million|billion|trillion)"
        r"\b(?! (?:and|years?|dollars?|pounds?|euros?))"
    ),
    _scale_forms,
    lambda random: (
        f"for {random.choice([str(random.randint(2, 40)), f'{random.randint(1, 9)}.{random.randint(1, 9)}'])} "
        f"{random.choice(list(_SCALES))} {random.choice(NOUNS)}"
    ),
)


_UPPER = ("more than", "over", "at least", "no fewer than", "a minimum of", "not less than", "no less than")
_LOWER = ("less than", "fewer than", "under", "at most", "up to", "no more than", "a maximum of", "not more than")


def _bound_forms(match: re.Match[str], random: Random) -> Forms:
    word, rest = match[1].lower(), match[2]
    mine, opposite = (_UPPER, _LOWER) if word in _UPPER else (_LOWER, _UPPER)
    # "More than" and "at least" are kept apart by some; each says less than the other only at the bound itself.
    same = [f"{each} {rest}" for each in random.sample(mine, 3)]
    return Forms(same, [rest], [f"{each} {rest}" for each in random.sample(opposite, 5)])


BOUND = Kind(
    "bounds",
    pattern(rf"(?<!not )(?<!no )\b({alternatives((*_UPPER, *_LOWER))}) (\d[\d,.]*\d|\d+)(?![\w])"),
    _bound_forms,
    lambda random: f"for {random.choice((*_UPPER, *_LOWER))} {some_amount(random)} {random.choice(NOUNS)}",
)


def _range_forms(match: re.Match[str], random: Random) -> Forms | None:
    low, high, unit = int(match[1]), int(match[2]), match[3]
    if high - low < 2:
        return None
    same = [f"{low}{dash}{high} {unit}" for dash in "-–—‒‑−―"] + [f"{low} to {high} {unit}", f"{low} – {high} {unit}"]
    inside = low + 1 + (high - low) // 3
    inside = inside if inside < high else high - 1
    other = [f"{low}–{high + 1} {unit}", f"{low + high} {unit}", f"{inside} {unit}", f"{low} to {high + 5} {unit}"]
    return Forms(random.sample(same, 6), [f"{low} {unit}", f"{high} {unit}"], other)


RANGES = Kind(
    "ranges",
    pattern(r"(?<![\w.,$€£/:–-])(?<![$€£] )([1-9]\d?)(?: ?[-–—] ?| to )([1-9]\d) ([a-z]{4,}s)\b"),
    _range_forms,
    lambda random: (
        f"for {(low := random.randint(3, 40))}{random.choice(['-', '–', ' to '])}{low + random.randint(3, 40)} "
        f"{random.choice(['minutes', 'miles', 'days', 'kilometres', 'players'])}"
    ),
)

_SCRIPTS = {
    "superscript": "⁰¹²³⁴⁵⁶⁷⁸⁹",
    "arabic": "٠١٢٣٤٥٦٧٨٩",
    "fullwidth": "０１２３４５６７８９",
    "devanagari": "०१२३४५६७८९",
    "mathematical": "𝟎𝟏𝟐𝟑𝟒𝟓𝟔𝟕𝟖𝟗",
    "circled": "⓪①②③④⑤⑥⑦⑧⑨",
    "subscript": "₀₁₂₃₄₅₆₇₈₉",
    "han": "〇一二三四五六七八九",
}


def _script_forms(match: re.Match[str], random: Random) -> Forms | None:
    number = match[0]
    if len(number) < 2:
        return None
    scripts = {name: digits for name, digits in _SCRIPTS.items() if name != "han" or "0" not in number}

    def put(digits: str, text: str) -> str:
        return "".join(digits[int(each)] for each in text)

    changed = str(another(int(number), random))
    return Forms(
        [put(digits, number) for digits in scripts.values()], other=[put(d, changed) for d in scripts.values()]
    )


SCRIPTS = Kind(
    "scripts",
    pattern(rf"{LEFT}\d{{2,4}}{RIGHT}"),
    _script_forms,
    lambda random: f"for {random.randint(11, 9999)} {random.choice(NOUNS)}",
)


def _sign_forms(match: re.Match[str], random: Random) -> Forms | None:
    number = int(match[1])
    signs = {**{each: chr(0x2160 + each - 1) for each in range(1, 13)}}
    circled = {each: chr(0x2460 + each - 1) for each in range(1, 21)}
    other = number + 1
    if re.search(rf"\b(?:{number}|{other})\b", match.string[: match.start()] + match.string[match.end() :]):
        return None
    return Forms(
        [f"{form[number]} {match[2]}" for form in (signs, circled) if number in form],
        other=[f"{form[other]} {match[2]}" for form in (signs, circled) if other in form] or [f"{other} {match[2]}"],
    )


SIGNS = Kind(
    "signs",
    pattern(rf"{LEFT}([2-9]|1\d) ([a-z]{{3,}})"),
    _sign_forms,
    lambda random: f"with {random.randint(2, 19)} {random.choice(NOUNS)}",
)
CHANGED = Kind(
    "changed_numbers",
    pattern(rf"{LEFT}\d{{2,9}}{RIGHT}"),
    lambda match, random: Forms(other=[str(another(int(match[0]), random)), match[0] + "0", match[0][::-1] + "7"]),
    lambda random: f"for {some_amount(random)} {random.choice(NOUNS)}",
)

KINDS = (SCALE, BOUND, RANGES, SCRIPTS, SIGNS, CHANGED)
