"""What a reranker may do with candidates: put them in another order, and nothing else."""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from langchain_core.documents import BaseDocumentCompressor
from rag_agents import ANSWER, CANDIDATE, QUESTION, agent_with
from runs import check_result

from guardgraph import verify
from guardgraph.guards.rag import parse_ranking
from guardgraph.guards.stop import Stop
from guardgraph.state.rag import RAG_REASONS
from guardgraph.testing import scripted_tool

FOUND = [
    {**CANDIDATE, "doc_id": name, "text": f"The {name} team answers P1 within 15 minutes.", "score": score}
    for name, score in (("night", 0.9), ("day", 0.8), ("week", 0.7))
]
WAY = ["retrieve", "candidates_guard", "rerank", "context_guard"]


class Compressor(BaseDocumentCompressor):
    """A document compressor of LangChain's that turns the documents round, or changes them."""

    changed: str = ""
    seen: list[Any] = []  # noqa: RUF012 - a field of a pydantic model

    def compress_documents(self, documents, query, callbacks=None):
        """Return the documents, last first."""
        self.seen.append((query, [item.metadata["title"] for item in documents]))
        return [item.model_copy(update={"page_content": self.changed or item.page_content}) for item in documents[::-1]]


def backwards(request):
    """Turn the candidates round."""
    return request["candidates"][::-1]


def shown(reranker, found=FOUND, **settings):
    """Run an agent with a reranker; its result and the ids that its answerer saw."""
    answerer = scripted_tool({**ANSWER, "answer": "It is 15 minutes.", "citations": ["day"]}, loop=True)
    graph = agent_with(*found, answerer=answerer, reranker=reranker, **settings)
    assert verify(graph) == []
    result = check_result(RAG_REASONS, graph.invoke(QUESTION))
    return result, [chunk["doc_id"] for call in answerer.calls for chunk in call["context_chunks"]]


GIVEN = [{**item, "title": "", "section": "", "updated_at": ""} for item in FOUND]
TEXTS = st.sampled_from([*(item["text"] for item in GIVEN), "x", 5])
RETURNED = st.sampled_from([*GIVEN, *GIVEN, None]) | st.fixed_dictionaries(
    {"doc_id": st.sampled_from(["night", "x", None]), "text": TEXTS}
)


@settings(max_examples=150, deadline=None)
@given(st.lists(RETURNED, max_size=5) | st.integers())
def test_any_ranking(returned):
    """Whatever is returned: what passes are the candidates themselves, each once, and only those that were named."""
    try:
        ranked = parse_ranking(returned, candidates=GIVEN)
    except Stop as stop:
        if stop.reason != "tool_invalid_output:rerank":
            raise
        return
    assert all(any(item is given for given in GIVEN) for item in ranked)
    assert [item["doc_id"] for item in ranked] == list(dict.fromkeys(item["doc_id"] for item in returned))
