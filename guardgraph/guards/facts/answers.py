"""What an answer may say of numbers beyond what its sources say: small counts, and what follows from their numbers.

"Two fighters", of two that the source names, is no fact of the source; "two seats" is one where the source has
`Seats: 3`. Roundings, converted units, sums and shares of two, and spans of dates are licensed only where the answer
says that it is one, and of what: a price, a dose, a limit and a version are said as they stand, and a year is never a
sum. What is excused here is excused for answers alone.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from datetime import date
from fractions import Fraction
from functools import cached_property
from itertools import chain, combinations, islice, permutations, takewhile
from typing import Any, Final, NamedTuple

from guardgraph.guards.facts.contrary import CHANGING, list_contrary_changes, list_contrary_rates
from guardgraph.guards.facts.elapsed import is_shifted_day, list_clock_spans, list_shifted_days
from guardgraph.guards.facts.grammar import FUNCTION_WORDS
from guardgraph.guards.facts.listed import list_counted_lists
from guardgraph.guards.facts.numbers import FoundNumber, NumberSentence, read_number_sentences
from guardgraph.guards.facts.quantities import PLAIN, is_plural_noun
from guardgraph.guards.facts.references import find_incident_id_facts, find_severity_facts
from guardgraph.guards.facts.spelling import drop_invisible_characters
from guardgraph.guards.facts.tokens import Token
from guardgraph.guards.facts.units import CURRENCIES, RATED, SCALES, TIMES_SAID, find_units
from guardgraph.guards.facts.values import (
    BARE,
    RATIO,
    Amount,
    Date,
    Label,
    Named,
    Number,
    Ordinal,
    Quantity,
    Unit,
    Value,
    Weekday,
)
from guardgraph.guards.quotes import is_quote_in_text
from guardgraph.guards.word_lists import load_word_lists
from guardgraph.languages.sentences import split_sentences

_LISTS: Final[dict[str, Any]] = load_word_lists("answer_numbers")

_MEASURED: Final = frozenset(_LISTS["measured"])
"""What a small number before it is a fact of, whoever says it: limits, doses, prices, levels."""

_LIMITING: Final = frozenset(_LISTS["limiting"])
"""Words before a small number that make a limit of it."""

_GAME: Final = frozenset(_LISTS["game"])
"""Words of reports on games that are played in halves."""

_GOALS: Final = frozenset({"goal", "point", "points", "score", "touchdown", "try"})
_OPENS_SCORING: Final = frozenset({"open", "opens", "opened", "opening"})
_SCORING: Final = frozenset({"goal", "scoring", "score"})
"""How the first goal of a game is told: "opened the scoring"."""

_FEWEST_GAME_WORDS: Final = 2
"""Of them in a report: "goal" and "match" stand in other texts, too."""

_SHOWN: Final = frozenset(_LISTS["shown"])
"""What the writer of an answer calls what it was shown."""

_BEING: Final = frozenset({"am", "is", "are", "was", "were", "be", "been", "being"})
_OPENING: Final = frozenset({"", ".", ",", ";", ":", "!", "?", "-", "–", "—", "and", "while", "but", "whereas", "*"})
_ASIDE: Final = frozenset({",", ":", "(", "–", "—", "*"})
_RANKED: Final = frozenset(
    {*_BEING, "the", "came", "comes", "come", "finished", "placed", "ranked", "ranks", "and", "or"}
)
"""Words before a "first" that says who won, or which one is meant."""
_SMALL: Final = (2, 3)
_LABEL_SIGNS: Final = frozenset({":", "|", "=", '"', "'", ",", "_"})
_COUNTED_TOKENS: Final = 5
"""Tokens behind a number among which stands what it counts: "two men named Roth"."""

_LABEL_TOKENS: Final = 4
_MOST_MISSING: Final = 24
"""Numbers without support; an answer that has more of them does not say in other words what its sources say."""
_COPIED_WORDS: Final = 5
"""Words that a sentence has at least which is copied: fewer may stand anywhere."""


def list_unexcused_numbers(
    answer: str, missing: Collection[Number], *, texts: Collection[str], documents: int, derive: bool
) -> list[Number]:
    """Return the unsupported numbers of an answer that are claims about its sources, in time linear in all texts.

    Args:
        answer: its text.
        missing: numbers of it that its sources do not have.
        texts: what it cites.
        documents: how many documents its writer was shown.
        derive: whether what follows from the numbers of the texts may be said.
    """
    if len(missing) > _MOST_MISSING:
        return list(missing)
    wanted = set(missing) - _list_copied_numbers(answer, missing, texts)
    excused, refused = set(missing) - wanted, set[Number]()
    sources = _Sources(texts)
    nouns, lists = set[str](), list_counted_lists(answer, texts) if wanted else frozenset()
    stated = _StatedAmounts(wanted)
    for sentence in _read_sentences(answer):
        stated.read_sentence(sentence)
        for each in sentence.found:
            number = sentence.name_number(each)
            if number in wanted and number not in refused:
                known = (
                    _is_small_count(sentence.tokens, each, sources)
                    or _is_count_of_list(sentence.tokens, each, lists, sources)
                    or _is_one_of_counted(sentence.tokens, each, nouns)
                    or (_is_half_of_game(each) and sources.tell_game)
                    or (_is_opening_goal(sentence.tokens, each) and sources.tell_opening)
                    or _is_shown_document(sentence.tokens, each, documents)
                    or (
                        derive
                        and (sources.derivations.covers_number(sentence, each) or stated.covers_number(sentence, each))
                    )
                )
                (excused if known else refused).add(number)
            if isinstance(each.readings[0] if each.readings else None, Quantity):
                behind = sentence.tokens[each.end : each.end + _COUNTED_TOKENS]
                nouns.update(cover_word_forms(token.lower for token in behind if _is_noun(token)))
    return [number for number in missing if number in refused or number not in excused]


def list_contradicted_numbers(answer: str, texts: Collection[str]) -> list[Number]:
    """Return the numbers of changes that go the other way, and of money that is paid for another length of time.

    Args:
        answer: its text.
        texts: what it cites; what one of them states so is none of these.
    """
    said = answer.lower()
    changes, is_rated = any(map(said.__contains__, CHANGING)), any(map(said.__contains__, RATED))
    if not changes and not is_rated:
        return []
    sentences = list(_read_sentences(answer))
    # The texts are read only where the answer states a change, or a rate.
    found = list_contrary_changes(sentences, chain.from_iterable(map(_read_sentences, texts))) if changes else []
    rates = list_contrary_rates(sentences, chain.from_iterable(map(_read_sentences, texts))) if is_rated else []
    return found + rates


def _list_copied_numbers(answer: str, missing: Collection[Number], texts: Collection[str]) -> set[Number]:
    """Return numbers that stand in the answer only where it repeats a sentence of its sources, word for word.

    A text of two languages is read in one of them, and not always in that of the sentence.
    """
    holders = [part for part in split_sentences(answer) if any(number.shown in part for number in missing)]
    if len(holders) > _MOST_MISSING:
        return set()
    own = [
        part
        for part in holders
        if len(part.split()) < _COPIED_WORDS or not any(is_quote_in_text(part, text) for text in texts)
    ]
    return {
        number
        for number in missing
        if any(number.shown in part for part in holders) and not any(number.shown in part for part in own)
    }


def _read_sentences(text: str) -> Iterator[NumberSentence]:
    """Read a text as `facts_in_text` does, so that its numbers are the same."""
    _, unlabelled = find_severity_facts(drop_invisible_characters(text))
    yield from read_number_sentences(find_incident_id_facts(unlabelled)[1])


class _Sources:
    """What the cited texts say, read again when it is first asked for."""

    def __init__(self, texts: Collection[str]) -> None:
        self._texts = texts

    @cached_property
    def _sentences(self) -> list[list[NumberSentence]]:
        return [list(_read_sentences(text)) for text in self._texts]

    @cached_property
    def counted(self) -> frozenset[str]:
        """The nouns that are counted: behind a number ("3 seats"), before one ("Seats: 3"), beside "twice"."""
        found: set[str] = set()
        for sentence in (sentence for text in self._sentences for sentence in text):
            tokens = sentence.tokens
            for each in sentence.found:
                found |= cover_word_forms([*list_counted_nouns(tokens, each.end), *_list_label_words(tokens, each)])
                if tokens[each.first].lower in TIMES_SAID or tokens[each.end].lower == "times":
                    around = tokens[max(each.first - _LABEL_TOKENS, 0) : each.end + _LABEL_TOKENS]
                    found |= cover_word_forms(token.lower for token in around if _is_noun(token))
        return frozenset(found)

    @cached_property
    def tell_game(self) -> bool:
        """Whether they tell of a game, which has halves, and name none of them."""
        words = {token.lower for text in self._sentences for sentence in text for token in sentence.tokens}
        names_half = any(_is_half_of_game(each) for text in self._sentences for item in text for each in item.found)
        return not names_half and len(words & _GAME) >= _FEWEST_GAME_WORDS

    @cached_property
    def tell_opening(self) -> bool:
        """Whether they say that somebody opened the scoring, which is the first goal of a game."""
        return any(
            token.lower in _OPENS_SCORING and not _SCORING.isdisjoint(behind)
            for text in self._sentences
            for sentence in text
            for at, token in enumerate(sentence.tokens)
            if (behind := [each.lower for each in sentence.tokens[at + 1 : at + 3]])
        )

    @cached_property
    def derivations(self) -> Derivations:
        """What follows from their numbers."""
        return Derivations(self._sentences)


def _list_label_words(tokens: Sequence[Token], each: FoundNumber) -> Iterator[str]:
    """Yield the words of a label before a number: of `Seats: 3`, `Seats | 3` and `"max_seats": 3`."""
    at = each.first - 1
    if at < 0 or tokens[at].text not in _LABEL_SIGNS:
        return
    while at >= 0 and tokens[at].text in _LABEL_SIGNS:
        at -= 1
    for token in reversed(tokens[max(at - _LABEL_TOKENS + 1, 0) : at + 1]):
        if not _is_noun(token) and token.text not in _LABEL_SIGNS:
            break
        yield from token.lower.split("_")


def _is_noun(token: Token) -> bool:
    return token.lower.replace("_", "").isalpha() and token.lower not in FUNCTION_WORDS


def _is_small_count(tokens: Sequence[Token], each: FoundNumber, sources: _Sources) -> bool:
    """Say whether "two" or "three" only counts what an answer speaks of: "two fighters", of two that are named."""
    value, hit = each.readings[0] if each.readings else None, each.hit
    if (
        hit is None
        or not isinstance(value, Quantity)
        or value.amount not in _SMALL
        or tokens[each.first].word[:1].isdecimal()
    ):
        return False
    if hit.measures is not PLAIN or hit.bound or hit.per is not None or hit.end != each.first + 1:
        return False
    nouns = list_counted_nouns(tokens, each.end)
    before = [token.lower for token in tokens[max(each.first - 3, 0) : each.first]]
    if not nouns or not _LIMITING.isdisjoint(before) or not _MEASURED.isdisjoint(nouns):
        return False
    return sources.counted.isdisjoint(cover_word_forms(nouns[-1:])) and sources.counted.isdisjoint(
        cover_word_forms(nouns[:1])
    )


def _is_count_of_list(
    tokens: Sequence[Token], each: FoundNumber, lists: Collection[tuple[str, str]], sources: _Sources
) -> bool:
    """Say whether a number counts what the answer lists, and no source counts that otherwise."""
    if (tokens[each.first].lower, tokens[each.end].lower) not in lists or each.end != each.first + 1:
        return False
    nouns = cover_word_forms(list_counted_nouns(tokens, each.end))
    return bool(nouns) and sources.counted.isdisjoint(nouns)


def _is_one_of_counted(tokens: Sequence[Token], each: FoundNumber, counted: Collection[str]) -> bool:
    """Say whether "first" or "second" is one of what an answer counted: "The second is …", "the second transfer"."""
    value = each.readings[0] if each.readings else None
    if not isinstance(value, Ordinal) or value.place not in (1, 2) or tokens[each.first].word[:1].isdecimal():
        return False
    if value.place == 1 and _says_what_comes_before(tokens, each):
        return True
    at = each.first - 1 if tokens[each.first - 1].lower == "the" else each.first
    if at > 0 and tokens[at - 1].lower not in _OPENING:
        return False
    following = tokens[each.end]
    if following.lower in _BEING or following.text in _ASIDE:
        return not tokens[each.end + 1].opens or following.lower in _BEING
    return not cover_word_forms([following.lower]).isdisjoint(counted)


def _is_half_of_game(each: FoundNumber) -> bool:
    """Say whether a number is "first half" or "second half", without a year."""
    return any(
        isinstance(value, Label) and value.of == "half" and value.number in ("1", "2") for value in each.readings
    )


def _is_opening_goal(tokens: Sequence[Token], each: FoundNumber) -> bool:
    """Say whether a number is that of "the first goal"."""
    is_first = any(isinstance(value, Ordinal) and value.place == 1 for value in each.readings)
    return is_first and tokens[each.end].lower in _GOALS


def _says_what_comes_before(tokens: Sequence[Token], each: FoundNumber) -> bool:
    """Say whether "first" is no rank: "install it first.", "whichever comes first", "the first 20 minutes"."""
    before, following = [token.lower for token in tokens[max(each.first - 2, 0) : each.first]], tokens[each.end]
    if following.number or following.text in CURRENCIES:
        return True
    if following.text.isalnum() or not before or before[-1] in ("-", "–"):
        return False
    return before[0] in ("whichever", "whatever") or before[-1] not in _RANKED


def _is_shown_document(tokens: Sequence[Token], each: FoundNumber, documents: int) -> bool:
    """Say whether a number names one of the documents that the writer was shown: "Document 2"."""
    numbers: list[int | str] = [value.number for value in each.readings if isinstance(value, Named | Label)]
    if each.hit is not None and each.hit.measures is PLAIN:
        numbers.append(str(each.hit.amount))
    number = str(numbers[0]) if numbers else ""
    named = {token.lower for token in tokens[max(each.first - 3, 0) : each.first] if token.text.isalpha()}
    return not named.isdisjoint(_SHOWN) and number.isdecimal() and 1 <= int(number[:9]) <= documents


_NEAREST, _DOWN, _UP = (frozenset(_LISTS[name]) for name in ("nearest", "down", "up"))
_SUM, _DIFFERENCE, _SHARE, _SPAN = (frozenset(_LISTS[name]) for name in ("sum", "difference", "share", "span"))
_RISING, _FALLING = (frozenset(_LISTS[name]) for name in ("rising", "falling"))
_PRICE, _DOSE, _LIMIT = (frozenset(_LISTS[name]) for name in ("price", "dose", "limit"))

_WORKED_OUT: Final = frozenset(_LISTS["worked_out"])
"""Words before what an answer works out: "i.e.", "so"."""

_DENYING: Final = frozenset(_LISTS["denying"])
"""Words of a sentence that says what is not done, or not allowed."""

_SHORTENED: Final = frozenset(_LISTS["shortened"])
"""Words before the t of n't."""

