"""What an answer says contrary to its sources: of changes, rates, places, and of results of games and votes.

Told are only changes whose two values stand beside "from" and "to" behind a verb of rising or falling ("rose from 412
to 380"). Years, places in an order, and what a sentence denies are left out. Of money ("$9 yearly" of "$9 per month")
an adjective may belong to another word ("billed yearly"), so that it is no rate of its own: it contradicts a source
that has the amount for another length of time wherever it has it. A price "in the US" contradicts a source that has
this price of the EU alone.

"Castle lost 0-2" says what "the Rovers won 2-0 against Castle" says, and "the Rovers lost 0-2" the opposite of it, so a
score is held against the side that it is told of. "Three voted for it and one against" is a vote of 3-1, and which of
the two were for it, the words of its sentence say: passed or rejected.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from fractions import Fraction
from functools import cache
from itertools import islice, pairwise
from typing import Any, Final, NamedTuple, TypeAlias

from guardgraph.guards.facts.numbers import FoundNumber, NumberSentence
from guardgraph.guards.facts.quantities import Hit
from guardgraph.guards.facts.relations import DAY, LENGTHS_IN_DAYS
from guardgraph.guards.facts.tokens import LOOKAHEAD, Token, show_number_tokens
from guardgraph.guards.facts.values import RATIO, Amount, Number, Quantity, Unit, Written
from guardgraph.guards.facts.words import FUNCTION_WORDS, RATED, SMALL, TIMES_SAID, find_units
from guardgraph.guards.languages.tables import load_territory_names, load_weekday_names
from guardgraph.guards.word_lists import load_word_lists

_RISING: Final = frozenset(
    [
        "rose",
        "rise",
        "rises",
        "risen",
        "rising",
        "increased",
        "increases",
        "increasing",
        "grew",
        "grows",
        "grown",
        "climbed",
        "climbs",
        "jumped",
        "surged",
        "raised",
        "raises",
        "boosted",
        "boosts",
    ]
)
_FALLING: Final = frozenset(
    [
        "fell",
        "fall",
        "falls",
        "fallen",
        "falling",
        "dropped",
        "drops",
        "decreased",
        "decreases",
        "decreasing",
        "declined",
        "declines",
        "shrank",
        "lowered",
        "lowers",
        "reduced",
        "reduces",
        "cut",
        "cuts",
        "shortened",
        "sank",
    ]
)
CHANGING: Final = _RISING | _FALLING
"""Words of a change; a text without any says none."""

_DENYING: Final = frozenset(
    {"not", "never", "no", "t", "without", "than", "if", "would", "could", "should", "rank", "place"}
)
_WINDOW: Final = 8
"""Tokens between the verb and the first value, at most."""

_NEAR: Final = 4
"""Tokens between the first value and the word before the second, at most."""


class ValueChange(NamedTuple):
    """A change from one amount to another."""

    start: Amount
    end: Amount
    unit: Unit
    rises: bool
    """What its verb says."""
    numbers: tuple[Number, Number]
    """As written, in the order of the sentence."""

    @property
    def is_contrary(self) -> bool:
        """Whether its verb says the opposite of its values."""
        return self.start != self.end and self.rises != (self.end > self.start)


def read_changes(sentence: NumberSentence) -> Iterator[ValueChange]:
    """Yield the changes that a sentence states."""
    if CHANGING.isdisjoint(token.lower for token in sentence.tokens):
        return
    for one, other in pairwise(sentence.found):
        order = _read_order(sentence.tokens, one, other)
        values = _read_amount(one), _read_amount(other)
        rises = _read_direction(sentence.tokens, one.first)
        if order and rises is not None and values[0] and values[1] and values[0][1] == values[1][1]:
            start, end = (values[0][0], values[1][0]) if order == "to" else (values[1][0], values[0][0])
            yield ValueChange(start, end, values[0][1], rises, (sentence.name_number(one), sentence.name_number(other)))


def list_contrary_changes(sentences: Iterable[NumberSentence], sources: Iterable[NumberSentence]) -> list[Number]:
    """Return the numbers of changes whose direction is another than that of their values, or of their source.

    Args:
        sentences: of an answer.
        sources: of what it cites. A source that states the change so, or that has one of its direction, excuses it.
    """
    said = [change for sentence in sentences for change in read_changes(sentence)]
    if not said:
        return []
    listed = list(sources)
    known = [change for sentence in listed for change in read_changes(sentence)]
    words = {token.lower for sentence in listed for token in sentence.tokens} if known else set[str]()
    return [
        number
        for change in said
        if not any(_is_same(change, other) for other in known)
        if change.is_contrary or _is_reversed(change, known, words)
        for number in change.numbers
    ]


def _is_same(one: ValueChange, other: ValueChange) -> bool:
    return one[:4] == other[:4]


def _is_reversed(change: ValueChange, known: Iterable[ValueChange], words: Collection[str]) -> bool:
    """Say whether a source has a change only the other way round."""
    if not (_RISING if change.rises else _FALLING).isdisjoint(words):
        return False
    return any((other.end, other.start, other.unit) == change[:3] for other in known)


def _read_order(tokens: Sequence[Token], one: FoundNumber, other: FoundNumber) -> str:
    """Return the word before the second value: "from 3 to 5", "to 5 from 3"; "" where none says an order."""
    first, second = tokens[one.first - 1].lower, tokens[other.first - 1].lower
    is_near = other.first - one.end <= _NEAR
    return second if is_near and (first, second) in (("from", "to"), ("to", "from")) else ""


def _read_amount(found: FoundNumber) -> tuple[Amount, Unit] | None:
    """Return the amount that a number is, in the base of its unit; None where it can be something else, too."""
    values = [value for value in found.readings if not isinstance(value, Written)]
    kinds = [value for value in values if isinstance(value, Quantity)]
    if found.hit is None or found.hit.also is not None or len(kinds) != len(values) or not kinds:
        return None
    value = kinds[0]
    if value.bound or len({(each.amount, each.unit) for each in kinds}) > 1:
        return None
    return value.unit.convert_to_base(value.amount), Unit(value.unit.dimension, 1)


def _read_direction(tokens: Sequence[Token], first: int) -> bool | None:
    """Say whether the words before a value say a rise (True) or a fall (False), None where nothing or both do."""
    words = [token.lower for token in tokens[max(first - _WINDOW, 0) : first]]
    rises, falls = not _RISING.isdisjoint(words), not _FALLING.isdisjoint(words)
    return None if rises == falls or not _DENYING.isdisjoint(words) else rises


# Rates

_LENGTHS: Final = frozenset({"time", "calendar"})

_Sum: TypeAlias = tuple[str, Amount]
"""A currency, or that it is a share, and how much of it."""


def list_contrary_rates(sentences: Iterable[NumberSentence], sources: Iterable[NumberSentence]) -> list[Number]:
    """Return the amounts of money, and the shares, that an answer states for another length of time than its sources.

    Args:
        sentences: of an answer.
        sources: of what it cites.
    """
    said = [
        (each, rate, sentence.name_number(found))
        for sentence in sentences
        for found in sentence.found
        if found.hit and found.hit.per is None and (rate := _read_length(found.hit.perhaps_per))
        for each in _list_sums(found.hit)
    ]
    if not said:
        return []
    known: dict[_Sum, set[Unit | None]] = {}
    for hit in (found.hit for sentence in sources for found in sentence.found if found.hit):
        for each in _list_sums(hit):
            rates = (_read_length(rate) for rate in (hit.per, hit.also_per, hit.perhaps_per))
            known.setdefault(each, set()).add(next((rate for rate in rates if rate), None))
    return [number for each, rate, number in said if _is_other_rate(each, rate, known.get(each, set()))]


def _is_other_rate(each: _Sum, rate: Unit | None, rates: Collection[Unit | None]) -> bool:
    """Say whether sources have an amount for other lengths of time; of money, an amount without any may be for each."""
    others = {other for other in rates if other is not None}
    return bool(others) and rate not in others and (each[0] == RATIO or None not in rates)


def _list_sums(hit: Hit) -> Iterator[_Sum]:
    return (
        (unit.dimension, hit.amount * scale * unit.factor)
        for scale, unit in hit.measures
        if unit.dimension.isupper() or unit.dimension == RATIO
    )


def _read_length(unit: Unit | None) -> Unit | None:
    """Return a rate's length of time; None where it is of something else, or there is none."""
    return unit if unit is not None and unit.dimension in _LENGTHS else None


