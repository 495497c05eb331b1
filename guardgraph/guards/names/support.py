"""What texts say: the words of each, and the phrases that are looked into where a word is not found."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import chain, pairwise
from typing import Final, NamedTuple

from guardgraph.guards.names.places import find_territory_names
from guardgraph.guards.names.vocabulary import list_name_endings
from guardgraph.guards.names.words import NameWord, split_name_words, tell_lowercase_language
from guardgraph.plain.memory import remember_by_text

KNOWN_TEXTS: Final = 256
KNOWN_TEXT_CHARS: Final = 2500
"""How many texts are kept with their words, and how long each may be."""

MOST_INITIALS: Final = 8
"""Letters that initials have at most."""

MOST_PHRASE_WORDS: Final = 2 * MOST_INITIALS
"""Words of a phrase of which initials are made, at most."""

MOST_JOINED: Final = 3
"""Words that are compared as one, at most."""

_MOST_FIRST_LETTERS: Final = 3
"""Given names of which only the first letters are said, at most."""

_LINK_LETTERS: Final = 4
"""Letters of a small word that initials may leave out, at most: of, and, para."""

_FEWEST_COMMON: Final = 3
"""Initials of words without capitals, at least: SLA, service level agreement. Fewer would fit by chance."""


SHORT_LETTERS: Final = 3
"""Letters that a short form of a word has, at least: Lib Dems."""

_MOST_PAIRS: Final = 20
"""Names of two words that begin alike."""


class NameSources(NamedTuple):
    """The words of a text."""

    forms: frozenset[str]
    common: frozenset[str]
    """Those that stand in lower case."""
    language: str


@remember_by_text(texts=KNOWN_TEXTS, chars=KNOWN_TEXT_CHARS)
def read_supporting_words(text: str, endings: frozenset[str] = frozenset()) -> NameSources:
    """Read which words a text has, with the endings of names in a language."""
    found = split_name_words(text)
    distinct = {(word.letters, word.key): word for word in found}
    return NameSources(
        frozenset(form for word in distinct.values() for form in word.list_forms(endings)),
        frozenset(word.key for word in found if not word.is_capitalised),
        tell_lowercase_language(found),
    )


class NameSupport:
    """What texts say of names.

    Args:
        texts: what was cited, and whatever else supports a name.
        languages: those in which territories are named.
    """

    def __init__(self, texts: Collection[str], languages: tuple[str, ...]) -> None:
        self._texts = texts
        self.languages = languages
        self.endings = list_name_endings(languages)

    @cached_property
    def word_forms(self) -> frozenset[str]:
        """The words, by what their forms have in common."""
        return frozenset[str]().union(*(read_supporting_words(text, self.endings).forms for text in self._texts))

    @cached_property
    def _text_words(self) -> list[tuple[NameWord, ...]]:
        return [split_name_words(text) for text in self._texts]

    @cached_property
    def word_joins(self) -> frozenset[str]:
        """The letters of every word, and of two or three in a row."""
        return frozenset(text for found in self._text_words for _, _, text in join_name_words(found))

    @cached_property
    def name_pairs(self) -> Mapping[tuple[str, str], list[tuple[str, str]]]:
        """Every two capitalised words that stand together, by the letters with which each begins."""
        pairs: dict[tuple[str, str], list[tuple[str, str]]] = {}
        for one, other in (pair for found in self._text_words for pair in pairwise(found)):
            if one.is_capitalised and other.is_capitalised and not other.apart:
                letters = one.letters[:SHORT_LETTERS], other.letters[:SHORT_LETTERS]
                pairs.setdefault(letters, []).append((one.key, other.key))
        return {letters: list(dict.fromkeys(each))[:_MOST_PAIRS] for letters, each in pairs.items()}

    @cached_property
    def acronyms(self) -> frozenset[str]:
        """The acronyms."""
        capitals = [word for found in self._text_words for word in found if word.is_acronym]
        return frozenset(text for word in capitals for text in (word.letters, word.key))

    @cached_property
    def phrase_initials(self) -> frozenset[str]:
        """What the acronyms of its phrases would be."""
        phrases = (text for found in self._text_words for _, _, text in list_name_initials(found))
        words = (word.inner_capitals for found in self._text_words for word in found)  # PDB of PodDisruptionBudget
        return frozenset(chain(phrases, (letters for letters in words if len(letters) > 1)))

    def has_phrase(self, beginnings: Sequence[str]) -> bool:
        """Say whether words begin so, one behind the other."""
        return any(
            all(word.letters.startswith(part) for word, part in zip(words, beginnings, strict=True))
            and not any(word.apart for word in words[1:])
            for found in self._text_words
            for words in zip(*(found[at:] for at in range(len(beginnings))), strict=False)
        )

    @cached_property
    def capital_letters(self) -> frozenset[str]:
        """The first letters of capitalised words."""
        return frozenset(word.letters[:1] for found in self._text_words for word in found if word.is_capitalised)

    @cached_property
    def names_by_initial(self) -> frozenset[tuple[str, str]]:
        """First letters of names with the next name: "J. K. Rowling" has (j, rowling) and (k, rowling)."""
        found: set[tuple[str, str]] = set()
        for each in self._text_words:
            letters = ""
            for word in each:
                if word.is_capitalised and (len(word.letters) == 1 or "." in word.text):
                    letters = (letters + word.letters)[-_MOST_FIRST_LETTERS:]
                else:
                    found |= {(letter, word.name_stem) for letter in letters if word.is_capitalised}
                    letters = ""
        return frozenset(found)

    @cached_property
    def territory_codes(self) -> frozenset[str]:
        """The codes of the territories that are named."""
        return frozenset(
            code
            for found in self._text_words
            for _, _, codes in find_territory_names(found, self.languages)
            for code in codes
        )


def split_mixed_acronym(word: NameWord) -> list[str]:
    """Return the beginnings of words that an acronym with small letters is made of: id and p of IdP; else none."""
    parts = _BEGINNING.findall(word.text)
    is_mixed = word.is_acronym and word.text.isalpha() and len(word.text) <= MOST_INITIALS and len(parts) > 1
    return [part.lower() for part in parts] if is_mixed and len(parts) < len(word.text) else []


_BEGINNING: Final = re.compile(r"[A-Z][a-z]*+")


def join_name_words(found: Sequence[NameWord], starts: Iterable[int] | None = None) -> Iterator[tuple[int, int, str]]:
    """Yield every word and every two or three in a row as one.

    Args:
        found: the words of a text.
        starts: the first words of those that are wanted; all where it is None.

    Yields:
        The first index, the one behind the last, and the letters.
    """
    for first in range(len(found)) if starts is None else starts:
        letters = ""
        for end in range(first + 1, min(first + MOST_JOINED, len(found)) + 1):
            word = found[end - 1]
            yield first, end, letters + word.key
            letters += word.letters


def list_name_initials(
    found: Sequence[NameWord], starts: Iterable[int] | None = None
) -> Iterator[tuple[int, int, str]]:
    """Yield the acronyms that phrases would have: with small words (DoD), without (NASA), with all capitals (OIDC).

    Args:
        found: the words of a text.
        starts: the first words of the phrases that are wanted; all where it is None.

    Yields:
        The first index, the one behind the last, and the letters.
    """
    for first in range(len(found)) if starts is None else starts:
        begun = found[first]
        every = capital = begun.letters[:1]
        inner = begun.inner_capitals
        is_name = begun.is_capitalised
        for end in range(first + 2, min(first + MOST_PHRASE_WORDS, len(found)) + 1):
            word = found[end - 1]
            if word.apart or len(every) == MOST_INITIALS:
                break
            every += word.letters[:1]
            if word.is_capitalised:
                capital += word.letters[:1]
                inner += word.inner_capitals
            elif len(word.letters) > _LINK_LETTERS:
                is_name = False
            if is_name and word.is_capitalised:
                yield first, end, capital
                if inner != capital:
                    yield first, end, inner
            if len(every) >= _FEWEST_COMMON or (is_name and word.is_capitalised):
                yield first, end, every
