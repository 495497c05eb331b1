"""Recovery: the words for a trouble and for its end, and what says that a service is well again."""

from __future__ import annotations

from itertools import pairwise

from guardgraph.guards.self_critique.reading import (
    BEING,
    BREAK,
    FINITE,
    PREPOSITIONS,
    STARTERS,
    STOPS,
    Reader,
    combine_claim_readers,
    is_claim_predicate,
    is_closure_made,
    is_content_word,
    read_causative_verb,
    read_claim_phrases,
    read_claim_words,
    read_clause_after,
    read_clause_before,
    read_verb_group,
    read_word_after,
    read_word_before,
    read_words_around,
    split_claim_words,
)

# Words

STRONG = read_claim_words("closures", "strong")
"""Verbs that mean by themselves that something is over."""

FORMS = read_claim_phrases("closures", "forms")
"""Base form, third person, past and *-ing* form of each verb."""

TROUBLE = read_claim_words("closures", "trouble")
"""What an incident is called."""

_IT = read_claim_words("closures", "it")
EVENTS = TROUBLE | _IT | read_claim_words("closures", "events") | read_claim_words("closures", "handovers")
_SERVICE = read_claim_words("closures", "service")
RETURNING = _SERVICE - {"requests", "queries", "jobs", "mail", "email", "emails", "orders", "calls"}
"""That these *returned* is good news; a query returns a row, and a mail its sender's error."""

ENDING_SOON = read_claim_words("closures", "ending_soon")
"""That these are over says nothing of an incident."""
IMPAIRED = read_claim_words("closures", "impaired")
"""What is so is a trouble, too, that can be ended."""
STATES = read_claim_words("closures", "states")
"""Adjectives that mean of an incident that it is over."""
_RECORDS = read_claim_words("closures", "records")
SUBJECTS = {
    **{past: TROUBLE | IMPAIRED | _IT for _, _, past, _ in FORMS if past not in STRONG},
    **dict.fromkeys(("removed", "closed", "stopped", "cleared"), TROUBLE | _IT),
    **dict.fromkeys(("disappeared", "vanished"), TROUBLE | IMPAIRED | _IT | {"loss", "losses"}),
    "stopped": TROUBLE | _IT | {"loss", "losses"},
    **dict.fromkeys(("ended", "finished", "completed", "concluded", *(STATES - {"over"})), EVENTS),
    "ended": EVENTS | IMPAIRED,
    "gone": EVENTS | IMPAIRED,
    "done": EVENTS - _IT,
    "successful": EVENTS - _IT | split_claim_words("fix hotfix patch"),
    "resumed": _SERVICE,
    "addressed": (TROUBLE | _IT) - split_claim_words("alert alerts alarm alarms warning warnings"),
    "corrected": TROUBLE | IMPAIRED | _IT | _RECORDS,
    "delivered": split_claim_words("solution resolution remedy"),
    "passed": TROUBLE,
    "contained": TROUBLE | {"it"},
    "lifted": TROUBLE | IMPAIRED | _IT | split_claim_words("freeze ban block limit limits throttling lockdown"),
    "handled": TROUBLE,
    **dict.fromkeys(("reached", "achieved"), split_claim_words("recovery restoration resolution normality")),
}
"""The other verbs and states mean it only of these."""
CONTINUING = read_claim_words("closures", "continuing")
"""What happens to a trouble before its end; any other participle of a trouble that *has been* so ends it."""
LASTING_GOOD = read_claim_words("closures", "lasting_good")
"""What is *no longer* so is no trouble that is gone."""
FAILINGS = read_claim_words("closures", "failings")
"""What a trouble does until it stops."""
PASSIVE = read_claim_words("closures", "passive")
"""These are claims of what they are done to only: *the release contained a bug* is none."""
BAD = read_claim_words("closures", "bad")
"""Of these, *everything is so* is no good news."""
HEALTHY = read_claim_words("closures", "healthy")
RUNNING = read_claim_words("closures", "running")
SHOWING = read_claim_words("closures", "showing")
"""*Normal operation* is a claim behind these."""
SYMPTOMS = read_claim_words("closures", "symptoms")
"""Of these, *there are none* says that it is over."""
COUNTED = TROUBLE | read_claim_words("closures", "counted")
"""What is over when it is down to zero."""
USERS = read_claim_words("closures", "users")
"""Who is affected by an incident."""
CURES = read_claim_words("closures", "cures")
"""What ends an incident when it works."""
OURS = read_claim_words("closures", "ours")
PEOPLE = OURS | read_claim_words("closures", "people")
"""Whose acts and feelings say nothing of a service."""
REPEATED = read_claim_words("closures", "repeated")
"""What is so *again*, or what one does again, without an end of the trouble."""

