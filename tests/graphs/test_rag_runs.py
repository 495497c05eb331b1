"""Whole runs of the RAG agent: what an ok run returns, what its proposers and its retriever see."""

import pytest
from guard_cases import DATA
from langchain_core.runnables import RunnableLambda
from rag_agents import ANSWER, CANDIDATE, INTENT, POLICY, QUESTION, SLA, SOURCES
from runs import LIMITS, check_result, content, masked
from tables import each_row

from guardgraph import ConfigurationError, create_rag_agent
from guardgraph.state.rag import RAG_REASONS
from guardgraph.testing import Reply, ScriptedChatModel, scripted_tool
from guardgraph.world.prompts import load_prompt

OFF_TOPIC = {"question": "Who won the football world cup in 1998?"}
USAGE = {"input_tokens": 30, "output_tokens": 12, "total_tokens": 42}
SLA_DETAILS = {"doc_id": SLA, "title": "Support Policy", "section": "Enterprise SLA", "source": "support_policy"}
ASKED = ["request_guard", "plan", "policy_guard", "execution_guard", "retrieve", "context_guard"]
SECRET = "The model's own words, 77 % of them."
ABSTAINING = [
    {"answer": "", "citations": [], "insufficient": True},
    {**ANSWER, "answer": SECRET, "insufficient": True},
    {"answer": None, "citations": "none", "insufficient": True, "note": SECRET},
]


def prompted(name):
    return f"{name}@{load_prompt(name, LIMITS).hash}"


def test_a_grounded_answer():
    """An answered run has these keys, this trace and this history, and nothing else."""
    model = ScriptedChatModel(
        Reply({**INTENT, "sources": ["support_policy", "billing_policy"]}, usage=USAGE),
        Reply({**ANSWER, "citations": [f" {SLA} ", "", SLA]}, usage=USAGE),
        model_name="m-1",
    )
    result = check_result(RAG_REASONS, create_rag_agent(model).invoke(QUESTION))
    [details] = result["citation_details"]
    candidates = result["history"][0]["retrieval"]["candidates"]
    cited = {**SLA_DETAILS, "updated_at": "2026-01-15", "score": candidates[0]["score"], "spans_by": "cited"}
    cited |= {"answer_spans": [[0, len(ANSWER["answer"])]], "document_span": details["document_span"]}
    cited["passage_span"] = [0, len(result["passages"][0]["text"])]
    told = {"citation_details": [cited], "passages": result["passages"]}
    assert content(result) == {"outcome": "grounded_answer", **ANSWER, **told}
    assert result["usage"] == {"calls": 2, "tool_calls": 2, "tokens": 84, "cost": None}
    assert result["asked_question"] == {"own": QUESTION["question"]}
    searched = {"query": INTENT["query"], "requested_sources": ["billing_policy", "support_policy"]}
    packed = {"candidates": len(candidates), "context_chunks": 2, "rejected_low_score": len(candidates) - 2}
    varies = {"ok": True, "elapsed_ms": "*"}
    assert masked(result["trace"]) == [
        {"step": 1, "phase": "retrieve", **searched, **packed, **varies},
        {"step": 2, "phase": "generate", "citation_count": 1, **varies},
    ]
    intent = {**INTENT, "sources": ["support_policy", "billing_policy"]}
    found = {"candidates": candidates, "context_chunks": [SLA, "doc_sla_standard_v2"]}
    about = {"proposer": "m-1", "usage": USAGE, "elapsed_ms": "*"}
    assert masked(result["history"]) == [
        {"step": 1, "intent": intent, "retrieval": found, "prompt": prompted("rag_plan"), **about},
        {"step": 2, "action": "compose_grounded_answer", **ANSWER, "prompt": prompted("rag_answer"), **about},
    ]
    assert result["path"] == [*ASKED, "generate", "answer_guard", "answered"]
    [passage] = result["passages"]
    assert (passage["doc_id"], "99.95%" in passage["text"]) == (SLA, True)
    assert candidates[0].keys() == {"doc_id", "source", "score"}


