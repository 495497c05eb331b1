"""The words that promise an outcome."""

from __future__ import annotations

from guardgraph.guards.self_critique.grammar import read_claim_words, split_claim_words

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
NOUN_STARTS = read_claim_words("promising", "noun_starts")
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
FAILING = read_claim_words("promising", "failing")
"""What will not happen is promised never to."""
RISK = split_claim_words("risk risks danger chance possibility probability likelihood odds doubt way")
MEASURED = read_claim_words("promising", "measured")
CERTAINLY = split_claim_words("certainly definitely undoubtedly doubtless unquestionably surely")
TERMS = read_claim_words("promising", "terms")
"""Beside these a guarantee or a promise is a term of trade or of technology."""
RESOURCES = read_claim_words("promising", "resources")
"""What a scheduler or a queue guarantees."""
PERFECT = read_claim_words("promising", "perfect")
"""What is so promises that it cannot fail."""
PREVENTING = read_claim_words("promising", "preventing")
HARM = read_claim_words("promising", "harm")
PHRASES = [
    *("rest easy", "fear not", "sleep soundly", "sleep well", "in safe hands", "have no fear", "mark my words"),
    *("mark our words", "take our word", "without any risk", "absolutely will", "will absolutely", "no ifs"),
    *("positively will", "sure thing"),
]
"""Phrases that promise."""
OUTCOMES = read_claim_words("promising", "outcomes")
"""A guaranteed one of these is a promise."""
LASTING = read_claim_words("promising", "lasting")
"""Beside a verb of preventing these make it a promise."""
SAFE = split_claim_words("safe secure protected reliable")
WHOLLY = split_claim_words("absolutely completely fully perfectly totally entirely always 100 % utterly")
"""Nothing is so wholly safe but in a promise."""
