"""What the door of a guarded graph admits beside the input: a thread to write on, and no way back into an earlier run.

A client chooses the configuration of its runs. LangGraph reads there whether a run goes on where an earlier one stood:
for an answer or for None that is what was asked for, for a new input it would be another run's result. A run whose next
node is not of the graph that resumes it cannot go on. Time of attempts that ended before they could write anything is
kept beside the checkpoint, such as before an interrupt or a cancelled resume.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any, Final, TypeAlias
from uuid import UUID, uuid4

from langchain_core.runnables.config import var_child_runnable_config
from langgraph.checkpoint.base import BaseCheckpointSaver, CheckpointTuple
from langgraph.graph import END, START
from langgraph.graph.state import CompiledStateGraph
from langgraph.pregel import Pregel
from langgraph.types import Command, StateUpdate

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
)
from guardgraph.plain.errors import ConfigurationError, InputError
from guardgraph.plain.json import find_json_problem, is_larger_json
from guardgraph.state.context import MOST_FIELDS, Caller, build_server_caller

Graph: TypeAlias = CompiledStateGraph[Any, Any, Any, Any]

MOST_STEPS: Final = 10**9
"""The `recursion_limit` of every run, whatever a client says: budgets end a run, and an ending is on record."""
REQUEST_KEY: Final = "request_key"
"""Key in a client's configuration of the id of what it asks for."""
LONGEST_KEY: Final = 200
"""Characters that a `request_key` may have."""
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
_KEEPING = ("durability", "checkpoint_during")
"""Arguments of a call that say when a step is kept."""
_PLACES = ("thread_id", "checkpoint_ns", "checkpoint_id", "checkpoint_map")
"""What makes a configuration a place of its own, whatever graph the call stands in."""


def validate_config(config: Any) -> None:
    """Refuse a configuration, or a part of it, that is of a wrong type or too large.

    Raises:
        ConfigurationError: it is so; or there are more than `MOST_FIELDS` of a kind, which LangGraph would copy for
            every node.
    """
    if not isinstance(config, Mapping | None):
        raise ConfigurationError(f"config: a dictionary is required; given: {type(config).__name__}")
    for name, (kind, said) in _COPIED.items():
        if (held := (config or {}).get(name)) is None:
            continue
        if not isinstance(held, kind):
            raise ConfigurationError(f"config.{name}: {said} is required; given: {type(held).__name__}")
        if len(held) > MOST_FIELDS:
            raise ConfigurationError(f"config.{name}: at most {MOST_FIELDS} are allowed; given: {len(held)}")


def refuse_forged_config(graph: Pregel[Any, Any, Any, Any], config: Any) -> None:
    """Refuse a configuration in which a client says what LangGraph says itself, so that a run could not even begin.

    Args:
        graph: the one that is called.
        config: as the caller gave it.

    Raises:
        ConfigurationError: as `validate_config`; plain values stand where LangGraph keeps objects, or where a
            checkpoint is named no name.
    """
    validate_config(config)
    given = merge_graph_config(graph, config)
    for key in _OBJECTS:
        if isinstance(value := given.get(key), str | bytes | int | float | list | dict):
            raise ConfigurationError(f"config.configurable.{key}: LangGraph alone sets it; given: {value!r:.80}")
    if not isinstance(named := given.get("checkpoint_id"), str | UUID | None):
        raise ConfigurationError(f"config.configurable.checkpoint_id: a text is required; given: {named!r:.80}")
    if not isinstance(by_place := given.get("checkpoint_map"), Mapping | None):
        raise ConfigurationError(f"config.configurable.checkpoint_map: an object is required; given: {by_place!r:.80}")


