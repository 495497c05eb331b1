"""Text into the tokens that can make up a number, with everything left out whose digits are no number."""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from guardgraph.guards.facts.markers import without_markers
from guardgraph.guards.facts.units import CURRENCIES, GLUED_SCALES, SCALES, SHARES, units_named

__all__ = ["LOOKAHEAD", "NUMBER", "ORDINAL_SUFFIXES", "Token", "plain", "range_end", "tokens_of", "visible"]

LOOKAHEAD: Final = 6
"""Empty tokens at the end, so that readers may look ahead without counting."""

ORDINAL_SUFFIXES: Final = frozenset({"st", "nd", "rd", "th", "x", "×"})

_URL = re.compile(r"(?:https?://|www\.)\S++", re.IGNORECASE)
# The characters of Unicode category Cf that occur in running text: they are drawn as nothing.
_INVISIBLE = re.compile("[\u00ad\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff\U000e0001-\U000e007f]++")
_THIN_SEPARATOR = re.compile(r"['’\u00a0\u2009\u202f](?<=\d.)(?=\d{3}(?!\d))")
_BLANK_SEPARATED = re.compile(r"[1-9](?<![\w.,:/].)(?<!\d[ ].)\d{0,2}(?:[ ]\d{3}){1,4}(?![ ]?\d|[-/:]\d|\w)")
_MIXED = re.compile(r"([0-9](?<![\w.,].)\d{0,2})[ ]?([½¼¾])(?!\w)")
_DIALLED = re.compile(r"\+\d{1,3}(?:[ .-]?\(\d{2,4}\)|[ .-]\d{2,4})(?:[ .-]?\d{2,4}){1,4}+(?!\w)")
_MERIDIEM = re.compile(r"([apAP])\.(?<![^\W\d]..)[ ]?[mM]\b\.?")
_OFFSET = re.compile(r"(T\d\d:\d\d(?::\d\d(?:\.\d++)?)?)[+-]\d\d:?\d\d(?!\d)")
_ALWAYS = re.compile(
    r"24(?<![\w.]24)(?:/7/365|[ ]?[x×][ ]?7|[ -]hours?(?:[ ]a[ ]day|[ ]per[ ]day|/day)?,?[ ](?:and[ ])?"
    r"(?:7|seven)[ -]days?(?:[ ](?:a|per)[ ]week|/week))(?!\w)",
    re.IGNORECASE,
)

NUMBER: Final = re.compile(
    r"(?P<whole>[1-9]\d{0,2}(?:[,_]\d{3})++(?!\d)|\d++)?(?P<point>[.,]\d++)?"
    r"(?P<power>[eE][+-]?\d{1,4}(?![^\W_]))?(?P<suffix>[^\W\d_]*+)"
)
"""1,200.50 · 99,95 · .5 · 1e6 · 45min. A comma that groups no thousands is a decimal comma."""

_TOKEN = re.compile(
    r"(?P<chunk>\w++(?:(?:-|(?<=\d)[.,:/](?=\d)|(?<=\d[eE])[+-](?=\d))\w++)*+)|\.(?<![\w.]\.)\d++(?!\w)|[^\w\s]"
)
_DIGIT = re.compile(r"\d")
_GROUPS = re.compile(r"\d++")
_DASHES: Final = frozenset({"-", "–", "—", "‒", "to"})
_STAMP = re.compile(r"(\d{4}-\d\d-\d\d)T(\d\d:\d\d(?::\d\d)?)(?:\.\d++)?Z?")
_HOURS = re.compile(r"(?:\d++(?:d|h|m|min|s)(?![^\W\d_])){2,}")
_HOUR = re.compile(r"\d++[a-z]++")
_DIGITS = re.compile(r"\d++(?:[-/.:]\d++)++|\d\d?:\d\d(?::\d\d)?[ap]m", re.IGNORECASE)
_RANGE = re.compile(
    r"(?!\d{4}[-/](?:0[1-9]|1[0-2])$)(?:\d++(?:\.\d++)?-[1-9]\d*+(?:\.\d++)?|\d{4}/(?:\d\d){1,2})"
    r"|\d\d?(?::\d\d){1,2}-\d\d?(?::\d\d){1,2}|\d{3,}:\d{4}"
)
"""10-15 · 2025/26 · 02:00-04:00 · a standard and its edition, 27001:2022."""

_LABEL = re.compile(r"Q[1-4]|H[12]|[vV]\d++(?:\.\d++)*+")
_PREFIX = re.compile(r"(?:(?:mid|pre|post|top|sub|under|over|early|late|non|about|nearly)-)++", re.IGNORECASE)
_BETWEEN: Final = {signs: re.compile(rf"[^{signs}]++") for signs in ("-", "-/", ",:")}
_CODE = re.compile(r"([A-Z]{3})(?=\d)")


