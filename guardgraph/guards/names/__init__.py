"""Names: which an answer has that nothing supports.

A name is a capitalised word inside a sentence, or an acronym. It is supported by a text that has it, in another form or
said otherwise.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import pairwise, takewhile
from typing import Final

from guardgraph.grounding.words import is_surely_another_language
from guardgraph.guards.languages.tables import LANGUAGES
from guardgraph.guards.names.places import (
    MOST_TERRITORY_WORDS,
    find_day_names,
    find_holiday_names,
    find_territory_names,
    find_unit_names,
    is_numeral_word,
)
from guardgraph.guards.names.support import (
    MOST_INITIALS,
    MOST_JOINED,
    MOST_PHRASE_WORDS,
    SHORT_LETTERS,
    NameSupport,
    join_name_words,
    list_name_initials,
    read_supporting_words,
    split_mixed_acronym,
)
from guardgraph.guards.names.vocabulary import WORDS_LISTED, find_label_words, is_known_word, is_ordinary_word
from guardgraph.guards.names.words import NameWord, join_lowercase_words, split_name_words, tell_lowercase_language

NOT_CHECKED: Final = frozenset({"de", "ar", "hi", "th", "zh", "ja", "ko"})
"""Languages that write every noun with a capital, or have no capitals."""


_MARKS: Final = '.,;:!?()"“”'
"""Marks beside a word that are no part of it."""

_OTHER_LETTERS: Final = frozenset({"el", "ru", "uk"})
"""Languages with capitals that are not written in Latin letters."""


def find_unsupported_names(
    answer: str, *, cited: Collection[str], beside: Collection[str] = (), read: Iterable[str] = (), within: str = ""
) -> list[str]:
    """Find the names of an answer that no text supports.

    Args:
        answer: any text, also what a model wrote.
        cited: the texts that the answer cites. In another language than theirs it is not checked.
        beside: what supports a name beside them: the question, known names.
        read: whatever was read; a word that it has in lower case is no name. It is asked last.
        within: the text that the answer is a sentence of, and whose language it has; few words tell none surely.

    Returns:
        The words, as written, each once, sorted; none where the answer's language is not checked.
    """
    found, texts = split_name_words(answer), (*cited, *beside)
    # Most names stand in a source as they are, between blanks and marks; reading its words takes much longer.
    parts = set[str]().union(*(text.split() for text in texts))
    written = parts | {part.strip(_MARKS) for part in parts}
    left = {at for at, word in enumerate(found) if word.text not in written and _can_be_name(word)}
    languages = _tell_answer_languages(split_name_words(within) if within else found, cited) if left else None
    if languages is None:
        return []
    left = {at for at in left if not _is_word(found[at], languages)}
    left -= {at for at in find_label_words(answer, found, left) if is_known_word(found[at])}
    if not left:
        return []
    support = NameSupport(texts, languages)
    for cleared in (
        _support_names_by_words,
        _support_names_as_facts,
        _support_names_by_letters,
        _support_names_by_initials,
        _support_names_by_definition,
        _support_names_by_first_letter,
        _support_names_by_short_form,
        _support_names_by_place,
        _support_names_by_ruler,
    ):
        left -= cleared(found, support, left)
        if not left:
            return []
    common = frozenset[str]().union(*(read_supporting_words(text).common for text in (*cited, *read)))
    return sorted({found[at].text for at in left if found[at].key not in common})


def _can_be_name(word: NameWord) -> bool:
    """Say whether a word can be a name, before anything is known of its text: most opening words can not."""
    if not word.is_capitalised or word.is_title or is_numeral_word(word):
        return False
    return not word.opens or (len(word.letters) > 1 and not is_known_word(word))


def _is_word(word: NameWord, languages: tuple[str, ...]) -> bool:
    """Say whether a capitalised word is an ordinary one: what opens a sentence is, unless its language lacks it."""
    if is_ordinary_word(word, languages):
        return True
    if languages not in WORDS_LISTED:
        return word.opens
    return word.sign == ":" and is_known_word(word)


def _tell_answer_languages(answer: Sequence[NameWord], cited: Iterable[str]) -> tuple[str, ...] | None:
    """Return the languages that an answer may be in, all where nothing tells; None where it is not checked.

    Where nothing tells its own, it is that of its sources.
    """
    own, sources = tell_lowercase_language(answer), {read_supporting_words(text).language for text in cited} - {""}
    if own and sources and own not in sources:
        if is_surely_another_language(join_lowercase_words(answer), sources):
            return None
        own = ""
    languages = {own} if own else sources
    if languages & NOT_CHECKED:
        return None
    if not own and sources and sources <= _OTHER_LETTERS and all(word.text.isascii() for word in answer):
        return None
    return tuple(sorted(languages)) or LANGUAGES


def _support_names_by_words(found: Sequence[NameWord], support: NameSupport, left: Collection[int]) -> set[int]:
    """The same word, or another form of it."""
    return {at for at in left if not support.word_forms.isdisjoint(found[at].list_forms(support.endings))}


def _support_names_as_facts(found: Sequence[NameWord], support: NameSupport, left: Collection[int]) -> set[int]:
    """A part of a fact, which is none of names."""
    return (
        find_day_names(found, support.languages)
        | find_day_names(found, ("en",))
        | find_holiday_names(found)
        | find_unit_names(found, support.languages)
    )


def _support_names_by_letters(found: Sequence[NameWord], support: NameSupport, left: Collection[int]) -> set[int]:
    """The same letters, joined or split otherwise."""
    spans = join_name_words(found, _list_span_starts(left, MOST_JOINED))
    return _expand_name_spans(span for span in spans if span[2] in support.word_joins)


def _support_names_by_initials(found: Sequence[NameWord], support: NameSupport, left: Collection[int]) -> set[int]:
    """An acronym whose expansion is said, the expansion of an acronym, a letter that begins a name."""
    acronyms = {
        at
        for at, word in ((at, found[at]) for at in left)
        if (word.is_acronym and (word.letters in support.phrase_initials or word.key in support.phrase_initials))
        or (len(word.letters) == 1 and word.letters in support.capital_letters)
    }
    mixed = {at for at in left if (parts := split_mixed_acronym(found[at])) and support.has_phrase(parts)}
    spans = list_name_initials(found, _list_span_starts(left, MOST_PHRASE_WORDS))
    return acronyms | mixed | _expand_name_spans(span for span in spans if span[2] in support.acronyms)


def _support_names_by_definition(found: Sequence[NameWord], support: NameSupport, left: Collection[int]) -> set[int]:
    """A short form that the answer gives in brackets behind what it stands for: identity provider (IdP)."""
    defined = {
        word.letters
        for at, word in enumerate(found)
        if word.sign == "(" and word.is_acronym and len(word.letters) <= MOST_INITIALS
        if any(_begin_as(word.letters, words) for words in _list_before(found, at))
    }
    return {at for at, word in enumerate(found) if word.letters in defined}


def _list_before(found: Sequence[NameWord], at: int) -> Iterator[list[str]]:
    """Yield the letters of the words before a place, of two, of three and so on, up to one for each of its letters."""
    for first in range(at - 2, max(-1, at - 1 - len(found[at].letters)), -1):
        if found[first + 1].apart:
            return
        yield [word.letters for word in found[first:at]]


def _begin_as(letters: str, words: Sequence[str]) -> bool:
    """Say whether letters are the beginnings of words, one behind the other: id and p of identity provider."""
    if not words:
        return not letters
    word, rest = words[0], words[1:]
    lengths = takewhile(lambda length: word.startswith(letters[:length]), range(1, len(letters) + 1))
    return any(_begin_as(letters[length:], rest) for length in lengths)


def _support_names_by_first_letter(found: Sequence[NameWord], support: NameSupport, left: Collection[int]) -> set[int]:
    """A name of which the first letter is said, before the same name: "J. Rowling" for Joanne Rowling."""
    supported: set[int] = set()
    for at, word in enumerate(found):
        for name in found[at + 1 : at + 4]:
            if name.apart or not name.is_capitalised:
                break
            if (word.letters[:1], name.name_stem) in support.names_by_initial:
                supported.add(at)
    return supported


def _support_names_by_short_form(found: Sequence[NameWord], support: NameSupport, left: Collection[int]) -> set[int]:
    """Two words that are said together in another length: "Lib Dems" for the Liberal Democrats."""
    supported: set[int] = set()
    for at, (one, other) in enumerate(pairwise(found)):
        if one.is_capitalised and other.is_capitalised and not other.apart:
            said = support.name_pairs.get((one.letters[:SHORT_LETTERS], other.letters[:SHORT_LETTERS]), ())
            if any(_is_short_form(one.key, first) and _is_short_form(other.key, second) for first, second in said):
                supported |= {at, at + 1}
    return supported


def _is_short_form(one: str, other: str) -> bool:
    short, long = sorted((one, other), key=len)
    return len(short) >= SHORT_LETTERS and long.startswith(short)


def _support_names_by_place(found: Sequence[NameWord], support: NameSupport, left: Collection[int]) -> set[int]:
    """A territory that is said by another name, its code or its adjective."""
    spans = find_territory_names(found, support.languages, _list_span_starts(left, MOST_TERRITORY_WORDS))
    return _expand_name_spans(span for span in spans if not support.territory_codes.isdisjoint(span[2]))


_REALMS: Final = {
    "empire": "emperor",
    "kingdom": "king",
    "duchy": "duke",
    "principality": "prince",
    "sultanate": "sultan",
    "caliphate": "caliph",
}
"""What is ruled, by who rules it."""


def _support_names_by_ruler(found: Sequence[NameWord], support: NameSupport, left: Collection[int]) -> set[int]:
    """A realm whose ruler is named: the Holy Roman Empire, of the Holy Roman Emperor."""
    return {
        at
        for at, word in enumerate(found)
        if at and (ruler := _REALMS.get(word.letters)) and support.has_phrase((found[at - 1].letters, ruler))
    }


def _list_span_starts(left: Iterable[int], most: int) -> list[int]:
    """Return where a span of so many words at most begins which holds one of some words."""
    return sorted({first for at in left for first in range(max(at - most + 1, 0), at + 1)})


def _expand_name_spans(spans: Iterable[tuple[int, int, object]]) -> set[int]:
    return {at for first, end, _ in spans for at in range(first, end)}
