"""Closures: what says that an incident is over, or that a trouble is gone."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from itertools import pairwise, takewhile

from guardgraph.guards.self_critique.reading import (
    BEING,
    BREAK,
    COMMA,
    CONDITIONS,
    FINITE,
    NO_LONGER,
    PREPOSITIONS,
    SAYING,
    STARTERS,
    STOPS,
    UNREAL,
    Reader,
    VerbGroup,
    combine_claim_readers,
    is_claim_made,
    is_claim_predicate,
    is_closure_made,
    is_content_word,
    is_past_participle,
    read_claim_words,
    read_clause_after,
    read_clause_before,
    read_verb_group,
    read_word_after,
    read_word_before,
    read_words_around,
)
from guardgraph.guards.self_critique.recovery import (
    BACK_AT,
    CLOCKS,
    CONTINUING,
    COUNTED,
    CURES,
    DOING,
    DUTY,
    ENDING_SOON,
    EVENTS,
    FAILINGS,
    FIXABLE,
    FORMS,
    IMPAIRED,
    LASTING_GOOD,
    LEFT_OVER,
    MEASURED_LEVELS,
    MOVING,
    NEARLY,
    NEWS,
    NORMAL,
    NOT_RECOVERING,
    OURS,
    OVERCOME,
    PAPERS,
    PASSIVE,
    PEOPLE,
    PERSONS,
    PHRASES,
    QUEUES,
    REACHING,
    RECOVERIES,
    RESOLVABLE,
    RETURNING,
    ROLLOUTS,
    SETTLING,
    STATES,
    STRAIN,
    SUBJECTS,
    SYMPTOMS,
    TASKS,
    TROUBLE,
    USERS,
    USUAL_LEVELS,
    WELL_READERS,
)

_NOW = read_claim_words("closures", "now")
_COPIES = read_claim_words("closures", "copies")
"""What is *restored* by those who are still at work on something else."""
_UNKNOWN = read_claim_words("closures", "unknown")
_FAILED = read_claim_words("closures", "failed")
_MEASURES = read_claim_words("closures", "measures")
_LEVELS = read_claim_words("closures", "levels")
_PERFECT = read_claim_words("closures", "perfect")
_SEEN = read_claim_words("closures", "seen")
_SEEING = read_claim_words("closures", "seeing")
_WAITING = read_claim_words("closures", "waiting")
_WORKED_OFF = read_claim_words("closures", "worked_off")
"""A trouble is over when this was done to all that was *delayed* or *stuck*."""


def _read_no_longer_closure(tokens: list[str], at: int) -> str | None:
    """Read *no longer an issue*, *no longer see errors*."""
    said, before = read_words_around(tokens, at, before=0, after=5), read_clause_before(tokens, at)
    is_trouble = not OVERCOME.isdisjoint(said[1:])
    is_bad = LASTING_GOOD.isdisjoint(said[1:3]) and OURS.isdisjoint(before)
    group = read_verb_group(tokens, at)
    group = group._replace(words=group.words | {NO_LONGER} if "should" in group.words else group.words)
    is_made = is_closure_made(tokens, at, at + 2, group=group)
    return "no longer" if (is_trouble or is_bad) and is_made else None


def _read_anymore_closure(tokens: list[str], at: int) -> str | None:
    """Read *nothing is broken any more*, *it does not occur any more*."""
    around = read_words_around(tokens, at, after=1)
    is_denied = {"not", "nothing", "nobody", "no", "none", "zero"} & set(around)
    is_bad = LASTING_GOOD.isdisjoint(around) and not ({"nobody", "none"} | USERS).isdisjoint(around)
    return "no longer" if is_denied and (is_bad or not OVERCOME.isdisjoint(around)) else None


def _read_none_left_closure(tokens: list[str], at: int) -> str | None:
    """Read *no further impact*, *no issues remain*, *there are no errors*, *no customers remain affected*."""
    said, before = read_clause_after(tokens, at), read_clause_before(tokens, at, 5)
    trouble = next((place for place, token in enumerate(said[:4]) if token in TROUBLE), -1)
    if not _UNKNOWN.isdisjoint(said[:2]):
        return None
    if tokens[at] in ("nobody", "none"):
        trouble = -1
    elif trouble < 0 and USERS.isdisjoint(said[:4]) and _FAILED.isdisjoint(said):
        return None
    is_left = not LEFT_OVER.isdisjoint(said[: max(trouble, 0)]) or not _NOW.isdisjoint([*said, *before])
    is_other = {"other", "another", "elsewhere", "else", "such", "known", "similar"} & set(said)
    group = read_verb_group(tokens, at)
    if trouble >= 0:
        is_symptom = not SYMPTOMS.isdisjoint(said[: trouble + 1])
        is_left = is_left or (is_symptom and not is_other and _is_trouble_absent(said[trouble + 1 :], before))
    elif not _FAILED.isdisjoint(said) and not _PERFECT.isdisjoint(said):
        is_left = True
    elif OVERCOME.isdisjoint(said):
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


def _read_none_seen_closure(tokens: list[str], at: int) -> str | None:
    """Read *we have not seen any further errors*."""
    said, group = tokens[at + 1 : at + 4], read_verb_group(tokens, at - 1)
    is_denied = "not" in group.words and not group.words.isdisjoint(_PERFECT) and tokens[at - 1] in _SEEN
    is_meant = not LEFT_OVER.isdisjoint(said[:1]) and not TROUBLE.isdisjoint(said)
    is_made = is_denied and is_meant and is_closure_made(tokens, at - 1, at + 1, group=group.drop_words("not"))
    return "no further impact" if is_made else None


def _read_since_closure(tokens: list[str], at: int) -> str | None:
    """Read *we have not seen the error since the patch*."""
    seen = next((place for place in range(at - 1, max(-1, at - 6), -1) if tokens[place] in _SEEN), -1)
    if seen < 0 or TROUBLE.isdisjoint(tokens[seen + 1 : at]):
        return None
    group = read_verb_group(tokens, seen)
    is_denied = "not" in group.words and not group.words.isdisjoint(_PERFECT)
    is_made = is_denied and is_closure_made(tokens, seen, at, group=group.drop_words("not"))
    return "no further impact" if is_made else None


def _read_zero_closure(tokens: list[str], at: int) -> str | None:
    """Read *errors are down to zero*; *zero errors* is read like *no errors*."""
    if read_word_before(tokens, at) in ("to", "at"):
        subject = read_clause_before(tokens, at - 1)
        is_gone = not COUNTED.isdisjoint(subject) and {"success", "successful", "recovery"}.isdisjoint(subject)
        return (
            "down to zero"
            if is_gone and is_closure_made(tokens, at - 1, at + 1, group=_read_outer_verb_group(tokens, at - 1))
            else None
        )
    return _read_none_left_closure(tokens, at)


def _read_outer_verb_group(tokens: list[str], at: int) -> VerbGroup:
    start = at - 1 if at and tokens[at - 1] not in FINITE else at
    return read_verb_group(tokens, start)


def _read_drained_closure(tokens: list[str], at: int) -> str | None:
    """Read *the queue has drained*, *we have emptied the backlog*, *the queue is now empty*."""
    group, is_state = read_verb_group(tokens, at), tokens[at] == "empty"
    subject, follows = read_clause_before(tokens, group.start), read_clause_after(tokens, at, 4)
    is_queue = not QUEUES.isdisjoint(subject)
    if is_state:
        is_said = is_queue and "now" in {*group.words, *follows} and is_claim_predicate(tokens, at)
    else:
        is_active = not group.words & BEING and not is_content_word(read_word_after(tokens, at))
        is_said = (is_queue and is_active) or not group.words.isdisjoint(("has", "have", "had"))
        is_said = is_said and not QUEUES.isdisjoint([*subject, *follows])
    return "drained" if is_said and is_closure_made(tokens, at) else None


def _read_success_closure(tokens: list[str], at: int) -> str | None:
    """Read *the migration was a success*; not *a success story*."""
    article = next((place for place in range(at - 1, max(-1, at - 4), -1) if tokens[place] == "a"), 0)
    subject = read_clause_before(tokens, read_verb_group(tokens, article).start)
    is_event = not (EVENTS | ROLLOUTS | CURES | {"all"}).isdisjoint(subject)
    is_said = bool(read_verb_group(tokens, article).words & BEING) and not is_content_word(read_word_after(tokens, at))
    return "a success" if article and is_event and is_said and is_closure_made(tokens, article, at + 1) else None


def _read_lasted_closure(tokens: list[str], at: int) -> str | None:
    """Read *the outage lasted until 13:10*, *errors continued until about noon*."""
    said = tokens[at + 2 : at + 3]
    if read_word_after(tokens, at) == "from" and said and said[0][0].isdigit():
        end = next((place for place, token in enumerate(tokens[at : at + 12]) if token in ("to", "until", "till")), 0)
        said = tokens[at + end + 1 : at + end + 2] if end else []
    elif read_word_after(tokens, at) not in ("until", "till"):
        return None
    is_time = bool(said) and (said[0][0].isdigit() or said[0] in CLOCKS)
    is_trouble = not (EVENTS | IMPAIRED | COUNTED | SYMPTOMS).isdisjoint(read_clause_before(tokens, at))
    is_trouble = is_trouble and {"second", "another", "again"}.isdisjoint(tokens[at : at + 16])
    return "lasted until" if is_time and is_trouble and is_closure_made(tokens, at) else None


def _read_settled_closure(tokens: list[str], at: int) -> str | None:
    """Read *error rates have dropped back to their usual level*."""
    said = [token for token in tokens[at + 1 : at + 8] if token not in ("back", "down", "up")]
    is_there = said[:1] == ["to"] and _is_usual_level(said[1:5]) and NEARLY.isdisjoint(said[1:5])
    return "back to normal" if is_there and is_closure_made(tokens, at, at + 3) else None


def _is_usual_level(goal: list[str]) -> bool:
    """Say whether a goal is what is normal: *normal*, *its usual level*, *expected levels*, *pre-incident rates*."""
    return not NORMAL.isdisjoint(goal) or not (USUAL_LEVELS.isdisjoint(goal) or MEASURED_LEVELS.isdisjoint(goal))


def _read_worked_off_closure(tokens: list[str], at: int) -> str | None:
    """Read *all delayed mails have been sent*, *the jobs that were stuck have all completed*."""
    said = read_clause_after(tokens, at, 8)
    has = next((place for place, token in enumerate(said) if token in _PERFECT), -1)
    if said[:1] and said[0] in _WAITING and has > 0:
        verbs = said[has + 1 : has + 4]
    elif read_word_before(tokens, at) in _PERFECT and not _WAITING.isdisjoint(tokens[max(0, at - 12) : at]):
        verbs, has = said[:3], -1
    else:
        return None
    place = next((place for place, verb in enumerate(verbs) if verb in _WORKED_OFF), -1)
    is_part = read_word_before(tokens, at) in ("almost", "nearly") or not {"not", "half", "some"}.isdisjoint(verbs)
    if place < 0 or is_part or "without" in said:
        return None
    end = at + has + place + 2
    return "worked off" if is_closure_made(tokens, end, end + 1) else None


_GONE_READERS: dict[str, Reader] = {
    **dict.fromkeys(("no", "nobody", "none"), _read_none_left_closure),
    NO_LONGER: _read_no_longer_closure,
    "anymore": _read_anymore_closure,
    "zero": _read_zero_closure,
    "any": _read_none_seen_closure,
    "since": _read_since_closure,
    "all": _read_worked_off_closure,
}
"""What reads each word."""


_DONE = frozenset({"confirmed", "complete", "completed", "done", "yes", "full", "achieved", "successful", "finished"})
_SUCCEEDING = frozenset({"successfully", "without", "smoothly"})
"""Beside these an update that is *completed* is no message."""
_PARTS = frozenset({"first", "second", "phase", "stage", "step", "part", "half", "next"})
_ENDINGS = REACHING | {
    "seeing",
    "observing",
    "seen",
    "saw",
    "see",
    "had",
    "have",
    "has",
    "witnessed",
    "observed",
    "confirm",
    "enjoy",
}


def find_closures(tokens: list[str]) -> Iterator[str]:
    """Name the closures of a sentence.

    Args:
        tokens: a sentence of `split_claim_sentences`.
    """
    readers, phrases = _index_closure_readers(), _index_closure_phrases()
    for place, token in enumerate(tokens):
        reader = readers.get(token, _read_perfect_closure if token.endswith("ed") else None)
        if reader and (name := reader(tokens, place)):
            yield name
        for phrase in phrases.get(token, ()):
            end = place + len(phrase)
            if (
                tuple(tokens[place:end]) == phrase
                and _is_closure_phrase_said(tokens, place)
                and is_claim_made(tokens, place, end)
            ):
                yield " ".join(phrase)


def _is_closure_phrase_said(tokens: list[str], at: int) -> bool:
    """Say whether a phrase that begins with a preposition is said of something: *is in sync*."""
    said = {"is", "are", "was", "were", "be", "been", "now"}
    if tokens[at : at + 2] in (["came", "back"], ["come", "back"]) and _is_trouble_back(tokens, at + 1):
        return False
    is_loose = tokens[at] not in ("in", "within", "at", "on")
    return is_loose or at <= 1 or bool(said & set(tokens[max(0, at - 4) : at])) or tokens[at - 1] in DOING


@cache
def _index_closure_readers() -> dict[str, Reader]:
    """Return what reads each word."""
    readers = {**WELL_READERS, **_GONE_READERS}
    for base, present, past, gerund in FORMS:
        readers |= {
            base: _read_infinitive_closure,
            present: _read_present_closure,
            past: _read_past_closure,
            gerund: _read_gerund_closure,
        }
    readers |= {
        "resume": combine_claim_readers(WELL_READERS["resume"], _read_infinitive_closure),
        "passing": WELL_READERS["passing"],
    }
    readers |= dict.fromkeys(STATES, _read_state_closure)
    readers |= dict.fromkeys(("return", "returns", "returned", "reverted"), _read_return_closure)
    readers["went"] = combine_claim_readers(_read_return_closure, WELL_READERS["went"])
    readers |= dict.fromkeys(RECOVERIES, _read_recovery_closure)
    readers |= dict.fromkeys(("drained", "emptied", "empty"), _read_drained_closure)
    readers |= dict.fromkeys(("lasted", "continued", "persisted"), _read_lasted_closure)
    readers["success"] = _read_success_closure
    for word in SETTLING:
        readers[word] = combine_claim_readers(_read_settled_closure, readers.get(word, _read_perfect_closure))
    readers |= {
        "fix": lambda tokens, at: _read_recovery_closure(tokens, at) or _read_infinitive_closure(tokens, at),
        "passing": WELL_READERS["passing"],
    }
    return readers | {"back": _read_back_closure, "put": _read_put_right_closure}


@cache
def _index_closure_phrases() -> dict[str, list[tuple[str, ...]]]:
    """Return the phrases by their first words."""
    phrases: dict[str, list[tuple[str, ...]]] = {}
    for phrase in PHRASES:
        phrases.setdefault(phrase[0], []).append(phrase)
    return phrases


@cache
def _find_closing_past_form(verb: str) -> str:
    return next((forms[2] for forms in FORMS if verb in forms), verb)


def _is_closing_event(tokens: list[str], at: int) -> bool:
    """Say whether a verb or state is said of what it closes, its object where it has one, or stands alone."""
    verb, has_object = (
        _find_closing_past_form(tokens[at]),
        read_word_after(tokens, at) in STARTERS and tokens[at] not in STATES,
    )
    wanted = SUBJECTS.get(verb)
    around = [] if has_object else _read_closing_subject(read_words_around(tokens, at, after=0))
    label = [] if around or has_object else _read_status_label(tokens, at)
    after = read_clause_after(tokens, at, 4)
    if has_object:  # what the object did or does is no object: *removed a column that was in use*
        after = [*after[:1], *takewhile(lambda token: token not in ("that", "which", "who"), after[1:])]
    around += [tokens[at], *after]
    if wanted is not None and _SUCCEEDING.intersection(around) and _PARTS.isdisjoint(around):
        wanted |= ROLLOUTS if verb in _DONE else frozenset()
    if verb in _OF_PAPERS and _find_subject_noun(tokens, read_verb_group(tokens, at).start) in PAPERS:
        return False
    is_listed = read_word_before(tokens, at) == COMMA == read_word_after(tokens, at)
    is_alone = len(around) <= 2 and not is_listed and tokens[at] not in ("stopped", "ceased", "passed", "lifted")
    return wanted is None or not wanted.isdisjoint([*label, *around]) or is_alone


_OF_PAPERS = frozenset({"complete", "completed", "finished", "done", "concluded", "over", "ended"})


def _read_closing_subject(words: list[str]) -> list[str]:
    """Return the last clause of words, without a *that* that only repeats a noun: *connections that were closed*."""
    start = next((place + 1 for place in range(len(words) - 2, 0, -1) if words[place] in ("because", "so", "while")), 0)
    said = words[start:]
    return [
        word
        for before, word in zip(["", *said], said, strict=False)
        if word != "that" or not is_content_word(before) or is_past_participle(before) or before in SAYING
    ]


def _read_status_label(tokens: list[str], start: int) -> list[str]:
    """Return the label before a place: *outage status: ended*."""
    return read_clause_before(tokens, start - 1, 4) if start > 1 and tokens[start - 1] == BREAK else []


def _is_task_label(label: list[str]) -> bool:
    """Say whether what stands before a place is something to do: *immediate actions (completed)*."""
    return not TASKS.isdisjoint(label) and (EVENTS | {"status"}).isdisjoint(label)


def _is_in_task_list(tokens: list[str], at: int) -> bool:
    """Say whether things to do are listed before a place: *action items: add an alert (done)*."""
    listed = tokens[max(0, at - 24) : at]
    return any(token == BREAK and before in TASKS for before, token in pairwise(listed))


def _read_perfect_closure(tokens: list[str], at: int) -> str | None:
    """Read *the problem has been ...*: what has been done to a trouble ends it, unless it is known to go on."""
    group = read_verb_group(tokens, at)
    if not group.words & {"has", "have"} or _find_subject_noun(tokens, group.start) not in TROUBLE - {"cause"}:
        return None
    is_known = tokens[at] in CONTINUING or not is_past_participle(tokens[at])
    return None if is_known or not is_closure_made(tokens, at, group=group) else tokens[at]


def _find_subject_noun(tokens: list[str], end: int) -> str:
    """Return the noun of a subject that ends at a place: *backlog* of *the backlog of mails*."""
    subject = read_clause_before(tokens, end)
    head = next((at for at, token in enumerate(subject) if token == "of"), len(subject))
    return subject[head - 1] if head and is_content_word(subject[head - 1]) else read_word_before(tokens, end)


def _read_recovery_closure(tokens: list[str], at: int) -> str | None:
    """Read *made a full recovery*, *reached a solution*, *we have seen a complete recovery*."""
    if read_word_after(tokens, at) == BREAK and tokens[at + 2 : at + 3] and tokens[at + 2] in _DONE:
        return tokens[at]
    verb = next((place for place in range(at - 1, max(-1, at - 6), -1) if tokens[place] in _ENDINGS), -1)
    between = tokens[verb + 1 : at]
    is_whole = not {"full", "complete", "total", "final", "permanent", "lasting"}.isdisjoint(between)
    is_found = verb >= 0 and (tokens[verb] in REACHING or is_whole)
    is_other = {"of", "to", "for", "in", "no", "partial", "some", "first", "slow", "plan", "possible"} & set(between)
    is_part = is_other or is_content_word(read_word_after(tokens, at))
    return tokens[at] if is_found and not is_part and is_closure_made(tokens, verb, at + 1) else None


def _is_participle_attribute(tokens: list[str], at: int) -> bool:
    """Say whether a participle belongs to a noun: *a fixed fee*, *recovered data is being checked*."""
    follows, before = read_word_after(tokens, at), read_word_before(tokens, at)
    if before[0].isdigit() and follows in ("and", "or") and tokens[at + 2 : at + 3] and tokens[at + 2][0].isdigit():
        return True
    if not is_content_word(follows) or read_verb_group(tokens, at).words & BEING:
        return False
    if before in STOPS or not at:
        return follows not in TROUBLE and not FINITE.isdisjoint(tokens[at + 2 : at + 5])
    is_noun_phrase = before in (STARTERS - {"we", "i", "they", "it", "you"}) | PREPOSITIONS or before.endswith("ly")
    return is_noun_phrase and not (tokens[at] == "resolved" and follows in TROUBLE)


def _read_past_closure(tokens: list[str], at: int) -> str | None:
    """Read *resolved*, *the incident was closed*."""
    token, follows = tokens[at], read_word_after(tokens, at)
    if _is_other_thing(tokens, at):
        return None
    if tokens[at] == "resolved" and not RESOLVABLE.isdisjoint(
        [*read_clause_before(tokens, at, 5), *read_clause_after(tokens, at, 2)]
    ):
        return None
    if tokens[at] == "restored" and not _COPIES.isdisjoint(tokens[at + 1 : at + 4]):
        return None
    if token in PASSIVE and not read_verb_group(tokens, at).words & BEING:
        return None
    if _is_other_end(tokens, at):
        return None
    is_event = _is_closing_event(tokens, at) or (
        read_word_after(tokens, at) in FAILINGS and token in ("stopped", "ceased")
    )
    if _is_participle_attribute(tokens, at) or not is_event or tokens[at + 1 : at + 3] == ["the", "first"]:
        return None
    is_other = token in ("stopped", "ceased") and follows.endswith("ing") and follows not in FAILINGS
    is_other = is_other or (token == "resolved" and follows == "to") or (token == "addressed" and follows == "to")
    return token if not is_other and is_closure_made(tokens, at) else None


def _is_other_thing(tokens: list[str], at: int) -> bool:
    """Say whether it is done to what no service has: *a fixed term*, *recovered the costs*, *fixed a meeting*."""
    others = {"fixed": FIXABLE, "recovered": NOT_RECOVERING}.get(tokens[at])
    before, after = read_clause_before(tokens, at, 5), read_clause_after(tokens, at, 3)
    is_trouble = not TROUBLE.isdisjoint(after)
    return others is not None and not (others.isdisjoint(before) and (is_trouble or others.isdisjoint(after)))


_MISTAKEN = [["by", "mistake"], ["by", "accident"], ["by", "error"], ["in", "error"]]
"""What was closed so is open."""


def _is_other_end(tokens: list[str], at: int) -> bool:
    """Say whether something else ends: *we concluded that ...*, *it ended up full*, *it was closed with an error*."""
    follows, rest = read_word_after(tokens, at), tokens[at + 1 : at + 6]
    ago = tokens[at + 1 : at + 12]
    if any(pair in (("years", "ago"), ("year", "ago"), ("months", "ago")) for pair in pairwise(ago)):
        return True
    if tokens[at] == "concluded":
        return follows == "that" or (follows in STARTERS and not FINITE.isdisjoint(rest[1:]))
    if tokens[at] == "ended" and follows == "up":
        return True
    if tokens[at] in ("done", "completed", "complete") and (
        _is_task_label(_read_status_label(tokens, at)) or _is_in_task_list(tokens, at)
    ):
        return True
    is_mistaken = rest[:2] in _MISTAKEN and not is_content_word(read_word_after(tokens, at + 2))
    if is_mistaken or not {"prematurely", "premature"}.isdisjoint((follows, read_word_before(tokens, at))):
        return True
    if tokens[at] == "closed" and follows == "as":
        return True  # what it was closed as is read by itself
    is_failure = not (TROUBLE | {"code", "status", "exit", "timeout"}).isdisjoint(rest)
    return follows == "with" and is_failure and {"no", "zero", "fewer", "minor"}.isdisjoint(rest)


def _read_state_closure(tokens: list[str], at: int) -> str | None:
    """Read *the outage is over*, *maintenance is complete*."""
    token, follows = tokens[at], read_word_after(tokens, at)
    if _is_other_end(tokens, at):
        return None
    if token == "finished" and not is_content_word(follows) and _is_closing_event(tokens, at):
        return token if is_closure_made(tokens, at) else None
    is_declared = not {"declare", "declared", "consider", "pronounce", "call"}.isdisjoint(tokens[max(0, at - 6) : at])
    if not (is_declared or is_claim_predicate(tokens, at)) or not _is_closing_event(tokens, at):
        return None
    subject = read_clause_before(tokens, at, 5)
    if token == "over" and EVENTS.isdisjoint(subject):
        is_said = read_verb_group(tokens, at).has_being_verb or bool(_read_status_label(tokens, at))
        if subject and not (is_said and ENDING_SOON.isdisjoint(subject)):
            return None
    is_measure = token in ("over", "past") and (follows[0].isdigit() or follows in _MEASURES)
    return token if not is_measure and is_closure_made(tokens, at) else None


def _read_infinitive_closure(tokens: list[str], at: int) -> str | None:
    """Read *will resolve*, *managed to fix*, *did you close it*; *complete* is a state, too."""
    stated = {"will", "shall", "did", "able", "managed", "hereby"}
    has_verb = read_verb_group(tokens, at).words & stated or tokens[max(0, at - 2) : at - 1] == ["did"]
    if _is_step_of_machine(tokens, at):
        return None
    if took := _find_time_taken(tokens, at):
        is_made = _is_closing_event(tokens, at) and is_closure_made(tokens, took, at + 1)
        return _find_closing_past_form(tokens[at]) if is_made else None
    is_act = (
        tokens[at] == "close"
        and read_word_before(tokens, at) in ("we", "i")
        and read_word_after(tokens, at) in STARTERS
    )
    is_act = is_act and (at < 2 or tokens[at - 2] not in CONDITIONS | UNREAL | FINITE)
    has_verb = has_verb or is_act
    if tokens[at] == "complete" and not has_verb:
        return _read_state_closure(tokens, at)
    return (
        _find_closing_past_form(tokens[at])
        if has_verb and _is_closing_event(tokens, at) and is_closure_made(tokens, at)
        else None
    )


def _find_time_taken(tokens: list[str], at: int) -> int:
    """Return where a verb says how long it took: *it took 47 minutes to restore service*; 0 where none does."""
    to = read_verb_group(tokens, at).start
    said = tokens[max(0, to - 9) : to]
    took = next((place for place in range(len(said) - 1, -1, -1) if said[place] == "took"), -1)
    is_time = took >= 0 and not _DURATIONS.isdisjoint(said[took:]) and "long" not in said[took:]
    return max(0, to - 9) + took if is_time and tokens[to : to + 1] == ["to"] else 0


_DURATIONS = frozenset({"second", "seconds", "minute", "minutes", "hour", "hours", "day", "days"})


def _read_present_closure(tokens: list[str], at: int) -> str | None:
    """Read *this resolves the incident*."""
    if _find_closing_past_form(tokens[at]) in PASSIVE:
        return None
    has_object = read_word_after(tokens, at) in (
        "the",
        "this",
        "it",
        "all",
        "that",
        "our",
        "your",
        "every",
        "everything",
    )
    is_step = _is_step_of_machine(tokens, at) or not RESOLVABLE.isdisjoint(read_clause_before(tokens, at, 4))
    if is_step or _is_habit(tokens, at):
        return None
    is_said = at > 0 and (has_object or (tokens[at] == "resolves" and read_word_after(tokens, at) != "to"))
    return (
        _find_closing_past_form(tokens[at])
        if is_said and _is_closing_event(tokens, at) and is_closure_made(tokens, at)
        else None
    )


def _is_step_of_machine(tokens: list[str], at: int) -> bool:
    """Say whether what is resolved is a name or the like: *will resolve the host name*; *the DNS issue* is none."""
    after = read_clause_after(tokens, at, 4)
    return tokens[at].startswith("resolve") and TROUBLE.isdisjoint(after) and not RESOLVABLE.isdisjoint(after)


def _is_habit(tokens: list[str], at: int) -> bool:
    """Say whether a verb in the present tells what always happens: *the app restores it when it starts*."""
    after = tokens[at + 1 : at + 12]
    return not {"when", "whenever", "automatically"}.isdisjoint(after) or "automatically" in tokens[max(0, at - 2) : at]


def _read_gerund_closure(tokens: list[str], at: int) -> str | None:
    """Read *succeeded in restoring*, *we are closing this incident*."""
    if tokens[max(0, at - 2) : at] == ["succeeded", "in"]:
        return _find_closing_past_form(tokens[at]) if is_closure_made(tokens, at - 2, at + 1) else None
    rest = tokens[at + 1 : at + 9]
    is_headed = read_word_before(tokens, at) in STOPS and FINITE.isdisjoint(rest) and not TROUBLE.isdisjoint(rest)
    closes = (
        tokens[at] == "closing"
        and rest[:1] != ["in"]
        and (is_headed or read_verb_group(tokens, at).words & {"are", "am"})
    )
    return "closed" if closes and _is_closing_event(tokens, at) and is_closure_made(tokens, at) else None


def _read_return_closure(tokens: list[str], at: int) -> str | None:
    """Read *returned to normal*, *will return to normal*."""
    goal = tokens[at + 1 : at + 5]
    group, subject = read_verb_group(tokens, at), read_word_before(tokens, at)
    if not PERSONS.isdisjoint(read_clause_before(tokens, at, 4)):
        return None
    is_stated = tokens[at] != "return" or group.is_future or (is_content_word(subject) and subject.endswith("s"))
    if not NORMAL.isdisjoint(read_clause_before(tokens, at, 4)) and tokens[at] == "returned":
        return "back to normal" if is_closure_made(tokens, at) else None
    follows = read_word_after(tokens, at)
    has_come = group.words & {"has", "have"} or subject in RETURNING
    is_here = has_come and tokens[at] == "returned" and follows in (*STOPS, "in", "at", "for", "since")
    if is_here and (PEOPLE | TROUBLE).isdisjoint(read_clause_before(tokens, at)):
        return "back" if is_closure_made(tokens, at) else None
    group = group if group.words else group._replace(words=frozenset({"do"} if tokens[at] != "returned" else ()))
    is_normal = goal[:1] == ["to"] and (_is_usual_level(goal) or not DUTY.isdisjoint(goal[1:3]))
    is_made = is_normal and is_stated and is_closure_made(tokens, at, at + 3, group=group)
    return "back to normal" if is_made else None


def _read_back_closure(tokens: list[str], at: int) -> str | None:
    """Read *back to normal*, *is back*, *came back online*."""
    goal = tokens[at + 1 : at + 6]
    if goal[:2] in (["down", "to"], ["up", "to"]):
        goal = goal[1:]
    elif goal[:1] == ["up"] and goal[1:2] and goal[1] in STARTERS:
        return None  # *back up your data*
    follows = goal[0] if goal else BREAK
    if read_word_before(tokens, at) in MOVING or _is_trouble_back(tokens, at):
        return None
    if not OURS.isdisjoint(read_clause_before(tokens, at)) and "work" in goal[:2]:
        return None
    start = at - 1 if read_word_before(tokens, at) in ("came", "come", "brought") else at
    if follows == "to" and _is_usual_level(goal[:4]):
        if _is_before_trouble(tokens, at):
            return None
        return "back to normal" if is_closure_made(tokens, at, at + 3) else None
    is_here = follows in STOPS or follows in BACK_AT
    has_come = read_verb_group(tokens, at).has_being_verb or follows in ("online", "up")
    has_come = has_come or (tokens[0] in ("is", "are") and at < 8)
    has_come = has_come or not {"came", "come", "brought"}.isdisjoint(tokens[max(0, at - 5) : at])
    is_level = follows == "to" and read_verb_group(tokens, at).has_being_verb and not "".join(goal[1:2]).endswith("ing")
    is_level = is_level and goal[1:2] not in (["square"], ["zero"], ["where"])
    return "back" if (is_level or (is_here and has_come)) and is_closure_made(tokens, start, at + 1) else None


def _is_before_trouble(tokens: list[str], at: int) -> bool:
    """Say whether it was so until the trouble came: *was back to its usual peak when the second failure hit*."""
    after = tokens[at + 1 : at + 14]
    moment = next((place for place, token in enumerate(after) if token in ("when", "until", "before")), None)
    was = read_verb_group(tokens, at).words & {"was", "were", "had"}
    return bool(was) and moment is not None and not TROUBLE.isdisjoint(after[moment:])


def _is_trouble_back(tokens: list[str], at: int) -> bool:
    """Say whether a trouble is back, or somebody with news: *the issue is back*, *we will be back with an update*."""
    subject = read_clause_before(tokens, at)
    if not OURS.isdisjoint(subject) and read_word_after(tokens, at) in ("with", "in", "at", "soon", "later"):
        return not (NEWS | {"more", "minutes", "hour", "hours"}).isdisjoint(tokens[at + 1 : at + 9])
    is_strained = read_word_after(tokens, at) == "under" and not STRAIN.isdisjoint(tokens[at + 2 : at + 5])
    if read_word_after(tokens, at) in _LEVELS and not is_strained:
        return False
    if read_word_after(tokens, at) == "in" and "same" in tokens[at + 2 : at + 4]:
        return True
    is_trouble = not (TROUBLE - {"cause"}).isdisjoint(subject)
    is_it = "it" in subject and not {"gone", "disappeared", "vanished", "stopped"}.isdisjoint(tokens[:at])
    return is_trouble or (is_it and not {"but", "yet"}.isdisjoint(tokens[max(0, at - 5) : at]))


def _read_put_right_closure(tokens: list[str], at: int) -> str | None:
    """Read *we have put the problem right*, *they put the issue to rest*."""
    said = read_words_around(tokens, at, before=0, after=6)
    is_put = "right" in said[1:] or not {"rest", "bed"}.isdisjoint(said[2:])
    is_said = is_put and not (TROUBLE | {"everything", "things", "it", "all"}).isdisjoint(said)
    return "put right" if is_said and is_closure_made(tokens, at) else None
