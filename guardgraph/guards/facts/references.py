"""What names a number, or one thing of many: labels ("Section 4.2"), names ("World War II"), identifiers, JSON keys.

Severities, ids of incidents and regions are compared as sets. A key of JSON names the unit of the number under it, or
what the number counts.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Final, NamedTuple

from guardgraph.guards.facts.tokens import MAX_DIGITS, ROMAN, Token, read_number_token
from guardgraph.guards.facts.values import (
    BARE,
    YEARS,
    Amount,
    Counted,
    Date,
    Identifier,
    Label,
    Named,
    Number,
    Quantity,
    Unit,
    Value,
    Written,
)
from guardgraph.guards.facts.words import FRACTION, FUNCTION_WORDS, LABELS, PERCENT, find_units, read_key_unit
from guardgraph.guards.stop import shown_name
from guardgraph.plain.json import JsonValue
from guardgraph.plain.memory import remember_by_text

_VERSION = re.compile(r"[vV](\d++(?:\.\d++)*+)")
_DOTTED = re.compile(r"\d+\.\d+")
_SIGNS = re.compile(r"[\W_]+")
_VERBS: Final = "am was have had will would can could do did think believe know want need should must may might just"
_JOINED = re.compile(r"([^\W\d_]{2,}+)(\d{1,3}+(?:\.\d{1,4})*+)")
_PRONOUN: Final = frozenset({*_VERBS.split(), "'", "’"})
"""Words behind the pronoun I."""

_ROMAN_DIGITS: Final = {"I": 1, "V": 5, "X": 10, "L": 50}


def read_number_label(tokens: list[Token], at: int) -> str:
    """Return the kind of thing that a word before a number tells apart, "" where none does: "Section 3", "No. 5"."""
    before = tokens[at - 1]
    if before.text == "." and at > 1:
        before = tokens[at - 2]
        if len(before.text) > 4:
            return ""  # a sentence ended
    if before.lower == "no" and tokens[at - 1].text != ".":
        return "number" if before.text == "No" and tokens[at - 2].text not in ("", ".") else ""
    if before.lower == "no":
        return "number"
    if len(before.text) == 1 and before.text.isalpha() and tokens[at - 1].text != ".":
        return ""
    of = LABELS.get(before.lower, "")
    return "" if of == "number" and not tokens[at].text.isdecimal() else of


def read_version_number(tokens: list[Token], at: int) -> Label | None:
    """Read "v2.1"."""
    match = _VERSION.fullmatch(tokens[at].text) if tokens[at].text[:1] in ("v", "V") else None
    return make_number_label("version", match[1]) if match else None


def make_number_label(of: str, text: str) -> Label:
    """Make a label: numbers of one part compare as amounts, others as they are written."""
    return Label(of, str(int(text)), int(text)) if text.isdecimal() and len(text) < 400 else Label(of, text)


def has_name_before_number(tokens: list[Token], at: int) -> bool:
    """Say whether the word before is a name: a capital, and no word of grammar."""
    before = tokens[at - 1]
    return at > 0 and before.text[:1].isupper() and before.text.isalpha() and before.lower not in FUNCTION_WORDS


def read_named_number(tokens: list[Token], at: int, amount: Amount, *, counted: Counted) -> tuple[Value, ...]:
    """Return what a plain number means where a name stands before it: "Apollo 11", "Python 3.10"."""
    text, is_named = tokens[at].text, has_name_before_number(tokens, at)
    if _DOTTED.fullmatch(text):
        if not is_named:
            return (Quantity(amount, counted=counted), Written(text))
        # "Python 3.10" is not 3.1.
        return (Label("version", text), *(() if text.endswith("0") else (Quantity(amount, counted=counted),)))
    if is_named and isinstance(amount, int) and amount < 1000:
        return (Named(tokens[at - 1].lower, amount, counted=counted),)
    return ()


def read_roman_numeral(tokens: list[Token], at: int) -> tuple[Value, ...]:
    """Read a Roman numeral behind a name or a label: "World War II", "Henry VIII", "Part IV"."""
    text = tokens[at].text
    if not ROMAN.fullmatch(text):
        return ()
    of = read_number_label(tokens, at)
    if not of and not has_name_before_number(tokens, at):
        return ()
    if len(text) == 1 and (tokens[at + 1].lower in _PRONOUN or _is_name_initial(tokens, at)):
        return ()
    number = _convert_roman_numeral(text)
    return (Label(of, str(number), number),) if of else (Named(tokens[at - 1].lower, number, roman=True),)


def _is_name_initial(tokens: list[Token], at: int) -> bool:
    """Say whether a letter stands for a name, as in "Bert V. Royal"."""
    point = tokens[at + 1]
    return point.text == "." and not point.leads and tokens[at + 2].text[:1].isupper()


def _convert_roman_numeral(text: str) -> int:
    digits = [_ROMAN_DIGITS[letter] for letter in text]
    return sum(
        -digit if digit < following else digit for digit, following in zip(digits, [*digits[1:], 0], strict=True)
    )


def read_identifier_fact(token: Token) -> tuple[Identifier, bool]:
    """Read a token that is an identifier, such as "PAY-4521", and whether it is claimed.

    Small names without a capital ("n1", "p99") are not claimed: they number notes, chunks and shares.
    """
    parts = token.text.split("-")
    while len(parts) > 1 and not any(map(str.isdecimal, parts[-1])):
        parts.pop()  # "PAY-4521-related" names PAY-4521
    text = "-".join(parts)
    name = _SIGNS.sub("", text).casefold()
    joined = _JOINED.fullmatch(text)
    return Identifier(name, (joined[1].casefold(), joined[2]) if joined else None), text != text.lower() or sum(
        map(str.isdecimal, text)
    ) > 2


DEFAULT_REGIONS: Final[tuple[str, ...]] = (
    "US",
    "EU",
    "UK",
    "EMEA",
    "APAC",
    "LATAM",
    "AMER",
    "ANZ",
    "APJ",
    "DACH",
    "EEA",
    "MENA",
    "NORAM",
    "UA",
    "Global",
)
"""Regions that a text may name. Case matters: the pronoun "us" is none."""

_SEVERITY = re.compile(
    r"[pPsS](?<!\w.)(?:(?<=[pP])(?P<level>[0-5])"
    r"|(?<=[sS])(?i:ev(?:erity)?(?:[ -]level)?)[ .:_#-]{0,2}(?P<sev>[0-5]))"
    r"(?!\w|[.,:]\d|%)"
)
_SEVERITY_RANGE = re.compile(
    r"(?<!\w)(p|sev(?:erity)?[ -]?)([0-5])\s?(?:[-–—]|to|through)\s?\1([0-5])(?!\w|[.,:]\d|%)", re.IGNORECASE
)
_INCIDENT = re.compile(r"[iI](?<![\w-].)(?i:nc)(?:(?i:ident)?[-_]\w++|\d\w*+)(?:-\w++)*+")
_DIGIT = re.compile(r"\d")
_NONE: Final = frozenset[str]()


def find_severity_facts(text: str) -> tuple[frozenset[str], str]:
    """Find severities: "P1", "SEV2" and spellings such as "sev-2", "Severity 2".

    Returns:
        The severities, and the text without them, so that "Severity 2" is not read as a number.
    """
    if not _DIGIT.search(text):
        return _NONE, text
    found = frozenset(
        f"P{match['level']}" if match["level"] else f"SEV{match['sev']}" for match in _SEVERITY.finditer(text)
    )
    return found, _SEVERITY.sub(" ; ", text) if found else text


def find_severities_between(text: str) -> Iterator[str]:
    """Yield the severities of ranges: "P1 to P3" holds for P2."""
    for written, first, last in _SEVERITY_RANGE.findall(text):
        scale = "P" if len(written) == 1 else "SEV"
        yield from (f"{scale}{level}" for level in range(int(first), int(last) + 1))


def find_incident_id_facts(text: str) -> tuple[frozenset[str], str]:
    """Find incident ids as written: ``inc_payments_20260306``, ``INC-2026-001``, ``INC12345``.

    Returns:
        The ids, and the text without them.
    """
    if "inc" not in text.lower():
        return _NONE, text
    found = set()
    for match in _INCIDENT.finditer(text):
        parts = match[0].split("-")
        while len(parts) > 1 and not _DIGIT.search(parts[-1]):
            parts.pop()  # "INC-7-related" names INC-7
        name = "-".join(parts)
        if _DIGIT.search(name) or name.lower().startswith("inc_"):
            found.add(name)
    return frozenset(found), _INCIDENT.sub(" ; ", text) if found else text


def find_region_facts(text: str, regions: tuple[str, ...]) -> frozenset[str]:
    """Find the named regions: whole words, case as listed; "U.S." and "USA" are "US"."""
    pattern, spellings = _compile_region_pattern(regions)
    return frozenset(spellings[name] for name in pattern.findall(text))


@lru_cache(maxsize=64)
def _compile_region_pattern(regions: tuple[str, ...]) -> tuple[re.Pattern[str], dict[str, str]]:
    """Let each branch begin with a letter, so that the search jumps to the places where a name can begin."""
    spellings = _list_region_spellings(regions)
    tails: dict[str, list[str]] = {}
    for name in sorted(spellings, key=lambda name: (-len(name), name)):
        tails.setdefault(re.escape(name[0]), []).append(re.escape(name[1:]))
    names = "|".join(rf"{first}(?<!\w{first})(?:{'|'.join(rest)})" for first, rest in tails.items())
    # "US$5" and "US dollars" are money.
    return re.compile(rf"(?:{names or '(?!)'})(?![\w$]|[ ]\$|[ ][Dd]ollar)"), spellings


def _list_region_spellings(regions: tuple[str, ...]) -> dict[str, str]:
    spellings = {"USA": "US", "U.S.A.": "US"} if "US" in regions else {}
    for region in regions:
        if region.isalpha() and region.isupper() and len(region) <= 3:
            dotted = ".".join(region)
            spellings |= {dotted: region, f"{dotted}.": region}
    return spellings | {region: region for region in regions if region.strip()}


_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+")
_COUNTING: Final = frozenset({"count", "counts", "num", "number", "no"})
_NO_NOUNS: Final = ("ss", "us", "is")
"""Endings of words that look like plurals: "progress", "status", "analysis"."""


class Meaning(NamedTuple):
    """What the numbers under a key are."""

    unit: Unit = BARE
    counted: Counted = ""
    per: Unit | None = None
    of: str = ""
    """The kind of thing that they label."""


NO_KEY: Final = Meaning()


@remember_by_text(texts=1024, chars=64)
def read_number_meaning(key: str) -> Meaning:
    """Read what the numbers under a key are.

    Args:
        key: such as ``"eta_minutes"``, ``"failureRate"``, ``"affected_users"``, ``"alerts_per_hour"``, ``"version"``.
    """
    words = [word.lower() for word in _WORD.findall(key)]
    if "per" in words:
        at = words.index("per")
        units = find_units("_".join(words[at + 1 :]))
        return read_number_meaning("_".join(words[:at]))._replace(per=units[0] if units else None)
    if (unit := read_key_unit(key)) is not None:
        return Meaning(unit)
    if not words:
        return NO_KEY
    if words[-1] in LABELS and not words[-1].endswith("s"):
        return Meaning(of=LABELS[words[-1]])
    plural = len(words[-1]) > 3 and words[-1].endswith("s") and not words[-1].endswith(_NO_NOUNS)
    counts = plural or words[-1] in _COUNTING or (len(words) > 1 and words[0] in _COUNTING)
    return Meaning(counted="surely" if counts else "")


def read_json_number(value: JsonValue, meaning: Meaning) -> Number | None:
    """Read a number of a JSON value.

    Args:
        value: an int of any size, a float (NaN and the infinities are no numbers), or a string that is one.
        meaning: what its key says. A share of one is also read as the percentage that it is.

    Returns:
        The number, or None where the value is none.
    """
    if isinstance(value, int) and not isinstance(value, bool) and value.bit_length() > MAX_DIGITS * 3:
        return Number(shown_name(hex(value)), (Written(hex(value)),))
    if not isinstance(value, int | float | str) or isinstance(value, bool):
        return None
    if isinstance(value, str) and value[:1].isalpha():
        return None  # as most texts are
    text = str(value).strip()
    amount = value if type(value) is int else _read_signed_amount(text)
    return Number(shown_name(text), tuple(_list_number_readings(amount, text, meaning))) if amount is not None else None


def _list_number_readings(amount: Amount, text: str, meaning: Meaning) -> list[Value]:
    if meaning.of:
        return [make_number_label(meaning.of, text)]
    unit = BARE if meaning.unit == FRACTION and not -1 <= amount <= 1 else meaning.unit
    readings: list[Value] = [Quantity(amount, unit, meaning.counted, meaning.per)]
    if unit == FRACTION:
        readings.append(Quantity(amount * 100, PERCENT))
    elif meaning == NO_KEY and isinstance(amount, int) and amount in YEARS:
        readings.append(Date(amount))
    return readings


def _read_signed_amount(text: str) -> Amount | None:
    digits = text.lstrip("-")
    amount, suffix = (read_number_token(digits) if digits[:1].isdecimal() else None) or (None, "")
    if amount is None or suffix:
        return None
    return -amount if text.startswith("-") else amount
