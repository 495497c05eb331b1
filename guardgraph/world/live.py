"""The live world: calls are made, the clock is the process's, ids are random.

A person is somebody who is called: the run waits until the decision is there.
"""

from __future__ import annotations

import asyncio
import inspect
import json
import re
import time
from collections.abc import Callable, Hashable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from contextvars import ContextVar, copy_context
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from logging import WARNING
from queue import Empty, SimpleQueue
from threading import TIMEOUT_MAX
from types import FunctionType, MethodType
from typing import Any, Final, TypeAlias
from uuid import uuid4

from langchain_core.messages import BaseMessage
from langchain_core.runnables import Runnable, RunnableLambda
from langgraph.errors import GraphInterrupt

from guardgraph.plain.conversion import ALLOWED, Unreturnable, convert_to_plain_json, list_expected_details
from guardgraph.plain.errors import PASSING, ConfigurationError, ExpectedFailure, convert_exit
from guardgraph.plain.json import REPLY_BYTES, JsonObject, TooLarge, copy_json, count_json_bytes
from guardgraph.plain.log import locate_failure, log_failure
from guardgraph.plain.secrets import cut_and_mask_text, format_error_message
from guardgraph.state.catalogue import EFFECT_UNKNOWN
from guardgraph.state.outcome import Outcome
from guardgraph.world import deadline, failures
from guardgraph.world.call import WORLD_METHODS, Asked, Call, Observer, Performed, World, is_instant_target
from guardgraph.world.reviews import ask_person_for_answer


@contextmanager
def silence_callbacks(call: Call) -> Iterator[None]:
    """Make a call that may be refused without callbacks: what it brings would be told before anybody has judged it."""
    if call.refuse is None:
        yield
        return
    # they take a while to import, and a run has loaded them by now
    from langchain_core.runnables.config import var_child_runnable_config
    from langchain_core.tracers.context import run_collector_var, tracing_v2_callback_var
    from langsmith.run_helpers import tracing_context
    from langsmith.utils import tracing_is_enabled

    around: Any = var_child_runnable_config.get() or {}
    callbacks = around.get("callbacks")
    listening = [getattr(callbacks, "inheritable_handlers", callbacks), tracing_v2_callback_var.get()]
    if not any([*listening, run_collector_var.get(), tracing_is_enabled()]):  # nearly always, and it is far quicker
        yield
        return
    handed_on: Any = {name: item for name, item in around.items() if name != "callbacks"}
    silenced: list[tuple[ContextVar[Any], Any]] = [
        (var_child_runnable_config, handed_on),
        (tracing_v2_callback_var, None),
        (run_collector_var, None),
    ]
    tokens = [(variable, variable.set(value)) for variable, value in silenced]
    try:
        with tracing_context(enabled=False):
            yield
    finally:
        for variable, token in tokens:
            variable.reset(token)


Arrived: TypeAlias = Callable[[], Outcome]  # returns what a call brought back, or raises what no server can cause

_RAW_RESULT = {"raw", "parsed", "parsing_error"}
"""What `with_structured_output(include_raw=True)` returns; a user's Runnable may end in it."""

_TOO_LARGE = "max_reply_bytes"  # the cause of a refusal for the size of a reply
_WHOLE_SENTENCES = re.compile(r".*(?:[.!?\u3002](?:[ \t]*\[[\d, ]+\])?(?=\s)|\w.?(?=\n))", re.DOTALL)
"""As much of a text that was cut off as can be judged: whole sentences, and whole lines."""

_OPENS_LIST = re.compile(r'\s*\{\s*"(?:calls|notes)"\s*:\s*\[\s*')
"""How a JSON reply begins whose items are judged each for itself."""
_BETWEEN_ITEMS = re.compile(r"[\s,]*")
_CUT_OFF = {"cause": "timeout", "limit": "max_seconds"}
"""What the details say of a call that the run's own time has cut off."""


