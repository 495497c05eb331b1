"""Lists of names: what names nothing is refused, and what is denied is not done, whatever is allowed."""

from typing import Annotated

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rag_agents import INTENT, NAMED, POLICY, QUESTION, SOURCES, agent
from runs import content
from tables import each_row
from ticket_pattern import TICKET, Policy, triage

from guardgraph import ConfigurationError, RagPolicy, ResearchPolicy, SelfCritiquePolicy, create_rag_agent
from guardgraph.grammar import Hosts, Tightens
from guardgraph.graphs.patterns import PATTERNS
from guardgraph.guards.urls import explain_url_denial
from guardgraph.plain.urls import find_host_problem
from guardgraph.testing import scripted_tool

DECISIONS = "there are approve, revise, escalate; given: 'aprove'; did you mean 'approve'?"
RISKS = "there are overconfidence, missing_uncertainty, contradiction, scope_leak, policy_violation, legal_risk; given:"
UNSAID = "'as soon as possible' alone claims nothing"
HOST = (
    "a host, domain:NAME or suffix:NAME is required, without scheme, user, port, path or wildcard; "
    "given: 'https://vendor.example.com'; did you mean 'vendor.example.com'?"
)
SOURCES_THERE = "there are billing_policy, operations_notes, security_policy, support_policy; given: 'suport_policy'"


@each_row(
    ("pattern", "policy", "message"),
    ("self_critique", SelfCritiquePolicy(allowed_decisions_execution=["revise", "aprove"]), DECISIONS),
    ("research", ResearchPolicy(allowed_domains_policy=["https://vendor.example.com"]), HOST),
    ("rag", RagPolicy(allowed_sources_policy=["suport_policy"]), SOURCES_THERE),
    ("self_critique", SelfCritiquePolicy(denied_decisions=["aprove"]), DECISIONS),
    ("self_critique", SelfCritiquePolicy(high_risk_types=["legal_risks"]), RISKS),
    ("self_critique", SelfCritiquePolicy(claims=[{"name": "own", "phrases": ["as soon as possible"]}]), UNSAID),
    ("research", ResearchPolicy(denied_domains=["https://vendor.example.com"]), HOST),
)
def test_a_factory_refuses_names_that_name_nothing(pattern, policy, message):
    """The error names the field and the value, says what there is, and what may have been meant."""
    [field] = policy.model_fields_set
    with pytest.raises(ConfigurationError) as raised:
        PATTERNS[pattern].create_agent(policy=policy)
    assert str(raised.value).startswith(f"policy.{field}: {message}")


def test_a_retriever_may_list_its_sources_or_be_a_live_index():
    """With an attribute `sources` other names are refused; without one any name may stand on a list."""
    policy = RagPolicy(allowed_sources_policy=["wiki"], allowed_sources_execution=["wiki"])
    retriever = scripted_tool([], loop=True)
    assert create_rag_agent(retriever=retriever, policy=policy).invoke(QUESTION)["outcome"] == "clarify"
    retriever.sources = ["manuals"]
    with pytest.raises(ConfigurationError, match="there are manuals; given: 'wiki'"):
        create_rag_agent(retriever=retriever, policy=policy)


@each_row(
    ("name", "meant"),
    *((f"{scheme}vendor.example.com", "vendor.example.com") for scheme in ("https://", "http://", "ftp://")),
    ("vendor.example.com/x", "vendor.example.com"),
    ("vendor.example.com:443", "vendor.example.com"),
    ("[::1]:80", "[::1]"),
    ("me@vendor.example.com", "vendor.example.com"),
    *((name, None) for name in ("", " ", "a b", "*.example.com", "https://", "//")),
)
def test_what_is_more_or_less_than_a_host_is_refused(name, meant):
    """A scheme, user, port, path, query or wildcard; the host that may have been meant is named."""
    problem = find_host_problem(name)
    assert f"given: {name!r}" in problem
    assert problem.partition("did you mean ")[2] == (f"{meant!r}?" if meant else "")


@given(st.text(max_size=20))
def test_a_host_that_passes_is_one_that_urls_can_have(name):
    """Whatever a list names without an error, a URL of that host is on it."""
    if find_host_problem(name) is None:
        assert explain_url_denial(f"https://{name.strip()}/", policy=[name], execution=[name]) is None


class Desks(Policy):
    """A policy with lists of a user's own."""

    severities: Annotated[tuple[str, ...], Tightens.among("low", "high")] = ("low", "high")
    mirrors: Hosts = ()


def test_lists_of_a_pattern_of_ones_own_are_checked_too():
    """`Tightens.among` and `Hosts` in the type of a field are all that it takes."""
    for wrong in ({"severities": ["hgih"]}, {"mirrors": ["https://a.example"]}):
        [field] = wrong
        with pytest.raises(ConfigurationError, match=f"^policy.{field}: "):
            triage(policy=Desks(**wrong))
        with pytest.raises(ConfigurationError, match=f"^context.policy.{field}: "):
            triage(policy=Desks()).invoke(TICKET, context={"policy": wrong})
    both = Desks().tightened_by(Desks(severities=["high"]))
    assert both.severities == ("high",)


def test_a_denied_source_is_not_read_though_both_lists_have_it():
    """One that is named stops the run; unnamed, it is left out of what is read."""
    retriever, context = scripted_tool([], loop=True), {"policy": {"denied_sources": ["support_policy"]}}
    stopped = agent(NAMED, retriever=retriever, policy=POLICY).invoke(QUESTION, context=context)
    assert (stopped["stop_reason"], stopped["phase"]) == ("source_denied_listed:support_policy", "retrieve")
    assert content(stopped) == {"intent": NAMED}
    assert retriever.calls == []
    result = agent(INTENT, retriever=retriever, policy=POLICY).invoke(QUESTION, context=context)
    assert result["outcome"] == "clarify"
    assert [call["sources"] for call in retriever.calls] == [sorted({*SOURCES} - {"support_policy"})] * 2


def test_lists_of_what_is_denied_only_grow():
    """A context adds to the deployment's and takes nothing away; one host in two spellings is one."""
    ours = RagPolicy(denied_sources=["a"]).tightened_by(RagPolicy(denied_sources=["b"]))
    assert ours.denied_sources == ("a", "b")
    hosts = ResearchPolicy(denied_domains=["a.example"])
    both = hosts.tightened_by(ResearchPolicy(denied_domains=[" A.example", "b.example"]))
    assert both.denied_domains == ("a.example", "b.example")
    assert hosts.compared(ResearchPolicy(denied_domains=["A.EXAMPLE"]))["denied_domains"] == "equal"