_EVERY: Final = frozenset({"every", "each"})
_EACH_TIME: Final = frozenset({"a", "an", "per", "each", "every"})

_BOUNDS: Final = frozenset({"least", "most", "to", "minimum", "maximum"})
"""Words of a limit: "at least", "up to". A rounded one is another limit."""

_EXACTLY: Final = frozenset({"exactly", "precisely", "exact", "precise"})
"""Words of an amount that is not rounded."""

_WINDOW: Final = frozenset({"long", "maintenance", "outage", "period", "session", "shift", "slot", "takes", "window"})
"""Words beside how long something is between two times of day, as those of a span."""

_NOUN_TOKENS: Final = 4
"""Words of what is counted, at most: "two British professional boxers"."""

_BETWEEN: Final = frozenset({"of", "the", "these", "those", "their", "its", "more", "other", "all"})
"""Words between a number and what it counts: "50 of the 200 users"."""

_NEAR: Final = 5
"""Tokens between a number and the word that says how it follows, at most."""

_CLAUSE: Final = 8
"""Tokens on each side of a number that are taken for its clause, at most."""

_JOINING: Final = frozenset({",", ";", ":", ".", "and", "but", "while", "whereas", "because", "so", "(", ")"})
"""What parts clauses."""

_SENTENCE: Final = 40
"""Tokens on each side of a number that are looked at of its sentence, at most."""

