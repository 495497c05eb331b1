"""Countries and regions: their names by language, their codes, and the languages named after them."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import NamedTuple

from guardgraph.locales.tables import table

__all__ = ["Territory", "territories"]


class Territory(NamedTuple):
    """One territory, as a language names it."""

    code: str
    """ISO 3166 alpha-2, or the number of a region of the United Nations ("150" is Europe)."""
    alpha3: str
    """ISO 3166 alpha-3, blank where it has none."""
    name: str
    languages: tuple[str, ...]
    """Names of its official languages, where they are most of all its own: as near to an adjective as CLDR has."""


@cache
def territories(language: str) -> tuple[Territory, ...]:
    """Return the territories as a language names them, by code.

    Args:
        language: a code of `LANGUAGES`; another one has none.
    """
    shipped = table("territories")
    names: Mapping[str, str] = shipped["names"].get(language, {})
    spoken: Mapping[str, list[str]] = shipped["languages"].get(language, {})
    alpha3: Mapping[str, str] = shipped["alpha3"]
    return tuple(
        Territory(code, alpha3.get(code, ""), name, tuple(spoken.get(code, ()))) for code, name in names.items()
    )
