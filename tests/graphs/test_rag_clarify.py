"""Runs that ask for clarification: because nothing relevant was found, or because the answerer abstained."""

from __future__ import annotations

import pytest
from langchain_core.runnables import RunnableLambda
from rag_agents import ANSWER, CANDIDATE, INTENT, QUESTION, agent_with
from runs import check_result, masked

from guardgraph import create_rag_agent
from guardgraph.graphs.rag import CLARIFICATION
from guardgraph.state.rag import RAG_REASONS
from guardgraph.testing import Reply, ScriptedChatModel, scripted_tool

SECRET = "The model's own words, 77 % of them."
ABSTAINING = {
    "as the prompt says": {"answer": "", "citations": [], "insufficient": True},
    "the key alone": {"insufficient": True},
    "with an answer": {**ANSWER, "answer": SECRET, "insufficient": True},
    "malformed beside it": {"answer": None, "citations": "none", "insufficient": True, "note": SECRET},
    "cites what it was not shown": {"answer": SECRET, "citations": ["z"], "insufficient": True},
}
USAGE = {"input_tokens": 30, "output_tokens": 12, "total_tokens": 42}


@pytest.mark.paired
@pytest.mark.parametrize("case", ABSTAINING)
@pytest.mark.parametrize("who", ["model", "function", "runnable"])
def test_an_answerer_may_abstain(who, case):
    """The run ends as a clarification with the deployment's text and none of the model's, whatever stands beside."""
    given = ABSTAINING[case]
    answerer = {"model": None, "function": scripted_tool(given), "runnable": RunnableLambda(lambda view: given)}[who]
    model = ScriptedChatModel(INTENT, Reply(given, usage=USAGE)) if who == "model" else None
    graph = create_rag_agent(model, answerer=answerer, clarification="Ask us.")
    result = check_result(RAG_REASONS, graph.invoke(QUESTION))
    assert (result["status"], result["stop_reason"], result["outcome"]) == ("ok", "success", "clarify")
    assert (result["answer"], result["citations"], result["citation_details"], result["passages"]) == (
        "Ask us.",
        [],
        [],
        [],
    )
    assert result["clarify_reason"] == "answerer_abstained"
    assert result["path"][-3:] == ["generate", "answer_guard", "clarified"]
    assert "own words" not in str(result)
    assert result["timeline"][-3]["proposal"] == {"insufficient": True}


def test_what_an_abstention_leaves_behind():
    """The trace says why, history has the clarification and who abstained, and the score says how near the best was."""
    found = [{**CANDIDATE, "score": 0.3}, {**CANDIDATE, "doc_id": "b", "score": 0.62}, {**CANDIDATE, "doc_id": "c"}]
    graph = agent_with(*found, answer={"insufficient": True})
    result = masked(check_result(RAG_REASONS, graph.invoke(QUESTION)))
    assert result["best_score"] == 0.62
    assert result["trace"][1] == {
        "step": 2,
        "phase": "fallback",
        "reason": "answerer_abstained",
        "ok": True,
        "elapsed_ms": "*",
    }
    step = {"step": 2, "action": "fallback", "answer": CLARIFICATION, "elapsed_ms": "*"}
    assert result["history"][1] == {**step, "proposer": "ScriptedTool"}
