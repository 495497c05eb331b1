"""Guarantees that name an outcome: it will not happen again, a repeat is impossible, your money is absolutely safe."""

from __future__ import annotations

from guardgraph.guards.self_critique import promising
from guardgraph.guards.self_critique.closing import TROUBLE
from guardgraph.guards.self_critique.grammar import is_content_word
from guardgraph.guards.self_critique.promising import CERTAIN, NEVER_AGAIN, NO_RISK
from guardgraph.guards.self_critique.spoken import BREAK, COMMA, NO_LONGER, read_word_after, read_word_before
from guardgraph.guards.self_critique.statements import (
    Reader,
    combine_claim_readers,
    read_clause_after,
    read_clause_before,
)
from guardgraph.guards.self_critique.verbs import is_claim_made, read_verb_group


def read_statement_before(tokens: list[str], at: int) -> list[str]:
    """Return the words before a place, up to a stop or a word that opens a statement of its own."""
    start = at
    while start > max(0, at - 10) and tokens[start - 1] not in (COMMA, BREAK, "but", "yet", "because", "so"):
        if tokens[start - 1] == "and" and tokens[start] in ("we", "i", "it", "you", "our", "your", "the", "this"):
            break
        start -= 1
    return tokens[start:at]


def read_statement_after(tokens: list[str], at: int) -> list[str]:
    """Return the words of the clause that follow a place."""
    said: list[str] = []
    for token in tokens[at + 1 : at + 9]:
        if token in (COMMA, BREAK, "and", "but", "which", "until", "if", "unless", "before", "because"):
            break
        if token == "that" and said[-1:] not in (["let"], ["see"], ["allow"]):
            break
        said.append(token)
    return said


def _is_guarantee_stated(tokens: list[str], at: int, end: int) -> bool:
    """Say whether it is said as it is; its own negation is what is promised."""
    group = read_verb_group(tokens, at)
    return is_claim_made(tokens, at, end, group=group.drop_words("not", "never", "can", "will", NO_LONGER))


def _read_not_again_guarantee(tokens: list[str], at: int) -> str | None:
    """Read *will not happen again*, *cannot fail*, *is not going to recur*."""
    said, modals = (
        read_statement_after(tokens, at),
        {"will", "can", "shall"} & {read_word_before(tokens, at), read_word_after(tokens, at)},
    )
    said = said[1:] if said[:1] == ["will"] else said
    is_failure = not promising.FAILING.isdisjoint(said[:2]) or said[:2] in (
        ["go", "down"],
        ["go", "wrong"],
        ["come", "back"],
    )
    is_again = "again" in said and not {"be", "log", "pay", "say"} & set(said[:1] if "can" in modals else [])
    return NEVER_AGAIN if modals and (is_again or is_failure) and _is_guarantee_stated(tokens, at, at + 1) else None


def _read_never_guarantee(tokens: list[str], at: int) -> str | None:
    """Read *will never ...*, *never again*."""
    said = read_statement_after(tokens, at)
    is_future = {"will", "shall", "can"} & {read_word_before(tokens, at), read_word_after(tokens, at)} or said[:2] == [
        "again",
        "will",
    ]
    recurs = (
        "again" in said
        or said[:2] in (["at", "risk"], ["in", "danger"], ["at", "stake"])
        or not promising.FAILING.isdisjoint(said[:1])
    )
    return NEVER_AGAIN if (is_future or recurs) and _is_guarantee_stated(tokens, at, at + 1) else None


