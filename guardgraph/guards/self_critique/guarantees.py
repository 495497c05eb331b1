"""Guarantees: what promises an outcome, by its word or by naming it, as *it will not happen again* does."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from itertools import pairwise, takewhile

from guardgraph.guards.self_critique.reading import (
    BREAK,
    COMMA,
    DENIALS,
    FINITE,
    IN_GROUP,
    NO_LONGER,
    PERCENT,
    STOPS,
    Reader,
    combine_claim_readers,
    is_claim_made,
    is_content_word,
    read_claim_words,
    read_clause_after,
    read_clause_before,
    read_verb_group,
    read_word_after,
    read_word_before,
    split_claim_words,
)
from guardgraph.guards.self_critique.recovery import ANNOUNCING, NEWS, TROUBLE

# Words

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

VERBS = {
    **dict.fromkeys(split_claim_words("guarantee guarantees guaranteed guaranty"), GUARANTEE),
    **dict.fromkeys(split_claim_words("ensure ensures ensured"), ENSURE),
    **dict.fromkeys(
        split_claim_words(
            """promise promises promised assure assures assured pledge pledges vow vows swear warrant warrants"""
        ),
        PROMISE,
    ),
}
NOUNS = read_claim_words("guarantees", "nouns")
NOUN_STARTS = read_claim_words("guarantees", "noun_starts")
"""Before one of these words a noun begins; another noun before it makes it a term of technology."""
VERB_STARTS = read_claim_words("guarantees", "verb_starts")
OBJECTS = read_claim_words("guarantees", "objects")
WILLING = read_claim_words("guarantees", "willing")
"""Before *to guarantee* these leave the promise what it is."""
HESITANT = read_claim_words("guarantees", "hesitant")
REFUSING = read_claim_words("guarantees", "refusing")
ASKED = read_claim_words("guarantees", "asked")
DUTY = read_claim_words("guarantees", "duty")
UNREAL = read_claim_words("guarantees", "unreal")
FAILING = read_claim_words("guarantees", "failing")
"""What will not happen is promised never to."""
RISK = read_claim_words("guarantees", "risk")
MEASURED = read_claim_words("guarantees", "measured")
CERTAINLY = read_claim_words("guarantees", "certainly")
TERMS = read_claim_words("guarantees", "terms")
"""Beside these a guarantee or a promise is a term of trade or of technology."""
AGREEMENTS = read_claim_words("guarantees", "agreements")
"""What one of these guarantees is a term of it, unless it is told to a reader: *guarantees that you ...*."""
RESOURCES = read_claim_words("guarantees", "resources")
"""What a scheduler or a queue guarantees."""
PERFECT = read_claim_words("guarantees", "perfect")
"""What is so promises that it cannot fail."""
PREVENTING = read_claim_words("guarantees", "preventing")
HARM = read_claim_words("guarantees", "harm")
PHRASES = [
    *("rest easy", "fear not", "sleep soundly", "sleep well", "in safe hands", "have no fear", "mark my words"),
    *("mark our words", "take our word", "without any risk", "absolutely will", "will absolutely", "no ifs"),
    *("positively will", "sure thing"),
]
"""Phrases that promise."""
OUTCOMES = read_claim_words("guarantees", "outcomes")
"""A guaranteed one of these is a promise."""
FELT = read_claim_words("guarantees", "felt")
"""What somebody *certainly* does so promises nothing."""
OBLIGED = read_claim_words("guarantees", "obliged")
"""Whose duty it is to *ensure* something, by a contract or a rule of a house."""
NOTICING = read_claim_words("guarantees", "noticing")
_RATED = frozenset({"uptime", "availability"})
LASTING = read_claim_words("guarantees", "lasting")
"""Beside a verb of preventing these make it a promise."""
SAFE = read_claim_words("guarantees", "safe")
WHOLLY = read_claim_words("guarantees", "wholly")
"""Nothing is so wholly safe but in a promise."""


# Outcomes that are named


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
    is_failure = not FAILING.isdisjoint(said[:2]) or said[:2] in (["go", "down"], ["go", "wrong"], ["come", "back"])
    is_noticed = not NOTICING.isdisjoint(said[:1]) and not {"any", "further"}.isdisjoint(said[1:2])
    is_failure = is_failure or (is_noticed and not TROUBLE.isdisjoint(said))
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
        or not FAILING.isdisjoint(said[:1])
    )
    is_wish = said[:1] in (["want"], ["wish"], ["intend"])
    is_said = (is_future or recurs) and not is_wish
    return NEVER_AGAIN if is_said and _is_guarantee_stated(tokens, at, at + 1) else None


def _read_none_will_guarantee(tokens: list[str], at: int) -> str | None:
    """Read *no payment will be lost*, *nothing can go wrong*, *there will be no more outages*."""
    said = read_statement_after(tokens, at)
    more = {"more", "further", "new", "other", "another"} & set(said[:1]) and not TROUBLE.isdisjoint(said[:3])
    said_first = tokens[max(0, at - 3) : at]
    none_will = said_first in (["there", "will", "be"], ["there", "shall", "be"], ["there", "can", "be"])
    more = more or (none_will and not (TROUBLE | HARM).isdisjoint(said[:2]))
    group, before = read_verb_group(tokens, at), set(tokens[max(0, at - 5) : at])
    is_ours = group.words & {"will", "shall", "can"} or before & {"promise", "guarantee"}
    modal = next((place for place, token in enumerate(said[:5]) if token in ("will", "can", "shall")), None)
    rest = said[modal + 1 :] if modal is not None else []
    recurs = (
        rest[:2] == ["go", "wrong"]
        or not HARM.isdisjoint(said[:1])
        or {"ever", "again"} & set(rest)
        or not FAILING.isdisjoint(rest[:2])
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
    repeats = TROUBLE | HARM
    follows = tokens[at + 1 : at + 9]
    of_failure = follows[:1] in (["that"], ["for"]) and not (FAILING | {"again"}).isdisjoint(follows)
    of_failure = of_failure or ("come" in follows and "back" in follows)
    of_failure = of_failure or (tokens[at] == "rule" and not repeats.isdisjoint(follows))
    is_meant = of_failure or (not repeats.isdisjoint(read_statement_before(tokens, at)) and follows[:1] != ["to"])
    group = read_verb_group(tokens, start).drop_words("can")
    return NO_RISK if is_meant and is_claim_made(tokens, start, at + 1, group=group) else None


def _read_always_guarantee(tokens: list[str], at: int) -> str | None:
    """Read *will always succeed*."""
    around = {*read_statement_before(tokens, at), *tokens[at + 1 : at + 8]}
    is_future = read_verb_group(tokens, at).is_future or not around.isdisjoint(("will", "shall"))
    is_future = is_future and read_word_before(tokens, at) != "as"
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
    lasting = group.is_future or not LASTING.isdisjoint([*after, *tokens[max(0, at - 2) : at]])
    if tokens[0] in ("how", "what"):
        return None
    lasting = lasting or (tokens[at] in ("eliminates", "excludes") and not RISK.isdisjoint(after[:3]))
    objects = TROUBLE | HARM | {"this", "it"}
    if not lasting or objects.isdisjoint(after) or not read_clause_before(tokens, at):
        return None
    if tokens[at] in ("exclude", "rule"):
        group = group.drop_words("can")
    return NO_RISK if is_claim_made(tokens, at, at + 1, group=group) else None


def _read_safe_guarantee(tokens: list[str], at: int) -> str | None:
    """Read *your money is absolutely safe*."""
    group = read_verb_group(tokens, at)
    is_said = group.words & WHOLLY and group.has_being_verb and not is_content_word(read_word_after(tokens, at))
    return CERTAIN if is_said and is_claim_made(tokens, at, at + 1, group=group) else None


def _read_no_worry_guarantee(tokens: list[str], at: int) -> str | None:
    """Read *you have nothing to worry about*, *you need not fear any loss*."""
    before = tokens[max(0, at - 5) : at]
    is_told = ("need" in before and "not" in before) or (before[-1:] == ["to"] and {"nothing", "no"} & set(before))
    return CERTAIN if is_told and read_word_after(tokens, at) != "if" else None


def _read_not_possible_guarantee(tokens: list[str], at: int) -> str | None:
    """Read *a second failure is not possible*."""
    group = read_verb_group(tokens, at)
    of_harm = not (TROUBLE | HARM).isdisjoint(read_statement_before(tokens, at))
    is_said = of_harm and group.words & {"not", NO_LONGER} and group.has_being_verb
    return NO_RISK if is_said and is_claim_made(tokens, at, at + 1, group=group.drop_words("not", NO_LONGER)) else None


_OUTCOME_READERS: dict[str, Reader] = {
    **dict.fromkeys(("impossible", "ruled", "question"), _read_impossible_guarantee),
    **dict.fromkeys(RISK, _read_no_risk_guarantee),
    **dict.fromkeys(("no", "zero", "nothing", "nobody", "none"), _read_none_will_guarantee),
    **dict.fromkeys(PERFECT, _read_perfect_guarantee),
    **dict.fromkeys(PREVENTING, _read_prevents_guarantee),
    **dict.fromkeys(SAFE, _read_safe_guarantee),
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


# Words that promise


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
    for phrase in PHRASES:
        phrases.setdefault(phrase.split()[0], []).append(tuple(phrase.split()))
    return phrases


@cache
def _index_guarantee_readers() -> dict[str, Reader]:
    """Return what reads each word."""
    readers: dict[str, Reader] = dict.fromkeys([*VERBS, *NOUNS], _read_promise_guarantee)
    readers |= dict.fromkeys(CERTAINLY, _read_certainly_guarantee)
    readers |= dict.fromkeys(("certain", "sure"), _read_certain_guarantee)
    readers |= dict.fromkeys(("bank", "depend", "count", "rely"), _read_count_on_guarantee)
    readers |= dict.fromkeys(("commit", "undertake", "vouch", "bet", "stake"), _read_commit_guarantee)
    return (
        readers
        | _OUTCOME_READERS
        | {PERCENT: _read_hundred_guarantee, "word": _read_our_word_guarantee, "trust": _read_trust_guarantee}
    )


def _read_promise_guarantee(tokens: list[str], at: int) -> str | None:
    """Read *guarantee*, *ensure* and *promise*, as verbs and as nouns."""
    token = tokens[at]
    name = VERBS.get(token, GUARANTEE if token.startswith("guarant") else PROMISE)
    if token in NOUNS and _is_guarantee_noun(tokens, at):
        return name if _is_guarantee_given(tokens, at) else None
    if read_word_before(tokens, at) == "as" or (token == "guaranteed" and _is_guaranteed_attribute(tokens, at)):
        return None
    is_term = token in NOUNS and read_word_before(tokens, at) in TERMS | RESOURCES
    is_term = is_term or (
        read_word_before(tokens, at) in AGREEMENTS and read_word_after(tokens, at) not in ("that", "you", "your")
    )
    is_step = token == "guaranteed" and not TERMS.isdisjoint(tokens[at + 1 : at + 5]) and "by" in tokens[at : at + 5]
    if is_term or is_step or read_word_after(tokens, at) == "nothing":
        return None
    if token == "ensure" and _is_reader_asked(tokens, at):
        return None
    return name if token in VERBS and _is_promise_made(tokens, at) else None


_BREAKING = frozenset({"broke", "break", "broken", "missed", "kept"})
"""What was done to a promise of before."""


def _is_guarantee_noun(tokens: list[str], at: int) -> bool:
    before, follows = read_word_before(tokens, at), read_word_after(tokens, at)
    if before in NOUN_STARTS or before.endswith("ing") or not at:
        return bool(at) or tokens[at].endswith("s") or follows in ("of", "is")
    if before in VERB_STARTS | IN_GROUP | {COMMA, BREAK} or before.endswith("ly"):
        return before in ("not", "and") and not (is_content_word(follows) or follows in OBJECTS)
    if before.endswith("s") and not tokens[at].endswith("s"):
        return follows == "of"
    return not tokens[at].endswith("s") or not (is_content_word(follows) or follows in OBJECTS)


def _is_guarantee_given(tokens: list[str], at: int) -> bool:
    """Say whether a guarantee, named by the noun, is given: not denied, and no term of technology."""
    before, following = read_statement_before(tokens, at), tokens[at + 1 : at + 4]
    is_denied = not (DENIALS | REFUSING).isdisjoint(before) and HESITANT.isdisjoint(before)
    is_denied = is_denied or ("by", "a") in pairwise(before[-3:]) or not _BREAKING.isdisjoint(before[-4:])
    is_technical = at > 0 and read_word_before(tokens, at) not in NOUN_STARTS | {"not", "and", COMMA, BREAK}
    is_talk = read_word_before(tokens, at) == "the" and {"was", "were", "expired", "has", "had", "will"} & set(
        tokens[at + 1 : at + 7]
    )
    is_technical = is_technical or bool(is_talk)
    is_technical = is_technical or not TERMS.isdisjoint([*before[-3:], *following[:1]])
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
    follows, measure = read_word_after(tokens, at), tokens[at + 2 : at + 5]
    if follows in _RATED and any(token[0].isdigit() for token in measure):
        return True  # a term of a contract, whose number the check of numbers judges
    is_promise = follows in OUTCOMES and not is_content_word(read_word_after(tokens, at + 1))
    return is_content_word(follows) and not is_verb and not is_promise


def _is_reader_asked(tokens: list[str], at: int) -> bool:
    """Say whether the reader is asked to see to it, or it is a duty or a purpose: *please ensure that ...*."""
    group = read_verb_group(tokens, at)
    is_order = read_word_before(tokens, group.start) in ASKED | {COMMA, BREAK}
    return not group.is_infinitive and (is_order or not DUTY.isdisjoint(group.words))


def _is_promise_made(tokens: list[str], at: int) -> bool:
    """Say whether a promise, made by a verb, is made: not denied, not an aim, not only thinkable."""
    group = read_verb_group(tokens, at)
    subject = read_word_before(tokens, group.start)
    if subject in ("he", "she") or (
        subject in OBLIGED and not tokens[at].endswith("ed") and tokens[max(0, group.start - 2)] not in ("our", "to")
    ):
        return False
    is_told = not (NEWS | ANNOUNCING | {"informed", "updated", "posted"}).isdisjoint(tokens[at + 1 : at + 6])
    if VERBS.get(tokens[at]) == PROMISE and tokens[at].startswith("promis") and is_told:
        return False
    if tokens[at] == "ensured" and not group.words and subject not in ("we", "i"):
        return False  # it tells what was
    if tokens[at] in ("warrant", "warrants") and subject not in ("we", "i"):
        return False
    if tokens[at] in ("ensures", "guarantees") and tokens[max(0, group.start - 2)] in ("a", "an"):
        return False  # what *a lock ensures* is how such things work
    if group.is_infinitive:
        governor = group.start - 1
        is_denied = DENIALS & read_verb_group(tokens, governor).words if governor > 0 else frozenset()
        is_willing = governor >= 0 and tokens[governor] in WILLING
        return is_willing and bool(is_denied) == (tokens[governor] in HESITANT)
    denies = group.words & (DENIALS | UNREAL) and HESITANT.isdisjoint(tokens[max(0, at - 8) : at])
    return not denies and is_claim_made(tokens, at, len(tokens), group=group.drop_words(*DUTY, "can", "being"))


def _read_certainly_guarantee(tokens: list[str], at: int) -> str | None:
    """Read *certainly*, *without a doubt*."""
    is_denied = bool({"not", "almost", "nearly"} & set(tokens[max(0, at - 2) : at + 2]))
    is_denied = is_denied or (tokens[at + 2 : at + 3] == ["not"] and tokens[at + 1] in _TELLING)
    is_denied = is_denied or read_word_after(tokens, at) in _KEEPING_TOLD | FELT
    is_denied = is_denied or not UNREAL.isdisjoint(tokens[at + 1 : at + 4])
    around = {*read_statement_before(tokens, at), *read_statement_after(tokens, at)}
    is_denied = is_denied or (tokens[at] != "doubtless" and around.isdisjoint({"will", "shall", "can", "no"} | SAFE))
    return CERTAIN if not is_denied and is_claim_made(tokens, at, at + 1) else None


_KEEPING_TOLD = ANNOUNCING | {"keep", "let", "provide", "send", "give", "continue"}
"""What a writer *will certainly* do for readers; it promises nothing of the incident."""

_TELLING = frozenset({"had", "has", "have", "was", "were", "is", "are", "did", "do", "does"})
"""Auxiliaries of what was or is; only *certainly will not* promises."""


def _read_certain_guarantee(tokens: list[str], at: int) -> str | None:
    """Read *we are certain*, *you can be sure*."""
    group = read_verb_group(tokens, at)
    is_order = read_word_after(tokens, at) == "to" and group.words.isdisjoint(FINITE)
    is_order = is_order or (_is_certain_of_cause(tokens, at) and group.words.isdisjoint(WHOLLY))
    is_said = group.has_being_verb and not is_order and not is_content_word(read_word_after(tokens, at))
    return CERTAIN if is_said and is_claim_made(tokens, at, at + 1, group=group.drop_words("can")) else None


def _is_certain_of_cause(tokens: list[str], at: int) -> bool:
    """Say whether somebody is certain of no outcome: *certain about the cause*, *sure that this was annoying*."""
    after = [token for token in tokens[at + 1 : at + 7] if token != "that"]
    if after[:1] in (["about"], ["of"]):
        return not {"cause", "reason", "source", "origin", "timeline", "diagnosis"}.isdisjoint(after)
    return after[:2] in ([word, verb] for word in ("this", "it", "you") for verb in ("was", "were", "must"))


def _read_hundred_guarantee(tokens: list[str], at: int) -> str | None:
    """Read *100 % safe*; a measured *100 %* is none."""
    if read_word_before(tokens, at) not in ("100", "100.0", "100.00"):
        return None
    around = [
        *tokens[max(0, at - 4) : at],
        *read_statement_before(tokens, at),
        *takewhile(lambda token: token != "without", read_statement_after(tokens, at)),
    ]
    is_measured = not MEASURED.isdisjoint(around)
    is_measured = is_measured or (read_word_after(tokens, at) == "of" and any(said.endswith("ed") for said in around))
    is_measured = is_measured and "will" not in around
    is_measured = is_measured or _is_share_of_thing(tokens, at)
    return HUNDRED if not is_measured and is_claim_made(tokens, at - 1, at + 1) else None


def _is_share_of_thing(tokens: list[str], at: int) -> bool:
    """Say whether *100 %* of a thing is used or had: *runs on 100 % renewable energy*; not *with 100 % uptime*."""
    after = read_statement_after(tokens, at)[:3]
    is_thing = bool(after) and is_content_word(after[0])
    promised = OUTCOMES | _RATED | SAFE | PERFECT | _SURENESS
    return is_thing and read_word_before(tokens, at - 1) in ("on", "with", "from") and promised.isdisjoint(after)


_SURENESS = frozenset({"certainty", "confidence", "confident", "certain", "sure", "reliability", "accuracy"})


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
        and {"not", "we", "i"}.isdisjoint(before := read_statement_before(tokens, at))
        and not _TOLD.isdisjoint(before)
    )
    return CERTAIN if is_told and TROUBLE.isdisjoint(tokens[at + 1 : at + 5]) else None


_TOLD = frozenset({"you", "customers", "users", "clients", "everyone", "everybody", "merchants", "readers"})


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