GOOD = read_claim_words("closures", "good")
"""A service that is so has no incident."""
REACHED = read_claim_words("closures", "reached")
RECOVERIES = read_claim_words("closures", "recoveries")
"""Nouns of what an incident ends in."""
REACHING = read_claim_words("closures", "reaching")
"""An incident ends where one of these is done to a recovery."""
FIXABLE = read_claim_words("closures", "fixable")
"""What is fixed once is no trouble."""
PAPERS = read_claim_words("closures", "papers")
"""That these are complete tells of no end of an incident."""
STRAIN = read_claim_words("closures", "strain")
"""A trouble that is *back under* one of these is there again."""
NOT_RECOVERING = read_claim_words("closures", "not_recovering")
"""That these, or from these, somebody *recovered* says nothing of a service."""
PERSONS = read_claim_words("closures", "persons")
USUAL_LEVELS = read_claim_words("closures", "usual_levels")
"""A level that is so is normal: *back to expected levels*."""
MEASURED_LEVELS = read_claim_words("closures", "measured_levels")
RESOLVABLE = read_claim_words("closures", "resolvable")
"""Resolving these is a step of a machine."""
FINE = read_claim_words("closures", "fine")
AGAIN_GOOD = REACHED | FINE | {"good"}
"""These say so beside *again*; the last ones also of everything."""
_DOING_BASES = read_claim_words("closures", "doing_bases")
DOING = read_claim_words("closures", "doing").union(
    *((base, f"{base}s", f"{base.rstrip('e')}ed", f"{base.rstrip('e')}ing") for base in _DOING_BASES)
)
"""What a service does when it is well."""
WELL = read_claim_words("closures", "well")
ANNOUNCING = read_claim_words("closures", "announcing")
NEWS = read_claim_words("closures", "news")
"""Whoever does the former *again*, or is *back* with one of the latter, tells of no end."""
ROLLOUTS = read_claim_words("closures", "rollouts")
WENT_WELL = read_claim_words("closures", "went_well")
DUTY = read_claim_words("closures", "duty")
"""What *returned to* one of these is well."""
ROLLED = read_claim_words("closures", "rolled")
"""What is done to a service in a maintenance, and ends it when it went *without problems*."""
TASKS = read_claim_words("closures", "tasks")
"""That these are done says nothing of an incident."""
AS_USUAL = read_claim_words("closures", "as_usual")
QUEUES = read_claim_words("closures", "queues")
"""What is well when it is empty."""
SETTLING = read_claim_words("closures", "settling")
"""What *dropped to normal* is well, and what fell *nearly* there is not."""
NEARLY = read_claim_words("closures", "nearly")
CLOCKS = read_claim_words("closures", "clocks")
"""A trouble that *lasted until* one of these, or until a time, is over."""
BACK_AT = read_claim_words("closures", "back_at")
"""What is *back* there is well."""
NORMAL = read_claim_words("closures", "normal")
MOVING = read_claim_words("closures", "moving")
OVERCOME = TROUBLE | read_claim_words("closures", "overcome")
"""*No longer* or *any more* one of these."""
LEFT_OVER = read_claim_words("closures", "left_over")

PHRASES = [
    *read_claim_phrases("closures", "phrases"),
    *(
        (where, *article, level, measure)
        for where, measures in (
            ("within", "range limits bounds parameters"),
            ("at", "level levels rate rates speed capacity"),
        )
        for article in ((), ("the",), ("their",), ("its",), ("our",))
        for level in ("normal", "usual", "typical", "ordinary", "regular")
        for measure in measures.split()
    ),
]
"""Phrases that say that something is over: *come to an end*, *within the usual range*."""


