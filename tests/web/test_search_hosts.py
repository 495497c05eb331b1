"""The hosts that both lists allow are told to a search that can use them, and to no other."""

from copy import deepcopy

import pytest
from langchain_core.tools import tool
from research_cases import HITS, research

from guardgraph import ConfigurationError, LangChainSearch, ResearchPolicy
from guardgraph.testing import InMemoryRecorder, scripted_tool

ALLOWED = ["official-status.example.com", "vendor.example.com"]
NARROW = ResearchPolicy(allowed_domains_execution=["vendor.example.com"])


def make_search(**said):
    """Return a search that keeps what it is given, and says this of itself."""
    seen = []

    def search(request):
        seen.append(deepcopy(request))
        return deepcopy(HITS)

    for name, value in said.items():
        setattr(search, name, value)
    return search, seen


@pytest.mark.parametrize("said", [{}, {"takes_hosts": "yes"}])
def test_a_search_that_does_not_ask_for_hosts_is_told_none(said):
    recorder, (search, seen) = InMemoryRecorder(), make_search(**said)
    research(search=search, recorder=recorder)
    assert [request.keys() for request in seen] == [{"query", "max_results"}]
    assert all("scope" not in call for call in recorder.runs[0]["calls"] if call["node"] == "search")


def test_a_search_that_takes_hosts_is_told_those_on_both_lists():
    """Of the lists as they are in this run: a request's hints, a policy and a context narrow them."""
    search, seen = make_search(takes_hosts=True)
    research(search=search)
    research(search=search, policy=NARROW)
    research({"allowed_domains_policy": ["official-status.example.com"]}, search=search)
    research(search=search, context={"policy": {"allowed_domains_execution": []}})
    assert [request["hosts"] for request in seen] == [ALLOWED, ALLOWED[1:], ALLOWED[:1], []]


def test_a_tool_of_langchain_with_such_an_argument_is_given_them():
    """By the name `hosts`, or by the name that a LangChainSearch is told; a required argument is no obstacle then."""
    seen = []

    @tool
    def find(query: str, hosts: list[str]) -> list:
        """Search some hosts."""
        seen.append(("hosts", hosts))
        return deepcopy(HITS)

    @tool
    def find_in(query: str, include_domains: list[str] | None = None) -> list:
        """Search some domains."""
        seen.append(("include_domains", include_domains))
        return deepcopy(HITS)

    for search in (find, LangChainSearch(find_in, hosts="include_domains"), find_in):
        assert research(search=search)["status"] == "ok"
    assert seen == [("hosts", ALLOWED), ("include_domains", ALLOWED), ("include_domains", None)]
    assert LangChainSearch(find_in, hosts="include_domains").invoke({"query": "x", "max_results": 2})


def test_an_argument_that_a_tool_does_not_have_is_refused():
    @tool
    def find(query: str, top: int = 3) -> list:
        """Search."""
        return []

    with pytest.raises(ConfigurationError, match=r"^hosts: .*\(query, top\); given: 'domains'"):
        LangChainSearch(find, hosts="domains")
    with pytest.raises(ConfigurationError, match=r"^hosts: .*it has none"):
        LangChainSearch(scripted_tool([]), hosts="hosts")
