"""The question is searched as well: what an intent's query finds is one list with what the question finds."""

from __future__ import annotations

from rag_agents import CANDIDATE, POLICY

from guardgraph import create_rag_agent
from guardgraph.guards.rag import list_queries, merge_found

QUESTION = {"question": "What is the P1 first response target?"}


def test_a_bad_query_costs_no_passage():
    """A model that searches for something else is still shown what the question finds; the list and scores are one."""
    asked = []

    def retriever(request):
        asked.append(request["query"])
        return (
            [{**CANDIDATE, "score": 0.9}]
            if "P1" in request["query"]
            else [{**CANDIDATE, "doc_id": "b", "text": "Fees."}]
        )

    intent = {"kind": "retrieve", "query": "holiday fees"}
    answer = {"answer": "15 minutes.", "citations": ["a"]}
    agent = create_rag_agent(
        planner=lambda view: intent, answerer=lambda view: answer, retriever=retriever, policy=POLICY
    )
    result = agent.invoke(QUESTION)
    assert result["outcome"] == "grounded_answer"
    assert sorted(asked) == ["What is the P1 first response target?", "holiday fees"]
    found = result["history"][0]["retrieval"]["candidates"]
    assert {item["doc_id"]: item["score"] for item in found} == {"a": 0.9, "b": CANDIDATE["score"]}


def test_ranks_are_merged_and_scores_stay():
    """What both find comes first, with the higher of its scores; `top_k` holds for the merged list."""
    a, b, c = ({"doc_id": name, "text": name, "score": score} for name, score in (("a", 0.5), ("b", 0.4), ("c", 0.9)))
    merged = merge_found([[a, b], [c, {**b, "score": 0.6}]], 3)
    assert merged == [{**b, "score": 0.6}, a, c]
    assert merge_found([[a, b], [c]], 2) == [a, c]
    assert merge_found([["odd", 5, None], [{}]], 9) == ["odd", {}, 5, None]


def test_the_questions_own_words_are_searched_once():
    """Case and punctuation make no other query."""
    assert list_queries("what is P1", "What is P1?") == ["what is P1"]
    assert list_queries("P1", "What is P1?") == ["P1", "What is P1?"]
