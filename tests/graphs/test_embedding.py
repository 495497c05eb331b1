"""Guarded graphs inside chains and other graphs, and what those who stream and listen can change of a run: nothing."""

import asyncio
import json

import pytest
from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.runnables import RunnableLambda
from langchain_core.runnables.utils import AddableDict
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, MessagesState, StateGraph
from rag_agents import ANSWER, CANDIDATE, INTENT, POLICY, QUESTION, SLA
from runs import THREAD, masked
from ticket_pattern import TICKET, TIGHT, Policy, triage
from typing_extensions import TypedDict

from guardgraph import InputError, create_rag_agent
from guardgraph.grammar import Budget, Context
from guardgraph.testing import ScriptedChatModel


def test_a_graph_can_be_part_of_a_chain():
    chain = (
        RunnableLambda(lambda text: {"ticket": text}) | triage() | RunnableLambda(lambda result: result["stop_reason"])
    )
    assert chain.invoke("x") == "success"
    assert asyncio.run(chain.ainvoke("x")) == "success"
    assert (RunnableLambda(dict) | triage().bind(context=TIGHT)).invoke(TICKET)["stop_reason"] == "invalid_label"
    parts = [AddableDict(ticket="The invoice"), AddableDict(ticket=" is wrong")]
    assert [masked(result) for result in triage().transform(iter(parts))] == [masked(triage().invoke(TICKET))]
    with pytest.raises(InputError, match="given: str"):
        (RunnableLambda(str) | triage()).invoke("x")


class Mine(TypedDict):
    ticket: str
    label: str


@pytest.mark.parametrize(
    ("schema", "context", "reason"),
    [
        (Context[Policy, Budget], TIGHT, "invalid_label"),
        (None, TIGHT, "invalid_label"),
        (None, {"budget": {"max_seconds": 0.0}}, "max_seconds"),
        (None, {"policy": {"lables": []}}, "guard_error:request_guard"),
    ],
)
def test_a_subgraph_obeys_what_its_parent_s_context_says_to_it(schema, context, reason):
    """Policy and budget in a parent's dictionary tighten the subgraph; what cannot be read closes its run."""
    parent = StateGraph(Mine, context_schema=schema, output_schema=TypedDict("O", {"stop_reason": str}))
    parent.add_node("triage", triage())
    parent.add_edge(START, "triage")
    assert parent.compile().invoke(TICKET, context=context) == {"stop_reason": reason}


def test_every_form_of_events_and_output_works():
    """LangGraph's typed output, its event streams and its other stream modes tell the same run."""
    graph, expected = triage(), masked(triage().invoke(TICKET))
    assert masked(graph.invoke(TICKET, version="v2").value) == expected
    values = masked(list(graph.stream(TICKET, stream_mode="values"))[-1])
    assert {key: values[key] for key in expected} == expected
    assert values.keys() - expected.keys() == {
        "run",
        "given",
        "log",
        "calls:label",
        "calls:lookup",
        "task",
        "accepted_label",
        "accepted_duty",
    }
    parts = list(graph.stream(TICKET, stream_mode=["updates", "values"], version="v2"))
    assert {part["type"] for part in parts} == {"updates", "values"}
    told = [event["node"] for event in graph.stream(TICKET, stream_mode="custom") if event["event"] == "began"]
    assert told == expected["path"]
    assert masked(asyncio.run(last_event(graph))["data"]["output"]).items() >= expected.items()


async def last_event(graph):
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
    async def chunks():
        return [chunk async for chunk in graph.astream(input, **kwargs)]

    return asyncio.run(chunks()) if mode == "astream" else list(graph.stream(input, **kwargs))


def spoil(value):
    """Spoil every dictionary and list that a value holds."""
    if isinstance(value, dict):
        for item in value.values():
            spoil(item)
        for key in value:
            value[key] = "spoiled"
    elif isinstance(value, list | tuple):
        for item in value:
            spoil(item)
        if isinstance(value, list):
            value.clear()


def honest():
    return masked(create_rag_agent().invoke(QUESTION))


@pytest.mark.paired
@pytest.mark.parametrize("version", ["v1", "v2"])
@pytest.mark.parametrize("stream_mode", ["values", "updates", ["values", "updates", "debug"]], ids=str)
@pytest.mark.parametrize("mode", ["stream", "astream"])
def test_a_consumer_of_a_stream_cannot_change_the_run(mode, stream_mode, version):
    """Whatever is done to what a stream yields, the run decides and returns what it would have."""
    graph = create_rag_agent(checkpointer=InMemorySaver())
    given = {"config": THREAD, "stream_mode": stream_mode, "version": version}

    async def follow():
        async for chunk in graph.astream(QUESTION, **given):
            spoil(chunk)

    if mode == "astream":
        asyncio.run(follow())
    else:
        for chunk in graph.stream(QUESTION, **given):
            spoil(chunk)
    assert masked(graph.invoke(None, THREAD)) == honest()


class Vandal(BaseCallbackHandler):
    """A handler that spoils what it is told that the nodes of the graph have read and written."""

    run_inline = True

    def __init__(self):
        self.graph = None

    def on_chain_start(self, serialized, inputs, *, run_id, parent_run_id=None, **kwargs):
        self.graph = self.graph or run_id
        if parent_run_id == self.graph:
            spoil(inputs)

    def on_chain_end(self, outputs, *, parent_run_id=None, **kwargs):
        if parent_run_id == self.graph:
            spoil(outputs)


@pytest.mark.parametrize("mode", ["invoke", "ainvoke", "stream", "astream_events"])
def test_a_handler_cannot_change_the_run(mode):
    """Whatever handlers of callbacks do to inputs and outputs of nodes, the run decides what it would have."""
    graph = create_rag_agent(checkpointer=InMemorySaver())
    config = {**THREAD, "callbacks": [Vandal()]}

    async def follow():
        async for event in graph.astream_events(dict(QUESTION), config, version="v2"):
            if len(event["parent_ids"]) == 1:
                spoil(event["data"])

    if mode == "invoke":
        graph.invoke(dict(QUESTION), config)
    elif mode == "ainvoke":
        asyncio.run(graph.ainvoke(dict(QUESTION), config))
    elif mode == "stream":
        list(graph.stream(dict(QUESTION), config))
    else:
        asyncio.run(follow())
    assert masked(graph.invoke(None, THREAD)) == honest()
