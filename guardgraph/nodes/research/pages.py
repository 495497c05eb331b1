"""The pages: as many as are wanted are read, side by side, and those that could not be are listed."""

from __future__ import annotations

from functools import partial

from guardgraph.guards import research as guards
from guardgraph.nodes.body import Body, Pass, Steps, declares
from guardgraph.nodes.research.request import ResearchRun, limit, lists, reader_scope, usable_sources
from guardgraph.plain.json import json_text
from guardgraph.state.research import ResearchState
from guardgraph.world.call import Call, Outside

__all__ = ["check_pages", "read"]


def read(reader: Outside) -> Body:
    """Read pages side by side until there are enough; what cannot be read does not count.

    The reader is given a URL as it was found, and told where it may go at this moment.
    """

    @declares(phase="read_extract", reads=["task", "accepted_sources"], writes=["found_pages"])
    def body(state: ResearchState, run: ResearchRun) -> Steps:
        task, sources = state["task"], state["accepted_sources"]
        usable, _ = usable_sources(sources["allowed_urls"], state, run)
        most, scope, allowed = limit("max_read_pages", task, run), reader_scope(task, run), lists(task, run)
        ask = partial(Call, "tool", reader, scope=scope, holds=partial(guards.read_otherwise, **scope))
        brought: list[list[str]] = []
        pages = 0
        while pages < most and (wanted := usable[len(brought) : len(brought) + most - pages]):
            outcomes = yield [ask({"url": guards.spelled(url, sources)}) for url in wanted]
            brought += [[url, outcome.packed()] for url, outcome in zip(wanted, outcomes, strict=True)]
            pages += sum(guards.is_readable(outcome.content, **allowed) for outcome in outcomes)
        return {"found_pages": json_text(brought)}

    return body


@declares(
    phase="read_extract",
    reads=["task", "accepted_sources", "found_pages"],
    writes=["accepted_pages", "accepted_sources"],
    stops=["tool", "no_sources"],
)
def check_pages(state: ResearchState, run: ResearchRun) -> Pass:
    """Sort what the reader brought into pages and failures."""
    usable, sources = usable_sources(state["accepted_sources"]["allowed_urls"], state, run)
    pages, sources = guards.read_pages(state["found_pages"], sources, usable=usable)
    used, sources = usable_sources(pages, {**state, "accepted_sources": sources}, run, led_to=guards.final_urls(pages))
    return Pass({"accepted_pages": {url: pages[url] for url in used}, "accepted_sources": sources})
