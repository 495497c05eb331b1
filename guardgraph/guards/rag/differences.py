"""What two texts that are alike differ in, where it decides: a negation, a name, a plan. Numbers are facts."""

from __future__ import annotations

import re
from typing import Final

from guardgraph.languages.language import detect_language
from guardgraph.languages.words import DENYING_LANGUAGES, load_function_words, load_negations
from guardgraph.plain.letters import normalise_to_nfkc

_WORD: Final = re.compile(r"[\w%‰°$€£¥]+")
_CONTRACTED: Final = re.compile(r"n't\b", re.IGNORECASE)
_ELIDED: Final = re.compile(r"\bn'(?=\w)", re.IGNORECASE)

_PLAN: Final = re.compile(
    r"plans?|tiers?|editions?|packages?|subscriptions?|licen[cs]es?|tariffs?|"
    r"tarife?n?|paketen?|abos?|lizenz(?:en)?|stufen?|planes|tarifas?|paquetes?|licencias?|suscripci(?:ón|ones)|"
    r"edici(?:ón|ones)|formules?|forfaits?|offres?|abonnements?|(?:план|тариф|пакет|подписк|підписк|лиценз|ліценз)\w*"
)
"""What is sold under names that need no capital letter: "the gold plan"."""

_LEAST_SHARED: Final = 3
"""Letters of a word that another one has behind its own beginning: "covered" and "uncovered"."""


class Words:
    """The words of a text, as they are compared.

    Args:
        text: any text, with plain apostrophes.
    """

    def __init__(self, text: str) -> None:
        from guardgraph.guards.facts.spelling import drop_invisible_characters  # the largest part of an import

        self.language = detect_language(text)
        written = _WORD.findall(
            _ELIDED.sub("ne ", _CONTRACTED.sub(" not", normalise_to_nfkc(drop_invisible_characters(text))))
        )
        self.all = [word.casefold() for word in written]
        common = load_function_words(self.language or "en")
        self.names = {word for word, shown in zip(self.all, written, strict=True) if shown != shown.lower()} - common

    def is_deciding_word(self, at: int) -> bool:
        """Say whether a word denies or is a plan, or stands beside one that does."""
        beside = self.all[max(at - 1, 0) : at + 2]
        return not load_negations().isdisjoint(beside) or any(map(_PLAN.fullmatch, beside))


def has_deciding_difference(first: Words, second: Words) -> bool:
    """Say whether two texts that are alike differ in a word that decides.

    That is one that denies or excepts, or a plan, tier or tariff, or a word beside one of these; one that is a name in
    either of them, by a capital letter; and one that another one ends with, such as "covered" in "uncovered". In a
    language whose negations are not known, every word decides.
    """
    if first.all == second.all:
        return False
    if not {first.language, second.language} <= {*DENYING_LANGUAGES, ""}:
        return True
    ours, theirs = _find_changed_words(first, second)
    names = first.names | second.names
    words = [*(first.all[at] for at in ours), *(second.all[at] for at in theirs)]
    return (
        not names.isdisjoint(words)
        or any(map(first.is_deciding_word, ours))
        or any(map(second.is_deciding_word, theirs))
        or any(_is_reversed_word(first.all[at], second.all[to]) for at in ours for to in theirs)
    )


def _find_changed_words(first: Words, second: Words) -> tuple[list[int], list[int]]:
    """Return the words of each text that the other one does not have there, by the fewest that can be so."""
    from rapidfuzz.distance import Indel

    ours, theirs = list[int](), list[int]()
    for change in Indel.opcodes(first.all, second.all):
        if change.tag != "equal":
            ours += range(change.src_start, change.src_end)
            theirs += range(change.dest_start, change.dest_end)
    return ours, theirs


def _is_reversed_word(word: str, other: str) -> bool:
    short, longer = sorted((word, other), key=len)
    return short != longer and len(short) >= _LEAST_SHARED and longer.endswith(short)