# What is well

_PRESENT = frozenset({"is", "are", "has", "have", "will", "shall", "am"})


def _read_good_closure(tokens: list[str], at: int) -> str | None:
    """Read *all systems are operational*, *everything is fine*, *available again*."""
    token, follows, around = tokens[at], read_word_after(tokens, at), read_words_around(tokens, at, after=8)
    if token in AGAIN_GOOD and not _is_service_good_again(tokens, at, around):
        return None
    if _was_well_before(tokens, at):
        return None
    is_other = follows in ("that", "under", "ahead") or (token == "well" and follows in ("on", "hardly"))
    is_other = is_other or (follows == "at" and not read_verb_group(tokens, at).is_future)
    is_other = is_other or (follows == "to" and token in ("normal", "possible", "fine", "okay", "ok"))
    is_other = is_other or _is_on_our_side(tokens, at)
    is_usual = token == "normal" and {"delay", "delays", "errors", "to"} & set(tokens[max(0, at - 3) : at])
    return (
        token if not (is_other or is_usual) and is_claim_predicate(tokens, at) and is_closure_made(tokens, at) else None
    )


def _is_on_our_side(tokens: list[str], at: int) -> bool:
    """Say whether it is so for the writer alone: *looks normal on our end*, *on our side the service is up*."""
    around = [*read_clause_before(tokens, at), *tokens[at : at + 5]]
    return any(
        triple[:2] in (("on", "our"), ("on", "my")) and triple[2] in ("end", "side")
        for triple in zip(around, around[1:], around[2:], strict=False)
    )


def _was_well_before(tokens: list[str], at: int) -> bool:
    """Say whether something was well before the trouble: *was stable until 9 am*."""
    is_past = read_verb_group(tokens, at).words & {"was", "were", "had"} or read_word_before(tokens, at) == "went"
    around = tokens[max(0, at - 12) : at + 8]
    return bool(is_past) and not {"until", "before", "previously", "when", "while"}.isdisjoint(around)


def _is_service_good_again(tokens: list[str], at: int, around: list[str]) -> bool:
    label = read_clause_before(tokens, at - 1, 4) if read_word_before(tokens, at) == BREAK else []
    if not {"status", "state", "health", "condition", "service", "availability", *EVENTS}.isdisjoint(label):
        return tokens[at] != "open"
    to_all = not {"all", "everyone", "everybody", "everywhere"}.isdisjoint(tokens[at + 1 : at + 5])
    if to_all and tokens[at] in ("reachable", "accessible", "usable"):
        return True
    of_all, is_weak = not {"everything", "all"}.isdisjoint(around), tokens[at] in REACHED
    if {"again", "fully", "now", "anew"} & set(around) or (of_all and not is_weak):
        return True
    is_now = read_verb_group(tokens, at).words & {"is", "are"} and PEOPLE.isdisjoint(read_clause_before(tokens, at))
    return bool(is_now) and tokens[at] in FINE


def _read_flowing_closure(tokens: list[str], at: int) -> str | None:
    """Read *mail is flowing*, *queries are succeeding*."""
    group = read_verb_group(tokens, at)
    is_now = group.words & {"is", "are"} and not is_content_word(read_word_after(tokens, at))
    return "working normally" if is_now and is_closure_made(tokens, at, group=group) else None


def _read_up_closure(tokens: list[str], at: int) -> str | None:
    """Read *is up again*, *the site is up*."""
    is_up = read_verb_group(tokens, at).words & {"is", "are", "be", "been"} and read_word_before(tokens, at) != "back"
    is_all = read_word_after(tokens, at) in (*STOPS, "again", "since", "now", "everywhere", "in")
    is_all = is_all and not _is_on_our_side(tokens, at)
    return "up" if is_up and is_all and is_closure_made(tokens, at) else None


