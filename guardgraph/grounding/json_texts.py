"""A JSON value as a text that a checker of texts can read: one line for each leaf, with what its keys say."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from decimal import Decimal
from typing import Final

from guardgraph.grounding.languages import list_hand_words, load_names
from guardgraph.grounding.words import DEFAULT_LANGUAGE
from guardgraph.plain.json import JsonValue

_KEY_WORD: Final = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+|[^\W\d_A-Za-z]+")


def write_json_text(value: JsonValue, ignore: Collection[str] = ()) -> str:
    """Return a JSON value as lines: of ``{"eta_minutes": 45}`` the line "eta minutes: 45 minutes"."""
    return "\n".join(_write_lines(value, (), frozenset(ignore)))


def _write_lines(value: JsonValue, keys: tuple[str, ...], ignore: frozenset[str]) -> Iterator[str]:
    if isinstance(value, dict):
        for key, each in value.items():
            if key not in ignore:
                yield from _write_lines(each, (*keys, key), ignore)
    elif isinstance(value, list):
        for each in value:
            yield from _write_lines(each, keys, ignore)
    elif value is not None and value != "":
        words = [word for key in keys for word in _KEY_WORD.findall(key)]
        said = ("yes" if value else "no") if isinstance(value, bool) else str(value)
        if isinstance(value, int | float) and not isinstance(value, bool) and (unit := _find_unit(words)):
            said = f"{said} {unit}"
        elif isinstance(value, int | float) and not isinstance(value, bool) and _is_share(words) and 0 <= value <= 1:
            said = f"{said} ({Decimal(str(value)) * 100:f}%)"
        label = " ".join(word if word.isupper() else word.lower() for word in words)
        yield f"{label}: {said}" if label else said


def _is_share(words: list[str]) -> bool:
    return bool(words) and words[-1].lower() in list_hand_words(DEFAULT_LANGUAGE, "rates")


def _find_unit(words: list[str]) -> str:
    """Return the unit that ends a key: of "price_usd" "USD", of "weightKg" "kg", of "share_percent" "percent"."""
    if not words:
        return ""
    last = words[-1]
    if last.upper() in load_names(DEFAULT_LANGUAGE, "currencies") and len(last) == 3:
        return last.upper()
    is_unit = last.lower() in load_names(DEFAULT_LANGUAGE, "units") or last.lower() in list_hand_words("en", "percent")
    is_unit = is_unit and last.lower() not in list_hand_words(DEFAULT_LANGUAGE, "no_units")
    return last.lower() if is_unit else ""
