"""Results of games and votes: who won, and how many were for it.

"Castle lost 0-2" says what "the Rovers won 2-0 against Castle" says, and "the Rovers lost 0-2" the opposite of it, so a
score is held against the side that it is told of. "Three voted for it and one against" is a vote of 3-1, and which of
the two were for it, the words of its sentence say: passed or rejected.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final, NamedTuple

from guardgraph.guards.facts.grammar import FUNCTION_WORDS
from guardgraph.guards.facts.numbers import FoundNumber, NumberSentence
from guardgraph.guards.facts.tokens import Token
from guardgraph.guards.facts.units import SMALL
from guardgraph.guards.facts.values import Number, Quantity, Written
from guardgraph.guards.word_lists import load_word_lists

_LISTS: Final[dict[str, Any]] = load_word_lists("results")

_WON, _LOST, _PASSED, _REJECTED, _VOTING, _FOR, _AGAINST = (
    frozenset(_LISTS[name]) for name in ("won", "lost", "passed", "rejected", "voting", "for", "against")
)

_SIDES: Final = _FOR | _AGAINST

TELLING: Final = _WON | _LOST | _VOTING | (_AGAINST - {"no"}) | {"favour", "favor"}
"""Words of a result; a text without any tells none."""

_JOINING: Final = frozenset({",", ";", ":", ".", "and", "but", "while", "whereas", "before", "after", "then"})
"""What parts the sides of one game from what else a sentence tells."""

_NEAR: Final = 5
"""Tokens behind a number of votes among which stands what they were for."""

_WIDTH: Final = 16
"""Tokens on each side of a score that are looked at."""


class Result(NamedTuple):
    """What a sentence says of a score."""

    own: int
    """The points that are told first."""
    others: int
    wins: bool
    """What its verb says of the side that is told."""
    side: frozenset[str]
    """Words of the name before the verb."""
    opponent: frozenset[str]
    """Words of names behind it."""
    number: Number

    def is_of_same_side(self, other: Result) -> bool:
        """Say whether two results are told of one side."""
        return not self.side.isdisjoint(other.side) and self.side.isdisjoint(other.opponent)

    def is_of_other_side(self, other: Result) -> bool:
        """Say whether two results are told of the two sides of one game."""
        if self.side.isdisjoint(other.opponent) or not self.side.isdisjoint(other.side):
            return False
        return not self.opponent or not self.opponent.isdisjoint(other.side)


class Vote(NamedTuple):
    """How many were for something, and how many against."""

    backing: int
    opposing: int


class Results:
    """The results that texts tell.

    Args:
        sentences: of the texts, with their numbers.
    """

    def __init__(self, sentences: Iterable[NumberSentence]) -> None:
        self._results: list[Result] = []
        self._votes: set[Vote] = set()
        self._backing, self._opposing = set[int](), set[int]()
        for sentence in sentences:
            self._results += read_results(sentence)
            self._votes.update(read_votes(sentence))
            self._backing.update(_list_counts(sentence.tokens, _FOR))
            self._opposing.update(_list_counts(sentence.tokens, _AGAINST))

    def cover_number(self, sentence: NumberSentence, each: FoundNumber) -> bool:
        """Say whether a number of an answer is of a result that the texts tell otherwise."""
        number = sentence.name_number(each)
        if any(result.number == number and self._is_told_of_other_side(result) for result in read_results(sentence)):
            return True
        said = {*read_votes(sentence)} & self._votes
        value = each.readings[0] if each.readings else None
        if not isinstance(value, Quantity):
            return bool(said) and isinstance(value, Written)
        return any(value.amount in vote or value.amount == sum(vote) for vote in said)

    def list_contradicted(self, sentences: Iterable[NumberSentence]) -> list[Number]:
        """Return the numbers of an answer's results that are told of the wrong side."""
        found: list[Number] = []
        for sentence in sentences:
            found += [result.number for result in read_results(sentence) if self._is_told_of_wrong_side(result)]
            is_vote = self._votes and any(token.lower in _VOTING for token in sentence.tokens)
            votes = list(read_votes(sentence)) if is_vote else []
            if votes and not any(map(self._is_known_vote, votes)):
                amounts = {amount for vote in votes for amount in vote}
                found += [sentence.name_number(each) for each in sentence.found if _read_count(each) in amounts]
        return found

    def _is_told_of_other_side(self, result: Result) -> bool:
        return any(
            (result.own, result.others) == (other.others, other.own)
            and result.wins != other.wins
            and result.is_of_other_side(other)
            for other in self._results
        )

    def _is_told_of_wrong_side(self, result: Result) -> bool:
        same = [other for other in self._results if {other.own, other.others} == {result.own, result.others}]
        wrong = [other for other in same if (other.wins != result.wins) == result.is_of_same_side(other)]
        told = [each for each in wrong if result.is_of_same_side(each) or result.is_of_other_side(each)]
        return bool(told) and len(told) == len(same)

    def _is_known_vote(self, vote: Vote) -> bool:
        return vote in self._votes or (vote.backing in self._backing and vote.opposing in self._opposing)


