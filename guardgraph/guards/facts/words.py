"""Number words among the tokens of a text, and what words say about numbers in passing."""

from __future__ import annotations

from fractions import Fraction
from typing import Final, TypeAlias

from guardgraph.guards.facts.grammar import WITHIN
from guardgraph.guards.facts.numerals import SHARES
from guardgraph.guards.facts.tokens import Token
from guardgraph.guards.facts.units import EACH, SCALES, SMALL, find_units_in_words
from guardgraph.guards.facts.values import Amount, Quantity, Value

_LENGTHS: Final = frozenset({"time", "calendar", "business hour", "business day"})

_Implied: TypeAlias = tuple[tuple[Value, ...], int]
"""What it can mean, and the index of the token behind it."""


def read_number_word(tokens: list[Token], at: int) -> tuple[Amount | None, int, bool]:
    """Read a number word: the value, the index after it, and whether it counts only with a unit.

    Numbers of several words came together before, as one token in digits.
    """
    word, following = tokens[at].lower, tokens[at + 1].lower
    if word == "half" and following in ("a", "an"):
        return Fraction(1, 2), at + 2, True
    if word in SHARES:
        return SHARES[word], at + 1, True
    if word in ("a", "an"):
        near = tokens[at - 1].lower in WITHIN or following in SCALES or _has_unit_part(tokens, at + 2)
        return (1, at + 1, True) if near else (None, at, True)
    value = SMALL.get(word)
    return value, at + 1, value == 1


def _has_unit_part(tokens: list[Token], at: int) -> bool:
    """Say whether a part of a unit follows the unit: "an hour and a half"."""
    words = [token.lower for token in tokens[at : at + 3]]
    return words[:2] == ["and", "a"] and words[2] in ("half", "quarter")


def read_implied_number(tokens: list[Token], at: int) -> _Implied | None:
    """Read what licenses a number and claims none: "an hour", "every minute"."""
    if tokens[at].lower not in EACH or tokens[at - 1].lower == "of":
        return None
    units, end = find_units_in_words(tokens[at + 1].text, tokens[at + 2].text)
    lengths = tuple(Quantity(1, unit) for unit in units if unit.dimension in _LENGTHS)
    return (lengths, at + 1 + end) if lengths else None
