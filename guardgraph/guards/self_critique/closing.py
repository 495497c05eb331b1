"""The words that say that an incident is over."""

from __future__ import annotations

from guardgraph.guards.self_critique.grammar import listed

__all__ = [
    "AGAIN_GOOD",
    "AS_USUAL",
    "DOING",
    "EVENTS",
    "FORMS",
    "FULLY",
    "GOOD",
    "LEFT_OVER",
    "MOVING",
    "NORMAL",
    "OVERCOME",
    "PHRASES",
    "STATES",
    "STRONG",
    "SUBJECTS",
    "TROUBLE",
    "WELL",
]

STRONG = listed(
    """resolved solved fixed restored recovered repaired rectified remedied cured reinstated normalised normalized
    stabilised stabilized remediated eradicated"""
)
"""Verbs that mean by themselves that something is over."""

_LISTED = """
resolve resolves resolved resolving | solve solves solved solving | fix fixes fixed fixing
restore restores restored restoring | recover recovers recovered recovering | repair repairs repaired repairing
rectify rectifies rectified rectifying | remedy remedies remedied remedying | cure cures cured curing
reinstate reinstates reinstated reinstating | normalise normalises normalised normalising
normalize normalizes normalized normalizing | stabilise stabilises stabilised stabilising
stabilize stabilizes stabilized stabilizing | remediate remediates remediated remediating
eradicate eradicates eradicated eradicating | close closes closed closing | end ends ended ending
finish finishes finished finishing | complete completes completed completing
conclude concludes concluded concluding | clear clears cleared clearing | stop stops stopped stopping
cease ceases ceased ceasing | settle settles settled settling | sort sorts sorted sorting
address addresses addressed addressing | correct corrects corrected correcting | squash squashes squashed squashing
iron irons ironed ironing | patch patches patched patching | eliminate eliminates eliminated eliminating
remove removes removed removing | disappear disappears disappeared disappearing
vanish vanishes vanished vanishing | subside subsides subsided subsiding
mitigate mitigates mitigated mitigating
resume resumes resumed resuming | reach reaches reached reaching | achieve achieves achieved achieving
"""
FORMS = [tuple(verb.split()) for line in _LISTED.strip().splitlines() for verb in line.split("|")]
"""Base form, third person, past and *-ing* form of each verb."""

TROUBLE = listed(
    """incident incidents issue issues problem problems outage outages fault faults error errors failure failures
    disruption disruptions interruption interruptions bug bugs defect defects impact delay delays timeouts alerts alarm
    alarms trouble troubles matter case ticket situation degradation slowdown slowness vulnerability cause downtime
    brownout blackout event emergency backlog anomaly symptoms glitch glitches blockage bottleneck
    congestion hiccup hiccups mistake mistakes breakdown crash crashes malfunction instability leak breach
    attack spike difficulties difficulty regression disturbance disturbances unavailability errors block"""
)
"""What an incident is called."""

_IT = listed("it this that everything these those")
EVENTS = (
    TROUBLE
    | _IT
    | listed(
        """maintenance migration upgrade operation operations work works recovery restoration window repairs repair"""
    )
)
_SERVICE = listed("service services operation operations processing business payments orders deliveries traffic")

STATES = listed("over gone finished done complete past successful")
"""Adjectives that mean of an incident that it is over."""
SUBJECTS = {
    **{past: TROUBLE | _IT for _, _, past, _ in FORMS if past not in STRONG},
    **dict.fromkeys(("ended", "finished", "completed", "concluded", *STATES), EVENTS),
    "done": EVENTS - _IT,
    "successful": EVENTS - _IT | listed("fix hotfix patch"),
    "resumed": _SERVICE,
    **dict.fromkeys(("reached", "achieved"), listed("recovery restoration resolution normality")),
}
"""The other verbs and states mean it only of these."""
FULLY = listed("fully completely entirely totally and")

GOOD = listed("operational functional healthy stable normal online")
"""A service that is so has no incident."""
AGAIN_GOOD = listed("available reachable accessible possible live fine well good okay ok")
"""These say so beside *again*; the last ones also of everything."""
DOING = listed(
    """work works worked working run runs ran running operate operates operated operating process processes processed
    processing perform performs performing function functions functioning flow flows flowing behave behaves behaving
    go goes going succeed succeeds pay pays arrive arrives respond responds responding serving sending deliver
    delivers"""
)
WELL = listed("normally fine properly correctly smoothly perfectly flawlessly again")
AS_USUAL = listed("expected intended usual normal designed")
NORMAL = listed("normal usual normality life baseline")
MOVING = listed("returning coming getting going moving catching heading bringing looked looking step get fall")
OVERCOME = TROUBLE | listed(
    """concern affected affects affecting impacted experiencing seeing see sees observe observing observed failing fail
    fails present occurring occur occurs happening happen happens exists exist degraded down ongoing active any visible
    broken wrong appear appears appearing"""
)
"""*No longer* or *any more* one of these."""
LEFT_OVER = listed("further more remaining outstanding ongoing open lingering residual other active known new")

_LISTED_PHRASES = """
up and running | thing of the past | behind us | taken care of | took care of | dealt with | put to rest
come to an end | came to an end | brought to an end | come to a close | came to a close | brought to a close
all clear | all green | all is well | under control | closed chapter | wrapped up | over and done | put right
business as usual | as it should be | to where they should be | to where it should be | caught up
come back | came back
within normal limits | at normal levels | at normal rates | at normal speed | at full capacity | at full strength
at full speed | back in service | back in operation | back on track | in working order | good to go | systems go
systems are go | healthy state | stable state | went away | gone away | nothing left to | as good as new | did the trick
"""
PHRASES = [tuple(phrase.split()) for line in _LISTED_PHRASES.strip().splitlines() for phrase in line.split("|")]
"""Phrases that say that something is over."""
