"""Which readers are asked about a token: those for which its text can begin a number of their kind."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, TypeAlias

from guardgraph.guards.facts.clocks import begins_clock_fact, read_clock_fact
from guardgraph.guards.facts.shares import begins_ordinal_fact, begins_share_fact, read_ordinal_fact, read_share_fact
from guardgraph.guards.facts.times import (
    begins_date_fact,
    begins_decade_fact,
    begins_period_fact,
    read_date_fact,
    read_decade_fact,
    read_period_fact,
)
from guardgraph.guards.facts.tokens import KNOWN_WORD_CHARS, KNOWN_WORDS, Token
from guardgraph.guards.facts.values import Value
from guardgraph.plain.memory import remember_by_text

_Moment: TypeAlias = tuple[tuple[Value, ...], int]
_Reader: TypeAlias = Callable[[list[Token], int], _Moment | None]

_READERS: Final[tuple[tuple[Callable[[str], bool], _Reader], ...]] = (
    (begins_clock_fact, read_clock_fact),
    (begins_date_fact, read_date_fact),
    (begins_period_fact, read_period_fact),
    (begins_decade_fact, read_decade_fact),
    (begins_share_fact, read_share_fact),
    (begins_ordinal_fact, read_ordinal_fact),
)
"""What reads numbers that are no plain amounts, in the order in which they are tried, and what each begins with."""


@remember_by_text(texts=KNOWN_WORDS, chars=KNOWN_WORD_CHARS)
def choose_number_readers(text: str) -> tuple[_Reader, ...]:
    """Return what can read a number that begins with a token of this text: most can not."""
    return tuple(reader for begins, reader in _READERS if begins(text))
