"""Shares and places among the tokens of a text: "two-thirds", "half of", "3/4"; "5th", "the second"."""

from __future__ import annotations

import re
from fractions import Fraction
from typing import Final, TypeAlias

from guardgraph.guards.facts.grammar import FUNCTION_WORDS, LABELS
from guardgraph.guards.facts.numerals import SHARES
from guardgraph.guards.facts.tokens import Token
from guardgraph.guards.facts.units import FIRST, FRACTION, ORDINALS, SMALL, find_units_in_words
from guardgraph.guards.facts.values import Label, Ordinal, Quantity, Value, Written

_WRITTEN = re.compile(r"(\d{1,2})/(\d{1,3})")
_PARTS: Final = {"half": 2, "halves": 2, "quarter": 4, "quarters": 4, "third": 3, "thirds": 3}
_SUFFIXES: Final = frozenset({"st", "nd", "rd", "th"})
_PERIODS: Final = {"quarter": 4, "half": 2}
_EACH: Final = frozenset({"a", "an", "per", "every", "each"})

_Found: TypeAlias = tuple[tuple[Value, ...], int]
"""What it can mean, and the index of the token behind it."""


def begins_share_fact(text: str) -> bool:
    """Say whether a share can begin with a token of this text."""
    word = text.lower()
    begins = word in SHARES or word in ("a", "an", "one") or word in SMALL or word in _PARTS
    return begins or "/" in text or _is_share_denominator(word)


def read_share_fact(tokens: list[Token], at: int) -> _Found | None:
    """Read a share ("two-thirds", "a quarter of", "half the", "2/3"), also of a unit ("three quarters of an hour")."""
    token = tokens[at]
    if match := _WRITTEN.fullmatch(token.text):
        share = Fraction(int(match[1]), int(match[2])) if int(match[2]) else Fraction(0)
        readings, end = _read_share_of_unit(tokens, share, at + 1)
        return ((Written(token.text), *readings) if end == at + 1 else readings), end
    if token.lower in SHARES:
        return _read_share_of_unit(tokens, Fraction(SHARES[token.lower]), at + 1)
    number, part = (1 if token.lower in ("a", "an", "one") else SMALL.get(token.lower)), at + 1
    if number is None:
        number, part = 1, at
    if tokens[part].lower not in _PARTS and not _is_share_denominator(tokens[part].lower):
        return None
    if part == at and not _is_half_or_quarter(tokens, at):
        return None
    if not _is_share_of_number(tokens, at, part, number):
        return None
    found = _read_share_of_unit(tokens, Fraction(number, _read_share_denominator(tokens[part].lower)), part + 1)
    if tokens[part].lower == "quarters":  # of a year
        return (*found[0], Quantity(number, counted="surely")), found[1]
    return found


def _is_share_denominator(word: str) -> bool:
    return word.removesuffix("s") in ORDINALS


def _read_share_denominator(word: str) -> int:
    return _PARTS.get(word) or ORDINALS[word.removesuffix("s")]


def _is_half_or_quarter(tokens: list[Token], at: int) -> bool:
    word, following = tokens[at].lower, tokens[at + 1].lower
    if word == "half":
        return following in ("of", "the", "their", "its", "all", "his", "her", "our")
    return word == "quarter" and following == "of"


def _is_share_of_number(tokens: list[Token], at: int, part: int, number: int) -> bool:
    """Tell "a third of the users" from "a third party", and "one fifth" from "one fifth grader"."""
    word, following = tokens[part].lower, tokens[part + 1]
    if part == at or tokens[part].glued or (number > 1 and word.endswith("s")):
        return True
    return number == 1 and (following.lower == "of" or not following.text[:1].isalpha())


def _read_share_of_unit(tokens: list[Token], share: Fraction, end: int) -> _Found:
    """Let a share of a unit be an amount: "a quarter of an hour"."""
    for behind in (end, end + 1) if tokens[end].lower == "of" else (end,):
        if tokens[behind].lower in ("a", "an"):
            units, width = find_units_in_words(tokens[behind + 1].text, tokens[behind + 2].text)
            if units:
                return tuple(Quantity(share, unit) for unit in units), behind + 1 + width
    units, width = find_units_in_words(tokens[end].text, tokens[end + 1].text)
    if units and tokens[end].lower not in FUNCTION_WORDS:
        return tuple(Quantity(share, unit) for unit in units), end + width
    return ((Quantity(share, FRACTION),) if 0 < share <= 1 else ()), end


def begins_ordinal_fact(text: str) -> bool:
    """Say whether a place can begin with a token of this text: digits with a suffix, or a word."""
    if text[:1].isdecimal():
        return not text.isdecimal()
    return text.lower() in FIRST or text.lower() in ORDINALS


def read_ordinal_fact(tokens: list[Token], at: int) -> _Found | None:
    """Read a place: "5th", "the second", and what it labels: "third quarter", "second step"."""
    place = _read_ordinal_place(tokens, at)
    if place is None:
        return None
    of = LABELS.get(tokens[at + 1].lower, "")
    if of in _PERIODS and place > _PERIODS[of]:
        of = ""
    if of in _PERIODS:
        return (Label(of, str(place), place),), at + 2
    return (Ordinal(place),), at + 1


def _read_ordinal_place(tokens: list[Token], at: int) -> int | None:
    token, before = tokens[at], tokens[at - 1].lower
    if token.number:
        amount, suffix = token.number
        return int(amount) if amount is not None and suffix.lower() in _SUFFIXES else None
    if token.lower == "first" and (before == "at" or [each.lower for each in tokens[at + 1 : at + 3]] == ["of", "all"]):
        return None
    following = tokens[at + 1].lower
    if token.lower == "second" and before in _EACH and (not following.isalpha() or following in FUNCTION_WORDS):
        return None
    return FIRST.get(token.lower) or ORDINALS.get(token.lower)
