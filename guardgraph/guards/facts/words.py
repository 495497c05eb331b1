"""Number words among the tokens of a text, and what words say about numbers in passing."""

from __future__ import annotations

from fractions import Fraction
from typing import Final, TypeAlias

from guardgraph.guards.facts.grammar import WITHIN
from guardgraph.guards.facts.tokens import Token
from guardgraph.guards.facts.units import EACH, SCALES, SHARES, SMALL, units_at
from guardgraph.guards.facts.values import Amount, Quantity, Value

__all__ = ["implied", "spelled"]

_LENGTHS: Final = frozenset({"time", "calendar", "business hour", "business day"})

_Implied: TypeAlias = tuple[tuple[Value, ...], int]
"""What it can mean, and the index of the token behind it."""


def spelled(tokens: list[Token], at: int) -> tuple[Amount | None, int, bool]:
    """Read number words: the value, the index after them, and whether they count only with a unit."""
    word, following = tokens[at].lower, tokens[at + 1].lower
    if word == "half" and following in ("a", "an"):
        return Fraction(1, 2), at + 2, True
    if word in SHARES:
        return SHARES[word], at + 1, True
    if word in ("a", "an") and following != "hundred":
        near = tokens[at - 1].lower in WITHIN or following in SCALES
        return (1, at + 1, True) if near else (None, at, True)
    value, start, at = (1, at, at + 1) if word == "a" else (-1, at, at)
    while (longer := _with_word(value, tokens[at].lower, tokens[at + 1].lower)) is not None:
        value, at = longer, at + 1
    return (value if at > start else None), at, at == start + 1 and value == 1


def _with_word(value: int, word: str, following: str) -> int | None:
    """Return the number that a word more makes of a number, None where the number ends before it."""
    open_tens = value % 100 >= 20 and value % 10 == 0
    hundreds = value >= 100 and value % 100 == 0
    small = SMALL.get(word)
    if small is not None and (value < 0 or hundreds or (open_tens and 1 <= small <= 9)):
        return max(value, 0) + small
    if word == "hundred" and 0 < value < 10:
        return value * 100
    return value if word == "and" and hundreds and following in SMALL else None


def implied(tokens: list[Token], at: int) -> _Implied | None:
    """Read what licenses a number and claims none: "an hour", "every minute"."""
    if tokens[at].lower not in EACH or tokens[at - 1].lower == "of":
        return None
    units, end = units_at(tokens[at + 1].text, tokens[at + 2].text)
    lengths = tuple(Quantity(1, unit) for unit in units if unit.dimension in _LENGTHS)
    return (lengths, at + 1 + end) if lengths else None
