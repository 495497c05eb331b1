"""Guarded graphs inside chains, graphs and tools, and told through every stream that LangGraph has."""

from __future__ import annotations

import asyncio
import json
from functools import partial

import pytest
from langchain_core.output_parsers import StrOutputParser
from langchain_core.runnables import RunnableGenerator, RunnableLambda
from langgraph.graph import START, MessagesState, StateGraph
from pydantic import BaseModel
from rag_agents import ANSWER, CANDIDATE, INTENT, POLICY, QUESTION, SLA
from runs import BOTH, masked, run
from ticket_pattern import TICKET, TIGHT, Policy, triage
from typing_extensions import TypedDict

from guardgraph import InputError, RagContext, RagPolicy, create_rag_agent, create_research_agent
from guardgraph.grammar import Budget, Context
from guardgraph.testing import ScriptedChatModel


def test_a_graph_can_be_part_of_a_chain():
    """Inside a chain a context is bound beforehand; a chain itself passes none on."""
    chain = (
        RunnableLambda(lambda text: {"ticket": text}) | triage() | RunnableLambda(lambda result: result["stop_reason"])
    )
    assert chain.invoke("x") == "success"
    assert asyncio.run(chain.ainvoke("x")) == "success"
    assert (RunnableLambda(dict) | triage().bind(context=TIGHT)).invoke(TICKET)["stop_reason"] == "invalid_label"
    with pytest.raises(InputError, match="given: str"):
        (RunnableLambda(str) | triage()).invoke("x")


@pytest.mark.parametrize("mode", ["stream", "astream"])
def test_a_chain_that_is_streamed_gets_the_whole_result(mode):
    """The input's pieces are put together, and the next step reads one result, as it does when the chain is invoked."""
    question = {"question": ScriptedChatModel("What is the P1 first response target?") | StrOutputParser()}
    [streamed] = run_stream(question | create_rag_agent() | RunnableLambda(masked), "x", mode)
    assert streamed == masked(create_rag_agent().invoke({"question": "What is the P1 first response target?"}))
    for pieces, results in (([], 0), ([{"ticket": 7}, TICKET], 1)):
        chain = RunnableGenerator(partial(each, pieces), partial(aeach, pieces)) | triage()
        assert [result["stop_reason"] for result in run_stream(chain, "x", mode)] == ["success"] * results


def each(pieces, given):
    """Stream these pieces, which cannot be added to one another, whatever is given."""
    yield from pieces


async def aeach(pieces, given):
    """Stream these pieces asynchronously."""
    for piece in pieces:
        yield piece


class Mine(TypedDict):
    ticket: str
    label: str


class Tenant(BaseModel):
    name: str


PARENT_CONTEXTS = [
    (None, None),
    (Tenant, Tenant(name="a")),
    (Tenant, {"name": "a"}),
    (RagContext, RagContext(policy=RagPolicy(allowed_sources_policy=()))),
    (None, {"tenant": "a"}),
    (None, "text"),
]


@pytest.mark.paired
@pytest.mark.parametrize(("schema", "context"), PARENT_CONTEXTS)
@pytest.mark.parametrize("mode", BOTH)
def test_a_graph_can_be_a_node_of_another_graph(schema, context, mode):
    """A parent's context is its own affair: the subgraph runs under its deployment's settings."""
    parent = StateGraph(Mine, context_schema=schema)
    parent.add_node("triage", triage())
    parent.add_edge(START, "triage")
    parent.add_node("note", lambda state: {"label": state["label"]})
    parent.add_edge("triage", "note")
    assert run(parent.compile(), TICKET, mode, context=context)["label"] == "bug"


@pytest.mark.parametrize(
    ("schema", "context", "reason"),
    [
        (Context[Policy, Budget], TIGHT, "invalid_label"),
        (None, TIGHT, "invalid_label"),
        (None, {**TIGHT, "tenant": "a"}, "invalid_label"),
        (None, {"budget": {"max_seconds": 0.0}}, "max_seconds"),
        (None, {"policy": {"lables": []}}, "guard_error:request_guard"),
        (None, {"policy": {"labels": "bug"}}, "guard_error:request_guard"),
    ],
)
def test_a_subgraph_obeys_what_its_parent_s_context_says_to_it(schema, context, reason):
    """Policy and budget in a parent's dictionary tighten the subgraph; what cannot be read closes its run."""
    parent = StateGraph(Mine, context_schema=schema, output_schema=TypedDict("O", {"stop_reason": str}))
    parent.add_node("triage", triage())
    parent.add_edge(START, "triage")
    assert parent.compile().invoke(TICKET, context=context) == {"stop_reason": reason}


