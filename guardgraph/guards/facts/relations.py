"""How an amount that an answer claims follows from others: rounded, added, compared, counted on.

Roundings, converted units, sums and shares of two, and spans of dates are licensed only where the answer says that it
is one, and of what: a price, a dose, a limit and a version are said as they stand, and a year is never a sum.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from datetime import date, timedelta
from fractions import Fraction
from itertools import takewhile
from typing import Any, Final, NamedTuple, TypeGuard

from guardgraph.guards.facts.numbers import FoundNumber, NumberSentence
from guardgraph.guards.facts.quantities import PLAIN, cover_word_forms, list_counted_nouns
from guardgraph.guards.facts.tokens import Token
from guardgraph.guards.facts.values import BARE, RATIO, Amount, Date, Quantity, Unit, Value
from guardgraph.guards.facts.words import CURRENCIES, FRACTION, SCALES, find_units
from guardgraph.guards.word_lists import load_word_lists

_LISTS: Final[dict[str, Any]] = load_word_lists("answer_numbers")

_NEAREST, _DOWN, _UP = (frozenset(_LISTS[name]) for name in ("nearest", "down", "up"))

SUM, DIFFERENCE, SHARE, _SPAN = (frozenset(_LISTS[name]) for name in ("sum", "difference", "share", "span"))

RISING, FALLING = (frozenset(_LISTS[name]) for name in ("rising", "falling"))

_PRICE, _DOSE, _LIMIT = (frozenset(_LISTS[name]) for name in ("price", "dose", "limit"))

WORKED_OUT: Final = frozenset(_LISTS["worked_out"])
"""Words before what an answer works out: "i.e.", "so"."""

ENDING: Final = frozenset(_LISTS["ending"])
"""Words beside the date on which something ends."""

_DENYING: Final = frozenset(_LISTS["denying"])
"""Words of a sentence that says what is not done, or not allowed."""

_SHORTENED: Final = frozenset(_LISTS["shortened"])
"""Words before the t of n't."""

EVERY: Final = frozenset({"every", "each"})

_BOUNDS: Final = frozenset({"least", "most", "to", "minimum", "maximum"})
"""Words of a limit: "at least", "up to". A rounded one is another limit."""

_BEHIND: Final = 2
"""Tokens behind a number among which stands the word that compares it: "$5 more", "5 days fewer"."""

REMAINING: Final = frozenset({"remaining", "remainder", "rest", "balance", "leaves", "leaving", "left"})
"""Words beside what is left of an amount: "the remaining $20"."""

RESTING: Final = frozenset({"rest", "remaining", "other", "others", "remainder"})
"""Words of what is left of a whole."""

REASONING: Final = frozenset({"since", "because", "as", "still", "remaining", "rest", "left", "other"})
"""Words of a sentence that says of what it works out an amount, or what is left."""

_PARTING: Final = frozenset({"including", "includes", "include", "them", "which", "whom"})
"""Words beside a part of a whole: "86 rooms, including 12 suites"."""

_FACTORS: Final = frozenset({4, 7, 12, 24, 30, 52, 60, 365, 3600})
"""How many of a unit of time make another one: days of a week, months of a year."""

_TIMES_SIGNS: Final = frozenset({"×", "*", "x"})

_BEFORE_SIGN: Final = 3
"""Tokens before such a number that hold a sign and an amount of money: "€4.90 × 12"."""

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

NEAR: Final = 5
"""Tokens between a number and the word that says how it follows, at most."""

_CLAUSE: Final = 8
"""Tokens on each side of a number that are taken for its clause, at most."""

_JOINING: Final = frozenset({",", ";", ":", ".", "and", "but", "while", "whereas", "because", "so", "(", ")"})
"""What parts clauses."""

_SENTENCE: Final = 40
"""Tokens on each side of a number that are looked at of its sentence, at most."""

