"""Closures: what says that an incident is over."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from itertools import pairwise

from guardgraph.guards.self_critique import closing
from guardgraph.guards.self_critique.grammar import BEING, FINITE, PREPOSITIONS, STARTERS, is_content
from guardgraph.guards.self_critique.spoken import BREAK, COMMA, NO_LONGER, word_after, word_before, words_around
from guardgraph.guards.self_critique.verbs import VerbGroup, stands, verb_group

__all__ = ["closures"]

_STOPS = (COMMA, BREAK)
_Reader = Callable[[list[str], int], str | None]


def closures(tokens: list[str]) -> Iterator[str]:
    """Name the closures of a sentence.

    Args:
        tokens: a sentence of `spoken_sentences`.
    """
    readers, phrases = _readers(), _phrases()
    for place, token in enumerate(tokens):
        if token in readers and (name := readers[token](tokens, place)):
            yield name
        for phrase in phrases.get(token, ()):
            end = place + len(phrase)
            if tuple(tokens[place:end]) == phrase and stands(tokens, place, end):
                yield " ".join(phrase)


@cache
def _readers() -> dict[str, _Reader]:
    """Return what reads each word."""
    readers: dict[str, _Reader] = dict.fromkeys((*closing.WELL, "as"), _as_usual)
    readers |= dict.fromkeys(closing.GOOD | closing.AGAIN_GOOD, _good)
    for base, present, past, gerund in closing.FORMS:
        readers |= {base: _base, present: _present, past: _past, gerund: _gerund}
    readers |= dict.fromkeys(closing.STATES, _state)
    readers |= dict.fromkeys(("return", "returns", "returned", "went", "reverted"), _returned)
    readers |= dict.fromkeys(("works", "work", "working", "worked"), _works)
    readers |= {"back": _back, "again": _again, "up": _up, "no": _none_left, NO_LONGER: _no_longer, "anymore": _anymore}
    return readers | {"put": _put_right}


@cache
def _phrases() -> dict[str, list[tuple[str, ...]]]:
    """Return the phrases by their first words."""
    phrases: dict[str, list[tuple[str, ...]]] = {}
    for phrase in closing.PHRASES:
        phrases.setdefault(phrase[0], []).append(phrase)
    return phrases


@cache
def _past_form(verb: str) -> str:
    return next((forms[2] for forms in closing.FORMS if verb in forms), verb)


def _made(tokens: list[str], at: int, end: int | None = None, *, group: VerbGroup | None = None) -> bool:
    return not _is_of_a_part(tokens, at) and stands(tokens, at, end or at + 1, group=group)


def _is_of_a_part(tokens: list[str], at: int) -> bool:
    """Say whether it is said of a part: *restored for some customers*, *recovered in part*."""
    following = words_around(tokens, at, before=0, after=8)
    if following[1:2] in (["partly"], ["partially"], ["some"], ["few"]):
        return True
    if following[1:3] in (["a", "few"], ["part", "of"], ["so", "far"]):
        return True
    parts = {"some", "most", "many", "several", "half"}
    return any(token in parts and before in PREPOSITIONS for before, token in pairwise(following))


def _is_event(tokens: list[str], at: int) -> bool:
    """Say whether a verb or state is said of what it closes, its object where it has one, or stands alone."""
    verb, has_object = _past_form(tokens[at]), word_after(tokens, at) in STARTERS and tokens[at] not in closing.STATES
    wanted, around = closing.SUBJECTS.get(verb), words_around(tokens, at, before=0 if has_object else 12)
    if verb == "mitigated" and closing.FULLY.isdisjoint(around):
        return False
    return wanted is None or not wanted.isdisjoint(around) or len(around) <= 2


def _is_attribute(tokens: list[str], at: int) -> bool:
    """Say whether a participle belongs to a noun: *a fixed fee*, *recovered data is being checked*."""
    follows, before = word_after(tokens, at), word_before(tokens, at)
    if not is_content(follows) or verb_group(tokens, at).words & BEING:
        return False
    if before in _STOPS or not at:
        return follows not in closing.TROUBLE and not FINITE.isdisjoint(tokens[at + 2 : at + 5])
    is_noun_phrase = before in (STARTERS - {"we", "i", "they", "it", "you"}) | PREPOSITIONS or before.endswith("ly")
    return is_noun_phrase and not (tokens[at] == "resolved" and follows in closing.TROUBLE)


def _past(tokens: list[str], at: int) -> str | None:
    """Read *resolved*, *the incident was closed*."""
    token, follows = tokens[at], word_after(tokens, at)
    if _is_attribute(tokens, at) or not _is_event(tokens, at) or tokens[at + 1 : at + 3] == ["the", "first"]:
        return None
    is_other = (token == "stopped" and follows.endswith("ing")) or (token == "addressed" and follows == "to")
    return token if not is_other and _made(tokens, at) else None


def _state(tokens: list[str], at: int) -> str | None:
    """Read *the outage is over*, *maintenance is complete*."""
    token, follows = tokens[at], word_after(tokens, at)
    if token == "finished" and not is_content(follows) and _is_event(tokens, at):
        return token if _made(tokens, at) else None
    if not _is_predicate(tokens, at) or not _is_event(tokens, at):
        return None
    is_measure = token in ("over", "past") and (follows[0].isdigit() or follows in ("the", "to", "a", "its", "our"))
    return token if not is_measure and _made(tokens, at) else None


def _base(tokens: list[str], at: int) -> str | None:
    """Read *will resolve*, *managed to fix*, *did you close it*; *complete* is a state, too."""
    stated = {"will", "shall", "did", "able", "managed", "hereby"}
    has_verb = verb_group(tokens, at).words & stated or tokens[max(0, at - 2) : at - 1] == ["did"]
    if tokens[at] == "complete" and not has_verb:
        return _state(tokens, at)
    return _past_form(tokens[at]) if has_verb and _is_event(tokens, at) and _made(tokens, at) else None


def _present(tokens: list[str], at: int) -> str | None:
    """Read *this resolves the incident*."""
    has_object = word_after(tokens, at) in ("the", "this", "it", "all", "that", "our", "your", "every", "everything")
    is_said = at > 0 and (has_object or tokens[at] == "resolves")
    return _past_form(tokens[at]) if is_said and _is_event(tokens, at) and _made(tokens, at) else None


def _gerund(tokens: list[str], at: int) -> str | None:
    """Read *succeeded in restoring*, *we are closing this incident*."""
    if tokens[max(0, at - 2) : at] == ["succeeded", "in"]:
        return _past_form(tokens[at]) if _made(tokens, at - 2, at + 1) else None
    closes = tokens[at] == "closing" and verb_group(tokens, at).words & {"are", "am"}
    return "closed" if closes and _is_event(tokens, at) and _made(tokens, at) else None


def _is_predicate(tokens: list[str], at: int) -> bool:
    """Say whether something is said to be so: *is stable*, *all systems operational*, *is the outage over*."""
    if is_content(word_after(tokens, at)):
        return False
    around = words_around(tokens, at, after=1)
    if verb_group(tokens, at).is_said or around[:1] in (["is"], ["are"]):
        return True
    is_short = len(around) <= 5 and FINITE.isdisjoint(around) and around[0] != "with"
    return is_short and not {"the", "a", "an", "our", "for", "of", "in", "to", "and"} & set(around[-2:])


def _good(tokens: list[str], at: int) -> str | None:
    """Read *all systems are operational*, *everything is fine*, *available again*."""
    token, follows, around = tokens[at], word_after(tokens, at), words_around(tokens, at, after=8)
    of_all = not {"everything", "all"}.isdisjoint(around)
    if token in closing.AGAIN_GOOD:
        is_weak = token in ("live", "possible", "available", "reachable", "accessible")
        if not ({"again", "fully"} & set(around) or (of_all and not is_weak)):
            return None
    is_other = follows in ("that", "at") or (follows == "to" and token in ("normal", "possible"))
    is_usual = token == "normal" and {"delay", "delays", "errors", "to"} & set(tokens[max(0, at - 3) : at])
    return token if not (is_other or is_usual) and _is_predicate(tokens, at) and _made(tokens, at) else None


def _returned(tokens: list[str], at: int) -> str | None:
    """Read *returned to normal*, *will return to normal*."""
    goal = tokens[at + 1 : at + 5]
    is_stated = tokens[at] != "return" or verb_group(tokens, at).is_future
    is_normal = goal[:1] == ["to"] and not closing.NORMAL.isdisjoint(goal)
    return "back to normal" if is_normal and is_stated and _made(tokens, at, at + 3) else None


def _back(tokens: list[str], at: int) -> str | None:
    """Read *back to normal*, *is back*, *came back online*."""
    follows, goal = word_after(tokens, at), tokens[at + 1 : at + 5]
    if word_before(tokens, at) in closing.MOVING:
        return None
    start = at - 1 if word_before(tokens, at) in ("came", "come", "brought") else at
    if follows == "to" and not closing.NORMAL.isdisjoint(goal):
        return "back to normal" if _made(tokens, at, at + 3) else None
    is_here = follows in (*_STOPS, "online", "up", "at", "since", "now", "and", "for", "again")
    has_come = verb_group(tokens, at).is_said or follows in ("online", "up")
    has_come = has_come or not {"came", "come", "brought"}.isdisjoint(tokens[max(0, at - 5) : at])
    is_level = follows == "to" and verb_group(tokens, at).is_said and not "".join(goal[1:2]).endswith("ing")
    return "back" if (is_level or (is_here and has_come)) and _made(tokens, start, at + 1) else None


def _up(tokens: list[str], at: int) -> str | None:
    """Read *is up again*, *the site is up*."""
    is_up = verb_group(tokens, at).words & {"is", "are", "be", "been"} and word_before(tokens, at) != "back"
    is_all = word_after(tokens, at) in (*_STOPS, "again", "since", "now")
    return "up" if is_up and is_all and _made(tokens, at) else None


def _works(tokens: list[str], at: int) -> str | None:
    """Read *is working again*, *everything works*."""
    follows, around = word_after(tokens, at), words_around(tokens, at)
    if tokens[at] == "working":
        is_service = {"we", "team", "engineers", "still", "everyone"}.isdisjoint(around)
        is_said = verb_group(tokens, at).is_said or {"got", "everything"} & set(around)
        is_plain = follows in (*_STOPS, *closing.WELL, "now", "and", "as", "for") and (is_service or "got" in around)
        return "working" if is_said and is_plain and _made(tokens, at) else None
    if tokens[at] == "worked":
        is_fix = {"fix", "hotfix", "patch", "rollback", "restart"} & set(around) and follows in (*_STOPS, "and", "for")
        return "worked" if is_fix and _made(tokens, at) else None
    is_of_all = {"everything", "all"} & set(around) and follows not in ("on", "to") and not is_content(follows)
    return "working" if is_of_all and _made(tokens, at) else None


def _as_usual(tokens: list[str], at: int) -> str | None:
    """Read *operating normally*, *performing as expected*, *payments succeed again*."""
    is_usual = word_after(tokens, at) in closing.AS_USUAL or tokens[at + 2 : at + 3] == ["should"]
    if tokens[at] == "as" and not is_usual:
        return None
    for place in range(at - 1, max(-1, at - 4), -1):
        if tokens[place] in closing.DOING:
            group = verb_group(tokens, place)
            has_subject = place > 0 and word_before(tokens, place) not in ("please", "the", "a", "is", "on")
            is_open = {"starting", "beginning", "stopped", "stops"} & set(tokens[max(0, place - 3) : place])
            is_said = (has_subject or group.words) and not is_open
            finite = group.without("being")
            return "working normally" if is_said and _made(tokens, place, at + 1, group=finite) else None
        if tokens[place] in _STOPS:
            return None
    return None


def _again(tokens: list[str], at: int) -> str | None:
    """Read *can log in again*, *can once again pay*; *again* beside *working* is read like *normally*."""
    around = tokens[max(0, at - 6) : at + 3]
    if {"happen", "happens", "occur", "occurs", "recur", "try", "fail", "fails", "failed", "logging"} & set(around):
        return None
    for place in range(at - 1, max(-1, at - 7), -1):
        if tokens[place] in _STOPS:
            break
        if tokens[place] in ("can", "able"):
            return "possible again" if tokens[place + 1] != "not" and _made(tokens, place, at) else None
    return _as_usual(tokens, at)


def _no_longer(tokens: list[str], at: int) -> str | None:
    """Read *no longer an issue*, *no longer see errors*."""
    said = words_around(tokens, at, before=0, after=5)
    return "no longer" if not closing.OVERCOME.isdisjoint(said[1:]) and _made(tokens, at, at + 2) else None


def _anymore(tokens: list[str], at: int) -> str | None:
    """Read *nothing is broken any more*, *it does not occur any more*."""
    around = words_around(tokens, at, after=1)
    is_denied = {"not", "nothing", "nobody", "no"} & set(around)
    return "no longer" if is_denied and not closing.OVERCOME.isdisjoint(around) else None


def _none_left(tokens: list[str], at: int) -> str | None:
    """Read *no further impact*, *no issues remain*."""
    said = words_around(tokens, at, before=0, after=6)
    trouble = next((place for place, token in enumerate(said[:4]) if token in closing.TROUBLE), 0)
    is_left = not closing.LEFT_OVER.isdisjoint(said[1:trouble]) or not {"remain", "remains", "left"}.isdisjoint(said)
    is_said = trouble and is_left and not verb_group(tokens, at).is_future
    return "no further impact" if is_said and _made(tokens, at, at + 2, group=verb_group(tokens, at)) else None


def _put_right(tokens: list[str], at: int) -> str | None:
    """Read *we have put the problem right*."""
    said = words_around(tokens, at, before=0, after=6)
    is_said = "right" in said[2:] and not closing.TROUBLE.isdisjoint(said)
    return "put right" if is_said and _made(tokens, at) else None
