"""Names that are compared as sets: severities, incident ids, regions."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

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
