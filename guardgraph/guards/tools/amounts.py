"""Typed values of texts and arguments, compared for licences: a value licenses itself, and no other one."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Final

from guardgraph.grounding.json_texts import write_json_text
from guardgraph.grounding.values import Value, is_same_value, scan_values
from guardgraph.grounding.words import load_negations, stem
from guardgraph.guards.tools.values import split_name_parts
from guardgraph.guards.word_lists import load_word_lists

_ISO = re.compile(r"(\d{4}-\d{2}-\d{2})[T ](\d{2}:\d{2})")
_ZULU = re.compile(r"(\d{2}:\d{2}(?::\d{2})?)\s?Z\b")
_OFFSET = re.compile(r"\d{2}:\d{2}(?::\d{2})?\s?[+-]\d{2}:?\d{2}\b")
_WORD = re.compile(r"\w[\w'’]*")
_CLAUSE = re.compile(r"[,.;:!?\n]\s")
_MINUS: Final = "-\u2212\u2013"
_IDS: Final = frozenset({"id", "number", "no", "code", "ref"})
"""Last words of the names of arguments whose numbers count nothing."""
_MONEY: Final = frozenset(load_word_lists("tools")["money"].split())
"""Words in the names of arguments that are amounts of money."""
_SHARES: Final = frozenset(load_word_lists("tools")["shares"].split())
"""Words in the names of arguments that are shares of a hundred."""
_COMMANDS: Final = frozenset(load_word_lists("tools")["commands"].split())
"""Verbs before a number that is an amount and no label: "pay 900", and not "page 900"."""
_EXCEPTIONS: Final = re.compile(
    rf"\b(?:(?:{'|'.join(load_word_lists('tools')['wholes'].split())})\b.*\bbut"
    rf"|{'|'.join(load_word_lists('tools')['exceptions'])})\b"
)
"""Words behind which stands what is meant by no means: "anyone but Ada", "rather than Ada"."""
_KINDS_OF_IDS: Final = frozenset(map(stem, _IDS))
_BOUNDS: Final = {
    mark: {of: frozenset(words.split()) for of, words in load_word_lists("tools")["bounds"][mark].items()}
    for mark in ("less", "more")
}
_BETWEEN = re.compile(
    rf"\b(?:{'|'.join(load_word_lists('tools')['bounds']['between'].split())})\s+(\S.{{0,60}}?\s\w+\s+)?$",
    re.IGNORECASE,
)
_SIZED: Final = ("number", "money", "percent", "quantity")


def read_values(text: str) -> tuple[Value, ...]:
    """Return the values of a text that may license values: those that are not denied, with their signs."""
    plain = _ZULU.sub(r"\1 UTC", _ISO.sub(r"\1 \2", text))
    held = (_read_bound(_read_verb(_read_sign(value, plain)), plain) for value in scan_values(plain))
    return tuple(value for value in held if not (is_denied(plain, value.start) or _is_fraction(value, plain)))


def _read_verb(value: Value) -> Value:
    """Return a value without the word before it as its kind, where that is a verb: "pay 900"."""
    return value._replace(nouns=frozenset(noun for noun in value.nouns if noun.removesuffix(" #") not in _COMMANDS))


def _read_bound(value: Value, text: str) -> Value:
    """Return a value with the bound that it is: an end of "between 100 and 900", "before May 13"."""
    if value.mark in _BOUNDS:
        return value
    before = _CLAUSE.split(text[max(value.start - 80, 0) : value.start])[-1]
    if (range_before := _BETWEEN.search(before)) is not None:
        return value._replace(mark="less" if range_before[1] else "more")
    words = {word.casefold() for word in _WORD.findall(before)[-2:]}
    is_moment = value.kind in ("date", "time")
    marks = [mark for mark, bound in _BOUNDS.items() if is_moment and not words.isdisjoint(bound["words"])]
    return value._replace(mark=marks[0]) if marks else value


def _read_sign(value: Value, text: str) -> Value:
    before = text[: value.start]
    if value.kind not in _SIZED or before[-1:] not in _MINUS or before[-2:-1].isalnum() or not before:
        return value
    return value._replace(amounts=tuple(-amount for amount in value.amounts))


def is_denied(text: str, at: int) -> bool:
    """Say whether what stands at a place stands behind a negation in its clause: "not 900", "nobody but Ada"."""
    words = _list_words_before(text, at)
    is_excepted = _EXCEPTIONS.search(" ".join(words)) is not None
    return is_excepted or not load_negations().isdisjoint(words) or any(word.endswith("n't") for word in words)


def is_named_place(text: str, at: int, key: str) -> bool:
    """Say whether what stands at a place stands behind what an argument of this name is of: "file 13" of `file_id`."""
    kinds = tuple(part.lower() for part in split_name_parts(key) if part.lower() not in _IDS and len(part) > 1)
    return bool(kinds) and "".join(_list_words_before(text, at)[-1:]).startswith(kinds) and not is_denied(text, at)


def is_code(each: Value, code: str) -> bool:
    """Say whether a value of a text is a bare number, written like a code."""
    return each.kind == "number" and each.text == code and all(noun.endswith("#") for noun in each.nouns)


def _list_words_before(text: str, at: int) -> list[str]:
    """Return the words of the clause before a place, without those that only say that an id follows: "order no W12"."""
    clause = _CLAUSE.split(text[max(at - 80, 0) : at])[-1]
    words = [word.casefold().replace("’", "'") for word in _WORD.findall(clause)]
    while words and words[-1] in _IDS:
        words.pop()
    return words


def _is_fraction(value: Value, text: str) -> bool:
    """Say whether a number is a part of another one: 900 of "1/900"."""
    before, behind = text[max(value.start - 2, 0) : value.start], text[value.end : value.end + 2]
    is_part = (before[-1:] == "/" and before[:1].isdecimal()) or (behind[:1] == "/" and behind[1:].isdecimal())
    return value.kind in _SIZED and is_part


def is_id_name(key: str) -> bool:
    """Say whether the numbers under a name tell things apart and count nothing."""
    return any(stem(part.lower()) in {*_KINDS_OF_IDS, "ticket"} for part in [*split_name_parts(key)][-1:])


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
    return {stem(part.lower()) for key in keys for part in split_name_parts(key)} - _KINDS_OF_IDS


def _read_named(key: str, value: float) -> Value | None:
    """Return a number as its name says that it is counted, None if it is a plain one: 30 of `duration_minutes`."""
    unit = _name_unit(key)
    texts = [write_json_text({key: abs(value)}), *([f"{write_json_text(abs(value))} {unit}"] if unit else [])]
    read = [found for text in texts for found in scan_values(text, "en")[-1:] if found.kind in _SIZED]
    if (meant := next((each for each in read if each.kind != "number"), None)) is None:
        return None
    return meant._replace(amounts=tuple(amount if value >= 0 else -amount for amount in meant.amounts))


def _name_unit(key: str) -> str:
    """Return the word in the name of an amount that says what is counted: of `amount_cents` or `gb_amount`."""
    parts = [part.lower() for part in split_name_parts(key)]
    if len(parts) == 2 and parts[1] == "amount" and parts[0] not in _MONEY:
        parts.reverse()
    return parts[-1] if not _MONEY.isdisjoint(parts[:-1]) and parts[-1] not in _MONEY | _SHARES else ""


def licenses_number(values: Sequence[Value], value: float, key: str) -> bool:
    """Say whether one of some values is a number as an argument of this name has it."""
    if is_id_name(key):
        return any(_is_id(each, value, key) for each in values)
    meant = _read_named(key, value)
    if meant is None:
        return any(_is_bare(each, value, key) for each in values)
    return any(
        is_same_value(
            _read_first(meant), _read_first(each)._replace(mark=meant.mark if _fits_bound(each, key) else each.mark)
        )
        for each in values
    )


def _is_bare(each: Value, value: float, key: str) -> bool:
    """Say whether a value of a text is a plain number, or an amount or a share where the key says so, and no label."""
    parts = {part.lower() for part in split_name_parts(key)}
    kinds = {"number", *(["money"] if parts & _MONEY else []), *(["percent"] if parts & _SHARES else [])}
    is_label = any(kind not in map(stem, parts) for kind in _list_kinds(each))
    unit = _name_unit(key)
    is_other = unit and (each.kind != "number" or (each.nouns and stem(unit) not in each.nouns))
    is_meant = each.kind in kinds and not (each.kind == "number" and is_label) and not is_other
    return is_meant and _fits_bound(each, key) and each.amounts[0] == value


def _fits_bound(each: Value, key: str) -> bool:
    """Say whether a value is exact, or a bound that an argument of this name is: 900 of "up to 900" for `max_price`."""
    return each.mark not in _BOUNDS or not _BOUNDS[each.mark]["names"].isdisjoint(map(str.lower, split_name_parts(key)))


def _list_kinds(each: Value) -> list[str]:
    """Return the stems of the words that say which of its kind a number is: "room 12"."""
    return [stem(noun.removesuffix(" #")) for noun in each.nouns if noun.endswith("#")]


def _is_id(each: Value, value: float, key: str) -> bool:
    """Say whether a number of a text counts nothing, and stands behind the name of its kind where the key has one."""
    kinds = _list_kinds_of(key)
    counts = any(not noun.endswith("#") for noun in each.nouns)
    is_own = not kinds or not each.nouns or not (kinds | _KINDS_OF_IDS).isdisjoint(_list_kinds(each))
    return each.kind == "number" and each.mark in ("", "about") and not counts and is_own and each.amounts[0] == value


def licenses_moment(values: Sequence[Value], moment: str, key: str) -> bool:
    """Say whether the date and the time of day of a moment in ISO 8601 are among some values, in the same zone."""
    if _OFFSET.search(moment):
        return False
    wanted = read_values(moment)
    return bool(wanted) and all(
        any(is_same_value(_read_first(each), _read_first(other)) for other in values if _fits_bound(other, key))
        for each in wanted
    )


def _read_first(value: Value) -> Value:
    """Return a value with its first reading, a date with its only one: what a call does may not hang on another."""
    return value._replace(amounts=value.amounts[:1], dates=value.dates if len({*value.dates}) == 1 else ())


def list_amounts(texts: Iterable[Sequence[Value]]) -> list[str]:
    """Return the numbers and amounts among some values, as they are written."""
    return sorted({value.text for values in texts for value in values if value.kind in ("number", "money", "quantity")})
