"""Months, weekdays and time zones by name."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from guardgraph.languages.tables import table

__all__ = ["months", "weekdays", "zones"]


def months(language: str) -> Mapping[str, int]:
    """Return the months of a language, 1 to 12, by every form of their names.

    Source: CLDR's wide and abbreviated names, within a date ("5 июля") and alone ("июль"), in lower case and
    without the full stop of an abbreviation.

    Args:
        language: a code of `LANGUAGES`; another one has no names.
    """
    return _of_language("months", language)


def weekdays(language: str) -> Mapping[str, int]:
    """Return the days of the week of a language, Monday 1 to Sunday 7 as in ISO 8601, by every form of their names."""
    return _of_language("weekdays", language)


def zones() -> Mapping[str, tuple[int, ...]]:
    """Return the time zones by abbreviation and by English name: "PST", "pacific standard time".

    Returns:
        The minutes ahead of UTC of each zone that has the name: "IST" is India's, Ireland's and Israel's. A name
        that does not say whether summer time holds ("pacific time") has both. Sources: the time zone database from
        2015 to 2026, and CLDR's names.
    """
    return _zones()


@cache
def _zones() -> Mapping[str, tuple[int, ...]]:
    return {name: tuple(minutes) for name, minutes in table("zones").items()}


def _of_language(name: str, language: str) -> Mapping[str, int]:
    found: Mapping[str, int] = table(name).get(language, {})
    return found
