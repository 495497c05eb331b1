"""The closed classes of English words that the claims are read by."""

from __future__ import annotations


def split_claim_words(words: str) -> frozenset[str]:
    """Return the words of a text."""
    return frozenset(words.split())


FINITE = split_claim_words(
    """is are was were am has have had do does did will would shall should can could may might must"""
)
"""Auxiliaries: a clause that has one has its verb."""

BEING = split_claim_words(
    """is are was were am be been has have had remain remains considered declared feel looks look"""
)
_COPULAS = split_claim_words(
    """be been being become became remain remains remained stay stays stayed seem seems look looks"""
)
DENIALS = split_claim_words("not never nor neither hardly barely scarcely seldom rarely un non")
PARTIAL = split_claim_words(
    """partly partially mostly largely nearly almost mainly halfway virtually practically half somewhat"""
)
PROGRESS = split_claim_words("being getting becoming")
UNREAL = split_claim_words("would should could may might must can need needs ought")
REGARDED = split_claim_words("considered regarded declared deemed called treated marked classified closed")
_ADVERBS = split_claim_words(
    """now again already yet still just soon since also all both then even thus too only more very quite well ever
    here today tonight tomorrow back up got gets get gotten hereby marked believed thought reported appear appears"""
)
IN_GROUP = FINITE | _COPULAS | DENIALS | PARTIAL | PROGRESS | UNREAL | REGARDED | _ADVERBS
"""What a verb group is made of, adverbs in *-ly* beside."""

FACTIVE = split_claim_words(
    """able managed seems seem seemed appears appear appeared known confirmed believed found considered verified
    thought reported said understood proved proven out glad happy pleased proud relieved delighted happens
    happened claim claims guaranteed certain sure bound"""
)
"""Before *to* these leave a claim what it is: *we were able to fix it*, *it is known to be resolved*."""

CONDITIONS = split_claim_words("if when once whenever until till unless whether before after pending provided")
ALWAYS_OPEN = split_claim_words("if unless whether pending provided")
"""Conditions that stay open in the past tense, too; *once it was resolved* tells what happened."""
MOMENTS = split_claim_words("after before until till")
INVERTED = split_claim_words("should were had")
"""At the beginning of a clause these are conditions, too: *should the fix work, ...*."""
AWAITED = CONDITIONS - split_claim_words("before until till")
"""After a plain future these make it wait."""

EXPECTING = split_claim_words(
    """strive strives striving seek seeks hope hopes hoping hoped hopeful hopefully ideally expect expects expecting
    expected anticipate anticipates want wants wish aim aims aiming goal target plan plans planned planning intend
    intends likely unlikely try trying towards toward optimistic estimate estimates intention attempt supposed
    verifying checking testing confirming validating ensuring seeing deny denies denied dispute disputes disputed
    contest contests refute refutes doubt doubts doubtful unclear unsure uncertain"""
)
"""What comes after these is hoped for, aimed at, or not yet known."""

SAYING = split_claim_words(
    """say says saying said confirm confirmed claim claiming consider considered call declare mean means think
    believe assume tell know report state promise guarantee ensure sure clear certain true convinced see regard
    treat mark marked conclude pretend suggest imply verify verified prove proven announce show shown establish
    confirmation evidence sign indication proof guarantees claims promises"""
)
HOLDING = split_claim_words("consider considered believe declare declared know understand think")
WRONG = split_claim_words(
    """premature wrong false untrue incorrect misleading hard difficult impossible unable refuse decline"""
)
NOT_ALL = split_claim_words("no none nobody nothing neither few some most many much several half part parts hardly")
"""Subjects that deny a claim, or make it one of a part."""
WHOLE = split_claim_words("all every each everything everyone a one")
PART_OF = split_claim_words("one two three third quarter last majority minority portion fraction share bulk number")
STARTERS = split_claim_words(
    """the a an this that these those our your their its his her we you they it i he she there all every everything
    each some any no both nothing nobody everybody everyone"""
)
"""A noun phrase begins with one of these, with a number or with nothing."""
PREPOSITIONS = split_claim_words(
    """of to in for with on by at from affecting about against into over under between among within across concerning"""
)
TURNS = split_claim_words(
    """but while where so because since although though whereas however therefore hence than thanks otherwise"""
)
"""Words that open a statement of their own."""
CAUSE = split_claim_words("get have see bring put keep")
CAUSING = split_claim_words("getting having bringing seeing putting")
_PARTICIPLES = split_claim_words("found done known seen understood put brought")
_CLOSED = (
    IN_GROUP | PREPOSITIONS | TURNS | CONDITIONS | STARTERS | split_claim_words("and or nor without please as , |")
)


def is_content_word(token: str) -> bool:
    """Say whether a token is a noun, an adjective or the like: none of the closed classes."""
    return bool(token) and token not in _CLOSED and not token.endswith("ly")


def is_past_participle(token: str) -> bool:
    """Say whether a token looks like a past participle."""
    return token in _PARTICIPLES or (token.endswith("ed") and len(token) > 4)
