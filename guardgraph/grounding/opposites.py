"""Whether a sentence says the opposite of one that is nearly the same: negations and opposites, counted."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from functools import cache
from typing import Final, NamedTuple

from guardgraph.grounding.languages import load_hand_table
from guardgraph.grounding.words import DEFAULT_LANGUAGE, load_joining_words, stem
from guardgraph.plain.memory import remember_by_text

_LEAST_WORDS: Final = 4
_LEAST_SHARE: Final = 0.75
"""Of the content words of the sentence, and of the stretch of the other one, that both have."""
_TOKEN: Final = re.compile(r"\d+(?:[.,]\d+)*|[^\W\d_]+")
_CONTRACTED: Final = re.compile(r"\b(?:(ca|wo|sha)|([a-z]+)) ?n['’]t\b", re.IGNORECASE)
_FULL: Final = {"ca": "can", "wo": "will", "sha": "shall"}


class ReadSentence(NamedTuple):
    """A sentence as it is compared."""

    keys: tuple[str, ...]
    """Its content words: stems, numbers, and the names of opposites."""
    sides: tuple[tuple[str, int], ...]
    """Of each pair of opposites that it has a word of, which one."""
    denials: tuple[int, ...]
    """At which content word each negation stands."""


@cache
def _load_negations() -> Mapping[str, tuple[tuple[str, ...], ...]]:
    """Return negations by their first word, the longest first."""
    found: dict[str, list[tuple[str, ...]]] = {}
    for phrase in load_hand_table(DEFAULT_LANGUAGE)["negations"]:
        words = tuple(phrase.split())
        found.setdefault(words[0], []).append(words)
    return {first: tuple(sorted(each, key=len, reverse=True)) for first, each in found.items()}


@cache
def _load_sides() -> Mapping[str, tuple[str, int]]:
    """Return the pair and the side of each word that has an opposite; of a word of several pairs the first."""
    found: dict[str, tuple[str, int]] = {}
    for number, pair in enumerate(load_hand_table(DEFAULT_LANGUAGE)["pairs"]):
        for side, words in zip((1, -1), pair, strict=True):
            for word in words.split():
                found.setdefault(word, (f"<{number}>", side))
    for word, named in list(found.items()):  # "accepts" is a form of "accept"; a word of its own pair keeps it
        found.setdefault(stem(word), named)
    return found


@cache
def _compile_idle() -> re.Pattern[str]:
    return re.compile(rf"\b(?:{'|'.join(load_hand_table(DEFAULT_LANGUAGE)['idle'])})\b", re.IGNORECASE)


@remember_by_text(texts=4096, chars=1000)
def _read_sentence(sentence: str) -> ReadSentence:
    text = _CONTRACTED.sub(lambda match: f"{_FULL.get((match[1] or '').lower(), match[2])} not", sentence)
    words = [word.lower() for word in _TOKEN.findall(_compile_idle().sub(" ", text))]
    negations, opposites, joining = _load_negations(), _load_sides(), load_joining_words(DEFAULT_LANGUAGE)
    keys, sides, denials, at = list[str](), list[tuple[str, int]](), list[int](), 0
    while at < len(words):
        word = words[at]
        if hit := next((each for each in negations.get(word, ()) if tuple(words[at : at + len(each)]) == each), None):
            denials.append(len(keys))
            at += len(hit)
            continue
        if named := opposites.get(word) or opposites.get(stem(word)):
            keys.append(named[0])
            sides.append(named)
        elif word not in joining:
            keys.append(stem(word))
        at += 1
    return ReadSentence(tuple(keys), tuple(sides), tuple(denials))


def is_opposite(said: str, source: str) -> bool | None:
    """Say whether two sentences that are nearly the same differ in an odd number of negations and opposites.

    Args:
        said: a sentence of a text.
        source: a sentence that it may rest on.

    Returns:
        None where they are not near enough to be compared.
    """
    one, other = _read_sentence(said), _read_sentence(source)
    mine = set(one.keys)
    shared = mine & set(other.keys)
    if len({key for key in shared if key[0] != "<"}) < _LEAST_WORDS or len(shared) < _LEAST_SHARE * len(mine):
        return None
    places = [place for place, key in enumerate(other.keys) if key in shared]
    if len(shared) < _LEAST_SHARE * len(set(other.keys[places[0] : places[-1] + 1])):
        return None
    turned = sum(
        bool(a) and bool(b) and not a & b
        for key in shared
        for a, b in [(_list_sides(one, key), _list_sides(other, key))]
    )
    denied = len((_list_denied(one) ^ _list_denied(other)) & shared)
    return (turned + denied) % 2 == 1


def _list_sides(sentence: ReadSentence, key: str) -> set[int]:
    return {side for pair, side in sentence.sides if pair == key}


def _list_denied(sentence: ReadSentence) -> set[str]:
    """Return the words that stand behind an odd number of negations."""
    behind = Counter(sentence.keys[place] for place in sentence.denials if place < len(sentence.keys))
    return {key for key, times in behind.items() if times % 2}