def test_a_guarded_graph_may_be_a_tool_of_another():
    """The tool's run is its own: the other graph's policy says nothing to it, and its result comes back whole."""
    rag, inner = create_rag_agent(), []

    def search(request):
        inner.append(rag.invoke(QUESTION))
        return []

    request = {"request": {"question": "q", "report_date": "2026-03-07", "region": "US"}, "policy_hints": {}}
    context = {"policy": {"allowed_domains_execution": []}, "budget": {"max_seconds": 9}}
    result = create_research_agent(search=search).invoke({"goal": "g", "request": request}, context=context)
    assert result["stop_reason"] == "no_sources_after_dedupe"
    assert masked(inner) == [masked(rag.invoke(QUESTION))]


OWN_CHANNELS = {"run", "given", "log", "calls:label", "calls:lookup", "task", "accepted_label", "accepted_duty"}


def test_every_form_of_events_and_output_works():
    """LangGraph's typed output, its event streams and its other stream modes tell the same run."""
    graph, expected = triage(), masked(triage().invoke(TICKET))
    assert masked(graph.invoke(TICKET, version="v2").value) == expected
    values = masked(list(graph.stream(TICKET, stream_mode="values"))[-1])
    assert {key: values[key] for key in expected} == expected
    assert values.keys() - expected.keys() == OWN_CHANNELS
    parts = list(graph.stream(TICKET, stream_mode=["updates", "values"], version="v2"))
    assert {part["type"] for part in parts} == {"updates", "values"}
    told = [event["node"] for event in graph.stream(TICKET, stream_mode="custom") if event["event"] == "began"]
    assert told == expected["path"]
    assert masked(asyncio.run(last_event(graph))["data"]["output"]).items() >= expected.items()


async def last_event(graph):
    """Return the last event of a run."""
    return [event async for event in graph.astream_events(TICKET, version="v2")][-1]


def speaking_agent():
    """An RAG agent of one's own: its proposers and its retriever ask models whose tokens nobody has judged."""
    planner = RunnableLambda(json.dumps) | ScriptedChatModel(INTENT)
    answerer = ScriptedChatModel(ANSWER)

    def retriever(request):
        ScriptedChatModel("another way to say it").invoke("rewrite the query")
        return [{**CANDIDATE, "doc_id": SLA, "text": "99.95% monthly uptime; P1 within 15 minutes, 24/7."}]

    return create_rag_agent(
        planner=planner, answerer=lambda view: answerer.invoke("answer"), retriever=retriever, policy=POLICY
    )


class Chat(MessagesState):
    question: str


@pytest.mark.parametrize("mode", ["stream", "astream"])
def test_nothing_that_a_model_writes_inside_is_streamed(mode):
    """Tokens of proposers and tools, of one's own too, are not shown; those of the graph around are."""
    parent = StateGraph(Chat)
    parent.add_node("rag", speaking_agent())
    parent.add_node("chat", lambda state: {"messages": [ScriptedChatModel("Good morning").invoke("hi")]})
    parent.add_edge(START, "rag")
    parent.add_edge("rag", "chat")
    given = {"tags": ["mine"]}
    for graph, shown in ((speaking_agent(), []), (parent.compile(), ["Good ", "morning"])):
        chunks = run_stream(graph, QUESTION, mode, config=given, stream_mode="messages", subgraphs=True)
        assert [message.text for _, (message, _) in chunks if message.text] == shown
        assert all("mine" in metadata["tags"] for _, (_, metadata) in chunks)


def run_stream(graph, input, mode, **kwargs):
    """Return every chunk of a stream, sync or async."""

    async def chunks():
        return [chunk async for chunk in graph.astream(input, **kwargs)]

    return asyncio.run(chunks()) if mode == "astream" else list(graph.stream(input, **kwargs))
