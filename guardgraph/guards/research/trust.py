"""How far a page is trusted: the tier of its host, as the deployment declares it, and how recent the page is."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import date
from typing import Final, NamedTuple, TypeVar

from guardgraph.plain.scopes import HostScope, find_registrable_domain, parse_scope
from guardgraph.plain.urls import parse_url_target
from guardgraph.state.trust import TIERS, UNRATED, TrustEntry

HALF_LIFE_DAYS: Final = 365  # days in which the recency of a page halves
UNDATED_SHARE: Final = 0.5
"""The share of a tier's worth that a page has without any recency, such as one without a date."""
TRUST_DIGITS: Final = 3

ItemT = TypeVar("ItemT")


class SourceTrust(NamedTuple):
    """How far the pages of a host are trusted, before any of them is dated."""

    tier: str
    entry: TrustEntry | None = None  # what says so; None of a host that nothing names

    @property
    def worth(self) -> float:
        """The most that the trust of a page of it comes to."""
        return TIERS.get(self.tier, 0.0)


class TrustTable:
    """The declared entries, for questions about hosts."""

    def __init__(self, entries: Iterable[TrustEntry]) -> None:
        self._entries: dict[HostScope, TrustEntry] = {
            scope: entry for entry in entries if (scope := parse_scope(entry["scope"])) is not None
        }

    def __bool__(self) -> bool:
        return bool(self._entries)

    def find_source_trust(self, url: str) -> SourceTrust:
        """Return how far a URL's pages are trusted: a host counts before its domain, that before suffixes."""
        known = parse_url_target(url)
        for scope in _list_scopes_of(known.host.rstrip(".")) if known is not None and self._entries else ():
            if (entry := self._entries.get(scope)) is not None:
                return SourceTrust(entry["tier"], entry)
        return SourceTrust(UNRATED)


def _list_scopes_of(host: str) -> Iterable[HostScope]:
    """Yield the scopes that mean a host, the narrowest first."""
    yield HostScope("host", host)
    if (domain := find_registrable_domain(host)) is not None:
        yield HostScope("domain", domain)
    labels = host.split(".")
    yield from (HostScope("suffix", ".".join(labels[at:])) for at in range(len(labels)))


def rate_page(worth: float, dated: str, as_of: str) -> float:
    """Return how far a page is trusted, 0 to 1."""
    return round(worth * (UNDATED_SHARE + (1 - UNDATED_SHARE) * _rate_recency(dated, as_of)), TRUST_DIGITS)


def _rate_recency(dated: str, as_of: str) -> float:
    then, now = parse_day(dated), parse_day(as_of)
    if then is None or now is None or then > now:
        return 0.0
    return float(2.0 ** (-(now - then).days / HALF_LIFE_DAYS))


def parse_day(said: str) -> date | None:
    """Return the day that a date or a moment in ISO 8601 begins with, None where it begins with none."""
    try:
        return date.fromisoformat(said.strip()[:10])
    except ValueError:
        return None


def choose_reference_day(report_date: str | None, started_at: str) -> str:
    """Return the day by which recency is told: that of the report, else that on which the run began."""
    for said in (report_date or "", started_at):
        if (day := parse_day(said)) is not None:
            return day.isoformat()
    return ""


def explain_trust_denial(worth: float, min_trust: float) -> str | None:
    """Return ``source_denied_trust`` for what is trusted less than it has to be, else None."""
    return "source_denied_trust" if worth < min_trust else None


def order_by_trust(items: Sequence[ItemT], rate: Callable[[ItemT], float]) -> list[ItemT]:
    """Return items with the most trusted first; those that are trusted alike stay in their order."""
    return sorted(items, key=lambda item: -rate(item))


def describe_source_trust(trust: SourceTrust, number: float) -> Mapping[str, object]:
    """Return what a result says of the trust of a page: number and tier, and what the entry says beside."""
    entry = trust.entry
    said = {key: entry[key] for key in ("owner", "source", "date") if key in entry} if entry is not None else {}
    return {"trust": number, "tier": trust.tier, **({"trusted_by": said} if said else {})}
