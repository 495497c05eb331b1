"""Vector stores, retrievers and tools of LangChain's as retriever, search and reader."""

import asyncio
import json

import pandas
import pytest
from langchain_classic.retrievers import EnsembleRetriever
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever
from langchain_core.tools import tool
from langchain_core.vectorstores import InMemoryVectorStore
from langchain_finds import QUESTION, ROWS, SOURCES, ListRetriever, WordEmbedding, documents, scored_store, store
from tables import each_row

from guardgraph import ConfigurationError, LangChainRetriever, create_rag_agent, create_research_agent
from guardgraph.tools.demo import load_research_demo
from guardgraph.tools.recordings import make_recorded_extractor, make_recorded_reader, make_recorded_search

SCORED = [{"doc_id": name, "source": source, "text": text, "score": 0.5} for name, source, text in ROWS[:2]]


def ask(retriever, *, sources=SOURCES, question=QUESTION, **kwargs):
    agent = create_rag_agent(retriever=retriever, sources=sources, **kwargs)
    result, other = agent.invoke(question), asyncio.run(agent.ainvoke(question))
    for key in ("stop_reason", "outcome", "details", "citation_details", "best_score"):
        assert result.get(key) == other.get(key)
    return result


def refused(retriever, **kwargs):
    result = ask(retriever, **kwargs)
    assert result["stop_reason"] == "tool_invalid_output:retrieve", result
    return result["details"]


def one(**metadata):
    """Return a retriever of one document with this metadata beside an id, a source and a score."""
    return ListRetriever(found=[Document(ROWS[0][2], metadata={"id": "a", "source": "pay", "score": 0.9} | metadata)])


def test_a_vector_store_answers_with_its_metadata_and_its_similarity():
    """A vector store and the names of its sources make an agent, whose citations have the metadata and a score."""
    found = store(ROWS[:1], title="Travel rules", section="Hotels", updated_at="2026-03-06")
    result = ask(found)
    assert result["answer"] == "Hotels are booked at most 30 days ahead."
    [cited] = result["citation_details"]
    score = cited.pop("score")
    about = {"source": "travel", "title": "Travel rules", "section": "Hotels", "updated_at": "2026-03-06"}
    spans = {"answer_spans": [[0, 40]], "spans_by": "cited", "document_span": [0, 40], "passage_span": [0, 40]}
    assert cited == {"doc_id": "hotels", **about, **spans}
    assert score == pytest.approx(found.similarity_search_with_score(QUESTION["question"])[0][1])


def test_documents_of_other_sources_never_come_through():
    """What is not allowed now is not found, and a store is asked for more until there is enough of what is."""
    many = [(f"t{number}", "travel", f"Hotels are booked ahead, says rule {number}.") for number in range(40)]
    rows = [*many, ("badge", "office", "Visitors wear a badge.")]
    context = {"policy": {"allowed_sources_execution": ["office"]}}
    result = create_rag_agent(retriever=store(rows), sources=SOURCES).invoke(QUESTION, context=context)
    assert result["outcome"] == "clarify"
    request = {"query": QUESTION["question"], "sources": ["office"], "top_k": 2}
    [found] = LangChainRetriever(store(rows), sources=SOURCES).invoke(request)
    assert (found["doc_id"], found["source"]) == ("badge", "office")


@pytest.mark.filterwarnings("ignore:Relevance scores must be between")
@pytest.mark.parametrize("score", [1.2, -0.2, float("nan"), "high"])
def test_a_score_that_is_no_relevance_is_left_out_by_name(score):
    """A distance, a cosine below 0, NaN or no number at all: what is required, and how to get it."""
    details = refused(scored_store(score))
    assert details["place"] == "found.0.score"
    assert ("from 0 to 1" in details["allowed"], "relevance=" in details["allowed"]) == (True, True)
    assert "hotels" in details["given"]
    if score != 1.2:  # above a good one it is how distances rise
        retrieval = ask(scored_store(0.9, score))["history"][0]["retrieval"]
        assert [item["doc_id"] for item in retrieval["candidates"]] == ["hotels"]
        assert [item["place"] for item in retrieval["left_out"]] == ["found.1.score"]


