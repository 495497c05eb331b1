"""Tables of the calendar: months and weekdays from CLDR, time zones from the time zone database and CLDR."""

from __future__ import annotations

import re
import zoneinfo
from collections import defaultdict
from datetime import UTC, datetime, timedelta

from babel import Locale
from babel.core import get_global
from locale_places import locales_of

from guardgraph.languages.tables import LANGUAGES

YEARS = range(2015, 2027)
"""Of the time zone database: zones that were given up earlier are not in texts of today."""

ENDINGS = {
    "ru": [("я$", "ю ем ём е"), ("а$", "у ом е ы ой"), ("к$", "к ка ку ком ке"), ("ье$", "ья ью")],
    "uk": [("ня$", "ню нем ні"), ("да$", "ду дом ді"), ("ого$", "ому им ім"), ("а$", "у и і ою"), ("к$", "ка ку ком")],
    "pl": [("a$", "owi em u ie zie y ę"), ("ego$", "emu ym")],
    "cs": [("a$", "u em ě"), ("e$", "i em")],
    "el": [("ου$", "ο")],
}
"""How names bend beside CLDR's forms. These are grammar: a closed class of endings."""


def months() -> dict[str, dict[str, int]]:
    """Return the months of each language by name, 1 to 12."""
    return {language: _named(language, "months", {number: number for number in range(1, 13)}) for language in LANGUAGES}


def weekdays() -> dict[str, dict[str, int]]:
    """Return the weekdays of each language by name, 1 to 7."""
    # CLDR counts from Monday, 0; ISO 8601 counts from Monday, 1.
    return {language: _named(language, "days", {number: number + 1 for number in range(7)}) for language in LANGUAGES}


def _named(language: str, kind: str, numbers: dict[int, int]) -> dict[str, int]:
    """Return the numbers by name; all places count ("Sept" in Britain), and wide names are no other's abbreviation."""
    named: dict[str, int] = {}
    places = locales_of(language)
    for width in ("wide", "abbreviated"):
        for place in places:
            for use in ("format", "stand-alone"):
                for number, name in getattr(place, kind)[use][width].items():
                    key = name.lower().rstrip(".॰").replace("\u00a0", " ")
                    # "1月" is a number and its noun.
                    if not key[:1].isdigit() and not key[-1:].isdigit():
                        named.setdefault(key, numbers[number])
    for name, number in list(named.items()):
        for pattern, endings in ENDINGS.get(language, ()):
            if len(name) > 2 and re.search(pattern, name):
                for ending in endings.split():
                    named.setdefault(re.sub(pattern, ending, name), number)
    return dict(sorted(named.items(), key=lambda item: (item[1], item[0])))


def zones() -> dict[str, list[int]]:
    """Return the minutes ahead of UTC by abbreviation and by English name."""
    found: defaultdict[str, set[int]] = defaultdict(set)
    zoneinfo.reset_tzpath(to=[])  # the pinned database, not that of the machine
    for zone in sorted(zoneinfo.available_timezones()):
        for moment in _moments(zone):
            name = moment.tzname() or ""
            if name.isalpha() and name.isupper() and len(name) > 2:
                found[name].add(_minutes(moment))
    for zone, names in _english_names().items():
        offsets = {bool(moment.dst()): _minutes(moment) for moment in _moments(zone)[:2]}
        for name, summer in names:
            chosen = offsets.values() if summer is None else [offsets[summer]] if summer in offsets else []
            found[name.lower()].update(chosen)
    return {name: sorted(offsets) for name, offsets in sorted(found.items()) if offsets}


def _moments(zone: str) -> list[datetime]:
    place = zoneinfo.ZoneInfo(zone)
    first = [datetime(year, month, 15, tzinfo=UTC) for year in reversed(YEARS) for month in (1, 7)]
    return [moment.astimezone(place) for moment in first]


def _minutes(moment: datetime) -> int:
    return round((moment.utcoffset() or timedelta()).total_seconds() / 60)


def _english_names() -> dict[str, list[tuple[str, bool | None]]]:
    """Return the English names of a zone of each of CLDR's meta zones, and whether they mean summer time."""
    named = Locale.parse("en").meta_zones
    summer = {"standard": False, "daylight": True, "generic": None}
    zones: dict[str, list[tuple[str, bool | None]]] = {}
    seen: set[str] = set()
    for zone, meta in sorted(get_global("meta_zones").items()):
        long = named.get(meta, {}).get("long", {})
        if meta not in seen and zone in zoneinfo.available_timezones():
            seen.add(meta)
            zones[zone] = [(name, summer[kind]) for kind, name in long.items() if kind in summer]
    return zones
