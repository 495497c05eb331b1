"""Text into the tokens that can make up a number, with everything left out whose digits are no number."""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from guardgraph.guards.facts.units import CURRENCIES, GLUED_SCALES, SCALES, units_named

__all__ = ["LOOKAHEAD", "NUMBER", "ORDINAL_SUFFIXES", "Token", "plain", "tokens_of"]

LOOKAHEAD: Final = 6
"""Empty tokens at the end, so that readers may look ahead without counting."""

ORDINAL_SUFFIXES: Final = frozenset({"st", "nd", "rd", "th", "x", "×"})

_URL = re.compile(r"(?:https?://|www\.)\S++", re.IGNORECASE)
_LIST_MARKER = re.compile(r"^[ \t>#*+•-]*+\(?\d{1,2}[.)]\**+[ \t]++(?=\S)", re.MULTILINE)
_THIN_SEPARATOR = re.compile(r"(?<=\d)['’\u00a0\u2009\u202f](?=\d{3}(?!\d))")
_MERIDIEM = re.compile(r"(?<![^\W\d])([ap])\.[ ]?m\b\.?", re.IGNORECASE)
_OFFSET = re.compile(r"(T\d\d:\d\d(?::\d\d(?:\.\d++)?)?)[+-]\d\d:?\d\d(?!\d)")
_ALWAYS = re.compile(
    r"(?<![\w.])24(?:/7/365|[ ]?[x×][ ]?7|[ -]hours?(?:[ ]a[ ]day|[ ]per[ ]day|/day)?,?[ ](?:and[ ])?"
    r"(?:7|seven)[ -]days?(?:[ ](?:a|per)[ ]week|/week))(?!\w)",
    re.IGNORECASE,
)

NUMBER: Final = re.compile(
    r"(?P<whole>[1-9]\d{0,2}(?:[,_]\d{3})++(?!\d)|\d++)?(?P<point>[.,]\d++)?"
    r"(?P<power>[eE][+-]?\d{1,4}(?![^\W_]))?(?P<suffix>[^\W\d_]*+)"
)
"""1,200.50 · 99,95 · .5 · 1e6 · 45min. A comma that groups no thousands is a decimal comma."""

_TOKEN = re.compile(
    r"(?<![\w.])\.\d++(?!\w)|(?P<chunk>\w++(?:(?:-|(?<=\d)[.,:/](?=\d)|(?<=\d[eE])[+-](?=\d))\w++)*+)|[^\w\s]"
)
_DIGIT = re.compile(r"\d")
_STAMP = re.compile(r"(\d{4}-\d\d-\d\d)T(\d\d:\d\d(?::\d\d)?)(?:\.\d++)?Z?")
_HOURS = re.compile(r"(?:\d++(?:d|h|m|min|s)(?![^\W\d_])){2,}")
_HOUR = re.compile(r"\d++[a-z]++")
_DIGITS = re.compile(r"\d++(?:[-/.:]\d++)++|\d\d?:\d\d(?::\d\d)?[ap]m", re.IGNORECASE)
_RANGE = re.compile(r"(?!\d{4}-(?:0[1-9]|1[0-2])$)(?:\d++(?:\.\d++)?-[1-9]\d*+(?:\.\d++)?|\d{4}/\d{4})")
_PREFIX = re.compile(r"(?:(?:mid|pre|post|top|sub|under|over|early|late|non|about|nearly)-)++", re.IGNORECASE)
_CODE = re.compile(r"([A-Z]{3})(?=\d)")


class Token(NamedTuple):
    """A word, a number or a sign, and where it stands. A blank text stands for an id."""

    text: str
    start: int
    end: int
    glued: bool = False
    """Joined to the token before it, as in "15-minute"."""


def plain(text: str) -> str:
    """Take out addresses and list markers and bring variants of spelling together."""
    text = _LIST_MARKER.sub("", _URL.sub(" ; ", text))
    text = _MERIDIEM.sub(r"\1m", _THIN_SEPARATOR.sub(",", text))
    return _ALWAYS.sub("24/7", _OFFSET.sub(r"\1", text))


def tokens_of(text: str) -> list[Token]:
    """Split a text that went through `plain`; the list ends with `LOOKAHEAD` blank tokens."""
    tokens: list[Token] = []
    for match in _TOKEN.finditer(text):
        chunk = match["chunk"]
        if chunk is None:
            tokens.append(Token(match[0], match.start(), match.end()))
        else:
            inner = chunk.strip("_")
            tokens.extend(_pieces(inner, match.start() + chunk.index(inner)))
    return tokens + [Token("", len(text), len(text))] * LOOKAHEAD


def _pieces(chunk: str, start: int) -> list[Token]:
    if chunk.isdecimal():
        return [Token(chunk, start, start + len(chunk))]
    if not _DIGIT.search(chunk):
        return _split(chunk, start, "-") if "-" in chunk else [Token(chunk, start, start + len(chunk))]
    if stamp := _STAMP.fullmatch(chunk):
        return [Token(stamp[part], start + stamp.start(part), start + stamp.end(part)) for part in (1, 2)]
    if _HOURS.fullmatch(chunk):
        return [Token(part[0], start + part.start(), start + part.end()) for part in _HOUR.finditer(chunk)]
    head = _PREFIX.match(chunk) or _CODE.match(chunk)
    if head and (head[0].endswith("-") or head[0] in CURRENCIES):
        rest = _pieces(chunk[head.end() :], start + head.end())
        return [Token(head[0], start, start + head.end()), *rest]
    if _is_number(chunk):
        return [Token(chunk, start, start + len(chunk))]
    parts = [
        piece
        for part in _split(chunk, start, "-/")
        for piece in ([part] if _is_number(part.text) else _split(part.text, part.start, ","))
    ]
    if chunk[0].isdecimal() and all(_is_number(part.text) or not _DIGIT.search(part.text) for part in parts):
        return parts
    return [Token("", start, start + len(chunk))]


def _split(chunk: str, start: int, separators: str) -> list[Token]:
    found = re.finditer(rf"[^{separators}]+", chunk)
    return [Token(part[0], start + part.start(), start + part.end(), part.start() > 0) for part in found]


def _is_number(chunk: str) -> bool:
    if _DIGITS.fullmatch(chunk):
        return not _RANGE.fullmatch(chunk)
    match = NUMBER.fullmatch(chunk)
    return match is not None and chunk[0].isdecimal() and _is_suffix(match["suffix"])


def _is_suffix(suffix: str) -> bool:
    lower = suffix.lower()
    known = lower in ORDINAL_SUFFIXES or lower in SCALES or suffix in GLUED_SCALES or lower in ("", "am", "pm")
    return known or bool(units_named(suffix))
