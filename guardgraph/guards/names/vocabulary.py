"""Which capitalised words of an answer are ordinary ones: of grammar, of frames and labels, of a list of a language."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Collection, Sequence
from functools import cache
from typing import Any, Final

from guardgraph.grounding.words import LISTED_LANGUAGES, is_lowercase_word, load_stop_words
from guardgraph.guards.languages.tables import LANGUAGES
from guardgraph.guards.names.words import NameWord
from guardgraph.guards.word_lists import load_word_lists
from guardgraph.plain.letters import normalise_to_nfkc

_LISTS: Final[dict[str, Any]] = load_word_lists("names")
_FRAMES, _ACRONYMS, _CAPITALS, _NAMES, _MORE = (
    frozenset(_LISTS[name].split()) for name in ("frames", "acronyms", "capital_words", "name_words", "more_words")
)
_ENGLISH: Final = frozenset(" ".join(load_word_lists("number_grammar")["function_words"]).split())
_SHORT: Final = 4
"""Letters of a function word in another language, at most: longer ones of the lists are often nouns."""

WORDS_LISTED: Final = tuple((language,) for language in LISTED_LANGUAGES)
"""What an answer's languages are where the opening word of a sentence can be told from a name."""

_LABEL: Final = re.compile(
    r"^[ \t>]*+#{1,6}[^\n]++"
    r"|^[ \t>+•-]*+(?:\*[ \t]++)?(?:\d{1,3}[.)][ \t]*+)?(?:\*\*|__)[^*_\n]{1,80}(?:\*\*|__)[ \t]*+:?"
    r"|(?:^|(?<=[.!?;(|] )|(?<=[(|]))[ \t>*+•-]*+(?:\d{1,3}[.)][ \t]*+)?[^\n:.!?|*()]{1,80}:(?=[\s*]|$)",
    re.MULTILINE,
)
"""A heading, a bold label, what stands before a colon: each labels what follows and says nothing of it."""


def is_ordinary_word(word: NameWord, languages: tuple[str, ...]) -> bool:
    """Say whether a capitalised word is no name wherever it stands: of grammar, of a frame, of everyday use.

    Args:
        word: of an answer.
        languages: those that the answer may be in.
    """
    letters = word.letters
    if word.is_acronym and (letters in _ACRONYMS or letters in _CAPITALS):
        return letters in _ACRONYMS
    if letters in _FRAMES or letters in _list_compass_words(languages):
        return True
    return letters in _list_function_words(languages) and letters not in _NAMES


def is_known_word(word: NameWord) -> bool:
    """Say whether a language of which the words are kept has a word in lower case."""
    return word.letters in _MORE or any(is_lowercase_word(word.text, language) for language in LISTED_LANGUAGES)


def find_label_words(text: str, found: Sequence[NameWord], wanted: Collection[int]) -> set[int]:
    """Return which of the wanted words stand in a heading, a bold label or before a colon.

    Args:
        text: an answer.
        found: its words.
        wanted: indices of some of them.
    """
    if not any(sign in text for sign in "#*_:"):
        return set()
    spans = [match.span() for match in _LABEL.finditer(normalise_to_nfkc(text))]
    starts = [start for start, _ in spans]
    places = ((at, bisect_right(starts, found[at].start) - 1) for at in wanted)
    return {at for at, place in places if place >= 0 and found[at].start < spans[place][1]}


@cache
def list_name_endings(languages: tuple[str, ...]) -> frozenset[str]:
    """Return the endings that forms of one name have in languages, none where they are not known."""
    if languages == LANGUAGES:
        languages = ("en",)  # nothing tells the language, as of few words; those of all would fit by chance
    known = [_LISTS["endings"].get(language, "").split() for language in languages]
    return frozenset().union(*known) if known and all(known) else frozenset()


@cache
def _list_compass_words(languages: tuple[str, ...]) -> frozenset[str]:
    return frozenset(word for language in languages for word in _LISTS["compass"].get(language, "").split())


@cache
def _list_function_words(languages: tuple[str, ...]) -> frozenset[str]:
    others = (load_stop_words(language) for language in languages if language != "en")
    return (_ENGLISH if "en" in languages else frozenset()) | frozenset(
        word for words in others for word in words if len(word) <= _SHORT
    )