BEFORE: Final = 3
"""Tokens before a number among which stands the word that says how it is rounded, at most."""

_LARGE_SUM: Final = 10_000
"""An amount of money below it is taken for a price."""

_HIGH_SHARE: Final = Fraction(9, 10)
"""From here on a share is a promise or a test that was passed, and tenths of it count."""

_MOST_OFF: Final = Fraction(1, 10)

_MOST_OFF_CONVERTED: Final = Fraction(1, 20)
"""How far a rounded and a converted amount may lie from what it stands for, by that."""

_HUNDRED: Final = 100
"""From here on a difference of two stated counts is no other number by chance."""

_LARGE: Final = 1_000
"""From here on a bare number is no other one by chance."""

_FEWEST_FIGURES: Final = 4

_FIGURES_LEFT: Final = 2
"""Digits that a number has and keeps, at least, where it is rounded and nothing says so."""

_FRACTIONS: Final = tuple(Fraction(part, of) for part, of in ((1, 5), (1, 4), (1, 3), (1, 2), (2, 3), (3, 4), (1, 1)))
"""Shares that are told in words of others near them."""

_MOST_DECIMALS: Final = 12

DAY: Final = 86_400

_MONTHS: Final = 12

LENGTHS_IN_DAYS: Final = {"time": Fraction(1, DAY), "calendar": Fraction(365, 12), "business day": Fraction(7, 5)}
"""Days of the base of each: of a second, of a month, and of a working day."""


class SaidAmount(NamedTuple):
    """An amount of a text, with what stands around it."""

    value: Quantity
    nouns: frozenset[str]
    words: frozenset[str]
    """Of its sentence."""
    near: frozenset[str]
    """Words around it."""
    is_repeated: bool
    """Whether it is how often something happens: "every 6 hours"."""


class ClaimedAmount(NamedTuple):
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


def is_factor_of_units(tokens: Sequence[Token], each: FoundNumber) -> bool:
    """Say whether money is multiplied by how many of a unit of time make another one: "12 × €4.90"."""
    if each.hit is None or each.hit.measures is not PLAIN or each.hit.amount not in _FACTORS:
        return False
    before, behind = tokens[max(each.first - _BEFORE_SIGN, 0) : each.first], tokens[each.end : each.end + 2]
    if behind[0].text in _TIMES_SIGNS:
        return _names_currency(behind[1:])
    return bool(before) and before[-1].text in _TIMES_SIGNS and _names_currency(before[:-1])


def _names_currency(tokens: Iterable[Token]) -> bool:
    return any(unit.dimension in CURRENCIES for token in tokens for unit in find_units(token.text))


def is_ratio_of(claim: ClaimedAmount, small: Amount, large: Amount) -> bool:
    """Say whether a number of times is how many times as much one amount is as another."""
    if small <= 0:
        return False
    ratio, times = Fraction(large) / Fraction(small), claim.value.amount
    if claim.value.bound == "least" or not claim.before.isdisjoint(_DOWN):
        return times <= ratio < times + 1
    if not claim.before.isdisjoint(_UP):
        return times - 1 < ratio <= times
    return abs(ratio - times) * 2 < 1 if not claim.before.isdisjoint(_NEAREST) else ratio == times


def is_year_alone(value: Value) -> TypeGuard[Date]:
    """Say whether a value is a year, without a month."""
    return isinstance(value, Date) and value.month is None and value.day is None


def list_sentence_dates(sentences: Iterable[NumberSentence]) -> list[list[Date]]:
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


def is_length_of_day(claim: ClaimedAmount) -> bool:
    """Say whether an amount is told as how long something takes on one day."""
    unit, per = claim.value.unit, claim.value.per
    if unit.dimension != "time" or per not in (None, Unit("time", DAY)) or not _LIMIT.isdisjoint(claim.near):
        return False
    return claim.is_glued or not claim.near.isdisjoint(_SPAN | _WINDOW)


