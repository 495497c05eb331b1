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
from runs import THREAD, masked, run
from tables import each_row
from ticket_pattern import TICKET, TIGHT, Policy, triage
from typing_extensions import TypedDict

from guardgraph import InputError, create_rag_agent
from guardgraph.grammar import Budget, Context
from guardgraph.testing import ScriptedChatModel


def follow(stream, act=lambda chunk: None):
    """Act on each chunk of a stream as it comes, be it async or not, and return all."""

    async def collect():
        return [act(chunk) or chunk async for chunk in stream]

    return asyncio.run(collect()) if hasattr(stream, "__aiter__") else [act(chunk) or chunk for chunk in stream]


def test_a_graph_can_be_part_of_a_chain():
    chain = RunnableLambda(lambda text: {"ticket": text}) | triage() | (lambda result: result["stop_reason"])
    assert (chain.invoke("x"), asyncio.run(chain.ainvoke("x"))) == ("success", "success")
    assert [result["label"] for result in asyncio.run(triage().abatch([TICKET, TICKET], [{}, {}]))] == ["bug", "bug"]
    assert (RunnableLambda(dict) | triage().bind(context=TIGHT)).invoke(TICKET)["stop_reason"] == "invalid_label"
    parts = [AddableDict(ticket="The invoice"), AddableDict(ticket=" is wrong")]
    assert [masked(result) for result in triage().transform(iter(parts))] == [masked(triage().invoke(TICKET))]
    with pytest.raises(InputError, match="given: str"):
        (RunnableLambda(str) | triage()).invoke("x")


@each_row(
    ("schema", "context", "reason"),
    (Context[Policy, Budget], TIGHT, "invalid_label"),
    (None, TIGHT, "invalid_label"),
    (None, {"budget": {"max_seconds": 0.0}}, "max_seconds"),
    (None, {"policy": {"lables": []}}, "guard_error:request_guard"),
)
def test_a_subgraph_obeys_what_its_parent_s_context_says_to_it(schema, context, reason):
    """Policy and budget in a parent's dictionary tighten the subgraph; what cannot be read closes its run."""
    state, output = TypedDict("Mine", {"ticket": str, "label": str}), TypedDict("O", {"stop_reason": str})
    parent = StateGraph(state, context_schema=schema, output_schema=output)
    parent.add_node("triage", triage()).add_edge(START, "triage")
    assert parent.compile().invoke(TICKET, context=context) == {"stop_reason": reason}


@pytest.mark.parametrize("node", ["label", "lookup", "routed"])
def test_a_context_that_cannot_be_read_closes_a_resumed_subgraph_where_it_stood(node):
    inner, state = triage(), TypedDict("Mine", {"ticket": str, "stop_reason": str, "details": dict})
    inner.interrupt_before_nodes = [node]
    parent = StateGraph(state).add_node("triage", inner).add_edge(START, "triage").compile(checkpointer=InMemorySaver())
    parent.invoke(TICKET, THREAD)
    result = parent.invoke(None, THREAD, context={"policy": {"lables": []}})
    assert (result["stop_reason"], "lables" in result["details"]["message"]) == (f"guard_error:{node}", True)


def test_every_form_of_events_and_output_works():
    """LangGraph's typed output, its event streams and its other stream modes tell the same run."""
    graph, expected = triage(), masked(triage().invoke(TICKET))
    assert masked(graph.invoke(TICKET, version="v2").value) == expected
    assert masked(asyncio.run(graph.ainvoke(TICKET, version="v2")).value) == expected
    values = masked(list(graph.stream(TICKET, stream_mode="values"))[-1])
    assert {key: values[key] for key in expected} == expected
    kept = {"run", "given", "log", "calls:label", "calls:lookup", "task", "accepted_label", "accepted_duty"}
    assert values.keys() - expected.keys() == kept
    parts = list(graph.stream(TICKET, stream_mode=["updates", "values"], version="v2"))
    assert {part["type"] for part in parts} == {"updates", "values"}
    told = [event["node"] for event in graph.stream(TICKET, stream_mode="custom") if event["event"] == "began"]
    assert told == expected["path"]
    events = follow(graph.astream_events(TICKET, version="v2"))
    assert masked(events[-1]["data"]["output"]).items() >= expected.items()


def speaking_agent():
    """An RAG agent of one's own: its proposers and its retriever ask models whose tokens nobody has judged."""

    def retriever(request):
        ScriptedChatModel("another way to say it").invoke("rewrite the query")
        return [{**CANDIDATE, "doc_id": SLA, "text": ANSWER["answer"]}]

    planner, answerer = RunnableLambda(json.dumps) | ScriptedChatModel(INTENT), ScriptedChatModel(ANSWER)
    proposers = {"planner": planner, "answerer": lambda view: answerer.invoke("answer")}
    return create_rag_agent(**proposers, retriever=retriever, policy=POLICY)


class Chat(MessagesState):
    question: str


@pytest.mark.parametrize("mode", ["stream", "astream"])
def test_nothing_that_a_model_writes_inside_is_streamed(mode):
    """Tokens of proposers and tools, of one's own too, are not shown; those of the graph around are."""
    parent = StateGraph(Chat).add_node("rag", speaking_agent()).add_edge(START, "rag").add_edge("rag", "chat")
    parent.add_node("chat", lambda state: {"messages": [ScriptedChatModel("Good morning").invoke("hi")]})
    given = {"tags": ["mine"]}
    for graph, shown in ((speaking_agent(), []), (parent.compile(), ["Good ", "morning"])):
        chunks = follow(getattr(graph, mode)(QUESTION, given, stream_mode="messages", subgraphs=True))
        assert [message.text for _, (message, _) in chunks if message.text] == shown
        assert all("mine" in metadata["tags"] for _, (_, metadata) in chunks)


def spoil(value):
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


@pytest.mark.paired
@pytest.mark.parametrize("version", ["v1", "v2"])
@pytest.mark.parametrize("stream_mode", ["values", "updates", ["values", "updates", "debug"]], ids=str)
@pytest.mark.parametrize("mode", ["stream", "astream"])
def test_a_consumer_of_a_stream_cannot_change_the_run(mode, stream_mode, version):
    """Whatever is done to what a stream yields, the run decides and returns what it would have."""
    graph = create_rag_agent(checkpointer=InMemorySaver())
    follow(getattr(graph, mode)(QUESTION, THREAD, stream_mode=stream_mode, version=version), spoil)
    assert masked(graph.invoke(None, THREAD)) == masked(create_rag_agent().invoke(QUESTION))


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


def spoil_event(event):
    if len(event["parent_ids"]) == 1:
        spoil(event["data"])


@pytest.mark.parametrize("mode", ["invoke", "ainvoke", "stream", "astream_events"])
def test_a_handler_cannot_change_the_run(mode):
    """Whatever handlers of callbacks do to inputs and outputs of nodes, the run decides what it would have."""
    graph = create_rag_agent(checkpointer=InMemorySaver())
    config = {**THREAD, "callbacks": [Vandal()]}
    if mode == "astream_events":
        follow(graph.astream_events(dict(QUESTION), config, version="v2"), spoil_event)
    else:
        run(graph, dict(QUESTION), mode, config=config)
    assert masked(graph.invoke(None, THREAD)) == masked(create_rag_agent().invoke(QUESTION))