def test_clarify():
    """With nothing left the run ends in clarify: no second call, empty citations, the configured text."""
    model = ScriptedChatModel(Reply({**INTENT, "query": "football"}, usage=USAGE))
    clarification = "Please name a plan. " * 20
    result = check_result(RAG_REASONS, create_rag_agent(model, clarification=clarification).invoke(OFF_TOPIC))
    found_nothing = {"outcome": "clarify", "clarify_reason": "nothing_relevant", "best_score": 0.0}
    told = {"answer": clarification, "citations": [], "citation_details": [], "passages": []}
    assert content(result) == {**found_nothing, **told}
    retrieved, fallen_back = result["trace"]
    assert (retrieved["requested_sources"], retrieved["candidates"], retrieved["context_chunks"]) == (SOURCES, 0, 0)
    assert (fallen_back["phase"], fallen_back["reason"]) == ("fallback", "no_grounded_context")
    assert result["history"][0]["retrieval"] == {"candidates": [], "context_chunks": []}
    assert masked(result["history"][1]) == {"step": 2, "action": "fallback", "answer": clarification, "elapsed_ms": "*"}
    assert (result["path"], len(model.calls)) == ([*ASKED, "clarified"], 1)


def test_what_is_seen():
    """Planner, retriever and answerer see exactly what the contract names; only prompts go to a model beside it."""
    model = ScriptedChatModel({"kind": "retrieve", "query": " P1 "}, ANSWER)
    more = {"section": "S", "updated_at": "2026", "secret": "x"}
    found = [{**CANDIDATE, "doc_id": SLA, "text": " 99.95% monthly, 15 minutes, 24/7.\n", **more}]
    retriever = scripted_tool(found, loop=True)
    policy = POLICY.model_copy(update={"allowed_sources_policy": ("z", *reversed(SOURCES))})
    create_rag_agent(model, retriever=retriever, policy=policy).invoke({"question": " P1? "})
    assert retriever.calls == [{"query": "P1", "sources": SOURCES, "top_k": 4}]  # the question's own words
    assert [call.messages[1].content for call in model.calls] == [
        "\n".join(["Sources:", *(f"- {name}" for name in [*SOURCES, "z"]), "", "Question: P1?"]),
        f"[1] S (2026)\n{found[0]['text'].strip()}\n\nQuestion: P1?",
    ]
    prompts = [call.messages[0].content for call in model.calls]
    assert prompts == [load_prompt("rag_plan", LIMITS).text, load_prompt("rag_answer", LIMITS).text]


def test_a_folder_as_knowledge_base():
    """A folder brings its first-level folders as both lists, in chunks that fit the context."""
    planner = scripted_tool({**INTENT, "query": "Enterprise workspaces monthly uptime", "sources": ["support"]})
    graph = create_rag_agent(knowledge_base=DATA / "handbook", planner=planner)
    result = check_result(RAG_REASONS, graph.invoke({"question": "What uptime are Enterprise workspaces promised?"}))
    assert (result["outcome"], "99.95%" in result["answer"]) == ("grounded_answer", True)
    assert result["citations"] == ["support/sla.md#enterprise.1"]
    assert planner.calls[0]["available_sources"] == ["billing", "handbook", "security", "support"]


@each_row(
    ("given", "named"),
    ({"policy": {}}, "policy"),
    ({"clarification": " "}, "clarification"),
    ({"knowledge_base": "no such folder"}, "no such folder"),
    ({"retriever": "index"}, "retriever"),
    ({"sources": ["support_policy"]}, "the demo base, which says it itself"),
    ({"retriever": len}, "allowed_sources_policy and allowed_sources_execution"),
    ({"planner": {}}, "planner"),
    ({"model": 5}, "model"),
)
def test_a_wrong_argument(given, named):
    with pytest.raises(ConfigurationError, match=named):
        create_rag_agent(**given)


@pytest.mark.paired
@pytest.mark.parametrize("given", ABSTAINING, ids=["as the prompt says", "with an answer", "malformed beside it"])
@pytest.mark.parametrize("who", ["model", "function", "runnable"])
def test_an_answerer_may_abstain(who, given):
    """The run ends as a clarification with the deployment's text and none of the model's, whatever stands beside."""
    answerer = {"model": None, "function": scripted_tool(given), "runnable": RunnableLambda(lambda view: given)}[who]
    model = ScriptedChatModel(INTENT, Reply(given, usage=USAGE)) if who == "model" else None
    graph = create_rag_agent(model, answerer=answerer, clarification="Ask us.")
    result = check_result(RAG_REASONS, graph.invoke(QUESTION))
    assert (result["outcome"], result["answer"]) == ("clarify", "Ask us.")
    assert [result[key] for key in ("citations", "citation_details", "passages")] == [[], [], []]
    assert result["clarify_reason"] == "answerer_abstained"
    assert (result["path"][-3:], "own words" in str(result)) == (["generate", "answer_guard", "clarified"], False)
    assert result["timeline"][-3]["proposal"] == {"insufficient": True}
