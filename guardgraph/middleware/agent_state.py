"""What the middlewares keep in an agent's state: the run's ending for everybody, and their own record.

A run is what follows one message of a user. Both channels begin anew with it, so nothing of an earlier run on the same
thread licenses or ends a later one.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextvars import ContextVar
from typing import Annotated, Any, NotRequired

from langchain.agents.middleware.types import AgentState, OmitFromInput, PrivateStateAttr
from langchain_core.messages import AIMessage, AnyMessage
from langgraph.channels import UntrackedValue
from langgraph.config import get_config

from guardgraph.graphs.guard_nodes import is_written_by_user, read_given_messages
from guardgraph.graphs.running.langgraph import RESUMING
from guardgraph.guards.stop import Stop
from guardgraph.plain.json import JsonObject
from guardgraph.state.run import Turn
from guardgraph.state.tools import Given

STOP_MARK = "guardgraph_stop"
"""Key of a message's `additional_kwargs` that says that it is no model's, and why the run stopped."""


def merge_ending(old: JsonObject | None, new: JsonObject) -> JsonObject:
    """Return a run's ending with what a middleware adds; where nothing but a run is named it begins anew."""
    begins, new = new.get("begins"), {key: value for key, value in new.items() if key != "begins"}
    if not old or begins or old.get("run") != new.get("run") or len(new) == 1:  # a client may send a message again
        return new
    usage: dict[str, int] = {**old.get("usage", {})}
    for name, count in new.get("usage", {}).items():
        usage[name] = usage.get(name, 0) + count
    attempts = [*old.get("attempts", []), *new.get("attempts", [])]
    return {**old, **new, **({"usage": usage} if usage else {}), **({"attempts": attempts} if attempts else {})}


def merge_record(old: JsonObject | None, new: JsonObject) -> JsonObject:
    """Return the record of a run with what a step adds, calls side by side in turn; what is given begins it anew."""
    if not old or old.get("run") != new.get("run") or "given" in new:
        return new
    calls = [*old.get("calls", []), *new.get("calls", [])]
    approved = {**old.get("approved", {}), **new.get("approved", {})}
    foreign = list(dict.fromkeys([*old.get("foreign", []), *new.get("foreign", [])]))
    answers = [*old.get("answers", []), *new.get("answers", [])]
    return {**old, **new, "calls": calls, "approved": approved, "foreign": foreign, "answers": answers}


class GuardedState(AgentState[Any]):
    """The state of an agent with these middlewares."""

    guardgraph: NotRequired[Annotated[JsonObject, OmitFromInput, merge_ending]]
    """``{run, status, stop_reason, outcome?, attempts?, usage}`` and the evidence of a stop, once the run has ended."""
    guardgraph_record: NotRequired[Annotated[JsonObject, PrivateStateAttr, merge_record]]
    """What licences are judged by: ``{run, given, reads, calls, approved, waiting, answers, foreign, ended}``."""
    guardgraph_recording: NotRequired[Annotated[JsonObject, PrivateStateAttr, lambda old, new: new]]
    """``{id, began_at}``: of the run that `RecordedRun` records."""
    guardgraph_here: NotRequired[Annotated[bool, UntrackedValue(bool, guard=False), PrivateStateAttr]]
    """Whether the record is of the run that goes on here: no checkpoint hands this on to the next one."""


given_around: ContextVar[Given | None] = ContextVar("given_around", default=None)
"""What was given to the agent whose tool runs this code: a sub-agent's own task is a model's text."""


def find_record(state: Mapping[str, Any]) -> JsonObject | None:
    """Return the record of this run; None where a middleware in front ended it, or sent it on, before one began."""
    record: JsonObject | None = state.get("guardgraph_record")
    return record if record and (state.get("guardgraph_here") or _goes_on(record, state["messages"])) else None


def _goes_on(record: JsonObject, messages: Sequence[AnyMessage]) -> bool:
    """Say whether a run goes on that waited or failed; one that was left is one behind which the user asked again."""
    is_resumed = get_config().get("configurable", {}).get(RESUMING) is True  # LangGraph says so in the first step
    return "ended" not in record and (is_resumed or find_run(messages) in (record["run"], *record["foreign"]))


def find_run(messages: Sequence[AnyMessage]) -> str:
    """Return what tells a run from others of its thread: the id of the last message of a user."""
    return next((str(each.id) for each in reversed(messages) if is_written_by_user(each)), "")


def list_foreign(messages: Sequence[AnyMessage], run: str) -> list[str]:
    """Return the ids of messages that were written in the user's name since a run began."""
    begun = next((at for at, each in enumerate(messages) if str(each.id) == run), 0)
    return [str(each.id) for each in messages[begun + 1 :] if is_written_by_user(each)]


def read_given(messages: Sequence[AnyMessage], foreign: Iterable[str] = ()) -> Given:
    """Return what the user gave: the last message as the task, the turns before it as the history.

    Messages whose ids are `foreign` were written during earlier runs: a tool may write one in a user's name.
    """
    if (around := given_around.get()) is not None:
        asked = Turn(role="assistant", content="\n".join(each.text for each in messages if is_written_by_user(each)))
        return Given(**{**around, "history": [*around["history"], asked]})
    return read_given_messages(messages, {*foreign})


def make_stop_message(stop: Stop, told: str = "") -> AIMessage:
    """Return the message in whose place a refused proposal does not appear."""
    return AIMessage(f"Stopped: {stop.reason}. {told}".rstrip(), additional_kwargs={STOP_MARK: stop.reason})


def is_stop_message(message: AnyMessage) -> bool:
    """Say whether a message tells of a stop."""
    return isinstance(message, AIMessage) and STOP_MARK in message.additional_kwargs


def describe_stop(run: str, stop: Stop) -> JsonObject:
    """Return what the state says of a stop."""
    return {"run": run, "status": "stopped", "stop_reason": stop.reason, **stop.evidence}
