"""No client breaks a run off between its nodes: a run ends, waits, or was never begun."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from langchain_core.runnables import RunnableLambda
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, StateGraph
from langgraph.runtime import RunControl
from recorded_runs import Kept
from refund_pattern import PAID, answering, refund, waiting
from ticket_pattern import TICKET, triage
from typing_extensions import TypedDict

from guardgraph import ConfigurationError, InputError

THREAD = {"configurable": {"thread_id": "1"}}
FEW = {"recursion_limit": 2}


class Around(TypedDict):
    """The state of a graph around a guarded one."""

    ticket: str
    came: dict[str, Any]


def inside(agent):
    """Call an agent as a node of an ordinary graph."""
    graph = StateGraph(Around)
    graph.add_node("triage", lambda state: {"came": agent.invoke(TICKET, FEW)})
    graph.add_edge(START, "triage")
    return graph.compile().invoke(TICKET, {"recursion_limit": 3})["came"]


def as_tool(agent):
    """Call an agent as a tool, with a limit of the tool's."""

    @tool
    def ask(ticket: str) -> dict[str, Any]:
        """Label a ticket."""
        return agent.invoke({"ticket": ticket}, FEW)

    return ask.invoke(TICKET)


async def followed(agent):
    """Follow an agent asynchronously, and return the last values."""
    return [chunk async for chunk in agent.astream(TICKET, FEW, stream_mode="values")][-1]


WAYS = {
    "invoke": lambda agent: agent.invoke(TICKET, FEW),
    "ainvoke": lambda agent: asyncio.run(agent.ainvoke(TICKET, FEW)),
    "stream": lambda agent: [*agent.stream(TICKET, FEW, stream_mode="values")][-1],
    "astream": lambda agent: asyncio.run(followed(agent)),
    "batch": lambda agent: agent.batch([TICKET], FEW)[0],
    "bound": lambda agent: agent.with_config(**FEW).invoke(TICKET),
    "in a chain": lambda agent: (RunnableLambda(dict) | agent).invoke(TICKET, FEW),
    "in a graph": inside,
    "as a tool": as_tool,
}


@pytest.mark.parametrize("way", WAYS)
def test_a_recursion_limit_breaks_no_run_off(way):
    """However small a client's limit is and however it calls, the run comes to its ending, which is on record."""
    kept = Kept()
    came = WAYS[way](triage(recorder=kept))
    assert (came["status"], came["on_duty"]) == ("ok", kept.only["result"]["on_duty"])


HALTS = {
    "interrupt_before": ({"interrupt_before": ["lookup"]}, {}),
    "interrupt_after": ({"interrupt_after": "*"}, {}),
    "interrupt_before of the graph": ({}, {"interrupt_before_nodes": ["lookup"]}),
    "step_timeout": ({}, {"step_timeout": 0.5}),
    "control": ({"control": RunControl()}, {}),
}


@pytest.mark.paired
@pytest.mark.parametrize("how", HALTS)
@pytest.mark.parametrize("mode", ["invoke", "ainvoke"])
def test_what_is_recorded_is_not_halted_between_nodes(how, mode):
    """Where a recorder is set, breakpoints and limits of a step are refused before anything runs, in one clear line."""
    given, attributes = HALTS[how]
    kept, asked = Kept(), []
    agent = triage(recorder=kept, checkpointer=InMemorySaver(), tool=asked.append)
    for name, value in attributes.items():
        setattr(agent, name, value)
    with pytest.raises(ConfigurationError, match=f"^{how.split()[0]}: a run that is recorded goes on to its ending"):
        agent.invoke(TICKET, THREAD, **given) if mode == "invoke" else asyncio.run(
            agent.ainvoke(TICKET, THREAD, **given)
        )
    assert (asked, kept.texts, agent.get_state(THREAD).values) == ([], [], {})


@pytest.mark.parametrize("mode", ["invoke", "ainvoke"])
@pytest.mark.parametrize("named", ["checkpoint_id", "checkpoint_map", "both"])
def test_one_approval_pays_once(mode, named):
    """A run that was approved and paid does not pay again from an earlier checkpoint; its latest one may be named."""
    paid = []
    agent = refund(tool=lambda request: paid.append(request) or "paid 30 for A7", checkpointer=InMemorySaver())
    agent.invoke(answering(waiting(agent)), THREAD)
    assert len(paid) == 1
    latest, *earlier = [state.config["configurable"]["checkpoint_id"] for state in agent.get_state_history(THREAD)]
    for checkpoint in earlier:
        place = {
            "checkpoint_id": {"checkpoint_id": checkpoint},
            "checkpoint_map": {"checkpoint_ns": "", "checkpoint_map": {"": checkpoint}},
            "both": {"checkpoint_ns": "", "checkpoint_id": latest, "checkpoint_map": {"": checkpoint}},
        }[named]
        config = {"configurable": {"thread_id": "1", **place}}
        with pytest.raises(InputError, match="checkpoint_id: a run goes on from the latest checkpoint of its thread"):
            agent.invoke(None, config) if mode == "invoke" else asyncio.run(agent.ainvoke(None, config))
    for _ in range(2):
        again = agent.invoke(None, {"configurable": {"thread_id": "1", "checkpoint_id": latest}})
        assert PAID.items() <= again.items()
    assert len(paid) == 1
    assert len([*agent.get_state_history(THREAD)]) == 1 + len(earlier)
