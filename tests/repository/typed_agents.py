"""What type checkers let pass of the shipped agents. `make types` checks it; nobody runs it."""

from typing import Any, assert_type

from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import ConfigurableField, RunnableConfig
from langchain_core.tools import BaseTool
from langchain_core.vectorstores import InMemoryVectorStore, VectorStore
from langgraph.types import Command

import guardgraph as g
from guardgraph.testing import ScriptedChatModel

agent = g.create_rag_agent()
question: g.RagInput = {"question": "What SLA applies to the enterprise plan?"}
thread: RunnableConfig = {"configurable": {"thread_id": "1"}}

result: g.RagResult = agent.invoke({"question": "What SLA applies to the enterprise plan?"})
assert_type(agent.invoke(question), g.RagOk | g.RagPartial | g.RagStopped)
print(result["status"], result["stop_reason"], result["path"], result["timeline"][0]["node"])

if result["status"] == "ok":
    assert_type(result, g.RagOk | g.RagPartial)
    assert_type(result["answer"], str)
    assert_type(result["citations"], list[str])
    assert_type(result["citation_details"][0]["score"], float)
    if result["outcome"] == "grounded_partial":
        assert_type(result, g.RagPartial)
        print([item["text"] for item in result["unverified"]])
    else:
        assert_type(result, g.RagOk)
        print(result["outcome"], result.get("clarify_reason"))
else:
    assert_type(result, g.RagStopped)
    assert_type(result["stop_reason"], str)
    assert_type(result["phase"], str)
    assert_type(result.get("invalid_citations"), list[str] | None)
    if "unsupported" in result:
        assert_type(result["unsupported"], list[str])

assert_type(result.get("outcome"), str | None)

agent.invoke(question, context={"policy": {"allowed_sources_execution": []}})
agent.invoke(question, context=g.RagContext(budget=g.RagBudget(max_seconds=2.0)))
agent.invoke(question, thread, context=None, durability="exit")
assert_type(agent.invoke(None, thread), g.RagResult)
assert_type(agent.invoke(Command(resume={"approved": True}), thread), g.RagResult)
assert_type(
    agent.batch([question, {"question": "Why?"}], {"max_concurrency": 4}), list[g.RagOk | g.RagPartial | g.RagStopped]
)
agent.batch([question], return_exceptions=True, context={"budget": {"max_seconds": 2.0}})
scripted = ScriptedChatModel("{}")
field = ConfigurableField(id="name")
wrapped = (scripted.bind(stop=["x"]), scripted.with_retry(), scripted.with_config(tags=[]))
for model in (None, "openai", scripted, *wrapped):
    g.create_rag_agent(model)
g.create_research_agent(scripted.with_fallbacks([scripted.with_retry()]))
g.create_self_critique_agent(scripted.configurable_fields(model_name=field))
g.create_rag_agent(scripted.configurable_alternatives(field, other=scripted))
waiting = agent.invoke(question, thread, interrupt_before=["retrieve"])
updates = agent.invoke(question, stream_mode="updates")
for chunk in agent.stream(question, stream_mode=["updates", "custom"], subgraphs=True, context={}):
    print(chunk)


async def asynchronously() -> str:
    one = await agent.ainvoke({"question": "Why?"}, context={"budget": {"max_seconds": 2.0}})
    assert_type(await agent.abatch([question]), list[g.RagOk | g.RagPartial | g.RagStopped])
    async for chunk in agent.astream(question):
        print(chunk)
    return one["answer"] if one["status"] == "ok" else one["stop_reason"]


brief: g.ResearchResult = g.create_research_agent().invoke({"goal": "Inform.", "request": {"request": {}}})
if brief["status"] == "ok":
    assert_type(brief, g.ResearchOk | g.ResearchPartial)
    if brief["outcome"] == "grounded_partial":
        assert_type(brief, g.ResearchPartial)
        print(brief.get("ended_by"), [item["verdict"] for item in brief.get("unverified", [])])
    print(brief["answer"], brief["aggregate"], brief.get("failed_sources"))
else:
    assert_type(brief, g.ResearchStopped)
    print(brief["phase"], brief.get("verification"), brief.get("failed_sources"))

update: g.SelfCritiqueResult = g.create_self_critique_agent().invoke({"goal": "Inform.", "incident_context": {}})
if update["status"] == "stopped":
    assert_type(update, g.SelfCritiqueStopped)
    print(update.get("escalation_reason"), update.get("claims"))
elif update["status"] == "ok":
    assert_type(update, g.SelfCritiqueOk)
    print(update["answer"], update["critique_decision"], update["audit"]["diff_excerpt"])


def again(asked: g.GuardedGraph[g.RagInput, g.RagContext, g.RagResult], recording: Any) -> g.RagResult:
    return g.replay(asked, recording)


def any_agent(asked: g.GuardedGraph) -> Any:
    return asked.invoke({"whatever": "it takes"})["stop_reason"]


def of_langchain(store: VectorStore, retriever: BaseRetriever, tool: BaseTool, memory: InMemoryVectorStore) -> None:
    """Take vector stores, retrievers and tools of LangChain's as they are, and adapted."""
    for found in (store, memory, retriever, retriever.with_retry(), tool):
        assert_type(
            g.create_rag_agent(retriever=found, sources=["help"]), g.GuardedGraph[g.RagInput, g.RagContext, g.RagResult]
        )
        g.create_research_agent(search=found)
    g.create_research_agent(reader=tool, search=g.LangChainSearch(tool, metadata={"url": "address"}))

    def updated(document: Document) -> object:
        return document.metadata["day"]

    adapted = g.LangChainRetriever(
        store,
        sources=("help",),
        metadata={"doc_id": "key", "updated_at": updated},
        search_kwargs=lambda sources: {"filter": {"source": {"$in": sources}}},
        relevance=lambda score: 1 - score,
    )
    g.create_rag_agent(retriever=adapted)


any_agent(agent)
again(agent, {})
