"""The spellings of a text brought together, and everything taken out whose digits are no number."""

from __future__ import annotations

import re

from guardgraph.guards.facts.markers import without_markers
from guardgraph.guards.facts.units import SHARES

__all__ = ["plain", "visible"]

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
_GROUPS = re.compile(r"\d++")

_GROUPED = re.compile(r"\d[ '’\u00a0\u2009\u202f]\d{3}")
"""What both kinds of separated groups have in common."""


def visible(text: str) -> str:
    """Take out characters that are drawn as nothing: a soft hyphen or a zero-width blank parts no number."""
    return text if text.isascii() else _INVISIBLE.sub("", text)


def plain(text: str) -> str:
    """Take out addresses and markers and bring variants of spelling together.

    Most texts have none of it, so each step first looks for signs without which its pattern cannot match.
    """
    if "://" in text or "www." in text.lower():
        text = _URL.sub(" ; ", text)
    text = without_markers(text)
    if not text.isascii() and any(share in text for share in SHARES):
        text = _MIXED.sub(lambda match: f"{int(match[1]) + float(SHARES[match[2]])}", text)
    if "+" in text:
        text = _DIALLED.sub(_dialled, text)
    if _GROUPED.search(text):
        text = _BLANK_SEPARATED.sub(lambda match: match[0].replace(" ", ","), text)
        text = _THIN_SEPARATOR.sub(",", text)
    lower = text.lower()
    if ".m" in lower or ". m" in lower:
        text = _MERIDIEM.sub(r"\1m", text)
    if "T" in text and ":" in text:
        text = _OFFSET.sub(r"\1", text)
    return _ALWAYS.sub("24/7", text) if "24" in text else text


def _dialled(match: re.Match[str]) -> str:
    groups = _GROUPS.findall(match[0])
    # A telephone number abroad has eleven digits or more, with few exceptions, and at most 15 (ITU-T E.164).
    return "-".join(groups) if 11 <= sum(map(len, groups)) <= 15 else match[0]
