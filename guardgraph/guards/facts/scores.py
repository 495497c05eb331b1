"""Scores: 2-0, 2:0, "two to nil", "three votes to one". They are compared in their order, and are no small counts."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Final

from guardgraph.guards.facts.tokens import Token
from guardgraph.guards.facts.units import SMALL
from guardgraph.guards.facts.values import Amount, Written
from guardgraph.guards.word_lists import load_word_lists

_LISTS: Final[dict[str, Any]] = load_word_lists("results")
_TELLING: Final = frozenset(word for name in ("won", "lost", "voting", "beside_score") for word in _LISTS[name])
"""Words beside a score: "lost 0-2", "a 1-3 defeat"."""

_BEFORE: Final = 3
_BEHIND: Final = 2
"""Tokens before and behind a score among which they stand."""

MOST_POINTS: Final = 200
"""Above every number of a score."""

_SCORE: Final = re.compile(r"(\d{1,3})[-:](\d{1,3})")
_POINTS: Final = frozenset(
    {"vote", "votes", "goal", "goals", "point", "points", "run", "runs", "set", "sets", "game", "games"}
    | {"frame", "frames", "leg", "legs", "try", "tries", "match", "matches"}
)
"""What the numbers of a score count, between them."""

_NOTHING: Final = frozenset({"nil", "nothing", "love", "none", "zero"})
"""A score's 0 in words. As "one", most are no numbers elsewhere."""


def read_written_score(text: str) -> Written | None:
    """Read a score in one word: "2-0", "2:0"."""
    score = _SCORE.fullmatch(text)
    return write_score(int(score[1]), int(score[2])) if score else None


def write_score(one: Amount, other: Amount) -> Written:
    """Return what every spelling of a score is compared as."""
    return Written(f"{one}:{other}")


def is_told_as_score(tokens: Sequence[Token], first: int, end: int) -> bool:
    """Say whether words of a result stand beside two joined numbers, which are then no range: "won 0-2"."""
    around = [*tokens[max(first - _BEFORE, 0) : first], *tokens[end : end + _BEHIND]]
    return any(token.lower in _TELLING for token in around)


def is_score_number(token: Token) -> bool:
    """Say whether a token can be a number of a score."""
    return token.text.isdecimal() or token.lower in SMALL


def read_spoken_score(tokens: Sequence[Token], end: int, amount: Amount) -> Written | None:
    """Read the rest of a score behind its first number: "votes to one" of three, "nil" of "two-nil".

    Args:
        tokens: of a sentence.
        end: the index behind the number.
        amount: the number.
    """
    at = end + (is_counted := tokens[end].lower in _POINTS)
    is_joined = tokens[at].lower in ("to", "-")
    if not (is_joined or (tokens[at].glued and not is_counted)) or not 0 <= amount < MOST_POINTS:
        return None
    token = tokens[at + is_joined]
    if token.lower in _NOTHING:
        return write_score(amount, 0)
    other = int(token.text) if token.text.isdecimal() and len(token.text) < 4 else SMALL.get(token.lower)
    if other is None or other >= MOST_POINTS or not (is_counted or other == 1):
        return None
    return write_score(amount, other)
