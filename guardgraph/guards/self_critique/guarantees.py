"""Guarantees: what promises an outcome."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from itertools import takewhile

from guardgraph.guards.self_critique.closing import TROUBLE
from guardgraph.guards.self_critique.grammar import DENIALS, FINITE, IN_GROUP, is_content, listed
from guardgraph.guards.self_critique.spoken import BREAK, COMMA, NO_LONGER, PERCENT, word_after, word_before
from guardgraph.guards.self_critique.verbs import stands, verb_group

__all__ = ["GUARANTEES", "guarantees"]

GUARANTEE, ENSURE, PROMISE, CERTAIN, NEVER_AGAIN, NO_RISK, HUNDRED = GUARANTEES = (
    "guarantee",
    "ensure",
    "promise",
    "certain",
    "will not happen again",
    "no risk",
    "100 %",
)
"""The guarantees, by name."""

_VERBS = {
    **dict.fromkeys(listed("guarantee guarantees guaranteed guaranty"), GUARANTEE),
    **dict.fromkeys(listed("ensure ensures ensured"), ENSURE),
    **dict.fromkeys(
        listed("promise promises promised assure assures assured pledge pledges vow vows swear warrant"), PROMISE
    ),
}
_NOUNS = listed("guarantee guarantees guaranty guaranties promise promises assurance assurances pledge vow")
_NOUN_STARTS = listed(
    """a an the no any our this that full own such firm clear written back without as of giving give gives make makes
    made offer offers these under with other is are was were"""
)
"""Before one of these words a noun begins; another noun before it makes it a term of technology."""
_VERB_STARTS = listed("we i you they to not will can cannot and it he she that which who this also")
_OBJECTS = listed("that a the you your it no every all this our us them full what")
_WILLING = listed("able happy glad proud pleased ready willing hesitate hesitant")
"""Before *to guarantee* these leave the promise what it is."""
_HESITANT = listed("hesitate hesitant hesitation reluctant")
_REFUSING = listed("no none nobody nothing without rather than refuse refuses any less")
_READERS = listed("you customers users clients merchants partners please help helps to and")
_DUTY = listed("should must need")
_UNREAL = listed("may might could would")
_FAILING = listed(
    """happen happens occur occurs recur recurs reoccur reoccurs return returns repeat repeated repeats fail fails
    reappear reopen break lost charged affected late lose loses"""
)
"""What will not happen is promised never to."""
_RISK = listed("risk risks danger chance possibility doubt way")
_MEASURED = listed(
    """was were had failed reached hit peaked rose dropped fell affected error errors rate usage capacity utilization
    utilisation cpu disk memory rolled rollout traffic covers failing lost declined rejected between during saw load
    measured     loss full complete failure failures down unavailable degraded"""
)
_CERTAINLY = listed("certainly definitely undoubtedly doubtless unquestionably surely")
_Reader = Callable[[list[str], int], str | None]


def guarantees(tokens: list[str]) -> Iterator[str]:
    """Name the guarantees of a sentence.

    Args:
        tokens: a sentence of `spoken_sentences`.
    """
    readers = _readers()
    for place, token in enumerate(tokens):
        if token in readers and (name := readers[token](tokens, place)):
            yield name


@cache
def _readers() -> dict[str, _Reader]:
    """Return what reads each word."""
    readers: dict[str, _Reader] = dict.fromkeys([*_VERBS, *_NOUNS], _promise)
    readers |= dict.fromkeys(
        ("certainly", "definitely", "undoubtedly", "doubtless", "unquestionably", "surely"), _certainly
    )
    readers |= dict.fromkeys(("certain", "sure"), _certain)
    readers |= dict.fromkeys(("impossible", "rule", "ruled", "question"), _impossible)
    readers |= dict.fromkeys(_RISK, _no_risk)
    readers |= {"not": _not_again, "never": _never, "no": _none_will, "zero": _none_will, "nothing": _none_will}
    readers |= {"nobody": _none_will, "none": _none_will, NO_LONGER: _not_again, "bank": _count_on, "depend": _count_on}
    readers |= {"count": _count_on, "rely": _count_on, "commit": _commit, "always": _always}
    return readers | {PERCENT: _hundred, "word": _our_word, "circumstances": _in_no_case}


def _segment(tokens: list[str], at: int) -> list[str]:
    """Return the words before a place, up to a stop or a word that opens a statement of its own."""
    start = at
    while start > max(0, at - 10) and tokens[start - 1] not in (COMMA, BREAK, "but", "yet", "because", "so"):
        if tokens[start - 1] == "and" and tokens[start] in ("we", "i", "it", "you", "our", "your", "the", "this"):
            break
        start -= 1
    return tokens[start:at]


def _promise(tokens: list[str], at: int) -> str | None:
    """Read *guarantee*, *ensure* and *promise*, as verbs and as nouns."""
    token = tokens[at]
    name = _VERBS.get(token, GUARANTEE if token.startswith("guarant") else PROMISE)
    if token in _NOUNS and _is_noun(tokens, at):
        return name if _is_given(tokens, at) else None
    if word_before(tokens, at) == "as" or (token == "guaranteed" and _is_attribute(tokens, at)):
        return None
    if token == "ensure" and _is_asked(tokens, at):
        return None
    return name if token in _VERBS and _is_promised(tokens, at) else None


def _is_noun(tokens: list[str], at: int) -> bool:
    before, follows = word_before(tokens, at), word_after(tokens, at)
    if before in _NOUN_STARTS or before.endswith("ing") or not at:
        return bool(at) or tokens[at].endswith("s") or follows in ("of", "is")
    if before in _VERB_STARTS | IN_GROUP | {COMMA, BREAK} or before.endswith("ly"):
        return before in ("not", "and") and not (is_content(follows) or follows in _OBJECTS)
    if before.endswith("s") and not tokens[at].endswith("s"):
        return follows == "of"
    return not tokens[at].endswith("s") or not (is_content(follows) or follows in _OBJECTS)


def _is_given(tokens: list[str], at: int) -> bool:
    """Say whether a guarantee, named by the noun, is given: not denied, and no term of technology."""
    before, following = _segment(tokens, at), tokens[at + 1 : at + 4]
    is_denied = not (DENIALS | _REFUSING).isdisjoint(before) and _HESITANT.isdisjoint(before)
    is_technical = at > 0 and word_before(tokens, at) not in _NOUN_STARTS | {"not", "and", COMMA, BREAK}
    gives = {"we", "i"} & set(before) and {"give", "offer", "provide"} & set(before)
    return not (is_denied or "not" in following) and (not is_technical or bool(gives))


def _is_attribute(tokens: list[str], at: int) -> bool:
    """Say whether *guaranteed* belongs to a noun: *a guaranteed CPU share*."""
    is_verb = verb_group(tokens, at).words & (FINITE | {"be", "been"}) or word_before(tokens, at) in ("we", "i", "they")
    return is_content(word_after(tokens, at)) and not is_verb


def _is_asked(tokens: list[str], at: int) -> bool:
    """Say whether the reader is asked to see to it, or it is a duty or a purpose: *please ensure that ...*."""
    group = verb_group(tokens, at)
    is_order = word_before(tokens, group.start) in _READERS | {COMMA, BREAK}
    return not group.is_infinitive and (is_order or not _DUTY.isdisjoint(group.words))


def _is_promised(tokens: list[str], at: int) -> bool:
    """Say whether a promise, made by a verb, is made: not denied, not an aim, not only thinkable."""
    group = verb_group(tokens, at)
    if group.is_infinitive:
        governor = group.start - 1
        is_denied = DENIALS & verb_group(tokens, governor).words if governor > 0 else frozenset()
        is_willing = governor >= 0 and tokens[governor] in _WILLING
        return is_willing and bool(is_denied) == (tokens[governor] in _HESITANT)
    denies = group.words & (DENIALS | _UNREAL) and _HESITANT.isdisjoint(tokens[max(0, at - 8) : at])
    return not denies and stands(tokens, at, len(tokens), group=group.without(*_DUTY, "can", "being"))


def _certainly(tokens: list[str], at: int) -> str | None:
    """Read *certainly*, *without a doubt*."""
    is_denied = {"not", "almost", "nearly"} & set(tokens[max(0, at - 2) : at + 2])
    return CERTAIN if not is_denied and stands(tokens, at, at + 1) else None


def _certain(tokens: list[str], at: int) -> str | None:
    """Read *we are certain*, *you can be sure*."""
    group = verb_group(tokens, at)
    is_order = word_after(tokens, at) == "to" and group.words.isdisjoint(FINITE)
    is_said = group.is_said and not is_order and not is_content(word_after(tokens, at))
    return CERTAIN if is_said and stands(tokens, at, at + 1, group=group.without("can")) else None


def _ahead(tokens: list[str], at: int) -> list[str]:
    """Return the words of the clause that follow a place."""
    said: list[str] = []
    for token in tokens[at + 1 : at + 9]:
        if token in (COMMA, BREAK, "and", "but", "which", "until", "if", "unless", "before", "because"):
            break
        if token == "that" and said[-1:] not in (["let"], ["see"], ["allow"]):
            break
        said.append(token)
    return said


def _is_certain(tokens: list[str], at: int, end: int) -> bool:
    """Say whether it is said as it is; its own negation is what is promised."""
    group = verb_group(tokens, at)
    return stands(tokens, at, end, group=group.without("not", "never", "can", "will", NO_LONGER))


def _not_again(tokens: list[str], at: int) -> str | None:
    """Read *will not happen again*, *cannot fail*, *is not going to recur*."""
    said, modals = _ahead(tokens, at), {"will", "can", "shall"} & {word_before(tokens, at), word_after(tokens, at)}
    said = said[1:] if said[:1] == ["will"] else said
    is_failure = not _FAILING.isdisjoint(said[:2]) or said[:2] in (["go", "down"], ["go", "wrong"], ["come", "back"])
    is_again = "again" in said and not {"be", "log", "pay", "say"} & set(said[:1] if "can" in modals else [])
    return NEVER_AGAIN if modals and (is_again or is_failure) and _is_certain(tokens, at, at + 1) else None


def _never(tokens: list[str], at: int) -> str | None:
    """Read *will never ...*, *never again*."""
    said = _ahead(tokens, at)
    is_future = {"will", "shall", "can"} & {word_before(tokens, at), word_after(tokens, at)} or said[:2] == [
        "again",
        "will",
    ]
    recurs = "again" in said or not _FAILING.isdisjoint(said[:1])
    return NEVER_AGAIN if (is_future or recurs) and _is_certain(tokens, at, at + 1) else None


def _none_will(tokens: list[str], at: int) -> str | None:
    """Read *no payment will be lost*, *nothing can go wrong*, *there will be no more outages*."""
    said = _ahead(tokens, at)
    more = {"more", "further", "new", "other", "another"} & set(said[:1]) and not TROUBLE.isdisjoint(said[:3])
    group, before = verb_group(tokens, at), set(tokens[max(0, at - 5) : at])
    is_ours = group.words & {"will", "shall", "can"} or before & {"promise", "guarantee"}
    modal = next((place for place, token in enumerate(said[:5]) if token in ("will", "can")), None)
    rest = said[modal + 1 :] if modal is not None else []
    recurs = rest[:2] == ["go", "wrong"] or {"ever", "again"} & set(rest) or not _FAILING.isdisjoint(rest[:2])
    is_promised = (more and is_ours) or (rest and recurs)
    return NEVER_AGAIN if is_promised and stands(tokens, at, at + 2, group=group.without("can")) else None


def _no_risk(tokens: list[str], at: int) -> str | None:
    """Read *no risk*, *not the slightest danger*, *no way this happens again*."""
    before = tokens[max(0, at - 3) : at]
    if tokens[at] == "way" and word_after(tokens, at) not in ("this", "that", "it"):
        return None
    after = tokens[at + 1 : at + 7]
    is_gone = {"is", "has", "was"} & set(after) and {"zero", "eliminated", "excluded", "nil", "gone"} & set(after)
    if tokens[at] == "risk" and is_gone and not {"not", "never"} & set(after):
        return NO_RISK if stands(tokens, at, at + 1) else None
    if after[:1] == ["assessment"] or not {"no", NO_LONGER, "zero", "without", "slightest"} & set(before):
        return None
    start = at - len(before) if "slightest" in before else at - 1
    group = verb_group(tokens, start).without("not", NO_LONGER)
    return NO_RISK if stands(tokens, start, at + 1, group=group) else None


def _impossible(tokens: list[str], at: int) -> str | None:
    """Read *a repeat is impossible*, *is ruled out*, *it is impossible that payments are lost*."""
    if tokens[at] in ("rule", "ruled") and word_after(tokens, at) != "out":
        return None
    start = at - 3 if tokens[at] == "question" else at
    if tokens[at] == "question" and tokens[max(0, start) : at] != ["out", "of", "the"]:
        return None
    repeats = TROUBLE | {"repeat", "recurrence", "repetition"}
    follows = tokens[at + 1 : at + 9]
    of_failure = follows[:1] in (["that"], ["for"]) and not (_FAILING | {"again"}).isdisjoint(follows)
    of_failure = of_failure or (tokens[at] == "rule" and not repeats.isdisjoint(follows))
    is_meant = of_failure or (not repeats.isdisjoint(_segment(tokens, at)) and follows[:1] != ["to"])
    group = verb_group(tokens, start).without("can")
    return NO_RISK if is_meant and stands(tokens, start, at + 1, group=group) else None


def _hundred(tokens: list[str], at: int) -> str | None:
    """Read *100 % safe*; a measured *100 %* is none."""
    if word_before(tokens, at) not in ("100", "100.0", "100.00"):
        return None
    around = [*_segment(tokens, at), *takewhile(lambda token: token != "without", _ahead(tokens, at))]
    is_measured = not _MEASURED.isdisjoint(around) and "will" not in around
    return HUNDRED if not is_measured and stands(tokens, at - 1, at + 1) else None


def _our_word(tokens: list[str], at: int) -> str | None:
    """Read *you have our word*."""
    is_given = word_before(tokens, at) in ("our", "my") and {"give", "have", "gave"} & set(_segment(tokens, at))
    return PROMISE if is_given and stands(tokens, at - 1, at + 1) else None


def _count_on(tokens: list[str], at: int) -> str | None:
    """Read *you can count on*."""
    return CERTAIN if word_after(tokens, at) == "on" and tokens[max(0, at - 2) : at] == ["you", "can"] else None


def _commit(tokens: list[str], at: int) -> str | None:
    """Read *we commit to ...*."""
    return PROMISE if word_after(tokens, at) == "to" and _is_promised(tokens, at) else None


def _always(tokens: list[str], at: int) -> str | None:
    """Read *will always succeed*."""
    is_future = verb_group(tokens, at).is_future or word_after(tokens, at) == "will"
    return CERTAIN if is_future and stands(tokens, at, at + 1) else None


def _in_no_case(tokens: list[str], at: int) -> str | None:
    """Read *under no circumstances will this happen*."""
    is_phrase = tokens[max(0, at - 2) : at] == ["under", "no"] and word_after(tokens, at) in ("will", "can")
    return NEVER_AGAIN if is_phrase else None