def is_span_of_dates(claim: ClaimedAmount, pairs: Iterable[tuple[Date, Date]]) -> bool:
    """Say whether an amount is told as the time between two dates, and is."""
    unit, words = claim.value.unit, claim.near
    aged = unit == BARE and not claim.nouns and (not words.isdisjoint(("aged", "age")) or {"when", "was"} <= words)
    if not (aged or not words.isdisjoint(_SPAN)) or not (
        aged or unit.dimension == "calendar" or unit.factor in (DAY, 7 * DAY)
    ):
        return False
    measured = unit if not aged else Unit("calendar", _MONTHS)
    spans = (span for one, other in pairs for span in _list_spans(one, other, measured, is_age=aged))
    return any(span and (claim.value.amount == span or _rounds_to(claim, span)) for span in spans)


def is_rest_of_whole(claim: ClaimedAmount, stated: Iterable[SaidAmount]) -> bool:
    """Say whether a share is what one or all of some others leave of a whole: "62 % were women, so 38 % were men"."""
    if claim.value.unit.dimension != RATIO or claim.near.isdisjoint(WORKED_OUT | RESTING):
        return False
    shares = [said.value.base for said in stated if said.value.unit.dimension == RATIO]
    return claim.value.base < 1 and 1 - claim.value.base in (*shares, sum(shares))


def is_same_length(claim: ClaimedAmount, said: SaidAmount) -> bool:
    """Say whether a length of time is about a stated one: "30 days (one month)", "16 weeks, so about four months"."""
    own, other = claim.value.unit.dimension, said.value.unit.dimension
    is_told = not claim.near.isdisjoint(WORKED_OUT | _NEAREST | {"or"})
    if own == other or not is_told or not {own, other} <= LENGTHS_IN_DAYS.keys() or claim.value.per is not None:
        return False
    days = (claim.value.base * LENGTHS_IN_DAYS[own], said.value.base * LENGTHS_IN_DAYS[other])
    return min(days) >= _FEWEST_DAYS and _is_near(days[0], days[1], _MOST_OFF)


def is_stated_difference(claim: ClaimedAmount, one: SaidAmount, other: SaidAmount) -> bool:
    """Say whether an amount is the difference of two, of shares in points, of counts also without their noun."""
    off = abs(Fraction(one.value.base) - Fraction(other.value.base))
    if is_large_difference(claim, one, other) or is_difference_on_scale(claim, one, other):
        return True
    if not is_of_one_kind(one, other):
        return is_rest_of_count(claim, one, other)
    if is_difference_in_points(claim, one, other):
        return True
    if claim.value.unit == BARE and not claim.nouns:
        return one.value.unit == BARE and claim.value.amount == off
    return is_difference_of(claim, one, other)


def is_difference_on_scale(claim: ClaimedAmount, one: SaidAmount, other: SaidAmount) -> bool:
    """Say whether an amount is the difference of two on a scale that begins elsewhere: of 21.7 °C and 20.1 °C."""
    unit = claim.value.unit
    if not unit.zero or not unit == one.value.unit == other.value.unit:
        return False
    return claim.value.amount == abs(Fraction(one.value.amount) - Fraction(other.value.amount))


def is_large_difference(claim: ClaimedAmount, one: SaidAmount, other: SaidAmount) -> bool:
    """Say whether a count is the difference of two, with so many digits that no other number is it by chance."""
    if not claim.value.unit == one.value.unit == other.value.unit == BARE or claim.value.per is not None:
        return False
    off = abs(Fraction(one.value.amount) - Fraction(other.value.amount))
    return claim.value.amount == off and (off >= _HUNDRED or off.denominator > 1) and may_be_compared(one, other)


