"""What counts as the same text and as a word, in any script."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from hashlib import sha256
from itertools import chain, starmap
from typing import NamedTuple

from guardgraph.plain.letters import is_unspaced_letter, normalise_to_nfkc
from guardgraph.plain.memory import remember_by_text

_APOSTROPHES = "'’ʼ＇"
_NUMBER_POINTS = ".,"
_WORD = re.compile(r"um*|[wd][wdm]*(?:(?:a|(?<=d)p(?=d))[wd][wdm]*)*")
"""A word in the letters of `_find_letter_kind`: apostrophes hold words together, points only digits."""

_ASCII_WORD = re.compile(r"\w+(?:(?:'|(?<=\d)[.,](?=\d))\w+)*", re.ASCII)
"""The same in a text of ASCII characters alone."""


class Word(NamedTuple):
    """A word of a text."""

    key: str
    """What is compared: case, compatibility forms, apostrophes and invisible characters are gone."""
    start: int
    end: int


@remember_by_text(texts=64, chars=4000)
def normalise_spaces(text: str) -> str:
    """Return a text with every run of white space as one blank and none at its ends."""
    return " ".join(text.split())


def split_words(text: str) -> list[Word]:
    """Read a text as words; punctuation stands between them.

    Letters, digits, accents and underscores make a word, and so do the parts that an apostrophe joins
    (``don't``) and the digits of one number (``3.4``). In scripts without blanks every character is a word.

    Returns:
        The words in order, with their places in the text.
    """
    return list(_split_words_of_text(text))


@remember_by_text(texts=64, chars=1000)
def _split_words_of_text(text: str) -> tuple[Word, ...]:
    if not text.isascii():
        spans = [match.span() for match in _WORD.finditer("".join(map(_find_letter_kind, text)))]
        return tuple(Word(key, start, end) for start, end in spans if (key := _fold_word(text[start:end])))
    found = [(match[0], *match.span()) for match in _ASCII_WORD.finditer(text.lower())]
    if "'" in text or "_" in text:
        found = [(key, start, end) for word, start, end in found if (key := _fold_word(word))]
    return tuple(starmap(Word, found))


def list_word_keys(text: str) -> list[str]:
    """Return what is compared of the words of a text, in order: the keys of `split_words`."""
    return list(_list_keys_of_text(text))


@remember_by_text(texts=64, chars=1000)
def _list_keys_of_text(text: str) -> tuple[str, ...]:
    return tuple(chain.from_iterable(map(_list_keys_of_part, text.split())))


@remember_by_text(texts=4096, chars=24)
def _list_keys_of_part(part: str) -> tuple[str, ...]:
    """No word goes across white space, and what stands between it turns up again and again."""
    if part.isascii() and part.isalnum():
        return (part.lower(),)
    return tuple(word.key for word in split_words(part))


def has_phrase(text: str, phrase: str) -> bool:
    """Say whether the words of a phrase stand in a text, one after the other, as whole words."""
    return _join_word_keys(phrase) in _join_word_keys(text)


@remember_by_text(texts=64, chars=1000)
def _join_word_keys(text: str) -> str:
    # A key holds no line break, so line breaks can mark where words begin and end.
    return "".join([f"\n{key}\n" for key in _list_keys_of_text(text)])


@lru_cache(maxsize=4096)
def _find_letter_kind(char: str) -> str:
    category = unicodedata.category(char)
    if category[0] == "M" or category == "Cf":
        return "m"
    if char in _APOSTROPHES:
        return "a"
    if char in _NUMBER_POINTS:
        return "p"
    if char.isdecimal():
        return "d"
    if not char.isalnum() and char != "_":
        return " "
    return "u" if is_unspaced_letter(char) else "w"


def _fold_word(word: str) -> str:
    if word.isascii():
        return word.replace("'", "").lower().strip("_")
    visible = (
        char for char in normalise_to_nfkc(word) if char not in _APOSTROPHES and unicodedata.category(char) != "Cf"
    )
    return "".join(visible).casefold().strip("_")


@remember_by_text(texts=64, chars=4000)
def hash_normalised_text(text: str) -> str:
    """Return a text's identity: 12 hexadecimal digits of the SHA-256 of its normalised form."""
    return sha256(normalise_spaces(text).encode("utf-8", "surrogatepass")).hexdigest()[:12]
