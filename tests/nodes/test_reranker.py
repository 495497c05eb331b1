"""A reranker orders what was found anew or leaves some of it out; whatever else it does stops the run."""

from typing import Any

import pytest
from langchain_core.documents import BaseDocumentCompressor
from langgraph.checkpoint.memory import InMemorySaver
from rag_agents import ANSWER, CANDIDATE, FOUND, POLICY, QUESTION, agent_with
from runs import BOTH, THREAD, check_result, run
from tables import each_row

from guardgraph import verify
from guardgraph.state.rag import RAG_REASONS
from guardgraph.testing import scripted_tool

WAY = ["retrieve", "candidates_guard", "rerank", "context_guard"]


class Compressor(BaseDocumentCompressor):
    """A document compressor of LangChain's that turns the documents round, or changes them."""

    changed: str = ""
    seen: list[Any] = []  # noqa: RUF012 - a field of a pydantic model

    def compress_documents(self, documents, query, callbacks=None):
        self.seen.append((query, [item.metadata["title"] for item in documents]))
        return [item.model_copy(update={"page_content": self.changed or item.page_content}) for item in documents[::-1]]


def answering():
    return scripted_tool({**ANSWER, "answer": "It is 15 minutes.", "citations": ["day"]}, loop=True)


def shown(reranker, found=FOUND, **settings):
    """Run an agent with a reranker; its result and the ids that its answerer saw."""
    answerer = answering()
    graph = agent_with(*found, answerer=answerer, reranker=reranker, **settings)
    assert verify(graph) == []
    result = check_result(RAG_REASONS, graph.invoke(QUESTION))
    return result, [chunk["doc_id"] for call in answerer.calls for chunk in call["context_chunks"]]


def test_another_order():
    """The context has the reranker's order; scores stay the retriever's; the run says both orders."""
    result, ids = shown(lambda request: request["candidates"][::-1])
    assert (ids, result["citation_details"][0]["score"]) == (["week", "day", "night"], 0.8)
    retrieval = result["history"][0]["retrieval"]
    assert [item["doc_id"] for item in retrieval["candidates"]] == ["night", "day", "week"]
    assert retrieval["reranked"] == result["trace"][0]["reranked"] == ["week", "day", "night"]
    assert [name for name in result["path"] if name in WAY] == WAY


def test_it_sees_the_query_and_the_candidates_and_nothing_else():
    """A reranker is shown the query and each candidate with its text, but not who may read it; irrelevant ones too."""
    reranker = scripted_tool([])
    shown(reranker, [*FOUND, {**CANDIDATE, "doc_id": "low", "score": 0.05}])
    [call] = reranker.calls
    assert call.keys() == {"query", "candidates"}
    keys = {"doc_id", "source", "title", "section", "updated_at", "text", "score"}
    assert [item.keys() for item in call["candidates"]] == [keys] * 4


STOP = "tool_invalid_output:rerank"
NOT_GIVEN = [*FOUND, {**FOUND[0], "doc_id": "other"}]
CHANGED = [{**FOUND[0], "text": f"{FOUND[0]['text']} "}]


@each_row("returned", None, {}, ["night"], [{"doc_id": "night"}], NOT_GIVEN, CHANGED)
def test_it_may_neither_add_nor_change(returned):
    result, ids = shown(lambda request: returned)
    assert (result["stop_reason"], ids, [*result["details"]]) == (STOP, [], ["allowed", "given"])


@pytest.mark.parametrize("mode", BOTH)
def test_a_compressor_of_langchains(mode):
    """A document compressor is asked with documents, sync and async; one that changes a text stops the run."""
    compressor = Compressor(seen=[])
    found = [{**item, "title": item["doc_id"].title()} for item in FOUND]
    result = run(agent_with(*found, answerer=answering(), reranker=compressor), QUESTION, mode=mode)
    assert result["trace"][0]["reranked"] == ["week", "day", "night"]
    assert compressor.seen == [("enterprise SLA P1 first response", ["Night", "Day", "Week"])]
    changing = agent_with(*found, reranker=Compressor(changed="P1 within 5 minutes."))
    assert run(changing, QUESTION, mode=mode)["stop_reason"] == "tool_invalid_output:rerank"


def test_a_source_that_was_switched_off_reaches_no_reranker():
    """Between retrieval and reranking a source was switched off: the run stops before anybody sees its texts."""
    reranker = scripted_tool([])
    graph = agent_with(*FOUND, reranker=reranker, policy=POLICY, checkpointer=InMemorySaver())
    graph.invoke(QUESTION, THREAD, interrupt_before=["rerank"])
    result = graph.invoke(None, THREAD, context={"policy": {"allowed_sources_execution": ["billing_policy"]}})
    assert (result["stop_reason"], reranker.calls) == ("source_denied:support_policy", [])
