"""The Research agent asks both lists before it cuts what a search found: a denied hit takes no place."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from langgraph.checkpoint.memory import InMemorySaver
from research_cases import SLA_HOST, STATUS, asked, denied, hits, lists, quotes, read_urls, reads, research, vendor
from runs import check_result

from guardgraph import ResearchBudget, create_research_agent
from guardgraph.guards.urls import cut_found_urls, dedupe_found_urls, explain_url_denial, is_url_allowed
from guardgraph.plain.urls import identify_url
from guardgraph.state.research import RESEARCH_REASONS

LISTS = {"policy": [SLA_HOST, "listed.example"], "execution": [SLA_HOST]}
CITE_ONE = {"answer": "It says something.", "citations": ["n1"]}


def foreign(count):
    """Make URLs that no list has."""
    return [f"https://foreign.example/{number}" for number in range(count)]


@pytest.mark.parametrize("before", [6, 12, 13, 100, 999])
def test_foreign_hits_before_an_allowed_one_do_not_end_the_run(before):
    """However many they are; all are listed, and none is read."""
    reader = reads()
    parts = {"search": hits(*foreign(before), *vendor("a")), "reader": reader, "extractor": quotes()}
    result = check_result(RESEARCH_REASONS, research(**parts, writer=lambda view: CITE_ONE))
    assert (result["status"], read_urls(reader)) == ("ok", vendor("a"))
    assert result["aggregate"]["denied_sources"] == [denied(url, "policy") for url in foreign(before)]
    assert result["aggregate"]["urls_found"] == result["aggregate"]["urls_after_dedupe"] == before + 1


def test_no_endless_search_is_looked_through():
    """A search that returns thousands of foreign hits is given up."""
    result = research(search=hits(*foreign(2000), *vendor("a")), reader=reads(), extractor=quotes())
    assert (result["stop_reason"], len(result["denied_sources"])) == ("no_reliable_sources", 1000)


def test_wider_lists_of_a_resume_let_no_more_urls_in():
    """Those that were denied when hits were counted are allowed now; max_urls holds all the same."""
    reader = reads()
    parts = {"search": hits(STATUS, *vendor(*"abc")), "reader": reader, "extractor": quotes()}
    budget = ResearchBudget(max_urls=2, max_read_pages=9)
    graph = create_research_agent(checkpointer=InMemorySaver(), budget=budget, **parts)
    config = {"configurable": {"thread_id": "1"}}
    graph.invoke(asked(), config, context=lists(execution=[SLA_HOST]), interrupt_before=["source_guard"])
    graph.invoke(None, config)
    assert read_urls(reader) == [STATUS, *vendor("a")]


FOUND = st.lists(
    st.one_of(
        st.none(),
        st.sampled_from([*vendor(*"abcdef"), "https://listed.example/x", "no url", f"http://{SLA_HOST}/a#x"]),
        st.sampled_from(foreign(9)),
    ),
    max_size=40,
)


@settings(max_examples=300)
@given(FOUND, st.integers(0, 4))
def test_denied_hits_change_nothing_of_what_is_allowed(found, max_urls):
    """The allowed survivors are those that a search would have brought which finds allowed hits alone."""

    def is_counted(url):
        return is_url_allowed(url, **LISTS)

    def surviving(urls):
        cut = cut_found_urls(urls, max_hits=2 * max_urls, is_counted=is_counted)
        return cut, dedupe_found_urls(cut, max_urls=max_urls, is_counted=is_counted)[0]

    cut, survivors = surviving(found)
    _, alone = surviving([url for url in found if is_counted(url)])
    assert {name: url for name, url in survivors.items() if is_counted(name)} == alone
    assert len(alone) <= max_urls
    refused = {identify_url(url) for url in cut if url is not None and not is_counted(url)} - {None}
    assert {name for name in survivors if explain_url_denial(name, **LISTS) is not None} == refused
