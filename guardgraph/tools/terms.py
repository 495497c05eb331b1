"""Words of a text: how the retriever, the recorded search and the offline proposers read one."""

from __future__ import annotations

import re
from functools import lru_cache

from guardgraph.state.letters import compatible

__all__ = ["STOP_WORDS", "content_words", "terms"]

STOP_WORDS = frozenset(
    """
    a about above after again against all also am an and any anyone anything are as at be because been before
    being below between both but by can cannot could did do does doing done down during each either else ever
    every few for from further had has have having he her here hers him his how i if in into is it its itself
    many may me might mine more most much must my myself neither no nor not now of off often on once one only
    or other others our ours out over own same shall she should so some someone something such than that the
    their theirs them then there these they this those through to too under until up upon us very was we were
    what when where whether which while who whom whose why will with within without would yes yet you your
    yours

    actually called come comes describe exactly explain fast find get gets getting give given gives go goes
    going got happen happened happens just know let like long made make makes making mean means need needs
    please quickly really said say show soon take taken takes taking tell took use used uses using want wants

    aren couldn d didn doesn don hadn hasn haven isn ll m mustn re s shouldn t ve wasn weren wouldn
    """.split()  # noqa: SIM905 - a list of words is read as words
)
"""Words that say nothing of what a text is about.

English function and question words; words with which one asks; the halves of contractions.
"""

_WORD = re.compile(r"\d+(?:[.,]\d+)+|[^\W_]+")
_LONGEST_STEMMED = 40
"""Characters. Longer than any English word; a stemmer need not walk through what no dictionary holds."""


def terms(text: str) -> list[str]:
    """Read a text as index terms, in order, repetitions kept.

    Letters and digits make a word (so `on-call` is two and `P1` one), numbers keep their points (`99.95`),
    case and compatibility forms are unified, stop words dropped, and what is left is stemmed (Porter2,
    M. Porter 2001, https://snowballstem.org/algorithms/english/stemmer.html): `refunds` and `refunded` are
    both `refund`.
    """
    return [_stem(word) if len(word) <= _LONGEST_STEMMED else word for word in _words(text)]


def content_words(text: str) -> list[str]:
    """Name the words that carry a text's meaning: lower case, else as spelled; in order, each once."""
    return list(dict.fromkeys(_words(text)))


def _words(text: str) -> list[str]:
    plain = compatible(text).lower()
    return [word for word in _WORD.findall(plain) if word not in STOP_WORDS]


@lru_cache(maxsize=65_536)
def _stem(word: str) -> str:
    import snowballstemmer  # type: ignore[import-untyped]  # all its languages: too slow for an import of ours

    # A stemmer keeps the word it works on in itself, and graphs run in threads: one stemmer per word.
    return str(snowballstemmer.stemmer("english").stemWord(word))
