"""The catalogues of the shipped patterns, by pattern."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from guardgraph.graphs.patterns import PATTERNS
from guardgraph.state.catalogue import Catalogue

CATALOGUES: Mapping[str, Catalogue] = MappingProxyType({name: item.catalogue for name, item in PATTERNS.items()})
"""Every reason why a run of ours can stop."""


def catalogue_markdown() -> str:
    """Return all catalogues as Markdown: by family, then by patterns; equal meanings share an item."""
    families: dict[str, dict[tuple[str, str, str], dict[str, list[str]]]] = {}
    for pattern, reasons in CATALOGUES.items():
        for item in reasons:
            marks = [mark for mark, holds in (("asked again", item.again), ("defensive", item.defensive)) if holds]
            alike = families.setdefault(item.family, {}).setdefault((", ".join(marks), item.meaning, item.advice), {})
            alike.setdefault(item.reason, []).append(pattern)
    return "\n".join(f"## {family}\n{_format_family(items)}" for family, items in families.items())


def _format_family(items: Mapping[tuple[str, str, str], Mapping[str, Sequence[str]]]) -> str:
    groups: dict[str, list[str]] = {}
    for (marks, meaning, advice), named in items.items():
        patterns = dict.fromkeys(pattern for some in named.values() for pattern in some)
        reasons = ", ".join(f"`{reason}`" for reason in named) + (f" ({marks})" if marks else "")
        group = "Of all patterns" if len(patterns) == len(CATALOGUES) else f"Of {', '.join(patterns)}"
        groups.setdefault(group, []).append(f"- {reasons}: {meaning} *{advice}*\n")
    return "".join(f"\n{group}:\n\n{''.join(listed)}" for group, listed in groups.items())
