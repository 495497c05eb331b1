"""The Research agent's nodes for pages: they are read side by side, and sorted from failures."""

from __future__ import annotations

from functools import partial

from guardgraph.guards import research as guards
from guardgraph.guards.stop import Stop
from guardgraph.nodes.body import Body, Pass, Steps, declares
from guardgraph.nodes.research.rounds import leave_search, read_search_limit
from guardgraph.nodes.research.scope import (
    ResearchRun,
    deny_distrusted_pages,
    list_usable_urls,
    make_reader_scope,
    narrow_domain_lists,
)
from guardgraph.plain.json import format_json_text
from guardgraph.state.research import ResearchState
from guardgraph.world.call import Call, Outside


def make_read_node(reader: Outside) -> Body:
    """Read pages side by side until there are enough; what cannot be read does not count."""

    @declares(
        phase="read_extract",
        reads=["task", "accepted_sources", "accepted_pages", "accepted_searches"],
        writes=["found_pages"],
        rounds="any",
    )
    def run_read_node(state: ResearchState, run: ResearchRun) -> Steps:
        task, sources = state["task"], state["accepted_sources"]
        usable, _ = list_usable_urls(sources["allowed_urls"], state, run)
        most, scope, allowed = (
            read_search_limit("max_read_pages", len(state.get("accepted_pages") or {}), state, run),
            make_reader_scope(task, run),
            narrow_domain_lists(task, run),
        )
        ask = partial(Call, "tool", reader, scope=scope, holds=partial(guards.explain_page_difference, **scope))
        brought: list[list[str]] = []
        pages = 0
        while pages < most and (wanted := usable[len(brought) : len(brought) + most - pages]):
            outcomes = yield [ask({"url": guards.find_source_spelling(url, sources)}) for url in wanted]
            brought += [[url, outcome.packed()] for url, outcome in zip(wanted, outcomes, strict=True)]
            pages += sum(
                guards.is_usable_page(outcome.content, **allowed, unsure_text=run.policy.unsure_text)
                for outcome in outcomes
            )
        return {"found_pages": format_json_text(brought)}

    return run_read_node


@declares(
    phase="read_extract",
    reads=["task", "accepted_query", "accepted_sources", "accepted_pages", "accepted_searches", "found_pages"],
    writes=["accepted_pages", "accepted_sources", "accepted_searches"],
    stops=["tool", "no_sources"],
)
def run_pages_guard_node(state: ResearchState, run: ResearchRun) -> Pass:
    """Sort what the reader brought into pages and failures; pages of searches before stay."""
    try:
        usable, sources = list_usable_urls(state["accepted_sources"]["allowed_urls"], state, run)
        pages, sources = guards.sort_read_pages(
            state["found_pages"], sources, usable=usable, unsure_text=run.policy.unsure_text
        )
        used, sources = list_usable_urls(
            pages, {**state, "accepted_sources": sources}, run, led_to=guards.map_final_page_urls(pages)
        )
        kept, sources = deny_distrusted_pages({url: pages[url] for url in used}, sources, state["task"], run)
    except Stop as refused:
        return leave_search(refused, state, run)
    read = {**(state.get("accepted_pages") or {}), **kept}
    return Pass({"accepted_pages": read, "accepted_sources": sources}, "extract")
