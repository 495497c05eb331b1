"""The words that a language writes in lower case, where a list of them is kept."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Final

LISTED_LANGUAGES: Final = ("en",)
"""Languages of which the words are kept, as ISO 639-1 codes."""

_DATA: Final = Path(__file__).parent / "data"
_HEAD: Final = 2
"""Letters by which the words of a file are put together, a line for each; "-" stands for these letters alone."""


def is_lowercase_word(word: str, language: str) -> bool:
    """Say whether a language has a word in lower case, as a list of 65,000 (English) has it.

    Args:
        word: in any case.
        language: one of `LISTED_LANGUAGES`; another one has no words.
    """
    lower = word.lower()
    rest = lower[_HEAD:] or "-"
    return len(lower) >= _HEAD and f" {rest} " in _load_words_by_head(language).get(lower[:_HEAD], "")


@cache
def _load_words_by_head(language: str) -> Mapping[str, str]:
    """Read the words as one text for each head: as objects of their own they would take ten times the memory."""
    if language not in LISTED_LANGUAGES:
        return {}
    lines = (_DATA / f"words_{language}.txt").read_text("ascii").splitlines()
    return {line[:_HEAD]: f"{line[_HEAD:]} " for line in lines}
