"""The Research agent's nodes for one search: its hits, each URL once, and those that may be read."""

from __future__ import annotations

from collections.abc import Callable

from guardgraph.guards import research as guards
from guardgraph.guards import urls
from guardgraph.guards.proposals import found
from guardgraph.guards.stop import Stop
from guardgraph.guards.urls import list_allowed_hosts
from guardgraph.nodes.body import Body, Pass, Step, Steps, declares
from guardgraph.nodes.research.rounds import leave_search, read_searches, read_url_limit
from guardgraph.nodes.research.scope import (
    ResearchRun,
    explain_distrust,
    list_usable_urls,
    narrow_domain_lists,
    order_urls,
)
from guardgraph.plain.scopes import EVERYWHERE
from guardgraph.plain.urls import identify_url
from guardgraph.state.research import ResearchState, Searches
from guardgraph.world.call import Call, Outside, is_said_of_target


def choose_hits_that_count(state: ResearchState, run: ResearchRun) -> Callable[[object], bool]:
    """Return what says whether a hit takes a place: a new one that both lists allow."""
    lists, searches = narrow_domain_lists(state["task"], run), state.get("accepted_searches")
    kept, distrust = {*(searches or {}).get("urls", [])}, explain_distrust(run)

    def counts(url: object) -> bool:
        return isinstance(url, str) and urls.is_url_allowed(url, **lists) and distrust(url) is None

    return (lambda url: counts(url) and identify_url(str(url)) not in kept) if searches else counts


def count_wanted_hits(state: ResearchState, run: ResearchRun) -> int:
    """Return how many hits to ask for: twice as many as may be kept, and those that are known already."""
    searches = state.get("accepted_searches")
    return 2 * read_url_limit(state, run) + (len(searches["urls"]) if searches else 0)


def make_search_node(tool: Outside) -> Body:
    """Search; twice as many hits as URLs may survive, since some are the same page."""
    is_told_hosts = is_said_of_target(tool, "takes_hosts")

    @declares(phase="search", reads=["task", "accepted_query", "accepted_searches"], writes=["found_hits"])
    def run_search_node(state: ResearchState, run: ResearchRun) -> Steps:
        task = state["task"]
        request = {"query": state["accepted_query"], "max_results": count_wanted_hits(state, run)}
        allowed = list_allowed_hosts(**narrow_domain_lists(task, run)) if is_told_hosts else [EVERYWHERE]
        hosts = {} if EVERYWHERE in allowed else {"hosts": allowed}
        outcome = yield Call("tool", tool, request, scope=hosts)
        return {"found_hits": outcome.packed()}

    return run_search_node


@declares(
    phase="search",
    reads=["task", "accepted_query", "accepted_searches", "found_hits"],
    writes=["accepted_hits", "accepted_searches"],
    stops=["tool", "budget"],
)
def run_hits_guard_node(state: ResearchState, run: ResearchRun) -> Pass:
    """Read what the search returned; a hit that a list denies takes no place of the others."""
    searches = read_searches(state, run)
    try:
        raw = guards.read_found_urls(found(state["found_hits"], "search_sources"))
    except Stop as failed:
        if searches is None or len(searches["queries"]) == 1:
            raise
        return leave_search(failed, state, run, families=("tool_",))
    hits = urls.cut_found_urls(
        raw, max_hits=count_wanted_hits(state, run), is_counted=choose_hits_that_count(state, run)
    )
    counted = {"query": state["accepted_query"], "candidates": len(hits)}
    step = Step({"phase": "search", **counted}, {"action": "search_sources", **counted})
    several = {} if searches is None else {"accepted_searches": {**searches, "hits": searches["hits"] + len(hits)}}
    return Pass({"accepted_hits": hits, **several}, "dedupe_guard", steps=(step,))


@declares(
    phase="dedupe",
    reads=["task", "accepted_query", "accepted_hits", "accepted_sources", "accepted_pages", "accepted_searches"],
    writes=["accepted_sources", "accepted_searches"],
    stops=["no_sources"],
)
def run_dedupe_guard_node(state: ResearchState, run: ResearchRun) -> Pass:
    """Keep every URL once, and no more than max_urls that both lists allow; the denied are kept to be listed."""
    before = state.get("accepted_sources")
    spellings, dropped = urls.dedupe_found_urls(
        state["accepted_hits"], max_urls=read_url_limit(state, run), is_counted=choose_hits_that_count(state, run)
    )
    tried = {*(state.get("accepted_pages") or {}), *(item["url"] for item in (before or {}).get("failed_sources", []))}
    spellings = {url: spelling for url, spelling in spellings.items() if url not in tried}
    sources = guards.merge_found_sources(before, spellings, dropped)
    if not spellings:
        stop = Stop("no_sources_after_dedupe", **({"dropped_urls": dropped} if dropped else {}))
        return leave_search(stop, state, run, accepted_sources=sources)
    counted = {"urls_after_dedupe": len(spellings)}
    step = Step({"phase": "dedupe", **counted}, {"action": "dedupe_urls", **counted})
    return Pass({"accepted_sources": sources}, "source_guard", steps=(step,))


@declares(
    phase="read_extract",
    reads=["task", "accepted_query", "accepted_sources", "accepted_searches"],
    writes=["accepted_sources", "accepted_searches"],
    stops=["no_sources"],
)
def run_source_guard_node(state: ResearchState, run: ResearchRun) -> Pass:
    """Judge every URL before anything is read."""
    searches = state.get("accepted_searches")
    asked = state["accepted_sources"]["allowed_urls" if searches else "urls"]
    try:
        usable, sources = list_usable_urls(asked, state, run)
    except Stop as refused:
        return leave_search(refused, state, run)
    # A resume may bring wider lists than those by which the hits were counted.
    usable = order_urls(usable, run)
    most = read_url_limit(state, run)
    if searches is None:
        return Pass({"accepted_sources": {**sources, "allowed_urls": usable[:most]}}, "read")
    known = searches["urls"]
    kept = [*known, *[url for url in usable if url not in known][:most]]
    allowed = [url for url in usable if url in kept]
    several: Searches = {**searches, "urls": kept}
    return Pass({"accepted_sources": {**sources, "allowed_urls": allowed}, "accepted_searches": several}, "read")
