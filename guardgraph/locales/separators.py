"""How a language writes numbers: what stands before the decimals and between groups of digits."""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

from guardgraph.locales.tables import table

__all__ = ["Separators", "separators"]


class Separators(NamedTuple):
    """The signs in the numbers of one place where a language is written."""

    decimal: str
    group: str


@cache
def separators(language: str) -> frozenset[Separators]:
    """Return the ways in which numbers are written wherever a language is: 1.600 in Spain, 1,600 in Mexico.

    Source: CLDR, all locales of the language.

    Args:
        language: a code of `LANGUAGES`; another one has none.
    """
    return frozenset(Separators(decimal, group) for decimal, group in table("separators").get(language, ()))