def _read_works_closure(tokens: list[str], at: int) -> str | None:
    """Read *is working again*, *everything works*, *logins now work*."""
    follows, around = read_word_after(tokens, at), read_words_around(tokens, at)
    if read_word_before(tokens, at) in PREPOSITIONS:
        return None
    if tokens[at] == "working":
        if _was_well_before(tokens, at):
            return None
        is_service = {"we", "team", "engineers", "still", "everyone"}.isdisjoint(around)
        group = read_causative_verb(tokens, read_verb_group(tokens, at))
        if "should" in group.words and "now" in tokens[at + 1 : at + 5]:
            group = group._replace(words=group.words | {"now"})
        is_said = group.has_being_verb or {"got", "everything"} & set(around)
        is_plain = follows in (*STOPS, *WELL, "now", "and", "as", "for") and (is_service or "got" in around)
        return "working" if is_said and is_plain and is_closure_made(tokens, at, group=group) else None
    is_now = bool({"everything", "all", "now", "everyone", "everybody"} & set(around))
    is_now = is_now and PEOPLE.isdisjoint(read_clause_before(tokens, at))
    is_of_all = is_now and follows not in ("on", "to", "with") and not is_content_word(follows)
    rest = tokens[at + 1 : at + 12]
    is_plain = follows in STOPS and tokens[at] == "works" and {"not", "but", "no"}.isdisjoint(rest)
    is_plain = is_plain and is_content_word(read_word_before(tokens, at)) and read_word_before(tokens, at) not in PEOPLE
    group = read_causative_verb(tokens, read_verb_group(tokens, at))
    if "should" in group.words and follows == "now":
        group = group._replace(words=group.words | {"now"})
    is_made = (is_of_all or is_plain) and tokens[at] != "worked" and is_closure_made(tokens, at, group=group)
    return "working" if is_made else None


def _read_fix_holds_closure(tokens: list[str], at: int) -> str | None:
    """Read *the fix works*, *the patch is holding*, *the solution is in place*."""
    subject = read_clause_before(tokens, at, 6)
    follows = read_word_after(tokens, at)
    if CURES.isdisjoint(subject) or not PEOPLE.isdisjoint(subject) or follows in ("to", "on", "off"):
        return None
    if is_content_word(follows):
        return None
    if tokens[at] == "place" and not (read_word_before(tokens, at) == "in" and BEING & set(subject)):
        return None
    if tokens[at] in ("place", "effect"):
        verb = next((place for place in range(at - 1, at - 4, -1) if tokens[place] in ("in", "took", "taken")), at)
        return "fix in place" if verb < at and is_closure_made(tokens, verb, at + 1) else None
    is_noun = read_word_before(tokens, at) in STARTERS | PREPOSITIONS
    return "worked" if not is_noun and is_closure_made(tokens, at) else None


def _read_everything_closure(tokens: list[str], at: int) -> str | None:
    """Read *everything is ...*: whatever it is but bad."""
    is_so = read_word_after(tokens, at) in ("is", "looks", "seems")
    said = read_clause_after(tokens, at + 1)
    if not is_so or not said or not (BAD | PEOPLE).isdisjoint(said):
        return None
    state = next((place for place in range(at + 2, at + 2 + len(said)) if is_content_word(tokens[place])), at + 2)
    return "everything is well" if is_closure_made(tokens, state) else None


def _read_normal_closure(tokens: list[str], at: int) -> str | None:
    """Read *all regions report normal operation*."""
    verb = next((place for place in range(at - 1, max(-1, at - 4), -1) if tokens[place] in SHOWING), -1)
    is_said = verb > 0 and read_word_before(tokens, at) in HEALTHY
    return "normal operation" if is_said and is_closure_made(tokens, verb, at + 1) else None


def _read_as_usual_closure(tokens: list[str], at: int) -> str | None:
    """Read *operating normally*, *performing as expected*, *payments succeed again*."""
    is_usual = read_word_after(tokens, at) in AS_USUAL or tokens[at + 2 : at + 3] == ["should"]
    is_usual = is_usual or read_word_after(tokens, at) in ("new", "clockwork")
    if tokens[at] in ("as", "like") and not is_usual:
        return None
    reach = 6 if tokens[at] in ("again", "without") else 4
    for place in range(at - 1, max(-1, at - reach), -1):
        if tokens[place] in DOING:
            return _read_doing_well_closure(tokens, place, at)
        if tokens[place] in STOPS:
            return None
    return None


