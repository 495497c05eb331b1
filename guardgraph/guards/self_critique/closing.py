"""The words that say that an incident is over."""

from __future__ import annotations

from guardgraph.guards.self_critique.grammar import read_claim_phrases, read_claim_words, split_claim_words

STRONG = read_claim_words("closing", "strong")
"""Verbs that mean by themselves that something is over."""

FORMS = read_claim_phrases("closing", "forms")
"""Base form, third person, past and *-ing* form of each verb."""

TROUBLE = read_claim_words("closing", "trouble")
"""What an incident is called."""

_IT = split_claim_words("it this that everything these those")
EVENTS = (
    TROUBLE
    | _IT
    | split_claim_words(
        """maintenance migration upgrade operation operations work works recovery restoration window repairs repair
    resolution remediation mitigation rectification normalisation normalization reinstatement resumption"""
    )
    | read_claim_words("closing", "handovers")
)
_SERVICE = read_claim_words("closing", "service")

ENDING_SOON = read_claim_words("closing", "ending_soon")
"""That these are over says nothing of an incident."""
IMPAIRED = read_claim_words("closing", "impaired")
"""What is so is a trouble, too, that can be ended."""
STATES = split_claim_words("over gone finished done complete past successful")
"""Adjectives that mean of an incident that it is over."""
_RECORDS = read_claim_words("closing", "records")
SUBJECTS = {
    **{past: TROUBLE | IMPAIRED | _IT for _, _, past, _ in FORMS if past not in STRONG},
    **dict.fromkeys(("removed", "closed", "stopped", "cleared"), TROUBLE | _IT),
    **dict.fromkeys(("ended", "finished", "completed", "concluded", *(STATES - {"over"})), EVENTS),
    "done": EVENTS - _IT,
    "successful": EVENTS - _IT | split_claim_words("fix hotfix patch"),
    "resumed": _SERVICE,
    "corrected": TROUBLE | IMPAIRED | _IT | _RECORDS,
    "delivered": split_claim_words("solution resolution remedy"),
    "passed": TROUBLE,
    "contained": TROUBLE | {"it"},
    "handled": TROUBLE,
    **dict.fromkeys(("reached", "achieved"), split_claim_words("recovery restoration resolution normality")),
}
"""The other verbs and states mean it only of these."""
CONTINUING = read_claim_words("closing", "continuing")
"""What happens to a trouble before its end; any other participle of a trouble that *has been* so ends it."""
LASTING_GOOD = read_claim_words("closing", "lasting_good")
"""What is *no longer* so is no trouble that is gone."""
FAILINGS = read_claim_words("closing", "failings")
"""What a trouble does until it stops."""
PASSIVE = split_claim_words("contained sealed handled lifted")
"""These are claims of what they are done to only: *the release contained a bug* is none."""
BAD = read_claim_words("closing", "bad")
"""Of these, *everything is so* is no good news."""
HEALTHY = split_claim_words("normal regular healthy usual stable full")
RUNNING = read_claim_words("closing", "running")
SHOWING = read_claim_words("closing", "showing")
"""*Normal operation* is a claim behind these."""
SYMPTOMS = read_claim_words("closing", "symptoms")
"""Of these, *there are none* says that it is over."""
COUNTED = TROUBLE | split_claim_words("queue queues lag loss rate rates losses")
"""What is over when it is down to zero."""
USERS = read_claim_words("closing", "users")
"""Who is affected by an incident."""
CURES = read_claim_words("closing", "cures")
"""What ends an incident when it works."""
OURS = split_claim_words("we i team teams engineers staff vendor provider supplier support they he she developers")
PEOPLE = OURS | split_claim_words("you your")
"""Whose acts and feelings say nothing of a service."""
REPEATED = read_claim_words("closing", "repeated")
"""What is so *again*, or what one does again, without an end of the trouble."""
FULLY = split_claim_words("""full fully completely entirely totally and""")

GOOD = read_claim_words("closing", "good")
"""A service that is so has no incident."""
REACHED = split_claim_words("available reachable accessible possible live usable open")
RECOVERIES = split_claim_words("recovery resolution restoration normalisation normalization turnaround solution remedy")
"""Nouns of what an incident ends in."""
REACHING = read_claim_words("closing", "reaching")
"""An incident ends where one of these is done to a recovery."""
FIXABLE = read_claim_words("closing", "fixable")
"""What is fixed once is no trouble."""
RESOLVABLE = read_claim_words("closing", "resolvable")
"""Resolving these is a step of a machine."""
FINE = split_claim_words("fine okay ok well")
AGAIN_GOOD = REACHED | FINE | {"good"}
"""These say so beside *again*; the last ones also of everything."""
_DOING_BASES = read_claim_words("closing", "doing_bases")
DOING = split_claim_words("""run runs ran running go goes going pay pays through paid sent""").union(
    *((base, f"{base}s", f"{base.rstrip('e')}ed", f"{base.rstrip('e')}ing") for base in _DOING_BASES)
)
"""What a service does when it is well."""
WELL = split_claim_words("normally fine properly correctly smoothly perfectly flawlessly again")
ANNOUNCING = read_claim_words("closing", "announcing")
NEWS = read_claim_words("closing", "news")
"""Whoever does the former *again*, or is *back* with one of the latter, tells of no end."""
ROLLOUTS = read_claim_words("closing", "rollouts")
WENT_WELL = read_claim_words("closing", "went_well")
DUTY = read_claim_words("closing", "duty")
"""What *returned to* one of these is well."""
RETURNING = read_claim_words("closing", "returning")
"""What a trouble does that was gone, *but* ..."""
ROLLED = read_claim_words("closing", "rolled")
"""What is done to a service in a maintenance, and ends it when it went *without problems*."""
TASKS = read_claim_words("closing", "tasks")
"""That these are done says nothing of an incident."""
AS_USUAL = split_claim_words("expected intended usual normal designed before always planned")
BACK_AT = split_claim_words("where on with under below within above in online up at since now and for again")
"""What is *back* there is well."""
NORMAL = split_claim_words("normal usual normality life baseline")
MOVING = read_claim_words("closing", "moving")
OVERCOME = TROUBLE | split_claim_words(
    """concern affected affects affecting impacted experiencing seeing see sees observe observing observed failing
    fail fails present occurring occur occurs happening happen happens exists exist degraded down ongoing active
    any visible broken wrong appear appears appearing notice notices noticing noticed experience experienced get
    gets getting recur recurs crash crashes hang hangs slow impaired interrupted suffer suffers suffering limited
    blocked unavailable"""
)
"""*No longer* or *any more* one of these."""
LEFT_OVER = read_claim_words("closing", "left_over")

PHRASES = read_claim_phrases("closing", "phrases")
"""Phrases that say that something is over."""
