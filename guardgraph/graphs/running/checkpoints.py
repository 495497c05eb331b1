"""The thread of a run: what the door finds there, goes on from, and keeps there.

A client that got no answer, and a server after a crash, send the same input again. With the same request id it resumes
the run that it began, or returns that run's result. Another input does not push aside a run that has not ended, unless
it says so. LangGraph's server lets one run of a thread work at a time, and its clients choose there what becomes of the
one before: so on a server another input takes the place of a run that was left, if that neither waits for a person nor
may have changed something outside.

A run whose next node is not of the graph that resumes it cannot go on, and is led to its end. What goes on from an
earlier checkpoint is a fork, a run of its own: what a run did since would be done once more, under the same run_id and
with the same approval. So a deployment has to allow it, and a fork has an id, a beginning on record, a request and so
keys of its own. What happened before the checkpoint is part of it; what the earlier run kept after it is not. An answer
of a person counts for the run that asked, so no run goes on from behind one.

Whatever reads or writes at a checkpointer is a step of the door, which yields it: one for sync and async.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any, Final
from uuid import uuid4

from langgraph.checkpoint.base import BaseCheckpointSaver, CheckpointTuple, copy_checkpoint
from langgraph.checkpoint.base.id import uuid6
from langgraph.errors import InvalidUpdateError
from langgraph.graph import END, START
from langgraph.pregel import Pregel
from langgraph.types import Command, StateUpdate

from guardgraph.graphs.declaring.declaration import UNRECORDED_ENDING
from guardgraph.graphs.running.admission import REQUEST_KEY, Graph, is_inside_graph
from guardgraph.graphs.running.effects import Errand, Needs
from guardgraph.graphs.running.frame import Frame, build_stop_verdict
from guardgraph.graphs.running.langgraph import CHECKPOINTER, INTERRUPT, REPLAY_STATE, TRIGGER
from guardgraph.graphs.running.recorder import is_recording_required, tell_beginning
from guardgraph.graphs.running.session import (
    Session,
    choose_request,
    is_on_server,
    is_request_named,
    name_request_of,
    open_door_session,
)
from guardgraph.plain.errors import InputError
from guardgraph.plain.json import JsonObject, copy_json, make_storable_json
from guardgraph.plain.version import find_format_problem
from guardgraph.state.catalogue import AUDIT_UNAVAILABLE
from guardgraph.state.context import Caller, build_server_caller
from guardgraph.state.recording import ForkedFrom

REPLACE: Final = "replace"
"""Key in a client's configuration by which an input takes the place of a run that has not ended."""

_KEPT = ("thread_id", CHECKPOINTER)
_FORKED: Final = "config.configurable.checkpoint_id"
_UNWRITTEN: Final = "guardgraph:unwritten"
"""Channel of the seconds of attempts that wrote nothing, beside a checkpoint; LangGraph passes over it."""


class RunNotEnded(InputError, InvalidUpdateError):
    """An InputError for an input on a thread whose run has not ended; LangGraph's server answers it with 400."""


def locate_checkpoint(graph: Graph, configurable: Mapping[str, Any], *, named: bool = False) -> Any:
    """Return where the latest checkpoint of a run stands, or the one that a configuration names, if it does."""
    namespace = configurable.get("checkpoint_ns", "") if is_inside_graph(configurable) else ""
    if graph.checkpointer is True:  # one history a thread, whichever task asks
        namespace = "|".join(part.partition(":")[0] for part in namespace.split("|"))
    kept = {name: configurable[name] for name in _KEPT if configurable.get(name) is not None}
    place = {**kept, "thread_id": str(kept["thread_id"]), "checkpoint_ns": namespace}
    if named and (checkpoint := configurable.get("checkpoint_id")) is not None:
        place["checkpoint_id"] = checkpoint
    return {"configurable": place}


def refuse_other_format(stored: CheckpointTuple | None) -> None:
    """Refuse to go on with a run that another version of guardgraph began, in another format."""
    values = {} if stored is None else stored.checkpoint["channel_values"]
    if not values.get("run") or not (log := values.get("log")):
        return
    if (problem := find_format_problem(log[0].get("format"), log[0].get("guardgraph"))) is not None:
        raise InputError(f"thread_id: a run that waits or was left: {problem}")


def is_asked_again(
    earlier: CheckpointTuple | None, admitted: Any, configurable: Mapping[str, Any], *, has_effects: bool
) -> bool:
    """Say whether a new input has the request id of the run that it finds on its thread, so that this one goes on."""
    if earlier is None or earlier.metadata.get("source") == "input":  # a run that got no further called nobody
        return False
    values = earlier.checkpoint["channel_values"]
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


def refuse_other_caller(stored: CheckpointTuple | None, context: Any, configurable: Mapping[str, Any]) -> None:
    """Refuse to give the result of a run that is over to another caller than the one for whom it was made."""
    values = {} if stored is None else stored.checkpoint["channel_values"]
    if "status" not in values or is_inside_graph(configurable):
        return
    openings = [line["opening"] for line in values.get("log") or [] if "opening" in line]
    made_for = (openings[-1]["context"] or {}).get("caller") or openings[-1]["caller"] if openings else None
    asking = getattr(context, "caller", None) or build_server_caller(configurable.get("langgraph_auth_user"))
    if made_for is not None and (asking is None or not _is_same_caller(Caller.model_validate(made_for), asking)):
        raise InputError("thread_id: the run of this thread is over, and was made for another caller")


def _is_same_caller(one: Caller, other: Caller) -> bool:
    return (one.tenant, one.user, {*one.groups}) == (other.tenant, other.user, {*other.groups})


