"""The catalogues of the shipped patterns, by pattern."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from guardgraph.graphs.patterns import PATTERNS
from guardgraph.state.catalogue import Catalogue

CATALOGUES: Mapping[str, Catalogue] = MappingProxyType({name: item.catalogue for name, item in PATTERNS.items()})
"""Every reason why a run of ours can stop."""


def catalogue_markdown() -> str:
    """Return all catalogues as Markdown, a list for each family; reasons with one meaning and advice share an item."""
    families: dict[str, dict[tuple[str, str, str], dict[str, list[str]]]] = {}
    for pattern, reasons in CATALOGUES.items():
        for item in reasons:
            marks = [mark for mark, holds in (("asked again", item.again), ("defensive", item.defensive)) if holds]
            alike = families.setdefault(item.family, {}).setdefault((", ".join(marks), item.meaning, item.advice), {})
            alike.setdefault(item.reason, []).append(pattern)
    return "\n".join(
        f"## {family}\n\n" + "".join(_format_item(*alike, named) for alike, named in items.items())
        for family, items in families.items()
    )


def _format_item(marks: str, meaning: str, advice: str, named: Mapping[str, Sequence[str]]) -> str:
    patterns = dict.fromkeys(pattern for some in named.values() for pattern in some)
    told = ["all patterns" if len(patterns) == len(CATALOGUES) else ", ".join(patterns), *filter(None, [marks])]
    return f"- {', '.join(f'`{reason}`' for reason in named)} ({'; '.join(told)}): {meaning} *{advice}*\n"
