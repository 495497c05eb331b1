"""The two allowlists and the budget of the RAG agent: at the point of use, per run, and again after a resume."""

from __future__ import annotations

import asyncio

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command, interrupt
from rag_agents import ANSWER, CANDIDATE, INTENT, NAMED, POLICY, QUESTION, SLA, SOURCES, agent, agent_with
from runs import check_result, content, masked

from guardgraph import ConfigurationError, LiveWorld, RagBudget, RagContext, RagPolicy, create_rag_agent
from guardgraph.state.rag import RAG_REASONS
from guardgraph.testing import Reply, ScriptedChatModel, ScriptedClock, scripted_tool

THREAD = {"configurable": {"thread_id": "1"}}


def switched_on(*sources):
    """Return the context of a run that reads these sources only."""
    return {"policy": {"allowed_sources_execution": list(sources)}}


def found(request):
    """Find one chunk in every source that is asked for."""
    return [{**CANDIDATE, "doc_id": name, "source": name} for name in request["sources"]]


def ask(graph, **kwargs):
    """Run the demo question, check the result and return it."""
    return check_result(RAG_REASONS, graph.invoke(QUESTION, **kwargs))


# Lists


@pytest.mark.parametrize("list_name", ["allowed_sources_policy", "allowed_sources_execution"])
def test_empty_lists_allow_nothing(list_name):
    """With an empty list nothing is retrieved: the retriever is not even called, and the run ends in clarify."""
    retriever = scripted_tool()
    graph = agent(retriever=retriever, policy=POLICY.model_copy(update={list_name: ()}))
    result = ask(graph)
    assert result["outcome"] == "clarify"
    assert result["trace"][0]["requested_sources"] == []
    assert retriever.calls == []


def test_empty_lists_refuse_every_name():
    """A name is refused by the empty policy list first, then by the empty execution list."""
    nothing = RagPolicy(allowed_sources_policy=[], allowed_sources_execution=[])
    assert ask(agent(NAMED, policy=nothing))["stop_reason"] == "invalid_intent:source_not_allowed:support_policy"
    off = RagPolicy(allowed_sources_execution=[])
    assert ask(agent(NAMED, policy=off))["stop_reason"] == "source_denied:support_policy"


def test_a_source_must_be_on_both_lists():
    """What is on one list only is not read, whether it is named or not."""
    policy = RagPolicy(allowed_sources_policy=["a", "b"], allowed_sources_execution=["b", "c"])
    retriever = scripted_tool(found, loop=True)
    assert ask(agent(retriever=retriever, policy=policy))["trace"][0]["requested_sources"] == ["b"]
    for name, reason in (("a", "source_denied:a"), ("c", "invalid_intent:source_not_allowed:c")):
        result = ask(agent({**INTENT, "sources": ["b", name]}, retriever=retriever, policy=policy))
        assert result["stop_reason"] == reason
    assert [call["sources"] for call in retriever.calls] == [["b"]] * 2


def test_the_first_denied_source_in_sorted_order():
    """Of several denied sources the first in sorted order is named, duplicates and blanks aside."""
    plan = {**INTENT, "sources": ["support_policy", " security_policy", "support_policy", "billing_policy"]}
    result = ask(agent(plan), context=switched_on("billing_policy"))
    assert result["stop_reason"] == "source_denied:security_policy"
    assert result["intent"]["sources"] == ["support_policy", "security_policy", "billing_policy"]


@pytest.mark.parametrize("name", ["x" * 80, "x" * 81, "x" * 5000])
def test_long_names(name):
    """A reason repeats 80 characters of a name; the evidence has it all."""
    plan = {**INTENT, "sources": [name]}
    result = ask(agent(plan))
    assert result["stop_reason"] == "invalid_intent:source_not_allowed:" + "x" * 80
    assert content(result)["raw_intent"] == plan
    denied = RagPolicy(allowed_sources_policy=[name], allowed_sources_execution=[])
    unlisted = scripted_tool(loop=True)  # a retriever that does not say which sources it has
    assert ask(agent(plan, retriever=unlisted, policy=denied))["stop_reason"] == "source_denied:" + "x" * 80


@pytest.mark.parametrize(
    "context",
    [
        switched_on(*SOURCES, "operations_notes"),
        {"policy": {"allowed_sources_policy": [*SOURCES, "operations_notes"]}},
        {"policy": {"check_values": False}},
        {"budget": {"max_top_k": 99, "max_query_chars": 999, "min_chunk_score": 0.0, "max_seconds": 99.0}},
        {"budget": {}, "policy": None},
        RagContext(policy=RagPolicy(check_values=False)),
    ],
)
def test_a_context_never_loosens(context):
    """What a context allows beyond the deployment changes nothing."""
    assert masked(ask(agent(), context=context)) == masked(ask(agent()))
    answer = {**ANSWER, "answer": "Within 20 minutes."}
    assert ask(agent(answer=answer), context=context)["unsupported"] == ["20 minutes"]
    plan = {**INTENT, "sources": ["operations_notes"]}
    reason = "invalid_intent:source_not_allowed:operations_notes"
    assert ask(agent(plan), context=context)["stop_reason"] == reason


