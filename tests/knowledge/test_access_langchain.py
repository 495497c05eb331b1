"""A store of LangChain's holds its search to what a caller may read, and is looked at again."""

import asyncio
import json

import pytest
from guarded_stores import STORES, add_guarded, in_memory, retriever
from langchain_core.documents import Document
from langchain_core.runnables import RunnableLambda
from langchain_core.tools import create_retriever_tool
from langchain_core.tracers.context import collect_runs
from langchain_finds import ListRetriever
from langgraph.checkpoint.memory import InMemorySaver
from runs import BOTH, THREAD, run
from test_isolation import Heard

from guardgraph import Caller, ConfigurationError, LangChainRetriever, RagPolicy, create_rag_agent
from guardgraph.testing import GuardedDocument, InMemoryRecorder

ADA = {"tenant": "acme", "user": "ada", "groups": ["support"]}
EVE = {"tenant": "other", "user": "eve", "groups": ["support"]}
SECRET = "zanzibar-9173"
BASE = [
    GuardedDocument("ours", "P1 incidents are answered within 15 minutes.", "acme", ("group:support",)),
    GuardedDocument("hers", "P1 incidents of Ada are hers alone.", "acme", ("user:ada",)),
    GuardedDocument("all", "P1 incidents are explained on the status page.", None, ("public",)),
    *(
        GuardedDocument(f"secret-{at}", f"P1 incidents are answered {SECRET}.", "other", ("tenant",))
        for at in range(40)
    ),
]
QUESTION = {"question": "When are P1 incidents answered?"}
REQUEST = {"query": QUESTION["question"], "sources": ["kb"], "top_k": 4}
SEEN = {"ada": (ADA, {"ours", "hers", "all"}), "nobody": (None, {"all"})}


def asking(caller):
    return {**REQUEST, **({} if caller is None else {"caller": caller})}


@pytest.mark.parametrize("who", SEEN)
@pytest.mark.parametrize("name", STORES)
def test_a_store_finds_what_its_caller_may_read(name, who):
    """The caller becomes the store's filter, so what he may not read takes no place among the best."""
    make, access = STORES[name]
    found, (caller, expected) = retriever(add_guarded(make(), BASE), access), SEEN[who]
    assert {item["doc_id"] for item in found.invoke(asking(caller))} == expected
    assert {item["doc_id"] for item in asyncio.run(found.ainvoke(asking(caller)))} == expected
    result = create_rag_agent(retriever=found).invoke(QUESTION, context={"caller": caller})
    assert result["status"] == "ok"
    assert SECRET not in json.dumps(result)


IDLE = {
    "a filter that does nothing": lambda caller, sources: {},
    "a filter of another tenant": lambda caller, sources: STORES["in memory"][1](Caller(**EVE), sources),
    "no filter": None,
}


@pytest.mark.parametrize("mode", BOTH)
@pytest.mark.parametrize("case", IDLE)
def test_a_store_that_does_not_filter_ends_in_a_stop(case, mode):
    """What it finds beyond the caller's is refused, and nothing of it is in what was written."""
    recorder, saver = InMemoryRecorder(), InMemorySaver()
    found = retriever(add_guarded(in_memory(), BASE), IDLE[case])
    agent = create_rag_agent(retriever=found, recorder=recorder, checkpointer=saver)
    given = {"question": "Which P1 incidents are answered?"}
    result = run(agent, given, mode, config=THREAD, context={"caller": ADA})
    assert result["stop_reason"] == "tool_invalid_output:retrieve"
    assert result["details"]["allowed"] == "documents that the caller may read"
    left = repr([result, recorder.runs, saver.storage, saver.blobs, saver.writes])
    assert (SECRET in left, "secret-" in left) == (False, False)


def finding(document):
    return LangChainRetriever(ListRetriever(found=[document]), sources=["kb"])


def awaiting(document):
    """Return a coroutine function that asks a retriever."""

    async def retrieve(request):
        found = await ListRetriever(found=[document]).ainvoke("P1")
        return [{"doc_id": "a", "text": item.page_content, **item.metadata} for item in found]

    return retrieve


CARELESS = {
    "a retriever": finding,
    "a Runnable around a retriever": lambda document: RunnableLambda(finding(document).invoke),
    "a Runnable": lambda document: RunnableLambda(
        lambda request: [{"doc_id": "a", "text": document.page_content, **document.metadata}]
    ),
    "a function that awaits": awaiting,
}


@pytest.mark.parametrize("name", CARELESS)
def test_callbacks_and_tracers_do_not_hear_what_a_retriever_found_before_it_is_judged(name):
    """Callbacks, events and traces of a retriever would tell what it found before anybody has looked at it."""
    held = {"id": "a", "source": "kb", "score": 0.5, "tenant": "other", "readers": ["tenant"]}
    agent = create_rag_agent(
        retriever=CARELESS[name](Document(f"P1 is {SECRET}.", metadata=held)),
        policy=RagPolicy(allowed_sources_policy=["kb"], allowed_sources_execution=["kb"]),
    )

    async def events():
        return [event async for event in agent.astream_events(QUESTION, context={"caller": ADA}, version="v2")]

    heard = Heard()
    with collect_runs() as traced:
        agent.invoke(QUESTION, {"callbacks": [heard]}, context={"caller": ADA})
        asyncio.run(agent.ainvoke(QUESTION, {"callbacks": [heard]}, context={"caller": ADA}))
    told = repr([heard.said, [run.model_dump() for run in traced.traced_runs], asyncio.run(events())])
    assert ("tool_invalid_output:retrieve" in told, SECRET in told) == (True, False)


NO_FILTER = "access: a function of a caller and of sources"
TOOL = create_retriever_tool(ListRetriever(found=[]), "x", "x")
WRONG = {
    "readers without a filter": (lambda: retriever(in_memory(), None, metadata={"readers": "acl"}), NO_FILTER),
    "a tenant without a filter": (lambda: retriever(in_memory(), None, metadata={"tenant": "org"}), NO_FILTER),
    "a tool, which is not told who asks": (lambda: retriever(TOOL, None, metadata={"readers": "acl"}), NO_FILTER),
    "a filter of a function, which is told": (lambda: retriever(list, dict), NO_FILTER),
    "a filter that is none": (lambda: retriever(in_memory(), {"filter": 1}), NO_FILTER),
    "two filters": (lambda: retriever(in_memory(), dict, search_kwargs=lambda sources: {}), "search_kwargs: to be"),
}


def test_what_cannot_be_held_to_a_caller_does_not_start():
    """An adapter that is told of readers and has no filter for them is refused when it is made."""
    for make, problem in WRONG.values():
        with pytest.raises(ConfigurationError, match=f"^{problem}"):
            make()
