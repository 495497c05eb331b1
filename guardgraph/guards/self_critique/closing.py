"""The words that say that an incident is over."""

from __future__ import annotations

from guardgraph.guards.self_critique.grammar import split_claim_words

STRONG = split_claim_words(
    """unblocked reconnected reestablished regained rebuilt rejoined resynchronised resynchronized resynced
    reattached unlocked unfrozen resolved solved fixed restored recovered repaired rectified remedied cured
    reinstated normalised normalized stabilised stabilized remediated eradicated mended healed revived reactivated
    neutralised neutralized"""
)
"""Verbs that mean by themselves that something is over."""

_LISTED = """
resolve resolves resolved resolving | solve solves solved solving | fix fixes fixed fixing
restore restores restored restoring | recover recovers recovered recovering | repair repairs repaired repairing
rectify rectifies rectified rectifying | remedy remedies remedied remedying | cure cures cured curing
reinstate reinstates reinstated reinstating | normalise normalises normalised normalising
normalize normalizes normalized normalizing | stabilise stabilises stabilised stabilising
stabilize stabilizes stabilized stabilizing | remediate remediates remediated remediating
eradicate eradicates eradicated eradicating | rejoin rejoins rejoined rejoining
resynchronise resynchronises resynchronised resynchronising
resynchronize resynchronizes resynchronized resynchronizing | resync resyncs resynced resyncing
reattach reattaches reattached reattaching | unlock unlocks unlocked unlocking
unfreeze unfreezes unfrozen unfreezing | kill kills killed killing | nail nails nailed nailing
crush crushes crushed crushing | beat beats beaten beating | tame tames tamed taming | purge purges purged purging
flush flushes flushed flushing | wipe wipes wiped wiping | thwart thwarts thwarted thwarting
foil foils foiled foiling | repel repels repelled repelling | avert averts averted averting
undo undoes undone undoing | calm calms calmed calming | correct corrects corrected correcting
reconnect reconnects reconnected reconnecting | regain regains regained regaining | pass passes passed passing
deliver delivers delivered delivering | mend mends mended mending | heal heals healed healing
revive revives revived reviving | reactivate reactivates reactivated reactivating
neutralise neutralises neutralised neutralising | neutralize neutralizes neutralized neutralizing
plug plugs plugged plugging | seal seals sealed sealing | quash quashes quashed quashing
defuse defuses defused defusing | extinguish extinguishes extinguished extinguishing
contain contains contained containing | overcome overcomes overcame overcoming
overcome overcomes overcome overcoming | lift lifts lifted lifting | straighten straightens straightened straightening
stamp stamps stamped stamping | root roots rooted rooting | untangle untangles untangled untangling
unblock unblocks unblocked unblocking | defeat defeats defeated defeating
dissipate dissipates dissipated dissipating | fade fades faded fading | abate abates abated abating
dissolve dissolves dissolved dissolving | handle handles handled handling | close closes closed closing
end ends ended ending | finish finishes finished finishing | complete completes completed completing
conclude concludes concluded concluding | clear clears cleared clearing | stop stops stopped stopping
cease ceases ceased ceasing | settle settles settled settling | sort sorts sorted sorting
address addresses addressed addressing | correct corrects corrected correcting | squash squashes squashed squashing
iron irons ironed ironing | patch patches patched patching | eliminate eliminates eliminated eliminating
remove removes removed removing | disappear disappears disappeared disappearing | vanish vanishes vanished vanishing
subside subsides subsided subsiding | mitigate mitigates mitigated mitigating | resume resumes resumed resuming
reach reaches reached reaching | achieve achieves achieved achieving
"""
FORMS = [tuple(verb.split()) for line in _LISTED.strip().splitlines() for verb in line.split("|")]
"""Base form, third person, past and *-ing* form of each verb."""

TROUBLE = split_claim_words(
    """incident incidents issue issues problem problems outage outages fault faults error errors failure failures
    disruption disruptions interruption interruptions bug bugs defect defects impact delay delays timeouts alerts
    alarm alarms trouble troubles matter case ticket situation degradation slowdown slowness vulnerability cause
    downtime brownout blackout event emergency backlog anomaly symptoms glitch glitches blockage bottleneck
    congestion hiccup hiccups mistake mistakes breakdown crash crashes malfunction instability leak breach attack
    attacks spike spikes difficulties difficulty regression disturbance disturbances unavailability block threat
    threats malware intrusion virus hole leaks flaw flaws weakness crisis warning warnings complaints lag
    slowdowns obstacle obstacles obstruction jam hang hangs freezes dropouts disconnects misconfiguration
    corruption snag setback stoppage blackouts restriction restrictions limitation limitations inconvenience
    anomalies backlogs bottlenecks breakdowns malfunctions leakage interference imbalance shortage danger"""
)
"""What an incident is called."""