def read_results(sentence: NumberSentence) -> Iterator[Result]:
    """Yield what a sentence says of who won or lost, with its scores."""
    tokens = sentence.tokens
    for each in sentence.found:
        score = next((value.text for value in each.readings if isinstance(value, Written) and ":" in value.text), "")
        own, _, others = score.partition(":")
        if not (own.isdecimal() and others.isdecimal()):
            continue
        start = max(each.first - _WIDTH, 0)
        verbs = [at for at in range(start, each.first) if tokens[at].lower in _WON | _LOST]
        if not verbs:
            continue
        at = verbs[-1]
        wins = (tokens[at].lower in _WON) != _is_passive(tokens, at)
        side = _list_names(reversed(tokens[start:at]))
        behind = [token for token in tokens[at + 1 : each.end + _WIDTH] if not token.number]
        if side:
            yield Result(int(own), int(others), wins, side, _list_names(behind), sentence.name_number(each))


def _is_passive(tokens: Sequence[Token], at: int) -> bool:
    """Say whether "beaten" and "defeated" are told of the one who lost: "was beaten"."""
    return tokens[at].lower in _WON and not {"was", "were", "been", "being", "got"}.isdisjoint(
        token.lower for token in tokens[max(at - 2, 0) : at]
    )


def _list_names(tokens: Iterable[Token]) -> frozenset[str]:
    """Return the words with a capital up to what parts clauses."""
    found: set[str] = set()
    for token in tokens:
        if token.lower in _JOINING and found:
            break
        if token.text[:1].isupper() and token.lower not in FUNCTION_WORDS:
            found.add(token.lower)
    return frozenset(found)


def read_votes(sentence: NumberSentence) -> Iterator[Vote]:
    """Yield the votes of a sentence: "by a vote of 3-1", "three voted for it and one against"."""
    tokens = sentence.tokens
    words = {token.lower for token in tokens}
    backing, opposing = _list_counts(tokens, _FOR), _list_counts(tokens, _AGAINST)
    if len(backing) == len(opposing) == 1:
        yield Vote(backing[0], opposing[0])
    if words.isdisjoint(_VOTING | _PASSED | _REJECTED):
        return
    for each in sentence.found:
        for value in each.readings:
            one, _, other = value.text.partition(":") if isinstance(value, Written) else ("", "", "")
            if one.isdecimal() and other.isdecimal():
                yield _read_vote(int(one), int(other), [token.lower for token in _list_around(tokens, each)])


def _list_around(tokens: Sequence[Token], each: FoundNumber) -> Sequence[Token]:
    return tokens[max(each.first - _WIDTH, 0) : each.end + _NEAR]


def _read_vote(one: int, other: int, words: Sequence[str]) -> Vote:
    """Let the words around a score say which of its numbers were for it; without any, it is the first."""
    passed, rejected = not _PASSED.isdisjoint(words), not _REJECTED.isdisjoint(words)
    if passed == rejected:
        return Vote(one, other)
    return Vote(max(one, other), min(one, other)) if passed else Vote(min(one, other), max(one, other))


def _list_counts(tokens: Sequence[Token], words: frozenset[str]) -> list[int]:
    """Return how many were for or against something: "three voted for it", "two members against", "5 for"."""
    found: list[int] = []
    for at, token in enumerate(tokens):
        for before in reversed(tokens[max(at - _NEAR, 0) : at]) if token.lower in words else ():
            if (amount := _read_small(before)) is not None:
                found.append(amount)
            if amount is not None or before.lower in _SIDES or not before.text.isalpha():
                break
    return found


def _read_small(token: Token) -> int | None:
    if token.text.isdecimal() and len(token.text) < 4:
        return int(token.text)
    return SMALL.get(token.lower)


def _read_count(each: FoundNumber) -> int | None:
    value = each.readings[0] if each.readings else None
    return value.amount if isinstance(value, Quantity) and isinstance(value.amount, int) else None
