"""English sentences as the words that are spoken: what the claims of an update are looked for in."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from guardgraph.languages.wording import Word, split_words

COMMA, BREAK, PERCENT = ",", "|", "%"
"""Tokens that are no words; `BREAK` stands for a colon, semicolon, bracket or dash."""

NO_LONGER, PURPOSE = "no-longer", "so-that"
"""What *no longer* and *so that* are read as."""

_SAID_SHORTER = {
    "hardly": "far from|close to|closer to|anything but|nowhere near|by no means|no closer to|a long way from|"
    "on the way|on their way|on its way",
    "nobody": "no one",
    "also": "not only|not just|not merely|not simply|not solely",
    "finally": "once and for all",
    "always": "from now on|from here on|henceforth|at all times|without exception|"
    "in all cases|in every case|no matter what|whatever happens|come what may",
    "again": "once again|once more|yet again",
    "anymore": "any more|any longer",
    NO_LONGER: "no longer",
    PURPOSE: "so that|in such a way that",
    "when": "as soon as|by the time",
    "if": "in case|as long as|so long as|provided that|on condition that|assuming that|in the event that|only if",
    "because": "now that|given that|in that",
    "although": "even if|even though|even when",
    "partly": "in part|in parts|to some extent|for the most part",
    "premature": "too early|too soon",
    "to": "in order to|so as to",
    "will": "going to|about to be able to",
    "yet": "as yet",
    "ensure": "make sure|make certain|see to it",
    "ensures": "makes sure|makes certain|sees to it",
    "ensured": "made sure|made certain|saw to it",
    "ensuring": "making sure|making certain|seeing to it",
    "doubtless": "no doubt|without doubt|without a doubt|without any doubt|beyond doubt|beyond any doubt|"
    "beyond a doubt|"
    "with certainty|with absolute certainty|with complete certainty|with full certainty|with total certainty|"
    "without fail|for sure|for certain|without question",
    "restored": "re established|re enabled|re instated",
    "failsafe": "fail safe",
    "riskfree": "risk free",
    "bulletproof": "bullet proof|fool proof|water tight|air tight|rock solid",
    "no": "not a single|not one single",
    PERCENT: "per cent",
    "100": "hundred|one hundred|a hundred",
}
"""Phrases, and the one word that each is read as."""

_SENTENCE_END = re.compile(r"[.!?…。！？]|\n\s*\n")
_BREAKS = re.compile(r"[;:()\[\]{}—–；：]|\s-+\s|--|\n\s*[-*]")
_COMMAS = re.compile("[,，、]")
_PERCENT_SIGNS = re.compile("[%％]")
_APOSTROPHE = re.compile("['’ʼ＇]")

_LOOKALIKES = str.maketrans("асԁеһіјӏорѕухοαιρυν", "acdehijlopsyxoaipuv")
"""Cyrillic and Greek small letters and the Latin ones they are mistaken for (from UTS #39, confusables)."""

_ENDINGS = {"ll": "will", "ve": "have", "re": "are", "d": "would", "m": "am"}
_NOT = {
    **{
        f"{verb}nt": verb
        for verb in [
            "is",
            "are",
            "was",
            "were",
            "has",
            "have",
            "had",
            "do",
            "does",
            "did",
            "would",
            "should",
            "could",
            "must",
            "need",
        ]
    },
    **{"cant": "can", "cannot": "can", "wont": "will", "shant": "shall", "aint": "is"},
}
_IS_SHORTENED = frozenset(
    [
        "it",
        "that",
        "there",
        "here",
        "what",
        "who",
        "he",
        "she",
        "everything",
        "everybody",
        "everyone",
        "nothing",
        "nobody",
        "all",
        "issue",
        "problem",
        "incident",
    ]
)
"""Before *'s* these are subjects; elsewhere it is a possessive."""


def split_claim_sentences(text: str) -> Iterator[list[str]]:
    """Read a text as sentences.

    Args:
        text: any text. Letters of other scripts count as the Latin ones they look like.

    Yields:
        The tokens of each sentence: words in lower case with contractions spelled out (*won't* is *will not*),
        and `COMMA`, `BREAK` and `PERCENT`.
    """
    said: list[str] = []
    end = 0
    for word in split_words(text):
        gap = text[end : word.start]
        end = word.end
        if gap != " ":
            if _PERCENT_SIGNS.search(gap):
                said.append(PERCENT)
            if said and _SENTENCE_END.search(gap):
                yield _shorten_claim_phrases(said)
                said = []
            elif said and (_BREAKS.search(gap) or _COMMAS.search(gap)):
                said.append(BREAK if _BREAKS.search(gap) else COMMA)
        said += _spell_out_contraction(text, word)
    if _PERCENT_SIGNS.search(text, end):
        said.append(PERCENT)
    if said:
        yield _shorten_claim_phrases(said)


def read_word_after(tokens: list[str], at: int) -> str:
    """Return the token after a place, `BREAK` at the end."""
    return tokens[at + 1] if at + 1 < len(tokens) else BREAK


def read_word_before(tokens: list[str], at: int) -> str:
    """Return the token before a place, `BREAK` at the start."""
    return tokens[at - 1] if at else BREAK


def read_words_around(tokens: list[str], at: int, *, before: int = 12, after: int = 5) -> list[str]:
    """Return the words around a place, up to the next stops.

    Args:
        tokens: a sentence.
        at: the place.
        before: how many words before it at most.
        after: how many from it on at most.
    """
    start = end = at
    while start > max(0, at - before) and tokens[start - 1] not in (COMMA, BREAK):
        start -= 1
    while end < min(len(tokens), at + after) and tokens[end] not in (COMMA, BREAK):
        end += 1
    return tokens[start:end]


def _spell_out_contraction(text: str, word: Word) -> tuple[str, ...]:
    key = word.key if word.key.isascii() else word.key.translate(_LOOKALIKES)
    if key in _NOT:
        return (_NOT[key], "not")
    if key == "percent":
        return (PERCENT,)
    if len(key) == word.end - word.start:
        return (key,)
    *head, ending = _APOSTROPHE.split(text[word.start : word.end].lower())
    if head and ending in _ENDINGS:
        return ("".join(head), _ENDINGS[ending])
    if head and ending == "s":
        return (key[:-1], "is") if key[:-1] in _IS_SHORTENED else (key[:-1],)
    return (key,)


def _shorten_claim_phrases(said: list[str]) -> list[str]:
    tokens: list[str] = []
    at = 0
    while at < len(said):
        phrase, short = next(
            (
                found
                for found in _index_shorter_phrases().get(said[at], ())
                if tuple(said[at : at + len(found[0])]) == found[0]
            ),
            ((said[at],), said[at]),
        )
        tokens.append(short)
        at += len(phrase)
    return tokens


@cache
def _index_shorter_phrases() -> dict[str, list[tuple[tuple[str, ...], str]]]:
    """Return the phrases and what they are read as, the longest first, by their first words."""
    table: dict[str, list[tuple[tuple[str, ...], str]]] = {}
    for short, phrases in _SAID_SHORTER.items():
        for phrase in phrases.split("|"):
            said = tuple(phrase.split())
            table.setdefault(said[0], []).append((said, short))
    for found in table.values():
        found.sort(key=lambda item: -len(item[0]))
    return table