_IT = split_claim_words("it this that everything these those")
EVENTS = (
    TROUBLE
    | _IT
    | split_claim_words(
        """maintenance migration upgrade operation operations work works recovery restoration window repairs repair
    resolution remediation mitigation rectification normalisation normalization reinstatement resumption"""
    )
)
_SERVICE = split_claim_words(
    """streaming mail email emails calls sync replication delivery shipping shipments publishing trading transactions
    sales checkout logins production bookings backups feeds notifications webhooks messages messaging access
    activity functionality availability connectivity broadcasts uploads downloads service services operation
    operations processing business payments orders deliveries traffic"""
)

ENDING_SOON = split_claim_words(
    """shift call meeting budget weekend holiday lunch break trial period quarter month year day night"""
)
"""That these are over says nothing of an incident."""
IMPAIRED = split_claim_words(
    """degraded faulty broken failed failing defective wrong missing slow erroneous corrupt corrupted stuck"""
)
"""What is so is a trouble, too, that can be ended."""
STATES = split_claim_words("over gone finished done complete past successful")
"""Adjectives that mean of an incident that it is over."""
_RECORDS = split_claim_words(
    """invoices bills balances accounts records amounts statements charges entries figures data orders"""
)
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
CONTINUING = split_claim_words(
    """identified reported found confirmed located isolated investigated reproduced narrowed escalated assigned
    opened reopened raised caused traced detected logged flagged known seen noticed observed triggered introduced
    diagnosed analysed analyzed understood acknowledged communicated shared discussed described documented
    prioritised prioritized assessed reviewed forwarded tracked downgraded upgraded reduced limited mitigated
    minimised verified recorded listed linked attributed experienced encountered ongoing happening affecting
    impacting extended spread returned reappeared recurred begun started occurred happened affected hit continued
    persisted increased escalated lasted resulted led worsened grown come become made taken been gone had left
    prevented delayed blocked impacted disrupted interrupted caught created sent received posted published
    declared marked classified named called considered shown proved proven risen dropped fallen decreased improved
    eased slowed shifted moved changed set put kept given told explained paused mentioned recognised recognized
    pinpointed deployed released attempted tested planned scheduled examined explored looked inspected monitored
    watched debugged handed transferred submitted filed responded addressed passed"""
)
"""What happens to a trouble before its end; any other participle of a trouble that *has been* so ends it."""
LASTING_GOOD = split_claim_words(
    """support wait help helps know doubt possible available working works work reachable accessible possible
    supported able valid responding respond responds accept accepts accepting needed need needs required require
    requires maintained used use part online operational functional healthy stable normal well fine running run
    safe secure sure certain can want expect expects exists sold offered sent delivered load loads open"""
)
"""What is *no longer* so is no trouble that is gone."""
FAILINGS = split_claim_words(
    """crashing failing dropping leaking hanging freezing throwing looping timing flapping occurring happening
    appearing rising growing erroring returning recurring rebooting restarting blocking rejecting declining losing
    breaking"""
)
"""What a trouble does until it stops."""
PASSIVE = split_claim_words("contained sealed handled lifted")
"""These are claims of what they are done to only: *the release contained a bug* is none."""
BAD = split_claim_words(
    """down affected slow unavailable offline impacted degraded failing broken under late delayed unknown hold stuck
    possible bad wrong lost gone blocked logged documented reviewed connected unclear being on"""
)
"""Of these, *everything is so* is no good news."""
HEALTHY = split_claim_words("normal regular healthy usual stable full")
RUNNING = split_claim_words(
    """operation operations service levels performance functioning values conditions activity functionality"""
)
SHOWING = split_claim_words(
    """report reports reported reporting show shows showing see seeing seen observe in into enjoy enjoys have"""
)
"""*Normal operation* is a claim behind these."""
SYMPTOMS = split_claim_words(
    """issue issues problem problems error errors failure failures disruption disruptions interruption interruptions
    outage outages timeouts delays alerts alarms anomalies slowness slowdowns degradation downtime difficulties
    disturbances crashes trouble troubles complaints dropouts disconnects"""
)
"""Of these, *there are none* says that it is over."""
COUNTED = TROUBLE | split_claim_words("queue queues lag loss rate rates losses")
"""What is over when it is down to zero."""
USERS = split_claim_words(
    """customer customers user users client clients merchant merchants service services system systems region regions"""
)
"""Who is affected by an incident."""
CURES = split_claim_words(
    """fix fixes hotfix patch solution rollback restart repair remedy correction countermeasures mitigation"""
)
"""What ends an incident when it works."""
OURS = split_claim_words("we i team teams engineers staff vendor provider supplier support they he she developers")
PEOPLE = OURS | split_claim_words("you your")
"""Whose acts and feelings say nothing of a service."""
REPEATED = split_claim_words(
    """happen happens happened happening occur occurs recur recurs try tries retry fail fails failed failing logging
    begin begins began begun start starts started rise rises rising rose grow grows growing grew climb climbs
    climbing increase increases increasing drop drops dropping fall falls falling fell slow slows break breaks
    broke crash crashes crashed stop stops stopped degrade degrades degrading worse worsening down offline
    unavailable unreachable affected impacted broken degraded declined rejected blocked interrupted lost late
    delayed postponed extended investigated tested restarted reviewed checked tried escalated reopened triggered
    call test restart check review ask thank apologise apologize contact wait appear appears appeared deployed
    rolled paused updated looking look returning"""
)
"""What is so *again*, or what one does again, without an end of the trouble."""
FULLY = split_claim_words("""full fully completely entirely totally and""")