_MOST_PAIRS: Final = 20_000
_MOST_AMOUNTS: Final = 20_000
"""Pairs, and numbers of one kind, that are looked at: those of 100,000 characters of ordinary texts."""

_BEFORE: Final = 3
"""Tokens before a number among which stands the word that says how it is rounded, at most."""

_MOST_TOGETHER: Final = 24
"""Numbers of two neighbouring sentences that are put together, at most."""

_LARGE_SUM: Final = 10_000
"""An amount of money below it is taken for a price."""

_HIGH_SHARE: Final = Fraction(9, 10)
"""From here on a share is a promise or a test that was passed, and tenths of it count."""

_MOST_OFF: Final = Fraction(1, 10)
_MOST_OFF_CONVERTED: Final = Fraction(1, 20)
"""How far a rounded and a converted amount may lie from what it stands for, by that."""

_LARGE: Final = 1_000
"""From here on a bare number is no other one by chance."""

_FEWEST_FIGURES: Final = 4
_FIGURES_LEFT: Final = 2
"""Digits that a number has and keeps, at least, where it is rounded and nothing says so."""

_MOST_DECIMALS: Final = 12

_DAY: Final = 86_400
_MONTHS: Final = 12


class _Said(NamedTuple):
    """An amount of a text, with what stands around it."""

    value: Quantity
    nouns: frozenset[str]
    words: frozenset[str]
    """Of its sentence."""
    near: frozenset[str]
    """Words around it."""
    is_repeated: bool
    """Whether it is how often something happens: "every 6 hours"."""