@pytest.mark.parametrize(
    ("budget", "expected"),
    [
        ({"max_query_chars": 5}, "invalid_intent:query_too_long"),
        ({"max_top_k": 3}, "invalid_intent:top_k"),
        ({"min_chunk_score": 1.0}, "clarify"),
        ({"max_context_chunks": 0}, "clarify"),
        ({"max_context_chars": 10}, "clarify"),
        ({"max_seconds": 0.0}, "max_seconds"),
    ],
)
def test_a_context_tightens(budget, expected):
    """A context tightens the limits of one run, as the same budget of the factory does."""
    for result in (ask(agent(), context={"budget": budget}), ask(agent(budget=RagBudget(**budget)))):
        assert expected in (result["stop_reason"], result.get("outcome"))
    assert ask(agent())["outcome"] == "grounded_answer"


@pytest.mark.parametrize(
    "context",
    [
        {"policy": {"allowed_sources_execution": "support_policy"}},
        {"policy": {"allowed_sources_execution": None}},
        {"policy": {"allowed_sources_execution": {"support_policy": True}}},
        {"policy": {"allowed_sources_policy": ["support_policy", 5]}},
        {"policy": {"check_values": "yes"}},
        {"policy": {"allowed": []}},
        {"budget": {"max_top_k": "3"}},
        {"budget": {"max_seconds": float("nan")}},
        {"sources": []},
        "support_policy",
    ],
)
def test_a_wrong_context(context):
    """Wrong types and unknown fields in a context are an error before the run."""
    planner = scripted_tool()
    with pytest.raises(ConfigurationError):
        agent(planner=planner).invoke(QUESTION, context=context)
    assert planner.calls == []


# After a resume


def resumed(graph, before, context, mode="invoke"):
    """Interrupt a run before a node, and resume it under another context."""
    if mode == "invoke":
        graph.invoke(QUESTION, THREAD, interrupt_before=[before])
        return check_result(RAG_REASONS, graph.invoke(None, THREAD, context=context))

    async def both():
        await graph.ainvoke(QUESTION, THREAD, interrupt_before=[before])
        return await graph.ainvoke(None, THREAD, context=context)

    return check_result(RAG_REASONS, asyncio.run(both()))


@pytest.mark.parametrize("mode", ["invoke", "ainvoke"])
def test_a_source_switched_off_before_retrieval(mode):
    """A named source that was switched off between two nodes is denied where it would be read, and nothing is read."""
    retriever = scripted_tool()
    graph = agent(NAMED, retriever=retriever, policy=POLICY, checkpointer=InMemorySaver())
    result = resumed(graph, "retrieve", switched_on("billing_policy"), mode)
    assert (result["stop_reason"], result["phase"]) == ("source_denied:support_policy", "retrieve")
    assert content(result) == {"intent": NAMED}
    assert result["path"][-3:] == ["retrieve", "context_guard", "stop_source_denied"]
    assert retriever.calls == []


@pytest.mark.parametrize("before", ["plan", "policy_guard", "execution_guard", "retrieve"])
def test_sources_nobody_named(before):
    """Without names the sources that are on at the moment of retrieval are read, by query and by question."""
    retriever = scripted_tool(found, loop=True)
    answer = {"answer": "15 minutes", "citations": ["security_policy"]}
    graph = agent(answer=answer, retriever=retriever, policy=POLICY, checkpointer=InMemorySaver())
    result = resumed(graph, before, switched_on("security_policy"))
    asked = {"sources": ["security_policy"], "top_k": 4}
    queries = (INTENT["query"], QUESTION["question"])
    assert sorted(retriever.calls, key=str) == sorted([{"query": query, **asked} for query in queries], key=str)
    assert result["trace"][0]["requested_sources"] == ["security_policy"]
    assert result["outcome"] == "grounded_answer"


@pytest.mark.parametrize("before", ["context_guard", "generate"])
def test_a_source_switched_off_after_retrieval(before):
    """A chunk of a source that was switched off meanwhile is not shown to the model; the retriever is not to blame."""
    model = ScriptedChatModel(INTENT)
    graph = create_rag_agent(model, checkpointer=InMemorySaver())
    result = resumed(graph, before, switched_on("billing_policy"))
    assert (result["stop_reason"], result["phase"]) == ("source_denied:support_policy", "generate")
    assert [entry["phase"] for entry in result["trace"]] == ["retrieve"]
    assert len(model.calls) == 1


