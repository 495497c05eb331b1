"""What a text says of its values: that one is denied, a bound, a part of another one, or of what it is the name.

Words and signs beside a value decide, in its clause; what they do not tell is asked about, so they may be few.
"""

from __future__ import annotations

import re
from collections import ChainMap, defaultdict
from collections.abc import Iterable, Mapping
from functools import cache
from typing import Final

from guardgraph.grounding.languages import LANGUAGES, load_names
from guardgraph.grounding.values import Value, scan_values
from guardgraph.grounding.words import DEFAULT_LANGUAGE, detect_language, is_function_word, load_negations
from guardgraph.guards.tools.values import list_name_parts
from guardgraph.guards.word_lists import load_word_lists

SIZED: Final = ("number", "money", "percent", "quantity")  # kinds of values that have an amount
IDS: Final = frozenset({"id", "number", "no", "code", "ref"})
"""Last words of the names of arguments whose numbers count nothing."""
_WORDS: Final = load_word_lists("tools")
BOUNDS: Final[dict[str, dict[str, frozenset[str]]]] = {
    mark: {of: frozenset(words.split()) for of, words in said.items()} for mark, said in _WORDS["bounds"].items()
}
"""Words that say of a value before or behind them that it is a bound, and names of arguments that are one."""
_BETWEEN, _RANGING, _STARTING, _OFFSETS, _OF, _LISTING, _COMPARING = (
    frozenset(_WORDS[name].split())
    for name in ("between", "ranging", "starting", "offsets", "of", "listing", "comparing")
)
_EXCEPTIONS = re.compile(rf"\b(?:(?:{'|'.join(_WORDS['wholes'].split())})\b.*\bbut|{'|'.join(_WORDS['exceptions'])})\b")
"""Words behind which stands what is meant by no means: "anyone but Ada", "rather than Ada"."""
_WORD = re.compile(r"\w[\w'’´]*")
_SENTENCE = re.compile(r"[.;!?]\s")
_ITEM = re.compile(r"\s(?:[-*•–]|\d{1,2}[.)])\s")
_CLAUSE = re.compile(r"[,:\n]\s")
_LOOKED_BACK: Final = 200  # characters before a value in which its clause is looked for
_MOST_LISTED: Final = 3  # words of an item in a list of names
_MINUS: Final = "-\u2212\u2013"
_GROUPED = re.compile(r"(?<![\d.,])\d{1,3}[.,]\d{3}(?![\d.,]*\d)")
_WHOLE_DATE = re.compile(r"\d{1,2}\b.*\b\d{4}")
_NUMBERED = re.compile(r"(?:#|№|\bno\.?\s)$", re.IGNORECASE)
_OPERATED = re.compile(
    rf"\s*[+*/×÷^]\s*\d|[⁰¹²³⁴-⁹]|e[+-]?\d|\s+(?:{'|'.join(_WORDS['operators'].split())})\s", re.IGNORECASE
)
_LETTERS = re.compile(r"[\s-]*([^\W\d_]+)(?P<currency>\s?(?:[$€£¥₽₴]|(?:EUR|USD|GBP)\b))?")
_THOUSAND: Final = 1000  # smaller magnitudes are other words elsewhere, such as "cents"
_FEWEST_LETTERS: Final = 6  # of a magnitude; a shorter one is one before a currency: "5 M EUR", and not "3 bin bags"


def read_values(text: str) -> tuple[Value, ...]:
    """Return the values of a text that may license values: what it denies nowhere, with signs and bounds."""
    found = _add_dates(text, scan_values(text))
    beside = zip((None, *found), found, (*found[1:], None), strict=False)
    held = [(_read_sign(_read_bound(value, text, last, following), text), last) for last, value, following in beside]
    behind_negations = {value.start for value in found if is_denied(text, value.start)}
    denied = defaultdict[object, set[object]](set)
    for value, _ in held:
        if value.start in behind_negations and not _is_compared(value, text):
            for amount, unit in _list_amounts(value):
                denied[amount].add(unit)
    return tuple(
        value
        for value, last in held
        if value.start not in behind_negations
        and not any(_is_unit_among(unit, denied.get(amount, set())) for amount, unit in _list_amounts(value))
        and not _is_operand(value, text, last)
        and not _may_be_thousands(value)
    )


