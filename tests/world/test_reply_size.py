"""`max_reply_bytes`: what a proposer or a tool brings is refused as soon as it is too large, and is kept nowhere."""

from __future__ import annotations

import itertools
import json
import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.messages import AIMessage
from langchain_core.runnables import RunnableLambda
from rag_agents import CANDIDATE, INTENT, POLICY, QUESTION, agent, agent_with
from recorded_runs import Kept, recorded
from research_cases import asked, hits, quotes, reads, research, vendor
from runs import MODES, run
from ticket_pattern import TICKET, triage

from guardgraph import (
    RagBudget,
    ResearchBudget,
    SelfCritiqueBudget,
    create_rag_agent,
    create_research_agent,
    replay,
    reply_bytes,
)
from guardgraph.grammar import Budget, Outcome
from guardgraph.plain.json import REPLY_BYTES
from guardgraph.testing import scripted_tool

LARGE = "x" * (REPLY_BYTES + 1)
DETAILS = {"cause": "max_reply_bytes", "limit": REPLY_BYTES}


class Endless(list):
    """A list that never ends."""

    def __iter__(self):
        return itertools.repeat("again")


class EndlessMapping(dict):
    """A dictionary that never ends."""

    def items(self):
        """Return one pair after another."""
        return ((f"{at:099}", at) for at in itertools.count())  # long keys: soon there are too many


def laughs():
    """Return a value of 41 lists that holds a million million texts."""
    value = ["ha"]
    for _ in range(40):
        value = [value, value]
    return value


def check(result, reason):
    """Assert that a run was refused for its size, and holds nothing of the reply."""
    assert (result["stop_reason"], result["details"]) == (reason, DETAILS)
    assert len(json.dumps(result)) < 5_000


