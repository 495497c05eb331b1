"""Facts as values: what a text claims, what a context supports, and what is claimed without support.

Numbers are values with units; severities, incident ids and regions are sets. What counts the parts of a text
(list markers, citations, "Step 3") is no number, but a count of what an answer itself lists ("two commitments")
is a claim like any other. The guards of all patterns ask the same way::

    missing = unsupported(facts_in_text(answer), facts_in_text(chunk) | facts_in_text(question))
    if missing:
        raise Stop("invalid_answer:unsupported_number", unsupported=missing.all())
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass

from guardgraph.guards.facts.labels import (
    DEFAULT_REGIONS,
    incident_ids_in,
    regions_in,
    severities_in,
    without_severities,
)
from guardgraph.guards.facts.numbers import number_of, numbers_in
from guardgraph.guards.facts.spelling import visible
from guardgraph.guards.facts.units import key_unit
from guardgraph.guards.facts.values import BARE, Licence, Number, Unit
from guardgraph.guards.stop import shown_name
from guardgraph.state.json import JsonValue

__all__ = [
    "DEFAULT_IGNORED",
    "DEFAULT_REGIONS",
    "Facts",
    "Unsupported",
    "facts_in_json",
    "facts_in_text",
    "unsupported",
]

DEFAULT_IGNORED = ("policy_hints", "limits")
"""Keys of a context that hold settings, not facts."""


@dataclass(frozen=True)
class Facts:
    """What a text or a context says."""

    numbers: frozenset[Number] = frozenset()
    severities: frozenset[str] = frozenset()
    """Normalised: "P0" to "P5", "SEV0" to "SEV5"."""
    incident_ids: frozenset[str] = frozenset()
    """As written; compared without regard to case."""
    regions: frozenset[str] = frozenset()
    """As in the policy list."""
    implied: frozenset[Number] = frozenset()
    """Numbers said in passing ("the first", "an hour", "v3.2.1"): they license, and are not checked."""

    def __or__(self, other: Facts) -> Facts:
        return Facts(
            self.numbers | other.numbers,
            self.severities | other.severities,
            self.incident_ids | other.incident_ids,
            self.regions | other.regions,
            self.implied | other.implied,
        )


@dataclass(frozen=True)
class Unsupported:
    """Claimed facts that nothing licenses, as written, sorted. False when there are none."""

    numbers: tuple[str, ...] = ()
    severities: tuple[str, ...] = ()
    incident_ids: tuple[str, ...] = ()
    regions: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.numbers or self.severities or self.incident_ids or self.regions)

    def all(self) -> list[str]:
        """Every unsupported fact in one sorted list: the evidence of a stop."""
        return sorted({*self.numbers, *self.severities, *self.incident_ids, *self.regions})


def facts_in_text(text: str, *, regions: Collection[str] = DEFAULT_REGIONS) -> Facts:
    """Read the facts of a text.

    Args:
        text: any text, also what a model wrote.
        regions: the names that count as regions (policy); case matters.
    """
    text = visible(text)
    numbers, implied = numbers_in(without_severities(text))
    return Facts(
        numbers=numbers,
        severities=severities_in(text),
        incident_ids=incident_ids_in(text),
        regions=regions_in(text, tuple(sorted(regions))),
        implied=implied,
    )


def facts_in_json(
    value: JsonValue, *, regions: Collection[str] = DEFAULT_REGIONS, ignore: Collection[str] = DEFAULT_IGNORED
) -> Facts:
    """Read the facts of a context: every string, key and number, the key giving a number its unit.

    Args:
        value: any JSON value, of any depth.
        regions: the names that count as regions (policy); case matters.
        ignore: keys that are left out with all below them, at any depth.

    Returns:
        The facts: ``{"eta_minutes": 45}`` says 45 minutes, ``{"affected_pct": 27}`` and
        ``{"failure_rate": 0.27}`` say 27 %.
    """
    found: set[Number] = set()
    texts: set[str] = set()
    for leaf, unit in _leaves(value, frozenset(ignore)):
        number = number_of(leaf, unit)
        if number:
            found.add(number)
        elif isinstance(leaf, str):
            texts.add(leaf)
    facts = [facts_in_text(text, regions=regions) for text in texts]
    return Facts(
        frozenset(found).union(*(each.numbers for each in facts)),
        frozenset().union(*(each.severities for each in facts)),
        frozenset().union(*(each.incident_ids for each in facts)),
        frozenset().union(*(each.regions for each in facts)),
        frozenset().union(*(each.implied for each in facts)),
    )


def _leaves(value: JsonValue, ignore: frozenset[str]) -> Iterator[tuple[JsonValue, Unit]]:
    """Walk without recursion, since a JSON value may be nested deeper than the stack; keys are leaves too."""
    rest: list[tuple[JsonValue, Unit]] = [(value, BARE)]
    while rest:
        item, unit = rest.pop()
        if isinstance(item, dict):
            kept = [(key, child) for key, child in item.items() if key not in ignore]
            rest += [(child, key_unit(key) or BARE if isinstance(key, str) else BARE) for key, child in kept]
            yield from ((key, BARE) for key, _ in kept)
        elif isinstance(item, list | tuple):
            rest += [(child, unit) for child in item]
        else:
            yield item, unit


def unsupported(claimed: Facts, licence: Facts) -> Unsupported:
    """Compare what is claimed with what may be said.

    A bare number is licensed by the same amount, bare or with any unit; a number with a unit by the same unit
    (60 minutes license 1 hour) or by a bare number; a date also licenses its month and its year. The rest is
    compared as sets.
    """
    allowed = Licence(licence.numbers | licence.implied)
    known_ids = {name.casefold() for name in licence.incident_ids}
    return Unsupported(
        numbers=_shown(number.shown for number in claimed.numbers if not allowed.covers(number)),
        severities=_shown(claimed.severities - licence.severities),
        incident_ids=_shown(name for name in claimed.incident_ids if name.casefold() not in known_ids),
        regions=_shown(claimed.regions - licence.regions),
    )


def _shown(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(sorted({shown_name(name) for name in names}))
