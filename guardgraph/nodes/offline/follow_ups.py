"""The RAG agent's offline condenser: a question that follows others, rewritten in the user's own words.

A fragment ("And for P1 incidents?") takes its place in the question before it; a question that refers to something ("Is
it 24/7?") has the question before it in brackets. Every other question stands alone already.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, reduce
from typing import Final, NamedTuple

from guardgraph.grounding.words import (
    DEFAULT_LANGUAGE,
    detect_language,
    list_word_keys,
    load_function_words,
    read_terms,
)
from guardgraph.guards.word_lists import load_word_lists
from guardgraph.plain.json import JsonObject
from guardgraph.world.call import mark_as_instant

_TOKEN: Final = re.compile(r"\w+(?:[./]\w+)*")
_DIGITS: Final = re.compile(r"\d+")
_ENDS: Final = " \t\n?!.,;:¿¡？！。"
_EXPLETIVE: Final = re.compile(r"\bit\b[^?.]*\bto\s+\w", re.IGNORECASE)
"""English alone: "it" that stands for what follows ("How long does it take to get a refund?")."""
_FEWEST_TERMS: Final = 2
"""Terms that a question has which stands alone, in a language without a list of words that ask."""


@mark_as_instant
def condense_offline_question(view: JsonObject) -> JsonObject:
    """Propose the question in words of the user, so that it is understood without the conversation.

    What an assistant said is passed over.

    Args:
        view: ``{question, history}``.

    Returns:
        ``{question}``; each turn of the user is read as one that follows the turn before.
    """
    turns = [turn["content"] for turn in view["history"] if turn["role"] == "user"]
    return {"question": reduce(_follow_question, [*turns, view["question"]])}


@dataclass(frozen=True, slots=True)
class _FollowUpWords:
    """The words of a language by which one goes on with a question."""

    lead_ins: tuple[str, ...]
    """What a question that goes on begins with, the longest first."""
    asking: frozenset[str]
    """Words that a whole question has one of: who asks, auxiliaries, imperatives."""
    pronouns: frozenset[str]
    relative: frozenset[str]
    """Those of them that follow a noun in a relative clause, and then refer to that."""
    prepositions: frozenset[str]


@cache
def _load_follow_up_words(language: str) -> _FollowUpWords | None:
    lists = load_word_lists("follow_ups").get(language)
    if lists is None:
        return None
    names = ("asking", "pronouns", "relative", "prepositions")
    return _FollowUpWords(tuple(lists["lead_ins"]), *(frozenset(lists[name].split()) for name in names))


def leans_on_text_before(text: str, language: str) -> bool:
    """Say whether a sentence begins with a pronoun, or as one that goes on; none does in a language without lists."""
    lists, said = _load_follow_up_words(language), text.casefold()
    if lists is None:
        return False
    return said.startswith(lists.lead_ins) or bool(lists.pronouns.intersection(list_word_keys(said)[:1]))


class _QuestionWord(NamedTuple):
    """A word with its place in a text."""

    word: str
    """In lower case."""
    start: int
    end: int


def _read_tokens(text: str) -> list[_QuestionWord]:
    return [_QuestionWord(found[0].lower(), *found.span()) for found in _TOKEN.finditer(text)]


def _follow_question(before: str, question: str) -> str:
    """Return a question that follows another, rewritten to stand alone."""
    language = detect_language(f"{before}\n{question}") or DEFAULT_LANGUAGE
    words = _load_follow_up_words(language)
    if words is None:
        return question if len(read_terms(question, language)) >= _FEWEST_TERMS else _put_in_brackets(before, question)
    rest = _strip_lead_in(question, words)
    tokens = _read_tokens(rest)
    if not any(token.word in words.asking for token in tokens):
        return _place_fragment(rest, before, words, load_function_words(language)) or _put_in_brackets(before, question)
    return _put_in_brackets(before, question) if _refers_to_something(rest, tokens, words, language) else question


def _put_in_brackets(before: str, question: str) -> str:
    return f"{question.rstrip(_ENDS)} ({before.strip(_ENDS)})?"


def _strip_lead_in(question: str, words: _FollowUpWords) -> str:
    """Return what follows the words by which a question goes on, the question where it begins with none."""
    text = question.strip(_ENDS)
    for lead_in in words.lead_ins:
        if text.lower().startswith(lead_in) and not text[len(lead_in) : len(lead_in) + 1].isalnum():
            return text[len(lead_in) :].strip(_ENDS)
    return text


def _refers_to_something(text: str, tokens: list[_QuestionWord], words: _FollowUpWords, language: str) -> bool:
    """Say whether a question has a pronoun that nothing in it explains."""
    known = load_function_words(language)
    for at, token in enumerate(tokens):
        follows_noun = at > 0 and tokens[at - 1].word not in known
        if token.word in words.pronouns and not (token.word in words.relative and follows_noun):
            return not (token.word == "it" and _EXPLETIVE.search(text))
    return False


def _place_fragment(fragment: str, before: str, words: _FollowUpWords, known: frozenset[str]) -> str | None:
    """Return the question before with a fragment in the place of what it stands for; None where there is no place.

    The place is a word of the same form (P1 for P2), what stands before the same noun ("the standard plan" for "the
    enterprise plan"), what stands behind the same preposition, or, of a fragment with one, the end.
    """
    text = before.rstrip(_ENDS)
    said, there = _read_tokens(fragment), _read_tokens(text)
    if not said or not there:
        return None
    preposition = said[0].word if said[0].word in words.prepositions and len(said) > 1 else ""
    named = said[1:] if preposition else said
    phrase = fragment[named[0].start : named[-1].end]
    place = (
        _find_same_form(named, there, fragment)
        or _find_same_noun(named, there, fragment, known)
        or (_find_same_preposition(preposition, there, words, phrase) if preposition else None)
    )
    if place is not None:
        start, end, put = place
        return f"{text[:start]}{put}{text[end:]}?"
    return f"{text} {fragment}?" if preposition else None


_Place = tuple[int, int, str]
"""Where a text is replaced, and by what."""


def _find_same_form(named: list[_QuestionWord], there: list[_QuestionWord], fragment: str) -> _Place | None:
    """The one word with digits that differs from one of the fragment in its digits alone."""
    forms = [(token, _DIGITS.sub("0", token.word)) for token in named if _DIGITS.search(token.word)]
    if len(forms) != 1:
        return None
    [(token, form)] = forms
    same = [other for other in there if _DIGITS.sub("0", other.word) == form and _DIGITS.search(other.word)]
    if len(same) != 1 or same[0].word == token.word:
        return None
    return same[0].start, same[0].end, fragment[token.start : token.end]


def _find_same_noun(
    named: list[_QuestionWord], there: list[_QuestionWord], fragment: str, known: frozenset[str]
) -> _Place | None:
    """What stands before the noun that the fragment ends with, as far as no function word comes between."""
    modifiers = list(_list_words_before(named, len(named) - 1, known))
    places = [at for at, token in enumerate(there) if token.word == named[-1].word]
    if not modifiers or len(places) != 1:
        return None
    replaced = list(_list_words_before(there, places[0], known))
    start = replaced[-1].start if replaced else there[places[0]].start
    put = fragment[modifiers[-1].start : named[-1].end]
    return start, there[places[0]].end, put


def _list_words_before(tokens: list[_QuestionWord], at: int, known: frozenset[str]) -> Iterator[_QuestionWord]:
    for token in reversed(tokens[:at]):
        if token.word in known:
            return
        yield token


def _find_same_preposition(
    preposition: str, there: list[_QuestionWord], words: _FollowUpWords, phrase: str
) -> _Place | None:
    """What stands behind the one same preposition, up to the next one."""
    places = [at for at, token in enumerate(there) if token.word == preposition]
    if len(places) != 1 or places[0] + 1 == len(there):
        return None
    first = places[0] + 1
    end = next((at for at in range(first, len(there)) if there[at].word in words.prepositions), len(there))
    return (there[first].start, there[end - 1].end, phrase) if end > first else None
