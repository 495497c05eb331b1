"""Claims that no incident update may make lightly: that it is over, or that something is certain.

A claim counts unless its clause denies it or makes it depend on something. The rules, word by word and in
linear time:

- A clause ends at a sentence's end, a colon, semicolon, bracket or dash, at a comma (not one right after a
  negation: *we cannot, at this time, guarantee*) and at words that open a statement of their own, such as
  *but* or *because*.
- A negation covers the next 8 words of its clause (*not yet fully resolved*, *far from resolved*, *refuse to
  guarantee*), but not in a phrase that asserts (*not only resolved*, *no doubt*, *not hesitant to*).
- A condition covers the next 12 (*until the incident is resolved*, *once resolved*), up to a *was* or *were*:
  what was, is no condition.
- *Being*, *to be*, *may be*, *partially* or *will be* resolved *once* something happens is not yet resolved
  (a guarantee stays one).

Letters of other scripts count as the Latin ones they look like. Everything else counts, questions and promises
included: where the rules are in doubt, the claim counts.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from guardgraph.guards.wording import keys, words
from guardgraph.state.json import JsonObject
from guardgraph.state.memory import remembered

__all__ = ["GUARANTEE", "RESTRICTED_CLAIMS", "claims_in_context", "restricted_claims"]

RESOLVED, RECOVERED, CLOSED, STABLE, GUARANTEE = RESTRICTED_CLAIMS = (
    "resolved",
    "fully recovered",
    "incident closed",
    "all payments stable",
    "guarantee",
)
"""The claims."""

_CLAIM_WORD = re.compile("resolved|recovered|closed|stable|guarant(?:ee|y|ies)")
"""Without one of these words nothing is claimed, and few texts have one: only their clauses are read closely."""

_HARD_STOP = re.compile(r"[.!?;:()\[\]{}…—–。！？；：\n]")
_COMMAS = frozenset(",，、")
_NEGATION_REACH = 8
_LOOKALIKES = str.maketrans("асԁеһіјӏорѕухοαιρυν", "acdehijlopsyxoaipuv")
"""Cyrillic and Greek small letters and the Latin ones they are mistaken for (from UTS #39, confusables)."""


def _set(listed: str) -> frozenset[str]:
    return frozenset(listed.split())


_NEGATIONS = _set(
    """
    not no never neither nor none nothing nobody cannot without unable unlikely premature un non
    avoid avoids avoiding
    arent cant couldnt didnt doesnt dont hadnt hasnt havent isnt mustnt shouldnt wasnt werent wont wouldnt
    """
)
_INTERRUPTED = _NEGATIONS - {"no"}
"""Right after these a comma opens a parenthesis; *No,* is an answer, and what follows is a statement."""

_NEGATING_PAIRS = frozenset({("far", "from"), ("too", "early"), ("too", "soon")})
_RELUCTANT = _set("refuse refuses hesitate hesitant reluctant")
"""Negations that another one turns into a promise: *we do not hesitate to guarantee*."""
_ASSERTING = _set("only just merely simply solely doubt question worry less hesitation")
"""After a negation these deny nothing of what follows: *not only resolved*, *without a doubt resolved*."""

_CONDITION_REACH = 12
_CONDITIONS = {
    **dict.fromkeys(_set("if once when whenever until till unless whether before pending provided"), _CONDITION_REACH),
    "after": 6,
}
"""How many words a condition covers: *after* fewer, for it also dates what is over (*after a restart*)."""

_WAITING = _set("once when whenever after if pending provided")
"""After the claim these make it wait: *will be considered resolved after two hours*."""

_HEDGE_REACH = 3
_HEDGES = {
    **dict.fromkeys(_set("being toward towards gets getting"), _HEDGE_REACH),
    **dict.fromkeys(_set("partially partly"), 1),
}
"""How many words each covers: *towards a fully recovered state*, *partially resolved*."""
_AIM_REACH = 6
"""*To ensure that the incident is fully resolved* is an aim."""

_TURNS = _set("but however because since although though while thanks")
_JOINED = _set("resolved recovered closed stable fully completely then finally permanently yet soon long of")
"""Right after *and* or *as* these carry the clause on: *once found and resolved*, *not marked as closed*."""

_MODALS = _set("may might could would should can to")
_CONFIRMED = _set("appears appear seems seem known confirmed believed found considered verified")
_GIVEN = _set("given made offered provided possible implied intended")


def restricted_claims(text: str) -> list[str]:
    """Name the restricted claims that a text makes.

    Args:
        text: any text; the claims are looked for in English.

    Returns:
        The claims found, each once, in the order of `RESTRICTED_CLAIMS`.
    """
    return list(_claims_in(text))


@remembered(texts=128, chars=1000)
def _claims_in(text: str) -> tuple[str, ...]:
    if not _has_claim_word(text):
        return ()
    clauses = ((said, commas) for said, commas in _statements(text) if _CLAIM_WORD.search(" ".join(said)))
    found = {claim for said, commas in clauses for claim in _claims(said, commas)}
    return tuple(claim for claim in RESTRICTED_CLAIMS if claim in found)


def _has_claim_word(text: str) -> bool:
    said = text.replace("'", "").lower() if text.isascii() else " ".join(keys(text)).translate(_LOOKALIKES)
    return _CLAIM_WORD.search(said) is not None


def claims_in_context(context: JsonObject) -> list[str]:
    """Name the restricted claims that the texts of a context make, policy hints aside."""
    found: set[str] = set()
    unread = [value for key, value in context.items() if key != "policy_hints"]
    while unread:
        value = unread.pop()
        if isinstance(value, str):
            found.update(restricted_claims(value))
        elif isinstance(value, dict | list):
            unread.extend(value.values() if isinstance(value, dict) else value)
    return [claim for claim in RESTRICTED_CLAIMS if claim in found]


def _statements(text: str) -> Iterator[tuple[list[str], set[int]]]:
    """Yield the words of each statement, and the places of those that follow a comma."""
    said: list[str] = []
    after_comma: set[int] = set()
    end = 0
    for word in words(text):
        gap = text[end : word.start]
        end = word.end
        if said and gap != " " and _ends_statement(gap):
            yield said, after_comma
            said, after_comma = [], set()
        if gap != " " and not _COMMAS.isdisjoint(gap):
            after_comma.add(len(said))
        said.append(word.key if word.key.isascii() else word.key.translate(_LOOKALIKES))
    yield said, after_comma


def _ends_statement(gap: str) -> bool:
    # One line break alone is a wrapped line, a hyphen without blanks is part of a compound.
    if not gap.strip():
        return gap.count("\n") > 1
    return _HARD_STOP.search(gap) is not None or ("-" in gap and gap != "-")


class _Spot(NamedTuple):
    """A word of a statement and its neighbours."""

    place: int
    before: list[str]
    key: str
    after: list[str]


def _claims(keys: list[str], after_comma: set[int]) -> Iterator[str]:
    shield = _Shield()
    for place, key in enumerate(keys):
        spot = _Spot(place, keys[max(0, place - 8) : place], key, keys[place + 1 : place + 5])
        if place in after_comma:
            shield.read_comma(spot)
        claim = _claim(spot)
        if claim and not shield.covers(spot, claim):
            yield claim
        shield.read_word(spot)


def _claim(spot: _Spot) -> str | None:
    near = {*spot.before, *spot.after[:3]}
    all_named = "all" in (*spot.before, *spot.after[:2])
    if spot.key == "resolved":
        return RESOLVED
    if spot.key == "recovered" and "fully" in (*spot.before[-2:], *spot.after[:1]):
        return RECOVERED
    if spot.key == "closed" and "incident" in near:
        return CLOSED
    if spot.key == "stable" and all_named and not {"payment", "payments"}.isdisjoint(spot.before):
        return STABLE
    return GUARANTEE if _is_guarantee(spot.key) and not _is_withheld(spot.after) else None


def _is_guarantee(key: str) -> bool:
    return key.startswith(("guarantee", "guaranty", "guaranties"))


def _is_withheld(after: list[str]) -> bool:
    """Say whether a guarantee is named only to be denied: *guarantees cannot be given*."""
    denied = after[:1] in (["cannot"], ["cant"], ["isnt"], ["arent"]) or after[1:2] == ["not"]
    return denied and not _GIVEN.isdisjoint(after)


class _Shield:
    """Whether a negation, a condition or a hedge covers the word that is being read."""

    def __init__(self) -> None:
        self._in_parenthesis = False
        self._drop()

    def _drop(self) -> None:
        self._negated = self._conditional = self._hedged = -1

    def covers(self, spot: _Spot, claim: str) -> bool:
        hedged = claim != GUARANTEE and (spot.place <= self._hedged or _is_to_come(spot))
        return hedged or spot.place <= max(self._negated, self._conditional)

    def read_comma(self, spot: _Spot) -> None:
        if self._in_parenthesis:
            self._in_parenthesis = False
        elif spot.before and spot.before[-1] in _INTERRUPTED:
            self._in_parenthesis = True
        else:
            self._drop()

    def read_word(self, spot: _Spot) -> None:
        if _opens_statement(spot):
            self._drop()
        elif spot.key in _RELUCTANT and spot.place <= self._negated:
            self._negated = -1
        elif _negates(spot):
            self._negated = spot.place + _NEGATION_REACH
        elif spot.key in _CONDITIONS or _is_as_soon_as(spot):
            reach = _CONDITIONS.get(spot.key, _CONDITION_REACH)
            self._conditional = max(self._conditional, spot.place + reach)
        elif spot.key in ("was", "were"):
            self._conditional = -1
        elif reach := _hedge_reach(spot):
            self._hedged = max(self._hedged, spot.place + reach)


def _negates(spot: _Spot) -> bool:
    if spot.key in _NEGATIONS:
        return _ASSERTING.isdisjoint(spot.after[:2])
    return spot.key in _RELUCTANT or (spot.key, *spot.after[:1]) in _NEGATING_PAIRS


def _is_to_come(spot: _Spot) -> bool:
    waits = not _WAITING.isdisjoint(spot.after[:1]) or spot.after[:3] == ["as", "soon", "as"]
    return waits and {"will", "be"} <= {*spot.before[-4:]}


def _is_as_soon_as(spot: _Spot) -> bool:
    return spot.key == "as" and spot.before[-1:] in (["soon"], ["long"])


def _opens_statement(spot: _Spot) -> bool:
    if spot.key == "that":
        return spot.before[-1:] in (["now"], ["given"])
    if spot.key in ("and", "as"):
        carried_on = not spot.after or spot.after[0] in _JOINED or _is_guarantee(spot.after[0])
        return not carried_on and not _is_as_soon_as(spot)
    return spot.key in _TURNS


def _hedge_reach(spot: _Spot) -> int:
    before = spot.before[-2:]
    if spot.key == "be":
        return 0 if _MODALS.isdisjoint(before) or not _CONFIRMED.isdisjoint(before) else _HEDGE_REACH
    if spot.key in ("get", "have", "see"):
        aims = before[-1:] == ["to"] and spot.after[:1] not in (["resolved"], ["fully"])
        return _HEDGE_REACH if aims else 0
    if spot.key == "ensure":
        return _AIM_REACH if before[-1:] == ["to"] else 0
    return _HEDGES.get(spot.key, 0)
