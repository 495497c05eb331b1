"""The stop-reason catalogue, for people, for programs and for the docs."""

from __future__ import annotations

from collections.abc import Iterable

from guardgraph.cli.screen import Screen
from guardgraph.graphs.patterns import COMMANDS, PATTERNS, find_shipped_pattern
from guardgraph.plain.errors import ConfigurationError
from guardgraph.plain.json import JsonObject
from guardgraph.state.catalogue import Catalogue


def select_catalogues_argument(called: str | None) -> list[Catalogue]:
    """Return one pattern's catalogue, or all."""
    if called is None:
        return [pattern.catalogue for pattern in PATTERNS.values()]
    if (found := find_shipped_pattern(called)) is None:
        raise ConfigurationError(f"reasons: {', '.join(COMMANDS)} or nothing is required; given: {called!r}")
    return [found.catalogue]


def print_reasons(screen: Screen, catalogues: Iterable[Catalogue]) -> None:
    """Print a table for each pattern."""
    for catalogue in catalogues:
        screen.print_heading(f"{catalogue.pattern}: {len(catalogue.reasons)} reasons")
        rows = []
        for item in catalogue:
            mark = " (defensive)" if item.defensive else ""
            again = "; asked again" if item.again else ""
            rows.append((f"{item.reason}{mark}\n  {', '.join(item.phases)}{again}", f"{item.meaning}\n{item.advice}"))
        screen.print_table(("Reason, and where", "Meaning, and what to do"), rows)


def format_reasons_json(catalogues: Iterable[Catalogue]) -> list[JsonObject]:
    """Return every reason as an object."""
    return [
        {
            "pattern": catalogue.pattern,
            "reason": item.reason,
            "family": item.family,
            "phases": list(item.phases),
            "meaning": item.meaning,
            "advice": item.advice,
            "defensive": item.defensive,
            "asked_again": item.again,
        }
        for catalogue in catalogues
        for item in catalogue
    ]


def format_reasons_markdown() -> str:
    """Return the table of the docs."""
    # loads Pydantic, for which help need not wait
    from guardgraph.graphs.catalogues import catalogue_markdown

    return catalogue_markdown()
