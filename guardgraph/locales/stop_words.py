"""Words that a language uses in every text, by language."""

from __future__ import annotations

from functools import cache

from guardgraph.locales.tables import table

__all__ = ["stop_words"]


@cache
def stop_words(language: str) -> frozenset[str]:
    """Return the stop words of a language, in lower case.

    Source: stopwords-iso, a collection of the lists of many projects.

    Args:
        language: a code of `LANGUAGES`; another one has none.
    """
    return frozenset(table("stop_words").get(language, "").split())