def _add_dates(text: str, found: Iterable[Value]) -> list[Value]:
    """Return values with the whole dates of each language whose months a text names: few words do not tell theirs."""
    read, own = [*found], detect_language(text)
    named = {each for word in _WORD.findall(text.casefold()) for each in _list_months().get(word, ())}
    others = sorted(named - {own}) if own != DEFAULT_LANGUAGE else []
    for date in (value for each in others for value in scan_values(text, each) if value.kind == "date"):
        if _WHOLE_DATE.fullmatch(date.text) and not any(
            each.start == date.start and each.kind == "date" for each in read
        ):
            read = [each for each in read if each.end <= date.start or each.start >= date.end]
            read.append(date)
    return sorted(read, key=lambda value: value.start)


@cache
def _list_months() -> Mapping[str, list[str]]:
    """Return the languages in which a word names a month; no word names two months."""
    languages = defaultdict[str, list[str]](list)
    for language in LANGUAGES:
        for word in load_names(language, "months"):
            languages[word.casefold()].append(language)
    return languages


def _may_be_thousands(value: Value) -> bool:
    """Say whether a number is a thousand times another one in English: a few words do not tell their language."""
    grouped = _GROUPED.search(value.text)
    if grouped is None or value.kind == "money":  # no price has three digits behind its point
        return False
    return all(value.said != plain.said for plain in scan_values(grouped[0], DEFAULT_LANGUAGE))


def _list_amounts(value: Value) -> list[tuple[object, object]]:
    """Return what two values share that differ in their units alone, with the unit: as measured, and as said."""
    kind = "sized" if value.kind in (*SIZED, "ordinal") else value.kind
    unit = (value.kind, value.unit, value.per) if value.unit else None
    said = (kind, "said", value.said or value.amounts, value.dates)
    return [((kind, value.amounts, value.dates), unit), (said, (*unit, value.factor) if unit else None)]


def _is_unit_among(unit: object, denied: set[object]) -> bool:
    """Say whether a unit is among those that an amount is denied in; where one is missing, it may be any."""
    return unit in denied or None in denied or (unit is None and bool(denied))


def _is_compared(value: Value, text: str) -> bool:
    """Say whether a value is a bound that may be reached: "not more than 900" denies no 900."""
    return value.mark in BOUNDS and not _COMPARING.isdisjoint(_list_words_before(text, value.start)[-1:])


def _read_bound(value: Value, text: str, last: Value | None, following: Value | None) -> Value:
    """Return a value with the bound that it is: an end of "between 100 and 900", "before May 13", "900 at most"."""
    if value.mark in BOUNDS:
        return value
    if last is not None and _is_range(last, value, text):
        return value._replace(mark="less")
    if following is not None and _is_range(value, following, text):
        return value._replace(mark="more")
    before = {*_list_words_before(text, value.start)[-2:]}
    behind = "_".join(_list_words(text[value.end : value.end + 40])[:3])
    for mark, said in BOUNDS.items():
        words = said["words"] | (said["moments"] if value.kind in ("date", "time") else frozenset())
        if not before.isdisjoint(words) or behind.startswith(tuple(said["behind"])):
            return value._replace(mark=mark)
    return value


def _is_range(one: Value, other: Value, text: str) -> bool:
    """Say whether two values are the ends of a range: "100-900"; "from 100 to 900" is a change, or an exact span."""
    joint = text[one.end : other.start].strip().casefold()
    before = "".join(_list_words_before(text, one.start)[-1:])
    if one.kind != other.kind:
        return False
    return (joint in _RANGING and before not in _STARTING) or (before in _BETWEEN and joint.isalpha())


def _is_operand(value: Value, text: str, last: Value | None) -> bool:
    """Say whether a value is a part of another one: 900 of "1/900", "10 % of 900", "900 + 5", "a week from May 13"."""
    before, behind = text[max(value.start - 2, 0) : value.start], text[value.end : value.end + 20]
    is_factor = before[-1:] == "/" and before[:1].isdecimal()
    if value.kind in SIZED and (is_factor or _OPERATED.match(behind) or _is_scaled(behind)):
        return True
    joint = "" if last is None else text[last.end : value.start].strip().casefold()
    if value.kind in ("date", "time"):
        return last is not None and last.kind == "quantity" and joint in _OFFSETS
    if last is None or not (last.kind == "percent" or last.mark == "implied"):
        return False
    return joint in _OF or (not joint and _OF.issuperset(last.text.split()[-1:]))  # "half of" may be one value