# How often

_EVERY: Final = frozenset({"every", "each"})
_PER: Final = frozenset({"a", "an", "per"})
_COUNTING: Final = frozenset({*TIMES_SAID, "times"})
_WEEK: Final = Unit("time", 7 * DAY)
_TWO_TIMES: Final = frozenset({"morning", "evening"})
"""Words of a sentence that may tell of two times a day in other words."""

_SAME: Final = Fraction(1, 10)
"""How far two frequencies may lie from one another, by the lower: every 180 days is about twice a year."""
_OTHER: Final = {"other": 2, "second": 2, "third": 3, "fourth": 4}
"""Words between "every" and a length of time: "every second year"."""
_MOST_FREQUENCIES: Final = 64
"""Frequencies of an answer, and of its sources, that are looked at."""
_NIGHTLY: Final = frozenset({"night", "morning", "afternoon", "evening"})


class _Frequency(NamedTuple):
    """How often a sentence says that something is."""

    rate: Fraction
    """Times a day."""
    first: int
    end: int


def list_contrary_frequencies(sentences: Iterable[NumberSentence], sources: Iterable[NumberSentence]) -> list[Number]:
    """Return how often an answer says that something is, where its sources have it in another frequency alone.

    "Twice a day" contradicts a source that has "once a day" of what shares a word with it, and "twice" nowhere.

    Args:
        sentences: of an answer.
        sources: of what it cites.
    """
    said = {
        (at, each.rate): (each, sentence)
        for at, sentence in enumerate(sentences)
        for each in _list_frequencies(sentence.tokens)
    }
    if not said:
        return []
    told: dict[Fraction, set[str]] = {}
    known: set[Fraction] = set()
    for sentence in sources:
        stated = {each.rate for each in _list_frequencies(sentence.tokens)}
        known |= stated | set(_list_named_rates(sentence.tokens))
        words = _list_content(sentence.tokens)
        if not words >= _TWO_TIMES:
            for rate in stated:
                told.setdefault(rate, set()).update(words)
    looked_at, told = islice(said.items(), _MOST_FREQUENCIES), dict(islice(told.items(), _MOST_FREQUENCIES))
    found: list[Number] = []
    for (at, rate), (each, sentence) in looked_at:
        is_known = any(_is_same_rate(rate, other) for other in known)
        # "Three concerts every year" are three a year.
        if is_known or sentence.tokens[each.first].lower in _EVERY:
            continue
        own, words = [other for place, other in said if place == at], _list_content(sentence.tokens)
        if any(
            (len(words) <= 1 or not words.isdisjoint(others))
            and not any(_is_same_rate(other, stated) for stated in own)
            for other, others in told.items()
        ):
            shown = show_number_tokens(list(sentence.tokens), each.first, each.end)
            found.append(Number(shown, (Written(shown),)))
    return found


