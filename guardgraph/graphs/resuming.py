"""Runs that cannot go on: their next node is not of the graph that resumes them.

A node was renamed since, or the thread holds the run of another graph. LangGraph finds nothing to do and returns {};
here such a run ends in ``stop_guard_error``, with the record of what it did before.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias
from uuid import uuid4

from langgraph.checkpoint.base import CheckpointTuple
from langgraph.graph import END, START
from langgraph.graph.state import CompiledStateGraph
from langgraph.pregel import Pregel
from langgraph.types import StateUpdate

from guardgraph.graphs.admission import around, is_inside, keeps, saver

__all__ = ["Graph", "aclose_stray", "astored_for", "close_stray", "place_of", "stored_for"]

Graph: TypeAlias = CompiledStateGraph[Any, Any, Any, Any]
_TRIGGER = "branch:to:"
_KEPT = ("thread_id", "__pregel_checkpointer")


def stored_for(graph: Graph, given: object, config: Any) -> CheckpointTuple | None:
    """Return the checkpoint that a run is to go on from; None for a run that begins.

    Args:
        graph: the one that is called.
        given: its input.
        config: the admitted configuration.
    """
    if (place := _asked_place(graph, given, config)) is None:
        return None
    stored: CheckpointTuple | None = saver(graph, place["configurable"]).get_tuple(place)
    return stored


async def astored_for(graph: Graph, given: object, config: Any) -> CheckpointTuple | None:
    """Do what `stored_for` does, asynchronously."""
    if (place := _asked_place(graph, given, config)) is None:
        return None
    stored: CheckpointTuple | None = await saver(graph, place["configurable"]).aget_tuple(place)
    return stored


def close_stray(graph: Graph, stored: CheckpointTuple | None, config: Any) -> Any:
    """Lead a run that is resumed, but has no next node in this graph, to its end in ``stop_guard_error``.

    Args:
        graph: the one that is called.
        stored: what `stored_for` returned.
        config: the admitted configuration.

    Returns:
        The configuration to go on with; the one that was given for every run that can go on.
    """
    if stored is None or not _is_stray(graph, stored):
        return config
    Pregel.bulk_update_state(graph, _place(graph, config), _ending(graph, stored))
    return _latest(config)


async def aclose_stray(graph: Graph, stored: CheckpointTuple | None, config: Any) -> Any:
    """Do what `close_stray` does, asynchronously."""
    if stored is None or not _is_stray(graph, stored):
        return config
    await Pregel.abulk_update_state(graph, _place(graph, config), _ending(graph, stored))
    return _latest(config)


def _asked_place(graph: Graph, given: object, config: Any) -> Any:
    configurable = around(graph, config)
    asked = not isinstance(given, Mapping) or configurable.get("__pregel_resuming") is True
    return _place(graph, config) if asked and keeps(graph, configurable) else None


def _place(graph: Graph, config: Any) -> Any:
    """Return where the checkpoint that a configuration names stands; the latest one where it names none."""
    configurable = around(graph, config)
    place = place_of(graph, configurable)
    if (named := configurable.get("checkpoint_id")) is not None:
        place["configurable"]["checkpoint_id"] = named
    return place


def place_of(graph: Graph, configurable: Mapping[str, Any]) -> Any:
    """Return where the latest checkpoint of a run stands."""
    namespace = configurable.get("checkpoint_ns", "") if is_inside(configurable) else ""
    if graph.checkpointer is True:  # one history a thread, whichever task asks
        namespace = "|".join(part.partition(":")[0] for part in namespace.split("|"))
    kept = {name: configurable[name] for name in _KEPT if configurable.get(name) is not None}
    return {"configurable": {**kept, "thread_id": str(kept["thread_id"]), "checkpoint_ns": namespace}}


def _is_stray(graph: Graph, stored: CheckpointTuple) -> bool:
    """Say whether a run has not ended, and nothing that was written last starts a node of the graph."""
    values = stored.checkpoint["channel_values"]
    written = stored.checkpoint.get("updated_channels") or values
    return "status" not in values and not any(name in values and name in graph.trigger_to_nodes for name in written)


def _ending(graph: Graph, stored: CheckpointTuple) -> list[list[StateUpdate]]:
    """Return what the entry guard would have written, had it found out, after anything else that is waiting."""
    values = stored.checkpoint["channel_values"]
    [entry] = [end for start, end in graph.builder.edges if start == START]
    phases = {name: (spec.metadata or {}).get("phase") for name, spec in graph.builder.nodes.items()}
    phase = (values.get("log") or [{}])[-1].get("phase")
    following = _following(graph, stored)
    details = {
        "type": "StrayRun",
        "message": f"the run's next node is {following or 'unknown'}, which is not of this graph",
        "given": following,
    }
    verdict = {
        "reason": "guard_error:door",
        "phase": phase if phase is not None and phase in phases.values() else phases[entry],
        "evidence": {"details": details},
    }
    update = {"run": values.get("run") or str(uuid4()), "route": "stop_guard_error", "verdict": verdict}
    return [[StateUpdate(None, END)], [StateUpdate(update, entry)]]


def _following(graph: Graph, stored: CheckpointTuple) -> str | None:
    """Name the node that a checkpoint would go on with, the one that the graph does not have and that is newest."""
    versions = stored.checkpoint["channel_versions"]
    written = [name for name in stored.checkpoint["channel_values"] if name.startswith(_TRIGGER)]
    strange = [name for name in written if name not in graph.channels and name in versions]
    return max(strange, key=versions.__getitem__).removeprefix(_TRIGGER) if strange else None


def _latest(config: Any) -> Any:
    """Leave out which checkpoint was asked for: the run goes on from the one that was written last."""
    configurable = {key: value for key, value in config["configurable"].items() if key != "checkpoint_id"}
    return {**config, "configurable": configurable}
