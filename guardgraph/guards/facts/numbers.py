"""The numbers of a text as values: where each begins, what it can mean, and what two ends of a range share.

They are read in the language of the text where enough tells it, else in English.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import cache
from itertools import chain, groupby
from typing import Final, Literal, NamedTuple, TypeAlias

from guardgraph.grounding.words import detect_language, load_stop_words
from guardgraph.guards.facts.dates import (
    begins_clock_fact,
    begins_date_fact,
    begins_decade_fact,
    begins_period_fact,
    is_year_number,
    join_hours,
    join_weekdays,
    read_clock_fact,
    read_date_fact,
    read_decade_fact,
    read_period_fact,
    read_spoken_days,
    read_year_number,
)
from guardgraph.guards.facts.quantities import (
    MOST_POINTS,
    PLAIN,
    Hit,
    begins_number_digits,
    begins_ordinal_fact,
    begins_share_fact,
    is_score_number,
    is_told_as_score,
    read_age_group,
    read_implied_number,
    read_number_word,
    read_ordinal_fact,
    read_quantity,
    read_share_fact,
    read_spoken_score,
    read_written_score,
    write_score,
)
from guardgraph.guards.facts.references import (
    make_number_label,
    read_identifier_fact,
    read_named_number,
    read_number_label,
    read_roman_numeral,
    read_version_number,
)
from guardgraph.guards.facts.spelling import normalise_number_spelling
from guardgraph.guards.facts.tokens import (
    KNOWN_WORD_CHARS,
    KNOWN_WORDS,
    ORDINAL_SUFFIXES,
    Token,
    find_number_range_end,
    show_number_tokens,
    split_number_tokens,
    translate_number_tokens,
)
from guardgraph.guards.facts.values import (
    BARE,
    RATIO,
    Amount,
    Date,
    Label,
    Number,
    Ordinal,
    Quantity,
    Unit,
    Value,
    Weekday,
    Written,
)
from guardgraph.guards.facts.words import CURRENCIES, ERAS, MONTHS, find_units_in_words
from guardgraph.guards.languages.numbers import load_magnitude_words, load_number_words
from guardgraph.guards.languages.tables import load_month_names, load_unit_names
from guardgraph.guards.stop import shown_name
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


_LATIN: Final = frozenset({"de", "es", "fr", "it", "pt", "nl", "pl", "cs", "ro", "sv", "tr", "vi"})

_AROUND: Final = ".,;:!?()[]«»\"'“”„¿¡"

_READ: Final = 1_000
"""Characters of a text that tell its language, as in `detect_language`."""

_CYRILLIC: Final = re.compile(r"[а-яі]{3}", re.IGNORECASE)

_UKRAINIAN: Final = re.compile(r"[ґєії]", re.IGNORECASE)

_HAN: Final = re.compile("[\u3400-\u9fff]")

_KANA: Final = re.compile("[\u3041-\u30ff]")

_LETTERS_OF_A_WORD: Final = 4
"""A Han character says about as much as so many letters."""


def is_latin_language(language: str) -> bool:
    """Say whether a language is written in Latin letters; one that nothing tells is taken for English."""
    return language in ("", "en") or language in _LATIN


def tell_number_language(text: str) -> str:
    """Tell the language of a text, "" where too little tells it from English.

    Args:
        text: any text.

    Returns:
        A code of `LANGUAGES`. Where only a word or two tell another language than English, it is "": a number word
        misread is an error, and units and magnitudes of other languages are known in every text.
    """
    if text.isascii():
        words = set(text[:_READ].lower().split())
        own_words, foreign_words = _split_stop_words()
        if len(words & own_words) > len(words & foreign_words):
            return "en"
    elif (han := len(_HAN.findall(text[:_READ]))) and han * _LETTERS_OF_A_WORD >= min(len(text), _READ) - han:
        return "ja" if _KANA.search(text[:_READ]) else "zh"
    language = detect_language(text)
    if not language and not text.isascii() and _CYRILLIC.search(text[:_READ]):
        return "uk" if _UKRAINIAN.search(text[:_READ]) else "ru"
    if language in ("", "en") or language not in _LATIN:
        return language
    found = {word.strip(_AROUND) for word in text[:_READ].lower().split()}
    own = (load_stop_words(language) & found) - load_stop_words("en")
    # The "cent" of "27 per cent" and the "min" of "5 min" are no evidence of French and Swedish.
    own -= _list_words_beside_numbers(language)
    english = len(found & _split_stop_words()[0])
    return language if len(own) > max(text.isascii(), english) else _tell_language_by_magnitudes(found, english)


def _tell_language_by_magnitudes(found: set[str], english: int) -> str:
    """Tell a language by its magnitudes and months too: Spanish by "millones"; "" where two are as likely."""
    scores = sorted((len(found & _list_language_evidence(language)), language) for language in _LATIN)
    (second, _), (most, best) = scores[-2:]
    return best if most > max(1, second, english) else ""


@cache
def _list_language_evidence(language: str) -> frozenset[str]:
    names = frozenset(
        {*load_magnitude_words(language), *(name for name in load_month_names(language) if len(name) > 3)}
    )
    return (
        (load_stop_words(language) - _list_words_beside_numbers(language) | names)
        - load_stop_words("en")
        - frozenset(load_unit_names(""))
    )


@cache
def _list_words_beside_numbers(language: str) -> frozenset[str]:
    """Return the words that stand beside numbers in every language."""
    return load_number_words(language).beginnings | frozenset(load_unit_names(""))


@cache
def _split_stop_words() -> tuple[frozenset[str], frozenset[str]]:
    """Return the stop words of English alone, and those of the other languages in Latin letters."""
    others = frozenset[str]().union(*(load_stop_words(language) for language in _LATIN))
    return load_stop_words("en") - others, others - load_stop_words("en")


_STOP: Final = re.compile(r"[.!?]\s(?<=[a-z]{3}..)", re.DOTALL)
_UNWRITTEN: Final = str.maketrans("", "", ",-")
"""Signs that only group digits: "1-800-555-0199"."""

_JOINING: Final = frozenset({"and", "or", ",", "to", "&", "–", "-", "/", "through"})
_DASHES: Final = frozenset("-–—‒/")
_WHOLE_ALONE: Final = frozenset({BARE.dimension, RATIO, *CURRENCIES})
"""What no part is said of without its unit, as "3 of 5 days" is."""


@cache
def _list_month_names() -> tuple[str, ...]:
    return tuple(MONTHS)


class Numbers(NamedTuple):
    """The numbers of a text."""

    claimed: frozenset[Number] = frozenset()
    implied: frozenset[Number] = frozenset()
    """Said in passing: "every hour", the "2." of a list."""
    numerals: frozenset[Number] = frozenset()
    """Roman numerals of names."""


_NO_NUMBERS: Final = Numbers()


class FoundNumber(NamedTuple):
    """A number and the tokens that it takes up."""

    readings: tuple[Value, ...]
    first: int
    end: int
    hit: Hit | None = None
    of: str = ""
    """The kind of thing that it labels."""
    role: Literal["claimed", "implied", "numeral"] = "claimed"
    """"implied" where words say it in passing, "numeral" for the Roman numeral of a name."""


def read_text_numbers(text: str) -> Numbers:
    """Read the numbers of a text, in time linear in its length; lines of another script in the language of these."""
    language = tell_number_language(text)
    if not text.isascii() and "\n" in text and not is_latin_language(language):
        runs = [
            _read_language_numbers("\n".join(lines), "en" if ascii else language)
            for ascii, lines in _split_number_scripts(text)
        ]
        return Numbers(*(frozenset().union(*kind) for kind in zip(*runs, strict=True)))
    return _read_language_numbers(text, language)


def _split_number_scripts(text: str) -> Iterator[tuple[bool, Iterator[str]]]:
    """Part a text into runs of lines, those of ASCII letters apart: a base may say the same in two languages."""
    return groupby(text.split("\n"), key=lambda line: line.isascii() and any(map(str.isalpha, line)))


def _read_language_numbers(text: str, language: str) -> Numbers:
    plain_text, marked = normalise_number_spelling(text, language)
    read = [_read_sentence_numbers(part, language) for part in _split_number_sentences(plain_text)]
    if len(read) == 1 and not marked:
        return read[0]
    counted = (Number(str(each), (Ordinal(each), Label("step", str(each), None))) for each in marked)
    claimed, implied, numerals = zip(*read, strict=True)
    return Numbers(frozenset().union(*claimed), frozenset(counted).union(*implied), frozenset().union(*numerals))


def _split_number_sentences(text: str) -> Iterator[str]:
    """Part a text where no number reaches across: behind a full stop, unless a month stands before ("Oct. 5").

    A revision has most of its sentences from its draft, and an answer from its notes.
    """
    start = 0
    for match in _STOP.finditer(text):
        end = match.end() - 1
        if not text[max(end - 12, start) : end - 1].lower().endswith(_list_month_names()):
            yield text[start:end]
            start = end
    yield text[start:]


class NumberSentence(NamedTuple):
    """A part of a text across which no number reaches."""

    tokens: list[Token]
    found: list[FoundNumber]

    def name_number(self, each: FoundNumber) -> Number:
        """Return one of its numbers as it was written."""
        return Number(shown_name(show_number_tokens(self.tokens, each.first, each.end)), each.readings)


def read_number_sentences(text: str) -> Iterator[NumberSentence]:
    """Yield the sentences of a text with their numbers, each where it stands, in time linear in its length.

    Args:
        text: any text; all of it is read in one language.
    """
    language = tell_number_language(text)
    plain_text, _ = normalise_number_spelling(text, language)
    for part in _split_number_sentences(plain_text):
        yield _find_sentence_numbers(part, language)


@remember_by_text(texts=512, chars=300)
def _read_sentence_numbers(part: str, language: str) -> Numbers:
    sentence = _find_sentence_numbers(part, language)
    if not sentence.found:
        return _NO_NUMBERS
    by_role: dict[str, list[Number]] = {"claimed": [], "implied": [], "numeral": []}
    for each in sentence.found:
        by_role[each.role].append(sentence.name_number(each))
    return Numbers(*map(frozenset, by_role.values()))


@remember_by_text(texts=256, chars=300)
def _find_sentence_numbers(part: str, language: str) -> NumberSentence:
    """Read a sentence; those of an answer and of what it cites are read again where something is missing."""
    tokens = translate_number_tokens(split_number_tokens(part), language)
    starts = [at for at, token in enumerate(tokens) if token.opens]
    found: list[FoundNumber] = []
    before = FoundNumber((), 0, 0)
    for at in starts:
        now = _read_number_at(tokens, at, before) if at >= before.end else None
        if now is None:
            continue
        if _is_bare(now, counting=True) and now.hit and (score := read_spoken_score(tokens, now.end, now.hit.amount)):
            now = _add_readings(now, (score,))
        if found:
            found[-1], now = _join_number_range(tokens, before, now)
        found.append(now)
        before = now
    if language in ("", "en"):
        found = [_drop_decimal_comma(tokens, each) for each in found]
    if len(found) > 1 and any(token.lower in _POINTS for token in tokens):
        found = _add_points(tokens, found)
    return NumberSentence(tokens, _share_list_rates(tokens, _share_list_month(tokens, found)))


def _drop_decimal_comma(tokens: list[Token], found: FoundNumber) -> FoundNumber:
    """Read a comma as English has it: "1,600" is no 1.6 there, as it is in other languages."""
    if len(found.readings) < 2 or not any("," in token.text for token in tokens[found.first : found.end]):
        return found
    kept = (value for value in found.readings if not (isinstance(value, Quantity) and value.otherwise))
    return found._replace(readings=tuple(kept))


_ADDING: Final = frozenset({"and", "or", "&", "/"})
"""What joins the last of several days of one month."""

_LISTING: Final = _ADDING | {",", "the"}


def _share_list_month(tokens: list[Token], found: list[FoundNumber]) -> list[FoundNumber]:
    """Let days have the month that is said once: "24, 25 and 31 December", "May 4 and 5"."""
    shared = list(found)
    for at, each in enumerate(found):
        date = each.readings[0] if each.readings else None
        if not isinstance(date, Date) or date.month is None or date.day is None:
            continue
        is_behind = tokens[each.first].lower not in MONTHS
        for place, day in _list_joined_days(tokens, found, at, -1 if is_behind else 1):
            others = () if is_behind else found[place].readings  # "on May 4 and 12 were hurt"
            shared[place] = found[place]._replace(readings=(date._replace(day=day), *others))
    return shared


def _list_joined_days(tokens: list[Token], found: list[FoundNumber], at: int, step: int) -> list[tuple[int, int]]:
    """Return the days that a list joins to a date before (-1) or behind it (1), each with its place."""
    days, is_joined = list[tuple[int, int]](), False
    while not (is_joined and step > 0) and 0 <= at + step < len(found):
        one, other = sorted((at, at + step))
        between = [token.lower for token in tokens[found[one].end : found[other].first]]
        day = _read_list_day(found[at := at + step])
        if day is None or not 1 <= len(between) <= 2 or not _LISTING.issuperset(between):
            break
        is_joined |= not _ADDING.isdisjoint(between)
        days.append((at, day))
    return days if is_joined else []


def _read_list_day(found: FoundNumber) -> int | None:
    """Return the day that a number of a list is which counts and labels nothing."""
    return None if found.of or (found.hit and (found.hit.counted or found.hit.bound)) else _read_range_day(found)


def _share_list_rates(tokens: list[Token], found: list[FoundNumber]) -> list[FoundNumber]:
    """Let amounts of money have the rate that was said before: "26p per vote for Labour and 43p for the Greens".

    Other amounts have it as items of a list or in brackets, and so have amounts of money what only may be a rate, as
    of "the daily limit is €1,000".
    """
    rates, perhaps = dict[str, Unit](), dict[str, Unit]()
    shared: list[FoundNumber] = []
    for each in found:
        hit = each.hit
        kind = hit.measures[0][1].dimension if hit else ""
        if hit and hit.per is not None:
            rates[kind] = hit.per
        elif hit and hit.perhaps_per is not None:
            perhaps[kind] = hit.perhaps_per
        elif hit and kind:
            is_item = _is_item(tokens, each)
            if rate := (rates.get(kind) if kind.isupper() or is_item else None) or (
                perhaps.get(kind) if is_item else None
            ):
                readings = (*each.readings, *hit._replace(per=rate).list_readings())
                shared.append(each._replace(readings=readings))
                continue
        shared.append(each)
    return shared


def _is_item(tokens: list[Token], each: FoundNumber) -> bool:
    """Say whether a number is an item of a list: "and 5", "and for 5", "(5"."""
    before, first = tokens[each.first - 1].lower, tokens[each.first - 2].lower
    return before in _LISTING or before == "(" or (before in _RELATING and first in _LISTING)


_RELATING: Final = frozenset({"for", "by", "at", "to", "of", "with"})


def _add_points(tokens: list[Token], found: list[FoundNumber]) -> list[FoundNumber]:
    """Read "9.1 points" behind a share as points of per cent: "38.4 %, up 9.1 points"."""
    [unit, *_] = find_units_in_words("percentage", "points")[0]
    is_behind_share, read = False, list[FoundNumber]()
    for each in found:
        dimension = each.hit.measures[0][1].dimension if each.hit else ""
        is_points = is_behind_share and _is_bare(each, counting=True) and tokens[each.end].lower in _POINTS
        more = (Quantity(each.hit.amount, unit),) if is_points and each.hit else ()
        is_behind_share |= dimension == RATIO
        read.append(_add_readings(each, more))
    return read


_POINTS: Final = frozenset({"point", "points"})


def _read_number_at(tokens: list[Token], at: int, before: FoundNumber) -> FoundNumber | None:
    if tokens[at].identifier:
        name, claimed = read_identifier_fact(tokens[at])
        return FoundNumber((name,), at, at + 1, role="claimed" if claimed else "implied")
    if (version := read_version_number(tokens, at)) is not None:
        return FoundNumber((version,), at, at + 1, of="version")
    of = read_number_label(tokens, at) or _share_number_label(tokens, at, before)
    if of and (labelled := _read_labelled_number(tokens, at, of)):
        return labelled
    if tokens[at].number and (age := read_age_group(tokens, at)):
        return FoundNumber((age,), at, at + 1)
    for reader in choose_number_readers(tokens[at].text):
        if moment := reader(tokens, at):
            return FoundNumber(moment[0], at, moment[1])
    return _read_amount_at(tokens, at, before) or _read_unusual_number(tokens, at)


def _read_unusual_number(tokens: list[Token], at: int) -> FoundNumber | None:
    if roman := read_roman_numeral(tokens, at):
        return FoundNumber(roman, at, at + 1, role="claimed" if isinstance(roman[0], Label) else "numeral")
    text = tokens[at].text
    if score := read_written_score(text):
        return FoundNumber((score,), at, at + 1)
    if begins_number_digits(text):
        return FoundNumber((Written(text.translate(_UNWRITTEN).casefold()),), at, at + 1)
    said = read_spoken_days(tokens, at) or read_implied_number(tokens, at)
    return FoundNumber(said[0], at, said[1], role="implied") if said else None


def _share_number_label(tokens: list[Token], at: int, before: FoundNumber) -> str:
    """Return the label that a number shares with the one before: "Sections 3 and 4", "pages 8-13"."""
    if not before.of or not before.readings:
        return ""
    in_digits, digits_before = (tokens[place].text[:1].isdecimal() for place in (at, before.end - 1))
    if in_digits != digits_before:
        return ""  # "from day 4, one is required"
    joined = (at == before.end and in_digits) or (at == before.end + 1 and tokens[before.end].lower in _JOINING)
    return before.of if joined else ""


def _read_labelled_number(tokens: list[Token], at: int, of: str) -> FoundNumber | None:
    """Read the number behind a label; with a unit of its own it is an amount ("Section 3 hours")."""
    token = tokens[at]
    if token.identifier or read_roman_numeral(tokens, at):
        return None
    hit = read_quantity(tokens, at, at)
    if hit is None and token.text.isalpha():
        amount, end, _ = read_number_word(tokens, at)
        return (
            FoundNumber(_list_label_readings(of, str(amount), amount), at, end, of=of) if amount is not None else None
        )
    if hit is None:
        is_dotted = token.text.replace(".", "").isdecimal()
        return (
            FoundNumber((make_number_label(of, token.text),), at, at + 1, of=of)
            if is_dotted and begins_number_digits(token.text)
            else None
        )
    if hit.measures is not PLAIN or (hit.per and not hit.counted):
        return None
    text = token.text if token.text.replace(".", "").isdecimal() else str(hit.amount)
    return FoundNumber(_list_label_readings(of, text, hit.amount), at, hit.end, of=of)


def _list_label_readings(of: str, text: str, amount: Amount) -> tuple[Value, ...]:
    """Return what a labelled number means; "a Mach number of 4" is Mach number 4."""
    return (make_number_label(of, text), *((Quantity(amount),) if of == "number" else ()))


def _read_amount_at(tokens: list[Token], at: int, before: FoundNumber) -> FoundNumber | None:
    hit = read_quantity(tokens, at, before.end)
    if hit is None:
        amount, suffix = tokens[at].number or (None, "")
        if amount is None or suffix.lower() not in ORDINAL_SUFFIXES:
            return None
        return FoundNumber((Quantity(amount, counted="surely"),), at, at + 1)  # "10x"
    readings: tuple[Value, ...] = hit.list_readings()
    if hit.measures[0][1] == ERAS["AD"] and (year := read_year_number(tokens, at)) is not None:
        readings = (*readings, Date(year))
    if hit.measures is PLAIN and hit.first == at and hit.end == at + 1 and not hit.bound:
        readings = _list_plain_number_readings(tokens, at, hit, readings)
    return FoundNumber(readings, hit.first, hit.end, hit)


def _list_plain_number_readings(
    tokens: list[Token], at: int, hit: Hit, readings: tuple[Value, ...]
) -> tuple[Value, ...]:
    year = read_year_number(tokens, at)
    if year is not None:
        dated = is_year_number(tokens, at) and not hit.counted
        return (Date(year),) if dated else (*readings, Date(year))
    if tokens[at].number is None:
        return readings
    names = read_named_number(tokens, at, hit.amount, counted=hit.counted)
    return (*names, *readings[1:]) if names else readings


def _join_number_range(tokens: list[Token], before: FoundNumber, now: FoundNumber) -> tuple[FoundNumber, FoundNumber]:
    """Let two ends of a range say for each other what is said once: "10-15 minutes", "1939-45", "October 8-13"."""
    if (spanned := _join_span(tokens, before, now)) is not None:
        return spanned
    before = _share_whole_unit(tokens, before, now)
    behind = find_number_range_end(tokens, before.first, before.end)
    if behind is None or now.first != behind + (tokens[behind].lower == "the"):
        return before, now
    if score := _read_range_score(tokens, before, now):
        is_told = score.in_digits and is_told_as_score(tokens, before.first, now.end)
        is_range = tokens[behind - 1].lower == "to" and not _is_spoken_result(tokens, before, score, now)
        if not is_range and (score.is_descending or is_told):
            merged = now._replace(readings=(score.value,), first=before.first, hit=None)
            ends = (Quantity(one.hit.amount) for one in (before, now) if one.hit)  # 23-16 says 23 points, and 16
            return before._replace(readings=tuple(ends), role="implied"), merged
        before = before._replace(readings=(*before.readings, score.value))
        now = now._replace(readings=(*now.readings, score.value))
    if before.hit and now.hit:
        if (year := _read_range_end_year(tokens, before, now)) is not None:
            return before, now._replace(readings=(Date(year),))
        return _share_range_unit(before, before.hit, now, now.hit)
    start = before.readings[0] if before.readings else None
    if isinstance(start, Date) and start.day and (day := _read_range_day(now)) is not None:
        return _complete_day_range(tokens, before, now, start, day)
    end = now.readings[0] if now.readings else None
    if isinstance(end, Date) and end.day and (first := _read_range_day(before)) is not None:
        return before._replace(readings=(Date(end.year, end.month, first),)), now
    return before, now


def _is_spoken_result(tokens: list[Token], before: FoundNumber, score: _Score, now: FoundNumber) -> bool:
    """Say whether "3 to 2" is a result: behind a word of one, and no way from a number down to another."""
    is_result = score.is_descending and tokens[before.first - 1].lower not in ("from", "by")
    return is_result and is_told_as_score(tokens, before.first, now.end)


def _join_span(tokens: list[Token], before: FoundNumber, now: FoundNumber) -> tuple[FoundNumber, FoundNumber] | None:
    """Let both ends of a span of days or hours say what it spans: "Monday to Friday", "open from 9 to 17"."""
    if now.first > before.end + 1 or not before.readings or not now.readings:
        return None
    one, other = before.readings[0], now.readings[0]
    if isinstance(one, Weekday) and isinstance(other, Weekday):
        days = join_weekdays(tokens, before.end, now.first, (one.number, other.number))
        return (_add_readings(before, (days,)), _add_readings(now, (days,))) if days else None
    if _is_bare(before) and _is_bare(now) and before.hit and now.hit:
        if tokens[before.end].glued and is_told_as_score(tokens, before.first, now.end):
            return None  # "won 3-2 on Saturday"
        ends = (before.first, before.end, before.hit.amount), (now.first, now.end, now.hit.amount)
        if hours := join_hours(tokens, *ends):
            return _add_readings(before, hours[0]), _add_readings(now, hours[1])
    return None


def _is_bare(found: FoundNumber, *, counting: bool = False) -> bool:
    """Say whether a number measures nothing and labels nothing, and surely counts nothing unless that is allowed."""
    hit = found.hit
    if hit is None or found.of or hit.measures is not PLAIN or hit.per is not None:
        return False
    return counting or hit.counted != "surely"


_OWNING: Final = frozenset({"the", "your", "their", "his", "her", "its", "our", "these", "those", "all"})


def _share_whole_unit(tokens: list[Token], before: FoundNumber, now: FoundNumber) -> FoundNumber:
    """Let a part have the unit of its whole: "12 of your 25 days" are 12 days."""
    whole, at = now.hit, before.end + (tokens[before.end].lower == "out")
    if tokens[at].lower != "of" or not _is_bare(before) or whole is None or before.hit is None:
        return before
    if now.first != at + 1 + (tokens[at + 1].lower in _OWNING) or whole.per is not None or whole.bound:
        return before
    if before.hit.amount > whole.amount or whole.measures[0][1].dimension in _WHOLE_ALONE:
        return before
    return _add_readings(before, before.hit._replace(measures=whole.measures, counted="").list_readings())


def _add_readings(found: FoundNumber, more: tuple[Value, ...]) -> FoundNumber:
    return found._replace(readings=(*found.readings, *more))


class _Score(NamedTuple):
    value: Written
    in_digits: bool
    is_descending: bool
    """Whether it can be no range: "4-1"."""


def _read_range_score(tokens: list[Token], before: FoundNumber, now: FoundNumber) -> _Score | None:
    """Read two plain numbers as a score, which is said as "2-0", "2:0", "2 to 0" and "two to zero"."""
    one, other = before.hit, now.hit
    if one is None or other is None or before.of or one.measures is not PLAIN or other.measures is not PLAIN:
        return None
    if not (is_score_number(tokens[before.first]) and is_score_number(tokens[now.first])):
        return None
    if max(one.amount, other.amount) >= MOST_POINTS or one.counted or other.counted == "surely":
        return None
    in_digits = tokens[before.first].text.isdecimal() and tokens[now.first].text.isdecimal()
    return _Score(write_score(one.amount, other.amount), in_digits, in_digits and one.amount >= other.amount)


def _read_range_day(found: FoundNumber) -> int | None:
    """Return the day that a plain number or a place can be: "7" and "7th" in "7th to 26th of April"."""
    value = found.readings[0] if found.readings else None
    if isinstance(value, Ordinal):
        return value.place if 1 <= value.place <= 31 else None
    if found.hit is None or found.hit.measures is not PLAIN or not isinstance(found.hit.amount, int):
        return None
    return found.hit.amount if 1 <= found.hit.amount <= 31 else None


def _complete_day_range(
    tokens: list[Token], before: FoundNumber, now: FoundNumber, start: Date, day: int
) -> tuple[FoundNumber, FoundNumber]:
    if start.year is not None:
        return before, now
    at = now.end + (tokens[now.end].text == ",")
    year, end = read_year_number(tokens, at), now.end
    if year is not None:
        start, end = start._replace(year=year), at + 1
    return before._replace(readings=(start,)), now._replace(readings=(start._replace(day=day),), end=end)


def _read_range_end_year(tokens: list[Token], before: FoundNumber, now: FoundNumber) -> int | None:
    """Return the year that two digits end a range of years with: 1945 in "1939-45"."""
    year, text = read_year_number(tokens, before.end - 1), tokens[now.first].text
    joined = now.first == before.end or tokens[before.end].text in _DASHES
    if year is None or not joined or len(text) != 2 or not text.isdecimal() or now.end != now.first + 1:
        return None
    return year // 100 * 100 + int(text) if int(text) > year % 100 else None


def _share_range_unit(before: FoundNumber, one: Hit, now: FoundNumber, other: Hit) -> tuple[FoundNumber, FoundNumber]:
    """Find what both ends of a range are measured in: "10-15 minutes", "$5 to 10 million"."""
    if other.measures is PLAIN and (not other.counted and other.per is None):
        return before, now
    if one.measures is PLAIN and one.per is None and not one.counted:
        # "from 1.7 to 2.2 million" are both millions, "from 1,400,000 to 2.2 million" are not.
        scaled = other.measures if one.amount < 1000 else tuple((1, unit) for _, unit in other.measures)
        one = one._replace(measures=scaled, counted=other.counted, per=other.per)
    elif _is_scaled_for_both(one, other):  # "between $1.60 and $1.64 billion"
        one = one._replace(measures=other.measures)
    elif one.measures[0][1].dimension in CURRENCIES and all(own == BARE for _, own in other.measures):
        shared = tuple((scale, one.measures[0][1]) for scale, _ in other.measures)
        one, other = one._replace(measures=shared), other._replace(measures=shared)
    else:
        return before, now
    readings: tuple[Value, ...] = one.list_readings()
    if other.measures[0][0] != 1:  # "3 to 30 million" may begin with 3
        readings += one._replace(measures=tuple((1, unit) for _, unit in one.measures)).list_readings()
    dates = tuple(value for value in before.readings if isinstance(value, Date))
    return (
        before._replace(readings=readings + dates, hit=one),
        now._replace(readings=tuple(chain(other.list_readings(), _filter_date_readings(now))), hit=other),
    )


def _is_scaled_for_both(one: Hit, other: Hit) -> bool:
    """Say whether two amounts of one currency may share the millions of the second."""
    unit, scale = one.measures[0][1], one.measures[0][0]
    if unit.dimension not in CURRENCIES or other.measures[0][1] != unit:
        return False
    return scale == 1 and other.measures[0][0] != 1 and one.amount < 1000


def _filter_date_readings(found: FoundNumber) -> Iterator[Value]:
    return (value for value in found.readings if isinstance(value, Date))
