"""The tables of languages: for each one file made by a script from kept locale data, and one written by hand.

``made/LANGUAGE.json`` has calendars, units, currencies, magnitudes, number words and stop words, so that a verdict
never depends on which version of a library is installed. ``hand/LANGUAGE.json`` has what no library keeps: function
words, words that bound an amount, negations, opposites. No word set stands in code.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any, Final

_HERE: Final = Path(__file__).parent

LANGUAGES: Final = tuple(sorted(path.stem for path in (_HERE / "hand").glob("*.json")))
"""The languages of the tables, as ISO 639-1 codes."""


@cache
def load_hand_table(language: str) -> Mapping[str, Any]:
    """Return what is written by hand of a language; nothing for a code that is not in `LANGUAGES`."""
    return _read_table("hand", language)


@cache
def load_made_table(language: str) -> Mapping[str, Any]:
    """Return what was made of kept locale data of a language; nothing for a code that is not in `LANGUAGES`."""
    return _read_table("made", language)


def _read_table(folder: str, language: str) -> Mapping[str, Any]:
    if language not in LANGUAGES:
        return {}
    table: Mapping[str, Any] = json.loads((_HERE / folder / f"{language}.json").read_text("utf-8"))
    return table


@cache
def load_names(language: str, key: str) -> Mapping[str, Any]:
    """Return what names mean in a language, by a key of its tables: those that are made, and those written by hand."""
    return {**load_made_table(language).get(key, {}), **load_hand_table(language).get(key, {})}


@cache
def list_hand_words(language: str, key: str) -> frozenset[str]:
    """Return the words that stand in a hand-written table under a key; none where it has no such key."""
    return frozenset(load_hand_table(language).get(key, "").split())


@cache
def load_listed_words() -> Mapping[str, str]:
    """Return the words that English writes in lower case (SCOWL), those with one head of two letters as one text.

    As objects of their own they would take ten times the memory.
    """
    lines = (_HERE / "words_en.txt").read_text("ascii").splitlines()
    return {line[:2]: f"{line[2:]} " for line in lines}