def perform_call(call: Call, seconds: float, most: int = REPLY_BYTES) -> Outcome:
    """Make a call and wait for it at most `seconds`."""
    if seconds <= 0:
        return build_late_outcome(call, seconds)
    if is_instant_target(call.target):
        return _perform_at_once(call, most)
    connections = deadline.Connections()
    with connections, silence_callbacks(call):
        done = deadline.start_thread_work(partial(_invoke_call_target, call))
    if (came := done.wait(seconds)) is None:
        connections.close_connections()
        deadline.abandon_work(done, identify_target(call.target))
        return build_late_outcome(call, seconds)
    returned, error = came
    return _read_returned_reply(call, returned, most) if error is None else _build_raised_outcome(call, error)


async def aperform_call(call: Call, seconds: float, most: int = REPLY_BYTES) -> Outcome:
    """Make a call like `perform_call`, cancelling it when `seconds` are over; one that goes on is left behind."""
    if seconds <= 0:
        return build_late_outcome(call, seconds)
    # a large base would hold up the event loop
    if is_instant_target(call.target) and isinstance(call.target, FunctionType):
        return _perform_at_once(call, most)
    connections = deadline.Connections()  # of a function, which has a thread here too
    with connections, silence_callbacks(call):
        task = await deadline.await_in_task(_await_call_target(call), seconds, identify_target(call.target))
    if task is None:
        connections.close_connections()
        return build_late_outcome(call, seconds)
    if task.cancelled():
        return _build_raised_outcome(call, RuntimeError("the call was cancelled, though nobody cancelled the run"))
    if (error := task.exception()) is not None:
        return _build_raised_outcome(call, error)
    return _read_returned_reply(call, task.result(), most)


def _perform_at_once(call: Call, most: int) -> Outcome:
    try:
        returned = call.target(call.shown)  # type: ignore[operator, misc] # it is ours, and needs no copy
        return _read_returned_reply(call, returned, most)
    except Exception as error:  # noqa: BLE001 - as in a thread
        return _build_raised_outcome(call, error)


@dataclass(frozen=True, slots=True)
class Working:
    """A call at work in a thread of its own."""

    call: Call
    future: Future[Any]
    connections: deadline.Connections  # what it opens

    def abandon_call(self) -> None:
        """Leave it behind, unless it is over: its connections are closed, so that it ends soon, and it is counted."""
        if not self.future.done():
            self.connections.close_connections()
            deadline.abandon_work(self.future, identify_target(self.call.target))


async def _await_call_target(call: Call) -> Any:
    target: Any = call.target
    try:
        if isinstance(target, Runnable):
            return await target.ainvoke(copy_json(call.shown))
        if inspect.iscoroutinefunction(target):
            return await target(copy_json(call.shown))
        work = partial(target, copy_json(call.shown))
        returned = await deadline.await_in_thread(work, identify_target(target))
        return await returned if inspect.iscoroutine(returned) else returned
    except PASSING:
        raise
    except BaseException as error:
        raise convert_exit(error) from error


def _invoke_call_target(call: Call) -> Any:
    target: Any = call.target
    try:
        if isinstance(target, Runnable):
            return target.invoke(copy_json(call.shown))
        returned = target(copy_json(call.shown))
        return asyncio.run(returned) if inspect.iscoroutine(returned) else returned
    except PASSING:
        raise
    except BaseException as error:
        raise convert_exit(error) from error


def _read_returned_reply(call: Call, returned: Any, most: int) -> Outcome:
    if isinstance(returned, dict) and returned.keys() == _RAW_RESULT:
        returned = returned["raw"]
    if isinstance(returned, ExpectedFailure):
        return _build_raised_outcome(call, returned)
    if isinstance(returned, BaseMessage):
        outcome = _read_model_message(call, returned)
    else:
        outcome = _read_returned_value(call, returned, most)
    return build_too_large_outcome(call, outcome.about, most) if outcome.is_larger_than(most) else outcome


LEFT_OUT = "left_out"  # under which an outcome names what a tool put where something was missing: NaN
_NAMED: Final = 20  # places that it names


def _read_returned_value(call: Call, returned: Any, most: int) -> Outcome:
    left_out: list[list[str]] | None = [] if call.kind == "tool" else None
    try:
        read = returned if call.read is None else call.read(returned, most)
        plain = convert_to_plain_json(read, most, left_out)
        named = [".".join(place)[:200] for place in left_out[:_NAMED]] if left_out else []
        return Outcome.holding(plain, {**call.about, LEFT_OUT: [*named]} if named else call.about)
    except Unreturnable as error:
        deadline.note_read_bytes(error.size)
        return _build_refused_outcome(call, error)
    except TooLarge:
        return build_too_large_outcome(call, call.about, most)


