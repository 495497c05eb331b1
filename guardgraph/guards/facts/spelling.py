"""The spellings of a text brought together, and everything taken out whose digits are no number."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final, NamedTuple

from guardgraph.guards.facts.markers import strip_number_markers
from guardgraph.guards.facts.numerals import write_ordinal_number, write_plain_digits
from guardgraph.guards.facts.tongues import DECADES, PLACES

_URL = re.compile(r"(?:https?://|www\.)\S++", re.IGNORECASE)
# The characters of Unicode category Cf that occur in running text: they are drawn as nothing.
_INVISIBLE = re.compile("[\u00ad\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff\U000e0001-\U000e007f]++")
_THIN_SEPARATOR = re.compile(r"['’\u00a0\u2009\u202f](?<=\d.)(?=\d{3}(?!\d))")
_LISTED = re.compile(r"[{\[]\d{1,3}(?:,(?!\d{3}(?!\d))\d{1,3}){1,9}[}\]]")
_COMMA = re.compile(",")
_BLANK_SEPARATED = re.compile(r"[1-9](?<![\w.,:/].)(?<!\d[ ].)\d{0,2}(?:[ ]\d{3}){1,4}(?![ ]?\d|[-/:]\d|\w)")
_LAKHS = re.compile(r"(?<![\w.,])\d{1,2}(?:,\d\d){1,6},\d{3}(?![\d,])")
_POINTS = re.compile(r"(?<![\w.,:/-])([1-9]\d{0,2}(?:\.\d{3})++)(?:,(\d++))?(?![\w/:-]|[.,]\d)")
_APOSTROPHE = re.compile(r"(?<=[^\W\d_])['’ʹ](?=[а-яіїєґё])", re.IGNORECASE)
_DIALLED = re.compile(r"\+\d{1,3}(?:[ .-]?\(\d{2,4}\)|[ .-]\d{2,4})(?:[ .-]?\d{2,4}){1,4}+(?!\w)")
_MERIDIEM = re.compile(r"([apAP])\.(?<![^\W\d]..)[ ]?[mM]\b\.?")
_DASH = re.compile(r"(?<=\d)[–—‒―−](?=\d)")
_HYPHENS: Final = str.maketrans("‐‑", "--")
_ALWAYS = re.compile(
    r"24(?<![\w.]24)(?:/7/365|[ ]?[x×][ ]?7|[ -]hours?(?:[ ]a[ ]day|[ ]per[ ]day|/day)?,?[ ](?:and[ ])?"
    r"(?:7|seven)[ -]days?(?:[ ](?:a|per)[ ]week|/week))(?!\w)",
    re.IGNORECASE,
)
_OCTETS: Final = frozenset(map(str, range(256)))
_LAST_COMMA = re.compile(r",(?<=\d,\d{3},)(?=\d{1,2}(?![\d,]))")
_LAKH = re.compile(r",\d\d,\d")
_GROUPS = re.compile(r"\d++")
_POINTED = re.compile(r"\.\d{3}[.,]\d")
_GROUPED = re.compile(r"\d[ ]\d{3}")
_PARTED = re.compile(r"\d[-,.'’() \u00a0\u2009\u202f]{1,2}\d\d")
"""What every number has whose digits are parted."""
_DIGIT = re.compile(r"\d")


def drop_invisible_characters(text: str) -> str:
    """Take out characters that are drawn as nothing: a soft hyphen or a zero-width blank parts no number."""
    return text if text.isascii() else _INVISIBLE.sub("", text).translate(_HYPHENS)


def normalise_number_spelling(text: str, language: str = "") -> tuple[str, frozenset[int]]:
    """Take out addresses and markers and bring variants of spelling together.

    Args:
        text: any text.
        language: of the text, a code of `LANGUAGES`; "" is read as English.

    Returns:
        The text, and the numbers of the markers.
    """
    text = write_plain_digits(_rewrite_number_spelling(text, ADDRESSES), language)
    if language in DECADES:
        text = DECADES[language].sub(lambda match: f"{next(filter(None, match.groups()))}s", text)
    if language in PLACES:
        text = PLACES[language].sub(_rewrite_ordinal_place, text)
    text, marked = strip_number_markers(text)
    for step in VARIANTS if _PARTED.search(text) else _UNPARTED if _DIGIT.search(text) else _WORDED:
        text = _rewrite_number_spelling(text, step)
    return text if text.isascii() else _APOSTROPHE.sub("ʼ", text), marked


class SpellingStep(NamedTuple):
    """What is written in another way, and the sign without which a text has none of it, as most have none."""

    sign: Callable[[str], object]
    pattern: re.Pattern[str]
    by: str | Callable[[re.Match[str]], str]


def _rewrite_number_spelling(text: str, step: SpellingStep) -> str:
    return step.pattern.sub(step.by, text) if step.sign(text) else text


def _regroup_thousands(match: re.Match[str]) -> str:
    """Write a number whose thousands full stops group as in English, but leave addresses ("192.168.100.200")."""
    whole, part = match[1], match[2]
    groups = whole.split(".")
    if (len(groups) == 2 and not part) or (len(groups) == 4 and not part and all(each in _OCTETS for each in groups)):
        return match[0]  # "1.600" can be read in two ways
    return ",".join(groups) + (f".{part}" if part else "")


def _rewrite_ordinal_place(match: re.Match[str]) -> str:
    return f"{match[0][: match.start('place') - match.start()]}{write_ordinal_number(int(match['place']))}"


def _join_phone_number(match: re.Match[str]) -> str:
    groups = _GROUPS.findall(match[0])
    # A telephone number abroad has eleven digits or more, with few exceptions, and at most 15 (ITU-T E.164).
    return "-".join(groups) if 11 <= sum(map(len, groups)) <= 15 else match[0]


def _has_meridiem(text: str) -> bool:
    lower = text.lower()
    return ".m" in lower or ". m" in lower


ADDRESSES: Final = SpellingStep(lambda text: "://" in text or "www." in text.lower(), _URL, " ; ")
_GROUPINGS: Final = (
    SpellingStep(lambda text: "+" in text, _DIALLED, _join_phone_number),
    SpellingStep(_LAKH.search, _LAKHS, lambda match: f"{int(match[0].replace(',', '')):,}"),
    SpellingStep(_POINTED.search, _POINTS, _regroup_thousands),
    SpellingStep(_GROUPED.search, _BLANK_SEPARATED, lambda match: match[0].replace(" ", ",")),
    SpellingStep(lambda text: "'" in text or not text.isascii(), _THIN_SEPARATOR, ","),
    SpellingStep(_LAST_COMMA.search, _LAST_COMMA, "."),
)
"""What parts the digits of one number."""

_WORDED: Final = (SpellingStep(_has_meridiem, _MERIDIEM, r"\1m"),)
_UNPARTED: Final = (
    *_WORDED,
    SpellingStep(lambda text: "{" in text or "[" in text, _LISTED, lambda match: _COMMA.sub(", ", match[0])),
    SpellingStep(lambda text: not text.isascii(), _DASH, "-"),
    SpellingStep(lambda text: "24" in text, _ALWAYS, "24/7"),
)
VARIANTS: Final = (*_GROUPINGS, *_UNPARTED)
