"""The catalogues of the shipped patterns, by pattern."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from guardgraph.graphs.patterns import PATTERNS
from guardgraph.state.catalogue import Catalogue

CATALOGUES: Mapping[str, Catalogue] = MappingProxyType({name: item.catalogue for name, item in PATTERNS.items()})
"""Every reason why a run of ours can stop."""

_COLUMNS = ("pattern", "stop reason", "phase", "family", "asked again", "meaning", "what to do")


def catalogue_markdown() -> str:
    """Return all catalogues as one Markdown table, in which defensive reasons are marked."""
    rows = [
        (
            pattern,
            f"`{item.reason}`{' (defensive)' if item.defensive else ''}",
            ", ".join(item.phases),
            item.family,
            "yes" if item.again else "",
            item.meaning,
            item.advice,
        )
        for pattern, reasons in CATALOGUES.items()
        for item in reasons
    ]
    lines = [_COLUMNS, ("---",) * len(_COLUMNS), *rows]
    return "".join(f"| {' | '.join(cells)} |\n" for cells in lines)
