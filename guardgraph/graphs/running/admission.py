"""What the door of a guarded graph admits beside the input: a thread to write on, and no way back into an earlier run.

A client chooses the configuration of its runs. LangGraph reads there whether a run goes on where an earlier one stood:
for an answer or for None that is what was asked for, for a new input it would be another run's result.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, TypeAlias
from uuid import UUID

from langchain_core.runnables.config import var_child_runnable_config
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.graph.state import CompiledStateGraph
from langgraph.pregel import Pregel
from langgraph.types import Command

from guardgraph.graphs.running.langgraph import (
    CHECKPOINTER,
    DURABILITY,
    NODE_FINISHED,
    READ,
    REPLAY_STATE,
    RESUME_MAP,
    RESUMING,
    RUNTIME,
    SCRATCHPAD,
    STREAM,
    TASK_ID,
)
from guardgraph.plain.errors import ConfigurationError, InputError
from guardgraph.plain.json import find_json_problem, is_larger_json
from guardgraph.state.context import MOST_FIELDS

Graph: TypeAlias = CompiledStateGraph[Any, Any, Any, Any]

MOST_STEPS: Final = 10**9
"""The `recursion_limit` of every run, whatever a client says: budgets end a run, and an ending is on record."""
REQUEST_KEY: Final = "request_key"  # key in a client's configuration of the id of what it asks for
LONGEST_KEY: Final = 200  # characters that a `request_key` may have
_WAYS_BACK = (RESUMING, RESUME_MAP, REPLAY_STATE, TASK_ID, SCRATCHPAD)
"""What LangGraph sets for the graphs inside a graph, so that they go on with it; nobody else has a use for it."""
_COPIED: Final[Mapping[str, tuple[Any, str]]] = {
    "configurable": (Mapping, "a dictionary"),
    "metadata": (Mapping, "a dictionary"),
    "tags": ((list, tuple, set), "a list"),
}
"""What a client's configuration may have any number of, and what each has to be."""
_OBJECTS = (CHECKPOINTER, NODE_FINISHED, RUNTIME, STREAM)
"""Where LangGraph keeps what works for a run; nobody can send such a thing."""
_UNHALTED = "a run that is recorded goes on to its ending or to a person's review"
_KEEPING = ("durability", "checkpoint_during")  # arguments of a call that say when a step is kept
_PLACES = ("thread_id", "checkpoint_ns", "checkpoint_id", "checkpoint_map")
"""What makes a configuration a place of its own, whatever graph the call stands in."""


def validate_config(config: Any) -> None:
    """Refuse a configuration, or a part of it, that is of a wrong type or too large."""
    if not isinstance(config, Mapping | None):
        raise ConfigurationError(f"config: a dictionary is required; given: {type(config).__name__}")
    for name, (kind, said) in _COPIED.items():
        if (held := (config or {}).get(name)) is None:
            continue
        if not isinstance(held, kind):
            raise ConfigurationError(f"config.{name}: {said} is required; given: {type(held).__name__}")
        if len(held) > MOST_FIELDS:
            raise ConfigurationError(f"config.{name}: at most {MOST_FIELDS} are allowed; given: {len(held)}")


def refuse_forged_config(given: Mapping[str, Any]) -> None:
    """Refuse a configuration in which a client says what LangGraph says itself, so that a run could not even begin."""
    for key in _OBJECTS:
        if isinstance(value := given.get(key), str | bytes | int | float | list | dict):
            raise ConfigurationError(f"config.configurable.{key}: LangGraph alone sets it; given: {value!r:.80}")
    if not isinstance(named := given.get("checkpoint_id"), str | UUID | None):
        raise ConfigurationError(f"config.configurable.checkpoint_id: a text is required; given: {named!r:.80}")
    if not isinstance(by_place := given.get("checkpoint_map"), Mapping | None):
        raise ConfigurationError(f"config.configurable.checkpoint_map: an object is required; given: {by_place!r:.80}")