def _is_same_rate(one: Fraction, other: Fraction) -> bool:
    return abs(one - other) <= _SAME * min(one, other)


def _list_frequencies(tokens: Sequence[Token]) -> Iterator[_Frequency]:
    """Yield how often something is: "twice a day", "3 times weekly", "daily", "every 2 hours", "every Monday"."""
    for at in range(len(tokens) - LOOKAHEAD):
        word, following = tokens[at].lower, tokens[at + 1]
        is_count = word in TIMES_SAID or following.lower == "times"
        if word in RATED and tokens[at - 1].lower not in _COUNTING:
            yield _Frequency(_rate_of(1, find_units(RATED[word])[0]), at, at + 1)
        elif word in _EVERY:
            amount = _OTHER.get(following.lower) if _read_length_word(tokens[at + 2]) else None
            amount = amount or _read_small(following)
            behind = at + 1 if amount is None else at + 2
            if unit := _read_length_word(tokens[behind]):
                yield _Frequency(_rate_of(1, unit, amount or 1), at, behind + 1)
            elif tokens[behind].lower in load_weekday_names("en"):
                yield _Frequency(_rate_of(1, _WEEK), at, behind + 1)
            elif tokens[behind].lower in _NIGHTLY:
                yield _Frequency(Fraction(1), at, behind + 1)
        elif is_count and (found := _read_counted_rate(tokens, at)):
            yield found


def _read_counted_rate(tokens: Sequence[Token], at: int) -> _Frequency | None:
    """Read "twice a day", "3 times weekly"."""
    times = TIMES_SAID.get(tokens[at].lower)
    found = _read_per(tokens, at + 1 if times else at + 2)
    times = times or _read_small(tokens[at])
    return _Frequency(_rate_of(times, found[0]), at, found[1]) if times and found else None


def _rate_of(times: int, unit: Unit, of: int = 1) -> Fraction:
    """Return how often something is in a day that is so many times in so many units."""
    return times / (Fraction(unit.factor) * LENGTHS_IN_DAYS[unit.dimension] * max(of, 1))


def _read_per(tokens: Sequence[Token], at: int) -> tuple[Unit, int] | None:
    """Read "a day", "per week", "each month", "daily"."""
    if rated := RATED.get(tokens[at].lower):
        return find_units(rated)[0], at + 1
    unit = _read_length_word(tokens[at + 1]) if tokens[at].lower in _PER | _EVERY else None
    return (unit, at + 2) if unit else None


def _read_length_word(token: Token) -> Unit | None:
    return next((unit for unit in find_units(token.text) if unit.dimension in _LENGTHS), None)


