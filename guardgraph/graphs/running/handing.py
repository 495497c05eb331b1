"""What is handed out while a run goes on: copies, so that nobody who follows a run changes it.

LangGraph gives the consumers of streams and the handlers of callbacks the very objects of the state. A copy is made
only where somebody looks: by the door for what is streamed, by a node's sequence where handlers listen.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import suppress
from contextvars import copy_context
from copy import copy
from typing import Any

from langchain_core.runnables import Runnable, RunnableConfig
from langchain_core.runnables.config import var_child_runnable_config
from langgraph.constants import TAG_NOSTREAM
from langgraph.pregel import Pregel
from langgraph.pregel.protocol import StreamProtocol
from langgraph.types import Interrupt

from guardgraph.graphs.running.langgraph import STREAM
from guardgraph.graphs.running.node import GrammarNode


def copy_langgraph_value(value: Any) -> Any:
    """Return a value whose dictionaries, lists, tuples and interrupts are copies; what else there is stays."""
    kind = type(value)
    if kind is dict:
        return {key: copy_langgraph_value(item) for key, item in value.items()}
    if kind is list:
        return [copy_langgraph_value(item) for item in value]
    if kind is tuple:
        return tuple([copy_langgraph_value(item) for item in value])
    return Interrupt(value=copy_langgraph_value(value.value), id=value.id) if kind is Interrupt else value


def copy_outer_stream(stream: Any, config: Any) -> Any:
    """Return a configuration in which the stream of the graph around, if there is one, is given copies too."""
    if not isinstance(stream, StreamProtocol):
        return config
    hand_on: Any = stream
    copying: Any = StreamProtocol
    copying = copying(lambda chunk: hand_on(copy_langgraph_value(chunk)), stream.modes)
    given = config or {}
    return {**given, "configurable": {**(given.get("configurable") or {}), STREAM: copying}}


def hide_token_stream(config: Any) -> Any:
    """Keep what models write inside the graph out of token streams: no guard has judged it yet."""
    given = config or {}
    return {**given, "tags": [*(given.get("tags") or ()), TAG_NOSTREAM]}


def wrap_nodes_for_handlers(graph: Pregel[Any, Any, Any, Any]) -> None:
    """Let every node of a compiled graph give copies to the handlers that listen to it."""
    for node in graph.nodes.values():
        if hasattr(node.node, "steps") and isinstance(node.bound, GrammarNode):
            vars(node)["node"] = Heard(node.node)


class Heard(Runnable[Any, Any]):
    """A node's sequence, which hands out copies where somebody listens.

    Args:
        plain: what LangGraph made of the node and its writers.
    """

    def __init__(self, plain: Any) -> None:
        self.plain = plain

    def invoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Any:
        """Run the node and its writers."""
        if not _has_callback_handlers(config):
            return copy_context().run(self._run_node_sequence, input, config)
        return self._build_heard_sequence(input).invoke(
            copy_langgraph_value(input), self._tell_stop_phase(input, config), **kwargs
        )

    async def ainvoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Any:
        """Run the node and its writers asynchronously."""
        if not _has_callback_handlers(config):
            return await self._arun_node_sequence(input, config)
        return await self._build_heard_sequence(input).ainvoke(
            copy_langgraph_value(input), self._tell_stop_phase(input, config), **kwargs
        )

    def stream(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Iterator[Any]:
        """Run the node for handlers of streams."""
        yield from self._build_heard_sequence(input).stream(
            copy_langgraph_value(input), self._tell_stop_phase(input, config), **kwargs
        )

    async def astream(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> AsyncIterator[Any]:
        """Run the node for handlers of streams, asynchronously."""
        async for chunk in self._build_heard_sequence(input).astream(
            copy_langgraph_value(input), self._tell_stop_phase(input, config), **kwargs
        ):
            yield chunk

    def _run_node_sequence(self, given: Any, config: Any) -> Any:
        """Do what LangGraph's sequence does, in a context of its own, but for telling handlers that are not there."""
        var_child_runnable_config.set(config)
        node, *writers = self.plain.steps
        given = node.invoke(given, config)
        for writer in writers:
            _call_langgraph_writer(writer, given, config)
        return given

    async def _arun_node_sequence(self, given: Any, config: Any) -> Any:
        """Do what `_run_node_sequence` does; a node that calls out gets a task, and so a context, of its own."""
        node, *writers = self.plain.steps
        token = var_child_runnable_config.set(config)
        try:
            work = node.ainvoke(given, config)
            given = await (asyncio.create_task(work) if node.declaration.is_calling_node else work)
        finally:
            with suppress(ValueError):  # ended by somebody else's task: there is nothing to put back in its context
                var_child_runnable_config.reset(token)
        for writer in writers:
            _call_langgraph_writer(writer, given, config)
        return given

    def _tell_stop_phase(self, input: Any, config: Any) -> Any:
        """Return the configuration in which handlers are told the phase of a stop, which no stop terminal declares."""
        node = self.plain.steps[0]
        if node.declaration.family is None:
            return config
        given = config or {}
        return {**given, "metadata": {**(given.get("metadata") or {}), "phase": input["verdict"]["phase"]}}

    def _build_heard_sequence(self, input: Any) -> Any:
        """Return the sequence for one visit: handlers see a copy of the input before it, and of what was written."""
        sequence = copy(self.plain)
        first, *writers = sequence.steps
        sequence.steps = [_Given(first, input), *writers, _HANDED]
        return sequence


def _call_langgraph_writer(writer: Any, written: Any, config: Any) -> None:
    """Let one of LangGraph's writers write; those that the grammar's nodes have pass on what they are given."""
    writer.func(written, config, **writer.kwargs)


def unwrap_heard_node(sequence: Any) -> Any:
    """Return what LangGraph made of a node, if what runs it now does no more than to hand out copies."""
    is_ours = type(sequence) is Heard and vars(sequence).keys() == {"plain"}
    return sequence.plain if is_ours else sequence


class _Given(Runnable[Any, Any]):
    """The node, which works on what it was given, whatever became of the copy that handlers saw."""

    def __init__(self, node: Runnable[Any, Any], given: Any) -> None:
        self._node, self._given = node, given

    def invoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Any:
        return self._node.invoke(self._given, config, **kwargs)

    async def ainvoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Any:
        return await self._node.ainvoke(self._given, config, **kwargs)


class _Handed(Runnable[Any, Any]):
    """The last step of a sequence that is listened to: what was written is not what handlers are given."""

    def invoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Any:
        return copy_langgraph_value(input)

    async def ainvoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Any:
        return copy_langgraph_value(input)


_HANDED = _Handed()


def _has_callback_handlers(config: RunnableConfig | None) -> bool:
    callbacks = (config or {}).get("callbacks")
    return bool(getattr(callbacks, "handlers", callbacks))
