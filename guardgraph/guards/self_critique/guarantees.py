"""Guarantees: what promises an outcome."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from itertools import takewhile

from guardgraph.guards.self_critique import outcomes, promising
from guardgraph.guards.self_critique.closing import TROUBLE
from guardgraph.guards.self_critique.grammar import DENIALS, FINITE, IN_GROUP, is_content_word
from guardgraph.guards.self_critique.outcomes import read_statement_after, read_statement_before
from guardgraph.guards.self_critique.promising import CERTAIN, GUARANTEE, HUNDRED, PROMISE
from guardgraph.guards.self_critique.spoken import BREAK, COMMA, PERCENT, read_word_after, read_word_before
from guardgraph.guards.self_critique.statements import STOPS, Reader
from guardgraph.guards.self_critique.verbs import is_claim_made, read_verb_group


def find_guarantees(tokens: list[str]) -> Iterator[str]:
    """Name the guarantees of a sentence.

    Args:
        tokens: a sentence of `split_claim_sentences`.
    """
    readers = _index_guarantee_readers()
    for place, token in enumerate(tokens):
        if token in readers and (name := readers[token](tokens, place)):
            yield name
        for phrase in _index_guarantee_phrases().get(token, ()):
            if tuple(tokens[place : place + len(phrase)]) == phrase and is_claim_made(
                tokens, place, place + len(phrase)
            ):
                yield CERTAIN


@cache
def _index_guarantee_phrases() -> dict[str, list[tuple[str, ...]]]:
    """Return the phrases by their first words."""
    phrases: dict[str, list[tuple[str, ...]]] = {}
    for phrase in promising.PHRASES:
        phrases.setdefault(phrase.split()[0], []).append(tuple(phrase.split()))
    return phrases


@cache
def _index_guarantee_readers() -> dict[str, Reader]:
    """Return what reads each word."""
    readers: dict[str, Reader] = dict.fromkeys([*promising.VERBS, *promising.NOUNS], _read_promise_guarantee)
    readers |= dict.fromkeys(promising.CERTAINLY, _read_certainly_guarantee)
    readers |= dict.fromkeys(("certain", "sure"), _read_certain_guarantee)
    readers |= dict.fromkeys(("bank", "depend", "count", "rely"), _read_count_on_guarantee)
    readers |= dict.fromkeys(("commit", "undertake", "vouch", "bet", "stake"), _read_commit_guarantee)
    return (
        readers
        | outcomes.READERS
        | {PERCENT: _read_hundred_guarantee, "word": _read_our_word_guarantee, "trust": _read_trust_guarantee}
    )


def _read_promise_guarantee(tokens: list[str], at: int) -> str | None:
    """Read *guarantee*, *ensure* and *promise*, as verbs and as nouns."""
    token = tokens[at]
    name = promising.VERBS.get(token, GUARANTEE if token.startswith("guarant") else PROMISE)
    if token in promising.NOUNS and _is_guarantee_noun(tokens, at):
        return name if _is_guarantee_given(tokens, at) else None
    if read_word_before(tokens, at) == "as" or (token == "guaranteed" and _is_guaranteed_attribute(tokens, at)):
        return None
    is_term = token in promising.NOUNS and read_word_before(tokens, at) in promising.TERMS | promising.RESOURCES
    is_step = (
        token == "guaranteed"
        and not promising.TERMS.isdisjoint(tokens[at + 1 : at + 5])
        and "by" in tokens[at : at + 5]
    )
    if is_term or is_step or read_word_after(tokens, at) == "nothing":
        return None
    if token == "ensure" and _is_reader_asked(tokens, at):
        return None
    return name if token in promising.VERBS and _is_promise_made(tokens, at) else None


def _is_guarantee_noun(tokens: list[str], at: int) -> bool:
    before, follows = read_word_before(tokens, at), read_word_after(tokens, at)
    if before in promising.NOUN_STARTS or before.endswith("ing") or not at:
        return bool(at) or tokens[at].endswith("s") or follows in ("of", "is")
    if before in promising.VERB_STARTS | IN_GROUP | {COMMA, BREAK} or before.endswith("ly"):
        return before in ("not", "and") and not (is_content_word(follows) or follows in promising.OBJECTS)
    if before.endswith("s") and not tokens[at].endswith("s"):
        return follows == "of"
    return not tokens[at].endswith("s") or not (is_content_word(follows) or follows in promising.OBJECTS)


def _is_guarantee_given(tokens: list[str], at: int) -> bool:
    """Say whether a guarantee, named by the noun, is given: not denied, and no term of technology."""
    before, following = read_statement_before(tokens, at), tokens[at + 1 : at + 4]
    is_denied = not (DENIALS | promising.REFUSING).isdisjoint(before) and promising.HESITANT.isdisjoint(before)
    is_technical = at > 0 and read_word_before(tokens, at) not in promising.NOUN_STARTS | {"not", "and", COMMA, BREAK}
    is_talk = read_word_before(tokens, at) == "the" and {"was", "were", "expired", "has", "had", "will"} & set(
        tokens[at + 1 : at + 7]
    )
    is_technical = is_technical or bool(is_talk)
    is_technical = is_technical or not promising.TERMS.isdisjoint([*before[-3:], *following[:1]])
    gives = {"we", "i"} & set(before) and {"give", "offer", "provide"} & set(before)
    return not (is_denied or "not" in following) and (not is_technical or bool(gives))


def _is_guaranteed_attribute(tokens: list[str], at: int) -> bool:
    """Say whether *guaranteed* belongs to a noun: *a guaranteed CPU share*."""
    is_verb = read_verb_group(tokens, at).words & (FINITE | {"be", "been"}) or read_word_before(tokens, at) in (
        "we",
        "i",
        "they",
    )
    if read_word_after(tokens, at) in FINITE and not is_verb and at:
        return True
    is_promise = read_word_after(tokens, at) in promising.OUTCOMES and not is_content_word(
        read_word_after(tokens, at + 1)
    )
    return is_content_word(read_word_after(tokens, at)) and not is_verb and not is_promise


def _is_reader_asked(tokens: list[str], at: int) -> bool:
    """Say whether the reader is asked to see to it, or it is a duty or a purpose: *please ensure that ...*."""
    group = read_verb_group(tokens, at)
    is_order = read_word_before(tokens, group.start) in promising.ASKED | {COMMA, BREAK}
    return not group.is_infinitive and (is_order or not promising.DUTY.isdisjoint(group.words))


def _is_promise_made(tokens: list[str], at: int) -> bool:
    """Say whether a promise, made by a verb, is made: not denied, not an aim, not only thinkable."""
    group = read_verb_group(tokens, at)
    if group.is_infinitive:
        governor = group.start - 1
        is_denied = DENIALS & read_verb_group(tokens, governor).words if governor > 0 else frozenset()
        is_willing = governor >= 0 and tokens[governor] in promising.WILLING
        return is_willing and bool(is_denied) == (tokens[governor] in promising.HESITANT)
    denies = group.words & (DENIALS | promising.UNREAL) and promising.HESITANT.isdisjoint(tokens[max(0, at - 8) : at])
    return not denies and is_claim_made(
        tokens, at, len(tokens), group=group.drop_words(*promising.DUTY, "can", "being")
    )


def _read_certainly_guarantee(tokens: list[str], at: int) -> str | None:
    """Read *certainly*, *without a doubt*."""
    is_denied = bool({"not", "almost", "nearly"} & set(tokens[max(0, at - 2) : at + 2]))
    is_denied = is_denied or (tokens[at + 2 : at + 3] == ["not"] and tokens[at + 1] in _TELLING)
    return CERTAIN if not is_denied and is_claim_made(tokens, at, at + 1) else None


_TELLING = frozenset({"had", "has", "have", "was", "were", "is", "are", "did", "do", "does"})
"""Auxiliaries of what was or is; only *certainly will not* promises."""


def _read_certain_guarantee(tokens: list[str], at: int) -> str | None:
    """Read *we are certain*, *you can be sure*."""
    group = read_verb_group(tokens, at)
    is_order = read_word_after(tokens, at) == "to" and group.words.isdisjoint(FINITE)
    is_said = group.has_being_verb and not is_order and not is_content_word(read_word_after(tokens, at))
    return CERTAIN if is_said and is_claim_made(tokens, at, at + 1, group=group.drop_words("can")) else None


def _read_hundred_guarantee(tokens: list[str], at: int) -> str | None:
    """Read *100 % safe*; a measured *100 %* is none."""
    if read_word_before(tokens, at) not in ("100", "100.0", "100.00"):
        return None
    around = [
        *tokens[max(0, at - 4) : at],
        *read_statement_before(tokens, at),
        *takewhile(lambda token: token != "without", read_statement_after(tokens, at)),
    ]
    is_measured = not promising.MEASURED.isdisjoint(around)
    is_measured = is_measured or (read_word_after(tokens, at) == "of" and any(said.endswith("ed") for said in around))
    is_measured = is_measured and "will" not in around
    return HUNDRED if not is_measured and is_claim_made(tokens, at - 1, at + 1) else None


def _read_our_word_guarantee(tokens: list[str], at: int) -> str | None:
    """Read *you have our word*."""
    is_ours = read_word_before(tokens, at) in ("our", "my")
    if is_ours and tokens[at + 1 : at + 3] in (["on", "it"], ["on", "that"], ["for", "it"]):
        return PROMISE
    is_given = is_ours and {"give", "have", "gave"} & set(read_statement_before(tokens, at))
    return PROMISE if is_given and is_claim_made(tokens, at - 1, at + 1) else None


def _read_count_on_guarantee(tokens: list[str], at: int) -> str | None:
    """Read *you can count on*."""
    can = {"can", "may", "could", "will"} & set(tokens[max(0, at - 2) : at])
    is_told = (
        read_word_after(tokens, at) in ("on", "upon")
        and can
        and {"not", "we", "i"}.isdisjoint(read_statement_before(tokens, at))
    )
    return CERTAIN if is_told and TROUBLE.isdisjoint(tokens[at + 1 : at + 5]) else None


def _read_trust_guarantee(tokens: list[str], at: int) -> str | None:
    """Read *trust us, it will hold*."""
    is_asked = read_word_before(tokens, at) in (*STOPS, "can", "and", "but") and read_word_after(tokens, at) in (
        "us",
        "me",
    )
    return CERTAIN if is_asked else None


def _read_commit_guarantee(tokens: list[str], at: int) -> str | None:
    """Read *we commit to ...*, *we bet our reputation*."""
    ours = {"we", "i"} & set(read_statement_before(tokens, at)[-3:])
    is_said = read_word_after(tokens, at) in ("to", "for") or (ours and tokens[at] in ("bet", "stake"))
    return PROMISE if is_said and _is_promise_made(tokens, at) else None