class Token(NamedTuple):
    """A word, a number or a sign, and where it stands. A blank text stands for an id."""

    text: str
    start: int
    end: int
    glued: bool = False
    """Joined to the token before it, as in "15-minute"."""


def visible(text: str) -> str:
    """Take out characters that are drawn as nothing: a soft hyphen or a zero-width blank parts no number."""
    return text if text.isascii() else _INVISIBLE.sub("", text)


def plain(text: str) -> str:
    """Take out addresses and markers and bring variants of spelling together."""
    text = without_markers(_URL.sub(" ; ", text))
    text = _MIXED.sub(lambda match: f"{int(match[1]) + float(SHARES[match[2]])}", text)
    text = _BLANK_SEPARATED.sub(lambda match: match[0].replace(" ", ","), _DIALLED.sub(_dialled, text))
    text = _MERIDIEM.sub(r"\1m", _THIN_SEPARATOR.sub(",", text))
    return _ALWAYS.sub("24/7", _OFFSET.sub(r"\1", text))


def _dialled(match: re.Match[str]) -> str:
    groups = _GROUPS.findall(match[0])
    # A telephone number abroad has eleven digits or more, with few exceptions, and at most 15 (ITU-T E.164).
    return "-".join(groups) if 11 <= sum(map(len, groups)) <= 15 else match[0]


def tokens_of(plain_text: str) -> list[Token]:
    """Split a text that went through `plain`; the list ends with `LOOKAHEAD` blank tokens."""
    tokens: list[Token] = []
    for match in _TOKEN.finditer(plain_text):
        text, (start, end) = match[0], match.span()
        if text.isalpha() or text.isdecimal() or match["chunk"] is None:
            tokens.append(Token(text, start, end))
        else:
            inner = text.strip("_")
            tokens.extend(_pieces(inner, start + text.index(inner)))
    return tokens + [Token("", len(plain_text), len(plain_text))] * LOOKAHEAD


def _pieces(chunk: str, start: int) -> list[Token]:
    if _is_number(chunk):
        return [Token(chunk, start, start + len(chunk))]
    if not _DIGIT.search(chunk):
        return _split(chunk, start, "-")
    if stamp := _STAMP.fullmatch(chunk):
        return [Token(stamp[part], start + stamp.start(part), start + stamp.end(part)) for part in (1, 2)]
    if _HOURS.fullmatch(chunk):
        return [Token(part[0], start + part.start(), start + part.end()) for part in _HOUR.finditer(chunk)]
    head = _PREFIX.match(chunk) or _CODE.match(chunk)
    if head and (head[0].endswith("-") or head[0] in CURRENCIES):
        rest = _pieces(chunk[head.end() :], start + head.end())
        return [Token(head[0], start, start + head.end()), *rest]
    parts = [
        piece
        for part in _split(chunk, start, "-/")
        for piece in ([part] if _is_number(part.text) else _split(part.text, part.start, ",:"))
    ]
    if _is_number(parts[0].text) and all(_is_number(part.text) or not _DIGIT.search(part.text) for part in parts):
        return parts
    return [Token("", start, start + len(chunk))]


def _split(chunk: str, start: int, separators: str) -> list[Token]:
    found = _BETWEEN[separators].finditer(chunk)
    return [Token(part[0], start + part.start(), start + part.end(), part.start() > 0) for part in found]


def _is_number(chunk: str) -> bool:
    if not chunk[:1].isdecimal():
        return _LABEL.fullmatch(chunk) is not None
    if _DIGITS.fullmatch(chunk):
        return not _RANGE.fullmatch(chunk)
    match = NUMBER.fullmatch(chunk)
    return match is not None and _is_suffix(match["suffix"])


def _is_suffix(suffix: str) -> bool:
    lower = suffix.lower()
    known = lower in ORDINAL_SUFFIXES or lower in SCALES or suffix in GLUED_SCALES or lower in ("", "am", "pm")
    return known or bool(units_named(suffix))


def range_end(tokens: list[Token], first: int, end: int) -> int | None:
    """Find where the other end of a range must begin: "10-15", "10 to 15", "between 10 and 15".

    Args:
        tokens: the tokens of a text.
        first: the index at which one end begins.
        end: the index behind it.
    """
    word = tokens[end].text.lower()
    if word in _DASHES or (word == "and" and tokens[first - 1].text.lower() == "between"):
        return end + 1
    return end if tokens[end].glued else None
