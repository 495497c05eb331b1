"""Forks: a run that goes on from an earlier checkpoint of its thread is a run of its own.

What a run did since one of its checkpoints would be done once more, under the same run_id and with the same approval.
So a deployment has to allow it, and what goes on has an id, a beginning on record, a request and so keys of its own.
What happened before the checkpoint is part of it; what the earlier run kept after it is not. An answer of a person
counts for the run that asked, so no run goes on from behind one.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, Final

from langgraph.checkpoint.base import BaseCheckpointSaver, CheckpointTuple, copy_checkpoint
from langgraph.checkpoint.base.id import uuid6

from guardgraph.graphs.declaring.declaration import UNRECORDED_ENDING
from guardgraph.graphs.running.admission import (
    TRIGGER,
    get_checkpointer,
    is_inside_graph,
    locate_latest_checkpoint,
    merge_graph_config,
    name_no_checkpoint,
)
from guardgraph.graphs.running.begin import is_recording_required, tell_beginning
from guardgraph.graphs.running.effects import Errand, Needs
from guardgraph.graphs.running.frame import Frame, build_stop_verdict
from guardgraph.graphs.running.session import (
    Session,
    choose_request,
    is_request_named,
    name_request_of,
    open_door_session,
)
from guardgraph.plain.errors import InputError
from guardgraph.plain.json import JsonObject, copy_json, make_storable_json
from guardgraph.state.catalogue import AUDIT_UNAVAILABLE
from guardgraph.state.recording import ForkedFrom

_KEY: Final = "config.configurable.checkpoint_id"


def choose_checkpoint(
    graph: Any, session: Session, latest: CheckpointTuple | None, config: Any, context: Any
) -> Needs[tuple[CheckpointTuple | None, Any]]:
    """Choose the checkpoint that a run goes on from: the latest, or that of a fork which is made here.

    Args:
        graph: the one that is called.
        session: of this call.
        latest: the thread's latest checkpoint; None where a run begins.
        config: the admitted configuration.
        context: the admitted context.

    Returns:
        The checkpoint, and the configuration to go on with. It names none: to LangGraph, naming even the latest means
        to do its last step again.

    Raises:
        InputError: an earlier checkpoint is named, or none that there is, and the graph has no forks; or no run can go
            on from there.
        ConfigurationError: the context says who asks where a server does.
    """
    configurable = merge_graph_config(graph, config)
    if latest is None or is_inside_graph(configurable):
        return latest, config
    if (named := _find_earlier_checkpoint(graph, latest, configurable)) is not None:
        latest = yield from _fork_run(graph, session, latest, named=named, configurable=configurable, context=context)
    return latest, name_no_checkpoint(graph, config)


def _find_earlier_checkpoint(graph: Any, latest: CheckpointTuple, configurable: Mapping[str, Any]) -> str | None:
    """Return the checkpoint that a configuration names, by whatever key, if it is not the latest one of its thread."""
    by_place = configurable.get("checkpoint_map") or {}
    root = configurable.get("checkpoint_id") or by_place.get("")
    named = [str(name) for name in (configurable.get("checkpoint_id"), *by_place.values()) if name]
    earlier = [name for name in named if name != latest.checkpoint["id"]]
    if not earlier:
        return None
    if not graph.frame.forks or {*named} != {str(root)}:
        raise InputError(
            f"{_KEY}: a run goes on from the latest checkpoint of its thread, and names none or that one; "
            f"given: {earlier[0]!r:.80}"
        )
    return earlier[0]


def _fork_run(
    graph: Any, session: Session, latest: CheckpointTuple, *, named: str, configurable: Mapping[str, Any], context: Any
) -> Needs[CheckpointTuple]:
    """Make a fork of the run that stood at a checkpoint, and return the checkpoint that it goes on from."""
    frame: Frame = graph.frame
    saver, place = get_checkpointer(graph, configurable), locate_latest_checkpoint(graph, configurable)
    asked = choose_request({"configurable": {**configurable}})
    request = None if asked is None else f"{asked}|{named}"
    if request is not None and _is_fork_of(latest, named, request):
        return latest  # the client got no answer, and asks again
    origin = yield Errand(saver, "get_tuple", ({"configurable": {**place["configurable"], "checkpoint_id": named}},))
    values = _check_fork_point(frame, origin, named)
    began, opening, run = open_door_session(frame, session, configurable, context)
    began.run_id = frame.world.new_run()
    began.request = began.run_id if request is None else name_request_of(request, run.caller)
    began.forked_from = ForkedFrom(run_id=values["run"], checkpoint=named)
    required = is_recording_required(frame, run)
    with session.pause_clock():
        error = yield from tell_beginning(frame, began, values.get("given") or {}, opening, required=required)
    written: JsonObject = {"run": began.run_id, "log": _write_fork_log(values["log"], began, error)}
    if error is not None and required:
        verdict = build_stop_verdict(AUDIT_UNAVAILABLE, values["log"][-1]["phase"], {"details": error})
        written |= {"verdict": verdict, f"{TRIGGER}{UNRECORDED_ENDING}": None}
    yield Errand(saver, "put", (origin.config, *_build_fork_checkpoint(saver, origin, written)))
    made: CheckpointTuple = yield Errand(saver, "get_tuple", (place,))
    return made


def _is_fork_of(latest: CheckpointTuple, named: str, request: str) -> bool:
    """Say whether the run that stands on a thread is the fork of a checkpoint that is asked for by a request."""
    line = (latest.checkpoint["channel_values"].get("log") or [{}])[0]
    return line.get("forked_from", {}).get("checkpoint") == named and is_request_named(line.get("request"), request)


def _check_fork_point(frame: Frame, origin: CheckpointTuple | None, named: str) -> JsonObject:
    """Return the channels at a checkpoint, if a run can go on from there.

    Raises:
        InputError: there is no such checkpoint, the run had ended there or not begun, or a person had answered.
    """
    values: JsonObject = {} if origin is None else origin.checkpoint["channel_values"]
    entries = [f"{TRIGGER}{name}" for name, item in frame.declarations.items() if item.entry]
    if origin is None or origin.metadata.get("source") == "input" or not values.get("run") or not values.get("log"):
        problem = "at which no run of this graph stands; to begin one, give an input"
    elif any(name in values for name in entries):
        problem = "at which its run had not begun; to begin one, give an input"
    elif "status" in values:
        problem = "at which its run had ended"
    elif answered := _find_answered_node(frame, values):
        problem = f"behind an answer to {answered!r:.80}, which counts for run {values['run']} alone"
    else:
        return values
    raise InputError(
        f"{_KEY}: a fork goes on from a checkpoint of a run, before a person answered; given: {named!r:.80}, {problem}"
    )


def _find_answered_node(frame: Frame, values: JsonObject) -> str | None:
    """Return a node at which a person had answered: to a call, or to a body that interrupted the run by itself."""
    for channel in frame.records:
        for record in values.get(channel) or ():
            if "answers" in record or any(call["kind"] == "person" for call in record["calls"]):
                return str(values["log"][record["at"]]["node"])
    return None


def _write_fork_log(log: list[Any], session: Session, error: JsonObject | None) -> list[Any]:
    """Return the lines of the run before, of which the first says whose they are now."""
    first = {key: value for key, value in log[0].items() if key not in ("request", "unbegun", "forked_from")}
    said: JsonObject = {} if session.request == session.run_id else {"request": session.request}
    if error is not None:
        said["unbegun"] = make_storable_json(error)
    return [{**first, **said, "forked_from": session.forked_from}, *copy_json(log[1:])]


def _build_fork_checkpoint(
    saver: BaseCheckpointSaver[Any], origin: CheckpointTuple, written: JsonObject
) -> tuple[Any, Any, Any]:
    """Return a checkpoint like an earlier one but for some channels, its metadata, and the versions of the channels.

    What starts a node, such as the channel of an ending, takes the place of what would have started another.
    """
    made = copy_checkpoint(origin.checkpoint)
    version = saver.get_next_version(max(made["channel_versions"].values()), None)
    starts = [name for name in written if name.startswith(TRIGGER)]
    gone = [name for name in made["channel_values"] if starts and name.startswith(TRIGGER)]
    changed: dict[str, Any] = dict.fromkeys([*gone, *written], version)
    made["channel_values"] = {name: item for name, item in made["channel_values"].items() if name not in gone} | written
    made["channel_versions"] = made["channel_versions"] | changed
    if starts:
        made["updated_channels"] = sorted(written)
    step = origin.metadata.get("step", -1) + 1
    made |= {"id": str(uuid6(clock_seq=step)), "ts": datetime.now(UTC).isoformat()}
    return made, {"source": "fork", "step": step, "parents": origin.metadata.get("parents", {})}, changed
