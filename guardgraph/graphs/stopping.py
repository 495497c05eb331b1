"""The stops that the code of a body raises, held against what its guard declares and the catalogue has."""

from __future__ import annotations

from collections.abc import Iterator

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
    for raised in sorted(stops_raised(shape.body(name)), key=lambda item: item.reason):
        entries = _entries(catalogue, raised)
        families = everywhere if raised.by_helper else shape.declared_families(guard.name)
        declared = [entry for entry in entries if entry.family in families]
        where = "" if guard.name == name else f" at {guard.name}"
        if not entries:
            if not raised.by_helper:
                yield f"{name} can stop{where} with {raised.reason}, which the catalogue does not have"
        elif not declared:
            known = ", ".join(sorted({entry.family for entry in entries}))
            whose = "no guard declares" if raised.by_helper else f"{guard.name} does not declare"
            yield f"{name} can stop{where} with {raised.reason}, of the family {known}, which {whose}"
        elif not (raised.by_helper or raised.chooses_phase):
            phases = list(dict.fromkeys(phase for item in declared for phase in item.phases))
            if guard.phase not in phases:
                known = f"the catalogue has it in {', '.join(phases)}"
                yield f"{name} can stop{where} with {raised.reason} in phase {guard.phase}; {known}"


def _entries(catalogue: Catalogue, raised: Raised) -> list[StopReason]:
    """Return what a reason can be in the catalogue; it may be the beginning of one."""
    exact = catalogue.find(raised.reason)
    return [exact] if exact is not None else [item for item in catalogue if item.reason.startswith(raised.reason)]