def is_rest_of_count(claim: ClaimedAmount, whole: SaidAmount, part: SaidAmount) -> bool:
    """Say whether a count is what a part leaves of its whole: "86 rooms, 12 of them suites, so 74 other rooms".

    So is what something gained: "gained six seats and has 17 seats after 11".
    """
    if not claim.value.unit == whole.value.unit == part.value.unit == BARE:
        return False
    if claim.value.amount >= _HUNDRED and not claim.words.isdisjoint(WORKED_OUT | DIFFERENCE | REASONING):
        return claim.value.amount == whole.value.amount - part.value.amount  # no other number by chance
    is_change = not claim.before.isdisjoint(DIFFERENCE) and not part.nouns
    if part.near.isdisjoint(_PARTING) and not is_change:
        return False
    is_of_whole = not claim.nouns or not claim.nouns.isdisjoint(whole.nouns)
    return is_of_whole and claim.value.amount == whole.value.amount - part.value.amount


def is_difference_in_points(claim: ClaimedAmount, one: SaidAmount, other: SaidAmount) -> bool:
    """Say whether percentage points are the difference of two shares."""
    if claim.value.unit.dimension != "point" or not one.value.unit.dimension == other.value.unit.dimension == RATIO:
        return False
    return claim.value.amount == abs(Fraction(one.value.base) - Fraction(other.value.base)) * 100


def may_be_compared(one: SaidAmount, other: SaidAmount) -> bool:
    """Say whether two amounts are of one unit, or two counts one of which has no noun."""
    is_counted = one.value.unit == other.value.unit == BARE and not (one.nouns and other.nouns)
    return is_of_one_kind(one, other) or is_counted


def is_stated_share(claim: ClaimedAmount, part: SaidAmount, whole: SaidAmount) -> bool:
    """Say whether a share is that of two amounts of one unit, or of two counts one of which has no noun."""
    if not may_be_compared(part, whole) or not 0 < part.value.base < whole.value.base:
        return False
    share = Fraction(part.value.base) / Fraction(whole.value.base) / Fraction(claim.value.unit.factor)
    if is_told_as_change(claim):
        return False
    return abs(share - claim.value.amount) * 2 <= _share_digit(claim) and _is_near(claim.value.amount, share, _MOST_OFF)


def is_told_as_change(claim: ClaimedAmount) -> bool:
    """Say whether a share is by how much something changed, and no part: "a reduction of 46 %", "fell by 46 %"."""
    changing = RISING | FALLING
    if "by" in claim.before and "of" not in claim.behind:
        return not claim.words.isdisjoint(changing)
    return "of" in claim.before and not claim.before.isdisjoint(changing)


def _share_digit(claim: ClaimedAmount) -> Amount:
    """Return what the last digit of a share counts; "60 %" alone is not rounded to tens, "about 60 %" may be."""
    return claim.digit if is_rounded_by_word(claim) else min(claim.digit, 1)


def is_product_of(claim: ClaimedAmount, factor: SaidAmount, amount: SaidAmount) -> bool:
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
    times = factor.value.amount if factor.value.unit.dimension != RATIO else factor.value.base
    product = Fraction(times) * amount.value.base / Fraction(own.unit.factor)
    if factor.value.unit.dimension != RATIO:
        return product == own.amount
    return abs(product - own.amount) * 2 <= claim.digit and _is_near(own.amount, product, _MOST_OFF)


def is_part_of_amount(claim: ClaimedAmount, share: SaidAmount, amount: SaidAmount) -> bool:
    """Say whether an amount is a share of another one: "23,000 of them, half of the 46,000"."""
    return share.value.unit.dimension == RATIO and is_product_of(claim, share, amount)


