"""What all closures are read with: whether something is said of a thing, of all of it, and made as a claim."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

from guardgraph.guards.self_critique import closing
from guardgraph.guards.self_critique.grammar import CONDITIONS, FINITE, PREPOSITIONS, TURNS, is_content_word
from guardgraph.guards.self_critique.spoken import BREAK, COMMA, read_word_after, read_words_around
from guardgraph.guards.self_critique.verbs import VerbGroup, is_claim_made, read_verb_group

STOPS = (COMMA, BREAK)
"""What ends every phrase."""
Reader = Callable[[list[str], int], str | None]
"""Reads a sentence at the place of a word, and names the closure that it finds there."""

_PARTS = frozenset({"some", "most", "many", "several", "half"})
_OPENS = TURNS | CONDITIONS | {"and", "or"}


def combine_claim_readers(*readers: Reader) -> Reader:
    """Return a reader that finds what the first of these finds."""
    return lambda tokens, at: next((name for reader in readers if (name := reader(tokens, at))), None)


def is_closure_made(tokens: list[str], at: int, end: int | None = None, *, group: VerbGroup | None = None) -> bool:
    """Say whether a closure is made, and of all that it is said of.

    Args:
        tokens: a sentence of `split_claim_sentences`.
        at: where the closure begins.
        end: where it ends, after its first word where none is given.
        group: its verb group, where that is not simply what stands before it.
    """
    if _is_partial_closure(tokens, at) or _is_taken_back(tokens, end or at + 1):
        return False
    return is_claim_made(tokens, at, end or at + 1, group=group)


def _is_taken_back(tokens: list[str], end: int) -> bool:
    """Say whether the sentence goes on to say that the trouble is there again: *was gone, but it is back*."""
    following = tokens[end : end + 14]
    turn = next((place for place, token in enumerate(following) if token in ("but", "yet", "however")), None)
    said = following[turn + 1 : turn + 9] if turn is not None else []
    came = next((place for place, token in enumerate(said) if token in closing.RETURNING), None)
    return came is not None and said[came + 1 : came + 2] not in (["to"], ["online"], ["up"], ["in"])


def _is_partial_closure(tokens: list[str], at: int) -> bool:
    """Say whether it is said of a part: *restored for some customers*, *recovered in part*."""
    following = read_words_around(tokens, at, before=0, after=8)
    if following[1:2] in (["partly"], ["partially"], ["some"], ["few"]):
        return True
    if following[1:3] in (["a", "few"], ["part", "of"], ["so", "far"]):
        return True
    if following[2:3] in (["of"], ["percent"]) and following[1][0].isdigit() and following[1] != "100":
        return True
    return any(token in _PARTS and before in PREPOSITIONS for before, token in pairwise(following))


def is_claim_predicate(tokens: list[str], at: int) -> bool:
    """Say whether something is said to be so: *is stable*, *all systems operational*, *is the outage over*."""
    follows, is_said = read_word_after(tokens, at), read_verb_group(tokens, at).has_being_verb
    if is_content_word(follows) or (follows in FINITE and not is_said):
        return False
    around = read_words_around(tokens, at, after=1)
    if is_said or around[:1] in (["is"], ["are"]):
        return True
    is_short = len(around) <= 5 and FINITE.isdisjoint(around) and around[0] != "with"
    return is_short and not {"the", "a", "an", "our", "for", "of", "in", "to", "and"} & set(around[-2:])


def read_clause_before(tokens: list[str], at: int, reach: int = 10) -> list[str]:
    """Return the words of a clause that stand before a place, `reach` of them at most."""
    start = at
    while start > max(0, at - reach) and tokens[start - 1] not in STOPS and tokens[start - 1] not in _OPENS:
        start -= 1
    return tokens[start:at]


def read_clause_after(tokens: list[str], at: int, reach: int = 8) -> list[str]:
    """Return the words of a clause that stand after a place, `reach` of them at most."""
    end = at + 1
    while end < min(len(tokens), at + 1 + reach) and tokens[end] not in STOPS and tokens[end] not in _OPENS:
        end += 1
    return tokens[at + 1 : end]
