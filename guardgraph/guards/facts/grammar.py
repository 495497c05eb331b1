"""Words of grammar around a number: what bounds it, what counts nothing, and what labels a part of a text.

These are closed classes of English; languages add theirs.
"""

from __future__ import annotations

from typing import Final

from guardgraph.guards.facts.values import Bound
from guardgraph.guards.word_lists import load_word_lists

_MORE: Final = "more greater larger longer higher older bigger better later taller heavier faster"
_LESS: Final = "less fewer smaller shorter lower younger earlier lighter slower"


def _list_amount_bounds() -> dict[tuple[str, ...], Bound]:
    found: dict[tuple[str, ...], Bound] = {}
    sides: tuple[tuple[str, Bound, Bound], ...] = ((_MORE, "least", "most"), (_LESS, "most", "least"))
    for words, side, other in sides:
        for word in words.split():
            found[word, "than"] = side
            found["no", word, "than"] = found["not", word, "than"] = other
    least = "at least|over|above|exceeding|exceeds|exceeded|minimum of|a minimum of|upwards of|≥|>|> =|in excess of"
    most = "at most|under|below|up to|maximum of|a maximum of|≤|<|< =|at the most"
    found |= {tuple(phrase.split()): "least" for phrase in least.split("|")}
    found |= {tuple(phrase.split()): "most" for phrase in most.split("|")}
    return found


BEFORE: Final = _list_amount_bounds()
"""What bounds the number behind it; of two phrases the longer counts."""

BEHIND: Final[dict[tuple[str, ...], Bound]] = {
    ("or", "more"): "least",
    ("or", "over"): "least",
    ("or", "above"): "least",
    ("or", "higher"): "least",
    ("or", "older"): "least",
    ("and", "above"): "least",
    ("and", "over"): "least",
    ("and", "older"): "least",
    ("at", "least"): "least",
    ("or", "less"): "most",
    ("or", "fewer"): "most",
    ("or", "under"): "most",
    ("or", "below"): "most",
    ("or", "lower"): "most",
    ("or", "younger"): "most",
    ("at", "most"): "most",
}


FUNCTION_WORDS: Final = frozenset(" ".join(load_word_lists("number_grammar")["function_words"]).split())
"""Words that count nothing: a number before one of them is bare."""

_LABELS: Final = """
section sections sec sect § §§ paragraph paragraphs para clause clauses
chapter chapters ch chap
appendix annex
figure figures fig figs
table tables tab
footnote footnotes note
step steps
page pages p pp
volume volumes vol vols
part parts pt
line lines
item items
article articles art
rule rules
phase phases
stage stages
level levels tier tiers
version versions release releases v ver
season
episode episodes
act
scene
round
week
day
question questions
option options
equation equations eq
ticket tickets issue issues bug bugs case
number # № no nos
room rooms
gate gates
route highway interstate
channel channels
port ports
grade grades class
group groups
quarter
half
"""

PLURALS: Final = frozenset({"people", "men", "women", "children", "feet", "teeth", "mice", "geese", "lives", "species"})
"""Plurals that do not end as others do."""

LABELS: Final = {name: kind[0] for line in _LABELS.split("\n") if (kind := line.split()) for name in kind}
"""What a number behind it tells apart, by every name of the kind."""

ANNOUNCING: Final = frozenset({"step", "phase", "stage", "part", "item", "rule", "option", "question", "day", "week"})
"""Kinds whose number, at the start of a line or sentence and before a colon, only announces what follows."""

_WITHIN: Final = """
within in under than about around approximately after for over nearly almost roughly every per another lasts lasted
takes took
"""
WITHIN: Final = frozenset(_WITHIN.split())
"""Words after which "an hour" is a length of time that is claimed."""