def read_amounts(sentence: NumberSentence) -> Iterator[SaidAmount]:
    """Yield the amounts of a sentence with what stands around them; dates are none."""
    words = frozenset(token.lower for token in sentence.tokens)
    for each in sentence.found:
        if any(isinstance(value, Date) for value in each.readings) and not counts_things(each):
            continue
        # "Bob 7 goals" is read as a name with a number too, "12 of 25 days" as a number without a unit.
        for value in dict.fromkeys((*each.hit.list_readings(), *each.readings)) if each.hit else each.readings:
            if isinstance(value, Quantity) and not value.otherwise:
                nouns = cover_word_forms(list_counted_nouns(sentence.tokens, each.end))
                near = _list_clause_words(sentence.tokens, each)
                yield SaidAmount(value, nouns, words, near, is_repeated=sentence.tokens[each.first - 1].lower in EVERY)


def counts_things(each: FoundNumber) -> bool:
    """Say whether a number that could be a year counts: "1602 cranes"."""
    return each.hit is not None and each.hit.counted == "surely" and isinstance(each.readings[0], Quantity)


def read_claim(sentence: NumberSentence, each: FoundNumber, value: Quantity) -> ClaimedAmount | None:
    """Read how a sentence of an answer says an amount; None where that is none from which to count."""
    tokens, hit = sentence.tokens, each.hit
    if value.amount <= 0 or value.otherwise:
        return None
    written = tokens[hit.first if hit and hit.first >= each.first else each.first]
    token = next((token for token in tokens[each.first : each.end] if token.number), written)
    amount = token.number[0] if token.number and token.number[0] else (hit.amount if hit else Fraction(1))
    digit, figures = _measure_last_digit(token.text, amount)
    scale = Fraction(value.amount) / amount if amount else Fraction(1)
    scaled = scale >= 1000 or any(part.lower in SCALES for part in tokens[each.first : each.end])
    around = tokens[max(each.first - NEAR, 0) : each.end + NEAR]
    return ClaimedAmount(
        value,
        cover_word_forms(list_counted_nouns(tokens, each.end)),
        frozenset(token.lower for token in tokens[max(each.first - _SENTENCE, 0) : each.end + _SENTENCE]),
        frozenset(token.lower for token in around),
        _list_clause_words(tokens, each),
        frozenset(token.lower for token in tokens[max(each.first - BEFORE, 0) : each.first]),
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


def is_rounded_by_word(claim: ClaimedAmount) -> bool:
    """Say whether a word before an amount says that it is rounded."""
    is_fraction = claim.value.unit == FRACTION and "than" in claim.before
    return not claim.before.isdisjoint(_NEAREST | _DOWN | _UP) or _is_lower_bound(claim) or is_fraction


def _is_lower_bound(claim: ClaimedAmount) -> bool:
    """Say whether a count is told as one that is exceeded: "more than 2,000 people"; with "no", it is a limit."""
    is_exceeded = claim.value.bound == "least" and "than" in claim.before and claim.value.unit == BARE
    return is_exceeded and not is_denied(claim.clause)


def is_exact(value: Quantity, words: Collection[str], nouns: Collection[str]) -> bool:
    """Say whether an amount is of a kind that is said as it stands: a price, a dose, a limit, a rate, a high share."""
    money = value.unit.dimension in CURRENCIES
    # Beside a dose, "about 1,200 adults" count no dose.
    is_dose = not _DOSE.isdisjoint(nouns if value.unit == BARE and nouns else words)
    if value.per is not None or not _LIMIT.isdisjoint(words) or is_dose:
        return True
    if money and (not _PRICE.isdisjoint(words) or value.base < _LARGE_SUM):
        return True
    return value.unit.dimension == RATIO and value.base >= _HIGH_SHARE


def is_rounding(claim: ClaimedAmount, said: SaidAmount) -> bool:
    """Say whether an amount is a rounded one, and is said so; a bound that is denied is a limit, as it stands."""
    value, own = said.value, claim.value
    if own.bound and is_denied(claim.clause):
        return False
    if is_exact(value, said.near if is_rounded_by_word(claim) else said.words, said.nouns):
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
    if own.unit == FRACTION and _is_next_fraction(claim, amount):
        return True
    if own.unit.factor != value.unit.factor and own.unit.dimension not in CURRENCIES:
        if is_rounded_by_word(claim) and _rounds_to(claim, amount) and _is_near(own.amount, amount, _MOST_OFF):
            return True
        if own.unit == FRACTION and claim.before.isdisjoint(_NEAREST) and is_rounded_by_word(claim):
            return False  # "more than half" of 48 %
        return abs(amount - own.amount) * 2 <= claim.digit and _is_near(own.amount, amount, _MOST_OFF_CONVERTED)
    return _rounds_to(claim, amount)


def is_converted_speed(claim: ClaimedAmount, speed: Amount) -> bool:
    """Say whether a speed is the same in another unit, to the digits shown: "85 mph" of "137 km/h"."""
    own = claim.value.speed
    if not own or own == speed:
        return False
    amount = Fraction(speed) * claim.value.amount / Fraction(own)
    return abs(amount - claim.value.amount) * 2 <= claim.digit and _is_near(
        claim.value.amount, amount, _MOST_OFF_CONVERTED
    )


def _counts_same(claim: ClaimedAmount, said: SaidAmount) -> bool:
    return not claim.nouns or not claim.nouns.isdisjoint(said.nouns)


def _counts_people(claim: ClaimedAmount, said: SaidAmount) -> bool:
    """Say whether one of two counts is of people, whom the other names: "some 2,300 employees" of 2,317 people."""
    return "people" in claim.nouns | said.nouns and bool(claim.nouns and said.nouns)


def _is_large_and_about(claim: ClaimedAmount, amount: Amount) -> bool:
    """Say whether a large amount without a noun is said to be rounded: "over 23,000 were sold"."""
    said = claim.value.bound == "least" or not claim.before.isdisjoint(_NEAREST | _DOWN | _UP)
    is_close = claim.figures >= _FIGURES_LEFT or _is_near(claim.value.amount, amount, _MOST_OFF)
    return said and claim.value.amount >= _LARGE and is_close


def _rounds_to(claim: ClaimedAmount, amount: Amount) -> bool:
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


def _is_next_fraction(claim: ClaimedAmount, share: Amount) -> bool:
    """Say whether a fraction is the next one to a share: "more than a third" of 38 %, "nearly half" of 47 %."""
    fraction, words = claim.value.amount, claim.before
    if not words.isdisjoint(_DENYING | {"no"}):
        return False  # "no more than half" is a limit
    is_below = not words.isdisjoint(_DOWN) or {"more", "than"} <= words
    is_above = not words.isdisjoint(_UP) or {"less", "than"} <= words
    if is_below == is_above or fraction not in _FRACTIONS or share == fraction or is_below != (fraction < share):
        return False
    least, most = sorted((Fraction(fraction), Fraction(share)))
    return not any(least < other < most for other in _FRACTIONS)


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


def is_of_one_kind(one: SaidAmount, other: SaidAmount) -> bool:
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


def _is_claimed_kind(claim: ClaimedAmount, one: SaidAmount, other: SaidAmount) -> bool:
    if not is_of_one_kind(one, other) or claim.value.unit.dimension != one.value.unit.dimension:
        return False
    if claim.value.per not in (one.value.per, other.value.per) and (claim.value.unit == BARE or one.value.per):
        return False
    if claim.value.unit == BARE and claim.value.per is not None:
        return True
    return claim.value.unit != BARE or not claim.nouns.isdisjoint(one.nouns & other.nouns)


def is_sum_of(claim: ClaimedAmount, one: SaidAmount, other: SaidAmount) -> bool:
    """Say whether an amount is the sum of two of its kind."""
    if not _is_claimed_kind(claim, one, other) or claim.value.unit.dimension == RATIO:
        return False
    if one.value.per != other.value.per:
        return False
    return claim.value.base == one.value.base + other.value.base


def is_total_of(claim: ClaimedAmount, stated: Sequence[SaidAmount]) -> bool:
    """Say whether an amount is the sum of all of its kind that its sentence states: "four, one and two, 7 in all"."""
    parts = [said for said in stated if _is_claimed_kind(claim, said, said)]
    return len(parts) > 2 and claim.value.base == sum(said.value.base for said in parts)


def is_difference_of(claim: ClaimedAmount, one: SaidAmount, other: SaidAmount) -> bool:
    """Say whether an amount is the difference of two of its kind."""
    return _is_claimed_kind(claim, one, other) and claim.value.base == abs(one.value.base - other.value.base)


def is_share_of(claim: ClaimedAmount, part: SaidAmount, whole: SaidAmount) -> bool:
    """Say whether a share is that of two amounts, both of which the answer names."""
    if not is_of_one_kind(part, whole) or not 0 < part.value.base < whole.value.base:
        return False
    named = [said.nouns & claim.words for said in (part, whole)]
    if not all(named):
        return False
    share = Fraction(part.value.base) / Fraction(whole.value.base) / Fraction(claim.value.unit.factor)
    return not is_told_as_change(claim) and abs(share - claim.value.amount) * 2 <= _share_digit(claim)


def is_next_whole_number(claim: ClaimedAmount, said: SaidAmount) -> bool:
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


def is_denied(words: Collection[str]) -> bool:
    """Say whether the words of a sentence deny or refuse something."""
    return not _DENYING.isdisjoint(words) or ("t" in words and not _SHORTENED.isdisjoint(words))


def is_change_between(claim: ClaimedAmount, one: SaidAmount, other: SaidAmount) -> bool:
    """Say whether a share is by how much one amount changed to another, both of which the answer's sentence states."""
    if not is_of_one_kind(one, other) or one.value.base <= 0 or one.value.base == other.value.base:
        return False
    if not {one.value.amount, other.value.amount} <= claim.amounts:
        return False
    is_up = not claim.near.isdisjoint(RISING)
    is_down = not claim.near.isdisjoint(FALLING)
    change = Fraction(other.value.base - one.value.base) / Fraction(one.value.base) / Fraction(claim.value.unit.factor)
    if is_up == is_down or is_up != (change > 0):
        return False
    return abs(abs(change) - claim.value.amount) * 2 <= _share_digit(claim)


def _list_spans(one: Date, other: Date, unit: Unit, *, is_age: bool) -> Iterator[Amount]:
    """Yield how long it is from one date to another: in full years what a birthday leaves open may be either.

    The last day of what is no age is a part of it: from 1 September to 31 August it is a year.
    """
    first, last = sorted((one, other), key=lambda value: (value.year or 0, value.month or 0, value.day or 0))
    years = (last.year or 0) - (first.year or 0)
    exact = None not in (first.month, first.day, last.month, last.day)
    if unit.dimension == "calendar":
        if exact or (first.month is not None and last.month is not None):
            months = years * _MONTHS + (last.month or 0) - (first.month or 0)
            through = _find_next_day(last) if exact and not is_age else None
            if through is not None and through.day == first.day:
                months += (through.month - (last.month or 0)) % _MONTHS
            else:
                months -= bool(exact and (last.day or 0) < (first.day or 0))
            yield Fraction(months, 1) / unit.factor if unit.factor == 1 else months // int(unit.factor)
        elif unit.factor >= _MONTHS:
            yield Fraction(years * _MONTHS) / unit.factor
    elif exact:
        begin, end = _find_next_day(first), _find_next_day(last)
        if begin is None or end is None:
            return
        days = (end - begin).days
        yield Fraction(days * DAY) / unit.factor
        yield Fraction((days + 1) * DAY) / unit.factor


def _find_next_day(value: Date) -> date | None:
    """Return the day behind a full date, None where there is no such day."""
    try:
        return date(value.year or 1, value.month or 1, value.day or 1) + timedelta(days=1)
    except (ValueError, OverflowError):
        return None
