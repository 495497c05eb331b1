"""What callbacks and events are told of a stop terminal: the phase in which the run stopped."""

from __future__ import annotations

import pytest
from langchain_core.callbacks import AsyncCallbackHandler, BaseCallbackHandler
from rag_agents import INTENT, QUESTION, agent
from runs import run

from guardgraph import RagBudget, create_rag_agent

STOPPED = {
    "plan": lambda: agent({"kind": "delete"}),
    "retrieve": lambda: agent(budget=RagBudget(max_query_chars=3)),
    "generate": lambda: agent(answer={"answer": "7 days", "citations": ["nobody"]}),
}
"""Agents whose runs stop, by the phase in which they do."""


class Phases(BaseCallbackHandler):
    """Keeps the phase of every node that begins."""

    def __init__(self):
        self.seen = {}

    def on_chain_start(self, serialized, inputs, *, metadata=None, **kwargs):
        """Keep what a node's metadata says."""
        if "langgraph_node" in (metadata or {}):
            self.seen[metadata["langgraph_node"]] = metadata.get("phase")


class AsyncPhases(AsyncCallbackHandler):
    """The same, awaited."""

    def __init__(self):
        self.seen = {}

    async def on_chain_start(self, serialized, inputs, *, metadata=None, **kwargs):
        """Keep what a node's metadata says."""
        if "langgraph_node" in (metadata or {}):
            self.seen[metadata["langgraph_node"]] = metadata.get("phase")


@pytest.mark.paired
@pytest.mark.parametrize(
    ("mode", "handler"),
    [("invoke", Phases), ("stream", Phases), ("ainvoke", Phases), ("ainvoke", AsyncPhases), ("astream", AsyncPhases)],
)
@pytest.mark.parametrize("phase", STOPPED)
def test_a_callback_is_told_the_phase_of_the_stop(phase, mode, handler):
    """The metadata of the stop terminal says where the run stopped, as the result does."""
    told = handler()
    result = run(STOPPED[phase](), QUESTION, mode, config={"callbacks": [told], "metadata": {"tenant": "a"}})
    assert result["phase"] == phase
    assert {entry["node"]: entry["phase"] for entry in result["timeline"]} == told.seen


def test_an_ending_that_fails_is_told_with_its_phase():
    """The stop to which a failed ok ending leads is in the phase of that ending."""
    told = Phases()
    graph = create_rag_agent(planner=lambda view: INTENT)
    graph.builder.nodes["answered"].runnable.body = lambda state, run: 1 / 0
    result = graph.invoke(QUESTION, {"callbacks": [told]})
    assert result["stop_reason"] == "guard_error:answered"
    assert told.seen["stop_guard_error"] == result["phase"] == "generate"
