"""Countries and regions: their names by language, their codes, and the languages named after them."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import NamedTuple

from guardgraph.languages.tables import load_language_table


class Territory(NamedTuple):
    """One territory, as a language names it."""

    code: str
    """ISO 3166 alpha-2, or the number of a region of the United Nations ("150" is Europe)."""
    others: tuple[str, ...]
    """Other codes that mean it: ISO 3166 alpha-3, reserved and former ones ("GBR" and "UK" of "GB")."""
    name: str
    languages: tuple[str, ...]
    """Names of its official languages, where they are most of all its own."""
    adjectives: tuple[str, ...]
    """In lower case: what the names of its currencies and of its own kind of a language have before the noun."""


@cache
def load_territory_names(language: str) -> tuple[Territory, ...]:
    """Return the territories as a language names them, by code.

    Args:
        language: a code of `LANGUAGES`; another one has none.
    """
    shipped = load_language_table("territories")
    names: Mapping[str, str] = shipped["names"].get(language, {})
    spoken: Mapping[str, list[str]] = shipped["languages"].get(language, {})
    adjectives: Mapping[str, list[str]] = shipped["adjectives"].get(language, {})
    codes: Mapping[str, list[str]] = shipped["codes"]
    return tuple(
        Territory(code, tuple(codes.get(code, ())), name, tuple(spoken.get(code, ())), tuple(adjectives.get(code, ())))
        for code, name in names.items()
    )
