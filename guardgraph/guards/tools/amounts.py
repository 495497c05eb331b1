"""Typed values of texts and arguments, compared for licences: a value licenses itself, and no other one."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Final

from guardgraph.grounding.json_texts import write_json_text
from guardgraph.grounding.values import Value, is_same_value, scan_values
from guardgraph.grounding.words import stem
from guardgraph.guards.tools.reading import BOUNDS, IDS, SIZED, read_values
from guardgraph.guards.tools.values import list_name_parts
from guardgraph.guards.word_lists import load_word_lists

_OFFSET = re.compile(r"\d{2}:\d{2}(?::\d{2})?\s?[+-]\d{2}:?\d{2}\b")
_WORDS: Final = load_word_lists("tools")
_MONEY: Final = frozenset(_WORDS["money"].split())  # words in the names of arguments that are amounts of money
_SHARES: Final = frozenset(_WORDS["shares"].split())  # words in the names of arguments that are shares of a hundred
_COMMANDS: Final = frozenset(_WORDS["commands"].split())
"""Verbs before a number that is an amount and no label: "pay 900", and not "page 900"."""
_KINDS_OF_IDS: Final = frozenset(map(stem, IDS))


def is_code(each: Value, code: str) -> bool:
    """Say whether a value of a text is a bare number, written like a code: nothing is said of what it is or counts."""
    return each.kind == "number" and each.text == code and not each.nouns


def is_id_name(key: str) -> bool:
    """Say whether the numbers under a name tell things apart and count nothing."""
    return any(stem(part) in {*_KINDS_OF_IDS, "ticket"} for part in list_name_parts(key)[-1:])


def is_number_of(field: Sequence[str], held: float, value: float, key: str) -> bool:
    """Say whether the number of a field is one that an argument of this name has: no id is an amount, nor 900 s 900."""
    if held != value or not field:
        return held == value
    kinds, own = _list_kinds_of(key), _list_kinds_of(field[-1])
    if is_id_name(key) and is_id_name(field[-1]):
        return not (kinds and own and kinds.isdisjoint(own))
    if is_id_name(key) or is_id_name(field[-1]):
        return not kinds.isdisjoint(_list_kinds_of(*field[-2:]))
    has = _read_named(field[-1], held)
    return _read_named(key, value) is None if has is None else licenses_number([has], value, key)


def _list_kinds_of(*keys: str) -> set[str]:
    """Return the stems of the words in names that say of what a number is the id."""
    return {stem(part) for key in keys for part in list_name_parts(key)} - _KINDS_OF_IDS


def _read_named(key: str, value: float) -> Value | None:
    """Return a number as its name says that it is counted, None if it is a plain one: 30 of `duration_minutes`."""
    unit = _name_unit(key)
    texts = [write_json_text({key: abs(value)}), *([f"{write_json_text(abs(value))} {unit}"] if unit else [])]
    read = [found for text in texts for found in scan_values(text, "en")[-1:] if found.kind in SIZED]
    if (meant := next((each for each in read if each.kind != "number"), None)) is None:
        return None
    return meant._replace(amounts=tuple(amount if value >= 0 else -amount for amount in meant.amounts))


def _name_unit(key: str) -> str:
    """Return the word in the name of an amount that says what is counted: of `amount_cents` or `gb_amount`."""
    parts = list_name_parts(key)
    if len(parts) == 2 and parts[1] == "amount" and parts[0] not in _MONEY:
        parts.reverse()
    return parts[-1] if not _MONEY.isdisjoint(parts[:-1]) and parts[-1] not in _MONEY | _SHARES else ""


def licenses_number(values: Sequence[Value], value: float, key: str) -> bool:
    """Say whether one of some values is a number as an argument of this name has it."""
    if is_id_name(key):
        return any(_is_id(each, value, key) for each in values)
    meant = _read_named(key, value)
    if meant is None:
        return any(_is_bare(each, value, key) for each in _list_fitting(values, key))
    return any(is_same_value(_read_first(meant), _read_first(each)) for each in _list_fitting(values, key))


def _is_bare(each: Value, value: float, key: str) -> bool:
    """Say whether a value of a text is a plain number, or an amount or a share where the key says so, and no label."""
    parts = {*list_name_parts(key)}
    kinds = {"number", *(["money"] if parts & _MONEY else []), *(["percent"] if parts & _SHARES else [])}
    is_label = any(kind not in map(stem, parts) for kind in _list_kinds(each))
    unit = _name_unit(key)
    is_other = unit and (each.kind != "number" or (each.nouns and stem(unit) not in each.nouns))
    is_meant = each.kind in kinds and not (each.kind == "number" and is_label) and not is_other
    return is_meant and each.amounts[0] == value


def _list_fitting(values: Iterable[Value], key: str) -> list[Value]:
    """Return values that are exact, or a bound that an argument of this name is: "up to 900" for `max_price`."""
    names = {*list_name_parts(key)}
    return [
        each._replace(mark="") if each.mark in BOUNDS else each
        for each in values
        if each.mark not in BOUNDS or not names.isdisjoint(BOUNDS[each.mark]["names"])
    ]


def _list_kinds(each: Value) -> list[str]:
    """Return the stems of the words that say which of its kind a number is: "room 12", and not "pay 12"."""
    words = [noun.removesuffix(" #") for noun in each.nouns if noun.endswith("#")]
    return [stem(word) for word in words if word not in _COMMANDS]


def _is_id(each: Value, value: float, key: str) -> bool:
    """Say whether a number of a text counts nothing, and stands behind the name of its kind where the key has one."""
    kinds = _list_kinds_of(key)
    counts = any(not noun.endswith("#") for noun in each.nouns)
    is_own = not kinds or not _list_kinds(each) or not (kinds | _KINDS_OF_IDS).isdisjoint(_list_kinds(each))
    return each.kind == "number" and each.mark in ("", "about") and not counts and is_own and each.amounts[0] == value


def licenses_moment(values: Sequence[Value], moment: str, key: str) -> bool:
    """Say whether the date and the time of day of a moment in ISO 8601 are among some values, in the same zone."""
    if _OFFSET.search(moment):
        return False
    wanted, fitting = read_values(moment), _list_fitting(values, key)
    return bool(wanted) and all(
        any(is_same_value(_read_first(each), _read_first(other)) for other in fitting) for each in wanted
    )


def _read_first(value: Value) -> Value:
    """Return a value with its first reading, a date with its only one: what a call does may not hang on another."""
    return value._replace(amounts=value.amounts[:1], dates=value.dates if len({*value.dates}) == 1 else ())


def list_amounts(texts: Iterable[Sequence[Value]]) -> list[str]:
    """Return the numbers and amounts among some values, as they are written."""
    return sorted({value.text for values in texts for value in values if value.kind in ("number", "money", "quantity")})
