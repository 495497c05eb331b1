"""The grammar around numbers in other languages than English, as the English words that the readers know.

These are closed classes: prepositions, conjunctions and what bounds, rates and compares. All other words come from
the tables of `guardgraph.languages`.
"""

from __future__ import annotations

import re
from typing import Any, Final

from guardgraph.guards.word_lists import load_word_lists

_LISTS: Final[dict[str, Any]] = load_word_lists("number_grammar")


GRAMMAR: Final = {
    language: {word: english for english, words in said.items() for word in words.split("|")}
    for language, said in _LISTS["grammar"].items()
}
"""Words around numbers, by language, as English words."""

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
}
"""How a place in an order is written: "5-й", "3ème", "1.º"."""
