"""Denied lists: what they name is not done, whatever the allowlists say, in the guard and at the point of use."""

from __future__ import annotations

from rag_agents import INTENT, NAMED, POLICY, QUESTION, SOURCES, agent
from runs import content

from guardgraph import RagPolicy, ResearchPolicy
from guardgraph.testing import scripted_tool


def denying(*sources):
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
