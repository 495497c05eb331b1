"""Whoever follows a run, by a stream or by callbacks, is given copies: nothing done to them changes the run."""

from __future__ import annotations

import asyncio

import pytest
from langchain_core.callbacks import AsyncCallbackHandler, BaseCallbackHandler
from langgraph.checkpoint.memory import InMemorySaver
from rag_agents import QUESTION
from runs import masked

from guardgraph import create_rag_agent

STREAM_MODES = ["values", "updates", "debug", "checkpoints", "tasks", ["values", "updates", "debug"]]
THREAD = {"configurable": {"thread_id": "1"}}


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
    """Return the result of a run that nobody followed."""
    return masked(create_rag_agent().invoke(QUESTION))


def spoiled(graph, mode, stream_mode, **kwargs):
    """Follow a run on its thread, spoil every chunk at once, and return the result that is kept."""
    config = kwargs.pop("config", THREAD)

    async def follow():
        async for chunk in graph.astream(QUESTION, config, stream_mode=stream_mode, **kwargs):
            spoil(chunk)

    if mode == "astream":
        asyncio.run(follow())
    else:
        for chunk in graph.stream(QUESTION, config, stream_mode=stream_mode, **kwargs):
            spoil(chunk)
    return masked(graph.invoke(None, config))


@pytest.mark.paired
@pytest.mark.parametrize("version", ["v1", "v2"])
@pytest.mark.parametrize("stream_mode", STREAM_MODES, ids=str)
@pytest.mark.parametrize("mode", ["stream", "astream"])
def test_a_consumer_of_a_stream_cannot_change_the_run(mode, stream_mode, version):
    """Whatever is done to what a stream yields, the run decides and returns what it would have."""
    graph = create_rag_agent(checkpointer=InMemorySaver())
    assert spoiled(graph, mode, stream_mode, version=version) == honest()


class Vandal(BaseCallbackHandler):
    """A handler that spoils what it is told that the nodes of the graph have read and written."""

    run_inline = True

    def __init__(self):
        self.graph = None

    def on_chain_start(self, serialized, inputs, *, run_id, parent_run_id=None, **kwargs):
        """Spoil what a node reads."""
        self.graph = self.graph or run_id
        if parent_run_id == self.graph:
            spoil(inputs)

    def on_chain_end(self, outputs, *, parent_run_id=None, **kwargs):
        """Spoil what a node wrote."""
        if parent_run_id == self.graph:
            spoil(outputs)


class AsyncVandal(AsyncCallbackHandler):
    """The same, awaited."""

    def __init__(self):
        self.vandal = Vandal()

    async def on_chain_start(self, *args, **kwargs):
        """Spoil what a node reads."""
        self.vandal.on_chain_start(*args, **kwargs)

    async def on_chain_end(self, *args, **kwargs):
        """Spoil what a node wrote."""
        self.vandal.on_chain_end(*args, **kwargs)


@pytest.mark.paired
@pytest.mark.parametrize("vandal", [Vandal, AsyncVandal])
@pytest.mark.parametrize("mode", ["invoke", "ainvoke", "stream", "astream_events"])
def test_a_handler_cannot_change_the_run(vandal, mode):
    """Whatever handlers of callbacks do to inputs and outputs of nodes, the run decides what it would have."""
    if vandal is AsyncVandal and mode in ("invoke", "stream"):
        pytest.skip("LangChain calls asynchronous handlers in asynchronous runs")
    graph = create_rag_agent(checkpointer=InMemorySaver())
    config = {**THREAD, "callbacks": [vandal()]}

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
