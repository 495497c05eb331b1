"""Words of grammar around a number: what bounds it, what counts nothing, and what labels a part of a text.

These are closed classes of English; languages add theirs.
"""

from __future__ import annotations

from typing import Final

from guardgraph.guards.facts.values import Bound

__all__ = ["ANNOUNCING", "BEFORE", "BEHIND", "FUNCTION_WORDS", "LABELS", "WITHIN"]

_MORE: Final = "more greater larger longer higher older bigger better later taller heavier faster"
_LESS: Final = "less fewer smaller shorter lower younger earlier lighter slower"


def _bounds_before() -> dict[tuple[str, ...], Bound]:
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


BEFORE: Final = _bounds_before()
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

FUNCTION_WORDS: Final = frozenset(
    # prepositions and conjunctions
    """about above across after against ago along alongside although amid among and around as at away because before
    behind below beneath beside besides between beyond both but by despite down due during either else except for
    from if in inside instead into like minus near neither nor off on once onto or out outside over past per plus
    rather respectively since so than that though through throughout thus till times to together toward towards under
    unless unlike until up upon versus via vs when whenever where whereas wherever whether which while who whom whose
    why with within without
    """.split()
    # auxiliary verbs and pronouns
    + """am are be been being can could did do does doing done had has have having he her hers him his how i is it its
    may me might must my not our ours ought shall she should their theirs them then there these they this those us
    was we were what will would you your yours a all an another any each every he is no none only own same some
    such the also already again almost alone altogether apart approximately back currently earlier early even ever
    exactly first forward further hence here however indeed initially just last late later less likewise mainly
    meanwhile merely more moreover mostly nearly never nevertheless next now often originally otherwise overall
    perhaps previously quite recently roughly simply slightly sometimes soon still subsequently therefore today
    tomorrow tonight too total until usually very well yet yesterday
    """.split()
)
"""Words that count nothing: a number before one of them is bare."""

LABELS: Final = {
    name: of
    for of, names in {
        "section": "section sections sec sect § §§ paragraph paragraphs para clause clauses",
        "chapter": "chapter chapters ch chap",
        "appendix": "appendix annex",
        "figure": "figure figures fig figs",
        "table": "table tables tab",
        "footnote": "footnote footnotes note",
        "step": "step steps",
        "page": "page pages p pp",
        "volume": "volume volumes vol vols",
        "part": "part parts pt",
        "line": "line lines",
        "item": "item items",
        "article": "article articles art",
        "rule": "rule rules",
        "phase": "phase phases",
        "stage": "stage stages",
        "level": "level levels tier tiers",
        "version": "version versions release releases v ver",
        "season": "season",
        "episode": "episode episodes",
        "act": "act",
        "scene": "scene",
        "round": "round",
        "week": "week",
        "day": "day",
        "question": "question questions",
        "option": "option options",
        "equation": "equation equations eq",
        "ticket": "ticket tickets issue issues bug bugs case",
        "number": "# № no nos number",
        "room": "room rooms",
        "gate": "gate gates",
        "route": "route highway interstate",
        "channel": "channel channels",
        "port": "port ports",
        "grade": "grade grades class",
        "group": "group groups",
        "quarter": "quarter",
        "half": "half",
    }.items()
    for name in names.split()
}
"""What a number behind it tells apart, by every name of the kind."""

ANNOUNCING: Final = frozenset({"step", "phase", "stage", "part", "item", "rule", "option", "question", "day", "week"})
"""Kinds whose number, at the start of a line or sentence and before a colon, only announces what follows."""

WITHIN: Final = frozenset(
    """within in under than about around approximately after for over nearly almost roughly every per another lasts
    lasted takes took""".split()
)
"""Words after which "an hour" is a length of time that is claimed."""