def refuse_call_outcome(call: Call, outcome: Outcome) -> Outcome:
    """Return the outcome of a call: as it is, or a failure that keeps nothing of a value that the call refuses."""
    if outcome.form != "value" or call.refuse is None or (details := call.refuse(outcome.content)) is None:
        return outcome
    return _build_failure_outcome(_name_unusable_reply(call), details, outcome.about)


def limit_call_reply(asked: Asked, performed: Performed) -> Performed:
    """Return what a call brought, as a run may keep it."""
    call, most = asked.call, asked.max_reply_bytes
    if call.kind != "person" and performed.outcome.is_larger_than(most):
        refusal = build_too_large_outcome(call, performed.outcome.about, most)
        performed = performed._replace(outcome=refusal, packed=None)
    if call.refuse is not None and (kept := refuse_call_outcome(call, performed.outcome)) is not performed.outcome:
        came = performed.reply_bytes  # with less room it had been too large, and nothing else of it is kept
        size = None if came is None else max(came, count_json_bytes(performed.outcome.settled().content))
        performed = performed._replace(outcome=kept, packed=None, reply_bytes=size)
    return performed


def validate_performed(asked: Sequence[Asked], performed: list[Performed]) -> list[Performed]:
    """Return what a world returned for calls, if it is as much as was asked for."""
    if len(performed) != len(asked) or not all(isinstance(item, Performed) for item in performed):
        raise TypeError(f"world: {len(asked)} Performed are required for as many calls; given: {performed!r:.80}")
    return performed


def build_too_large_outcome(call: Call, about: JsonObject, most: int) -> Outcome:
    """Return the outcome of a call whose reply takes more than `most` bytes; nothing of the reply is in it."""
    return _build_failure_outcome(_name_unusable_reply(call), {"cause": _TOO_LARGE, "limit": most}, about)


def read_refused_reply_limit(outcome: Outcome) -> int | None:
    """Return the bytes which a reply had to keep to and did not, None for an outcome that is not refused for that."""
    if outcome.form != "failure" or (details := outcome.content["details"]).get("cause") != _TOO_LARGE:
        return None
    return limit if isinstance(limit := details.get("limit"), int) else 0


def is_refused_outcome(call: Call, outcome: Outcome) -> bool:
    """Say whether an outcome may be what `refuse_call_outcome` made of a value, so that nobody knows the value."""
    if call.refuse is None or outcome.form != "failure" or outcome.content["reason"] != _name_unusable_reply(call):
        return False
    is_unreturnable = outcome.content["details"].get("allowed") == ALLOWED  # no plain JSON, and becomes none
    return read_refused_reply_limit(outcome) is None and not is_unreturnable


def _name_unusable_reply(call: Call) -> str:
    return "tool_invalid_output" if call.kind == "tool" else "llm_bad_response"


def _build_refused_outcome(call: Call, error: Unreturnable) -> Outcome:
    return _build_failure_outcome(_name_unusable_reply(call), error.details, call.about)


def _read_model_message(call: Call, message: BaseMessage) -> Outcome:
    about = call.about
    if (name := deadline.get_reply_meter().model) is not None:
        about = {**about, "proposer": name}
    if (form := deadline.get_reply_meter().form) is not None:
        about = {**about, "form": form}
    if (model := failures.read_model_name(message)) not in (None, about.get("proposer")):
        about = {**about, "model": model}
    if usage := failures.read_token_usage(message):
        about = {**about, "usage": usage}
    failure = failures.classify_model_message(message)
    text = failures.read_model_text(message)
    if failure is not None and failure[0] == "llm_truncated":
        if form == "text":
            sentences = _WHOLE_SENTENCES.match(text)
            whole = sentences[0] if sentences else ""
        else:
            whole = _read_whole_items(text)
        if whole:
            return Outcome("text", whole, {**about, "truncated": len(text)})
        failure[1].update(chars=len(text), text=cut_and_mask_text(text))
    return Outcome("text", text, about) if failure is None else _build_failure_outcome(*failure, about)


