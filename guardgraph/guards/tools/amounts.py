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
_COMMANDED = re.compile(
    r"(?:^|[,.;:!?\n]\s|\b(?:and|or|please|then|just|also|und|oder|bitte|y|et)\s)\s*[^\W\d]+\s+$", re.IGNORECASE
)
"""A verb before a number: nothing of its clause stands before it but a word that joins or asks."""
_MINUS: Final = "-\u2212\u2013"
_NEAR: Final = 3
"""Words before a number among which a negation denies it."""
_IDS: Final = frozenset({"id", "number", "no", "code", "ref"})
"""Last words of the names of arguments whose numbers count nothing."""
_MONEY: Final = frozenset(load_word_lists("tools")["money"].split())
"""Words in the names of arguments that are amounts of money."""
_SHARES: Final = frozenset(load_word_lists("tools")["shares"].split())
"""Words in the names of arguments that are shares of a hundred."""
_KINDS_OF_IDS: Final = frozenset(map(stem, _IDS))
_SIZED: Final = ("number", "money", "percent", "quantity")


def read_values(text: str) -> tuple[Value, ...]:
    """Return the values of a text that may license values: those that are not denied, with their signs."""
    plain = _ZULU.sub(r"\1 UTC", _ISO.sub(r"\1 \2", text))
    held = (_read_verb(_read_sign(value, plain), plain) for value in scan_values(plain))
    return tuple(value for value in held if not _is_denied(value, plain))


def _read_verb(value: Value, text: str) -> Value:
    """Return a value without the word before it as its kind, where that is the verb of its clause: "pay 900"."""
    if value.kind != "number" or not _COMMANDED.search(text[max(value.start - 80, 0) : value.start]):
        return value
    return value._replace(nouns=frozenset(noun for noun in value.nouns if not noun.endswith("#")))


def _read_sign(value: Value, text: str) -> Value:
    before = text[: value.start]
    if value.kind not in _SIZED or before[-1:] not in _MINUS or before[-2:-1].isalnum() or not before:
        return value
    return value._replace(amounts=tuple(-amount for amount in value.amounts))


def _is_denied(value: Value, text: str) -> bool:
    """Say whether a number stands behind a negation in its clause: "not 900"."""
    if value.kind not in _SIZED:
        return False
    clause = _CLAUSE.split(text[max(value.start - 80, 0) : value.start])[-1]
    near = [word.casefold().replace("’", "'") for word in _WORD.findall(clause)][-_NEAR:]
    return not load_negations().isdisjoint(near) or any(word.endswith("n't") for word in near)


def is_id_name(key: str) -> bool:
    """Say whether the numbers under a name tell things apart and count nothing."""
    return [part.lower() for part in split_name_parts(key)][-1:] in [[name] for name in (*_IDS, "ticket")]


def licenses_number(values: Sequence[Value], value: float, key: str) -> bool:
    """Say whether one of some values is a number as an argument of this name has it."""
    if is_id_name(key):
        return any(_is_id(each, value, key) for each in values)
    wanted = scan_values(write_json_text({key: abs(value)}), "en")[-1:]
    meant = wanted[0] if wanted and wanted[0].kind in _SIZED else None
    if meant is None or meant.kind == "number":
        return any(_is_bare(each, value, key) for each in values)
    meant = meant._replace(amounts=tuple(amount if value >= 0 else -amount for amount in meant.amounts))
    return any(is_same_value(_read_first(meant), _read_first(each)) for each in values)


def _is_bare(each: Value, value: float, key: str) -> bool:
    """Say whether a value of a text is a plain number, or an amount or a share where the key says so, and no label."""
    parts = {part.lower() for part in split_name_parts(key)}
    kinds = {"number", *(["money"] if parts & _MONEY else []), *(["percent"] if parts & _SHARES else [])}
    is_label = any(kind not in map(stem, parts) for kind in _list_kinds(each))
    is_meant = each.kind in kinds and not (each.kind == "number" and is_label)
    return is_meant and each.mark in ("", "about") and each.amounts[0] == value


def _list_kinds(each: Value) -> list[str]:
    """Return the stems of the words that say which of its kind a number is: "room 12"."""
    return [stem(noun.removesuffix(" #")) for noun in each.nouns if noun.endswith("#")]


def _is_id(each: Value, value: float, key: str) -> bool:
    """Say whether a number of a text counts nothing, and stands behind the name of its kind where the key has one."""
    kinds = {stem(part.lower()) for part in split_name_parts(key) if part.lower() not in _IDS}
    counts = any(not noun.endswith("#") for noun in each.nouns)
    is_own = not kinds or not each.nouns or not (kinds | _KINDS_OF_IDS).isdisjoint(_list_kinds(each))
    return each.kind == "number" and each.mark in ("", "about") and not counts and is_own and each.amounts[0] == value


def licenses_moment(values: Sequence[Value], moment: str) -> bool:
    """Say whether the date and the time of day of a moment in ISO 8601 are among some values, in the same zone."""
    if _OFFSET.search(moment):
        return False
    wanted = read_values(moment)
    return bool(wanted) and all(
        any(is_same_value(_read_first(each), _read_first(other)) for other in values) for each in wanted
    )


def _read_first(value: Value) -> Value:
    """Return a value with its first reading: what a call does may not hang on another one."""
    return value._replace(amounts=value.amounts[:1])


def list_amounts(texts: Iterable[Sequence[Value]]) -> list[str]:
    """Return the numbers and amounts among some values, as they are written."""
    return sorted({value.text for values in texts for value in values if value.kind in ("number", "money", "quantity")})
