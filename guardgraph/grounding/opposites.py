"""Whether a sentence says the opposite of one that is nearly the same: negations and opposites, counted."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache, lru_cache
from typing import Final, NamedTuple

from guardgraph.grounding.languages import list_hand_words, load_hand_table
from guardgraph.grounding.words import DEFAULT_LANGUAGE, load_joining_words, stem
from guardgraph.plain.memory import remember_by_text

_LEAST_WORDS: Final = 4  # that both have, opposites aside; of two sentences with the same content words one
_LEAST_SHARE: Final = 0.75  # of the content words of the sentence, and of the stretch of the other one, that both have
_TOKEN: Final = re.compile(r"[^\W\d_]++|!|\d++(?:[.,]\d++)*")
_CONTRACTED: Final = re.compile(r"(\b(?:ca|wo|sha))?n['’]t\b")
_BOUND: Final = re.compile(r"\b(?:(?:no|not) )?(?:more|less|fewer) than (?=\d)|\bat (?:least|most) (?=\d)")
"""What bounds a number: that is held elsewhere."""
_WHOLE: Final = {"ca": "can", "wo": "will", "sha": "shall"}
"""What stands before the contracted "not" where the word is shortened, too."""


class _Read(NamedTuple):
    """A sentence as it is compared."""

    keys: tuple[str, ...]  # its content words: stems, numbers, and the numbers of pairs of opposites behind ``<``
    distinct: frozenset[str]  # each once
    sides: Mapping[str, set[int]]  # of each pair that it has a word of, which one
    denied: set[str]  # what stands behind an odd number of negations
    is_condition: bool


@cache
def _load_tables() -> tuple[re.Pattern[str], re.Pattern[str], Mapping[str, tuple[str, int]], frozenset[str]]:
    """Return what denies nothing, what denies, the pair and the side of each word that has an opposite.

    At last words of which every phrase that denies, or denies nothing, has one: most sentences have none of them.
    """
    table = load_hand_table(DEFAULT_LANGUAGE)
    idle, denying = (rf"\b(?:{'|'.join(sorted(table[key], key=len, reverse=True))})\b" for key in ("idle", "negations"))
    sides: dict[str, tuple[str, int]] = {}
    for number, pair in enumerate(table["pairs"]):
        for side, words in enumerate(pair):
            for word in words.split():
                sides.setdefault(word, (f"<{number}", side))
    telling = set[str]()
    for words in sorted((phrase.split() for key in ("idle", "negations") for phrase in table[key]), key=len):
        if telling.isdisjoint(words):
            telling.add(words[0])
    return (
        re.compile(idle),
        re.compile(denying),
        {**{stem(word): pair for word, pair in [*sides.items()][::-1]}, **sides},
        frozenset(telling),
    )


@lru_cache(maxsize=65_536)
def _read_key(word: str) -> tuple[str, int | None]:
    """Return what is compared of a word, "" for one that only joins, and which side of a pair of opposites it is."""
    key, opposites = stem(word), _load_tables()[2]
    pair = opposites.get(word) or opposites.get(key)
    return pair or ("" if word in load_joining_words(DEFAULT_LANGUAGE) else key, None)


def _write_out_contraction(match: re.Match[str]) -> str:
    return f"{_WHOLE.get(match[1], '')} not"


@remember_by_text(texts=4096, chars=1000)
def _read_opposites_of_sentence(sentence: str) -> _Read:
    idle, denying, _, negating = _load_tables()
    said = sentence.lower()
    if "n't" in said or "n’t" in said:
        said = _CONTRACTED.sub(_write_out_contraction, said)
    words = _TOKEN.findall(said)
    is_condition = not list_hand_words(DEFAULT_LANGUAGE, "conditions").isdisjoint(words)
    if not negating.isdisjoint(words):
        words = _TOKEN.findall(denying.sub("!", idle.sub(" ", _BOUND.sub(" ", said))))
    elif _BOUND.search(said):
        words = _TOKEN.findall(_BOUND.sub(" ", said))
    keys, sides, turned = list[str](), dict[str, set[int]](), set[str]()
    denials = 0
    for word in words:
        if word == "!":
            denials += 1
            continue
        key, side = _read_key(word)
        if not key:
            continue
        if side is not None:
            sides.setdefault(key, set()).add(side)
        keys.append(key)
        if denials % 2:
            turned ^= {key}
        denials = 0
    return _Read(tuple(keys), frozenset(keys), sides, turned, is_condition)


def is_opposite(said: str, source: str) -> bool | None:
    """Say whether two sentences that are nearly the same differ in an odd number of negations and opposites."""
    one, other = _read_opposites_of_sentence(said), _read_opposites_of_sentence(source)
    shared = one.distinct & other.distinct
    if one.is_condition != other.is_condition or len(shared) < _LEAST_SHARE * len(one.distinct):
        return None
    is_same = one.distinct == other.distinct
    turned = [key for key in shared & one.sides.keys() & other.sides.keys() if not one.sides[key] & other.sides[key]]
    if len(shared - set(turned)) < (1 if is_same else _LEAST_WORDS):
        return None
    places = [place for place, key in enumerate(other.keys) if key in shared]
    if len(shared) < _LEAST_SHARE * len(set(other.keys[places[0] : places[-1] + 1])):
        return None
    return (len(turned) + len((one.denied ^ other.denied) & shared)) % 2 == 1
