"""Closures that say that a trouble is gone: no more errors, nobody is affected any longer."""

from __future__ import annotations

from guardgraph.guards.self_critique import closing
from guardgraph.guards.self_critique.grammar import FINITE, split_claim_words
from guardgraph.guards.self_critique.spoken import NO_LONGER, read_word_before, read_words_around
from guardgraph.guards.self_critique.statements import Reader, is_closure_made, read_clause_after, read_clause_before
from guardgraph.guards.self_critique.verbs import VerbGroup, read_verb_group

_NOW = split_claim_words("now currently anymore left remain remains remaining present moment point")
_UNKNOWN = split_claim_words("evidence sign signs indication indications reason proof guarantee doubt confirmation way")
_FAILED = split_claim_words("failed crashed timed dropped declined")
_PERFECT = split_claim_words("has have")
_SEEING = split_claim_words("see seeing shows show detect observe observing")


def _read_no_longer_closure(tokens: list[str], at: int) -> str | None:
    """Read *no longer an issue*, *no longer see errors*."""
    said, before = read_words_around(tokens, at, before=0, after=5), read_clause_before(tokens, at)
    is_trouble = not closing.OVERCOME.isdisjoint(said[1:])
    is_bad = closing.LASTING_GOOD.isdisjoint(said[1:3]) and closing.OURS.isdisjoint(before)
    return "no longer" if (is_trouble or is_bad) and is_closure_made(tokens, at, at + 2) else None


def _read_anymore_closure(tokens: list[str], at: int) -> str | None:
    """Read *nothing is broken any more*, *it does not occur any more*."""
    around = read_words_around(tokens, at, after=1)
    is_denied = {"not", "nothing", "nobody", "no", "none", "zero"} & set(around)
    is_bad = closing.LASTING_GOOD.isdisjoint(around) and not ({"nobody", "none"} | closing.USERS).isdisjoint(around)
    return "no longer" if is_denied and (is_bad or not closing.OVERCOME.isdisjoint(around)) else None


def _read_none_left_closure(tokens: list[str], at: int) -> str | None:
    """Read *no further impact*, *no issues remain*, *there are no errors*, *no customers remain affected*."""
    said, before = read_clause_after(tokens, at), read_clause_before(tokens, at, 5)
    trouble = next((place for place, token in enumerate(said[:4]) if token in closing.TROUBLE), -1)
    if not _UNKNOWN.isdisjoint(said[:2]):
        return None
    if tokens[at] in ("nobody", "none"):
        trouble = -1
    elif trouble < 0 and closing.USERS.isdisjoint(said[:4]) and _FAILED.isdisjoint(said):
        return None
    is_left = not closing.LEFT_OVER.isdisjoint(said[: max(trouble, 0)]) or not _NOW.isdisjoint([*said, *before])
    is_other = {"other", "another", "elsewhere", "else", "such", "known", "similar"} & set(said)
    group = read_verb_group(tokens, at)
    if trouble >= 0:
        is_symptom = not closing.SYMPTOMS.isdisjoint(said[: trouble + 1])
        is_left = is_left or (is_symptom and not is_other and _is_trouble_absent(said[trouble + 1 :], before))
    elif not _FAILED.isdisjoint(said) and not _PERFECT.isdisjoint(said):
        is_left = True
    elif closing.OVERCOME.isdisjoint(said):
        return None
    is_left = is_left and not group.is_future and not {"was", "were", "had"} & {*said, *before}
    return "no further impact" if is_left and is_closure_made(tokens, at, at + 2, group=group) else None


def _is_trouble_absent(after: list[str], before: list[str]) -> bool:
    """Say whether a trouble is said to be absent in the present: *there are no errors*, *no errors have been seen*."""
    is_there = before[-2:] in (["there", "is"], ["there", "are"]) or before[-3:-1] == ["there", "have"]
    is_seen = bool(before) and before[-1] in _SEEING
    has_been = not _PERFECT.isdisjoint(after) or (before[-4:-2] == ["there", "has"])
    is_short = not before and not after
    return is_there or is_seen or has_been or is_short or before[-2:] == ["have", "been"] or before[-1:] == ["been"]


def _read_zero_closure(tokens: list[str], at: int) -> str | None:
    """Read *errors are down to zero*; *zero errors* is read like *no errors*."""
    if read_word_before(tokens, at) in ("to", "at"):
        subject = read_clause_before(tokens, at - 1)
        is_gone = not closing.COUNTED.isdisjoint(subject) and {"success", "successful", "recovery"}.isdisjoint(subject)
        return (
            "down to zero"
            if is_gone and is_closure_made(tokens, at - 1, at + 1, group=_read_outer_verb_group(tokens, at - 1))
            else None
        )
    return _read_none_left_closure(tokens, at)


def _read_outer_verb_group(tokens: list[str], at: int) -> VerbGroup:
    start = at - 1 if at and tokens[at - 1] not in FINITE else at
    return read_verb_group(tokens, start)


READERS: dict[str, Reader] = {
    **dict.fromkeys(("no", "nobody", "none"), _read_none_left_closure),
    NO_LONGER: _read_no_longer_closure,
    "anymore": _read_anymore_closure,
    "zero": _read_zero_closure,
}
"""What reads each word."""
