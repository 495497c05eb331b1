"""Which readers are asked about a token: those for which its text can begin a number of their kind."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, TypeAlias

from guardgraph.guards.facts.clocks import begins_clock, clock_at
from guardgraph.guards.facts.shares import begins_ordinal, begins_share, ordinal_at, share_at
from guardgraph.guards.facts.times import begins_date, begins_decade, begins_period, date_at, decade_at, period_at
from guardgraph.guards.facts.tokens import KNOWN_WORD_CHARS, KNOWN_WORDS, Token
from guardgraph.guards.facts.values import Value
from guardgraph.plain.memory import remembered

__all__ = ["readers_of"]

_Moment: TypeAlias = tuple[tuple[Value, ...], int]
_Reader: TypeAlias = Callable[[list[Token], int], _Moment | None]

_READERS: Final[tuple[tuple[Callable[[str], bool], _Reader], ...]] = (
    (begins_clock, clock_at),
    (begins_date, date_at),
    (begins_period, period_at),
    (begins_decade, decade_at),
    (begins_share, share_at),
    (begins_ordinal, ordinal_at),
)
"""What reads numbers that are no plain amounts, in the order in which they are tried, and what each begins with."""


@remembered(texts=KNOWN_WORDS, chars=KNOWN_WORD_CHARS)
def readers_of(text: str) -> tuple[_Reader, ...]:
    """Return what can read a number that begins with a token of this text: most can not."""
    return tuple(reader for begins, reader in _READERS if begins(text))