class AwaitedRetriever(BaseRetriever):
    def _get_relevant_documents(self, query, *, run_manager):
        raise NotImplementedError

    async def _aget_relevant_documents(self, query, *, run_manager):
        return documents()[:2]


class AwaitedStore(InMemoryVectorStore):
    def similarity_search_with_score(self, query, k=4, **kwargs):
        raise NotImplementedError

    async def asimilarity_search_with_score(self, query, k=4, **kwargs):
        return await asyncio.to_thread(super().similarity_search_with_score, query, k)


async def awaited(asked):
    return SCORED


def test_what_can_only_be_awaited_is_awaited():
    """A retriever, a store and a function without a sync side serve sync runs too."""
    assert ask(LangChainRetriever(awaited, sources=SOURCES), sources=None)["citations"] == ["hotels"]
    assert ask(AwaitedStore.from_documents(documents(), WordEmbedding()))["citations"] == ["hotels"]
    found = LangChainRetriever(AwaitedRetriever(), sources=SOURCES, metadata={"score": lambda document: 0.9})
    assert ask(found, sources=None)["citations"] == ["hotels"]


def test_a_retriever_carries_its_scores_in_the_metadata():
    """Documents say their relevance, a reranker's first; else that of words over what came back counts."""
    found = documents(score=0.4)
    found[0].metadata["relevance_score"] = 0.9
    result = ask(ListRetriever(found=found))
    assert [item["score"] for item in result["history"][0]["retrieval"]["candidates"]] == [0.9, 0.4, 0.4, 0.4, 0.4]
    both = [ListRetriever(found=documents()), store().as_retriever()]
    for scoreless in (*both, EnsembleRetriever(retrievers=both, weights=[0.5, 0.5])):
        result = ask(scoreless)
        assert result["answer"] == "Hotels are booked at most 30 days ahead."
        assert 0.2 < result["citation_details"][0]["score"] < 1
        assert ask(scoreless, question={"question": "What is for lunch on Friday?"})["outcome"] == "clarify"


OWN = {"doc_id": "a", "source": "kb", "text": ROWS[0][2], "score": 0.9}


@each_row("change", None, {"text": ""}, {"score": float("nan")}, {"doc_id": pandas.NA}, {"score": 7.5})
def test_one_unusable_candidate_of_a_function_ends_no_run(change):
    """A function's candidate that cannot be used is left out, counted and named; alone it is the retriever's fault."""
    beside = 5 if change is None else {**OWN, "doc_id": "b", **change}
    result = ask(lambda request: [beside, OWN], sources=["kb"])
    assert (result["outcome"], result["citations"]) == ("grounded_answer", ["a"])
    [told] = result["history"][0]["retrieval"]["left_out"]
    assert told["allowed"]
    assert result["trace"][0]["left_out"] == 1
    assert refused(lambda request: [beside], sources=["kb"])["allowed"] == told["allowed"]


@each_row(
    ("metadata", "place", "said"),
    ({"source": None}, "found.0.metadata.source", "nothing; the metadata has"),
    ({"id": " "}, "found.0.metadata.id or doc_id", "' '"),
    ({"title": ["x"]}, "found.0.metadata.title", "['x'], in the document 'a'"),
    ({"score": -0.1}, "found.0.metadata.relevance_score or score", "-0.1"),
)
def test_what_is_missing_or_wrong_is_said_by_name(metadata, place, said):
    """Where no document can be used, the run stops with the key, the document and what is allowed."""
    details = refused(one(**metadata))
    assert details["place"] == place
    assert said in details["given"]


def test_a_document_that_may_not_be_seen_is_not_shown_in_an_error():
    """What is wrong with a document of another source is nobody's business, and errors never repeat a text."""
    found = [Document("The code is 4711.", metadata={"source": "secret"}), *documents(ROWS[:1], score="high")]
    details = refused(ListRetriever(found=found), sources=["travel"])
    assert "4711" not in json.dumps(details)
    assert details["place"].startswith("found.1.")


