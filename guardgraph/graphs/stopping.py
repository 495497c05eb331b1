"""The stops that the code of a body raises, held against what its guard declares and the catalogue has."""

from __future__ import annotations

from collections.abc import Iterator

from guardgraph.graphs.declaration import Declaration
from guardgraph.graphs.reading import Raised, stops_raised
from guardgraph.graphs.topology import Topology
from guardgraph.state.catalogue import Catalogue, StopReason

__all__ = ["undeclared_stops"]


def undeclared_stops(shape: Topology, name: str) -> Iterator[str]:
    """Yield what is wrong with the stops of a node, as far as its code says which they are.

    A function that the body calls may raise more than it does for this body; of what it raises, only a family that no
    guard of the pattern declares is wrong.

    Args:
        shape: of the graph.
        name: the node's.
    """
    catalogue, judge = shape.catalogue, shape.judge(name)
    guard = shape.declaration(judge) if judge is not None else None
    if catalogue is None or guard is None:
        return
    everywhere = frozenset(family for other in shape.of_kind("guard") for family in shape.declared_families(other))
    where = "" if guard.name == name else f" at {guard.name}"
    for raised in sorted(stops_raised(shape.body(name)), key=lambda item: item.reason):
        wrong = _by_helper(catalogue, raised, everywhere) if raised.by_helper else _by_body(catalogue, raised, guard)
        if wrong is not None:
            yield f"{name} can stop{where} with {raised.reason}{wrong}"


def _by_helper(catalogue: Catalogue, raised: Raised, families: frozenset[str]) -> str | None:
    """Say what is wrong with a stop that a function can raise, if no guard declares its family."""
    known = {entry.family for entry in _entries(catalogue, raised)}
    return f"{_of_family(known)}, which no guard declares" if known and not known & families else None


def _by_body(catalogue: Catalogue, raised: Raised, guard: Declaration) -> str | None:
    """Say what is wrong with a stop that a body raises at its guard, if anything is."""
    entries = _entries(catalogue, raised)
    if not entries:
        return ", which the catalogue does not have"
    declared = [entry for entry in entries if entry.family in guard.stops]
    if not declared:
        return f"{_of_family({entry.family for entry in entries})}, which {guard.name} does not declare"
    phases = list(dict.fromkeys(phase for entry in declared for phase in entry.phases))
    if raised.chooses_phase or guard.phase in phases:
        return None
    return f" in phase {guard.phase}; the catalogue has it in {', '.join(phases)}"


def _of_family(families: set[str]) -> str:
    return f", of the family {', '.join(sorted(families))}"


def _entries(catalogue: Catalogue, raised: Raised) -> list[StopReason]:
    """Return what a reason can be in the catalogue; it may be the beginning of one."""
    exact = catalogue.find(raised.reason)
    return [exact] if exact is not None else [item for item in catalogue if item.reason.startswith(raised.reason)]
