"""What follows from the numbers of an answer's sources, or from those that it states itself: sums, shares, spans.

Roundings, converted units, sums and shares of two, and spans of dates are licensed only where the answer says that it
is one, and of what: a price, a dose, a limit and a version are said as they stand, and a year is never a sum.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from datetime import date
from fractions import Fraction
from functools import cached_property
from itertools import chain, combinations, islice, pairwise, permutations, takewhile
from typing import Any, Final, NamedTuple, TypeGuard

from guardgraph.guards.facts.elapsed import (
    is_shifted_day,
    list_clock_gaps,
    list_clock_seconds,
    list_clock_spans,
    list_shifted_days,
    list_shifted_years,
    shift_date,
    step_back,
)
from guardgraph.guards.facts.numbers import FoundNumber, NumberSentence
from guardgraph.guards.facts.quantities import PLAIN, cover_word_forms, list_counted_nouns
from guardgraph.guards.facts.tokens import Token
from guardgraph.guards.facts.units import CURRENCIES, SCALES, find_units
from guardgraph.guards.facts.values import BARE, RATIO, Amount, Date, Number, Ordinal, Quantity, Unit, Value, Weekday
from guardgraph.guards.word_lists import load_word_lists

_LISTS: Final[dict[str, Any]] = load_word_lists("answer_numbers")

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

_BEHIND: Final = 2
"""Tokens behind a number among which stands the word that compares it: "$5 more", "5 days fewer"."""

_RESTING: Final = frozenset({"rest", "remaining", "other", "others", "remainder"})
"""Words of what is left of a whole."""

_PARTING: Final = frozenset({"including", "includes", "include", "them", "which", "whom"})
"""Words beside a part of a whole: "86 rooms, including 12 suites"."""

_FROM_ANOTHER: Final = frozenset({"after", "later", "before", "earlier", "longer", "shorter"})
"""Words that tell how long it is from one of two times of day to the other."""

_APIECE: Final = frozenset({"each", "apiece"})

_OUT_OF: Final = (["in"], ["out", "of"])
"""What stands between the numbers of a share: "1 in 10", "3 out of 4"."""

_FACTORS: Final = frozenset({4, 7, 12, 24, 30, 52, 60, 365, 3600})
_TIMES_SIGNS: Final = frozenset({"×", "*", "x"})

_MULTIPLE: Final = frozenset({"as", "the", "that", "what", "its", "more", "higher", "larger", "longer", "faster"})
"""Words behind "five times" that compare: "five times as many", "ten times the storage"."""

_FEWEST_DAYS: Final = 7
"""Of a length of time that is told in another unit by about: a day is no part of a month."""

_EXACTLY: Final = frozenset({"exactly", "precisely", "exact", "precise"})
"""Words of an amount that is not rounded."""

_WINDOW: Final = frozenset(
    {"long", "maintenance", "outage", "period", "session", "shift", "slot", "takes", "window", "open", "journey"}
    | {"duration", "ride", "trip", "flight", "drive", "longer", "shorter", "downtime"}
)
"""Words beside how long something is between two times of day, as those of a span."""

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

_MOST_TIMES: Final = 64
"""Dates, and times of day, of the texts that are held against those of an answer."""

_MOST_TOGETHER: Final = 24
"""Numbers of two neighbouring sentences that are put together, at most."""

_LARGE_SUM: Final = 10_000
"""An amount of money below it is taken for a price."""

_HIGH_SHARE: Final = Fraction(9, 10)
"""From here on a share is a promise or a test that was passed, and tenths of it count."""

_MOST_OFF: Final = Fraction(1, 10)
_MOST_OFF_CONVERTED: Final = Fraction(1, 20)
"""How far a rounded and a converted amount may lie from what it stands for, by that."""

_HUNDRED: Final = 100
_LARGE: Final = 1_000
"""From here on a bare number is no other one by chance."""

_FEWEST_FIGURES: Final = 4
_FIGURES_LEFT: Final = 2
"""Digits that a number has and keeps, at least, where it is rounded and nothing says so."""

_MOST_DECIMALS: Final = 12

_MINUTE: Final = 60
_DAY: Final = 86_400
_MONTHS: Final = 12

_CALENDAR: Final = frozenset({"time", "calendar"})
"""Kinds of lengths of time that lead from one date to another."""

_ENDING: Final = frozenset(_LISTS["ending"])
"""Words beside the date on which something ends."""


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
    behind: frozenset[str]
    """Words right behind it."""
    is_multiple: bool
    """Whether it says how many times as much something is."""


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
        if self._covers_frequency(sentence, each) or self._covers_shifted_day(values) or self._covers_price(values):
            return True
        if not self._shifted_years.isdisjoint(value.year for value in values if _is_year(value)):
            return True
        if any(isinstance(value, Ordinal) for value in values):
            return self._covers_century(sentence.tokens, each)
        if any(isinstance(value, Date) for value in values):
            return False
        for value in values:
            if isinstance(value, Quantity) and (claim := _read_claim(sentence, each, value)):
                if self._covers_span(claim) or self._covers_complement(claim) or self._covers_hours(claim):
                    return True
                if self._covers_working_days(claim) or self._covers_odds(claim):
                    return True
                if claim.value.unit == BARE and claim.value.per is not None and self._covers_operation(claim):
                    return True  # "by 300 requests per second"
                if _is_exact(claim.value, claim.clause if _is_rounded_by_word(claim) else claim.words, claim.nouns):
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
    def _shifted_years(self) -> frozenset[int | None]:
        return frozenset(islice(chain.from_iterable(map(list_shifted_years, self._texts)), _MOST_TIMES))

    def _covers_price(self, values: Iterable[Value]) -> bool:
        """Say whether an amount of money is the price of one of what it is told of: "€8 per item" of "€8 each"."""
        rated = (value for value in values if isinstance(value, Quantity) and value.per is not None)
        return any(value.per.dimension.startswith("~") and value[:2] in self._prices for value in rated if value.per)

    @cached_property
    def _prices(self) -> frozenset[tuple[Amount, Unit]]:
        """Amounts of money with "each" or "apiece" behind them."""
        return frozenset(
            (value.amount, value.unit)
            for sentence in chain.from_iterable(self._texts)
            for each in sentence.found
            if sentence.tokens[each.end].lower in _APIECE
            for value in each.readings
            if isinstance(value, Quantity) and value.unit.dimension in CURRENCIES
        )

    @cached_property
    def _clock_spans(self) -> frozenset[int]:
        return frozenset(chain.from_iterable(map(list_clock_spans, chain.from_iterable(self._texts))))

    @cached_property
    def _clock_gaps(self) -> frozenset[int]:
        return frozenset(chain.from_iterable(map(list_clock_gaps, self._texts)))

    def _covers_hours(self, claim: _Claim) -> bool:
        """Say whether an amount is how long it is from one time of day to another: a two-hour window."""
        length = claim.value.unit.convert_to_base(claim.value.amount)
        if claim.value.unit.dimension == "time" and length % _MINUTE and length > _MINUTE and length in self.seconds:
            return True  # "2 hours, 9 minutes and 14 seconds" of "won in 2:09:14"
        if not _is_length_of_day(claim):
            return False
        return length in self._clock_spans or (not claim.near.isdisjoint(_FROM_ANOTHER) and length in self._clock_gaps)

    @cached_property
    def seconds(self) -> frozenset[int]:
        """The times of day that they name."""
        return frozenset(islice((second for text in self._texts for second in list_clock_seconds(text)), _MOST_TIMES))

    @cached_property
    def dates(self) -> list[Date]:
        """The days, months and years with a year that they name."""
        sentences = chain.from_iterable(map(_date_sentences, self._texts))
        return list(islice(chain.from_iterable(sentences), _MOST_TIMES))

    @cached_property
    def pairs(self) -> list[tuple[_Said, _Said]]:
        """Amounts of one kind that stand in the same or in neighbouring sentences."""
        pairs = (
            pair
            for text in self._by_sentence
            for first, second in zip(text, [*text[1:], []], strict=True)
            for pair in combinations([*first, *second][:_MOST_TOGETHER], 2)
        )
        return [pair for pair in islice(pairs, _MOST_PAIRS) if _is_of_one_kind(*pair)]

    def _covers_working_days(self, claim: _Claim) -> bool:
        """Say whether days are working days by a word beside them: "28 days of leave (working days)"."""
        is_said = claim.value.unit == Unit("time", _DAY) and not claim.words.isdisjoint(("working", "business"))
        said = self._amounts.get("business day", ()) if is_said else ()
        return any(claim.value[:1] == each.value[:1] and claim.value.bound == each.value.bound for each in said)

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
    def plain_pairs(self) -> list[tuple[_Said, _Said]]:
        """Bare numbers of one sentence: "17 for the one, 14 for the other"."""
        sentences = (
            [said for said in sentence if said.value.unit == BARE and said.value.per is None][:_MOST_TOGETHER]
            for sentence in chain.from_iterable(self._by_sentence)
        )
        return list(islice(chain.from_iterable(combinations(each, 2) for each in sentences), _MOST_PAIRS))

    @cached_property
    def _odds(self) -> frozenset[Fraction]:
        """The shares that are told as so many of so many: "1 in 10 people"."""
        return frozenset(
            Fraction(one.hit.amount) / Fraction(other.hit.amount)
            for sentence in chain.from_iterable(self._texts)
            for one, other in pairwise(sentence.found)
            if [token.lower for token in sentence.tokens[one.end : other.first]] in _OUT_OF
            if one.hit and other.hit and one.hit.measures is PLAIN and 0 < one.hit.amount < other.hit.amount
        )

    def _covers_odds(self, claim: _Claim) -> bool:
        return claim.value.unit.dimension == RATIO and claim.value.per is None and _measure(claim) in self._odds

    @cached_property
    def _centuries(self) -> frozenset[int]:
        values = (value for text in self._texts for item in text for each in item.found for value in each.readings)
        return frozenset(value.year // 100 + 1 for value in values if isinstance(value, Date) and value.year)

    @cached_property
    def _date_pairs(self) -> list[tuple[Date, Date]]:
        """Dates that stand in the same or in neighbouring sentences."""
        found = list[list[Date]]()
        for text in self._texts:
            dates = _date_sentences(text)
            found += [[*one, *other][:_MOST_TOGETHER] for one, other in zip(dates, [*dates[1:], []], strict=True)]
        pairs = chain.from_iterable(combinations(together, 2) for together in found)
        return list(dict.fromkeys(islice(pairs, _MOST_PAIRS)))

    def _covers_century(self, tokens: Sequence[Token], each: FoundNumber) -> bool:
        place = next((value.place for value in each.readings if isinstance(value, Ordinal)), 0)
        if tokens[each.end].lower not in ("century", "centuries"):
            return False
        return place in self._centuries

    def _covers_span(self, claim: _Claim) -> bool:
        """Say whether a length of time lies between two dates, and is said to."""
        return _is_span_of_dates(claim, self._date_pairs)

    def _covers_complement(self, claim: _Claim) -> bool:
        """Say whether one of two bounds is denied of what lies beyond the other: "never more than 3" of "at most 3"."""
        own = claim.value
        said = self._amounts.get(own.unit.dimension, ()) if own.bound else ()
        if own.bound == "least" and own.unit == BARE and any(_is_next_whole_number(claim, each) for each in said):
            return True
        if not own.bound:
            return False
        is_denied = _is_denied(claim.clause)
        return any(
            {own.bound, each.value.bound} == {"least", "most"}
            and own.per == each.value.per
            and own.unit.convert_to_base(own.amount) == each.value.unit.convert_to_base(each.value.amount)
            and is_denied != _is_denied(each.near)
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
        if not (sums or differs or shares or changes):
            return False
        return any(
            (sums and _is_sum(claim, one, other))
            or (changes and _is_change(claim, one, other))
            or (differs and (_is_difference(claim, one, other) or _is_difference_in_points(claim, one, other)))
            or (shares and (_is_share(claim, one, other) or _is_share(claim, other, one)))
            for one, other in self.pairs
        )


class StatedAmounts:
    """What an answer works out of amounts that it states itself, in the same sentence or the one before.

    A reader can follow it, so prices, doses and limits are no exception here. Each of these amounts is held against the
    sources like any other, so that it can bear another one only where they have it.

    Args:
        missing: numbers of the answer that its sources do not have.
        sources: what follows from the numbers of its sources.
    """

    def __init__(self, missing: Collection[Number], sources: Derivations) -> None:
        self._missing = missing
        self._sources = sources
        self._before: list[_Said] = []
        self._own: list[_Said] = []
        self._stated: list[NumberSentence] = []
        """The sentence and the one before, with what its sources have of their numbers."""

    def read_sentence(self, sentence: NumberSentence) -> None:
        """Go on to the next sentence."""
        known = [each for each in sentence.found if sentence.name_number(each) not in self._missing]
        known += [each for each in sentence.found if each not in known and is_factor_of_units(sentence.tokens, each)]
        own = sentence._replace(found=known)
        self._before, self._own = self._own, list(_read_amounts(own))[:_MOST_TOGETHER]
        self._stated = [*self._stated[-1:], own]

    def covers_number(self, sentence: NumberSentence, each: FoundNumber) -> bool:
        """Say whether a number of the sentence follows from others that are stated, and is said so."""
        claims = (
            _read_claim(sentence, each, value)
            for value in (each.hit.list_readings() if each.hit else each.readings)
            if isinstance(value, Quantity)
        )
        if any(claim is not None and self._covers_claim(claim) for claim in claims):
            return True
        return self._covers_end_date(sentence.tokens, each)

    def _covers_end_date(self, tokens: Sequence[Token], each: FoundNumber) -> bool:
        """Say whether a date ends a stated length of time: "takes 14 months from March 2025, until May 2026"."""
        said = [token.lower for token in tokens[max(each.first - _NEAR, 0) : each.first]]
        if _WORKED_OUT.isdisjoint(said) and _ENDING.isdisjoint(said[-_BEFORE:]):
            return False
        starts = list(dict.fromkeys(chain.from_iterable(_date_sentences(self._stated))))
        lengths = [said.value for said in [*self._before, *self._own] if said.value.unit.dimension in _CALENDAR]
        if len(starts) != 1:
            return False  # nothing says from which one on
        ends = [end for length in lengths[:_MOST_TOGETHER] if (end := shift_date(starts[0], length))]
        if any(end in each.readings or step_back(end) in each.readings for end in ends):
            return True
        years = {end.year for end in ends}  # "takes a year and a half, so until autumn 2027"
        return any(value.year in years for value in each.readings if _is_year(value))

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
        elif "of" in claim.words:
            ways.append(_is_part)
        whole = claim._replace(near=claim.words)
        if any(way(whole, one, other) for way in ways for one, other in pairs):
            return True
        if any(_is_rest_of_whole(claim, said) or _is_same_length(claim, said) for said in self._own):
            return True
        if not claim.near.isdisjoint(_SUM | _WORKED_OUT) and _is_total(claim, self._own):
            return True
        return self._covers_span(claim) or self._covers_comparison(claim)

    def _covers_span(self, claim: _Claim) -> bool:
        """Say whether a length of time lies between two dates or times of day, one of which is stated."""
        if claim.value.unit.dimension == "time" and claim.value.unit.factor < _DAY:
            if not _is_length_of_day(claim):
                return False
            stated = {*list_clock_seconds(self._stated)}
            length = claim.value.unit.convert_to_base(claim.value.amount)
            return any(abs(one - other) == length for one in stated for other in stated | self._sources.seconds)
        dates = list(chain.from_iterable(_date_sentences(self._stated)))[:_MOST_TOGETHER]
        return _is_span_of_dates(claim, [(one, other) for one in dates for other in [*dates, *self._sources.dates]])

    def _covers_comparison(self, claim: _Claim) -> bool:
        """Say whether an amount is by how much a stated one is more or less than another, or how many times."""
        if claim.is_multiple:
            stated = ((one, other) for one, other in permutations(self._own, 2) if _is_of_one_kind(one, other))
            return any(_is_ratio(claim, *sorted(map(_measure, pair))) for pair in chain(self._sources.pairs, stated))
        if claim.behind.isdisjoint(_DIFFERENCE):
            return False
        stated_amounts = {(said.value.unit.dimension, _measure(said)) for said in self._own}
        is_plain = claim.value.unit == BARE and not claim.nouns and claim.value.per is None
        return any(
            _measure(claim) == abs(_measure(one) - _measure(other))
            and (is_plain or _is_difference(claim, one, other))
            and any((said.value.unit.dimension, _measure(said)) in stated_amounts for said in (one, other))
            for one, other in (self._sources.plain_pairs if is_plain else self._sources.pairs)
        )


def is_factor_of_units(tokens: Sequence[Token], each: FoundNumber) -> bool:
    """Say whether a number is how many of a unit of time make another one, beside a sign that multiplies: "12 × €5"."""
    if each.hit is None or each.hit.measures is not PLAIN or each.hit.amount not in _FACTORS:
        return False
    return not _TIMES_SIGNS.isdisjoint((tokens[each.first - 1].text, tokens[each.end].text))


def _is_ratio(claim: _Claim, small: Amount, large: Amount) -> bool:
    """Say whether a number of times is how many times as much one amount is as another."""
    if small <= 0:
        return False
    ratio, times = Fraction(large) / Fraction(small), claim.value.amount
    if claim.value.bound == "least" or not claim.before.isdisjoint(_DOWN):
        return times <= ratio < times + 1
    if not claim.before.isdisjoint(_UP):
        return times - 1 < ratio <= times
    return abs(ratio - times) * 2 < 1 if not claim.before.isdisjoint(_NEAREST) else ratio == times


def _is_year(value: Value) -> TypeGuard[Date]:
    return isinstance(value, Date) and value.month is None and value.day is None


def _date_sentences(sentences: Iterable[NumberSentence]) -> list[list[Date]]:
    """Return the dates of each sentence that have a year; a day without one has that of the day before it."""
    found, year = list[list[Date]](), None
    for sentence in sentences:
        own: list[Date] = []
        for day in (value for each in sentence.found for value in each.readings if isinstance(value, Date)):
            year = day.year if day.day is not None and day.year is not None else year
            dated = day if day.year is not None or day.day is None else day._replace(year=year)
            own += [dated] if dated.year is not None else []
        found.append(own)
    return found


def _is_length_of_day(claim: _Claim) -> bool:
    """Say whether an amount is told as how long something takes on one day."""
    unit, per = claim.value.unit, claim.value.per
    if unit.dimension != "time" or per not in (None, Unit("time", _DAY)) or not _LIMIT.isdisjoint(claim.near):
        return False
    return claim.is_glued or not claim.near.isdisjoint(_SPAN | _WINDOW)


def _is_span_of_dates(claim: _Claim, pairs: Iterable[tuple[Date, Date]]) -> bool:
    """Say whether an amount is told as the time between two dates, and is."""
    unit, words = claim.value.unit, claim.near
    aged = unit == BARE and not claim.nouns and (not words.isdisjoint(("aged", "age")) or {"when", "was"} <= words)
    if not (aged or not words.isdisjoint(_SPAN)) or not (
        aged or unit.dimension == "calendar" or unit.factor in (_DAY, 7 * _DAY)
    ):
        return False
    measured = unit if not aged else Unit("calendar", _MONTHS)
    spans = (span for one, other in pairs for span in _list_spans(one, other, measured))
    return any(span and (claim.value.amount == span or _rounds_to(claim, span)) for span in spans)


def _is_rest_of_whole(claim: _Claim, said: _Said) -> bool:
    """Say whether a share is what a stated one leaves of a whole: "62 % were women, so 38 % were men"."""
    if not claim.value.unit.dimension == said.value.unit.dimension == RATIO:
        return False
    return not claim.near.isdisjoint(_WORKED_OUT | _RESTING) and _measure(claim) + _measure(said) == 1


_LENGTHS_IN_DAYS: Final = {"time": Fraction(1, _DAY), "calendar": Fraction(365, 12), "business day": Fraction(7, 5)}
"""Days of the base of each: of a second, of a month, and of a working day."""


def _is_same_length(claim: _Claim, said: _Said) -> bool:
    """Say whether a length of time is about a stated one: "30 days (one month)", "16 weeks, so about four months"."""
    own, other = claim.value.unit.dimension, said.value.unit.dimension
    is_told = not claim.near.isdisjoint(_WORKED_OUT | _NEAREST | {"or"})
    if own == other or not is_told or not {own, other} <= _LENGTHS_IN_DAYS.keys() or claim.value.per is not None:
        return False
    days = (_measure(claim) * _LENGTHS_IN_DAYS[own], _measure(said) * _LENGTHS_IN_DAYS[other])
    return min(days) >= _FEWEST_DAYS and _is_near(days[0], days[1], _MOST_OFF)


def _is_stated_difference(claim: _Claim, one: _Said, other: _Said) -> bool:
    """Say whether an amount is the difference of two, of shares in points, of counts also without their noun."""
    off = abs(Fraction(_measure(one)) - Fraction(_measure(other)))
    if not _is_of_one_kind(one, other):
        return _is_rest_of_count(claim, one, other)
    if _is_difference_in_points(claim, one, other):
        return True
    if claim.value.unit == BARE and not claim.nouns:
        return one.value.unit == BARE and claim.value.amount == off
    return _is_difference(claim, one, other)


def _is_rest_of_count(claim: _Claim, whole: _Said, part: _Said) -> bool:
    """Say whether a count is what a part leaves of its whole: "86 rooms, 12 of them suites, so 74 other rooms"."""
    if not claim.value.unit == whole.value.unit == part.value.unit == BARE:
        return False
    if claim.value.amount >= _HUNDRED and not claim.near.isdisjoint(_WORKED_OUT):
        return claim.value.amount == whole.value.amount - part.value.amount  # no other number by chance
    if part.near.isdisjoint(_PARTING):
        return False
    is_of_whole = not claim.nouns or not claim.nouns.isdisjoint(whole.nouns)
    return is_of_whole and claim.value.amount == whole.value.amount - part.value.amount


def _is_difference_in_points(claim: _Claim, one: _Said, other: _Said) -> bool:
    """Say whether percentage points are the difference of two shares."""
    if claim.value.unit.dimension != "point" or not one.value.unit.dimension == other.value.unit.dimension == RATIO:
        return False
    return claim.value.amount == abs(Fraction(_measure(one)) - Fraction(_measure(other))) * 100


def _is_stated_share(claim: _Claim, part: _Said, whole: _Said) -> bool:
    """Say whether a share is that of two amounts of one unit, or of two counts one of which has no noun."""
    is_counted = part.value.unit == whole.value.unit == BARE and not (part.nouns and whole.nouns)
    if not (_is_of_one_kind(part, whole) or is_counted) or not 0 < _measure(part) < _measure(whole):
        return False
    share = Fraction(_measure(part)) / Fraction(_measure(whole)) / Fraction(claim.value.unit.factor)
    return abs(share - claim.value.amount) * 2 <= claim.digit and _is_near(claim.value.amount, share, _MOST_OFF)


def _is_product(claim: _Claim, factor: _Said, amount: _Said) -> bool:
    """Say whether an amount is so many times another one, or a share of it: "two for $8 ($4 each)", "60 % of 50 GB"."""
    own, unit = claim.value, amount.value.unit
    if (
        (unit == BARE and (factor.value.unit.dimension != RATIO or "of" not in claim.words))
        or own.unit.dimension != unit.dimension
        or (own.per not in (None, amount.value.per) and _TIMES_SIGNS.isdisjoint(claim.words))
    ):
        return False
    if factor.value.unit not in (BARE,) and factor.value.unit.dimension not in (RATIO, "calendar"):
        return False
    times = factor.value.amount if factor.value.unit.dimension != RATIO else _measure(factor)
    product = Fraction(times) * _measure(amount) / Fraction(own.unit.factor)
    if factor.value.unit.dimension != RATIO:
        return product == own.amount
    return abs(product - own.amount) * 2 <= claim.digit and _is_near(own.amount, product, _MOST_OFF)


def _is_part(claim: _Claim, share: _Said, amount: _Said) -> bool:
    """Say whether an amount is a share of another one: "23,000 of them, half of the 46,000"."""
    return share.value.unit.dimension == RATIO and _is_product(claim, share, amount)


def _read_amounts(sentence: NumberSentence) -> Iterator[_Said]:
    words = frozenset(token.lower for token in sentence.tokens)
    for each in sentence.found:
        if any(isinstance(value, Date) for value in each.readings):
            continue
        # "Bob 7 goals" is read as a name with a number too, "12 of 25 days" as a number without a unit.
        for value in dict.fromkeys((*each.hit.list_readings(), *each.readings)) if each.hit else each.readings:
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
        frozenset(token.lower for token in tokens[each.end : each.end + _BEHIND]),
        value.unit == BARE and tokens[each.end].lower == "times" and tokens[each.end + 1].lower in _MULTIPLE,
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


def _is_rounded_by_word(claim: _Claim) -> bool:
    """Say whether a word before an amount says that it is rounded."""
    return not claim.before.isdisjoint(_NEAREST | _DOWN | _UP) or _is_lower_bound(claim)


def _is_lower_bound(claim: _Claim) -> bool:
    """Say whether an amount is told as one that is exceeded: "more than 2,000"."""
    return claim.value.bound == "least" and "than" in claim.before


def _is_exact(value: Quantity, words: Collection[str], nouns: Collection[str]) -> bool:
    """Say whether an amount is of a kind that is said as it stands: a price, a dose, a limit, a rate, a high share."""
    money = value.unit.dimension in CURRENCIES
    # Beside a dose, "about 1,200 adults" count no dose.
    is_dose = not _DOSE.isdisjoint(nouns if value.unit == BARE and nouns else words)
    if value.per is not None or not _LIMIT.isdisjoint(words) or is_dose:
        return True
    if money and (not _PRICE.isdisjoint(words) or value.unit.convert_to_base(value.amount) < _LARGE_SUM):
        return True
    return value.unit.dimension == RATIO and value.unit.convert_to_base(value.amount) >= _HIGH_SHARE


def _is_rounding(claim: _Claim, said: _Said) -> bool:
    value, own = said.value, claim.value
    if _is_exact(value, said.near if _is_rounded_by_word(claim) else said.words, said.nouns):
        return False
    if own.unit == BARE:
        if (
            value.unit != BARE
            or not (claim.scaled or claim.nouns or _is_large_and_about(claim, value.amount))
            or not (
                _counts_same(claim, said) or (_is_large_and_about(claim, value.amount) and _counts_people(claim, said))
            )
        ):
            return False
        return _rounds_to(claim, value.amount)
    if own.unit.dimension != value.unit.dimension or own.unit.zero != value.unit.zero:
        return False
    amount = value.amount * value.unit.factor / Fraction(own.unit.factor)
    if own.unit.factor != value.unit.factor and own.unit.dimension not in CURRENCIES:
        if _is_rounded_by_word(claim) and _rounds_to(claim, amount) and _is_near(own.amount, amount, _MOST_OFF):
            return True
        return abs(amount - own.amount) * 2 <= claim.digit and _is_near(own.amount, amount, _MOST_OFF_CONVERTED)
    return _rounds_to(claim, amount)


def _counts_same(claim: _Claim, said: _Said) -> bool:
    return not claim.nouns or not claim.nouns.isdisjoint(said.nouns)


def _counts_people(claim: _Claim, said: _Said) -> bool:
    """Say whether one of two counts is of people, whom the other names: "some 2,300 employees" of 2,317 people."""
    return "people" in claim.nouns | said.nouns and bool(claim.nouns and said.nouns)


def _is_large_and_about(claim: _Claim, amount: Amount) -> bool:
    """Say whether a large amount without a noun is said to be rounded: "over 23,000 were sold"."""
    said = claim.value.bound == "least" or not claim.before.isdisjoint(_NEAREST | _DOWN | _UP)
    is_close = claim.figures >= _FIGURES_LEFT or _is_near(claim.value.amount, amount, _MOST_OFF)
    return said and claim.value.amount >= _LARGE and is_close


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
    """Say whether two amounts are of one unit, or count the same, for each of the same."""
    if one.value.per != other.value.per and (
        BARE in (one.value.unit, other.value.unit) or None not in (one.value.per, other.value.per)
    ):
        return False
    if one.value.unit == other.value.unit == BARE and one.value.per is not None:
        return True  # "from 950 to 310 rps"
    if BARE in (one.value.unit, other.value.unit):
        return one.value.unit == other.value.unit and not one.nouns.isdisjoint(other.nouns)
    return one.value.unit.dimension == other.value.unit.dimension and one.value.unit.zero == 0


def _measure(said: _Said | _Claim) -> Amount:
    return said.value.unit.convert_to_base(said.value.amount)


def _is_claimed_kind(claim: _Claim, one: _Said, other: _Said) -> bool:
    if not _is_of_one_kind(one, other) or claim.value.unit.dimension != one.value.unit.dimension:
        return False
    if claim.value.per not in (one.value.per, other.value.per) and (claim.value.unit == BARE or one.value.per):
        return False
    if claim.value.unit == BARE and claim.value.per is not None:
        return True
    return claim.value.unit != BARE or not claim.nouns.isdisjoint(one.nouns & other.nouns)


def _is_sum(claim: _Claim, one: _Said, other: _Said) -> bool:
    if not _is_claimed_kind(claim, one, other) or claim.value.unit.dimension == RATIO:
        return False
    if one.value.per != other.value.per:
        return False
    return _measure(claim) == _measure(one) + _measure(other)


def _is_total(claim: _Claim, stated: Sequence[_Said]) -> bool:
    """Say whether an amount is the sum of all of its kind that its sentence states: "four, one and two, 7 in all"."""
    parts = [said for said in stated if _is_claimed_kind(claim, said, said)]
    return len(parts) > 2 and _measure(claim) == sum(map(_measure, parts))


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
        yield Fraction(days * _DAY) / unit.factor