PROPOSERS = {
    "a text of a model": RunnableLambda(lambda view: AIMessage(LARGE)),
    "blocks of a model": RunnableLambda(lambda view: AIMessage([{"type": "text", "text": LARGE[:-9]}, LARGE[:10]])),
    "a value of a Runnable": RunnableLambda(lambda view: {**INTENT, "note": [LARGE[:9], LARGE[9:]]}),
    "a value of a function": lambda view: {LARGE: 1},
    "many small texts": lambda view: {"kind": ["x"] * (REPLY_BYTES // 2)},
    "letters of two bytes": lambda view: "ä" * (REPLY_BYTES // 2),
    "a list without an end": lambda view: Endless([1]),
    "a mapping without an end": lambda view: EndlessMapping(a=1),
    "a list that holds itself twice, again and again": lambda view: laughs(),
}


@pytest.mark.paired
@pytest.mark.parametrize("mode", ["invoke", "ainvoke"])
@pytest.mark.parametrize("name", PROPOSERS)
def test_a_large_reply_is_a_bad_response(name, mode):
    """Whatever form a proposal has, it is refused by its size, and no part of it is kept."""
    kept = Kept()
    check(run(agent(planner=PROPOSERS[name], recorder=kept), QUESTION, mode), "llm_bad_response")
    assert len(kept.texts[0]) < 20_000


@pytest.mark.parametrize("mode", MODES)
def test_a_large_result_of_a_tool_is_invalid(mode):
    """A retriever and a search that bring too much are stopped, however they are run."""
    check(run(agent_with({**CANDIDATE, "text": LARGE}), QUESTION, mode), "tool_invalid_output:retrieve")
    search = create_research_agent(search=scripted_tool([{"url": LARGE}], loop=True))
    check(run(search, asked(), mode), "tool_invalid_output:search_sources")


@pytest.mark.parametrize("mode", ["invoke", "ainvoke"])
def test_each_of_several_calls_has_the_cap_for_itself(mode):
    """Pages that are read at once may be larger together; one that is too large alone stops the run."""
    page = {"title": "A page", "published_at": "", "body": "It says this. " * 100}
    parts = {"search": hits(*vendor("a", "b", "c")), "extractor": quotes(quote="It says this. It says this.")}
    budget = ResearchBudget(max_reply_bytes=2000)
    result = research(reader=reads(a=page, b=page, c=page), budget=budget, mode=mode, **parts)
    assert result["stop_reason"] != "tool_invalid_output:read_source", result
    large = {**page, "body": page["body"] * 2}
    result = research(reader=reads(a=page, b=large, c=page), budget=budget, mode=mode, **parts)
    assert (result["stop_reason"], result["details"]["limit"]) == ("tool_invalid_output:read_source", 2000)


@pytest.mark.parametrize("mode", ["invoke", "ainvoke"])
def test_a_context_tightens_the_cap(mode):
    """The smaller of the deployment's and the context's holds; the exact size passes, a byte less does not."""
    size = len(json.dumps(INTENT, separators=(",", ":")))
    for deployed, own, reason in ((size, None, "success"), (size - 1, REPLY_BYTES, "llm_bad_response")):
        budget, context = RagBudget(max_reply_bytes=deployed), own and {"budget": {"max_reply_bytes": own}}
        parts = {"planner": scripted_tool(INTENT), "retriever": scripted_tool([], loop=True)}
        graph = create_rag_agent(**parts, policy=POLICY, budget=budget)
        assert run(graph, QUESTION, mode, context=context)["stop_reason"] == reason
    tight = {"budget": {"max_reply_bytes": size - 1}}
    assert run(agent(), QUESTION, mode, context=tight)["stop_reason"] == "llm_bad_response"
    assert {budget().max_reply_bytes for budget in (Budget, RagBudget, ResearchBudget, SelfCritiqueBudget)} == {2**22}


def test_a_replay_under_a_smaller_cap_refuses_what_was_recorded():
    """It says the same as a live run with that cap."""
    tight, whole = Budget(max_reply_bytes=20), {"label": "bug", "why": "it says so"}
    reply = scripted_tool(whole, loop=True)
    live = recorded(lambda recorder: triage(reply, budget=tight, recorder=recorder))["result"]
    again = replay(triage(reply, budget=tight), recorded(lambda recorder: triage(reply, recorder=recorder)))
    assert (again["stop_reason"], again["details"]) == ("llm_bad_response", {"cause": "max_reply_bytes", "limit": 20})
    assert {key: live[key] for key in ("stop_reason", "details", "path")} == {
        key: again[key] for key in ("stop_reason", "details", "path")
    }


@pytest.mark.parametrize("name", ["a text of a model", "a value of a Runnable"])
def test_a_large_reply_is_not_copied(name):
    """What is refused was read where it lay."""
    proposer = PROPOSERS[name]
    graph = agent(planner=proposer)
    graph.invoke(QUESTION)
    tracemalloc.start()
    try:
        graph.invoke(QUESTION)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 3 * REPLY_BYTES


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**63 - 1) | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(st.text(), inner, max_size=5),
    max_leaves=20,
)


@given(JSON, st.integers(-3, 3))
def test_the_size_is_that_of_the_json_text(value, more):
    """Bytes in UTF-8, without blanks, as one would write it to a file."""
    kept = Outcome("value", value).settled().content
    most = max(0, len(json.dumps(kept, ensure_ascii=False, separators=(",", ":")).encode()) + more)
    assert Outcome("value", value).is_larger_than(most) == (more < 0)


@pytest.mark.parametrize("mode", ["invoke", "ainvoke"])
def test_whoever_is_called_may_ask_how_much_is_read(mode):
    """`reply_bytes` tells a client when to stop reading; inside another run's tool the smaller cap holds."""
    seen = []

    def duty(view):
        seen.append(reply_bytes())
        triage(lambda view: seen.append(reply_bytes()) or {"label": "bug"}).invoke(TICKET)
        return "Ada"

    result = run(triage(tool=duty, budget=Budget(max_reply_bytes=5000)), TICKET, mode)
    assert result["stop_reason"] == "success"
    assert (seen, reply_bytes()) == ([5000, 5000], None)
