"""What the door of a guarded graph admits beside the input: a thread to write on, and no way back into an earlier run.

A client chooses the configuration of its runs. LangGraph reads there whether a run goes on where an earlier one stood:
for an answer or for None that is what was asked for, for a new input it would be another run's result.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from langchain_core.runnables.config import var_child_runnable_config
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.pregel import Pregel
from langgraph.types import Command

from guardgraph.plain.errors import ConfigurationError, InputError
from guardgraph.plain.json import json_problem
from guardgraph.plain.size import is_larger

__all__ = ["RESUMING", "admitted_command", "admitted_config", "around", "is_inside", "keeps", "saver"]

RESUMING = "__pregel_resuming"
_SAVER = "__pregel_checkpointer"
_WAYS_BACK = (RESUMING, "__pregel_resume_map", "__pregel_replay_state", "__pregel_task_id", "__pregel_scratchpad")
"""What LangGraph sets for the graphs inside a graph, so that they go on with it; nobody else has a use for it."""
_DURABILITY = "__pregel_durability"
_PLACES = ("thread_id", "checkpoint_ns", "checkpoint_id", "checkpoint_map")
"""What makes a configuration a place of its own, whatever graph the call stands in."""


def admitted_config(graph: Pregel[Any, Any, Any, Any], given: object, config: Any) -> Any:
    """Return the configuration under which a run may begin or go on.

    A new input always begins a run: what would make it go on with an earlier one, such as the run_id of that run, has
    no effect. The graphs around this one say whether it goes on; they are no clients. Where nobody says otherwise, a
    step is kept before the next one begins, so that a slow checkpointer spends the time of the run and not of nobody.

    Args:
        graph: the one that is called.
        given: its input.
        config: as the caller gave it.

    Raises:
        ConfigurationError: there is a checkpointer, but no thread that it could write on.
    """
    configurable, own = around(graph, config), dict(_own(config))
    if keeps(graph, configurable):
        if not _is_thread(thread := configurable.get("thread_id")):
            raise ConfigurationError(
                "config.configurable.thread_id: a text, a whole number or a UUID is required with a checkpointer; "
                f"given: {thread!r:.80}"
            )
        own.setdefault(_DURABILITY, configurable.get(_DURABILITY, "sync"))
    if isinstance(given, Mapping) and not is_inside(configurable):
        own = {**{key: value for key, value in own.items() if key not in _WAYS_BACK}, RESUMING: False}
    return {**(config or {}), "configurable": own}


def admitted_command(given: Command[Any], most: int) -> Command[Any]:
    """Return a Command that resumes a run with an answer, and does nothing else.

    Args:
        given: what a caller gave.
        most: bytes that the answer may have as JSON text.

    Raises:
        InputError: it writes channels or chooses a node, or its answer is none, too large or no plain JSON.
    """
    if given.goto or given.update is not None or given.graph is not None:
        raise InputError("input: a Command may resume a run, but neither write channels nor choose a node")
    if given.resume is None:
        raise InputError(
            "input: a Command resumes a run with an answer, which is not None; None alone resumes without one"
        )
    if given.resume == {}:  # LangGraph's map of answers by interrupt, with none in it
        raise InputError(
            "input: a Command resumes a run with an answer, or with answers by id of their interrupt, one at least; "
            "given: {}; None alone resumes without one"
        )
    if (problem := json_problem(given.resume)) is not None:
        raise InputError(f"input: a run is resumed with plain JSON; given: {problem}")
    if is_larger(given.resume, most):
        raise InputError(f"input: a run is resumed with at most {most} bytes of JSON (max_input_bytes); given: more")
    return given


def _is_thread(given: object) -> bool:
    """Say whether every checkpointer can keep a thread of this name, and keep it apart from others."""
    if isinstance(given, str):
        return given != "" and json_problem(given) is None
    return isinstance(given, int | UUID) and not isinstance(given, bool)


def keeps(graph: Pregel[Any, Any, Any, Any], configurable: Mapping[str, Any]) -> bool:
    """Say whether a checkpointer keeps what a run of the graph writes: its own, or one that a graph around it lends."""
    return graph.checkpointer is not False and isinstance(saver(graph, configurable), BaseCheckpointSaver)


def is_inside(configurable: Mapping[str, Any]) -> bool:
    """Say whether a call is made by a node of a graph; a client cannot send the function that tells it."""
    return callable(configurable.get("__pregel_read"))


def saver(graph: Pregel[Any, Any, Any, Any], configurable: Mapping[str, Any]) -> Any:
    """Return the checkpointer of a run, if there is one."""
    return configurable.get(_SAVER, graph.checkpointer)


def around(graph: Pregel[Any, Any, Any, Any], config: Any) -> Mapping[str, Any]:
    """Return what LangGraph will read: what was given, what is bound, and what the graph around says, where it counts.

    A graph around does not count for a call that names a place of its own.
    """
    given = {**_own(graph.config), **_own(config)}
    if any(given.get(key) for key in _PLACES):
        return given
    return {**_own(var_child_runnable_config.get()), **given}


def _own(config: Any) -> Mapping[str, Any]:
    return (config or {}).get("configurable") or {}