def _is_scaled(behind: str) -> bool:
    """Say whether a magnitude follows a number with which it was not read: 5 of "5 Millionen" is no 5."""
    if (found := _LETTERS.match(behind)) is None:
        return False
    word = found[1].casefold()
    return word in _load_scales() and bool(len(word) >= _FEWEST_LETTERS or found["currency"])


@cache
def _load_scales() -> frozenset[str]:
    sizes = ChainMap(*(dict(load_names(each, "scales")) for each in LANGUAGES))
    return frozenset(word for word, size in sizes.items() if size >= _THOUSAND)


def _read_sign(value: Value, text: str) -> Value:
    """Return a value with the sign before it: a minus, or one that makes a number of it that counts nothing."""
    before = text[max(value.start - 5, 0) : value.start]
    if value.kind == "number" and _NUMBERED.search(before):
        return value._replace(nouns=value.nouns | {"number #"})
    if value.kind not in SIZED or before[-1:] not in _MINUS or before[-2:-1].isalnum() or not before:
        return value
    return value._replace(amounts=tuple(-amount for amount in value.amounts))


def is_denied(text: str, at: int) -> bool:
    """Say whether what stands at a place stands behind a negation in its clause: "not 900", "nobody but Ada"."""
    # A dash may begin an item of a list or stand within a sentence: a negation that either reading has counts.
    before = text[max(at - _LOOKED_BACK, 0) : at]
    return any(_denies(_list_clause_words(written)) for written in (before, _ITEM.sub(", ", before)))


def _denies(words: list[str]) -> bool:
    is_excepted = _EXCEPTIONS.search(" ".join(words)) is not None
    return is_excepted or not load_negations().isdisjoint(words) or any(word.endswith("n't") for word in words)


def is_named_place(text: str, at: int, end: int, key: str) -> bool:
    """Say whether a part of a text stands behind what an argument is of by its name: 13, 14 of "files 13, 14"."""
    kinds = tuple(part for part in list_name_parts(key) if part not in IDS and len(part) > 1)
    words = _list_clause_words(_ITEM.sub(", ", text[max(at - _LOOKED_BACK, 0) : at]))
    last = "".join(words[-1:])
    while words and _is_listed(words[-1]):
        words.pop()
    kind = "".join(words[-1:])
    if not _is_listed(last):
        return kind.startswith(kinds)
    # A list of several is of a kind in the plural: "orders 12 and 30", not "order 12, 30 in cash" nor "13 chairs".
    behind = _WORD.match(text[end : end + _LOOKED_BACK].lstrip())
    following = "" if behind is None else behind[0].casefold()
    is_item = not following or following in _LISTING or (last in _LISTING and is_function_word(following))
    return is_item and kind.startswith(kinds) and kind not in kinds


def _is_listed(word: str) -> bool:
    return word.isdecimal() or word in _LISTING or word in IDS


def _list_clause_words(text: str) -> list[str]:
    """Return the words of a text's last clause, without those that only say that an id follows: "order no W12"."""
    # The items of a list are of the clause that it begins in: "do not write to Bob, Ada or Carl".
    *clauses, last = _CLAUSE.split(_SENTENCE.split(text)[-1])
    words = item = _list_words(last)
    while clauses and (_ends_list(last) if item is words else len(item) <= _MOST_LISTED):
        item = _list_words(clauses.pop())
        words = [*item, *words]
    while words and words[-1] in IDS:
        words.pop()
    return words


def _ends_list(last: str) -> bool:
    """Say whether what stands before the last item of a list is an item: "Ada or", and not "pay Ada or"."""
    said = _WORD.findall(last)
    words = [word for word in said if word.casefold() not in _LISTING]
    is_before_joint = not said or said[-1].casefold() in _LISTING
    return is_before_joint and (len(words) <= 1 or not any(word[0].islower() for word in words))


def _list_words_before(text: str, at: int) -> list[str]:
    return _list_words(text[max(at - _LOOKED_BACK, 0) : at])


def _list_words(text: str) -> list[str]:
    return [word.casefold().replace("’", "'").replace("´", "'") for word in _WORD.findall(text)]
