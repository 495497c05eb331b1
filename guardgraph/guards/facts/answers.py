"""What an answer may say of numbers beyond what its sources say: small counts, and what follows from their numbers.

"Two fighters", of two that the source names, is no fact of the source; "two seats" is one where the source has
`Seats: 3`. What an answer lists itself it may count ("four plans: Free, Pro, Team and Business"), where each thing of
the list is another and stands in a source. What is excused here is excused for answers alone.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from fractions import Fraction
from functools import cached_property
from itertools import chain, pairwise
from typing import Any, Final

from guardgraph.grounding.quotes import is_quote_in_text
from guardgraph.grounding.sentences import split_sentences
from guardgraph.guards.facts.contrary import (
    CHANGING,
    TELLING,
    Results,
    list_contrary_changes,
    list_contrary_frequencies,
    list_contrary_places,
    list_contrary_rates,
    names_place,
)
from guardgraph.guards.facts.derivations import Derivations, StatedAmounts
from guardgraph.guards.facts.numbers import FoundNumber, NumberSentence, read_number_sentences
from guardgraph.guards.facts.quantities import PLAIN, cover_word_forms, list_counted_nouns
from guardgraph.guards.facts.references import find_incident_id_facts, find_severity_facts
from guardgraph.guards.facts.relations import DAY, is_factor_of_units
from guardgraph.guards.facts.spelling import drop_invisible_characters, strip_number_markers, write_column_nouns
from guardgraph.guards.facts.tokens import Token, show_number_tokens
from guardgraph.guards.facts.values import (
    Amount,
    DaySpan,
    Label,
    Named,
    Number,
    Ordinal,
    Quantity,
    Unit,
    Weekday,
    Written,
)
from guardgraph.guards.facts.words import CURRENCIES, FUNCTION_WORDS, RATED, SMALL, TIMES_SAID
from guardgraph.guards.word_lists import load_word_lists
from guardgraph.plain.memory import remember_by_text

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

_OFTEN: Final = (*TIMES_SAID, "times", "every", "each")
_ALWAYS: Final = Written("24/7")
_DEGREE: Final = Unit("turn", Fraction(1, 360))

_CLOCKS: Final = frozenset({"clock", "uhr"})
_ALL_DAY: Final = ("round the clock", "rund um die uhr")
_SOME_DAYS: Final = frozenset({"weekday", "weekdays", "weekend", "weekends", "except", "but", "only", "not", "no"})
"""Words of a sentence by which what is told of all hours of a day may not be told of every day."""

_SHOWN: Final = frozenset(_LISTS["shown"])
"""What the writer of an answer calls what it was shown."""

_BEING: Final = frozenset({"am", "is", "are", "was", "were", "be", "been", "being"})
_OPENING: Final = frozenset(
    {"", ".", ",", ";", ":", "!", "?", "-", "–", "—", "and", "while", "but", "whereas", "that", "*"}
)
_ASIDE: Final = frozenset({",", ":", "(", "–", "—", "*"})
_RANKED: Final = frozenset(
    {*_BEING, "the", "came", "comes", "come", "finished", "placed", "ranked", "ranks", "and", "or"}
)
"""Words before a "first" that says who won, or which one is meant."""
_ALONE: Final = frozenset({"one", "single", "sole", "no"})
"""Words before what there is one of, or none."""
_SMALL_COUNTS: Final = (2, 3)
_LABEL_SIGNS: Final = frozenset({":", "|", "=", '"', "'", ",", "_"})
_COUNTED_TOKENS: Final = 5
"""Tokens behind a number among which stands what it counts: "two men named Roth"."""

_LABEL_TOKENS: Final = 4
_MONEY: Final = ("$", "€", "£", "¥")
_AROUND: Final = ".,;:!?()*\"'“”‘’"
_RUNNING: Final = frozenset({"row", "consecutive", "consecutively", "straight", "successive", "running"})
"""Words of what came one after another."""
_RUN_TOKENS: Final = 4
_THEN_TOKENS: Final = 12
"""Tokens behind a "first" among which stands its "then"."""
_THEN: Final = frozenset({"Then", "Next", "Afterwards", "Finally"})
"""Words that open what is done behind something that comes first."""
_RANKS: Final = frozenset({"class", "half", "place", "position", "prize", "quarter", "rank", "round", "seed"})
"""Nouns whose first one is told, and not what is done first: "First place went to Ann."."""
_STROKES: Final = frozenset({"'", "’", "′"})
_PART_OF_TOTAL: Final = re.compile(r"(\d{1,9}(?:\.\d{1,9})?)/(\d{1,9}(?:\.\d{1,9})?)")
_ONWARD: Final = frozenset({"on", "onward", "onwards"})
_FROM_TOKENS: Final = 3
"""Tokens between a number and its "from" or "on", at most."""
_PAIR_TOKENS: Final = 16
"""Tokens between "the first" and "the second" of two, at most."""
_STEPS: Final = frozenset({"steps", "points", "items", "stages", "rules", "parts"})
"""What the items of a numbered list are called."""
_WITHIN: Final = frozenset({"in", "within", "over", "during"})
"""Words before the length of time that a rate is for."""
_LISTED_BEFORE, _LISTED_BEHIND = frozenset({"(", ","}), frozenset({")", ",", "'", "’"})
"""Signs around the minutes of a game behind a name: "Pike (38, 61)"."""
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
    stated = StatedAmounts(wanted, sources.derivations)
    sentences = _read_sentences(answer)
    is_ordered = any(token.text in _THEN for sentence in sentences for token in sentence.tokens)
    for sentence in sentences:
        stated.read_sentence(sentence)
        before: FoundNumber | None = None
        for each in sentence.found:
            number = sentence.name_number(each)
            if number in wanted and number not in refused:
                known = (
                    _is_small_count(sentence.tokens, each, sources)
                    or _is_count_of_list(sentence.tokens, each, lists, sources)
                    or _is_one_of_counted(sentence.tokens, each, nouns)
                    or (is_ordered and _opens_instruction(sentence.tokens, each))
                    or (_is_half_of_game(each) and sources.tell_game)
                    or (_is_opening_goal(sentence.tokens, each) and sources.tell_opening)
                    or _is_shown_document(sentence.tokens, each, documents)
                    or is_factor_of_units(sentence.tokens, each)
                    or _is_run(sentence.tokens, each, sources)
                    or _is_count_of_steps(sentence.tokens, each, sources)
                    or _is_minute_of_game(sentence.tokens, each, sources)
                    or _is_length_of_rate(sentence.tokens, each, before, sources)
                    or _is_part_of_total(sentence.tokens, each, sources)
                    or _is_all_day(each, sources)
                    or _is_temperature(each, sources)
                    or (_tells_result(sentence.tokens) and sources.results.cover_number(sentence, each))
                )
                if not known and derive:
                    known = sources.derivations.covers_number(sentence, each) or stated.covers_number(sentence, each)
                    known = known or _is_next_on(sentence.tokens, each, sources)
                    if known:
                        stated.add_number(sentence, each)
                (excused if known else refused).add(number)
            before = each
            if isinstance(each.readings[0] if each.readings else None, Quantity):
                behind = sentence.tokens[each.end : each.end + _COUNTED_TOKENS]
                nouns.update(cover_word_forms(token.lower for token in behind if _is_noun(token)))
    return [number for number in missing if number in refused or number not in excused]


def list_contradicted_numbers(answer: str, texts: Collection[str]) -> list[Number]:
    """Return the numbers of changes that go the other way, of money for another length of time, and of wrong results.

    Args:
        answer: its text.
        texts: what it cites; what one of them states so is none of these.
    """
    said = answer.lower()
    changes, is_rated = any(map(said.__contains__, CHANGING)), any(map(said.__contains__, RATED))
    results = not TELLING.isdisjoint(word.strip(_AROUND) for word in said.split())
    prices = any(map(said.__contains__, _MONEY)) and names_place(answer)
    is_counted = is_rated or any(map(said.__contains__, _OFTEN))
    if not (changes or is_counted or results or prices):
        return []
    sentences = _read_sentences(answer)
    # The texts are read only where the answer states a change, a rate, a result or a price.
    found = list_contrary_changes(sentences, chain.from_iterable(map(_read_sentences, texts))) if changes else []
    rates = list_contrary_rates(sentences, chain.from_iterable(map(_read_sentences, texts))) if is_rated else []
    if is_counted:
        rates += list_contrary_frequencies(sentences, chain.from_iterable(map(_read_sentences, texts)))
    if prices:
        # A place is told of its own sentence: "It costs $30. In the EU, it costs $40."
        parts = [chain.from_iterable(map(_read_sentences, split_sentences(text))) for text in (answer, *texts)]
        rates += list_contrary_places(parts[0], chain.from_iterable(parts[1:]))
    told = Results(chain.from_iterable(map(_read_sentences, texts))) if results else None
    return [*found, *rates, *(told.list_contradicted(sentences) if told else ())]


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


@remember_by_text(texts=16, chars=10_000)
def _read_sentences(text: str) -> tuple[NumberSentence, ...]:
    """Read a text as `facts_in_text` does, so that its numbers are the same. Several checks of an answer ask for it."""
    _, unlabelled = find_severity_facts(drop_invisible_characters(text))
    return tuple(read_number_sentences(find_incident_id_facts(unlabelled)[1]))


class _Sources:
    """What the cited texts say, read again when it is first asked for."""

    def __init__(self, texts: Collection[str]) -> None:
        self._texts = texts
        self._together: dict[frozenset[Amount], bool] = {}

    @cached_property
    def _sentences(self) -> list[list[NumberSentence]]:
        return [list(_read_sentences(write_column_nouns(text))) for text in self._texts]

    @cached_property
    def counted(self) -> frozenset[str]:
        """The nouns that are counted: behind a number or "no" ("3 seats"), before one ("Seats: 3"), beside "twice"."""
        found: set[str] = set()
        for sentence in (sentence for text in self._sentences for sentence in text):
            tokens = sentence.tokens
            for each in sentence.found:
                found |= cover_word_forms([*list_counted_nouns(tokens, each.end), *_list_label_words(tokens, each)])
                if tokens[each.first].lower in TIMES_SAID or tokens[each.end].lower == "times":
                    around = tokens[max(each.first - _LABEL_TOKENS, 0) : each.end + _LABEL_TOKENS]
                    found |= cover_word_forms(token.lower for token in around if _is_noun(token))
            for at, token in enumerate(tokens):
                if token.lower in _ALONE and tokens[at + 1].lower != "of":
                    found |= cover_word_forms(list_counted_nouns(tokens, at + 1))
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
    def temperatures(self) -> frozenset[Amount]:
        """Their temperatures, on whatever scale."""
        return frozenset(
            value.amount
            for _, each in self._list_numbers()
            for value in each.readings
            if isinstance(value, Quantity) and value.unit.zero
        )

    @cached_property
    def all_day(self) -> frozenset[bool]:
        """Of each of their sentences that tells what goes on all day, whether it names days or exceptions."""
        sentences = chain.from_iterable(self._sentences)
        return frozenset(_names_days(sentence) for sentence in sentences if _tells_all_day(sentence))

    def _list_numbers(self) -> Iterator[tuple[Sequence[Token], FoundNumber]]:
        """Yield their numbers, each with the tokens of its sentence."""
        return ((sentence.tokens, each) for sentence in chain.from_iterable(self._sentences) for each in sentence.found)

    @cached_property
    def runs(self) -> frozenset[Amount]:
        """How many of something came one after another: "six games in a row"."""
        return frozenset(
            each.hit.amount
            for tokens, each in self._list_numbers()
            if each.hit is not None and each.hit.measures is PLAIN
            if not _RUNNING.isdisjoint(token.lower for token in tokens[each.end : each.end + _RUN_TOKENS])
        )

    @cached_property
    def minutes(self) -> frozenset[int]:
        """The minutes of a game that they name: "in the 38th minute"."""
        return frozenset(
            value.place
            for tokens, each in self._list_numbers()
            if tokens[each.end].lower == "minute"
            for value in each.readings
            if isinstance(value, Ordinal)
        )

    @cached_property
    def bracketed(self) -> frozenset[Amount]:
        """The bare numbers that they put in brackets, as a report of a game does with its minutes: "Pike (38)"."""
        return frozenset(
            each.hit.amount
            for tokens, each in self._list_numbers()
            if each.hit and each.hit.measures is PLAIN
            if tokens[each.first - 1].text in _LISTED_BEFORE and tokens[each.end].text in _LISTED_BEHIND
        )

    @cached_property
    def rates(self) -> frozenset[tuple[Amount, Unit, Unit | None]]:
        """Their amounts for a length of time."""
        return frozenset(
            (value.amount, value.unit, value.per)
            for _, each in self._list_numbers()
            for value in each.readings
            if isinstance(value, Quantity) and value.per is not None
        )

    @cached_property
    def _amounts_by_sentence(self) -> list[frozenset[Amount]]:
        sentences = chain.from_iterable(self._sentences)
        return [frozenset(each.hit.amount for each in sentence.found if each.hit) for sentence in sentences]

    @cached_property
    def amounts(self) -> frozenset[Amount]:
        """Their amounts, whatever of."""
        return frozenset(chain.from_iterable(self._amounts_by_sentence))

    def have_together(self, amounts: frozenset[Amount]) -> bool:
        """Say whether one of their sentences has some amounts; for each of these they are looked through once."""
        if amounts not in self._together:
            self._together[amounts] = any(amounts <= each for each in self._amounts_by_sentence)
        return self._together[amounts]

    @cached_property
    def steps(self) -> frozenset[int]:
        """How many items their numbered lists have."""
        marked = [strip_number_markers(text)[1] for text in self._texts]
        return frozenset(len(each) for each in marked if each == frozenset(range(1, len(each) + 1)))

    @cached_property
    def results(self) -> Results:
        """The games and votes that they tell of."""
        return Results(chain.from_iterable(self._sentences))

    @cached_property
    def derivations(self) -> Derivations:
        """What follows from their numbers."""
        return Derivations(self._sentences)


def _tells_all_day(sentence: NumberSentence) -> bool:
    """Say whether a sentence tells what goes on all day: "24 hours a day", "around the clock"."""
    if any(_is_whole_day(each) for each in sentence.found):
        return True
    if _CLOCKS.isdisjoint(token.lower for token in sentence.tokens):
        return False
    said = show_number_tokens(sentence.tokens, 0, len(sentence.tokens)).lower()
    return any(phrase in said for phrase in _ALL_DAY)


def _is_whole_day(each: FoundNumber) -> bool:
    values = (value for value in each.readings if isinstance(value, Quantity))
    return any(value.per == Unit("time", DAY) == Unit("time", value.base) for value in values)


def _names_days(sentence: NumberSentence) -> bool:
    values = chain.from_iterable(each.readings for each in sentence.found)
    return any(isinstance(value, Weekday | DaySpan) for value in values) or not _SOME_DAYS.isdisjoint(
        token.lower for token in sentence.tokens
    )


def _is_all_day(each: FoundNumber, sources: _Sources) -> bool:
    """Say whether "24 hours a day", or "24/7" where no days are named, is what the sources tell in other words."""
    return (_ALWAYS in each.readings and False in sources.all_day) or (_is_whole_day(each) and bool(sources.all_day))


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
        or value.amount not in _SMALL_COUNTS
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
    if (following.lower in FUNCTION_WORDS or following.lower in SMALL) and _stands_in_pair(tokens, each, value.place):
        return True
    if following.lower in _BEING or following.text in _ASIDE:
        return not tokens[each.end + 1].opens or following.lower in _BEING
    return not cover_word_forms([following.lower]).isdisjoint(counted)


def _opens_instruction(tokens: Sequence[Token], each: FoundNumber) -> bool:
    """Say whether "First" opens what is done before something else: "First knead it. Then let it rest."."""
    is_first = any(isinstance(value, Ordinal) and value.place == 1 for value in each.readings)
    opens = tokens[each.first].word == "First" and (each.first == 0 or not tokens[each.first - 1].text.isalnum())
    return is_first and opens and tokens[each.end].text.islower() and tokens[each.end].lower not in _RANKS


def _stands_in_pair(tokens: Sequence[Token], each: FoundNumber, place: int) -> bool:
    """Say whether "the first" or "the second" is told beside the other: "the first in 1938 and the second in 1941"."""
    if tokens[each.first - 1].lower != "the":
        return False  # "came first in 1938" is a rank
    before, behind = tokens[max(each.first - _PAIR_TOKENS, 0) : each.first], tokens[each.end : each.end + _PAIR_TOKENS]
    part, other = (behind, ("the", "second")) if place == 1 else (before, ("the", "first"))
    return other in pairwise(token.lower for token in part)


def _is_run(tokens: Sequence[Token], each: FoundNumber, sources: _Sources) -> bool:
    """Say whether a place is the last of so many in a row: "their sixth consecutive win"."""
    place = next((value.place for value in each.readings if isinstance(value, Ordinal)), 0)
    is_said = place > 0 and not _RUNNING.isdisjoint(token.lower for token in tokens[each.end : each.end + _RUN_TOKENS])
    return is_said and place in sources.runs


def _is_count_of_steps(tokens: Sequence[Token], each: FoundNumber, sources: _Sources) -> bool:
    """Say whether a number counts the items of a numbered list of a source: "five steps"."""
    value = each.readings[0] if each.readings else None
    if not isinstance(value, Quantity) or _STEPS.isdisjoint(list_counted_nouns(tokens, each.end)[-1:]):
        return False
    return value.amount in sources.steps


def _is_minute_of_game(tokens: Sequence[Token], each: FoundNumber, sources: _Sources) -> bool:
    """Say whether a number with a stroke is a minute of a game: "Pike (38')" of "in the 38th minute"."""
    if tokens[each.end].text in _STROKES:
        return each.hit is not None and each.hit.measures is PLAIN and each.hit.amount in sources.minutes
    places = {value.place for value in each.readings if isinstance(value, Ordinal)}
    is_said = tokens[each.end].lower == "minute" and bool(sources.minutes)
    return is_said and not places.isdisjoint(sources.bracketed)


def _is_length_of_rate(
    tokens: Sequence[Token], each: FoundNumber, before: FoundNumber | None, sources: _Sources
) -> bool:
    """Say whether a length of time is the one that the amount before it is for: "€330 in a year" of "€330 a year"."""
    if before is None or tokens[each.first - 1].lower not in _WITHIN or before.end != each.first - 1:
        return False
    lengths = [value.unit for value in each.readings if isinstance(value, Quantity) and value.amount == 1]
    amounts = [value for value in before.readings if isinstance(value, Quantity)]
    return any((said.amount, said.unit, unit) in sources.rates for said in amounts for unit in lengths)


def _is_temperature(each: FoundNumber, sources: _Sources) -> bool:
    """Say whether degrees without a scale are those of a temperature of the sources: "19 degrees" of "19 °C"."""
    return any(
        isinstance(value, Quantity) and value.unit == _DEGREE and value.amount in sources.temperatures
        for value in each.readings
    )


def _is_part_of_total(tokens: Sequence[Token], each: FoundNumber, sources: _Sources) -> bool:
    """Say whether a number is two with a stroke between them, and no share, that a sentence has: "61.2/80"."""
    is_written = all(isinstance(value, Written) for value in each.readings) and each.end == each.first + 1
    match = _PART_OF_TOTAL.fullmatch(tokens[each.first].text) if is_written else None
    if match is None:
        return False
    return sources.have_together(frozenset(map(Fraction, match.groups())))


def _is_next_on(tokens: Sequence[Token], each: FoundNumber, sources: _Sources) -> bool:
    """Say whether something goes on from the one behind so many: "from week 7 on" of "for the first 6 weeks"."""
    before = [token.lower for token in tokens[max(each.first - _FROM_TOKENS, 0) : each.first]]
    behind = [token.lower for token in tokens[each.end : each.end + _FROM_TOKENS]]
    if "from" not in before or _ONWARD.isdisjoint(behind):
        return False
    places = (
        value.place if isinstance(value, Ordinal) else value.amount
        for value in each.readings
        if isinstance(value, Ordinal | Label)
    )
    before_it = {place - 1 for place in places if place is not None}
    return not before_it.isdisjoint(sources.amounts)


def _tells_result(tokens: Sequence[Token]) -> bool:
    return any(token.lower in TELLING for token in tokens)


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
    if following.number or following.text in _MONEY or following.text in CURRENCIES:
        return True
    if (
        following.lower in FUNCTION_WORDS and before and before[-1] not in _RANKED
    ):  # "first for an hour, then for a day"
        return any(token.lower == "then" for token in tokens[each.end : each.end + _THEN_TOKENS])
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


_COUNTS: Final = ["two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"]
_FEWEST: Final = 2
"""Things of a list that are counted, at least; at most as many as there are words here for."""

_LONGEST: Final = 1_500
"""Characters of a list that are read."""

_MOST_WORDS: Final = 8
"""Words of a thing in it."""

_HEAD: Final = re.compile(
    rf"(?i:\b(?P<count>{'|'.join(_COUNTS)}|[2-9]|1[0-2]))"
    r"[ ](?P<noun>[A-Za-z'’-]{2,30})(?:[ ][A-Za-z'’-]{1,30}){0,5}?"
    r"(?:\**:\**|[ ]?\(|[ ][—–-]|,?[ ](?:are|were|namely):?(?=[ ]))"
)
_BULLET: Final = re.compile(r"\s*(?:[-*•]|\d{1,2}[.)])[ ]+(?P<item>[^\n]+)")
_LABEL: Final = re.compile(r":|[ ][—–-][ ]|[ ]\(|\.(?:[ ]|$)")
_END: Final = re.compile(r"[.!?;)](?:\s|$)|\n|\)")
_JOINED: Final = re.compile(r"[ ](?:and|or|&)[ ]")
_LEADING: Final = re.compile(r"(?:and|or|&|the|a|an)[ ]")
_WORD: Final = re.compile(r"\w+")


def list_counted_lists(answer: str, texts: Collection[str]) -> frozenset[tuple[str, str]]:
    """Return the counts of an answer that its own lists bear out, each with the word behind it, in lower case.

    Args:
        answer: its text.
        texts: what it cites, where each listed thing must stand.
    """
    heads = list(_HEAD.finditer(answer))
    if not heads:
        return frozenset()
    known = [f" {_join_words(text)} " for text in texts]
    return frozenset(
        (match["count"].lower(), match["noun"].lower())
        for match in heads
        if _is_list_of(_read_count(match["count"].lower()), *_read_list(answer, match.end()), known)
    )


def _read_count(word: str) -> int:
    return int(word) if word.isdecimal() else _COUNTS.index(word) + _FEWEST


def _is_list_of(amount: int, items: Collection[str], has_lines: bool, known: Collection[str]) -> bool:
    things = {_join_words(item) for item in items}
    if not len(items) == len(things) == amount or "" in things:
        return False
    return all(
        thing.count(" ") < _MOST_WORDS and any(_stands_in(thing, text, has_line=has_lines) for text in known)
        for thing in things
    )


def _stands_in(thing: str, text: str, *, has_line: bool) -> bool:
    """Say whether a text has a thing: word for word, or, of what has a line of its own, each of its words."""
    return f" {thing} " in text or (has_line and all(f" {word} " in text for word in thing.split(" ")))


def _join_words(text: str) -> str:
    return " ".join(_WORD.findall(text.lower()))


def _read_list(answer: str, start: int) -> tuple[list[str], bool]:
    """Return the things listed from a place on, and whether they stand in lines of their own, not in the sentence."""
    part = answer[start : start + _LONGEST]
    line = _BULLET.match(part) if part[:3].lstrip(" *)").startswith("\n") else None
    if line is None:
        end = _END.search(part)
        return list(_split_items(part[: end.start()] if end else part)), False
    items = list[str]()
    while line is not None:
        item = line["item"].strip()
        label = _LABEL.search(item.strip("*"))
        items.append(item.strip("*")[: label.start()] if label else item)
        line = _BULLET.match(part, line.end())
    return items, True


def _split_items(text: str) -> Iterator[str]:
    """Yield what commas part, and a last "and": of two things, and of a list without a comma before it."""
    parts = [part.strip() for part in text.replace(";", ",").split(",")]
    *first, last = parts
    yield from (_LEADING.sub("", part, count=1) for part in first)
    opening = _LEADING.match(last)
    joined = list(_JOINED.finditer(last)) if not (first and opening) else []
    if joined:
        yield last[: joined[-1].start()]
    rest = last[joined[-1].end() :] if joined else last
    yield _LEADING.sub("", rest, count=1)
