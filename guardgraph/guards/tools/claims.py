"""What an answer says was done: claims of actions, held against the calls that were made."""

# An answer that says "I sent the mail" while no mail was sent is worse than one that declines. English alone is read:
# names and descriptions of tools are English, whatever the language of the task.

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from functools import cache, lru_cache
from itertools import pairwise
from typing import Final

from guardgraph.grounding.json_texts import write_json_text
from guardgraph.grounding.sentences import count_stated_clauses, split_sentences, unwrap_text_lines
from guardgraph.grounding.words import find_verb_stem, load_negations, stem
from guardgraph.guards.stop import Stop
from guardgraph.guards.tools.values import list_name_parts, read_result
from guardgraph.guards.word_lists import load_word_lists
from guardgraph.state.tools import MadeCall, ToolCard, ToolPolicy

_CLAUSE = re.compile(
    r"[,;:()\n]|\s[-–—]\s|\b(?:but|because|(?-i:since(?! [A-Z\d]))|although|though|so that)\b", re.IGNORECASE
)
_WORD = re.compile(r"\w[\w']*")
_QUOTED = re.compile(r"\"[^\"\n]*\"|“[^“”\n]*”|`[^`\n]*`")
_YEAR = re.compile(r"(?:19|20)\d\d")
_HEADLINE: Final = 4  # words of a clause that says it without a verb of its own: "Event created"
_MOST_BETWEEN: Final = 6  # words between I or an auxiliary and what was done


def check_claimed_actions(
    answer: str, *, made: Sequence[MadeCall], cards: Mapping[str, ToolCard], policy: ToolPolicy
) -> None:
    """Check that what an answer says was done, in the first person or the passive, some call of the run did."""
    writing = {name: card for name, card in cards.items() if policy.rule_of(name).effect == "write"}
    actions = {verb for card in writing.values() for verb in _list_verbs(card)}
    done = [call for call in made if not call.get("failed")]
    actions -= {word for call in done if call["tool"] in cards for word in _list_named(cards[call["tool"]])}
    if not actions:
        return
    results = " ".join(write_json_text(read_result(call["value"])) for call in made)
    reported = {*_WORD.findall(results.casefold().replace("_", " "))}
    for sentence in split_sentences(unwrap_text_lines(_QUOTED.sub(" ", answer))):
        parts = (_WORD.findall(part.casefold().replace("’", "'")) for part in _CLAUSE.split(sentence))
        clauses = [words for words in parts if words]
        is_first, stated = True, count_stated_clauses(sentence, clauses)
        for words in clauses[:stated]:
            if _has_claim(words, actions, reported, is_first=is_first, is_asked=stated < len(clauses)):
                performed = [call["tool"] for call in done if call["effect"] == "write"]
                raise Stop("invalid_answer:action_not_done", claimed=sentence.strip()[:300], performed=performed)
            is_first &= _load_claiming("openings").issuperset(words)


def _list_verbs(card: ToolCard) -> frozenset[str]:
    """Return the stems of what a tool does: the first word of its name, if its description begins with it, else all."""
    named = list_name_parts(card["name"])
    verbs = _stem_actions(tuple(named[:1]))
    is_verb_first = verbs == _stem_actions(tuple(_WORD.findall(card["description"])[:1]))
    return verbs if named and is_verb_first else _list_named(card)


def _list_named(card: ToolCard) -> frozenset[str]:
    """Return the stems of all that the name of a tool says, and of the first word of its description."""
    parts = [*list_name_parts(card["name"]), *_WORD.findall(card["description"])[:1]]
    return _stem_actions((*parts, *(part.removesuffix("ment") for part in parts)))  # who schedules a payment pays


@lru_cache(maxsize=1024)
def _stem_actions(words: tuple[str, ...]) -> frozenset[str]:
    """Return the stems of verbs, and of those that say the same."""
    stems = frozenset(_stem_verb(word.casefold()) for word in words if word.isalpha() and len(word) > 2)
    return stems.union(*(alike for alike in _load_alike() if not alike.isdisjoint(stems)))


@cache
def _load_alike() -> tuple[frozenset[str], ...]:
    return tuple(frozenset(map(_stem_verb, said.split())) for said in load_word_lists("tools")["alike"])


@cache
def _stem_verb(word: str) -> str:
    return _load_irregular().get(word, find_verb_stem(stem(word)))


