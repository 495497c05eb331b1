"""Which sources a run may use at this moment, and what came of reading them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from functools import partial
from types import MappingProxyType
from typing import Final

from guardgraph.guards.research.pages import describe_failed_page, parse_source_page
from guardgraph.guards.stop import Stop
from guardgraph.guards.urls import explain_url_denial
from guardgraph.plain.json import JsonObject, parse_json
from guardgraph.plain.urls import identify_url
from guardgraph.state.outcome import Outcome
from guardgraph.state.research import Note, ResearchSources, SourcePage
from guardgraph.state.settings import UnsureText

NOWHERE: Final[Mapping[str, str]] = MappingProxyType({})


def start_research_sources(spellings: dict[str, str], dropped: list[str]) -> ResearchSources:
    """Return the sources of a run that has found URLs and judged none."""
    return ResearchSources(
        urls=list(spellings),
        spellings=spellings,
        dropped_urls=dropped,
        allowed_urls=[],
        denied_sources=[],
        failed_sources=[],
    )


def merge_found_sources(
    before: ResearchSources | None, spellings: dict[str, str], dropped: list[str]
) -> ResearchSources:
    """Return the sources of a run whose search of now has found URLs, which are still to be judged."""
    found = start_research_sources(spellings, dropped)
    if before is None:
        return {**found, "allowed_urls": found["urls"]}
    return {
        **before,
        "urls": [*dict.fromkeys([*before["urls"], *found["urls"]])],
        "spellings": {**spellings, **before["spellings"]},
        "dropped_urls": [*dict.fromkeys([*before["dropped_urls"], *dropped])],
        "allowed_urls": found["urls"],
    }


def find_source_spelling(url: str, sources: ResearchSources) -> str:
    """Return the URL to fetch for an identity: as it was first found."""
    return sources.get("spellings", {}).get(url, url)


def find_note_url(note: Note) -> str:
    """Return the identity of the URL that was asked for the page of a note."""
    return note.get("asked_url") or identify_url(note["url"]) or note["url"]


def map_final_page_urls(pages: Mapping[str, SourcePage]) -> dict[str, str]:
    """Return where pages were in the end, by the identity that was asked."""
    return {url: page.get("final_url", url) for url, page in pages.items()}


def select_usable_sources(
    urls: Iterable[str],
    sources: ResearchSources,
    *,
    policy: Collection[str],
    execution: Collection[str],
    denied: Collection[str] = (),
    led_to: Mapping[str, str] = NOWHERE,
    distrust: Callable[[str], str | None] = lambda url: None,
) -> tuple[list[str], ResearchSources]:
    """Hold URLs against the lists; it is done wherever they are used, since a resume may bring tighter lists."""
    explain_listed = partial(explain_url_denial, policy=policy, execution=execution, denied=denied)

    def explain_denial(url: str) -> str | None:
        return explain_listed(url) or distrust(url)

    def explain_source_denial(url: str) -> JsonObject | None:
        final = led_to.get(url, url)
        if (reason := explain_denial(url)) is not None:
            return {"url": url, "reason": reason}
        if final != url and (reason := explain_denial(final)) is not None:
            return {"url": url, "reason": reason, "final_url": final}
        return None

    denials = {url: explain_source_denial(url) for url in urls}
    known = {item["url"] for item in sources["denied_sources"]}
    late = [item for url, item in denials.items() if item is not None and url not in known]
    judged: ResearchSources = {**sources, "denied_sources": [*sources["denied_sources"], *late]}
    usable = [url for url, item in denials.items() if item is None]
    if not usable:
        raise build_sources_stop(judged)
    return usable, judged


def sort_read_pages(
    brought: str, sources: ResearchSources, *, usable: Collection[str], unsure_text: UnsureText = "allow"
) -> tuple[dict[str, SourcePage], ResearchSources]:
    """Sort what a reader brought into pages and failures."""
    pages: dict[str, SourcePage] = {}
    failed: list[JsonObject] = [*sources["failed_sources"]]
    for url, packed in parse_json(brought):
        outcome = Outcome.unpacked(packed)
        if outcome.form == "failure":
            failed.append(describe_failed_page(url, outcome))
        elif (page := parse_source_page(outcome.content)) is None:
            failed.append({"url": url, "reason": "empty_page"})
        elif unsure_text == "refuse" and "extraction" in page:
            failed.append({"url": url, "reason": "unsure_text"})
        elif url in usable:
            pages[url] = page
    read: ResearchSources = {**sources, "failed_sources": failed}
    if not pages:
        raise build_sources_stop(read)
    return pages, read


def build_sources_stop(sources: ResearchSources) -> Stop:
    """Return the stop of a run that has nothing left to rest on."""
    shown = {"denied_sources": sources["denied_sources"], "failed_sources": sources["failed_sources"]}
    return Stop("no_reliable_sources", **shown)