def _read_doing_well_closure(tokens: list[str], place: int, end: int) -> str | None:
    """Read a verb of working at its place, said to go well at the end."""
    group = read_verb_group(tokens, place)
    if _was_well_before(tokens, place):
        return None
    has_subject = read_word_before(tokens, place) not in (*STOPS, "please", "the", "a", "is", "on")
    has_subject = has_subject and not (read_word_before(tokens, place) == "and" and tokens[place] == "open")
    if tokens[place].startswith("open") and read_word_before(tokens, group.start) in TROUBLE:
        return None  # an incident that is open again is none that is over
    is_open = {"starting", "beginning", "stopped", "stops"} & set(tokens[max(0, place - 3) : place])
    is_said = (has_subject or group.words) and not is_open
    group = read_causative_verb(tokens, group.drop_words("being"))
    return "working normally" if is_said and is_closure_made(tokens, place, end + 1, group=group) else None


def _read_without_trouble_closure(tokens: list[str], at: int) -> str | None:
    """Read *payments go through without problems*."""
    if TROUBLE.isdisjoint(tokens[at + 1 : at + 4]):
        return None
    rolled = next((place for place in range(at - 1, max(-1, at - 5), -1) if tokens[place] in ROLLED), -1)
    if rolled > 0 and is_closure_made(tokens, rolled, at + 1):
        return "went well"
    return _read_as_usual_closure(tokens, at)


def _read_again_closure(tokens: list[str], at: int) -> str | None:
    """Read *can log in again*, *mail arrives again*: what is so again is well, trouble and attempts aside."""
    before = read_clause_before(tokens, at)
    if not REPEATED.isdisjoint([*before, *read_clause_after(tokens, at, 3)]) or _is_news(before):
        return None
    if before[-1:] == ["back"] and ("it" in before or not TROUBLE.isdisjoint(before)):
        return None  # what is back is read by itself
    start = at - len(before)
    if ("have", "to") in pairwise(before):
        return None  # what has to be done once more is no good news
    if "may" in before and before[-1] != "may" and "able" not in before and {"you", *USERS} & set(before):
        return (
            "possible again"
            if "not" not in before and is_closure_made(tokens, start + before.index("may"), at)
            else None
        )
    can = next((place for place in range(at - 1, start - 1, -1) if tokens[place] in ("can", "able")), -1)
    if can >= 0:
        return "possible again" if tokens[can + 1] not in ("not", "you") and is_closure_made(tokens, can, at) else None
    if said := _read_as_usual_closure(tokens, at):
        return said
    verb = _find_main_verb(tokens, at, start)
    subject = before[1:] if before[:1] == ["your"] else before
    if verb < 0 or not (PEOPLE | TROUBLE).isdisjoint(subject):
        return None
    group = read_verb_group(tokens, verb)
    if tokens[verb] not in _list_closing_verbs():
        group = group.drop_words("being")
    return "again" if is_closure_made(tokens, verb, at + 1, group=group) else None


def _is_news(before: list[str]) -> bool:
    """Say whether somebody will tell something again: *we will update this page again*, *will update again soon*."""
    if not NEWS.isdisjoint(before) and "will" in before:
        return True
    return not ANNOUNCING.isdisjoint(before) and not OURS.isdisjoint(before)


def _read_went_well_closure(tokens: list[str], at: int) -> str | None:
    """Read *the migration went well*, *the upgrade went through without problems*; not *what went well*."""
    subject, said = read_clause_before(tokens, at, 8), tokens[at + 1 : at + 8]
    if (EVENTS | ROLLOUTS | {"all"}).isdisjoint(subject) or {"what", "that"} & {*subject[-2:]}:
        return None
    is_well = bool(said) and (said[0] in WENT_WELL or said[:2] in (["according", "to"], ["to", "plan"]))
    is_well = is_well or (said[:1] == ["as"] and said[1:2] != [] and said[1] in AS_USUAL)
    is_well = is_well or (said[:1] == ["through"] and "without" in said)
    is_over = {"until", "till", "first", "initially", "before"}.isdisjoint(said)
    return "went well" if is_well and is_over and is_closure_made(tokens, at, at + 2) else None


