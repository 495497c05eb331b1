"""Which sources a run may use at this moment, and what came of reading them."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from guardgraph.guards.proposals import tool_failure
from guardgraph.guards.research.notes import parse_page
from guardgraph.guards.stop import Stop
from guardgraph.guards.urls import denial
from guardgraph.state.json import JsonObject
from guardgraph.state.outcome import Outcome
from guardgraph.state.plain import parse_json
from guardgraph.state.research import Page, Sources

__all__ = ["no_reliable_sources", "read_pages", "usable_sources"]


def usable_sources(
    urls: Iterable[str], sources: Sources, *, policy: Collection[str], execution: Collection[str]
) -> tuple[list[str], Sources]:
    """Hold URLs against both lists; it is done wherever they are used, since a resume may bring tighter lists.

    Args:
        urls: identities.
        sources: what became of the run's URLs so far.
        policy: hosts that may be asked for.
        execution: hosts that may be read now.

    Returns:
        The URLs that may be used, each once, and the sources with those that are denied from now on.

    Raises:
        Stop: ``no_reliable_sources`` when none may be used.
    """
    denials = {url: denial(url, policy=policy, execution=execution) for url in urls}
    known = {item["url"] for item in sources["denied_sources"]}
    late = [{"url": url, "reason": reason} for url, reason in denials.items() if reason and url not in known]
    judged: Sources = {**sources, "denied_sources": [*sources["denied_sources"], *late]}
    usable = [url for url, reason in denials.items() if reason is None]
    if not usable:
        raise no_reliable_sources(judged)
    return usable, judged


def read_pages(brought: str, sources: Sources, *, usable: Collection[str]) -> tuple[dict[str, Page], Sources]:
    """Sort what a reader brought into pages and failures.

    Args:
        brought: JSON text of ``[[url, packed outcome], …]``, as the reading node wrote it.
        sources: what became of the run's URLs so far.
        usable: the URLs whose pages may be used.

    Returns:
        The pages by URL, and the sources with what could not be read in `failed_sources`.

    Raises:
        Stop: ``no_reliable_sources`` when there is no page, ``tool_invalid_output:read_source`` for something that
            is none, ``max_seconds`` when a reader outlasted the run's time, ``tool_unavailable:read_source`` when it
            was not called.
    """
    pages: dict[str, Page] = {}
    failed: list[JsonObject] = []
    for url, packed in parse_json(brought):
        outcome = Outcome.unpacked(packed)
        if outcome.form == "failure":
            failed.append({"url": url, "reason": "read_failed", "details": _failure(outcome)})
        elif (page := parse_page(outcome.content)) is None:
            failed.append({"url": url, "reason": "empty_page"})
        elif url in usable:
            pages[url] = page
    read: Sources = {**sources, "failed_sources": failed}
    if not pages:
        raise no_reliable_sources(read)
    return pages, read


def no_reliable_sources(sources: Sources) -> Stop:
    """Return the stop of a run that has nothing left to rest on."""
    shown = {"denied_sources": sources["denied_sources"], "failed_sources": sources["failed_sources"]}
    return Stop("no_reliable_sources", **shown)


def _failure(outcome: Outcome) -> JsonObject:
    if outcome.content["reason"] in ("max_seconds", "tool_invalid_output", "tool_unavailable"):
        raise tool_failure(outcome, "read_source")
    details: JsonObject = outcome.content["details"]
    return details
