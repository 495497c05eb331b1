"""Names: which an answer has that nothing supports.

A name is a capitalised word inside a sentence, or an acronym. It is supported by a text that has it, in another form or
said otherwise.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Sequence
from functools import cache
from typing import Final

from guardgraph.guards.names.places import places
from guardgraph.guards.names.support import Support, initials, joined, said
from guardgraph.guards.names.words import Word, words
from guardgraph.locales.calendar import months, weekdays
from guardgraph.locales.language import language_of

__all__ = ["unsupported_names"]

NOT_CHECKED: Final = frozenset({"de", "ar", "hi", "th", "zh", "ja", "ko"})
"""Languages that write every noun with a capital, or have no capitals."""

_ROMAN = re.compile(r"[IVXL]+")
"""Numerals, which are numbers; "I" is also a pronoun."""


def unsupported_names(
    answer: str, *, cited: Collection[str], beside: Collection[str] = (), read: Iterable[str] = ()
) -> list[str]:
    """Find the names of an answer that no text supports.

    Args:
        answer: any text, also what a model wrote.
        cited: the texts that the answer cites. In another language than theirs it is not checked.
        beside: what supports a name beside them: the question, known names.
        read: whatever was read; a word that it has in lower case is no name. It is asked last.

    Returns:
        The words, as written, each once, sorted; none where the answer's language is not checked.
    """
    found = words(answer)
    left = {at for at, word in enumerate(found) if _can_be_name(word)}
    if not left:
        return []
    languages = _languages(found, cited)
    if languages is None:
        return []
    support = Support((*cited, *beside), languages)
    left = {at for at in left if support.stems.isdisjoint(found[at].stems) and found[at].key not in _days(languages)}
    for supported in _OTHERWISE:
        if not left:
            return []
        left -= supported(found, support)
    common = frozenset[str]().union(*(said(text).common for text in (*cited, *read))) if left else frozenset()
    return sorted({found[at].text for at in left if found[at].key not in common})


def _can_be_name(word: Word) -> bool:
    if word.opens or not word.is_capitalised or not word.letters.isalpha():
        return False
    return not word.is_title and not _ROMAN.fullmatch(word.text)


def _languages(answer: Sequence[Word], cited: Iterable[str]) -> tuple[str, ...] | None:
    """Return the languages in which an answer is read, None where it is not checked.

    Names tell nothing of a language. Where nothing tells the answer's, it is that of its sources.
    """
    sources = {language for text in cited if (language := language_of(text))}
    own = language_of(" ".join(word.text for word in answer if not word.is_capitalised))
    languages = {own} if own else sources
    if languages & NOT_CHECKED or (own and sources and own not in sources):
        return None
    return tuple(sorted(languages)) or ("en",)


@cache
def _days(languages: tuple[str, ...]) -> frozenset[str]:
    """Return the months and weekdays, as keys: they are facts."""
    named = {name for language in languages for names in (months, weekdays) for name in names(language)}
    return frozenset(word.key for name in named for word in words(name))


def _by_letters(found: Sequence[Word], support: Support) -> set[int]:
    """The same letters, joined or split otherwise."""
    return _all_of(span for span in joined(found) if span[2] in support.joined)


def _by_initials(found: Sequence[Word], support: Support) -> set[int]:
    """An acronym whose expansion is said, the expansion of an acronym, a letter that begins a name."""
    acronyms = {
        at
        for at, word in enumerate(found)
        if (word.is_acronym and (word.letters in support.initials or word.key in support.initials))
        or (len(word.letters) == 1 and word.letters in support.capitals)
    }
    return acronyms | _all_of(span for span in initials(found) if span[2] in support.acronyms)


def _by_first_letter(found: Sequence[Word], support: Support) -> set[int]:
    """A name of which the first letter is said, before the same name: "J. Rowling" for Joanne Rowling."""
    supported: set[int] = set()
    for at, word in enumerate(found):
        for name in found[at + 1 : at + 4]:
            if name.apart or not name.is_capitalised:
                break
            if (word.letters[:1], name.stem) in support.shortened:
                supported.add(at)
    return supported


def _by_place(found: Sequence[Word], support: Support) -> set[int]:
    """A territory that is said by another name, its code or its adjective."""
    return _all_of(
        (first, end, "") for first, end, codes in places(found, support.languages) if support.places & {*codes}
    )


def _all_of(spans: Iterable[tuple[int, int, str]]) -> set[int]:
    return {at for first, end, _ in spans for at in range(first, end)}


_OTHERWISE: Final[tuple[Callable[[Sequence[Word], Support], set[int]], ...]] = (
    _by_letters,
    _by_initials,
    _by_first_letter,
    _by_place,
)
