"""The catalogues of the shipped patterns, by pattern."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from guardgraph.graphs.patterns import PATTERNS
from guardgraph.state.catalogue import Catalogue

CATALOGUES: Mapping[str, Catalogue] = MappingProxyType({name: item.catalogue for name, item in PATTERNS.items()})
"""Every reason why a run of ours can stop."""

_COLUMNS = ("stop reason", "pattern", "phase", "family", "asked again", "meaning", "what to do")

_MOST_PHASES = 4
"""Phases that a row names; `guardgraph reasons PATTERN` names all."""


def catalogue_markdown() -> str:
    """Return all catalogues as one Markdown table, in which defensive reasons are marked; alike ones share a row."""
    shared: dict[tuple[str, ...], tuple[list[str], dict[str, None]]] = {}
    for pattern, reasons in CATALOGUES.items():
        for item in reasons:
            named = f"`{item.reason}`{' (defensive)' if item.defensive else ''}"
            alike = (named, item.family, "yes" if item.again else "", item.meaning, item.advice)
            patterns, phases = shared.setdefault(alike, ([], {}))
            patterns.append(pattern)
            phases |= dict.fromkeys(item.phases)
    rows = [
        (
            named,
            "all" if len(patterns) == len(CATALOGUES) else ", ".join(patterns),
            ", ".join(phases) if len(phases) <= _MOST_PHASES else f"{len(phases)} of them",
            *rest,
        )
        for (named, *rest), (patterns, phases) in shared.items()
    ]
    lines = [_COLUMNS, ("---",) * len(_COLUMNS), *rows]
    return "".join(f"| {' | '.join(cells)} |\n" for cells in lines)