def close_stray_run(
    graph: Graph, stored: CheckpointTuple | None, configurable: Mapping[str, Any], *, named: bool
) -> Needs[bool]:
    """Lead a run that is resumed, but has no next node in this graph, to its end in ``stop_guard_error``."""
    if stored is None:
        return False
    values = stored.checkpoint["channel_values"]
    written = stored.checkpoint.get("updated_channels") or values
    if "status" in values or any(name in values and name in graph.trigger_to_nodes for name in written):
        return False
    place = locate_checkpoint(graph, configurable, named=named)
    yield Errand(Pregel, "bulk_update_state", (graph, place, _build_stray_ending(graph, stored)))
    return True


def _build_stray_ending(graph: Graph, stored: CheckpointTuple) -> list[list[StateUpdate]]:
    """Return what the entry guard would have written, had it found out, after anything else that is waiting."""
    values = stored.checkpoint["channel_values"]
    [entry] = [end for start, end in graph.builder.edges if start == START]
    phases = {name: (spec.metadata or {}).get("phase") for name, spec in graph.builder.nodes.items()}
    phase = (values.get("log") or [{}])[-1].get("phase")
    following = _find_strange_next_node(graph, stored)
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


def _find_strange_next_node(graph: Graph, stored: CheckpointTuple) -> str | None:
    """Name the node that a checkpoint would go on with, the one that the graph does not have and that is newest."""
    versions = stored.checkpoint["channel_versions"]
    written = [name for name in stored.checkpoint["channel_values"] if name.startswith(TRIGGER)]
    strange = [name for name in written if name not in graph.channels and name in versions]
    return max(strange, key=versions.__getitem__).removeprefix(TRIGGER) if strange else None


def name_no_checkpoint(config: Any, *, is_inside: bool) -> Any:
    """Let a run go on from the checkpoint that was written last, whatever was named in the call or bound before."""
    nowhere: dict[str, Any] = {"checkpoint_id": None}
    if not is_inside:
        nowhere |= {"checkpoint_ns": "", "checkpoint_map": {}, REPLAY_STATE: None}
    return {**config, "configurable": {**config["configurable"], **nowhere}}


def read_waiting_question(stored: CheckpointTuple | None) -> Any:
    """Return what a run waits for that is to go on, None where it waits for nothing."""
    shown = [
        item.value
        for _, channel, value in (stored.pending_writes if stored is not None else None) or ()
        if channel == INTERRUPT and isinstance(value, Sequence)
        for item in value
    ]
    return shown[-1] if shown else None


def list_given_answers(given: object, *, is_inside: bool) -> list[Any] | None:
    """Return the answers with which a run is resumed; None where nobody can say, since it stands in another graph."""
    if isinstance(given, Command):
        answers = given.resume
        is_map = isinstance(answers, dict) and all(re.fullmatch("[0-9a-f]{32}", str(key)) for key in answers)
        return [*answers.values()] if is_map else [answers]  # type: ignore[union-attr]
    return None if is_inside else []


def read_unwritten_seconds(stored: CheckpointTuple | None) -> float:
    """Return the seconds that are kept beside a checkpoint, of attempts that ended before they could write anything."""
    kept = [] if stored is None else [item for _, channel, item in stored.pending_writes or () if channel == _UNWRITTEN]
    return float(sum(value for value in kept if isinstance(value, int | float)))


def keep_unwritten_seconds(
    graph: Graph, saver: BaseCheckpointSaver[Any] | None, configurable: Mapping[str, Any], seconds: float
) -> Needs[None]:
    """Keep the seconds of an attempt, where a checkpointer keeps the run; what fails here changes no run."""
    if seconds <= 0 or saver is None:
        return
    with suppress(Exception):  # a saver that is gone; the attempt's own error is what counts
        if (stored := (yield Errand(saver, "get_tuple", (locate_checkpoint(graph, configurable),)))) is not None:
            yield Errand(saver, "put_writes", (stored.config, [(_UNWRITTEN, seconds)], str(uuid4())))


def choose_checkpoint(
    graph: Any,
    latest: CheckpointTuple,
    configurable: Mapping[str, Any],
    *,
    saver: BaseCheckpointSaver[Any],
    session: Session,
    context: Any,
) -> Needs[CheckpointTuple]:
    """Return the checkpoint that a run goes on from: the latest of its thread, or that of a fork which is made here."""
    if (named := _find_earlier_checkpoint(graph, latest, configurable)) is None:
        return latest
    frame: Frame = graph.frame
    place = locate_checkpoint(graph, configurable)
    asked = choose_request({"configurable": {**configurable}})
    request = None if asked is None else f"{asked}|{named}"
    if request is not None and _is_fork_of(latest, named, request):
        return latest  # the client got no answer, and asks again
    origin = yield Errand(saver, "get_tuple", ({"configurable": {**place["configurable"], "checkpoint_id": named}},))
    refuse_other_format(origin)
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
            f"{_FORKED}: a run goes on from the latest checkpoint of its thread, and names none or that one; "
            f"given: {earlier[0]!r:.80}"
        )
    return earlier[0]


def _is_fork_of(latest: CheckpointTuple, named: str, request: str) -> bool:
    """Say whether the run that stands on a thread is the fork of a checkpoint that is asked for by a request."""
    line = (latest.checkpoint["channel_values"].get("log") or [{}])[0]
    return line.get("forked_from", {}).get("checkpoint") == named and is_request_named(line.get("request"), request)


def _check_fork_point(frame: Frame, origin: CheckpointTuple | None, named: str) -> JsonObject:
    """Return the channels at a checkpoint, if a run can go on from there."""
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
        f"{_FORKED}: a fork goes on from a checkpoint of a run, before a person answered; "
        f"given: {named!r:.80}, {problem}"
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
    """Return a checkpoint like an earlier one but for some channels, its metadata, and the versions of the channels."""
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