def _read_whole_items(text: str) -> str:
    """Return a list of calls or notes that was cut off with the items that came whole, "" where none did."""
    if (opening := _OPENS_LIST.match(text)) is None:
        return ""
    at, items, decoder = opening.end(), list[str](), json.JSONDecoder()
    while text.startswith("{", at):
        try:
            _, end = decoder.raw_decode(text, at)
        except (ValueError, RecursionError):
            break
        items.append(text[at:end])
        at = _BETWEEN_ITEMS.match(text, end).end()  # type: ignore[union-attr]
    return f"{opening[0]}{', '.join(items)}]}}" if items else ""


def _build_raised_outcome(call: Call, error: BaseException) -> Outcome:
    if isinstance(error, GraphInterrupt) or not isinstance(error, Exception):
        raise error
    if isinstance(error, Unreturnable):  # an adapter of ours says what it was given
        return _build_refused_outcome(call, error)
    at = {} if (place := locate_failure(error)) is None else {"at": place}
    unknown = {"type": type(error).__name__, "message": format_error_message(error)}
    reason, details = failures.classify_model_error(error, is_tool=call.kind == "tool") or (None, unknown)
    if call.kind == "tool":
        said = {key: details[key] for key in ("type", "message")}
        if expected := list_expected_details(error):
            return _build_failure_outcome("tool_error", {**said, **expected}, call.about)
        name = getattr(call.target, "__name__", type(call.target).__name__)
        log_failure(f"the tool {name} failed", error, WARNING)
        known = {key: details[key] for key in ("cause", "status", "retry_after") if key in details}
        return _build_failure_outcome("tool_error", {**said, **known, **at}, call.about)
    # No server can cause a failed assertion or a full machine, nor an error of the deployment's own rule.
    is_rule = not isinstance(call.target, Runnable) or isinstance(call.target, RunnableLambda)
    if reason is None or (is_rule and failures.is_unclassified_model_error(error)):
        raise error
    limit = {"limit": "model"} if details.get("cause") == "timeout" else {}
    return _build_failure_outcome(reason, {**details, **limit, **(at if is_rule else {})}, call.about)


def identify_target(target: Any) -> Hashable:
    """Return what tells somebody who is asked from all others at this time: a method is one of its object."""
    if isinstance(target, MethodType):
        return id(target.__self__), id(target.__func__)
    return id(target)


def refuse_call_when_busy(call: Call, most: int, most_each: int) -> Outcome | None:
    """Return the outcome of a call that is not made, since too many abandoned ones are still at work; else None."""
    if is_instant_target(call.target):
        return None
    of_all, of_target = deadline.count_abandoned_work(identify_target(call.target))
    if of_all < most and of_target < most_each:
        return None
    reason = "tool_unavailable" if call.kind == "tool" else "llm_unavailable"
    cause, limit = ("max_abandoned", most) if of_all >= most else ("max_abandoned_each", most_each)
    return _build_failure_outcome(reason, {"cause": cause, "limit": limit}, call.about)


def build_late_outcome(call: Call, seconds: float) -> Outcome:
    """Return the outcome of a call that outlasted its `seconds`."""
    reason = "max_seconds" if call.kind == "tool" else "llm_timeout"
    if call.effect == "write" and seconds > 0:  # it was called, and may still be at work
        reason = f"{EFFECT_UNKNOWN}:{call.tool}"
    details = {**_CUT_OFF, "seconds": round(max(seconds, 0.0), 3)}
    return _build_failure_outcome(reason, details, call.about)


def is_cut_off_outcome(outcome: Outcome) -> bool:
    """Say whether an outcome is that of a call that outlasted the seconds that the run had left for it."""
    return outcome.form == "failure" and _CUT_OFF.items() <= outcome.content["details"].items()


def _build_failure_outcome(reason: str, details: Any, about: Any) -> Outcome:
    return Outcome("failure", {"reason": reason, "details": details}, about)


