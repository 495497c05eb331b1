"""Amounts among the tokens of a text: what they measure or count, at which rate, and within which bound.

Number words, shares ("two-thirds", "half of", "3/4") and places ("5th", "the second") are amounts too, and some words
say something about a number in passing. Scores (2-0, 2:0, "two to nil", "three votes to one") are compared in their
order, and are no small counts.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import Any, Final, NamedTuple, TypeAlias

from guardgraph.guards.facts.numerals import SHARES
from guardgraph.guards.facts.tokens import ORDINAL_SUFFIXES, Token
from guardgraph.guards.facts.values import BARE, Amount, Bound, Counted, Label, Ordinal, Quantity, Unit, Value, Written
from guardgraph.guards.facts.words import (
    BEFORE,
    BEHIND,
    CURRENCIES,
    EACH,
    ERAS,
    FIRST,
    FRACTION,
    FUNCTION_WORDS,
    GLUED_SCALES,
    LABELS,
    ORDINALS,
    RATED,
    SCALES,
    SHORT_RATES,
    SMALL,
    SYMBOLS,
    TIMES_SAID,
    WITHIN,
    find_units,
    find_units_in_words,
    is_plural_noun,
)
from guardgraph.guards.word_lists import load_word_lists

_EVERY_ONE: Final = frozenset({"every", "each", "per"})

_LENGTHS: Final = frozenset({"time", "calendar", "business hour", "business day"})

Reading: TypeAlias = tuple[tuple[Value, ...], int]
"""What it can mean, and the index of the token behind it."""


def read_number_word(tokens: list[Token], at: int) -> tuple[Amount | None, int, bool]:
    """Read a number word: the value, the index after it, and whether it counts only with a unit.

    Numbers of several words came together before, as one token in digits.
    """
    word, following = tokens[at].lower, tokens[at + 1].lower
    if word == "half" and following in ("a", "an"):
        return Fraction(1, 2), at + 2, True
    if word in SHARES:
        return SHARES[word], at + 1, True
    if word in _EVERY_ONE and _has_unit_part(tokens, at + 2):  # "every hour and a half"
        return 1, at + 1, True
    if word in ("a", "an"):
        near = tokens[at - 1].lower in WITHIN or following in SCALES or _has_unit_part(tokens, at + 2)
        return (1, at + 1, True) if near else (None, at, True)
    value = SMALL.get(word)
    return value, at + 1, value == 1


def _has_unit_part(tokens: list[Token], at: int) -> bool:
    """Say whether a part of a unit follows the unit: "an hour and a half"."""
    words = [token.lower for token in tokens[at : at + 3]]
    return words[:2] == ["and", "a"] and words[2] in ("half", "quarter")


def read_implied_number(tokens: list[Token], at: int) -> Reading | None:
    """Read what licenses a number and claims none: "an hour", "every minute"."""
    if times := TIMES_SAID.get(tokens[at].lower):
        # "twice a month" and "twice monthly" are two times per month
        rate, rated_by = _read_rate_unit(tokens, at + 1), RATED.get(tokens[at + 1].lower)
        per = rate[0] if rate else find_units(rated_by)[0] if rated_by else None
        rated = (Quantity(times, counted="surely", per=per),) if per else ()
        return (Quantity(times, counted="surely"), *rated), at + 1
    if tokens[at].lower not in EACH or tokens[at - 1].lower == "of":
        return None
    units, end = find_units_in_words(tokens[at + 1].text, tokens[at + 2].text)
    lengths = tuple(Quantity(1, unit) for unit in units if unit.dimension in _LENGTHS)
    return (lengths, at + 1 + end) if lengths else None


_SIGNS: Final = frozenset("-−－﹣")
_BEFORE_SIGN: Final = frozenset("([{=:,;~≈<>/|*\"'`")
_SUMMED: Final = frozenset({"time", "calendar"})
_EACH: Final = frozenset({"a", "an", "each", "every"})
_APIECE: Final = frozenset({"each", "apiece"})
_RATING: Final = frozenset({"a", "an", "every", "per", "/"})
_GERMAN_RATES: Final = frozenset({"am", "im"})
"""German words for "in the" that say "per" before a length of time; before a month or a year they say when."""
_OCCASIONS: Final = frozenset(
    {"spring", "summer", "autumn", "winter", "season", "night", "term", "semester", "game", "match", "visit", "person"}
)
"""What an amount with a unit is for where an article joins them, and which is no unit of time: "96 days a winter"."""
_RATED_WORDS: Final = 2
"""Words between such an adjective and "is" or a colon, at most: "the monthly base rent is €900"."""
_RATED_NOUNS: Final = 6
"""Words between "of" and "per year", at most: "25 days of paid annual leave per year"."""
_STATING: Final = frozenset({"is", "are", "was", "were", "be", "of", ":", "="})
_TOLD_FROM: Final = frozenset({"ago", "earlier", "later", "before", "after", "prior"})
"""Behind "a year": when something was, and not how often."""
_QUALIFYING: Final = frozenset(
    {
        *("consecutive", "successive", "straight", "continuous", "full", "whole", "entire", "complete", "remaining"),
        *("additional", "extra", "further", "more", "other", "paid", "unpaid", "unused", "calendar"),
    }
)
"""Words between a number and a unit of time that leave it what it is: "three consecutive days"."""
_ARTICLES: Final = frozenset({"a", "an"})
_FOR_EACH: Final = frozenset({"each", "every"})
_DETERMINERS: Final = frozenset({"of", "the", "its", "their", "his", "her", "our", "your", "these", "those", "one"})
_MOST_DETERMINERS: Final = 3
_AGES: Final = re.compile(r"(\d{1,3})s")
_FRACTION = re.compile(r"(\d)/(\d)")
_APOSTROPHES: Final = frozenset({"'", "’", "ʼ"})
_LETTERS: Final = frozenset("aeoyà")
"""Names of units that are words of one letter in other languages."""

_PARTS: Final[dict[tuple[str, ...], Fraction]] = {
    ("and", "a", "half"): Fraction(1, 2),
    ("and", "a", "quarter"): Fraction(1, 4),
    ("and", "three", "quarters"): Fraction(3, 4),
}
"""Parts of a unit behind it: "an hour and a half"."""

_BOUND_TOKENS: Final = 3
_BOUNDING: Final = frozenset(phrase[-1] for phrase in BEFORE)
_BOUNDING_BEHIND: Final = frozenset(phrase[0] for phrase in BEHIND)
"""The words of these phrases that stand beside the number: most numbers have none of them there."""

Measures: TypeAlias = tuple[tuple[Amount, Unit], ...]
"""What may follow an amount: each meaning as a scale and a unit."""

PLAIN: Final[Measures] = ((1, BARE),)


class Hit(NamedTuple):
    """An amount and the tokens that it takes up."""

    amount: Amount
    measures: Measures
    first: int
    end: int
    also: Amount | None = None
    """The amount where a full stop groups thousands, or a comma begins decimals."""
    counted: Counted = ""
    per: Unit | None = None
    also_per: Unit | None = None
    bound: Bound = ""
    loose: bool = False
    """Whether it counts only with a unit: "one of them"."""
    perhaps_per: Unit | None = None
    """What it may be a rate of: "99.95 % monthly uptime", "$5 monthly"."""

    def list_readings(self) -> tuple[Quantity, ...]:
        """Return what the amount can mean."""
        amounts = (self.amount,) if self.also is None else (self.amount, self.also)
        rates = (self.per,) if self.perhaps_per is None else (self.per, self.perhaps_per)
        return tuple(
            Quantity(
                amount * scale,
                unit,
                self.counted if unit == BARE else "",
                per,
                self.also_per if per else None,
                self.bound,
                at > 0,
            )
            for per in rates
            for at, amount in enumerate(amounts)
            for scale, unit in self.measures
        )


def begins_number_digits(text: str) -> bool:
    """Say whether a text begins as a number in digits does."""
    return text[:1].isdecimal() or (text[:1] == "." and len(text) > 1)


def read_quantity(tokens: list[Token], at: int, floor: int) -> Hit | None:
    """Read an amount with all that belongs to it, the parts of a duration as one ("1 hour and 30 minutes").

    Args:
        tokens: the tokens of a text.
        at: where the amount may begin.
        floor: the token behind the number before.
    """
    hit = read_amount_and_unit(tokens, at)
    if hit is None:
        return None
    while hit.measures[0][1].dimension in _SUMMED:
        at_next = hit.end + (tokens[hit.end].text in (",", "and"))
        following = read_amount_and_unit(tokens, at_next) if tokens[at_next].opens else None
        if following and tokens[hit.end].text == "," and not _is_middle_part(tokens, following):
            break
        longer = _add_smaller_unit(hit, following) if following else None
        if longer is None:
            break
        hit = longer
    behind = tokens[hit.end].lower == "and" and hit.measures[0][1] != BARE
    part = _PARTS.get(tuple([token.lower for token in tokens[hit.end : hit.end + 3]])) if behind else None
    if part is not None:
        hit = hit._replace(amount=hit.amount + part, end=hit.end + 3, also=None)
    hit = _read_amount_rate(tokens, _apply_leading_currency(tokens, hit, floor))
    return _apply_amount_bound(tokens, _apply_amount_sign(tokens, hit), floor)


def read_age_group(tokens: list[Token], at: int) -> Quantity | None:
    """Read the age of "under-18s" and "over 65s", which are no seconds."""
    before = tokens[at - 1].lower.rstrip("-‐") if at else ""
    match = _AGES.fullmatch(tokens[at].text) if before in ("under", "over") else None
    return Quantity(int(match[1])) if match else None


def read_amount_and_unit(tokens: list[Token], at: int) -> Hit | None:
    """Read an amount and its unit."""
    token, end, suffix, loose = tokens[at], at + 1, "", False
    if token.number:
        amount, suffix = token.number
        if suffix.lower() in ORDINAL_SUFFIXES:
            return None
        if amount is not None and (part := _read_mixed_fraction(tokens, at)):
            amount, end = amount + part, at + 2
    else:
        amount, end, loose = read_number_word(tokens, at)
    if amount is None:
        return None
    if rated := SHORT_RATES.get(suffix.lower()):  # "60fps"
        return Hit(amount, PLAIN, at, end, counted="surely", per=find_units(rated)[0])
    measures, end = _read_amount_units(tokens, end, suffix)
    # "one of them", "two-factor": without a unit these words count nothing.
    if measures is PLAIN and not token.number and (loose or tokens[end].glued):
        return None
    return Hit(amount, measures, at, end, _read_swapped_separators(token))


def _read_mixed_fraction(tokens: list[Token], at: int) -> Fraction | None:
    """Return the fraction behind a whole number, as in "2 1/2"."""
    following = tokens[at + 1]
    if "/" not in following.text or not following.leads or not tokens[at].text.isdecimal():
        return None
    match = _FRACTION.fullmatch(following.text)
    return Fraction(int(match[1]), int(match[2])) if match and int(match[1]) < int(match[2]) else None


def _read_swapped_separators(token: Token) -> Amount | None:
    """Read a number in the way of the other half of the world: 1.600 is 1600 in Spain, 1,600 is 1.6."""
    whole, sign, part = token.text.partition("." if "." in token.text else ",")
    if not (sign and len(part) == 3 and part.isdecimal() and whole.isdecimal() and len(whole) < 4 and whole[0] != "0"):
        return None
    return int(whole + part) if sign == "." else Fraction(int(whole + part), 1000)


def _read_amount_units(tokens: list[Token], at: int, suffix: str) -> tuple[Measures, int]:
    scale = 1
    if suffix:
        scale = GLUED_SCALES.get(suffix, 0) or SCALES.get(suffix.lower(), 1)
        if glued := tuple((1, unit) for unit in find_units(suffix)):
            return (*glued, (scale, BARE)) if scale != 1 else glued, at
        if scale == 1:
            return ((1, Unit(f"~{suffix.casefold()}", 1)),), at
    while scale in (1, 1000) and tokens[at].lower in SCALES:
        scale, at = scale * SCALES[tokens[at].lower], at + 1
    name, following = tokens[at].text, tokens[at + 1].text
    elsewhere = (name in SYMBOLS and begins_number_digits(following)) or _begins_elided_name(tokens, at)
    elsewhere = elsewhere or name.lower() in SHORT_RATES
    units, width = ((), 0) if elsewhere else find_units_in_words(name, following)
    if name.lower() in _QUALIFYING and scale == 1 and not units:
        units, width = find_units_in_words(following, tokens[at + 2].text)
        lengths = tuple((1, unit) for unit in units if unit.dimension in _LENGTHS)
        if lengths and is_plural_noun(tokens[at + width].lower):
            return lengths, at + 1 + width
    if units:
        measures = tuple([(scale, unit) for unit in units])
        is_word = name.lower() in FUNCTION_WORDS and (name != "A" or following[:1].isupper())  # "12 in total", "3 A"
        if width == 1 and (is_word or name in _LETTERS):
            return (*measures, (scale, BARE)), at
        return measures, at + width
    return (PLAIN if scale == 1 else ((scale, BARE),)), at


def _begins_elided_name(tokens: list[Token], at: int) -> bool:
    """Say whether an apostrophe joins a letter to a name, of which it is no unit: "in 2009 L'Aquila"."""
    sign, name = tokens[at + 1], tokens[at + 2]
    return sign.text in _APOSTROPHES and not sign.leads and not name.leads and len(name.text) > 1


def _is_middle_part(tokens: list[Token], hit: Hit) -> bool:
    """Say whether a smaller part of a duration follows: "9 minutes" of "2 hours, 9 minutes and 14 seconds"."""
    at = hit.end + (tokens[hit.end].text == ",")
    if tokens[at].text != "and" or not tokens[at + 1].opens:
        return False
    last = read_amount_and_unit(tokens, at + 1)
    return last is not None and _add_smaller_unit(hit, last) is not None


def _add_smaller_unit(one: Hit, other: Hit) -> Hit | None:
    """Add the smaller unit that follows a duration, in that unit."""
    for scale, big in one.measures:
        for other_scale, small in other.measures:
            if big.dimension == small.dimension and small.factor < big.factor:
                amount = one.amount * scale * big.factor / Fraction(small.factor) + other.amount * other_scale
                return Hit(amount, ((1, small),), one.first, other.end)
    return None


def _apply_leading_currency(tokens: list[Token], hit: Hit, floor: int) -> Hit:
    """Let a currency before the amount be its unit, where the amount has none of its own."""
    first, name = hit.first - 1, tokens[hit.first - 1].text
    if first < floor or hit.first == 0 or not (name in CURRENCIES or name in SYMBOLS or name in ERAS):
        return hit
    before = tokens[first - 1]
    if first > floor and name in SYMBOLS and before.end == tokens[first].start and find_units(before.text + name):
        name, first = before.text + name, first - 1
    measures = tuple((scale, unit) for scale, own in hit.measures if own == BARE for unit in find_units(name))
    return hit._replace(measures=measures, first=first) if measures else hit


def _read_amount_rate(tokens: list[Token], hit: Hit) -> Hit:
    """Read what is counted, and what the rate is for: "23 players", "45 requests per hour", "$5/h"."""
    end = hit.end
    if (rated := SHORT_RATES.get(tokens[end].lower)) and (bare := [each for each in hit.measures if each[1] == BARE]):
        return hit._replace(measures=tuple(bare), counted="surely", per=find_units(rated)[0], end=end + 1)
    if hit.per is not None:
        return hit
    counted = _classify_counted_noun(tokens[end]) if any(unit == BARE for _, unit in hit.measures) else ""
    end += counted != ""
    for at in (end, end + 1) if counted else (end,):
        if found := _read_rate_unit(tokens, at):
            also = _read_second_rate_unit(tokens, found[1])
            end = hit.end if counted else also[1] if also else found[1]
            return hit._replace(counted=counted, per=found[0], also_per=also[0] if also else None, end=end)
    rated = (RATED.get(tokens[end].lower) or _find_rate_before(tokens, hit)) if hit.measures[0][1] != BARE else None
    perhaps = find_units(rated)[0] if rated else _read_price_of_one(tokens, hit) or _find_rate_behind(tokens, hit)
    return hit._replace(counted=counted, perhaps_per=perhaps)


def _read_price_of_one(tokens: list[Token], hit: Hit) -> Unit | None:
    """Read what an amount is for, perhaps: "€10 a night", "96 days a winter"."""
    word, following = tokens[hit.end].lower, tokens[hit.end + 1]
    is_priced = hit.measures[0][1].dimension in CURRENCIES
    if word not in _ARTICLES or not (is_priced or (hit.measures[0][1] != BARE and following.lower in _OCCASIONS)):
        return None
    return _make_counted_unit(following)


def _find_rate_behind(tokens: list[Token], hit: Hit) -> Unit | None:
    """Return for how long an amount of something is: of "25 days of paid holiday per year" the year."""
    if tokens[hit.end].lower != "of" or hit.measures[0][1] == BARE:
        return None
    for at in range(hit.end + 1, hit.end + 1 + _RATED_NOUNS):
        if tokens[at].lower in ("per", *_FOR_EACH):
            found = _read_rate_unit(tokens, at)
            return found[0] if found and found[0].dimension in _LENGTHS else None
        if not tokens[at].text.isalpha():
            break
    return None


def _find_rate_before(tokens: list[Token], hit: Hit) -> str | None:
    """Return what an amount is for by the adjective of its subject: of "the monthly rent is €900" it is the month."""
    at = hit.first - 1
    if at < 1 or tokens[at].lower not in _STATING:
        return None
    for token in reversed(tokens[max(at - 1 - _RATED_WORDS, 0) : at]):
        if rated := RATED.get(token.lower):
            return rated
        if not token.text.isalpha() or token.lower in FUNCTION_WORDS:
            break
    return None


def _classify_counted_noun(token: Token) -> Counted:
    """Say whether a word behind an amount is what it counts: a plural surely is, other words may be."""
    text = token.lower
    if text == "of":
        return "perhaps"
    if text == "times":  # "five times a month" is no €5
        return "surely"
    if not text.isalpha() or text in FUNCTION_WORDS:
        return ""
    return "surely" if is_plural_noun(text) else "perhaps"


_NOUN_TOKENS: Final = 4
"""Words of what is counted, at most: "two British professional boxers"."""

_BETWEEN: Final = frozenset({"of", "the", "these", "those", "their", "its", "more", "other", "all"})
"""Words between a number and what it counts: "50 of the 200 users"."""


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


def _read_rate_unit(tokens: list[Token], at: int) -> tuple[Unit, int] | None:
    if tokens[at].lower in _APIECE and tokens[at + 1].lower in _RATING:
        at += 1  # "$4 each per month"
    word, following = tokens[at].lower, tokens[at + 1]
    if word == "for" and following.lower in _FOR_EACH:
        at, word = _skip_determiners(tokens, at + 1), "per"
        following = tokens[at + 1]
    is_german = word == "in" and tokens[at].word.lower() in _GERMAN_RATES  # "45 € am Tag"
    if word not in _EACH and word not in ("per", "/") and not is_german:
        return None
    if following.lower == "calendar":
        at, following = at + 1, tokens[at + 2]
    units, width = find_units_in_words(following.text, tokens[at + 2].text)
    if word in _EACH or is_german:
        if tokens[at + 1 + width].lower in _TOLD_FROM:
            return None
        units = tuple(unit for unit in units if unit.dimension in _LENGTHS)
    elif not units and (thing := _make_counted_unit(following)):
        units = (thing,)
    return (units[0], at + 1 + (width or 1)) if units else None


def _read_second_rate_unit(tokens: list[Token], at: int) -> tuple[Unit, int] | None:
    """Read what a rate is for, too: the month of "$8 per user per month" and of "$8 per user and month"."""
    if tokens[at].lower != "and":
        return _read_rate_unit(tokens, at)
    units, width = find_units_in_words(tokens[at + 1].text, tokens[at + 2].text)
    lengths = [unit for unit in units if unit.dimension in _LENGTHS]
    return (lengths[0], at + 1 + width) if lengths else None


def _make_counted_unit(token: Token) -> Unit | None:
    """Return the unit of a rate for each of a thing that is no unit of its own: "per seat"."""
    if not token.text.isalpha() or token.lower in FUNCTION_WORDS:
        return None
    return Unit(f"~{token.lower.removesuffix('s')}", 1)


def _skip_determiners(tokens: list[Token], at: int) -> int:
    """Return the token before the noun of "for each of their 4,376,635 votes"."""
    for _ in range(_MOST_DETERMINERS):
        if tokens[at + 1].lower not in _DETERMINERS and not tokens[at + 1].text[:1].isdecimal():
            break
        at += 1
    return at


def _apply_amount_sign(tokens: list[Token], hit: Hit) -> Hit:
    sign, start = tokens[hit.first - 1], tokens[hit.first]
    if hit.first == 0 or sign.text not in _SIGNS or start.leads or sign.end != start.start:
        return hit
    if hit.first > 1 and not sign.leads:
        before = tokens[hit.first - 2]
        if before.end == sign.start and before.text not in _BEFORE_SIGN:
            return hit
    return hit._replace(first=hit.first - 1, amount=-hit.amount, also=None)


_AHEAD: Final = frozenset({"before", "prior", "ahead"})
"""Behind a length of time: from which event it counts back."""


def _apply_amount_bound(tokens: list[Token], hit: Hit, floor: int) -> Hit:
    if tokens[hit.end].text == "+" and tokens[hit.end].end and not tokens[hit.end].leads:
        return hit._replace(bound="least")
    for end in (hit.end, hit.end + 1) if hit.counted else (hit.end,):
        if tokens[end].lower in _BOUNDING_BEHIND and (bound := BEHIND.get((tokens[end].lower, tokens[end + 1].lower))):
            return hit._replace(bound=bound)
    if tokens[hit.first - 1].lower not in _BOUNDING:
        return hit
    for length in range(_BOUND_TOKENS, 0, -1):
        first = hit.first - length
        said = tuple(token.lower for token in tokens[first : hit.first]) if first >= floor else ()
        if bound := BEFORE.get(said):
            # "No later than eight weeks before" is at least eight weeks before.
            is_lead = said[-2:] == ("later", "than") and tokens[hit.end].lower in _AHEAD
            return hit._replace(bound="least" if is_lead and bound == "most" else bound)
    return hit


_WRITTEN = re.compile(r"(\d{1,2})/(\d{1,3})")
_PARTS_NAMED: Final = {"half": 2, "halves": 2, "quarter": 4, "quarters": 4, "third": 3, "thirds": 3}
_SUFFIXES: Final = frozenset({"st", "nd", "rd", "th"})
_PERIODS: Final = {"quarter": 4, "half": 2}
_EVERY: Final = frozenset({"a", "an", "per", "every", "each"})
_TOLD_APART: Final = frozenset(
    {"same", "this", "that", "last", "latest", "previous", "prior", "preceding", "current", "next", "following"}
    | {"each", "every", "final", "opening", "fiscal", "past", "coming", "corresponding", "the", "comparable"}
)
"""Words before a quarter of a year: "the same quarter of 2024"."""


def begins_share_fact(text: str) -> bool:
    """Say whether a share can begin with a token of this text."""
    word = text.lower()
    begins = word in SHARES or word in ("a", "an", "one") or word in SMALL or word in _PARTS_NAMED
    return begins or "/" in text or _is_share_denominator(word)


def read_share_fact(tokens: list[Token], at: int) -> Reading | None:
    """Read a share ("two-thirds", "a quarter of", "half the", "2/3"), also of a unit ("three quarters of an hour")."""
    token = tokens[at]
    if match := _WRITTEN.fullmatch(token.text):
        share = Fraction(int(match[1]), int(match[2])) if int(match[2]) else Fraction(0)
        readings, end = _read_share_of_unit(tokens, share, at + 1)
        return ((Written(token.text), *readings) if end == at + 1 else readings), end
    if token.lower in SHARES:
        return _read_share_of_unit(tokens, Fraction(SHARES[token.lower]), at + 1)
    number, part = (1 if token.lower in ("a", "an", "one") else SMALL.get(token.lower)), at + 1
    if number is None:
        number, part = 1, at
    if tokens[part].lower not in _PARTS_NAMED and not _is_share_denominator(tokens[part].lower):
        return None
    if part == at and not _is_half_or_quarter(tokens, at):
        return None
    if not _is_share_of_number(tokens, at, part, number):
        return None
    found = _read_share_of_unit(tokens, Fraction(number, _read_share_denominator(tokens[part].lower)), part + 1)
    if tokens[part].lower == "quarters":  # of a year
        return (*found[0], Quantity(number, counted="surely")), found[1]
    return found


def _is_share_denominator(word: str) -> bool:
    return word.removesuffix("s") in ORDINALS


def _read_share_denominator(word: str) -> int:
    return _PARTS_NAMED.get(word) or ORDINALS[word.removesuffix("s")]


def _is_half_or_quarter(tokens: list[Token], at: int) -> bool:
    word, following = tokens[at].lower, tokens[at + 1].lower
    if word == "half":
        return following in ("of", "the", "their", "its", "all", "his", "her", "our")
    return word == "quarter" and following == "of" and tokens[at - 1].lower not in _TOLD_APART


def _is_share_of_number(tokens: list[Token], at: int, part: int, number: int) -> bool:
    """Tell "a third of the users" from "a third party", and "one fifth" from "one fifth grader"."""
    word, following = tokens[part].lower, tokens[part + 1]
    if part == at or tokens[part].glued or (number > 1 and word.endswith("s")):
        return True
    return number == 1 and (following.lower == "of" or not following.text[:1].isalpha())


def _read_share_of_unit(tokens: list[Token], share: Fraction, end: int) -> Reading:
    """Let a share of a unit be an amount: "a quarter of an hour"."""
    for behind in (end, end + 1) if tokens[end].lower == "of" else (end,):
        if tokens[behind].lower in ("a", "an"):
            units, width = find_units_in_words(tokens[behind + 1].text, tokens[behind + 2].text)
            if units:
                return tuple(Quantity(share, unit) for unit in units), behind + 1 + width
    units, width = find_units_in_words(tokens[end].text, tokens[end + 1].text)
    if units and tokens[end].lower not in FUNCTION_WORDS:
        return tuple(Quantity(share, unit) for unit in units), end + width
    return ((Quantity(share, FRACTION),) if 0 < share <= 1 else ()), end


def begins_ordinal_fact(text: str) -> bool:
    """Say whether a place can begin with a token of this text: digits with a suffix, or a word."""
    if text[:1].isdecimal():
        return not text.isdecimal()
    return text.lower() in FIRST or text.lower() in ORDINALS


def read_ordinal_fact(tokens: list[Token], at: int) -> Reading | None:
    """Read a place: "5th", "the second", and what it labels: "third quarter", "second step"."""
    place = _read_ordinal_place(tokens, at)
    if place is None:
        return None
    of = LABELS.get(tokens[at + 1].lower, "")
    if of in _PERIODS and place > _PERIODS[of]:
        of = ""
    if of in _PERIODS:
        return (Label(of, str(place), place),), at + 2
    return ((Ordinal(place), Label(of, str(place))) if of else (Ordinal(place),)), at + 1  # "third day" is day three


def _read_ordinal_place(tokens: list[Token], at: int) -> int | None:
    token, before = tokens[at], tokens[at - 1].lower
    if token.number:
        amount, suffix = token.number
        return int(amount) if amount is not None and suffix.lower() in _SUFFIXES else None
    if token.lower == "first" and (before == "at" or [each.lower for each in tokens[at + 1 : at + 3]] == ["of", "all"]):
        return None
    following = tokens[at + 1].lower
    if token.lower == "second" and before in _EVERY and (not following.isalpha() or following in FUNCTION_WORDS):
        return None
    return FIRST.get(token.lower) or ORDINALS.get(token.lower)


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
