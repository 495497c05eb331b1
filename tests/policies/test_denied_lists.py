"""Denied lists: what they name is not done, whatever the allowlists say, in the guard and at the point of use."""

from __future__ import annotations

import pytest
from rag_agents import INTENT, NAMED, POLICY, QUESTION, SOURCES, agent
from runs import content
from tables import each_row

from guardgraph import RagPolicy, ResearchPolicy, SelfCritiquePolicy, create_research_agent, create_self_critique_agent
from guardgraph.guards.urls import explain_url_denial, list_allowed_hosts
from guardgraph.plain.errors import ConfigurationError
from guardgraph.testing import scripted_tool


def denying(*sources):
    """Return the context of a run that may not read these sources."""
    return {"policy": {"denied_sources": list(sources)}}


def test_a_denied_source_is_not_read_though_both_lists_have_it():
    """One that is named stops the run; unnamed, it is left out of what is read."""
    retriever = scripted_tool([], loop=True)
    stopped = agent(NAMED, retriever=retriever, policy=POLICY).invoke(QUESTION, context=denying("support_policy"))
    assert (stopped["stop_reason"], stopped["phase"]) == ("source_denied_listed:support_policy", "retrieve")
    assert content(stopped) == {"intent": NAMED}
    assert retriever.calls == []
    result = agent(INTENT, retriever=retriever, policy=POLICY).invoke(QUESTION, context=denying("support_policy"))
    assert result["outcome"] == "clarify"
    assert [call["sources"] for call in retriever.calls] == [sorted({*SOURCES} - {"support_policy"})] * 2


def test_a_denied_host_wins_over_both_lists_in_any_spelling():
    """It is judged before either list, and a reader is never told it."""
    lists = {"policy": ["a.example", "b.example"], "execution": ["a.example", "b.example"], "denied": [" A.EXAMPLE "]}
    assert explain_url_denial("https://a.example/x", **lists) == "source_denied_listed"
    assert explain_url_denial("https://a.example/x", policy=[], execution=[], denied=["a.example"]) == (
        "source_denied_listed"
    )
    assert explain_url_denial("https://b.example/x", **lists) is None
    assert list_allowed_hosts(**lists) == ["b.example"]


def test_lists_of_what_is_denied_only_grow():
    """A context adds to the deployment's and takes nothing away; one host in two spellings is one."""
    ours = RagPolicy(denied_sources=["a"]).tightened_by(RagPolicy(denied_sources=["b"]))
    assert ours.denied_sources == ("a", "b")
    hosts = ResearchPolicy(denied_domains=["a.example"])
    assert hosts.tightened_by(ResearchPolicy(denied_domains=[" A.example", "b.example"])).denied_domains == (
        "a.example",
        "b.example",
    )
    assert hosts.compared(ResearchPolicy(denied_domains=["A.EXAMPLE"]))["denied_domains"] == "equal"


@each_row(
    ("create", "policy"),
    [
        (create_research_agent, ResearchPolicy(denied_domains=["https://vendor.example.com"])),
        (create_self_critique_agent, SelfCritiquePolicy(denied_decisions=["aprove"])),
        (agent, POLICY.model_copy(update={"denied_sources": ("suport_policy",)})),
    ],
)
def test_a_denied_name_that_names_nothing_is_refused(create, policy):
    """Else it would deny nothing, and nobody would know."""
    with pytest.raises(ConfigurationError, match=r"^policy\.denied_"):
        create(policy=policy)