class _Claim(NamedTuple):
    """An amount of an answer, with how it is said."""

    value: Quantity
    nouns: frozenset[str]
    words: frozenset[str]
    near: frozenset[str]
    """Words around it."""
    clause: frozenset[str]
    """Words of its clause, about."""
    before: frozenset[str]
    """Words right before it."""
    digit: Amount
    """What its last digit counts that is not 0: 100,000 of "1.5 million"."""
    figures: int
    """How many digits it has up to there."""
    scaled: bool
    """Whether it is said in thousands or millions."""
    amounts: frozenset[Amount]
    """All amounts of its sentence."""
    is_glued: bool
    """Whether a hyphen joins its unit to it: "two-hour"."""


def list_counted_nouns(tokens: Sequence[Token], end: int) -> list[str]:
    """Return the words of what a number counts, up to the first plural: "British boxers" of "two British boxers met".

    Args:
        tokens: of a sentence.
        end: the index behind the number.
    """
    for _ in range(_NOUN_TOKENS):
        if tokens[end].lower not in _BETWEEN and not (tokens[end].number and tokens[end - 1].lower in _BETWEEN):
            break
        end += 1
    found: list[str] = []
    for token in tokens[end : end + _NOUN_TOKENS]:
        if not token.text.isalpha() or token.lower in FUNCTION_WORDS or (found and token.opens):
            break
        found.append(token.lower)
        if is_plural_noun(token.lower):
            break
    return found


def cover_word_forms(words: Iterable[str]) -> frozenset[str]:
    """Return words with what is left of them without the ending of a plural."""
    found: set[str] = set()
    for word in words:
        found.add(word)
        if len(word) > 3 and word.endswith("s"):
            found |= {word[:-1], word[:-2] if word.endswith("es") else word[:-1]}
            if word.endswith("ies"):
                found.add(f"{word[:-3]}y")
    return frozenset(found)


