"""The sources: a search brings URLs, each is kept once, and each is judged before anything is read."""

from __future__ import annotations

from guardgraph.guards import research as guards
from guardgraph.guards import urls
from guardgraph.guards.proposals import found
from guardgraph.guards.stop import Stop
from guardgraph.nodes.body import Body, Pass, Step, Steps, declares
from guardgraph.nodes.research.request import ResearchRun, limit, usable_sources
from guardgraph.state.research import ResearchState
from guardgraph.world.call import Call, Outside

__all__ = ["check_hits", "check_sources", "dedupe", "search"]


def search(tool: Outside) -> Body:
    """Search; twice as many hits as URLs may survive, since some are the same page."""

    @declares(phase="search", reads=["task", "accepted_query"], writes=["found_hits"])
    def body(state: ResearchState, run: ResearchRun) -> Steps:
        most = 2 * limit("max_urls", state["task"], run)
        outcome = yield Call("tool", tool, {"query": state["accepted_query"], "max_results": most})
        return {"found_hits": outcome.packed()}

    return body


@declares(
    phase="search",
    reads=["task", "accepted_query", "found_hits"],
    writes=["accepted_hits"],
    stops=["tool", "budget"],
)
def check_hits(state: ResearchState, run: ResearchRun) -> Pass:
    """Read what the search returned."""
    most = 2 * limit("max_urls", state["task"], run)
    hits = guards.found_urls(found(state["found_hits"], "search_sources"))[:most]
    counted = {"query": state["accepted_query"], "candidates": len(hits)}
    step = Step({"phase": "search", **counted}, {"action": "search_sources", **counted})
    return Pass({"accepted_hits": hits}, steps=(step,))


@declares(phase="dedupe", reads=["task", "accepted_hits"], writes=["accepted_sources"], stops=["no_sources"])
def dedupe(state: ResearchState, run: ResearchRun) -> Pass:
    """Keep every URL once."""
    spellings, dropped = urls.dedupe(state["accepted_hits"], max_urls=limit("max_urls", state["task"], run))
    if not spellings:
        raise Stop("no_sources_after_dedupe", **({"dropped_urls": dropped} if dropped else {}))
    sources = guards.found_sources(spellings, dropped)
    counted = {"urls_after_dedupe": len(spellings)}
    step = Step({"phase": "dedupe", **counted}, {"action": "dedupe_urls", **counted})
    return Pass({"accepted_sources": sources}, steps=(step,))


@declares(phase="read_extract", reads=["task", "accepted_sources"], writes=["accepted_sources"], stops=["no_sources"])
def check_sources(state: ResearchState, run: ResearchRun) -> Pass:
    """Judge every URL before anything is read."""
    usable, sources = usable_sources(state["accepted_sources"]["urls"], state, run)
    return Pass({"accepted_sources": {**sources, "allowed_urls": usable}})
