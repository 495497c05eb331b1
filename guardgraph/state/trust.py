"""Trust as a deployment declares it: how far it trusts a host, whose it is, and who says so."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from types import MappingProxyType
from typing import Annotated, Any, Final, Literal, NotRequired, TypeAlias

from pydantic import AfterValidator, ConfigDict, with_config
from typing_extensions import TypedDict

from guardgraph.plain.scopes import find_scope_problem, parse_scope
from guardgraph.state.tightening import Tightens

Tier: TypeAlias = Literal["official", "established", "known", "doubtful"]
"""How far a source is trusted; what no entry names is `UNRATED`."""

TIERS: Final[Mapping[str, float]] = MappingProxyType(
    {"official": 1.0, "established": 0.8, "known": 0.5, "doubtful": 0.2}
)
"""What a tier is worth: the most that the trust of its pages comes to."""
UNRATED: Final = "unrated"  # the tier of a host that no entry names, which is worth 0
MOST_ENTRIES: Final = 10_000


def _validate_trust_scope(value: str) -> str:
    if (problem := find_scope_problem(value)) is not None:
        raise ValueError(problem.partition("; given:")[0])
    scope = parse_scope(value)
    return value if scope is None else scope.entry


def _validate_owner_text(value: str) -> str:
    if not value.strip():
        raise ValueError("a text that says something is required")
    return value.strip()


def _validate_trust_day(value: str) -> str:
    try:
        return date.fromisoformat(value).isoformat()
    except ValueError:
        raise ValueError("a day such as 2026-03-14 is required") from None


@with_config(ConfigDict(extra="forbid", strict=True, use_attribute_docstrings=True))
class TrustEntry(TypedDict):
    """How far the pages of some hosts are trusted."""

    scope: Annotated[str, AfterValidator(_validate_trust_scope)]
    """Which hosts: a host alone, ``domain:NAME`` with all under it, or ``suffix:NAME``. The narrowest entry counts."""
    tier: Tier
    """How far they are trusted."""
    owner: NotRequired[Annotated[str, AfterValidator(_validate_owner_text)]]
    """Whose they are: pages of one owner are one source."""
    source: NotRequired[Annotated[str, AfterValidator(_validate_owner_text)]]
    """Who says so, or where that stands."""
    date: NotRequired[Annotated[str, AfterValidator(_validate_trust_day)]]
    """Since when, such as ``2026-03-14``."""


def _validate_trust_entries(value: Any) -> Any:
    if len(value) > MOST_ENTRIES:
        raise ValueError(f"at most {MOST_ENTRIES} entries are allowed")
    seen: set[str] = set()
    for entry in value:
        if entry["scope"] in seen:
            raise ValueError(f"one entry of each scope is required; given: {entry['scope']!r:.80} twice")
        seen.add(entry["scope"])
    return value


TrustEntries: TypeAlias = Annotated[
    tuple[TrustEntry, ...],
    Tightens("fixed", Tightens.fixed.how, _validate_trust_entries, is_fixed=True, of_entries=True),
]
"""The entries of a deployment, which a run's context cannot change."""