def admit_run_config(graph: Pregel[Any, Any, Any, Any], given: object, config: Any, *, has_effects: bool) -> Any:
    """Return the configuration under which a run may begin or go on.

    A new input always begins a run: what would make it go on with an earlier one, such as the run_id of that run, has
    no effect. The graphs around this one say whether it goes on; they are no clients. Where nobody says otherwise, a
    step is kept before the next one begins, so that a slow checkpointer spends the time of the run and not of nobody.
    Of a graph that changes something outside every step is so kept, whoever says otherwise: else a resume would not
    come back to where it stood. A client's `recursion_limit` has no effect either: it would break a run off without an
    ending.

    Args:
        graph: the one that is called.
        given: its input.
        config: as the caller gave it.
        has_effects: whether a node of the graph may change something outside.

    Raises:
        ConfigurationError: there is a checkpointer, but no thread that it could write on.
        InputError: the `request_key` is no text of at most 200 characters.
    """
    configurable, own = merge_graph_config(graph, config), dict(_get_configurable(config))
    _check_request_key(configurable.get(REQUEST_KEY))
    if is_run_checkpointed(graph, configurable):
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


def read_outer_durability(graph: Graph, config: Any) -> str | None:
    """Return when the graph around keeps its steps, None where it does not say it, or there is none."""
    configurable = merge_graph_config(graph, config)
    return configurable.get(DURABILITY) if is_inside_graph(configurable) else None


def refuse_halting(graph: Pregel[Any, Any, Any, Any], recorder: object, given: Mapping[str, Any], config: Any) -> None:
    """Refuse what halts or breaks off a run between its nodes, where every run is to be on record with its ending.

    Args:
        graph: the one that is called.
        recorder: who is given the recordings; without one, a run may be stepped through.
        given: the arguments of the call.
        config: its configuration.

    Raises:
        ConfigurationError: a call or the graph says where to interrupt, how long a step may take, or who may drain it.
    """
    if recorder is None or is_inside_graph(merge_graph_config(graph, config)):
        return
    for name in ("interrupt_before", "interrupt_after"):
        if where := given.get(name) or getattr(graph, f"{name}_nodes"):
            raise ConfigurationError(f"{name}: {_UNHALTED}; given: {where!r:.80}")
    runtime = merge_graph_config(graph, config).get(RUNTIME)
    if (control := given.get("control") or getattr(runtime, "control", None)) is not None:
        raise ConfigurationError(f"control: {_UNHALTED}; given: {control!r:.80}")
    if graph.step_timeout is not None:
        raise ConfigurationError(f"step_timeout: {_UNHALTED}, and max_seconds ends it; given: {graph.step_timeout!r}")


def admit_resume_command(given: Command[Any], most: int) -> Command[Any]:
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
    if (problem := find_json_problem(given.resume)) is not None:
        raise InputError(f"input: a run is resumed with plain JSON; given: {problem}")
    if is_larger_json(given.resume, most):
        raise InputError(f"input: a run is resumed with at most {most} bytes of JSON (max_input_bytes); given: more")
    return given


def _check_request_key(given: object) -> None:
    if given is None:
        return
    if not isinstance(given, str) or not 0 < len(given) <= LONGEST_KEY or find_json_problem(given) is not None:
        raise InputError(
            f"config.configurable.{REQUEST_KEY}: a text of 1 to {LONGEST_KEY} characters is required; "
            f"given: {given!r:.80}"
        )


def is_thread_id(given: object) -> bool:
    """Say whether every checkpointer can keep a thread of this name, and keep it apart from others."""
    if isinstance(given, str):
        return given != "" and find_json_problem(given) is None
    return isinstance(given, int | UUID) and not isinstance(given, bool)


def is_run_checkpointed(graph: Pregel[Any, Any, Any, Any], configurable: Mapping[str, Any]) -> bool:
    """Say whether a checkpointer keeps what a run of the graph writes: its own, or one that a graph around it lends."""
    return graph.checkpointer is not False and isinstance(get_checkpointer(graph, configurable), BaseCheckpointSaver)


def is_inside_graph(configurable: Mapping[str, Any]) -> bool:
    """Say whether a call is made by a node of a graph; a client cannot send the function that tells it."""
    return callable(configurable.get(READ))


def get_checkpointer(graph: Pregel[Any, Any, Any, Any], configurable: Mapping[str, Any]) -> Any:
    """Return the checkpointer of a run, if there is one."""
    return configurable.get(CHECKPOINTER, graph.checkpointer)


