"""Territories in a text: by name, by code, by adjective."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from itertools import chain
from typing import Final

from guardgraph.guards.names.words import Word, split_name_words
from guardgraph.languages.territories import load_territory_names

_LONGEST: Final = 9
"""Words of a territory's name that is found, at most."""

_PARTS = re.compile(r"[()]")

Codes = tuple[str, ...]


def find_territory_names(found: Sequence[Word], languages: tuple[str, ...]) -> Iterator[tuple[int, int, Codes]]:
    """Yield the territories that a text names.

    Args:
        found: the words of the text.
        languages: those in which the names are known; codes are known in each.

    Yields:
        The first index, the one behind the last, and the codes of the territories that this can be.
    """
    names, codes = _index_territory_names(languages), _index_territory_codes()
    for first, word in enumerate(found):
        if word.is_acronym and (named := codes.get(word.letters)):
            yield first, first + 1, named
        stems: Codes = ()
        for end in range(first + 1, min(first + _LONGEST, len(found)) + 1):
            stems = (*stems, found[end - 1].name_stem)
            if named := names.get(stems):
                yield first, end, named


@cache
def _index_territory_names(languages: tuple[str, ...]) -> Mapping[Codes, Codes]:
    """Return the territories by the stems of the words of their names and adjectives."""
    found: dict[Codes, Codes] = {}
    for territory in chain.from_iterable(map(load_territory_names, languages)):
        for name in (*_PARTS.split(territory.name), *territory.adjectives) if territory.code.isalpha() else ():
            stems = tuple(word.name_stem for word in split_name_words(name))
            found[stems] = (*found.get(stems, ()), territory.code)
    found.pop((), None)
    return found


@cache
def _index_territory_codes() -> Mapping[str, Codes]:
    every = load_territory_names("en")
    return {code.lower(): (each.code,) for each in every for code in (each.code, *each.others) if code.isalpha()}