class Derivations:
    """What follows from the numbers of texts.

    Args:
        texts: the sentences of each, with their numbers.
    """

    def __init__(self, texts: Sequence[Sequence[NumberSentence]]) -> None:
        self._texts = texts

    def covers_number(self, sentence: NumberSentence, each: FoundNumber) -> bool:
        """Say whether a number of an answer follows from numbers of the texts, and is said so."""
        values = each.readings
        if self._covers_frequency(sentence, each) or self._covers_shifted_day(values):
            return True
        if any(isinstance(value, Ordinal) for value in values):
            return self._covers_century(sentence.tokens, each)
        if any(isinstance(value, Date) for value in values):
            return False
        for value in values:
            if isinstance(value, Quantity) and (claim := _read_claim(sentence, each, value)):
                if self._covers_span(claim) or self._covers_complement(claim) or self._covers_hours(sentence, claim):
                    return True
                if _is_exact(claim.value, claim.words):
                    continue
                amounts = self._amounts.get(claim.value.unit.dimension, ())
                if any(_is_rounding(claim, said) for said in amounts) or self._covers_operation(claim):
                    return True
        return False

    @cached_property
    def _shifted_days(self) -> frozenset[Date | Weekday]:
        return frozenset(chain.from_iterable(map(list_shifted_days, self._texts)))

    def _covers_shifted_day(self, values: Iterable[Value]) -> bool:
        """Say whether a day is the next one, or so many days later: "closed the next day"."""
        days = [value for value in values if isinstance(value, Date | Weekday)]
        return any(is_shifted_day(day, shifted) for day in days for shifted in self._shifted_days)

    @cached_property
    def _clock_spans(self) -> frozenset[int]:
        return frozenset(chain.from_iterable(map(list_clock_spans, chain.from_iterable(self._texts))))

    def _covers_hours(self, sentence: NumberSentence, claim: _Claim) -> bool:
        """Say whether an amount is how long it is from one time of day to another: a two-hour window."""
        unit = claim.value.unit
        if unit.dimension != "time" or claim.value.per is not None or not _LIMIT.isdisjoint(claim.near):
            return False
        if not (claim.is_glued or not claim.near.isdisjoint(_SPAN | _WINDOW)):
            return False
        return unit.convert_to_base(claim.value.amount) in self._clock_spans

    @cached_property
    def _by_sentence(self) -> list[list[list[_Said]]]:
        return [[list(_read_amounts(sentence)) for sentence in text] for text in self._texts]

    @cached_property
    def _amounts(self) -> Mapping[str, list[_Said]]:
        """By dimension."""
        found: dict[str, list[_Said]] = {}
        for said in (said for text in self._by_sentence for sentence in text for said in sentence):
            found.setdefault(said.value.unit.dimension, []).append(said)
        return {dimension: each[:_MOST_AMOUNTS] for dimension, each in found.items()}

    @cached_property
    def _pairs(self) -> list[tuple[_Said, _Said]]:
        """Amounts of one kind that stand in the same or in neighbouring sentences."""
        pairs = (
            pair
            for text in self._by_sentence
            for first, second in zip(text, [*text[1:], []], strict=True)
            for pair in combinations([*first, *second][:_MOST_TOGETHER], 2)
        )
        return [pair for pair in islice(pairs, _MOST_PAIRS) if _is_of_one_kind(*pair)]

    @cached_property
    def _centuries(self) -> frozenset[int]:
        values = (value for text in self._texts for item in text for each in item.found for value in each.readings)
        return frozenset(value.year // 100 + 1 for value in values if isinstance(value, Date) and value.year)

    @cached_property
    def _date_pairs(self) -> list[tuple[Date, Date]]:
        """Dates that stand in the same or in neighbouring sentences."""
        found = list[list[Date]]()
        for text in self._texts:
            dates = [
                [value for each in item.found for value in each.readings if isinstance(value, Date)] for item in text
            ]
            found += [[*one, *other][:_MOST_TOGETHER] for one, other in zip(dates, [*dates[1:], []], strict=True)]
        pairs = chain.from_iterable(combinations(together, 2) for together in found)
        return list(
            dict.fromkeys(pair for pair in islice(pairs, _MOST_PAIRS) if None not in (pair[0].year, pair[1].year))
        )

    def _covers_century(self, tokens: Sequence[Token], each: FoundNumber) -> bool:
        place = next((value.place for value in each.readings if isinstance(value, Ordinal)), 0)
        if tokens[each.end].lower not in ("century", "centuries"):
            return False
        return place in self._centuries

    def _covers_span(self, claim: _Claim) -> bool:
        """Say whether a length of time lies between two dates, and is said to."""
        unit, words = claim.value.unit, claim.near
        aged = claim.value.unit == BARE and not words.isdisjoint(("aged", "age"))
        if words.isdisjoint(_SPAN) or not (aged or unit.dimension == "calendar" or unit.factor == _DAY):
            return False
        measured = unit if not aged else Unit("calendar", _MONTHS)
        spans = (span for one, other in self._date_pairs for span in _list_spans(one, other, measured))
        return any(span and (claim.value.amount == span or _rounds_to(claim, span)) for span in spans)

    def _covers_complement(self, claim: _Claim) -> bool:
        """Say whether a bound is denied of what lies beyond it: "never more than 3" of "at most 3"."""
        own = claim.value
        said = self._amounts.get(own.unit.dimension, ()) if own.bound else ()
        if own.bound == "least" and own.unit == BARE and any(_is_next_whole_number(claim, each) for each in said):
            return True
        if not own.bound or not _is_denied(claim.clause):
            return False
        return any(
            {own.bound, each.value.bound} == {"least", "most"}
            and own.per == each.value.per
            and own.unit.convert_to_base(own.amount) == each.value.unit.convert_to_base(each.value.amount)
            and not _is_denied(each.near)
            and (own.unit != BARE or not claim.nouns or not each.nouns or not claim.nouns.isdisjoint(each.nouns))
            for each in said
        )

    def _covers_frequency(self, sentence: NumberSentence, each: FoundNumber) -> bool:
        """Say whether something is done every so often that is said to be done so many times in a time."""
        tokens, value = sentence.tokens, each.readings[0] if each.readings else None
        said = [token.lower for token in tokens[each.end : each.end + 3]]
        if not isinstance(value, Quantity) or value.unit != BARE or len(said) < 3:
            return False
        if said[0] != "times" or said[1] not in _EACH_TIME:
            return False
        return any(
            other.is_repeated and value.amount * other.value.unit.convert_to_base(other.value.amount) == unit.factor
            for unit in find_units(said[2])
            for other in self._amounts.get(unit.dimension, ())
        )

    def _covers_operation(self, claim: _Claim) -> bool:
        """Say whether an amount is the sum, the difference, the share or the ratio of two that stand together."""
        sums, differs = not claim.near.isdisjoint(_SUM), not claim.near.isdisjoint(_DIFFERENCE)
        shares = claim.value.unit.dimension == RATIO and not claim.near.isdisjoint(_SHARE)
        changes = claim.value.unit.dimension == RATIO and not (_RISING | _FALLING).isdisjoint(claim.near)
        if not (sums or differs or shares or changes) or claim.value.per is not None:
            return False
        return any(
            (sums and _is_sum(claim, one, other))
            or (changes and _is_change(claim, one, other))
            or (differs and _is_difference(claim, one, other))
            or (shares and (_is_share(claim, one, other) or _is_share(claim, other, one)))
            for one, other in self._pairs
        )


class _StatedAmounts:
    """What an answer works out of amounts that it states itself, in the same sentence or the one before.

    A reader can follow it, so prices, doses and limits are no exception here. Each of these amounts is held against the
    sources like any other, so that it can bear another one only where they have it.

    Args:
        missing: numbers of the answer that its sources do not have.
    """

    def __init__(self, missing: Collection[Number]) -> None:
        self._missing = missing
        self._before: list[_Said] = []
        self._own: list[_Said] = []

    def read_sentence(self, sentence: NumberSentence) -> None:
        """Go on to the next sentence."""
        own = sentence._replace(
            found=[each for each in sentence.found if sentence.name_number(each) not in self._missing]
        )
        self._before, self._own = self._own, list(_read_amounts(own))[:_MOST_TOGETHER]

    def covers_number(self, sentence: NumberSentence, each: FoundNumber) -> bool:
        """Say whether a number of the sentence follows from others that are stated, and is said so."""
        claims = (
            _read_claim(sentence, each, value)
            for value in (each.hit.list_readings() if each.hit else each.readings)
            if isinstance(value, Quantity)
        )
        return any(claim is not None and self._covers_claim(claim) for claim in claims)

    def _covers_claim(self, claim: _Claim) -> bool:
        near = claim.near
        pairs = list(permutations([*self._before, *self._own][-_MOST_TOGETHER:], 2))
        ways: list[Callable[[_Claim, _Said, _Said], bool]] = []
        if not near.isdisjoint(_SUM | _WORKED_OUT):
            ways.append(_is_sum)
        if not claim.words.isdisjoint(_DIFFERENCE) or not near.isdisjoint(_WORKED_OUT):
            ways.append(_is_stated_difference)
        if claim.value.unit.dimension == RATIO:
            ways += [_is_stated_share, _is_change]
        elif not near.isdisjoint(_SUM | _WORKED_OUT | _EVERY):
            ways.append(_is_product)
        whole = claim._replace(near=claim.words)
        return any(way(whole, one, other) for way in ways for one, other in pairs)


def _is_stated_difference(claim: _Claim, one: _Said, other: _Said) -> bool:
    """Say whether an amount is the difference of two, of shares in points, of counts also without their noun."""
    off = abs(Fraction(_measure(one)) - Fraction(_measure(other)))
    if not _is_of_one_kind(one, other):
        return False
    if claim.value.unit.dimension == "point":
        return one.value.unit.dimension == RATIO and claim.value.amount == off * 100
    if claim.value.unit == BARE and not claim.nouns:
        return one.value.unit == BARE and claim.value.amount == off
    return _is_difference(claim, one, other)


def _is_stated_share(claim: _Claim, part: _Said, whole: _Said) -> bool:
    """Say whether a share is that of two amounts of one unit."""
    if not _is_of_one_kind(part, whole) or not 0 < _measure(part) < _measure(whole):
        return False
    share = Fraction(_measure(part)) / Fraction(_measure(whole)) / Fraction(claim.value.unit.factor)
    return abs(share - claim.value.amount) * 2 <= claim.digit and _is_near(claim.value.amount, share, _MOST_OFF)


def _is_product(claim: _Claim, factor: _Said, amount: _Said) -> bool:
    """Say whether an amount is so many times another one, or a share of it: "two for $8 ($4 each)", "60 % of 50 GB"."""
    own, unit = claim.value, amount.value.unit
    if unit == BARE or own.unit.dimension != unit.dimension or own.per not in (None, amount.value.per):
        return False
    if factor.value.unit not in (BARE,) and factor.value.unit.dimension not in (RATIO, "calendar"):
        return False
    times = factor.value.amount if factor.value.unit.dimension != RATIO else _measure(factor)
    product = Fraction(times) * _measure(amount) / Fraction(own.unit.factor)
    if factor.value.unit.dimension != RATIO:
        return product == own.amount
    return abs(product - own.amount) * 2 <= claim.digit and _is_near(own.amount, product, _MOST_OFF)


def _read_amounts(sentence: NumberSentence) -> Iterator[_Said]:
    words = frozenset(token.lower for token in sentence.tokens)
    for each in sentence.found:
        if any(isinstance(value, Date) for value in each.readings):
            continue
        # "Bob 7 goals" is read as a name with a number too.
        for value in each.hit.list_readings() if each.hit else each.readings:
            if isinstance(value, Quantity) and not value.otherwise:
                nouns = cover_word_forms(list_counted_nouns(sentence.tokens, each.end))
                near = _list_clause_words(sentence.tokens, each)
                yield _Said(value, nouns, words, near, is_repeated=sentence.tokens[each.first - 1].lower in _EVERY)


def _read_claim(sentence: NumberSentence, each: FoundNumber, value: Quantity) -> _Claim | None:
    tokens, hit = sentence.tokens, each.hit
    if value.amount <= 0 or value.otherwise:
        return None
    written = tokens[hit.first if hit and hit.first >= each.first else each.first]
    token = next((token for token in tokens[each.first : each.end] if token.number), written)
    amount = token.number[0] if token.number and token.number[0] else (hit.amount if hit else Fraction(1))
    digit, figures = _measure_last_digit(token.text, amount)
    scale = Fraction(value.amount) / amount if amount else Fraction(1)
    scaled = scale >= 1000 or any(part.lower in SCALES for part in tokens[each.first : each.end])
    around = tokens[max(each.first - _NEAR, 0) : each.end + _NEAR]
    return _Claim(
        value,
        cover_word_forms(list_counted_nouns(tokens, each.end)),
        frozenset(token.lower for token in tokens[max(each.first - _SENTENCE, 0) : each.end + _SENTENCE]),
        frozenset(token.lower for token in around),
        _list_clause_words(tokens, each),
        frozenset(token.lower for token in tokens[max(each.first - _BEFORE, 0) : each.first]),
        digit * scale,
        figures,
        scaled,
        frozenset(said.amount for item in sentence.found for said in item.readings if isinstance(said, Quantity)),
        any(part.glued for part in tokens[each.first + 1 : each.end]),
    )


def _list_clause_words(tokens: Sequence[Token], each: FoundNumber) -> frozenset[str]:
    """Return the words around a number, up to a sign or a word that joins clauses."""
    before = [token.lower for token in tokens[max(each.first - _CLAUSE, 0) : each.first]]
    behind = [token.lower for token in tokens[each.end : each.end + _CLAUSE]]
    clause = [*takewhile(_is_within_clause, reversed(before)), *takewhile(_is_within_clause, behind)]
    return frozenset(clause)


def _is_within_clause(word: str) -> bool:
    return word not in _JOINING


def _measure_last_digit(text: str, amount: Amount) -> tuple[Fraction, int]:
    """Return what the last digit of a number counts that is not 0, and how many digits stand up to it."""
    whole, _, part = text.replace(",", "").rstrip("kKmMbBn%").partition(".")
    if part.isdecimal():
        return Fraction(1, 10 ** len(part)), len((whole + part).lstrip("0"))
    digits = str(amount) if isinstance(amount, int) else "1"
    zeros = len(digits) - len(digits.rstrip("0"))
    return Fraction(10**zeros), len(digits) - zeros


def _is_exact(value: Quantity, words: Collection[str]) -> bool:
    """Say whether an amount is of a kind that is said as it stands: a price, a dose, a limit, a rate, a high share."""
    money = value.unit.dimension in CURRENCIES
    if value.per is not None or not _LIMIT.isdisjoint(words) or not _DOSE.isdisjoint(words):
        return True
    if money and (not _PRICE.isdisjoint(words) or value.unit.convert_to_base(value.amount) < _LARGE_SUM):
        return True
    return value.unit.dimension == RATIO and value.unit.convert_to_base(value.amount) >= _HIGH_SHARE


def _is_rounding(claim: _Claim, said: _Said) -> bool:
    value, own = said.value, claim.value
    if _is_exact(value, said.words) or value.per is not None:
        return False
    if own.unit == BARE:
        if (
            value.unit != BARE
            or not (claim.scaled or claim.nouns or _is_large_and_about(claim))
            or claim.nouns.isdisjoint(said.nouns) != (not claim.nouns)
        ):
            return False
        return _rounds_to(claim, value.amount)
    if own.unit.dimension != value.unit.dimension or own.unit.zero != value.unit.zero:
        return False
    amount = value.amount * value.unit.factor / Fraction(own.unit.factor)
    if own.unit.factor != value.unit.factor and own.unit.dimension not in CURRENCIES:
        return abs(amount - own.amount) * 2 <= claim.digit and _is_near(own.amount, amount, _MOST_OFF_CONVERTED)
    return _rounds_to(claim, amount)


def _is_large_and_about(claim: _Claim) -> bool:
    """Say whether a large amount without a noun is said to be rounded: "over 23,000 were sold"."""
    said = claim.value.bound == "least" or not claim.before.isdisjoint(_NEAREST | _DOWN | _UP)
    return said and claim.value.amount >= _LARGE and claim.figures >= _FIGURES_LEFT


def _rounds_to(claim: _Claim, amount: Amount) -> bool:
    """Say whether an amount is rounded to the claimed one, in the direction that the word before it says."""
    if amount <= 0 or amount == claim.value.amount:
        return False
    if not claim.before.isdisjoint(_BOUNDS | _EXACTLY):
        return False
    off = Fraction(claim.value.amount) - amount
    said_down = claim.value.bound == "least" or not claim.before.isdisjoint(_DOWN)
    said_up = not claim.before.isdisjoint(_UP) or claim.value.bound == "most"
    if said_down and not said_up:
        return -claim.digit < off < 0
    if said_up and not said_down:
        return 0 < off < claim.digit
    nearest = abs(off) * 2 <= claim.digit and _is_near(claim.value.amount, amount, _MOST_OFF)
    if not claim.before.isdisjoint(_NEAREST):
        return nearest
    return nearest and (claim.scaled or (_count_figures(amount) >= _FEWEST_FIGURES and claim.figures >= _FIGURES_LEFT))


def _count_figures(amount: Amount) -> int:
    """Return how many digits a number has, without zeros at its ends; many where they do not end."""
    number = Fraction(amount)
    for _ in range(_MOST_DECIMALS):
        if number.denominator == 1:
            return len(str(number.numerator).rstrip("0"))
        number *= 10
    return _MOST_DECIMALS


def _is_near(one: Amount, other: Amount, share: Fraction) -> bool:
    return bool(abs(Fraction(one) - other) <= share * other)


def _is_of_one_kind(one: _Said, other: _Said) -> bool:
    """Say whether two amounts are of one unit, or count the same."""
    if one.value.per is not None or other.value.per is not None:
        return False
    if BARE in (one.value.unit, other.value.unit):
        return one.value.unit == other.value.unit and not one.nouns.isdisjoint(other.nouns)
    return one.value.unit.dimension == other.value.unit.dimension and one.value.unit.zero == 0


def _measure(said: _Said | _Claim) -> Amount:
    return said.value.unit.convert_to_base(said.value.amount)


def _is_claimed_kind(claim: _Claim, one: _Said, other: _Said) -> bool:
    if not _is_of_one_kind(one, other) or claim.value.unit.dimension != one.value.unit.dimension:
        return False
    return claim.value.unit != BARE or not claim.nouns.isdisjoint(one.nouns & other.nouns)


def _is_sum(claim: _Claim, one: _Said, other: _Said) -> bool:
    if not _is_claimed_kind(claim, one, other) or claim.value.unit.dimension == RATIO:
        return False
    return _measure(claim) == _measure(one) + _measure(other)


def _is_difference(claim: _Claim, one: _Said, other: _Said) -> bool:
    return _is_claimed_kind(claim, one, other) and _measure(claim) == abs(_measure(one) - _measure(other))


def _is_share(claim: _Claim, part: _Said, whole: _Said) -> bool:
    """Say whether a share is that of two amounts, both of which the answer names."""
    if not _is_of_one_kind(part, whole) or not 0 < _measure(part) < _measure(whole):
        return False
    named = [said.nouns & claim.words for said in (part, whole)]
    if not all(named):
        return False
    share = Fraction(_measure(part)) / Fraction(_measure(whole)) / Fraction(claim.value.unit.factor)
    return abs(share - claim.value.amount) * 2 <= claim.digit


def _is_next_whole_number(claim: _Claim, said: _Said) -> bool:
    """Say whether "three or more" is said of "more than two"."""
    return (
        said.value.bound == "least"
        and said.value.unit == BARE
        and "than" in said.near
        and not claim.near.isdisjoint(("or", "least"))
        and isinstance(claim.value.amount, int)
        and claim.value.amount == said.value.amount + 1
        and not claim.clause.isdisjoint(said.nouns)
    )


def _is_denied(words: Collection[str]) -> bool:
    """Say whether the words of a sentence deny or refuse something."""
    return not _DENYING.isdisjoint(words) or ("t" in words and not _SHORTENED.isdisjoint(words))


def _is_change(claim: _Claim, one: _Said, other: _Said) -> bool:
    """Say whether a share is by how much one amount changed to another, both of which the answer's sentence states."""
    if not _is_of_one_kind(one, other) or _measure(one) <= 0 or _measure(one) == _measure(other):
        return False
    if not {one.value.amount, other.value.amount} <= claim.amounts:
        return False
    is_up = not claim.near.isdisjoint(_RISING)
    is_down = not claim.near.isdisjoint(_FALLING)
    change = Fraction(_measure(other) - _measure(one)) / Fraction(_measure(one)) / Fraction(claim.value.unit.factor)
    if is_up == is_down or is_up != (change > 0):
        return False
    return abs(abs(change) - claim.value.amount) * 2 <= claim.digit


def _list_spans(one: Date, other: Date, unit: Unit) -> Iterator[Amount]:
    """Yield how long it is from one date to another: in full years what a birthday leaves open may be either."""
    first, last = sorted((one, other), key=lambda value: (value.year or 0, value.month or 0, value.day or 0))
    years = (last.year or 0) - (first.year or 0)
    exact = None not in (first.month, first.day, last.month, last.day)
    if unit.dimension == "calendar":
        if exact or (first.month is not None and last.month is not None):
            months = years * _MONTHS + (last.month or 0) - (first.month or 0)
            months -= bool(exact and (last.day or 0) < (first.day or 0))
            yield Fraction(months, 1) / unit.factor if unit.factor == 1 else months // int(unit.factor)
        elif unit.factor >= _MONTHS:
            yield Fraction(years * _MONTHS) / unit.factor
    elif exact:
        try:
            days = (
                date(last.year or 1, last.month or 1, last.day or 1)
                - date(first.year or 1, first.month or 1, first.day or 1)
            ).days
        except ValueError:  # no such day
            return
        yield days
