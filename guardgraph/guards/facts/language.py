"""In which language the facts of a text are read: that of the text where enough tells it, else English."""

from __future__ import annotations

import re
from functools import cache
from typing import Final

from guardgraph.languages.calendar import load_month_names
from guardgraph.languages.language import detect_language
from guardgraph.languages.numbers import load_magnitude_words, load_number_words
from guardgraph.languages.units import load_unit_names
from guardgraph.languages.words import load_stop_words

_LATIN: Final = frozenset({"de", "es", "fr", "it", "pt", "nl", "pl", "cs", "ro", "sv", "tr", "vi"})

_AROUND: Final = ".,;:!?()[]«»\"'“”„¿¡"

_READ: Final = 1_000
"""Characters of a text that tell its language, as in `language_of`."""

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
