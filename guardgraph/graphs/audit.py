"""The audit of a run: its recording is given to the recorder, and what came of that is said."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Awaitable, Generator, Mapping
from functools import partial
from threading import TIMEOUT_MAX
from typing import Any, TypeAlias

from guardgraph.graphs.frame import Frame, described
from guardgraph.nodes.body import Run
from guardgraph.plain.json import JsonObject, storable
from guardgraph.state.recording import Recorder, Recording
from guardgraph.state.run import Audit
from guardgraph.state.settings import Policy
from guardgraph.world.threads import Handover, in_thread, start

__all__ = ["Closing", "NoRecorder", "akeep", "is_required", "keep", "unavailable"]

Closing: TypeAlias = Generator[Recording, Audit | None, JsonObject]
"""A run that ends: it yields its recording, where somebody records it, and is sent back what came of that."""


class NoRecorder(Exception):
    """A run had to be recorded, and its graph has no recorder."""

    def __str__(self) -> str:
        return "the run must be recorded, and its graph has no recorder"


def is_required(frame: Frame, run: Run[Any, Any] | Exception) -> bool:
    """Say whether a run must be recorded; under a context that nobody could read, the deployment's policy says it."""
    policy = frame.policy if isinstance(run, Exception) else run.policy
    return isinstance(policy, Policy) and bool(policy.audit_required)


def keep(closing: Closing, recorder: Recorder | None) -> JsonObject:
    """Take a run that ends to its end, and return what its terminal writes; the recorder is waited for in this thread.

    Args:
        closing: the run.
        recorder: who is given its recording; without one there is none.
    """
    try:
        made = next(closing)
        while True:
            made = closing.send(_kept(recorder, made))
    except StopIteration as end:
        return end.value  # type: ignore[no-any-return]


async def akeep(closing: Closing, recorder: Recorder | None) -> JsonObject:
    """Do what `keep` does; the recorder works in a thread of its own, and is awaited."""
    try:
        made = next(closing)
        while True:
            made = closing.send(await _akept(recorder, made))
    except StopIteration as end:
        return end.value  # type: ignore[no-any-return]


def unavailable(why: JsonObject) -> Audit:
    """Return the audit of a run that was not recorded.

    Args:
        why: the type and the message of what was raised.
    """
    said: Audit = storable({"status": "unavailable", "error": {key: why[key] for key in ("type", "message")}})
    return said


def _kept(recorder: Any, made: Recording) -> Audit | None:
    """Give a recording to the recorder, for as long as it may take; return what came of it, None without a receipt.

    One that has a timeout works in a thread of its own, which is left behind when time is up.
    """
    record = partial(_recorded, recorder, made)
    try:
        if (seconds := getattr(recorder, "timeout", None)) is None:
            return record()
        start(record, done := Handover())
        if (came := done.wait(min(seconds, TIMEOUT_MAX))) is None:
            raise _late(seconds)
        audit, error = came
        if error is not None:
            raise error
        return audit  # type: ignore[no-any-return]
    except Exception as error:  # noqa: BLE001 - whatever goes wrong, no result is lost
        return unavailable(described(error))


async def _akept(recorder: Any, made: Recording) -> Audit | None:
    """Do what `_kept` does without blocking the event loop: every recorder has a thread of its own."""
    try:
        seconds: Any = getattr(recorder, "timeout", None)
        async with asyncio.timeout(None if seconds is None else min(seconds, TIMEOUT_MAX)):
            audit: Audit | None = await asyncio.wrap_future(in_thread(partial(_recorded, recorder, made)))
            return audit
    except TimeoutError:  # the limit's: what the recorder raises is in what `_recorded` returns
        return unavailable(described(_late(seconds)))
    except Exception as error:  # noqa: BLE001 - see _kept
        return unavailable(described(error))


def _recorded(recorder: Any, made: Recording) -> Audit | None:
    """Call a recorder, and return what came of it; whatever it raises says the same in every thread."""
    try:
        return _receipt(recorder.record(made))
    except (Exception, asyncio.CancelledError) as error:  # noqa: BLE001 - no result is lost
        return unavailable(described(error))


def _late(seconds: float) -> TimeoutError:
    return TimeoutError(f"the recorder did not return within its timeout of {seconds:g} seconds")


def _receipt(given: object) -> Audit | None:
    """Return what a result says of what a recorder returned, which nobody had to await for the run to be kept."""
    if inspect.isawaitable(given):
        raise _unawaited(given)
    if not isinstance(given, Mapping):
        return None
    said = Audit(status="recorded")
    seq, mark = given.get("seq"), given.get("hash")
    if isinstance(seq, int) and not isinstance(seq, bool):
        said["seq"] = seq
    if isinstance(mark, str):
        said["hash"] = mark
    audit: Audit = storable({**said})
    return audit


def _unawaited(given: Awaitable[object]) -> TypeError:
    if inspect.iscoroutine(given):
        given.close()
    return TypeError(
        f"the recorder returned a {type(given).__name__}, which nobody awaits; a plain function is required"
    )