def merge_graph_config(graph: Pregel[Any, Any, Any, Any], config: Any) -> Mapping[str, Any]:
    """Return what LangGraph will read: what was given, what is bound, and what the graph around says, where it counts.

    A graph around does not count for a call that names a place of its own.
    """
    given = {**_get_configurable(graph.config), **_get_configurable(config)}
    if any(given.get(key) for key in _PLACES):
        return given
    return {**_get_configurable(var_child_runnable_config.get()), **given}


def _get_configurable(config: Any) -> Mapping[str, Any]:
    return (config or {}).get("configurable") or {}


TRIGGER: Final = "branch:to:"
"""What the names of channels begin with that start a node."""
_KEPT = ("thread_id", CHECKPOINTER)


def read_resume_checkpoint(graph: Graph, given: object, config: Any) -> CheckpointTuple | None:
    """Return the checkpoint that a run is to go on from; None for a run that begins.

    Args:
        graph: the one that is called.
        given: its input.
        config: the admitted configuration.
    """
    if (place := _locate_asked_checkpoint(graph, given, config)) is None:
        return None
    stored: CheckpointTuple | None = get_checkpointer(graph, place["configurable"]).get_tuple(place)
    return stored


async def aread_resume_checkpoint(graph: Graph, given: object, config: Any) -> CheckpointTuple | None:
    """Do what `read_resume_checkpoint` does, asynchronously."""
    if (place := _locate_asked_checkpoint(graph, given, config)) is None:
        return None
    stored: CheckpointTuple | None = await get_checkpointer(graph, place["configurable"]).aget_tuple(place)
    return stored


def refuse_other_caller(graph: Graph, stored: CheckpointTuple | None, context: Any, config: Any) -> None:
    """Refuse to give the result of a run that is over to another caller than the one for whom it was made.

    Args:
        graph: the one that is called.
        stored: what `read_resume_checkpoint` returned.
        context: the admitted one, which may say who asks.
        config: the admitted configuration, which says it on a server.

    Raises:
        InputError: another caller asks; of a run that was made for nobody in particular, everybody may.
    """
    values = {} if stored is None else stored.checkpoint["channel_values"]
    configurable = merge_graph_config(graph, config)
    if "status" not in values or is_inside_graph(configurable):
        return
    openings = [line["opening"] for line in values.get("log") or [] if "opening" in line]
    made_for = (openings[-1]["context"] or {}).get("caller") or openings[-1]["caller"] if openings else None
    asking = getattr(context, "caller", None) or build_server_caller(configurable.get("langgraph_auth_user"))
    if made_for is not None and (asking is None or not _is_same_caller(Caller.model_validate(made_for), asking)):
        raise InputError("thread_id: the run of this thread is over, and was made for another caller")


def _is_same_caller(one: Caller, other: Caller) -> bool:
    return (one.tenant, one.user, {*one.groups}) == (other.tenant, other.user, {*other.groups})


def close_stray_run(graph: Graph, stored: CheckpointTuple | None, config: Any) -> Any:
    """Lead a run that is resumed, but has no next node in this graph, to its end in ``stop_guard_error``.

    Args:
        graph: the one that is called.
        stored: what `read_resume_checkpoint` returned.
        config: the admitted configuration.

    Returns:
        The configuration to go on with; the one that was given for every run that can go on.
    """
    if stored is None or not _is_stray_run(graph, stored):
        return config
    Pregel.bulk_update_state(graph, _locate_named_checkpoint(graph, config), _build_stray_ending(graph, stored))
    return name_no_checkpoint(graph, config)


async def aclose_stray_run(graph: Graph, stored: CheckpointTuple | None, config: Any) -> Any:
    """Do what `close_stray_run` does, asynchronously."""
    if stored is None or not _is_stray_run(graph, stored):
        return config
    await Pregel.abulk_update_state(graph, _locate_named_checkpoint(graph, config), _build_stray_ending(graph, stored))
    return name_no_checkpoint(graph, config)


def _locate_asked_checkpoint(graph: Graph, given: object, config: Any) -> Any:
    configurable = merge_graph_config(graph, config)
    asked = not isinstance(given, Mapping) or configurable.get(RESUMING) is True
    if not asked or not is_run_checkpointed(graph, configurable):
        return None
    inside = is_inside_graph(configurable)
    return _locate_named_checkpoint(graph, config) if inside else locate_latest_checkpoint(graph, configurable)