@cache
def _load_irregular() -> Mapping[str, str]:
    said: Mapping[str, str] = load_word_lists("tools")["irregular"]
    return {form: find_verb_stem(stem(verb)) for verb, forms in said.items() for form in forms.split()}


@cache
def _load_claiming(name: str) -> frozenset[str]:
    return frozenset(load_word_lists("tools")["claiming"][name].split())


def _has_claim(
    words: Sequence[str], actions: Collection[str], reported: Collection[str], *, is_first: bool, is_asked: bool
) -> bool:
    for at, word in enumerate(words):
        is_closing = word in _load_claiming("closing")
        if not (is_closing or _is_past(word)) or _is_habit(words, at):
            continue
        others = [other for other in words if other != word]
        names_action = is_closing and any(other.startswith(tuple(actions)) for other in others)
        if not (_stem_verb(word) in actions or names_action):
            continue
        before = words[:at]
        if _is_open(before):
            continue
        if _is_told_by_itself(before):
            return True
        if _is_of_others(words[at:]):
            continue
        is_last = at == len(words) - 1 or words[at + 1] in ("to", "at", "in")
        is_headline = is_last and at < _HEADLINE and _load_claiming("bound").isdisjoint(words)
        opens = (
            is_first
            and _load_claiming("helpers").isdisjoint(words[at:])
            and all(each.endswith("ly") or each in _load_claiming("openings") for each in before)
        )
        is_report = word in reported or _is_report(word, words, before, reported)
        is_elliptic = (is_headline or opens) and not is_asked  # "bill paid, yes or no?" asks
        if not is_report and (_is_passive(before) or is_elliptic):
            return True
    return False


def _is_past(word: str) -> bool:
    return word.endswith("ed") or word in _load_irregular()


def _is_habit(words: Sequence[str], at: int) -> bool:
    """Say whether a passive of the present tells how things are: each time, to a degree, since before."""
    before = words[:at]
    is_present = not {"is", "are"}.isdisjoint(before) and {"been", "now"}.isdisjoint(before)
    return is_present and (before[-1] in ("already", "fully") or not {"each", "every"}.isdisjoint(words[at:]))


def _is_report(word: str, words: Sequence[str], before: Sequence[str], reported: Collection[str]) -> bool:
    """Say whether a simple past tells of an earlier day, or of what results speak of."""
    if {"was", "were"}.isdisjoint(before) or not {"been", "have", "has"}.isdisjoint(before):
        return False
    is_dated = any(each in _load_claiming("times") or _YEAR.fullmatch(each) for each in words)
    return is_dated or _stem_verb(word) in {_stem_verb(each) for each in reported}


def _is_of_others(words: Sequence[str]) -> bool:
    """Say whether what follows a past form makes it a rule, a plan, or what somebody else did."""
    by = next((words[at + 1] for at, word in enumerate(words[:-1]) if word == "by"), None)
    return (by is not None and by not in ("me", "us")) or not _load_claiming("later").isdisjoint(words)


def _is_open(before: Sequence[str]) -> bool:
    """Say whether what stands before a past form denies it, asks for it, or leaves it open."""
    aimed = any(pair in pairwise(before) for pair in (("to", "be"), ("to", "have"), ("to", "get")))
    denied = not load_negations().isdisjoint(before) or any(each.endswith("n't") for each in before)
    return aimed or denied or not _load_claiming("open").isdisjoint(before)


def _is_told_by_itself(before: Sequence[str]) -> bool:
    """Say whether I or we stand before a past form, with no other subject and no passive in between."""
    near = before[-_MOST_BETWEEN - 2 :]
    person = next((at for at in range(len(near) - 1, -1, -1) if near[at] in _load_claiming("persons")), None)
    return person is not None and _load_claiming("others").isdisjoint(near[person + 1 :])


def _is_passive(before: Sequence[str]) -> bool:
    """Say whether an auxiliary stands before a past form, with adverbs alone in between."""
    at = next((at for at in range(len(before) - 1, -1, -1) if before[at] in _load_claiming("helpers")), None)
    if at is None or "that" in before[:at]:
        return False
    between = before[at + 1 :]
    return all(word.endswith("ly") or word in _load_claiming("adverbs") or _is_past(word) for word in between)
