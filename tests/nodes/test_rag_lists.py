"""The two allowlists and the budget of the RAG agent: at the point of use, per run, and again after a resume."""

from langgraph.checkpoint.memory import InMemorySaver
from rag_agents import ANSWER, CANDIDATE, INTENT, NAMED, POLICY, QUESTION, SOURCES, agent
from runs import THREAD, check_result, masked
from tables import each_row

from guardgraph import RagContext, RagPolicy, create_rag_agent
from guardgraph.state.rag import RAG_REASONS
from guardgraph.testing import ScriptedChatModel, scripted_tool


def switched_on(*sources):
    return {"policy": {"allowed_sources_execution": list(sources)}}


def found(request):
    return [{**CANDIDATE, "doc_id": name, "source": name} for name in request["sources"]]


def ask(graph, **kwargs):
    return check_result(RAG_REASONS, graph.invoke(QUESTION, **kwargs))


@each_row("list_name", "allowed_sources_policy", "allowed_sources_execution")
def test_empty_lists_allow_nothing(list_name):
    """With an empty list nothing is retrieved: the retriever is not even called, and the run ends in clarify."""
    retriever = scripted_tool()
    graph = agent(retriever=retriever, policy=POLICY.model_copy(update={list_name: ()}))
    result = ask(graph)
    assert (result["outcome"], result["trace"][0]["requested_sources"], retriever.calls) == ("clarify", [], [])


@each_row(
    "context",
    switched_on(*SOURCES, "operations_notes"),
    {"policy": {"allowed_sources_policy": [*SOURCES, "operations_notes"]}},
    {"budget": {"max_top_k": 99, "max_query_chars": 999, "min_chunk_score": 0.0, "max_seconds": 99.0}},
    RagContext(policy=RagPolicy(check_values=False)),
)
def test_a_context_never_loosens(context):
    assert masked(ask(agent(), context=context)) == masked(ask(agent()))
    answer = {**ANSWER, "answer": "Within 20 minutes."}
    assert ask(agent(answer=answer), context=context)["unsupported"] == ["20 minutes"]
    plan = {**INTENT, "sources": ["operations_notes"]}
    reason = "invalid_intent:source_not_allowed:operations_notes"
    assert ask(agent(plan), context=context)["stop_reason"] == reason


def resumed(graph, before, context):
    graph.invoke(QUESTION, THREAD, interrupt_before=[before])
    return check_result(RAG_REASONS, graph.invoke(None, THREAD, context=context))


@each_row("before", "plan", "policy_guard", "execution_guard", "retrieve")
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


def test_a_source_switched_off_after_retrieval():
    """A chunk of a source that is off by now is shown to no model, and no answer from it is given."""
    for before in ("context_guard", "generate"):
        model = ScriptedChatModel(INTENT)
        graph = create_rag_agent(model, checkpointer=InMemorySaver())
        result = resumed(graph, before, switched_on("billing_policy"))
        assert (result["stop_reason"], result["phase"]) == ("source_denied:support_policy", "generate")
        assert ([entry["phase"] for entry in result["trace"]], len(model.calls)) == (["retrieve"], 1)
    for tighter in ("allowed_sources_policy", "allowed_sources_execution"):
        graph = agent(NAMED, checkpointer=InMemorySaver())
        result = resumed(graph, "answer_guard", {"policy": {tighter: []}})
        assert (result["stop_reason"], result["phase"]) == ("source_denied:support_policy", "generate")
        assert result["path"][-2:] == ["answer_guard", "stop_source_denied"]
        assert "answer" not in result


@each_row(
    ("before", "budget", "expected"),
    ("retrieve", {"max_query_chars": 5}, "invalid_intent:query_too_long"),
    ("retrieve", {"max_seconds": 0.0}, "max_seconds"),
    ("context_guard", {"min_chunk_score": 1.0}, "clarify"),
    ("generate", {"max_seconds": 0.0}, "max_seconds"),
)
def test_a_budget_tightened_before_a_node(before, budget, expected):
    result = resumed(agent(checkpointer=InMemorySaver()), before, {"budget": budget})
    assert expected in (result["stop_reason"], result.get("outcome"))