def _locate_named_checkpoint(graph: Graph, config: Any) -> Any:
    """Return where the checkpoint that a configuration names stands; the latest one where it names none."""
    configurable = merge_graph_config(graph, config)
    place = locate_latest_checkpoint(graph, configurable)
    if (named := configurable.get("checkpoint_id")) is not None:
        place["configurable"]["checkpoint_id"] = named
    return place


def locate_latest_checkpoint(graph: Graph, configurable: Mapping[str, Any]) -> Any:
    """Return where the latest checkpoint of a run stands."""
    namespace = configurable.get("checkpoint_ns", "") if is_inside_graph(configurable) else ""
    if graph.checkpointer is True:  # one history a thread, whichever task asks
        namespace = "|".join(part.partition(":")[0] for part in namespace.split("|"))
    kept = {name: configurable[name] for name in _KEPT if configurable.get(name) is not None}
    return {"configurable": {**kept, "thread_id": str(kept["thread_id"]), "checkpoint_ns": namespace}}


def _is_stray_run(graph: Graph, stored: CheckpointTuple) -> bool:
    """Say whether a run has not ended, and nothing that was written last starts a node of the graph."""
    values = stored.checkpoint["channel_values"]
    written = stored.checkpoint.get("updated_channels") or values
    return "status" not in values and not any(name in values and name in graph.trigger_to_nodes for name in written)


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


def name_no_checkpoint(graph: Graph, config: Any) -> Any:
    """Let a run go on from the checkpoint that was written last, whatever was named in the call or bound before."""
    nowhere: dict[str, Any] = {"checkpoint_id": None}
    if not is_inside_graph(merge_graph_config(graph, config)):
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


def list_given_answers(graph: Graph, given: object, config: Any) -> list[Any] | None:
    """Return the answers with which a run is resumed; None where nobody can say, since it stands in another graph.

    Args:
        graph: the one that is called.
        given: its input.
        config: the admitted configuration.
    """
    if isinstance(given, Command):
        answers = given.resume
        is_map = isinstance(answers, dict) and all(re.fullmatch("[0-9a-f]{32}", str(key)) for key in answers)
        return [*answers.values()] if is_map else [answers]  # type: ignore[union-attr]
    return None if is_inside_graph(merge_graph_config(graph, config)) else []


_CHANNEL = "guardgraph:unwritten"
"""No channel of a graph: LangGraph passes over it."""


def read_unwritten_seconds(stored: CheckpointTuple) -> float:
    """Return the seconds that are kept beside a checkpoint."""
    kept = [value for _, channel, value in stored.pending_writes or () if channel == _CHANNEL]
    return float(sum(value for value in kept if isinstance(value, int | float)))


def keep_unwritten_seconds(graph: Graph, config: Any, seconds: float) -> None:
    """Keep the seconds of an attempt, where a checkpointer keeps the run; what fails here changes no run."""
    if seconds <= 0 or not is_run_checkpointed(graph, configurable := merge_graph_config(graph, config)):
        return
    with suppress(Exception):  # a saver that is gone; the attempt's own error is what counts
        keeper = get_checkpointer(graph, configurable)
        if (stored := keeper.get_tuple(locate_latest_checkpoint(graph, configurable))) is not None:
            keeper.put_writes(stored.config, [(_CHANNEL, seconds)], str(uuid4()))


async def akeep_unwritten_seconds(graph: Graph, config: Any, seconds: float) -> None:
    """Do what `keep_unwritten_seconds` does, asynchronously."""
    if seconds <= 0 or not is_run_checkpointed(graph, configurable := merge_graph_config(graph, config)):
        return
    with suppress(Exception):  # see keep_unwritten_seconds
        keeper = get_checkpointer(graph, configurable)
        if (stored := await keeper.aget_tuple(locate_latest_checkpoint(graph, configurable))) is not None:
            await keeper.aput_writes(stored.config, [(_CHANNEL, seconds)], str(uuid4()))