def _read_none_will_guarantee(tokens: list[str], at: int) -> str | None:
    """Read *no payment will be lost*, *nothing can go wrong*, *there will be no more outages*."""
    said = read_statement_after(tokens, at)
    more = {"more", "further", "new", "other", "another"} & set(said[:1]) and not TROUBLE.isdisjoint(said[:3])
    said_first = tokens[max(0, at - 3) : at]
    none_will = said_first in (["there", "will", "be"], ["there", "shall", "be"], ["there", "can", "be"])
    more = more or (none_will and not (TROUBLE | promising.HARM).isdisjoint(said[:2]))
    group, before = read_verb_group(tokens, at), set(tokens[max(0, at - 5) : at])
    is_ours = group.words & {"will", "shall", "can"} or before & {"promise", "guarantee"}
    modal = next((place for place, token in enumerate(said[:5]) if token in ("will", "can", "shall")), None)
    rest = said[modal + 1 :] if modal is not None else []
    recurs = (
        rest[:2] == ["go", "wrong"]
        or not promising.HARM.isdisjoint(said[:1])
        or {"ever", "again"} & set(rest)
        or not promising.FAILING.isdisjoint(rest[:2])
    )
    is_promised = (more and is_ours) or (rest and recurs)
    return NEVER_AGAIN if is_promised and is_claim_made(tokens, at, at + 2, group=group.drop_words("can")) else None


def _read_no_risk_guarantee(tokens: list[str], at: int) -> str | None:
    """Read *no risk*, *not the slightest danger*, *no way this happens again*."""
    before = tokens[max(0, at - 3) : at]
    if tokens[at] == "way" and read_word_after(tokens, at) not in ("this", "that", "it"):
        return None
    after = tokens[at + 1 : at + 7]
    is_gone = {"is", "has", "was"} & set(after) and {"zero", "eliminated", "excluded", "nil", "gone"} & set(after)
    if tokens[at] not in ("way", "doubt") and is_gone and not {"not", "never"} & set(after):
        return NO_RISK if is_claim_made(tokens, at, at + 1) else None
    if before[-2:] == ["not", "any"]:
        return (
            NO_RISK
            if is_claim_made(tokens, at - 1, at + 1, group=read_verb_group(tokens, at - 1).drop_words("not"))
            else None
        )
    if after[:1] == ["assessment"] or not {"no", NO_LONGER, "zero", "without", "slightest"} & set(before):
        return None
    start = at - len(before) if "slightest" in before else at - 1
    group = read_verb_group(tokens, start).drop_words("not", NO_LONGER)
    return NO_RISK if is_claim_made(tokens, start, at + 1, group=group) else None


def _read_impossible_guarantee(tokens: list[str], at: int) -> str | None:
    """Read *a repeat is impossible*, *is ruled out*, *it is impossible that payments are lost*."""
    if tokens[at] in ("rule", "ruled") and read_word_after(tokens, at) != "out":
        return None
    start = at - 3 if tokens[at] == "question" else at
    if tokens[at] == "question" and tokens[max(0, start) : at] != ["out", "of", "the"]:
        return None
    repeats = TROUBLE | promising.HARM
    follows = tokens[at + 1 : at + 9]
    of_failure = follows[:1] in (["that"], ["for"]) and not (promising.FAILING | {"again"}).isdisjoint(follows)
    of_failure = of_failure or ("come" in follows and "back" in follows)
    of_failure = of_failure or (tokens[at] == "rule" and not repeats.isdisjoint(follows))
    is_meant = of_failure or (not repeats.isdisjoint(read_statement_before(tokens, at)) and follows[:1] != ["to"])
    group = read_verb_group(tokens, start).drop_words("can")
    return NO_RISK if is_meant and is_claim_made(tokens, start, at + 1, group=group) else None


def _read_always_guarantee(tokens: list[str], at: int) -> str | None:
    """Read *will always succeed*."""
    is_future = read_verb_group(tokens, at).is_future or {"will", "shall"} & set(tokens[at + 1 : at + 8])
    return CERTAIN if is_future and is_claim_made(tokens, at, at + 1) else None


def _read_no_case_guarantee(tokens: list[str], at: int) -> str | None:
    """Read *under no circumstances will this happen*."""
    is_phrase = tokens[max(0, at - 2) : at] == ["under", "no"] and read_word_after(tokens, at) in ("will", "can")
    return NEVER_AGAIN if is_phrase else None


def _read_perfect_guarantee(tokens: list[str], at: int) -> str | None:
    """Read *is bulletproof*, *our foolproof process*."""
    is_attribute = is_content_word(read_word_after(tokens, at))
    group = read_verb_group(tokens, at)
    is_said = (
        read_word_before(tokens, at) in ("a", "an", "our", "this", "your") if is_attribute else group.has_being_verb
    )
    is_said = is_said and not (is_attribute and tokens[at] in ("failsafe", "immune"))
    return CERTAIN if is_said and is_claim_made(tokens, at, at + 1, group=group) else None