def _list_named_rates(tokens: Sequence[Token]) -> Iterator[Fraction]:
    """Yield once for each length of time that anything is told for: "$5 a month"."""
    for at in range(len(tokens) - LOOKAHEAD):
        if (
            tokens[at].lower in _PER
            and tokens[at - 1].lower not in _COUNTING
            and (unit := _read_length_word(tokens[at + 1]))
        ):
            yield _rate_of(1, unit)


def _list_content(tokens: Sequence[Token]) -> frozenset[str]:
    return frozenset(token.lower for token in tokens if token.text.isalpha()) - FUNCTION_WORDS - _UNTELLING


_UNTELLING: Final = frozenset({*RATED, *_COUNTING, "day", "week", "month", "year", "hour"})


# Places

_EUROPE: Final = "150"
_UNITED: Final = {"EU": _EUROPE, "EZ": _EUROPE}
"""Regions of which texts speak as of one."""

_OUTSIDE: Final = frozenset({"US", "CA", "GB", "AU", "NZ", "JP", "CN", "IN", "BR", "MX", "KR", "SG", "CH"})
"""Territories of which a price of Europe is none; of others it may be one."""

_WORD: Final = re.compile(r"[^\W\d_]+")

_SPOKEN_CODES: Final = frozenset({"US", "USA", "UK", "EU"})


def list_contrary_places(sentences: Iterable[NumberSentence], sources: Iterable[NumberSentence]) -> list[Number]:
    """Return the prices that an answer states of another territory than every source.

    Args:
        sentences: of an answer.
        sources: of what it cites. Only what one sentence says of one territory is told.
    """
    said = [
        (each, places, sentence.name_number(found))
        for sentence in sentences
        if len(places := _list_places(sentence.tokens)) == 1
        for found in sentence.found
        if found.hit
        for each in _list_sums(found.hit)
        if each[0] != RATIO
    ]
    if not said:
        return []
    known: dict[_Sum, list[frozenset[str]]] = {}
    for sentence in sources:
        places = _list_places(sentence.tokens)
        for each in (each for found in sentence.found if found.hit for each in _list_sums(found.hit)):
            known.setdefault(each, []).append(places)
    return [
        number
        for each, (place,), number in said
        if (listed := known.get(each)) and all(len(other) == 1 and _is_elsewhere(place, *other) for other in listed)
    ]


def names_place(text: str) -> bool:
    """Say whether a text may name a territory: a word or two of it are one's name."""
    lower = f" {' '.join(_WORD.findall(text))} ".lower()
    return any(f" {name.lower()} " in lower for name in _index_places())


def _is_elsewhere(place: str, other: str) -> bool:
    outside = {place, other} - {_EUROPE}
    return place != other and (len(outside) == 2 or outside <= _OUTSIDE)


def _list_places(tokens: Sequence[Token]) -> frozenset[str]:
    names, found = _index_places(), set[str]()
    for at, token in enumerate(tokens):
        if not token.text[:1].isupper():
            continue
        code = token.text if token.text in _SPOKEN_CODES and tokens[at + 1].text != "$" else ""
        name = names.get(f"{token.lower} {tokens[at + 1].lower}") or names.get(code or token.lower)
        if name and (code or not token.text.isupper()):
            found.add(name)
    return frozenset(found)


@cache
def _index_places() -> dict[str, str]:
    """Return territories by their names of one or two words, and by the codes that texts say."""
    listed = [each for each in load_territory_names("en") if each.code.isalpha() or each.code == _EUROPE]
    named = {each.name.lower(): _UNITED.get(each.code, each.code) for each in listed if each.name.count(" ") < 2}
    coded = {code: _UNITED.get(each.code, each.code) for each in listed for code in (each.code, *each.others)}
    return {**named, **{code: coded[code] for code in _SPOKEN_CODES & coded.keys()}}


_LISTS: Final[dict[str, Any]] = load_word_lists("results")

_WON, _LOST, _PASSED, _REJECTED, _VOTING, _FOR, _AGAINST = (
    frozenset(_LISTS[name]) for name in ("won", "lost", "passed", "rejected", "voting", "for", "against")
)

_SIDES: Final = _FOR | _AGAINST

TELLING: Final = _WON | _LOST | _VOTING | (_AGAINST - {"no"}) | {"favour", "favor"}
"""Words of a result; a text without any tells none."""

_JOINING: Final = frozenset({",", ";", ":", ".", "and", "but", "while", "whereas", "before", "after", "then"})
"""What parts the sides of one game from what else a sentence tells."""

_VOTES_NEAR: Final = 5
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
    return tokens[max(each.first - _WIDTH, 0) : each.end + _VOTES_NEAR]


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
        for before in reversed(tokens[max(at - _VOTES_NEAR, 0) : at]) if token.lower in words else ():
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