@each_row("give", lambda found: found, json.dumps, lambda found: {"results": found})
def test_a_tool_may_take_our_request_or_the_query_alone(give):
    """A tool is handed the arguments that it has, and returns dictionaries, or the JSON text of them."""

    def find(query: str, sources: list[str], top_k: int) -> object:
        """Find."""
        assert (sources, top_k) == (SOURCES, 6)
        return give(SCORED)

    def look(question: str, language: str = "en") -> object:
        """Look."""
        assert (question, language) == (QUESTION["question"], "en")
        return give(SCORED)

    for function in (find, look):
        assert ask(tool(function))["citations"] == ["hotels"]


def test_a_tool_that_wants_more_is_refused_at_once():
    """A tool with arguments that nobody has is an error when the agent is made, and names them."""

    @tool
    def ours(query: str, tenant: str) -> object:
        """Look."""

    with pytest.raises(ConfigurationError, match=r"retriever: .*'ours', which takes query, tenant"):
        create_rag_agent(retriever=ours, sources=SOURCES)
    with pytest.raises(ConfigurationError, match=r"search: .*'ours', which takes query, tenant"):
        create_research_agent(search=ours)


@each_row(
    ("arguments", "said"),
    ({"sources": ["pay"], "knowledge_base": "docs"}, "sources: .* a knowledge_base"),
    ({"sources": [], "retriever": store()}, r"sources: .* at least one; given: \[\]"),
    ({"sources": "pay", "retriever": store()}, "sources: a list of strings; given: 'pay'"),
    ({"retriever": store()}, "sources: .* or a policy with allowed_sources_policy and allowed_sources_execution"),
    ({"sources": ["pay"], "retriever": LangChainRetriever(store(), sources=["pay"])}, "sources: .*itself .*pay"),
    ({"retriever": store(), "knowledge_base": "docs"}, "retriever, knowledge_base: give one of them"),
    ((store(), {"metadata": {"page": "x"}}), "metadata: .* doc_id, source, title"),
    ((store(), {"search_kwargs": {"filter": 1}}), "search_kwargs: a function"),
    ((len, {"search_kwargs": lambda sources: {}}), "search_kwargs: .* vector store or a retriever"),
    ((one(), {"relevance": abs}), "relevance: .* vector store; given with a ListRetriever"),
    ((7, {}), "retriever: a vector store, a retriever, a tool, .* given: int"),
)
def test_arguments_that_do_not_fit_are_named(arguments, said):
    """What is wrong about the arguments of the factory, or of the adapter, is said with the argument's name."""
    make = create_rag_agent if isinstance(arguments, dict) else LangChainRetriever
    given, named = ((), arguments) if isinstance(arguments, dict) else (arguments[:1], arguments[1])
    with pytest.raises(ConfigurationError, match=said):
        make(*given, **named)


HITS = make_recorded_search()({"query": "US payments incident status SLA", "max_results": 12})


def research(**tools):
    agent = create_research_agent(**tools)
    result, other = agent.invoke(load_research_demo()), asyncio.run(agent.ainvoke(load_research_demo()))
    assert (result["stop_reason"], result.get("details")) == (other["stop_reason"], other.get("details"))
    return result


@each_row(
    "returned",
    HITS,
    json.dumps([{"link": hit["url"], "snippet": hit["snippet"]} for hit in HITS]),
    {"query": "x", "results": [{"url": hit["url"], "content": hit["snippet"], "score": 0.5} for hit in HITS]},
)
def test_a_search_tool_is_a_search(returned):
    """A tool that takes a query brings hits as dictionaries, as JSON text, or among its `results`."""

    @tool
    def look(query: str) -> object:
        """Look on the web."""
        return returned

    assert research(search=look)["citations"] == research()["citations"]


@each_row("form", dict, json.dumps, lambda page: [Document(page["body"], metadata=page)])
def test_a_tool_reads_pages(form):
    """A tool that takes a url returns a page, its JSON text or documents."""

    @tool
    def fetch(url: str) -> object:
        """Fetch a page."""
        return form(make_recorded_reader()({"url": url}))

    result = research(reader=fetch, extractor=make_recorded_extractor())
    assert result["citation_details"] == research()["citation_details"]