GOOD = split_claim_words(
    """operational functional healthy stable normal online green nominal passing steady optimal flawless"""
)
"""A service that is so has no incident."""
REACHED = split_claim_words("available reachable accessible possible live usable open")
RECOVERIES = split_claim_words("recovery resolution restoration normalisation normalization turnaround solution remedy")
"""Nouns of what an incident ends in."""
REACHING = split_claim_words(
    """made make reached achieved attained secured accomplished found delivered completed obtained"""
)
"""An incident ends where one of these is done to a recovery."""
FIXABLE = split_claim_words(
    """price prices fee fees rate rates limit limits size width date dates term terms amount salary length"""
)
"""What is fixed once is no trouble."""
RESOLVABLE = split_claim_words(
    """name names dispute disputes claim claims hostname hostnames host hosts address addresses dns domain domains
    url urls dependency dependencies symbol symbols conflict conflicts reference references variable variables
    merge promise promises path paths"""
)
"""Resolving these is a step of a machine."""
FINE = split_claim_words("fine okay ok well")
AGAIN_GOOD = REACHED | FINE | {"good"}
"""These say so beside *again*; the last ones also of everything."""
_DOING_BASES = split_claim_words(
    """work operate process perform function flow behave succeed arrive respond serve send deliver load sync connect
    play print stream transmit receive update render open start boot handle execute complete route accept answer
    display"""
)
DOING = split_claim_words("""run runs ran running go goes going pay pays through paid sent""").union(
    *((base, f"{base}s", f"{base.rstrip('e')}ed", f"{base.rstrip('e')}ing") for base in _DOING_BASES)
)
"""What a service does when it is well."""
WELL = split_claim_words("normally fine properly correctly smoothly perfectly flawlessly again")
AS_USUAL = split_claim_words("expected intended usual normal designed before always planned")
BACK_AT = split_claim_words("where on with under below within above in online up at since now and for again")
"""What is *back* there is well."""
NORMAL = split_claim_words("normal usual normality life baseline")
MOVING = split_claim_words(
    """returning coming getting going moving catching heading bringing looked looking step get fall"""
)
OVERCOME = TROUBLE | split_claim_words(
    """concern affected affects affecting impacted experiencing seeing see sees observe observing observed failing
    fail fails present occurring occur occurs happening happen happens exists exist degraded down ongoing active
    any visible broken wrong appear appears appearing notice notices noticing noticed experience experienced get
    gets getting recur recurs crash crashes hang hangs slow impaired interrupted suffer suffers suffering limited
    blocked unavailable"""
)
"""*No longer* or *any more* one of these."""
LEFT_OVER = split_claim_words(
    "further more remaining outstanding ongoing open lingering residual other active known new"
)

_LISTED_PHRASES = """
up and running | reached its end | reached an end | at its end | as they were | as it was before | dropped off
fallen away | fell away | tailed off | cleared up | is history | are history | is no more | are no more
turned the corner | all set | all sorted | all done | job done | mission accomplished | crisis averted | made good
set right | set straight | made right | put to bed | laid to rest | signed off | drawn to a close | at an end
to full strength | over for good | let up | wound up | safe to use | where it should be | where they should be
put a stop to | put an end to | put paid to | thing of the past | behind us | taken care of | took care of
dealt with | put to rest | come to an end | came to an end | brought to an end | come to a close | came to a close
brought to a close | all clear | all green | all is well | under control | closed chapter | wrapped up | over and done
put right | business as usual | as it should be | to where they should be | to where it should be | caught up
come back | came back | run its course | ran its course | blown over | died down | fizzled out | in good shape
in good health | in good order | in perfect order | in great shape | in full swing | within normal parameters
within normal range | within normal bounds | within expected limits | at baseline | to baseline | within normal limits
at normal levels | at normal rates | at normal speed | at full capacity | at full strength | at full speed
back in service | back in operation | back on track | in working order | good to go | systems go | systems are go
healthy state | stable state | went away | gone away | nothing left to | as good as new | did the trick
done the trick | did its job | done its job | did the job | done the job | in sync | in balance | back on its feet
on an even keel | out of the woods | over the worst
"""
PHRASES = [tuple(phrase.split()) for line in _LISTED_PHRASES.strip().splitlines() for phrase in line.split("|")]
"""Phrases that say that something is over."""
