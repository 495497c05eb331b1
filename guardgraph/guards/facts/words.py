"""The words around a number: its unit, currency and scale, what bounds it, what counts nothing, what labels a part.

The words of grammar are closed classes of English, and what stands for them in other languages, as the English words
that the readers know. All other words come from the shipped tables of `guardgraph.guards.languages`, read when first
asked for.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from fractions import Fraction
from functools import cache
from typing import Any, Final, TypeVar, overload

from guardgraph.grounding.words import load_stop_words
from guardgraph.guards.facts.numerals import SHARES, UNPARTED
from guardgraph.guards.facts.values import Amount, Bound, Unit
from guardgraph.guards.languages.numbers import load_magnitude_words, load_number_words
from guardgraph.guards.languages.tables import (
    LANGUAGES,
    Measure,
    load_currency_hundredths,
    load_currency_names,
    load_month_names,
    load_unit_names,
)
from guardgraph.guards.word_lists import load_word_lists
from guardgraph.plain.memory import remember_by_text

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


_Of = TypeVar("_Of")
_Other = TypeVar("_Other")


class _Table(Mapping[str, _Of]):
    """A table that is made when it is first looked into."""

    def __init__(self, make: Callable[[], Mapping[str, _Of]]) -> None:
        self._made = cache(make)

    def __getitem__(self, name: str) -> _Of:
        return self._made()[name]

    @overload
    def get(self, name: str, /) -> _Of | None: ...
    @overload
    def get(self, name: str, /, default: _Of | _Other) -> _Of | _Other: ...
    def get(self, name: str, /, default: _Other | None = None) -> _Of | _Other | None:
        """Look up a name; that of `Mapping` raises and catches an error for each that is not there."""
        return self._made().get(name, default)

    def __contains__(self, name: object) -> bool:
        return name in self._made()

    def __iter__(self) -> Iterator[str]:
        return iter(self._made())

    def __len__(self) -> int:
        return len(self._made())


PERCENT: Final = Unit("ratio", Fraction(1, 100))
FRACTION: Final = Unit(PERCENT.dimension, 1)
"""A share of one: 0.27 of this unit is 27 percent."""

# What offices count and the libraries do not know; and the letters that only stand beside digits.
_OWN: Final = (
    ("business hour", "1", "business hour|business hours|working hour|working hours"),
    ("business day", "1", "business day|business days|working day|working days|work day|work days|workday|workdays"),
    ("business day", "1", "banking day|banking days|weekday|weekdays"),
    ("ampere", "1", "A|amp|amps"),
    ("ampere", "1/1000", "milliamp|milliamps"),
    ("ampere hour", "1", "Ah|ampere hour|ampere hours|amp hour|amp hours"),
    ("ampere hour", "1/1000", "mAh|milliampere hour|milliampere hours|milliamp hour|milliamp hours"),
    ("time", "86400", "d|calendar day|calendar days"),
    ("time", "1", "secs"),
    ("time", "60", "m|mins"),
    ("time", "3600", "hrs"),
    ("time", "604800", "w"),
    ("calendar", "1", "mo|mos"),
    ("calendar", "12", "y|annum"),
    ("ratio", "1/100", "percent|per cent|percentage|pct"),
    ("ratio", "1/10000", "bps|basis point|basis points"),
    ("decibel", "1", "decibel|decibels"),
    ("point", "1", "pp|percentage point|percentage points"),
    ("gram", "45359237/100000", "lbs"),
    *UNPARTED,
    ("meter/time", "5/18", "kph|kmh"),
)

_TURNED: Final = "turn/time"
"""What revolutions per minute are measured in by the shipped tables."""

_SPATIAL: Final = Unit("~d", 1)
_PENNY: Final = Unit("GBP", Fraction(1, 100))

_ERAS: Final = {"era before": "BC BCE", "era after": "AD CE"}

_EXACT: Final = {name: (Unit("decibel", 1),) for name in ("dB", "dBA")}
"""Symbols that are other words in other cases: DB instances."""

GLUED_SCALES: Final = {"k": 10**3, "K": 10**3, "m": 10**6, "M": 10**6, "b": 10**9, "B": 10**9}
"""Scales that count only without a blank ("12k")."""

ERAS: Final = {name: Unit(era, 1) for era, names in _ERAS.items() for name in names.split()}
"""Eras in which years are counted, in capitals: an "ad" is none. They also stand before a year."""

FIRST: Final = {"first": 1, "second": 2, "third": 3}
TIMES_SAID: Final = {"once": 1, "twice": 2, "thrice": 3}
"""How often something is, in one word: said in passing."""

_GERMAN_DAYS: Final = ("montags", "dienstags", "mittwochs", "donnerstags", "freitags", "samstags", "sonntags")
_DAYS: Final = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
SPOKEN_DAYS: Final = {
    **dict.fromkeys(("weekday", "weekdays", "workday", "workdays"), (1, 5)),
    **dict.fromkeys(("weekend", "weekends"), (6, 7)),
    "daily": (1, 7),
    **{f"{name}s": (number, number) for number, name in enumerate(_DAYS, start=1)},
    **{name: (number, number) for number, name in enumerate(_GERMAN_DAYS, start=1)},
}
"""Words that say on which days of the week something is: the first and the last of them."""

HOLIDAYS: Final = {
    tuple(name.split()): (int(day[:2]), int(day[3:])) for name, day in load_word_lists("holidays").items()
}
"""The month and the day of holidays of a fixed date, by the words of their names."""
HOLIDAY_OPENINGS: Final = frozenset(name[0] for name in HOLIDAYS)

RATED: Final = {
    **{"hourly": "hour", "daily": "day", "weekly": "week", "monthly": "month"},
    **dict.fromkeys(("yearly", "annual", "annually"), "year"),
}
"""Words beside an amount with a unit, or in the heading of its column, that may say of what it is a rate."""

SHORT_RATES: Final = {
    **dict.fromkeys(("fps", "rps", "qps", "tps", "iops"), "second"),
    **dict.fromkeys(("rpm", "bpm", "wpm", "spm"), "minute"),
    **dict.fromkeys(("dpi", "ppi", "lpi"), "inch"),
}
"""Counts of something for each of a unit, in one word: frames per second, dots per inch."""

EACH: Final = frozenset({"a", "an", "every", "each"})

CURRENCIES: Final = _Table(
    lambda: {name: True for name in load_currency_names("en") if len(name) == 3 and name.isupper()}
)
"""Currency codes. They and `SYMBOLS` also stand before an amount."""

SYMBOLS: Final = _Table(lambda: {name: True for name in load_currency_names("") if name not in CURRENCIES})

MONTHS: Final = _Table(lambda: load_month_names("en"))
SMALL: Final = _Table(lambda: load_number_words("en").cardinals)
ORDINALS: Final = _Table(
    lambda: {
        word: place for word, place in load_number_words("en").ordinals.items() if word not in FIRST and " " not in word
    }
)


def name_number_scale(amount: int) -> str:
    """Name a scale in any language: what `SCALES` has under this name."""
    return f"×{amount}"


def _index_number_scales() -> Mapping[str, int]:
    everywhere = {amount for language in LANGUAGES for amount in load_magnitude_words(language).values()} | {100, 1000}
    abroad = _unite_unit_tables(
        (language, load_magnitude_words(language)) for language in LANGUAGES if language != "en"
    )
    return {
        **{name_number_scale(amount): amount for amount in everywhere},
        **abroad,
        "hundred": 100,
        **load_magnitude_words("en"),
    }


SCALES: Final = _Table(_index_number_scales)
NUMBER_WORDS: Final = _Table(
    lambda: dict.fromkeys([*load_number_words("en").beginnings, *MONTHS, *SHARES, *FIRST, *EACH, "half"], True)
)
"""Words with which a number can begin, or with which one is said in passing."""


def _simplify_unit_factor(amount: Fraction) -> Amount:
    return amount.numerator if amount.denominator == 1 else amount


def _convert_measure_to_unit(measure: Measure) -> Unit:
    return Unit(measure.dimension, _simplify_unit_factor(measure.factor), _simplify_unit_factor(measure.zero))


@cache
def _index_unit_names(language: str) -> dict[str, tuple[Unit, ...]]:
    """Every unit a name can stand for: "m" is a minute or a metre, "pounds" are money or weight."""
    found: dict[str, dict[Unit, None]] = {}
    for dimension, factor, names in _OWN:
        for name in names.split("|"):
            found.setdefault(name, {})[Unit(dimension, _simplify_unit_factor(Fraction(factor)))] = None
    for name, several in load_unit_names(language).items():
        if any(measure.dimension == _TURNED for measure in several):
            continue  # "1,400 revolutions per minute" are counted, as "1,400 rpm" are
        found.setdefault(name, {}).update((_convert_measure_to_unit(measure), None) for measure in several)
    for name, codes in load_currency_names(language).items():
        found.setdefault(name, {}).update((Unit(code, 1), None) for code in codes)
    found.setdefault("D", {})[_SPATIAL] = None
    found.setdefault("d", {})[_SPATIAL] = None  # 3d is three days, or as 3D
    found.setdefault("p", {}).update({_PENNY: None, Unit("~p", 1): None})  # 68p is money, and 1080p is none
    for name, codes in load_currency_hundredths().items():
        found.setdefault(name, {}).update((Unit(code, Fraction(1, 100)), None) for code in codes)
    return {name: tuple(units) for name, units in found.items()}


@cache
def _index_lowercase_units(language: str) -> dict[str, tuple[Unit, ...]]:
    found: dict[str, dict[Unit, None]] = {}
    for name, units in _index_unit_names(language).items():
        if len(name) > 1:
            found.setdefault(name.lower(), {}).update(dict.fromkeys(units))
    return {name: tuple(units) for name, units in found.items()}


_ABROAD: Final = ("de", "es", "fr", "it", "pt", "nl", "ru", "uk")
"""Languages whose words are also known in a text that is too short to tell its language."""


def _unite_unit_tables(tables: Iterable[tuple[str, Mapping[str, _Of]]]) -> dict[str, _Of]:
    """Unite tables of words by language: those that mean one thing wherever they are used, and none in English."""
    found: dict[str, _Of] = {}
    other = {*load_stop_words("en"), *load_number_words("en").beginnings}
    for language, table in tables:
        for name, meaning in table.items():
            if len(name) > 3 and name.isalpha() and found.setdefault(name, meaning) != meaning:
                other.add(name)
        other |= {*load_month_names(language), *load_stop_words(language)}
    return {name: meaning for name, meaning in found.items() if name not in other}


@cache
def _index_foreign_units() -> dict[str, tuple[Unit, ...]]:
    return _unite_unit_tables((language, _index_lowercase_units(language)) for language in _ABROAD)


@cache
def _list_unit_first_words() -> frozenset[str]:
    """Words with which an English unit of two words begins."""
    return frozenset(name.partition(" ")[0] for name in _index_unit_names("en") if name.count(" ") == 1)


def name_foreign_unit(language: str, name: str) -> str:
    """Return the name under which `find_units` has a unit of another language, "" where it is none."""
    known = name in _index_unit_names(language) or (len(name) > 1 and name.lower() in _index_lowercase_units(language))
    return f"{language}:{name}" if known else ""


def find_units(name: str) -> tuple[Unit, ...]:
    """Look up a unit as written: the case of symbols matters ("5m" is no "5M", "mW" no "MW")."""
    return _find_cached_units(name)


@remember_by_text(texts=4096, chars=24)
def _find_cached_units(name: str) -> tuple[Unit, ...]:
    if len(name) > 3 and name[2] == ":":
        return _find_language_units(name[:2], name[3:])
    if name in ERAS:
        return (ERAS[name],)
    if name in _EXACT:
        return _EXACT[name]
    return _find_language_units("en", name) or (_index_foreign_units().get(name.lower(), ()) if len(name) > 3 else ())


def _find_language_units(language: str, name: str) -> tuple[Unit, ...]:
    return _index_unit_names(language).get(name) or (
        _index_lowercase_units(language).get(name.lower(), ()) if len(name) > 1 else ()
    )


_POWERS: Final = {"square": 2, "sq": 2, "cubic": 3, "cu": 3}
"""Words before a length that make an area or a volume of it."""


def find_units_in_words(name: str, following: str) -> tuple[tuple[Unit, ...], int]:
    """Look up a unit of one or two words, the longer first: the units and how many words they take up."""
    if name == "°" and (units := find_units(f"°{following}")):
        return units, 2
    if name.lower() in _list_unit_first_words() and (units := find_units(f"{name} {following}")):
        return units, 2
    if power := _POWERS.get(name.lower()):
        lengths = (unit for unit in find_units(following) if unit.dimension == "meter")
        return tuple(Unit(f"{unit.dimension}^{power}", unit.factor**power) for unit in lengths), 2
    return find_units(name), 1


_SHARE_KEYS: Final = frozenset({"rate", "ratio", "fraction", "share", "probability"})
_OPEN_KEYS: Final = frozenset(
    {"m", "min", "d", "g", "w", "y", "h", "s", "t", "l", "v", "k", "second", "foot", "feet", "pound", "pounds"}
    | {"bar", "mole", "knot", "carat", "stone", "degree", "quarter", "real", "won", "rand", "lev", "leu", "lei", "all"}
)
"""Names that mean something else in a key ("temperature_min", "second"): the number stays bare."""

_KEY_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+|%|µs|μs")


@remember_by_text(texts=1024, chars=64)
def read_key_unit(key: str) -> Unit | None:
    """Read the unit of a number from the JSON key it stands under.

    Args:
        key: such as ``"eta_minutes"``, ``"affected_checkout_pct"``, ``"failureRate"``, ``"days_open"``.

    Returns:
        The unit (`FRACTION` for rates and shares), or None where the key names none or a quotient
        (``"alerts_per_hour"``).
    """
    words = [word.lower() for word in _KEY_WORD.findall(key)]
    if not words or "per" in words:
        return None
    if words[-1] in _SHARE_KEYS:
        return FRACTION
    leading = [words[0]] if words[0].endswith("s") or words[0] in ("pct", "percent") else []
    for word in [words[-1], *leading]:
        units = () if word in _OPEN_KEYS else _index_lowercase_units("en").get(word, ())
        if len(units) == 1:
            return units[0]
    return None
