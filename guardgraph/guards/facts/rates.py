"""Rates that an adjective says otherwise than the source: "$9 yearly" of "$9 per month".

An adjective may belong to another word ("billed yearly"), so that it is no rate of its own. It contradicts a source
that has the amount for another length of time wherever it has it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final, TypeAlias

from guardgraph.guards.facts.numbers import NumberSentence
from guardgraph.guards.facts.quantities import Hit
from guardgraph.guards.facts.values import Amount, Number, Unit

_LENGTHS: Final = frozenset({"time", "calendar"})

_Sum: TypeAlias = tuple[str, Amount]
"""A currency, and how much of it."""


def list_contrary_rates(sentences: Iterable[NumberSentence], sources: Iterable[NumberSentence]) -> list[Number]:
    """Return the amounts of money that an answer states for another length of time than every source.

    Args:
        sentences: of an answer.
        sources: of what it cites.
    """
    said = [
        (each, rate, sentence.name_number(found))
        for sentence in sentences
        for found in sentence.found
        if found.hit and found.hit.per is None and (rate := _read_length(found.hit.perhaps_per))
        for each in _list_sums(found.hit)
    ]
    if not said:
        return []
    known: dict[_Sum, set[Unit | None]] = {}
    for hit in (found.hit for sentence in sources for found in sentence.found if found.hit):
        for each in _list_sums(hit):
            known.setdefault(each, set()).add(_read_length(hit.per or hit.perhaps_per))
    return [number for each, rate, number in said if (rates := known.get(each)) and rates.isdisjoint((rate, None))]


def _list_sums(hit: Hit) -> Iterator[_Sum]:
    return (
        (unit.dimension, hit.amount * scale * unit.factor) for scale, unit in hit.measures if unit.dimension.isupper()
    )


def _read_length(unit: Unit | None) -> Unit | None:
    """Return a rate's length of time; None where it is of something else, or there is none."""
    return unit if unit is not None and unit.dimension in _LENGTHS else None
