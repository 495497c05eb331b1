"""Words of grammar around a number: what bounds it, what counts nothing, and what labels a part of a text.

These are closed classes of English, and what stands for them in other languages, as the English words that the readers
know. All other words come from the tables of `guardgraph.languages`.
"""

from __future__ import annotations

import re
from typing import Any, Final

from guardgraph.guards.facts.values import Bound
from guardgraph.guards.word_lists import load_word_lists

_LISTS: Final[dict[str, Any]] = load_word_lists("number_grammar")

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


FUNCTION_WORDS: Final = frozenset(" ".join(_LISTS["function_words"]).split())
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


def is_plural_noun(word: str) -> bool:
    """Say whether a word in lower case has the ending of a plural, or is one without it."""
    return word in PLURALS or (len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is")))


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


GRAMMAR: Final = {
    language: {word: english for english, words in said.items() for word in words.split("|")}
    for language, said in _LISTS["grammar"].items()
}
"""Words around numbers, by language, as English words."""

UNTOLD: Final = frozenset(_LISTS["untold"])
"""Languages of which nothing tells whether a word behind a number is what it counts, a unit or a verb."""

HALVES: Final = _LISTS["halves"]
"""What adds a part of one to the number before it."""

MIXED: Final = _LISTS["mixed"]
"""One and a half in one word."""

PARTS: Final = _LISTS["parts"]
"""What a number of parts is of: "zwei Drittel"."""

POINTS: Final = _LISTS["points"]
"""What is said between a number and its decimals."""

DECADES: Final = {
    "de": re.compile(r"(?<!\w)(\d{1,3}0)er(?:n|[- ]Jahren?)?(?!\w)"),
    "es": re.compile(
        r"(?<!\w)(?:(?:la )?d[ée]cada de (?:los )?(?:años )?|(?:los )?años )(\d{1,3}0)(?![\w%.,]\d|\w)"
        r"|(?<=los )(\d{1,3}0)s"
    ),
    "fr": re.compile(r"(?<!\w)années (\d{1,3}0)(?!\w)"),
    "it": re.compile(r"(?<!\w)anni ['’]?(\d{1,3}0)(?!\w)"),
    "pt": re.compile(r"(?<!\w)(?:década de |anos )(\d{1,3}0)(?!\w)"),
    "ru": re.compile(r"(?<!\w)(\d{1,3}0)-?(?:[еых]|ые|ых)(?: год[а-я]*)?(?!\w)"),
    "uk": re.compile(r"(?<!\w)(\d{1,3}0)-?(?:[іих]|ті|их|тих)(?: рок[а-яі]*)?(?!\w)"),
}
"""How ten years are said by the first of them."""

PLACES: Final = {
    "de": re.compile(r"\b(?:[id]m|[ad]er|das|den|des|die|vom|zum) (?P<place>\d{1,3})\.(?= [^\W\d_])"),
    "es": re.compile(r"(?<![\w.,])(?P<place>\d{1,3})(?:\.?[ºª°]|er|er[oa]|d[oa]|t[oa]|m[oa]|n[oa]|v[oa])(?!\w)"),
    "fr": re.compile(r"(?<![\w.,])(?P<place>\d{1,3})(?:ers?|res?|ères?|nde?s?|e|es|ème|èmes|ième)(?!\w)"),
    "it": re.compile(r"(?<![\w.,])(?P<place>\d{1,3})[ºª°](?!\w)"),
    "pt": re.compile(r"(?<![\w.,])(?P<place>\d{1,3})\.?[ºª°](?!\w)"),
    "nl": re.compile(r"(?<![\w.,])(?P<place>\d{1,3})(?:ste|de|e)(?!\w)"),
    "ru": re.compile(r"(?<![\w.,])(?P<place>\d{1,4})-?(?:[йя]|ый|ая|ое|го|ого|му|ому|[оы]м|м|ю|ую|ой)(?!\w)"),
    "uk": re.compile(r"(?<![\w.,])(?P<place>\d{1,4})-?(?:[йаеїу]|ий|го|ого|му|ому|м|ої|ій|ю)(?!\w)"),
    "el": re.compile(r"(?<![\w.,])(?P<place>\d{1,3})-?(?:ος|ου|ον?|η[ςν]?|οι|ων|ους|ες|α)(?!\w)"),
    "tr": re.compile(r"(?<![\w.,])(?P<place>\d{1,3})(?:['’]?(?:i|ı|u|ü)?nc[iıuü](?:s[iıuü])?|\.(?= yüzyıl))(?!\w)"),
    "hi": re.compile(r"(?<![\w.,])(?P<place>\d{1,3})[ -]?(?:वी[ंँ]?|वे[ंँ]?|वा[ंँ]?|व[ीे]ं)(?!\w)"),
    "ar": re.compile(r"(?<!\w)القرن (?:ال)?(?P<place>\d{1,2})(?![\w.,])"),
    "vi": re.compile(r"(?<!\w)(?:thế kỷ|thế kỉ|thứ) (?P<place>\d{1,3})(?![\w.,]\d|\w)", re.IGNORECASE),
    "th": re.compile(r"(?:ศตวรรษ|ครั้ง|อันดับ|ลำดับ)ที่[ ]?(?P<place>\d{1,3})(?![\d.,])"),
    "ko": re.compile(r"(?<![\w.,])(?:제 ?)?(?P<place>\d{1,3}) ?(?:번째|세기)"),
}
"""How a place in an order is written: "5-й", "3ème", "1.º", "19th" of centuries where no ending says it."""

FIRSTS: Final = {
    "el": re.compile(r"(?<!\w)πρώτ(?:ο[ςινυ]?|ους|η[ςν]?|ες|α|ων)(?!\w)", re.IGNORECASE),
    "hi": re.compile(r"(?<!\w)(?:पहल[ाीे]|प्रथम)(?!\w)"),
    "ar": re.compile(r"(?<!\w)(?:ال)?(?:أول|أولى|اول|اولى)(?!\w)"),
    "vi": re.compile(r"(?<!\w)(?:đầu tiên|thứ nhất)(?!\w)", re.IGNORECASE),
    "th": re.compile(r"แรก"),
    "ko": re.compile(r"첫 ?번째|첫째|(?<!\w)첫(?= )|최초|처음"),
}
"""How "first" is said where no table of ordinals is kept."""
