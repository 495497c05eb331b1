"""The closed classes of English words that the claims are read by."""

from __future__ import annotations

from guardgraph.guards.word_lists import load_word_lists


def split_claim_words(words: str) -> frozenset[str]:
    """Return the words of a text."""
    return frozenset(words.split())


def read_claim_words(module: str, name: str) -> frozenset[str]:
    """Return a list of words that is too long to stand in code, from the file of such lists."""
    return split_claim_words(" ".join(load_word_lists("claims")[module][name]))


def read_claim_phrases(module: str, name: str) -> list[tuple[str, ...]]:
    """Return a list of phrases, such as the forms of a verb, as `read_claim_words` does."""
    lines = load_word_lists("claims")[module][name]
    return [tuple(phrase.split()) for line in lines for phrase in line.split("|")]


FINITE = read_claim_words("grammar", "finite")
"""Auxiliaries: a clause that has one has its verb."""

BEING = read_claim_words("grammar", "being")
_COPULAS = read_claim_words("grammar", "copulas")
DENIALS = split_claim_words("not never nor neither hardly barely scarcely seldom rarely un non")
PARTIAL = read_claim_words("grammar", "partial")
PROGRESS = split_claim_words("being getting becoming")
UNREAL = split_claim_words("would should could may might must can need needs ought")
REGARDED = split_claim_words("considered regarded declared deemed called treated marked classified closed")
_ADVERBS = read_claim_words("grammar", "adverbs")
IN_GROUP = FINITE | _COPULAS | DENIALS | PARTIAL | PROGRESS | UNREAL | REGARDED | _ADVERBS
"""What a verb group is made of, adverbs in *-ly* beside."""

FACTIVE = read_claim_words("grammar", "factive")
"""Before *to* these leave a claim what it is: *we were able to fix it*, *it is known to be resolved*."""

CONDITIONS = split_claim_words("if when once whenever until till unless whether before after pending provided")
ALWAYS_OPEN = split_claim_words("if unless whether pending provided")
"""Conditions that stay open in the past tense, too; *once it was resolved* tells what happened."""
MOMENTS = split_claim_words("after before until till")
INVERTED = split_claim_words("should were had")
"""At the beginning of a clause these are conditions, too: *should the fix work, ...*."""
AWAITED = CONDITIONS - split_claim_words("before until till")
"""After a plain future these make it wait."""

EXPECTING = read_claim_words("grammar", "expecting")
"""What comes after these is hoped for, aimed at, or not yet known."""

SAYING = read_claim_words("grammar", "saying")
HOLDING = split_claim_words("consider considered believe declare declared know understand think")
WRONG = read_claim_words("grammar", "wrong")
NOT_ALL = split_claim_words("no none nobody nothing neither few some most many much several half part parts hardly")
"""Subjects that deny a claim, or make it one of a part."""
WHOLE = split_claim_words("all every each everything everyone a one")
PART_OF = split_claim_words("one two three third quarter last majority minority portion fraction share bulk number")
STARTERS = read_claim_words("grammar", "starters")
"""A noun phrase begins with one of these, with a number or with nothing."""
PREPOSITIONS = read_claim_words("grammar", "prepositions")
TURNS = read_claim_words("grammar", "turns")
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