@pytest.mark.parametrize("tighter", [{"allowed_sources_policy": []}, {"allowed_sources_execution": []}])
def test_a_source_switched_off_before_the_answer_is_judged(tighter):
    """An answer from a source that was taken off either list meanwhile is not given."""
    result = resumed(agent(NAMED, checkpointer=InMemorySaver()), "answer_guard", {"policy": tighter})
    assert (result["stop_reason"], result["phase"]) == ("source_denied:support_policy", "generate")
    assert result["path"][-2:] == ["answer_guard", "stop_source_denied"]
    assert "answer" not in result


def test_a_source_taken_off_the_policy_list():
    """A source that the policy no longer allows is not read after a resume."""
    graph = agent(NAMED, checkpointer=InMemorySaver())
    result = resumed(graph, "retrieve", {"policy": {"allowed_sources_policy": ["billing_policy"]}})
    assert result["stop_reason"] == "source_denied:support_policy"


@pytest.mark.parametrize(
    ("before", "budget", "expected"),
    [
        ("retrieve", {"max_query_chars": 5}, "invalid_intent:query_too_long"),
        ("retrieve", {"max_seconds": 0.0}, "max_seconds"),
        ("context_guard", {"min_chunk_score": 1.0}, "clarify"),
        ("generate", {"max_seconds": 0.0}, "max_seconds"),
    ],
)
def test_a_budget_tightened_before_a_node(before, budget, expected):
    """A node obeys the budget of the moment at which it runs."""
    result = resumed(agent(checkpointer=InMemorySaver()), before, {"budget": budget})
    assert expected in (result["stop_reason"], result.get("outcome"))


def test_a_smaller_top_k_before_retrieval():
    """A ceiling that came down after the plan cuts what is asked for."""
    retriever = scripted_tool(found, loop=True)
    graph = agent(retriever=retriever, policy=POLICY, checkpointer=InMemorySaver())
    result = resumed(graph, "retrieve", {"budget": {"max_top_k": 1}})
    assert retriever.calls[0]["top_k"] == 1
    assert result["trace"][0]["candidates"] == 1


def test_active_time_is_summed_and_waiting_is_free():
    """Time counts while the run is active, over resumes; the time between them does not."""
    clock = ScriptedClock()

    def slow(request):
        clock.advance(4.5)  # for each of two queries
        return [CANDIDATE]

    model = ScriptedChatModel(Reply(INTENT, delay=12), {"answer": "15 minutes", "citations": ["a"]}, clock=clock)
    graph = create_rag_agent(
        model, retriever=slow, policy=POLICY, world=LiveWorld(clock=clock), checkpointer=InMemorySaver()
    )
    graph.invoke(QUESTION, THREAD, interrupt_before=["retrieve"])
    clock.advance(3600)
    result = check_result(RAG_REASONS, graph.invoke(None, THREAD))
    assert (result["stop_reason"], result["phase"]) == ("max_seconds", "generate")
    assert result["details"]["spent_seconds"] == 21.0


def test_a_person_as_planner():
    """A planner may wait for a person; the answer is judged like any proposal, and waiting is free."""
    clock = ScriptedClock()
    graph = agent(
        planner=lambda view: interrupt(view["question"]), world=LiveWorld(clock=clock), checkpointer=InMemorySaver()
    )
    waiting = graph.invoke(QUESTION, THREAD)
    assert waiting["__interrupt__"][0].value == QUESTION["question"]
    clock.advance(3600)
    result = check_result(RAG_REASONS, graph.invoke(Command(resume=NAMED), THREAD))
    assert result["history"][0]["intent"] == NAMED
    graph.invoke(QUESTION, THREAD)
    refused = check_result(RAG_REASONS, graph.invoke(Command(resume="the SLA, please"), THREAD))
    assert refused["stop_reason"] == "invalid_intent:not_object"


def test_nothing_of_an_earlier_run_appears():
    """On a reused thread every result is that of its run alone."""
    plans = [INTENT, {"kind": "x"}, {**INTENT, "query": "football"}, INTENT]
    graph = agent(planner=scripted_tool(*plans), checkpointer=InMemorySaver())
    results = [ask(graph, config=THREAD) for _ in plans]
    fresh = [ask(agent(plan)) for plan in plans]
    for result, expected in zip(results, fresh, strict=True):
        hide = {"proposer": "*"}
        for entry in (*result["history"], *expected["history"]):
            entry.update(hide)
        assert masked(result) == masked(expected)
    assert len({result["run_id"] for result in results}) == len(plans)
    assert ask(graph, config=THREAD, context={"budget": {"max_seconds": 0.0}})["trace"] == []
    assert results[0]["citations"] == [SLA]


def test_a_candidate_of_a_source_not_asked_for():
    """A retriever that reads what it was not asked to read stops the run, even if the policy allows the source."""
    result = ask(agent_with({**CANDIDATE, "source": "billing_policy"}, plan=NAMED))
    assert result["stop_reason"] == "tool_invalid_output:retrieve"
