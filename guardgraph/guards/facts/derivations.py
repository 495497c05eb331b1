"""What follows from the numbers of an answer's sources, or from those that it states itself: sums, shares, spans."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from functools import cached_property
from itertools import chain, combinations, islice, pairwise, permutations, product
from typing import Final

from guardgraph.guards.facts.elapsed import (
    WEEK,
    is_shifted_day,
    list_clock_gaps,
    list_clock_seconds,
    list_clock_spans,
    list_offsets,
    list_shifted_days,
    list_shifted_years,
    list_weekdays,
    shift_date,
    step_back,
)
from guardgraph.guards.facts.numbers import FoundNumber, NumberSentence
from guardgraph.guards.facts.relations import (
    BEFORE,
    DAY,
    DIFFERENCE,
    ENDING,
    EVERY,
    FALLING,
    NEAR,
    REASONING,
    REMAINING,
    RESTING,
    RISING,
    SHARE,
    SUM,
    WORKED_OUT,
    ClaimedAmount,
    SaidAmount,
    counts_things,
    is_change_between,
    is_converted_speed,
    is_denied,
    is_difference_in_points,
    is_difference_of,
    is_exact,
    is_factor_of_units,
    is_large_difference,
    is_length_of_day,
    is_next_whole_number,
    is_of_one_kind,
    is_part_of_amount,
    is_product_of,
    is_ratio_of,
    is_rest_of_count,
    is_rest_of_whole,
    is_rounded_by_word,
    is_rounding,
    is_same_length,
    is_share_of,
    is_span_of_dates,
    is_stated_difference,
    is_stated_share,
    is_sum_of,
    is_total_of,
    is_year_alone,
    list_sentence_dates,
    may_be_compared,
    read_amounts,
    read_claim,
)
from guardgraph.guards.facts.tokens import Token
from guardgraph.guards.facts.values import (
    BARE,
    RATIO,
    Amount,
    Clock,
    Date,
    Number,
    Ordinal,
    Quantity,
    Unit,
    Value,
    Weekday,
)
from guardgraph.guards.facts.words import CURRENCIES, FUNCTION_WORDS, SMALL, find_units

_FEWER: Final = frozenset({"fewer", "less"})

_AGAINST: Final = frozenset({"than", "from", "on"})
"""Words before what an amount is compared with: "310 more than", "up 9.1 points from"."""

_EACH_TIME: Final = frozenset({"a", "an", "per", "each", "every"})

_FROM_ANOTHER: Final = frozenset({"after", "later", "before", "earlier", "longer", "shorter"})
"""Words that tell how long it is from one of two times of day to the other."""

_APIECE: Final = frozenset({"each", "apiece"})

_POSSESSIVE: Final = frozenset({"his", "her", "its", "their"})
_OF_TIME: Final = (["of", "the"], ["of", "this"])
"""What stands around the place of the last of some: "his ninth of the season"."""

_OPERATORS: Final = {"plus": 1, "+": 1, "minus": -1, "−": -1}
_OPERATOR_TOKENS: Final = 5
"""Tokens between two amounts of which one is the sign, at most: "€1,150 rent plus €180"."""

_OUT_OF: Final = (["in"], ["out", "of"], ["in", "every"], ["of", "every"], ["out", "of", "every"])
"""What stands between the numbers of a share: "1 in 10", "3 out of 4"."""

_COMPARED: Final = 3
"""Tokens behind a difference among which stands what it is compared with: "310 more people than"."""

_COMPARED_APART: Final = 6
"""Tokens between an amount and its difference from another one, at most: "38.4 % of the vote, up 9.1 points from"."""

_EXCEEDING: Final = frozenset({"over", "above", "under", "below", "past", "beyond", "short"})
"""Words behind a difference from a stated limit: "14 minutes over the 90 minutes that it may take"."""

_MOST_PAIRS: Final = 20_000

_MOST_AMOUNTS: Final = 20_000
"""Pairs, and numbers of one kind, that are looked at: those of 100,000 characters of ordinary texts."""

_MOST_TIMES: Final = 64
"""Dates, and times of day, of the texts that are held against those of an answer."""

_MOST_TOGETHER: Final = 24
"""Numbers of two neighbouring sentences that are put together, at most."""

_MINUTE: Final = 60

_EARLIER: Final = frozenset({"before", "earlier", "ahead"})
_LATER: Final = frozenset({"after", "later", "ends", "until", "lasts"})
"""Words beside a time of day that lies a stated length before or after another one."""

_BEGINNING: Final = frozenset({"began", "begun", "begins", "started", "starts", "since", "launched"})
"""Words before the date on which something begins that takes a stated length of time."""

_CALENDAR: Final = frozenset({"time", "calendar"})
"""Kinds of lengths of time that lead from one date to another."""


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
        if (
            self._covers_odds_in_words(sentence.tokens, each)
            or self._covers_frequency(sentence, each)
            or self._covers_shifted_day(values)
            or self._covers_price(values)
        ):
            return True
        if not self._shifted_years.isdisjoint(value.year for value in values if is_year_alone(value)):
            return True
        if any(isinstance(value, Ordinal) for value in values):
            return self._covers_century(sentence.tokens, each)
        if any(isinstance(value, Date) for value in values) and not counts_things(each):
            return False
        quantities = (value for value in values if isinstance(value, Quantity))
        claims = (read_claim(sentence, each, value) for value in quantities)
        return any(self._covers_claim(claim) for claim in claims if claim is not None)

    def _covers_claim(self, claim: ClaimedAmount) -> bool:
        if (
            self._covers_span(claim)
            or self._covers_complement(claim)
            or self._covers_hours(claim)
            or self._covers_working_days(claim)
            or self._covers_odds(claim)
            or self._covers_rest(claim)
            or self._covers_tally(claim)
            or self._covers_compared(claim)
            or (claim.value.speed and any(is_converted_speed(claim, speed) for speed in self._speeds))
        ):
            return True
        if claim.value.unit == BARE and claim.value.per is not None and self._covers_operation(claim):
            return True  # "by 300 requests per second"
        if is_exact(claim.value, claim.clause if is_rounded_by_word(claim) else claim.words, claim.nouns):
            return False
        amounts = self._amounts.get(claim.value.unit.dimension, ())
        return any(is_rounding(claim, said) for said in amounts) or self._covers_operation(claim)

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

    def _covers_hours(self, claim: ClaimedAmount) -> bool:
        """Say whether an amount is how long it is from one time of day to another: a two-hour window."""
        length = claim.value.base
        if claim.value.unit.dimension == "time" and length % _MINUTE and length > _MINUTE and length in self.seconds:
            return True  # "2 hours, 9 minutes and 14 seconds" of "won in 2:09:14"
        if not is_length_of_day(claim):
            return False
        return length in self._clock_spans or (not claim.near.isdisjoint(_FROM_ANOTHER) and length in self._clock_gaps)

    @cached_property
    def seconds(self) -> frozenset[int]:
        """The times of day that they name."""
        return frozenset(islice((second for text in self._texts for second in list_clock_seconds(text)), _MOST_TIMES))

    @cached_property
    def offsets(self) -> frozenset[tuple[Amount, frozenset[str]]]:
        """How long before or after something else they say that something is: "45 minutes before closing"."""
        return frozenset(islice(chain.from_iterable(map(list_offsets, chain.from_iterable(self._texts))), _MOST_TIMES))

    @cached_property
    def weekdays(self) -> frozenset[int]:
        """The days of the week that they name, by their number."""
        return frozenset(chain.from_iterable(map(list_weekdays, self._texts)))

    @cached_property
    def dates(self) -> list[Date]:
        """The days, months and years with a year that they name."""
        sentences = chain.from_iterable(map(list_sentence_dates, self._texts))
        return list(islice(chain.from_iterable(sentences), _MOST_TIMES))

    @cached_property
    def pairs(self) -> list[tuple[SaidAmount, SaidAmount]]:
        """Amounts of one kind that stand in the same or in neighbouring sentences."""
        pairs = (
            pair
            for text in self._by_sentence
            for first, second in zip(text, [*text[1:], []], strict=True)
            for pair in combinations([*first, *second][:_MOST_TOGETHER], 2)
        )
        return [pair for pair in islice(pairs, _MOST_PAIRS) if is_of_one_kind(*pair)]

    def _covers_working_days(self, claim: ClaimedAmount) -> bool:
        """Say whether days are working days by a word beside them: "28 days of leave (working days)"."""
        is_said = claim.value.unit == Unit("time", DAY) and not claim.words.isdisjoint(("working", "business"))
        said = self._amounts.get("business day", ()) if is_said else ()
        return any(claim.value[:1] == each.value[:1] and claim.value.bound == each.value.bound for each in said)

    @cached_property
    def _by_sentence(self) -> list[list[list[SaidAmount]]]:
        return [[list(read_amounts(sentence)) for sentence in text] for text in self._texts]

    @cached_property
    def _amounts(self) -> Mapping[str, list[SaidAmount]]:
        """By dimension."""
        found: dict[str, list[SaidAmount]] = {}
        for said in (said for text in self._by_sentence for sentence in text for said in sentence):
            found.setdefault(said.value.unit.dimension, []).append(said)
        return {dimension: each[:_MOST_AMOUNTS] for dimension, each in found.items()}

    @cached_property
    def _speeds(self) -> frozenset[Amount]:
        said = (said for text in self._by_sentence for sentence in text for said in sentence)
        return frozenset(islice((speed for each in said if (speed := each.value.speed)), _MOST_TIMES))

    @cached_property
    def plain_pairs(self) -> list[tuple[SaidAmount, SaidAmount]]:
        """Bare numbers of one sentence: "17 for the one, 14 for the other"."""
        sentences = (
            [said for said in sentence if said.value.unit == BARE and said.value.per is None][:_MOST_TOGETHER]
            for sentence in chain.from_iterable(self._by_sentence)
        )
        return list(islice(chain.from_iterable(combinations(each, 2) for each in sentences), _MOST_PAIRS))

    @cached_property
    def _odds(self) -> frozenset[Fraction]:
        """The shares that are told as so many of so many: "1 in 10 people"."""
        numbers = ((sentence, each) for sentence in chain.from_iterable(self._texts) for each in sentence.found)
        return frozenset(odds for sentence, each in numbers if (odds := _read_odds(sentence.tokens, each)) is not None)

    def _covers_rest(self, claim: ClaimedAmount) -> bool:
        """Say whether a share is what those of a sentence leave that tells of a rest, or all: "paid in full"."""
        if claim.value.unit.dimension != RATIO:
            return False
        if claim.value.base == 1 and claim.value.per is None and self._tell_full:
            return True
        return any(is_rest_of_whole(claim, stated) for stated in self._parted)

    @cached_property
    def _tell_full(self) -> bool:
        sentences = chain.from_iterable(self._texts)
        return any(("in", "full") in pairwise(token.lower for token in each.tokens) for each in sentences)

    def _covers_tally(self, claim: ClaimedAmount) -> bool:
        """Say whether a count is the place of the last one: "nine goals" of "his ninth of the season"."""
        return claim.value.unit == BARE and bool(claim.nouns) and claim.value.amount in self._tallies

    @cached_property
    def _tallies(self) -> frozenset[int]:
        return frozenset(
            value.place
            for sentence in chain.from_iterable(self._texts)
            for each in sentence.found
            if sentence.tokens[each.first - 1].lower in _POSSESSIVE
            and [token.lower for token in sentence.tokens[each.end : each.end + 2]] in _OF_TIME
            for value in each.readings
            if isinstance(value, Ordinal)
        )

    @cached_property
    def _parted(self) -> list[list[SaidAmount]]:
        """The amounts of each sentence that tells of a rest."""
        sentences = chain.from_iterable(self._by_sentence)
        parted = (each[:_MOST_TOGETHER] for each in sentences if each and not each[0].words.isdisjoint(RESTING))
        return list(islice(parted, _MOST_TIMES))

    def _covers_odds_in_words(self, tokens: Sequence[Token], each: FoundNumber) -> bool:
        """Say whether a number is of a share that is told as so many of so many: "nine out of ten" of "90 %"."""
        odds = _read_odds(tokens, each)
        return odds is not None and any(said.value.base == odds for said in self._amounts.get(RATIO, ()))

    def _covers_compared(self, claim: ClaimedAmount) -> bool:
        """Say whether an amount is what a stated one is compared with: 90 of "100, 10 more than a year ago"."""
        return claim.value.per is None and (claim.value.unit.dimension, claim.value.base) in self._compared

    @cached_property
    def _compared(self) -> frozenset[tuple[str, Amount]]:
        return frozenset(
            islice(chain.from_iterable(map(_list_compared, chain.from_iterable(self._texts))), _MOST_AMOUNTS)
        )

    def _covers_odds(self, claim: ClaimedAmount) -> bool:
        return claim.value.unit.dimension == RATIO and claim.value.per is None and claim.value.base in self._odds

    @cached_property
    def _centuries(self) -> frozenset[int]:
        values = (value for text in self._texts for item in text for each in item.found for value in each.readings)
        return frozenset(value.year // 100 + 1 for value in values if isinstance(value, Date) and value.year)

    @cached_property
    def _date_pairs(self) -> list[tuple[Date, Date]]:
        """Dates that stand in the same or in neighbouring sentences."""
        found = list[list[Date]]()
        for text in self._texts:
            dates = list_sentence_dates(text)
            found += [[*one, *other][:_MOST_TOGETHER] for one, other in zip(dates, [*dates[1:], []], strict=True)]
        pairs = chain.from_iterable(combinations(together, 2) for together in found)
        return list(dict.fromkeys(islice(pairs, _MOST_PAIRS)))

    def _covers_century(self, tokens: Sequence[Token], each: FoundNumber) -> bool:
        place = next((value.place for value in each.readings if isinstance(value, Ordinal)), 0)
        if tokens[each.end].lower not in ("century", "centuries"):
            return False
        return place in self._centuries

    def _covers_span(self, claim: ClaimedAmount) -> bool:
        """Say whether a length of time lies between two dates, and is said to."""
        return is_span_of_dates(claim, self._date_pairs)

    def _covers_complement(self, claim: ClaimedAmount) -> bool:
        """Say whether one of two bounds is denied of what lies beyond the other: "never more than 3" of "at most 3"."""
        own = claim.value
        said = self._amounts.get(own.unit.dimension, ()) if own.bound else ()
        if own.bound == "least" and own.unit == BARE and any(is_next_whole_number(claim, each) for each in said):
            return True
        if not own.bound:
            return False
        is_claim_denied = is_denied(claim.clause)
        return any(
            {own.bound, each.value.bound} == {"least", "most"}
            and own.per == each.value.per
            and own.base == each.value.base
            and is_claim_denied != is_denied(each.near)
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
            other.is_repeated and value.amount * other.value.base == unit.factor
            for unit in find_units(said[2])
            for other in self._amounts.get(unit.dimension, ())
        )

    def _covers_operation(self, claim: ClaimedAmount) -> bool:
        """Say whether an amount is the sum, the difference, the share or the ratio of two that stand together."""
        sums, differs = not claim.near.isdisjoint(SUM), not claim.near.isdisjoint(DIFFERENCE)
        shares = claim.value.unit.dimension == RATIO and not claim.near.isdisjoint(SHARE)
        changes = claim.value.unit.dimension == RATIO and not (RISING | FALLING).isdisjoint(claim.near)
        if not (sums or differs or shares or changes):
            return False
        return any(
            (sums and is_sum_of(claim, one, other))
            or (changes and is_change_between(claim, one, other))
            or (differs and (is_difference_of(claim, one, other) or is_difference_in_points(claim, one, other)))
            or (shares and (is_share_of(claim, one, other) or is_share_of(claim, other, one)))
            for one, other in self.pairs
        ) or (differs and any(is_large_difference(claim, one, other) for one, other in self.plain_pairs))


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
        self._before: list[SaidAmount] = []
        self._own: list[SaidAmount] = []
        self._formulas: set[tuple[str, Amount]] = set()
        """What the sentence tells how to work out: "64 participants minus 35 women"."""
        self._stated: list[NumberSentence] = []
        """The sentence and the one before, with what its sources have of their numbers."""

    def read_sentence(self, sentence: NumberSentence) -> None:
        """Go on to the next sentence."""
        own = sentence._replace(
            found=[
                each
                for each in sentence.found
                if is_factor_of_units(sentence.tokens, each) or sentence.name_number(each) not in self._missing
            ]
        )
        self._before, self._own = self._own, list(read_amounts(own))[:_MOST_TOGETHER]
        self._formulas = set(_list_formulas(own))
        self._stated = [*self._stated[-1:], own]

    def add_number(self, sentence: NumberSentence, each: FoundNumber) -> None:
        """Let a number that follows from others bear more: "which leaves 450, about 4 %"."""
        if len(self._own) < _MOST_TOGETHER:
            self._own += read_amounts(sentence._replace(found=[each]))

    def covers_number(self, sentence: NumberSentence, each: FoundNumber) -> bool:
        """Say whether a number of the sentence follows from others that are stated, and is said so."""
        claims = (
            read_claim(sentence, each, value)
            for value in (each.hit.list_readings() if each.hit else each.readings)
            if isinstance(value, Quantity)
        )
        if any(claim is not None and self._covers_claim(claim) for claim in claims):
            return True
        return self._covers_end_date(sentence.tokens, each) or self._covers_end_time(sentence, each)

    def _covers_end_time(self, sentence: NumberSentence, each: FoundNumber) -> bool:
        """Say whether a time of day lies a stated length before or after a stated one: "5:15, 45 minutes before 6"."""
        seconds = {value.second for value in each.readings if isinstance(value, Clock)}
        if not seconds:
            return False
        words = {token.lower for token in sentence.tokens[max(each.first - NEAR, 0) : each.end + 2 * NEAR]}
        turns = [
            turn for turn, cues in ((-1, _EARLIER), (1, _LATER | WORKED_OUT | ENDING)) if not words.isdisjoint(cues)
        ]
        lengths = [said.value.base for said in [*self._before, *self._own] if said.value.unit.dimension == "time"]
        starts = set(islice(list_clock_seconds(self._stated), _MOST_TIMES))
        content = {word for word in words if word.isalpha()} - FUNCTION_WORDS
        offsets = {offset for offset, said in self._sources.offsets if not content.isdisjoint(said)}
        if any((start + offset) % DAY in seconds for start in starts for offset in offsets):
            return True
        before = {said.value.base for said in self._own if not said.near.isdisjoint(_EARLIER)}
        before &= {-offset for offset, _ in self._sources.offsets}
        if any((start - offset) % DAY in seconds for start in self._sources.seconds for offset in before):
            return True  # "45 minutes before closing, i.e. at 5:15 pm or, on Thursdays, 8:15 pm"
        return any(
            (start + turn * length) % DAY in seconds
            for turn in turns
            for length in lengths[:_MOST_TOGETHER]
            if length < DAY
            for start in starts
        )

    def _covers_end_date(self, tokens: Sequence[Token], each: FoundNumber) -> bool:
        """Say whether a date ends a stated length of time: "takes 14 months from March 2025, until May 2026"."""
        said = [token.lower for token in tokens[max(each.first - NEAR, 0) : each.first]]
        if WORKED_OUT.isdisjoint(said) and (ENDING | _BEGINNING).isdisjoint(said[-BEFORE:]):
            return False
        stated = chain.from_iterable(list_sentence_dates(self._stated))
        starts = list(dict.fromkeys(stated)) or list(dict.fromkeys(self._sources.dates))
        lengths = [said.value for said in [*self._before, *self._own] if said.value.unit.dimension in _CALENDAR]
        if len(starts) != 1:
            return False  # nothing says from which one on
        turn = -1 if not _BEGINNING.isdisjoint(said[-BEFORE:]) else 1
        lengths = [length._replace(amount=turn * length.amount) for length in lengths]
        ends = [end for length in lengths[:_MOST_TOGETHER] if (end := shift_date(starts[0], length))]
        if any(end in each.readings or step_back(end) in each.readings for end in ends):
            return True
        months = {(end.year, end.month) for end in ends}
        dates = [value for value in each.readings if isinstance(value, Date)]
        if any(value.day is None and value.month and (value.year, value.month) in months for value in dates):
            return True
        years = {end.year for end in ends}  # "takes a year and a half, so until autumn 2027"
        return any(value.year in years for value in each.readings if is_year_alone(value))

    def _covers_claim(self, claim: ClaimedAmount) -> bool:
        near, is_beyond = claim.near, not claim.behind.isdisjoint(_EXCEEDING)
        if (claim.value.unit.dimension, claim.value.base) in self._formulas:
            return True
        pairs = list(permutations([*self._before, *self._own][-_MOST_TOGETHER:], 2))
        ways: list[Callable[[ClaimedAmount, SaidAmount, SaidAmount], bool]] = []
        if not claim.words.isdisjoint(SUM) or not near.isdisjoint(WORKED_OUT):
            ways.append(is_sum_of)
        if not claim.words.isdisjoint(DIFFERENCE) or not near.isdisjoint(WORKED_OUT | REMAINING) or is_beyond:
            ways.append(is_stated_difference)
        elif not claim.words.isdisjoint(REASONING):
            ways.append(is_rest_of_count)
        if claim.value.unit.dimension == RATIO:
            ways += [is_stated_share, is_change_between]
        elif not near.isdisjoint(SUM | WORKED_OUT | EVERY):
            ways.append(is_product_of)
        elif "of" in claim.words:
            ways.append(is_part_of_amount)
        whole = claim._replace(near=claim.words)
        if any(way(whole, one, other) for way in ways for one, other in pairs):
            return True
        if is_rest_of_whole(claim, self._own) or any(is_same_length(claim, said) for said in self._own):
            return True
        if not claim.near.isdisjoint(SUM | WORKED_OUT) and is_total_of(claim, self._own):
            return True
        return self._covers_span(claim) or self._covers_comparison(claim)

    def _covers_span(self, claim: ClaimedAmount) -> bool:
        """Say whether a length of time lies between two dates or times of day, one of which is stated."""
        if claim.value.unit.dimension == "time" and claim.value.unit.factor < DAY:
            stated, length = {*islice(list_clock_seconds(self._stated), _MOST_TIMES)}, claim.value.base
            if is_length_of_day(claim):
                return any(abs(one - other) == length for one in stated for other in stated | self._sources.seconds)
            worked_out = not claim.near.isdisjoint(WORKED_OUT)
            return worked_out and any(abs(one - other) == length for one, other in combinations(stated, 2))
        if claim.value.unit == Unit("time", DAY) and not claim.near.isdisjoint(_FROM_ANOTHER):
            stated_days, length = list_weekdays(self._stated), claim.value.amount
            if any(
                (one - other) % WEEK in (length, WEEK - length)
                for one in stated_days
                for other in self._sources.weekdays
            ):
                return True
        dates = list(chain.from_iterable(list_sentence_dates(self._stated)))[:_MOST_TOGETHER]
        return is_span_of_dates(claim, [(one, other) for one in dates for other in [*dates, *self._sources.dates]])

    def _covers_comparison(self, claim: ClaimedAmount) -> bool:
        """Say whether an amount is by how much a stated one is more or less than another, or how many times."""
        if claim.is_multiple:
            stated = ((one, other) for one, other in permutations(self._own, 2) if may_be_compared(one, other))
            return any(
                is_ratio_of(claim, *sorted(said.value.base for said in pair))
                for pair in chain(self._sources.pairs, stated)
            )
        if claim.behind.isdisjoint(DIFFERENCE):
            return False
        stated_amounts = {(said.value.unit.dimension, said.value.base) for said in self._own}
        is_plain = claim.value.unit == BARE and not claim.nouns and claim.value.per is None
        return any(
            claim.value.base == abs(one.value.base - other.value.base)
            and (is_plain or is_difference_of(claim, one, other))
            and any((said.value.unit.dimension, said.value.base) in stated_amounts for said in (one, other))
            for one, other in (self._sources.plain_pairs if is_plain else self._sources.pairs)
        )


def _read_odds(tokens: Sequence[Token], each: FoundNumber) -> Fraction | None:
    """Read so many of so many, of which a number is one: "nine out of ten"."""
    for gap in _OUT_OF:
        before, behind = tokens[max(each.first - len(gap), 0) : each.first], tokens[each.end : each.end + len(gap)]
        if [token.lower for token in behind] == gap:
            part, whole = tokens[each.end - 1], tokens[each.end + len(gap)]
        elif [token.lower for token in before] == gap and each.first > len(gap):
            part, whole = tokens[each.first - len(gap) - 1], tokens[each.first]
        else:
            continue
        one, other = (token.number[0] if token.number else SMALL.get(token.lower) for token in (part, whole))
        return Fraction(one) / Fraction(other) if one and other and 0 < one < other else None
    return None


def _list_compared(sentence: NumberSentence) -> Iterator[tuple[str, Amount]]:
    """Yield what an amount with a stated difference behind it is compared with, in the base of its dimension."""
    for one, other in pairwise(sentence.found):
        behind = [token.lower for token in sentence.tokens[other.end : other.end + _COMPARED]]
        before = sentence.tokens[other.first - 1].lower
        sign = (
            -1 if "more" in behind or before == "up" else 1 if before == "down" or not _FEWER.isdisjoint(behind) else 0
        )
        if not sign or _AGAINST.isdisjoint(behind) or other.first - one.end > _COMPARED_APART:
            continue
        for first, second in product(*(read_amounts(sentence._replace(found=[each])) for each in (one, other))):
            kinds = first.value.unit.dimension, second.value.unit.dimension
            if kinds == (RATIO, "point"):
                yield RATIO, first.value.base + sign * Fraction(second.value.amount) / 100
            elif kinds[0] == kinds[1] != RATIO:
                yield kinds[0], first.value.base + sign * second.value.base


def _list_formulas(sentence: NumberSentence) -> Iterator[tuple[str, Amount]]:
    """Yield the sums and differences that a sentence writes out, in the base of their dimension: "€14 plus €5"."""
    for one, other in pairwise(sentence.found):
        between = [token.lower for token in sentence.tokens[one.end : other.first]][-_OPERATOR_TOKENS:]
        sign = next((sign for word in between if (sign := _OPERATORS.get(word))), 0)
        if not sign:
            continue
        for first, second in product(*(read_amounts(sentence._replace(found=[each])) for each in (one, other))):
            if first.value.unit.dimension == second.value.unit.dimension:
                yield first.value.unit.dimension, first.value.base + sign * second.value.base
