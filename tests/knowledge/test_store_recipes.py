"""The recipes for stores that people have: each caller finds what they may read; the traps are there."""

import asyncio
import warnings

import pytest
from cli_runs import ROOT
from docs_parts import fences
from guarded_stores import SureEmbedding
from langchain_core.documents import Document
from langchain_finds import SIZE
from sqlalchemy import create_engine

from guardgraph import Caller, LangChainRetriever, create_rag_agent

RECIPES = {}
with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # langchain-community says that it will move
    for fence in fences(ROOT / "docs" / "stores.md"):
        if fence.info == "python no-run":
            exec(fence.code, RECIPES)
SOURCES = ["kb", "other"]
pytestmark = pytest.mark.filterwarnings("ignore")
ROWS = [
    ("ours", "acme", ["group:support"], "P1 incidents are answered within 15 minutes."),
    ("all", None, ["public"], "P1 incidents are explained on the status page."),
    ("none", "acme", [], "P1 incidents are answered by nobody."),
    *[(f"foreign-{at}", "other", ["tenant"], f"When are P1 incidents answered? {at}") for at in range(300)],
]
QUESTION = {"question": "When are P1 incidents answered?"}
CALLERS = [({"tenant": "acme", "groups": ["support"]}, {"ours", "all"}), ({"tenant": "acme"}, {"all"}), (None, {"all"})]


def documents():
    return [
        Document(text, metadata=RECIPES["metadata"](name, "kb", tenant, readers))
        for name, tenant, readers, text in ROWS
    ]


def assert_guarded(found):
    """Each caller finds what they may read, among 300 nearer ones of another tenant, and the agent answers."""
    for caller, expected in CALLERS:
        request = {"query": QUESTION["question"], "sources": ["kb"], "top_k": 4}
        hits = found.invoke(request if caller is None else {**request, "caller": caller})
        assert {hit["doc_id"] for hit in hits} == expected
    result = create_rag_agent(retriever=found).invoke(QUESTION, context={"caller": CALLERS[0][0]})
    assert (result["outcome"], result["citations"][0]) == ("grounded_answer", "ours")


@pytest.fixture(scope="module")
def server(new_postgres):
    engine = create_engine(new_postgres().replace("postgresql://", "postgresql+psycopg://"))
    yield engine
    engine.dispose()


def test_pgvector(server):
    """Its filter is in SQL; `$in` on a list finds nothing, an id is one for all collections, `ainvoke` is refused."""
    store = RECIPES["pgvector"](SureEmbedding(), server)
    RECIPES["add"](store, documents(), "kb")
    found = RECIPES["retriever"](store, SOURCES)
    assert_guarded(found)
    listed = {"filter": {"readers": {"$in": ["public", "tenant"]}}}
    assert store.similarity_search("P1 incidents", **listed) == []
    with pytest.raises(AssertionError):
        asyncio.run(found.ainvoke({"query": "P1", "sources": ["kb"], "top_k": 4}))
    from langchain_postgres import PGVector

    other = PGVector(SureEmbedding(), connection=server, collection_name="second", use_jsonb=True)
    other.add_documents([Document("P1", metadata={})], ids=["kb/ours"])
    left = store.similarity_search("P1 answered within 15 minutes", k=400)
    assert "ours" not in {hit.metadata.get("id") for hit in left}


def test_faiss():
    """Told to look at all it finds; not told, the adapter looks at more, and no neighbours make a false clarify."""
    store = RECIPES["faiss_store"](SureEmbedding(), SIZE)
    store.add_documents(documents())
    assert_guarded(RECIPES["faiss_retriever"](store, SOURCES))
    assert store.similarity_search("P1", **RECIPES["allowed"](Caller(tenant="acme"), ["kb"])) == []
    assert_guarded(LangChainRetriever(store, sources=SOURCES, access=RECIPES["allowed"], relevance=RECIPES["cosine"]))


def test_bm25_swallows_a_filter_and_the_run_stops():
    """What a caller may not read comes back from it, and is given to nobody."""
    from langchain_community.retrievers import BM25Retriever

    bm25 = BM25Retriever.from_documents(documents())
    found = LangChainRetriever(bm25, sources=SOURCES, access=RECIPES["allowed"], metadata={"score": lambda _: 1.0})
    result = create_rag_agent(retriever=found).invoke(QUESTION, context={"caller": CALLERS[0][0]})
    assert result["stop_reason"].startswith("tool_invalid_output:retrieve")
    assert "foreign" not in str(result)


def test_an_ensemble_has_the_score_of_the_words():
    """Where all may read all, the order is the ensemble's, and a question about something else clarifies."""
    rows = [Document(text, metadata={"id": name, "source": "kb"}) for name, _, _, text in ROWS[:3]]
    store = RECIPES["faiss_store"](SureEmbedding(), SIZE)
    store.add_documents(rows)
    agent = create_rag_agent(retriever=RECIPES["ensemble"](rows, store, ["kb"]))
    assert agent.invoke(QUESTION)["outcome"] == "grounded_answer"
    assert agent.invoke({"question": "Who won the cup in Brazil?"})["outcome"] == "clarify"
