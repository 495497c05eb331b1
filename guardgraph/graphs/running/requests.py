"""Requests: an input that a client sends again goes on with its run, and none takes the place of a run by accident.

A client that got no answer, and a server after a crash, send the same input again. With the same request id it resumes
the run that it began, or returns that run's result. Another input does not push aside a run that has not ended, unless
it says so. LangGraph's server lets one run of a thread work at a time, and its clients choose there what becomes of the
one before: so on a server another input takes the place of a run that was left, if that neither waits for a person nor
may have changed something outside.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from langgraph.checkpoint.base import CheckpointTuple
from langgraph.errors import InvalidUpdateError

from guardgraph.graphs.running.admission import (
    REQUEST_KEY,
    Graph,
    get_checkpointer,
    is_inside_graph,
    is_run_checkpointed,
    is_thread_id,
    locate_latest_checkpoint,
    merge_graph_config,
    read_waiting_question,
)
from guardgraph.graphs.running.session import choose_request, is_on_server, is_request_named
from guardgraph.plain.errors import InputError

REPLACE: Final = "replace"
"""Key in a client's configuration by which an input takes the place of a run that has not ended."""


class RunNotEnded(InputError, InvalidUpdateError):
    """An InputError for an input on a thread whose run has not ended; LangGraph's server answers it with 400."""


def read_earlier_run(graph: Graph, given: object, config: Any) -> CheckpointTuple | None:
    """Return the latest checkpoint of the thread for which a new input comes; None where there is none.

    Args:
        graph: the one that is called.
        given: its input.
        config: as the caller gave it.
    """
    if (place := _locate_earlier_run(graph, given, config)) is None:
        return None
    stored: CheckpointTuple | None = get_checkpointer(graph, place["configurable"]).get_tuple(place)
    return stored


async def aread_earlier_run(graph: Graph, given: object, config: Any) -> CheckpointTuple | None:
    """Do what `read_earlier_run` does, asynchronously."""
    if (place := _locate_earlier_run(graph, given, config)) is None:
        return None
    stored: CheckpointTuple | None = await get_checkpointer(graph, place["configurable"]).aget_tuple(place)
    return stored


def _locate_earlier_run(graph: Graph, given: object, config: Any) -> Any:
    configurable = merge_graph_config(graph, config)
    if not isinstance(given, Mapping) or is_inside_graph(configurable) or not is_run_checkpointed(graph, configurable):
        return None
    if not is_thread_id(configurable.get("thread_id")):
        return None
    return locate_latest_checkpoint(graph, configurable)


def is_asked_again(
    graph: Graph, earlier: CheckpointTuple | None, admitted: Any, config: Any, *, has_effects: bool
) -> bool:
    """Say whether a new input has the request id of the run that it finds on its thread, so that this one goes on.

    Args:
        graph: the one that is called.
        earlier: what `read_earlier_run` returned.
        admitted: the input, as the door let it in.
        config: as the caller gave it.
        has_effects: whether a node of the graph may change something outside.

    Raises:
        InputError: the request id stands for another input; or the run has not ended, and the input does not say that
            it replaces it.
    """
    if earlier is None or earlier.metadata.get("source") == "input":  # a run that got no further called nobody
        return False
    values, configurable = earlier.checkpoint["channel_values"], merge_graph_config(graph, config)
    if not values.get("run") or not (log := values.get("log")):
        return False
    asked = choose_request({"configurable": dict(configurable)})
    if asked is not None and is_request_named(log[0].get("request"), asked):
        if any(admitted.get(name) != value for name, value in (values.get("given") or {}).items()):
            raise InputError(f"config.configurable.{REQUEST_KEY}: one for every input; given: {asked:.80}, once more")
        return True
    is_held = has_effects or read_waiting_question(earlier) is not None or not is_on_server(configurable)
    if is_held and "status" not in values and configurable.get(REPLACE) is not True:
        raise RunNotEnded(
            f"input: run {values['run']} of this thread has not ended; None or a Command resumes it, and another input "
            f"takes its place with config.configurable.{REPLACE}: True"
        )
    return False