def admit_run_config(
    given: object, config: Any, configurable: Mapping[str, Any], *, is_kept: bool, has_effects: bool
) -> Any:
    """Return the configuration under which a run may begin or go on."""
    own = {**((config or {}).get("configurable") or {})}
    if (key := configurable.get(REQUEST_KEY)) is not None and (
        not isinstance(key, str) or not 0 < len(key) <= LONGEST_KEY or find_json_problem(key) is not None
    ):
        raise InputError(
            f"config.configurable.{REQUEST_KEY}: a text of 1 to {LONGEST_KEY} characters is required; "
            f"given: {key!r:.80}"
        )
    if is_kept:
        if not is_thread_id(thread := configurable.get("thread_id")):
            raise ConfigurationError(
                "config.configurable.thread_id: a text, a whole number or a UUID is required with a checkpointer; "
                f"given: {thread!r:.80}"
            )
        own.setdefault(DURABILITY, configurable.get(DURABILITY, "sync"))
        if has_effects:
            own[DURABILITY] = "sync"
    if isinstance(given, Mapping) and not is_inside_graph(configurable):
        own = {**{key: value for key, value in own.items() if key not in _WAYS_BACK}, RESUMING: False}
    return {**(config or {}), "recursion_limit": MOST_STEPS, "configurable": own}


def admit_durability(given: Mapping[str, Any], has_effects: bool) -> dict[str, Any]:
    """Return the arguments of a call without those by which it would choose when a step is kept, if it may not."""
    return {name: item for name, item in given.items() if not has_effects or name not in _KEEPING}


def refuse_halting(graph: Graph, given: Mapping[str, Any], configurable: Mapping[str, Any]) -> None:
    """Refuse what halts or breaks off a run between its nodes, where every run is to be on record with its ending."""
    for name in ("interrupt_before", "interrupt_after"):
        if where := given.get(name) or getattr(graph, f"{name}_nodes"):
            raise ConfigurationError(f"{name}: {_UNHALTED}; given: {where!r:.80}")
    runtime = configurable.get(RUNTIME)
    if (control := given.get("control") or getattr(runtime, "control", None)) is not None:
        raise ConfigurationError(f"control: {_UNHALTED}; given: {control!r:.80}")
    if graph.step_timeout is not None:
        raise ConfigurationError(f"step_timeout: {_UNHALTED}, and max_seconds ends it; given: {graph.step_timeout!r}")


def admit_resume_command(given: Command[Any], most: int) -> Command[Any]:
    """Return a Command that resumes a run with an answer, and does nothing else."""
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
    if (problem := find_json_problem(given.resume)) is not None:
        raise InputError(f"input: a run is resumed with plain JSON; given: {problem}")
    if is_larger_json(given.resume, most):
        raise InputError(f"input: a run is resumed with at most {most} bytes of JSON (max_input_bytes); given: more")
    return given


def is_thread_id(given: object) -> bool:
    """Say whether every checkpointer can keep a thread of this name, and keep it apart from others."""
    if isinstance(given, str):
        return given != "" and find_json_problem(given) is None
    return isinstance(given, int | UUID) and not isinstance(given, bool)


def is_inside_graph(configurable: Mapping[str, Any]) -> bool:
    """Say whether a call is made by a node of a graph; a client cannot send the function that tells it."""
    return callable(configurable.get(READ))


def find_saver(graph: Graph, configurable: Mapping[str, Any]) -> BaseCheckpointSaver[Any] | None:
    """Return the checkpointer that keeps what a run of the graph writes: its own, or one that a graph around lends."""
    saver = configurable.get(CHECKPOINTER, graph.checkpointer)
    return saver if graph.checkpointer is not False and isinstance(saver, BaseCheckpointSaver) else None


def merge_graph_config(graph: Pregel[Any, Any, Any, Any], config: Any) -> Mapping[str, Any]:
    """Return what LangGraph will read; a graph around does not count for a call that names a place of its own."""
    bound, own, around = (
        (each or {}).get("configurable") or {} for each in (graph.config, config, var_child_runnable_config.get())
    )
    given = {**bound, **own}
    return given if any(given.get(key) for key in _PLACES) else {**around, **given}
