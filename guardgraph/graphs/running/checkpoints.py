"""The thread of a run, and what its door admits beside the input: where a run may begin, go on, and what is kept there.

A client chooses the configuration of its runs, and LangGraph reads there whether a run goes on where an earlier one
stood. For an answer or for None that is what was asked for; for a new input it would be another run's result.

A client that got no answer, and a server after a crash, send the same input again: with the same request id it resumes
the run that it began, or returns its result. Another input does not push aside a run that has not ended, unless it says
so, or on a server the run was left, waits for nobody and may have changed nothing outside. A run whose next node is not
of the graph that resumes it is led to its end.

What goes on from an earlier checkpoint is a fork, a run of its own, which a deployment has to allow: what a run did
since would be done once more, under the same run_id and approval. It has an id, a beginning on record, a request and so
keys of its own. An answer of a person counts for the run that asked, so no run goes on from behind one.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any, Final, TypeAlias
from uuid import UUID, uuid4

from langchain_core.runnables.config import var_child_runnable_config
from langgraph.checkpoint.base import BaseCheckpointSaver, CheckpointTuple, copy_checkpoint
from langgraph.checkpoint.base.id import uuid6
from langgraph.errors import InvalidUpdateError
from langgraph.graph import END, START
from langgraph.graph.state import CompiledStateGraph
from langgraph.pregel import Pregel
from langgraph.types import Command, StateUpdate

from guardgraph.graphs.declaring import UNRECORDED_ENDING
from guardgraph.graphs.running.effects import Errand, Needs
from guardgraph.graphs.running.frame import Frame, build_stop_verdict, is_recording_required
from guardgraph.graphs.running.langgraph import (
    CHECKPOINTER,
    DURABILITY,
    INTERRUPT,
    NODE_FINISHED,
    READ,
    REPLAY_STATE,
    RESUME_MAP,
    RESUMING,
    RUNTIME,
    SCRATCHPAD,
    STREAM,
    TASK_ID,
    TRIGGER,
)
from guardgraph.graphs.running.recorder import tell_beginning
from guardgraph.graphs.running.session import (
    REQUEST_KEY,
    Session,
    choose_request,
    is_on_server,
    is_request_named,
    name_request_of,
    open_door_session,
)
from guardgraph.plain.errors import ConfigurationError, InputError
from guardgraph.plain.json import JsonObject, copy_json, find_json_problem, is_larger_json, make_storable_json
from guardgraph.plain.version import find_format_problem
from guardgraph.state.catalogue import AUDIT_UNAVAILABLE
from guardgraph.state.context import MOST_FIELDS, Caller, build_server_caller
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
    callers = [asking, None if made_for is None else Caller.model_validate(made_for)]
    known = [None if each is None else (each.tenant, each.user, {*each.groups}) for each in callers]
    if known[1] is not None and known[0] != known[1]:
        raise InputError("thread_id: the run of this thread is over, and was made for another caller")


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
    # What the entry guard would have written, had it found out, after anything else that is waiting.
    [entry] = [end for start, end in graph.builder.edges if start == START]
    phases = {name: (spec.metadata or {}).get("phase") for name, spec in graph.builder.nodes.items()}
    phase = (values.get("log") or [{}])[-1].get("phase")
    versions = stored.checkpoint["channel_versions"]
    written = [name for name in stored.checkpoint["channel_values"] if name.startswith(TRIGGER)]
    strange = [name for name in written if name not in graph.channels and name in versions]
    following = max(strange, key=versions.__getitem__).removeprefix(TRIGGER) if strange else None
    message = f"the run's next node is {following or 'unknown'}, which is not of this graph"
    details = {"type": "StrayRun", "message": message, "given": following}
    verdict = {
        "reason": "guard_error:door",
        "phase": phase if phase is not None and phase in phases.values() else phases[entry],
        "evidence": {"details": details},
    }
    update = {"run": values.get("run") or str(uuid4()), "route": "stop_guard_error", "verdict": verdict}
    yield Errand(Pregel, "bulk_update_state", (graph, place, [[StateUpdate(None, END)], [StateUpdate(update, entry)]]))
    return True


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
    graph: Graph, saver: BaseCheckpointSaver[Any] | None, configurable: Mapping[str, Any], session: Session
) -> Needs[None]:
    """Keep the seconds of an attempt that ends before it could write anything; what fails here changes no run."""
    if session.is_over or session.run_id is None or saver is None:
        return
    if (seconds := session.world.clock() - session.last) <= 0:
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


Graph: TypeAlias = CompiledStateGraph[Any, Any, Any, Any]

MOST_STEPS: Final = 10**9
"""The `recursion_limit` of every run, whatever a client says: budgets end a run, and an ending is on record."""
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
