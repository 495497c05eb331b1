"""What a Research run may use at this moment: lists, limits, and sources that are trusted enough."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial

from guardgraph.guards.research import request as request_guards
from guardgraph.guards.research import sources as source_guards
from guardgraph.guards.research import trust
from guardgraph.guards.urls import make_host_scope
from guardgraph.nodes.body import Run
from guardgraph.plain.json import JsonObject
from guardgraph.state.research import (
    Note,
    ResearchBudget,
    ResearchPolicy,
    ResearchSources,
    ResearchState,
    ResearchTask,
    SourcePage,
)

ResearchRun = Run[ResearchPolicy, ResearchBudget]


PAGE_LIMITS = ("max_page_seconds", "max_wire_bytes", "max_page_bytes")  # what a reader is told of the budget


def narrow_domain_lists(task: ResearchTask, run: ResearchRun) -> dict[str, list[str]]:
    """Return the domain lists as they are at this moment; those that allow are narrowed by the request's hints."""
    hints, policy = task["policy_hints"], run.policy
    narrowed = request_guards.narrow_research_domains
    return {
        "policy": narrowed(hints, "allowed_domains_policy", policy.list_allowed("allowed_domains_policy")),
        "execution": narrowed(hints, "allowed_domains_execution", policy.list_allowed("allowed_domains_execution")),
        "denied": [*policy.denied_domains],
    }


def read_task_limit(name: str, task: ResearchTask, run: ResearchRun) -> int:
    """Return one of the limits that a request's hints may tighten."""
    hint, allowed = task["policy_hints"].get(name), getattr(run.budget, name)
    return request_guards.tighten_research_limit(name, hint, allowed=allowed)


def make_reader_scope(task: ResearchTask, run: ResearchRun) -> JsonObject:
    """Return where a reader may go at this moment: the hosts on both lists, and the caps of a page."""
    limits = {name: getattr(run.budget, name) for name in PAGE_LIMITS}
    return {**make_host_scope(**narrow_domain_lists(task, run)), "limits": limits}


def list_usable_urls(
    names: Iterable[str], state: ResearchState, run: ResearchRun, *, led_to: Mapping[str, str] | None = None
) -> tuple[list[str], ResearchSources]:
    """Return the URLs that may be used now, also where their pages were in the end; and what became of the sources."""
    return source_guards.select_usable_sources(
        names,
        state["accepted_sources"],
        **narrow_domain_lists(state["task"], run),
        led_to=led_to or {},
        distrust=explain_distrust(run),
    )


def list_usable_notes(state: ResearchState, run: ResearchRun) -> tuple[list[Note], ResearchSources]:
    """Return the notes whose pages may be used now, and what became of the sources."""
    notes = state["accepted_notes"]
    led_to = {source_guards.find_note_url(note): note["url"] for note in notes}
    usable, sources = list_usable_urls(led_to, state, run, led_to=led_to)
    least, rate = run.policy.min_trust, partial(rate_note, state["task"], run)
    kept = [note for note in notes if source_guards.find_note_url(note) in usable and rate(note) >= least]
    if not kept:
        raise source_guards.build_sources_stop(sources)
    return kept, sources


def explain_distrust(run: ResearchRun) -> Callable[[str], str | None]:
    """Return what says whether a URL's host is trusted too little, whatever its page says."""
    table, least = trust.TrustTable(run.policy.trust), run.policy.min_trust
    return lambda url: trust.explain_trust_denial(table.find_source_trust(url).worth, least)


def rate_dated_page(url: str, dated: str, task: ResearchTask, run: ResearchRun) -> float:
    """Return how far a page is trusted, 0 to 1."""
    worth = trust.TrustTable(run.policy.trust).find_source_trust(url).worth
    return trust.rate_page(worth, dated, task.get("as_of", ""))


def rate_note(task: ResearchTask, run: ResearchRun, note: Note) -> float:
    """Return how far the page of a note is trusted, 0 to 1."""
    return rate_dated_page(note["url"], note["published_at"], task, run)


def order_urls(urls: Sequence[str], run: ResearchRun) -> list[str]:
    """Return URLs with those of the most trusted hosts first; as they are where no trust is declared."""
    table = trust.TrustTable(run.policy.trust)
    return trust.order_by_trust(urls, lambda url: table.find_source_trust(url).worth) if table else list(urls)


def order_notes(notes: Sequence[Note], task: ResearchTask, run: ResearchRun) -> list[Note]:
    """Return notes with those of the most trusted pages first; as they are where no trust is declared."""
    return trust.order_by_trust(notes, partial(rate_note, task, run)) if run.policy.trust else list(notes)


def deny_distrusted_pages(
    pages: Mapping[str, SourcePage], sources: ResearchSources, task: ResearchTask, run: ResearchRun
) -> tuple[dict[str, SourcePage], ResearchSources]:
    """Return the pages that are trusted enough, now that they are dated, and the sources with denials of the others."""
    kept: dict[str, SourcePage] = {}
    denied: list[JsonObject] = []
    for url, page in pages.items():
        dated = page.get("declared_date", page["published_at"])
        number = rate_dated_page(page.get("final_url", url), dated, task, run)
        if (reason := trust.explain_trust_denial(number, run.policy.min_trust)) is None:
            kept[url] = page
        else:
            denied.append({"url": url, "reason": reason, "trust": number})
    judged: ResearchSources = {**sources, "denied_sources": [*sources["denied_sources"], *denied]}
    if not kept:
        raise source_guards.build_sources_stop(judged)
    return kept, judged


def describe_note_trust(note: Note, task: ResearchTask, run: ResearchRun) -> JsonObject:
    """Return what a citation says of the trust of its page; nothing where no trust is declared."""
    if not run.policy.trust:
        return {}
    found = trust.TrustTable(run.policy.trust).find_source_trust(note["url"])
    return {**trust.describe_source_trust(found, rate_note(task, run, note))}