MAX_AT_ONCE = 16  # calls of one node that are at work at the same time; more of them wait for their turn
MAX_ABANDONED = 64
"""Calls that outlasted their deadline and may still be at work in the process before another one is refused: each has
a thread, which on most systems holds a few hundred kilobytes to a few megabytes beside what its client holds."""


class LiveWorld:
    """The world as it is.

    Args:
        clock: seconds that only ever grow; tests give a `guardgraph.testing.ScriptedClock`.
        max_abandoned: calls that were left behind at their deadline and may still be at work, in the whole process,
            before this world refuses another one: ``llm_unavailable``, or ``tool_unavailable:<tool>``.
        max_abandoned_each: how many of these may be calls of one proposer or tool before another call of it is
            refused, so that one that hangs leaves room for the others; None for a quarter of all, one at least.

    Raises:
        ConfigurationError: the clock is no function, or a bound no whole number from 0 on.
    """

    def __init__(
        self,
        *,
        clock: Callable[[], float] = time.perf_counter,
        max_abandoned: int = MAX_ABANDONED,
        max_abandoned_each: int | None = None,
    ) -> None:
        if not callable(clock):
            raise ConfigurationError(f"clock: a function that returns seconds; given: {clock!r:.80}")
        self._max_abandoned = _validate_bound("max_abandoned", max_abandoned)
        each = max(1, max_abandoned // 4) if max_abandoned_each is None else max_abandoned_each
        self._max_abandoned_each = _validate_bound("max_abandoned_each", each)
        # a replay makes floats of whole numbers, too
        self.clock: Callable[[], float] = clock if clock is time.perf_counter else lambda: float(clock())
        """Returns seconds that only grow; a node reads it without a detour."""

    def __repr__(self) -> str:
        return "<LiveWorld>"

    def calendar(self) -> datetime:
        """Return the date and time in UTC."""
        return datetime.now(UTC)

    def new_run(self) -> str:
        """Return a random UUID."""
        return str(uuid4())

    def perform(self, asked: Sequence[Asked], seconds: float) -> list[Performed]:
        """Make calls, each in a thread that is left behind when time is up; see `World.perform`."""
        if len(asked) == 1:
            return [self._perform_one_call(asked[0], seconds)]
        if asked[0].in_turn:
            ends = time.monotonic() + seconds
            return [self._perform_one_call(item, ends - time.monotonic()) for item in asked]
        working: list[Working] = []
        try:
            return self._collect_replies(asked, seconds, working)
        finally:
            for work in working:
                work.abandon_call()

    async def aperform(self, asked: Sequence[Asked], seconds: float) -> list[Performed]:
        """Make calls, each in a task that is cancelled, and left behind, when time is up; see `World.perform`."""
        if len(asked) == 1:
            return [await self._aperform_one_call(asked[0], seconds)]
        free, ends = asyncio.Semaphore(1 if asked[0].in_turn else MAX_AT_ONCE), time.monotonic() + seconds

        async def perform_in_turn(item: Asked) -> Performed:
            async with free:
                return await self._aperform_one_call(item, ends - time.monotonic())

        tasks = [asyncio.create_task(perform_in_turn(item)) for item in asked]
        try:
            came = await asyncio.gather(*tasks, return_exceptions=True)
            return [_raise_or_return_reply(item) for item in came]
        finally:
            for task in tasks:
                task.cancel()

    def _answer_without_call(self, item: Asked) -> Performed | None:
        """Return what a person said, or that too many abandoned calls are at work; None where a call is made."""
        if item.call.kind == "person":
            return Performed(ask_person_for_answer(item), 0.0)
        refused = refuse_call_when_busy(item.call, self._max_abandoned, self._max_abandoned_each)
        return None if refused is None else Performed(refused, 0.0, reply_bytes=0)

    def _perform_one_call(self, item: Asked, seconds: float) -> Performed:
        if (answered := self._answer_without_call(item)) is not None:
            return answered
        began = self.clock()
        bounds = deadline.within(seconds, self.clock, item.max_reply_bytes, item.max_output_tokens)
        with item.surroundings(), bounds as read:
            outcome = perform_call(item.call, seconds, item.max_reply_bytes)
        return Performed(outcome, self.clock() - began, reply_bytes=read.largest_reply_size)

    async def _aperform_one_call(self, item: Asked, seconds: float) -> Performed:
        if (answered := self._answer_without_call(item)) is not None:
            return answered
        began = self.clock()
        bounds = deadline.within(seconds, self.clock, item.max_reply_bytes, item.max_output_tokens)
        with item.surroundings(), bounds as read:
            outcome = await aperform_call(item.call, seconds, item.max_reply_bytes)
        return Performed(outcome, self.clock() - began, reply_bytes=read.largest_reply_size)

    def _collect_replies(self, asked: Sequence[Asked], seconds: float, working: list[Working]) -> list[Performed]:
        began, done = self.clock(), SimpleQueue[tuple[int, Arrived]]()
        ends, started = time.monotonic() + min(seconds, TIMEOUT_MAX / 2), 0
        read = [deadline.ReplyMeter() for _ in asked]
        brought: dict[int, Performed | GraphInterrupt] = {}
        while len(brought) < len(asked):
            left = ends - time.monotonic()
            while started < len(asked) and started - len(brought) < MAX_AT_ONCE and left > 0 and seconds > 0:
                item = asked[started]
                bounds = deadline.within(left, self.clock, item.max_reply_bytes, item.max_output_tokens)
                with item.surroundings(), bounds as read[started]:
                    working += self._start_one_call(item, done, started)
                started += 1
            try:
                at, arrived = done.get(timeout=max(left, 0.0))
            except Empty:
                break
            try:
                brought[at] = Performed(arrived(), self.clock() - began, reply_bytes=read[at].largest_reply_size)
            except GraphInterrupt as interrupt:  # the first one in order is asked first, whoever is quicker
                brought[at] = interrupt
        for at in range(len(asked)):
            if at not in brought:
                late = build_late_outcome(asked[at].call, seconds)
                brought[at] = Performed(late, self.clock() - began, reply_bytes=read[at].largest_reply_size)
        return [_raise_or_return_reply(brought[at]) for at in range(len(asked))]

    def _start_one_call(self, item: Asked, done: SimpleQueue[tuple[int, Arrived]], at: int) -> list[Working]:
        """Start one of several calls; a refused one is brought at once, and is no work."""
        if (refused := refuse_call_when_busy(item.call, self._max_abandoned, self._max_abandoned_each)) is not None:
            done.put((at, lambda: refused))
            return []
        call, connections = item.call, deadline.Connections()
        with connections, silence_callbacks(call):
            future = deadline.run_in_call_thread(partial(_invoke_call_target, call))
            context = copy_context()  # in it, what was read of the reply is counted for this call

        def read_arrived() -> Outcome:
            if (error := future.exception()) is not None:
                return _build_raised_outcome(call, error)
            return _read_returned_reply(call, future.result(), item.max_reply_bytes)

        future.add_done_callback(lambda _: done.put((at, partial(context.run, read_arrived))))
        return [Working(call, future, connections)]


def _validate_bound(name: str, given: object) -> int:
    if not isinstance(given, int) or isinstance(given, bool) or given < 0:
        raise ConfigurationError(f"{name}: a whole number from 0 on; given: {given!r:.80}")
    return given


def _raise_or_return_reply(came: Performed | BaseException) -> Performed:
    if isinstance(came, BaseException):
        raise came
    return came


class AroundWorld:
    """A world around another one, whose clock, calendar, ids and observer it has; how calls are made it says itself."""

    def __init__(self, world: World | None) -> None:
        missing = [name for name in WORLD_METHODS if not callable(getattr(world, name, 0))]
        if world is not None and missing:
            raise ConfigurationError(f"world: an object with {', '.join(missing)} is required; given: {world!r:.80}")
        self._world = LiveWorld() if world is None else world
        self.clock: Callable[[], float] = self._world.clock
        """Returns seconds that only grow."""

    @property
    def observer(self) -> Observer | None:
        """Who observes the runs for which it makes calls."""
        observer: Observer | None = getattr(self._world, "observer", None)
        return observer

    def calendar(self) -> datetime:
        """Return the date and time in UTC."""
        return self._world.calendar()

    def new_run(self) -> str:
        """Return the id of a new run, a UUID."""
        return self._world.new_run()
