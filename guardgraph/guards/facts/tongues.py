"""The grammar around numbers in other languages than English, as the English words that the readers know.

These are closed classes: prepositions, conjunctions and what bounds, rates and compares. All other words come from
the tables of `guardgraph.languages`.
"""

from __future__ import annotations

import re
from typing import Final


def _parse_number_word_pairs(pairs: str) -> dict[str, str]:
    """Read "english = word|word" pairs, parted by semicolons."""
    found: dict[str, str] = {}
    for pair in pairs.split(";"):
        english, _, words = (part.strip() for part in pair.partition("="))
        found |= dict.fromkeys(words.split("|"), english)
    return found


GRAMMAR: Final = {
    "de": _parse_number_word_pairs(
        """to = bis; and = und; between = zwischen; of = von; from = ab|seit;
        in = im|in|am|um|gegen|vor|nach|anfang|ende;
        per = pro|je; at least = mindestens|wenigstens; at most = höchstens|maximal; more than = mehr als|länger als;
        less than = weniger als|kürzer als; over = über; under = unter; or = oder; about = etwa|rund|circa|ca|ungefähr;
        half = halb|halbe|halben|halber|halbes; half of = hälfte;
        half an = eine halbe|einer halben|ein halbes|einem halben|ein halber|einen halben; million = mio"""
    ),
    "es": _parse_number_word_pairs(
        """to = a|hasta; and = y; between = entre; of = de|del; from = desde; in = en|durante; per = por;
        at least = al menos|por lo menos|como mínimo; at most = como máximo|a lo sumo; more than = más de;
        less than = menos de; or = o|u; about = unos|unas|alrededor de|cerca de|aproximadamente;
        half = medio|media; half of = mitad; and a half = y media|y medio; and a quarter = y cuarto"""
    ),
    "fr": _parse_number_word_pairs(
        """to = à; and = et; between = entre; of = de|du|des; from = depuis|dès; in = en|dans|pendant; per = par;
        at least = au moins|au minimum; at most = au plus|au maximum; more than = plus de; less than = moins de;
        or = ou; about = environ|près de; half = demi|demie; half of = moitié;
        and a half = et demi|et demie; and a quarter = et quart"""
    ),
    "it": _parse_number_word_pairs(
        """to = a; and = e|ed; between = tra|fra; of = di; from = dal; in = in|nel|nella; per = per|al;
        at least = almeno; at most = al massimo; more than = più di|oltre; less than = meno di; or = o;
        half = mezzo|mezza; half of = metà; and a half = e mezzo|e mezza"""
    ),
    "pt": _parse_number_word_pairs(
        """to = a|até; and = e; between = entre; of = de|do|da; in = em|no|na; per = por;
        at least = pelo menos|no mínimo;
        at most = no máximo; more than = mais de; less than = menos de; or = ou; half = meio|meia;
        half of = metade; and a half = e meio|e meia"""
    ),
    "nl": _parse_number_word_pairs(
        """to = tot; and = en; between = tussen; of = van; from = sinds; in = in|op|om; per = per;
        at least = ten minste|minstens;
        at most = hoogstens|maximaal; more than = meer dan; less than = minder dan; or = of; half = half|halve;
        half of = helft"""
    ),
    "pl": _parse_number_word_pairs(
        """to = do; and = i|a; between = między; from = od; in = w|we|o; per = na; at least = co najmniej|przynajmniej;
        at most = co najwyżej; more than = więcej niż|ponad; less than = mniej niż; or = lub|albo; half = pół"""
    ),
    "ru": _parse_number_word_pairs(
        """to = до|по; and = и; between = между; from = с|от; in = в|во|на|около;
        at least = не менее|как минимум|минимум;
        at most = не более|максимум; more than = более|больше|свыше; less than = менее|меньше; or = или; half = пол;
        half of = половина|половины|половину; half an hour = полчаса|получаса; and a half = с половиной"""
    ),
    "uk": _parse_number_word_pairs(
        """to = до|по; and = і|й|та; between = між; from = з|від|із; in = в|у|на|близько;
        at least = щонайменше|не менше;
        at most = щонайбільше|не більше; more than = понад|більше ніж|більше; less than = менше ніж|менше; or = або;
        half = пів;
        half of = половина|половини|половину; half an hour = півгодини; and a half = з половиною"""
    ),
}
"""Words around numbers, by language, as English words."""

HALVES: Final = {
    "en": {"and a half": "1/2", "and a quarter": "1/4", "and three quarters": "3/4", "and a third": "1/3"},
    "de": {"einhalb": "1/2", "und ein halb": "1/2", "und ein viertel": "1/4", "und drei viertel": "3/4"},
    "es": {"y medio": "1/2", "y media": "1/2", "y cuarto": "1/4"},
    "fr": {"et demi": "1/2", "et demie": "1/2", "et quart": "1/4"},
    "it": {"e mezzo": "1/2", "e mezza": "1/2"},
    "pt": {"e meio": "1/2", "e meia": "1/2"},
    "ru": {"с половиной": "1/2"},
    "uk": {"з половиною": "1/2"},
}
"""What adds a part of one to the number before it."""

MIXED: Final = {
    "de": {"anderthalb": "3/2"},
    "nl": {"anderhalf": "3/2", "anderhalve": "3/2"},
    "ru": {"полтора": "3/2", "полторы": "3/2", "полутора": "3/2"},
    "uk": {"півтора": "3/2", "півтори": "3/2"},
}
"""One and a half in one word."""

PARTS: Final = {
    "de": {"drittel": 3, "viertel": 4, "fünftel": 5, "sechstel": 6, "achtel": 8, "zehntel": 10, "hälfte": 2},
    "es": {"tercio": 3, "tercios": 3, "cuarto": 4, "cuartos": 4, "quinto": 5, "quintos": 5, "mitad": 2},
    "fr": {"tiers": 3, "quart": 4, "quarts": 4, "cinquième": 5, "cinquièmes": 5, "moitié": 2},
    "ru": {"трети": 3, "треть": 3, "четверть": 4, "четверти": 4, "пятых": 5, "пятая": 5},
    "uk": {"третини": 3, "третина": 3, "чверть": 4, "чверті": 4, "пʼятих": 5, "пʼята": 5},
}
"""What a number of parts is of: "zwei Drittel"."""

POINTS: Final = {
    "en": "point",
    "de": "komma",
    "es": "coma",
    "fr": "virgule",
    "it": "virgola",
    "pt": "vírgula",
    "nl": "komma",
}
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
