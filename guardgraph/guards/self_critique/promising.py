"""The words that promise an outcome."""

from __future__ import annotations

from guardgraph.guards.self_critique.grammar import split_claim_words

__all__ = [
    "ASKED",
    "CERTAIN",
    "CERTAINLY",
    "DUTY",
    "ENSURE",
    "FAILING",
    "GUARANTEE",
    "GUARANTEES",
    "HARM",
    "HESITANT",
    "HUNDRED",
    "LASTING",
    "MEASURED",
    "NEVER_AGAIN",
    "NOUNS",
    "NOUN_STARTS",
    "NO_RISK",
    "OBJECTS",
    "OUTCOMES",
    "PERFECT",
    "PHRASES",
    "PREVENTING",
    "PROMISE",
    "REFUSING",
    "RISK",
    "SAFE",
    "TERMS",
    "UNREAL",
    "VERBS",
    "VERB_STARTS",
    "WHOLLY",
    "WILLING",
]

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
NOUNS = split_claim_words("guarantee guarantees guaranty guaranties promise promises assurance assurances pledge vow")
NOUN_STARTS = split_claim_words(
    """a an the no any our this that full own such firm clear written back solemn sacred personal absolute
    unconditional binding formal public explicit without as of giving give gives make makes made offer offers
    these under with other is are was were"""
)
"""Before one of these words a noun begins; another noun before it makes it a term of technology."""
VERB_STARTS = split_claim_words("we i you they to not will can cannot and it he she that which who this also")
OBJECTS = split_claim_words("that a the you your it no every all this our us them full what")
WILLING = split_claim_words("able happy glad proud pleased ready willing hesitate hesitant")
"""Before *to guarantee* these leave the promise what it is."""
HESITANT = split_claim_words("hesitate hesitant hesitation reluctant")
REFUSING = split_claim_words("no none nobody nothing without rather than refuse refuses any less")
ASKED = split_claim_words("you customers users clients merchants partners please help helps to and")
DUTY = split_claim_words("should must need")
UNREAL = split_claim_words("may might could would")
FAILING = split_claim_words(
    """happen happens occur occurs recur recurs reoccur reoccurs return returns repeat repeated repeats fail fails
    reappear reopen break lost charged affected late lose loses"""
)
"""What will not happen is promised never to."""
RISK = split_claim_words("risk risks danger chance possibility probability likelihood odds doubt way")
MEASURED = split_claim_words(
    """battery charge level progress was were had failed reached hit peaked rose dropped fell affected error errors
    rate usage capacity utilization utilisation cpu disk memory rolled rollout traffic covers failing lost
    declined rejected between during saw load measured loss full complete failure failures down unavailable
    degraded"""
)
CERTAINLY = split_claim_words("certainly definitely undoubtedly doubtless unquestionably surely")
TERMS = split_claim_words(
    """money fund funds scheme period certificate letter clause provider javascript async await awaited returns
    resolves rejects rejected rejection pending chained unhandled callback function then broker queue kernel
    scheduler consistency"""
)
"""Beside these a guarantee or a promise is a term of trade or of technology."""
PERFECT = split_claim_words(
    """bulletproof foolproof failproof watertight airtight failsafe unbreakable impenetrable infallible unhackable
    indestructible invulnerable riskless riskfree immune"""
)
"""What is so promises that it cannot fail."""
PREVENTING = split_claim_words(
    """prevent prevents preclude precludes exclude excludes eliminate eliminates avert averts rule rules"""
)
HARM = split_claim_words(
    """harm injury repeat repeats recurrence repetition reoccurrence loss losses theft damage fraud duplicates
    failing mishap"""
)
PHRASES = [
    *("rest easy", "fear not", "sleep soundly", "sleep well", "in safe hands", "have no fear", "mark my words"),
    *("mark our words", "take our word", "without any risk", "absolutely will", "will absolutely", "no ifs"),
    *("positively will", "sure thing"),
]
"""Phrases that promise."""
OUTCOMES = split_claim_words(
    """solution refund refunds success result results delivery recovery safety availability uptime satisfaction"""
)
"""A guaranteed one of these is a promise."""
LASTING = split_claim_words(
    """any all every further future such permanently good forever ever again repeat recurrence repetition finally
    reoccurrence"""
)
"""Beside a verb of preventing these make it a promise."""
SAFE = split_claim_words("safe secure protected reliable")
WHOLLY = split_claim_words("absolutely completely fully perfectly totally entirely always 100 % utterly")
"""Nothing is so wholly safe but in a promise."""