def _list_closing_verbs() -> frozenset[str]:
    return frozenset(form for forms in FORMS for form in forms)


def _find_main_verb(tokens: list[str], at: int, start: int) -> int:
    """Return where the main verb of a clause stands that ends at a place, -1 where it has none in the present."""
    said = [place for place in range(start, at) if tokens[place] in _PRESENT]
    if said:
        if tokens[at - 1] in _PRESENT and read_word_after(tokens, at) in STARTERS:
            return -1
        return next((place for place in range(said[0] + 1, at) if is_content_word(tokens[place])), at)
    if start == at or not FINITE.isdisjoint(tokens[start:at]):
        return -1
    last = at - 1
    while last > start and tokens[last].endswith("ly"):
        last -= 1
    subject = read_word_before(tokens, last)
    is_verb = last > start and is_content_word(tokens[last]) and is_content_word(subject)
    return last if is_verb and tokens[last].endswith("s") != subject.endswith("s") else -1


def _read_resume_closure(tokens: list[str], at: int) -> str | None:
    """Read *customers can resume work*."""
    can = read_word_before(tokens, at) in ("can", "may", "now") and tokens[at - 2 : at - 1] != ["to"]
    return (
        "possible again"
        if can and is_closure_made(tokens, at - 1, at + 1, group=read_verb_group(tokens, at - 1))
        else None
    )


def _read_safe_again_closure(tokens: list[str], at: int) -> str | None:
    """Read *it is safe again to log in*."""
    is_again = {"now", "again"} & {*tokens[max(0, at - 2) : at], *read_clause_after(tokens, at, 6)}
    return "possible again" if is_again and is_claim_predicate(tokens, at) and is_closure_made(tokens, at) else None


def _read_now_closure(tokens: list[str], at: int) -> str | None:
    """Read *customers can now log in*, *you should now be able to log in*."""
    is_promised = read_word_before(tokens, at) == "should" and tokens[at + 1 : at + 3] == ["be", "able"]
    if is_promised:
        is_use = {"see", "report", "reproduce", "contact", "read"}.isdisjoint(tokens[at + 3 : at + 5])
        return "possible again" if is_use and is_closure_made(tokens, at + 2, at + 3) else None
    if read_word_before(tokens, at) == "can" and read_word_after(tokens, at) not in (
        "see",
        "say",
        "confirm",
        "report",
        "not",
    ):
        follows = tokens[at + 1 : at + 4]
        is_use = OURS.isdisjoint(read_clause_before(tokens, at)) and REPEATED.isdisjoint(follows)
        return "possible again" if is_use and is_closure_made(tokens, at - 1, at + 1) else None
    return None


def _index_well_closure_readers() -> dict[str, Reader]:
    readers: dict[str, Reader] = dict.fromkeys((*WELL, "as", "like"), _read_as_usual_closure)
    readers |= dict.fromkeys(GOOD | AGAIN_GOOD - {"fine", "well"}, _read_good_closure)
    readers |= dict.fromkeys(
        ("holds", "held", "hold", "holding", "helped", "effective", "effect", "place"), _read_fix_holds_closure
    )
    readers |= dict.fromkeys(("fine", "well"), combine_claim_readers(_read_as_usual_closure, _read_good_closure))
    readers |= dict.fromkeys(
        ("works", "work", "working", "worked"), combine_claim_readers(_read_works_closure, _read_fix_holds_closure)
    )
    readers |= dict.fromkeys(RUNNING, _read_normal_closure)
    readers |= {
        "everything": _read_everything_closure,
        "flowing": combine_claim_readers(_read_as_usual_closure, _read_flowing_closure),
        "succeeding": combine_claim_readers(_read_as_usual_closure, _read_flowing_closure),
        "resume": _read_resume_closure,
        "safe": _read_safe_again_closure,
        "went": _read_went_well_closure,
    }
    return readers | {
        "again": _read_again_closure,
        "up": _read_up_closure,
        "without": _read_without_trouble_closure,
        "now": _read_now_closure,
    }


WELL_READERS: dict[str, Reader] = _index_well_closure_readers()
"""What reads each word."""