def _read_last_time_guarantee(tokens: list[str], at: int) -> str | None:
    """Read *this was the last time*."""
    group = read_verb_group(tokens, at - 1) if read_word_before(tokens, at) == "the" else read_verb_group(tokens, 0)
    is_said = group.has_being_verb and read_word_before(tokens, group.start) in ("this", "that", "it", "these")
    is_meant = is_said and read_word_after(tokens, at) in TROUBLE | {"time"}
    return NEVER_AGAIN if is_meant and is_claim_made(tokens, at - 1, at + 2, group=group) else None


def _read_prevents_guarantee(tokens: list[str], at: int) -> str | None:
    """Read *this permanently prevents such failures*, *will prevent a repeat*, *we can exclude further losses*."""
    group, after = read_verb_group(tokens, at), read_clause_after(tokens, at)
    if tokens[at] in ("rule", "rules") and after[:1] != ["out"]:
        return None
    if read_word_before(tokens, at) in ("help", "helps", "helped") or tokens[max(0, at - 2) : at] == ["help", "to"]:
        return None
    lasting = group.is_future or not promising.LASTING.isdisjoint([*after, *tokens[max(0, at - 2) : at]])
    objects = TROUBLE | promising.HARM | {"this", "it"}
    if not lasting or objects.isdisjoint(after) or not read_clause_before(tokens, at):
        return None
    if tokens[at] in ("exclude", "rule"):
        group = group.drop_words("can")
    return NO_RISK if is_claim_made(tokens, at, at + 1, group=group) else None


def _read_safe_guarantee(tokens: list[str], at: int) -> str | None:
    """Read *your money is absolutely safe*."""
    group = read_verb_group(tokens, at)
    is_said = (
        group.words & promising.WHOLLY and group.has_being_verb and not is_content_word(read_word_after(tokens, at))
    )
    return CERTAIN if is_said and is_claim_made(tokens, at, at + 1, group=group) else None


def _read_no_worry_guarantee(tokens: list[str], at: int) -> str | None:
    """Read *you have nothing to worry about*, *you need not fear any loss*."""
    before = tokens[max(0, at - 5) : at]
    is_told = ("need" in before and "not" in before) or (before[-1:] == ["to"] and {"nothing", "no"} & set(before))
    return CERTAIN if is_told and read_word_after(tokens, at) != "if" else None


def _read_not_possible_guarantee(tokens: list[str], at: int) -> str | None:
    """Read *a second failure is not possible*."""
    group = read_verb_group(tokens, at)
    of_harm = not (TROUBLE | promising.HARM).isdisjoint(read_statement_before(tokens, at))
    is_said = of_harm and group.words & {"not", NO_LONGER} and group.has_being_verb
    return NO_RISK if is_said and is_claim_made(tokens, at, at + 1, group=group.drop_words("not", NO_LONGER)) else None


READERS: dict[str, Reader] = {
    **dict.fromkeys(("impossible", "ruled", "question"), _read_impossible_guarantee),
    **dict.fromkeys(promising.RISK, _read_no_risk_guarantee),
    **dict.fromkeys(("no", "zero", "nothing", "nobody", "none"), _read_none_will_guarantee),
    **dict.fromkeys(promising.PERFECT, _read_perfect_guarantee),
    **dict.fromkeys(promising.PREVENTING, _read_prevents_guarantee),
    **dict.fromkeys(promising.SAFE, _read_safe_guarantee),
    **dict.fromkeys(("worry", "fear"), _read_no_worry_guarantee),
    **dict.fromkeys(("not", NO_LONGER), _read_not_again_guarantee),
    "rule": combine_claim_readers(_read_impossible_guarantee, _read_prevents_guarantee),
    "never": _read_never_guarantee,
    "possible": _read_not_possible_guarantee,
    "always": _read_always_guarantee,
    "last": _read_last_time_guarantee,
    "circumstances": _read_no_case_guarantee,
}
"""What reads each word."""
