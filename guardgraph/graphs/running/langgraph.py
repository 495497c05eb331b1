"""What LangGraph keeps to itself, and a pattern has to know: the one file that names it.

These names are no part of LangGraph's interface. They were seen in the versions of `SEEN_IN`, and a test holds them
against the version that is installed.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any, Final

from langgraph.graph._branch import BranchSpec
from langgraph.graph.state import CompiledStateGraph
from langgraph.types import Interrupt

__all__ = ["BranchSpec"]

SEEN_IN: Final = ("1.2.18", "1.2.22")  # the first and the last version of LangGraph in which these names were seen

CHECKPOINT_MAP: Final = "checkpoint_map"
"""Key of the ids of the checkpoints on which a node and the graphs around it work, by their namespaces."""
CHECKPOINTER: Final = "__pregel_checkpointer"
"""Key of the checkpointer that keeps a run, in the configuration of its nodes."""
DURABILITY: Final = "__pregel_durability"  # key of when a step is kept
NODE_FINISHED: Final = "__pregel_node_finished"  # key of the function that is told of every node that has finished
READ: Final = "__pregel_read"  # key of the function with which a node reads the state; a client cannot send one
REPLAY_STATE: Final = "__pregel_replay_state"  # key of what a graph inside a graph goes on with
RESUME_MAP: Final = "__pregel_resume_map"  # key of the answers to interrupts, by their ids
RESUMING: Final = "__pregel_resuming"  # key of whether a run goes on where an earlier one stood
RUNTIME: Final = "__pregel_runtime"  # key of what LangGraph hands to nodes beside the state
SCRATCHPAD: Final = "__pregel_scratchpad"  # key of what keeps the answers to the interrupts of a node
SEND: Final = "__pregel_send"  # key of the function with which a node writes
STREAM: Final = "__pregel_stream"  # key of the stream of the graph around
TASK_ID: Final = "__pregel_task_id"  # key of the id of a visit
TRIGGER: Final = "branch:to:"  # what the names of channels begin with that start a node
INTERRUPT: Final = "__interrupt__"  # key under which LangGraph returns what a run waits for


def read_interrupt_value() -> Any:
    """Return what LangGraph's `interrupt` shows, to the caller whom it asks which interrupt of the node this is."""
    return sys._getframe(2).f_locals.get("value")


def watch_interrupts(scratchpad: Any, note: Callable[[Any], None]) -> None:
    """Let `note` be told what every interrupt by this scratchpad shows, before it is answered or not."""
    count = scratchpad.interrupt_counter

    def count_noted_interrupt() -> int:
        note(read_interrupt_value())
        return int(count())

    object.__setattr__(scratchpad, "interrupt_counter", count_noted_interrupt)  # its class is frozen


def keep_checkpoint_allowlist(
    made: CompiledStateGraph[Any, Any, Any, Any], compiled: CompiledStateGraph[Any, Any, Any, Any]
) -> None:
    """Let a graph that was made of a compiled one read the classes from a checkpoint that the latter may."""
    made._serde_allowlist = compiled._serde_allowlist


def copy_langgraph_value(value: Any) -> Any:
    """Return a value whose dictionaries, lists, tuples and interrupts are copies; what else there is stays."""
    kind = type(value)
    if kind is dict:
        return {key: copy_langgraph_value(item) for key, item in value.items()}
    if kind is list:
        return [copy_langgraph_value(item) for item in value]
    if kind is tuple:
        return tuple([copy_langgraph_value(item) for item in value])
    if kind is Interrupt:
        schema = copy_langgraph_value(value.response_schema)
        return Interrupt(value=copy_langgraph_value(value.value), id=value.id, response_schema=schema)
    return value
