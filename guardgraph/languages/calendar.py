"""Months, weekdays and time zones by name."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from guardgraph.languages.tables import load_language_table


def load_month_names(language: str) -> Mapping[str, int]:
    """Return the months of a language, 1 to 12, by every form of their names.

    Source: CLDR's wide and abbreviated names, within a date ("5 июля") and alone ("июль"), in lower case and
    without the full stop of an abbreviation.

    Args:
        language: a code of `LANGUAGES`; another one has no names.
    """
    return _load_calendar_names("months", language)


def load_weekday_names(language: str) -> Mapping[str, int]:
    """Return the days of the week of a language, Monday 1 to Sunday 7 as in ISO 8601, by every form of their names."""
    return _load_calendar_names("weekdays", language)


def load_time_zones() -> Mapping[str, tuple[int, ...]]:
    """Return the time zones by abbreviation and by English name: "PST", "pacific standard time".

    Returns:
        The minutes ahead of UTC of each zone that has the name: "IST" is India's, Ireland's and Israel's. A name
        that does not say whether summer time holds ("pacific time") has both. Sources: the time zone database from
        2015 to 2026, and CLDR's names.
    """
    return _load_zone_table()


@cache
def _load_zone_table() -> Mapping[str, tuple[int, ...]]:
    return {name: tuple(minutes) for name, minutes in load_language_table("zones").items()}


def _load_calendar_names(name: str, language: str) -> Mapping[str, int]:
    found: Mapping[str, int] = load_language_table(name).get(language, {})
    return found
