"""The audit of a run: its recording is given to the recorder, and what came of that is said."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Mapping
from contextlib import suppress
from functools import partial
from threading import TIMEOUT_MAX
from typing import Any

from guardgraph.graphs.frame import Frame, described
from guardgraph.graphs.record import watchers
from guardgraph.nodes.body import Run
from guardgraph.state.json import JsonObject
from guardgraph.state.plain import copied, storable
from guardgraph.state.recording import Recorder, Recording
from guardgraph.state.run import Audit
from guardgraph.state.settings import Policy
from guardgraph.world.threads import Handover, start

__all__ = ["NoRecorder", "is_required", "kept", "unavailable"]


class NoRecorder(Exception):
    """A run had to be recorded, and its graph has no recorder."""

    def __str__(self) -> str:
        return "the run must be recorded, and its graph has no recorder"


def is_required(frame: Frame, run: Run[Any, Any] | Exception) -> bool:
    """Say whether a run must be recorded; under a context that nobody could read, the deployment's policy says it."""
    policy = frame.policy if isinstance(run, Exception) else run.policy
    return isinstance(policy, Policy) and bool(policy.audit_required)


def kept(frame: Frame, made: Recording) -> Audit | None:
    """Give a recording to the recorder, for as long as it may take, and return what came of it; None without receipt.

    Args:
        frame: of the graph.
        made: the recording; whoever keeps it may do with it what they like.
    """
    for watch in watchers():
        with suppress(Exception):  # for tests; they change no run
            watch(frame, copied(made))
    if frame.recorder is None:
        return None
    try:
        return _receipt(_returned(_recorded(frame.recorder, made)))
    except (Exception, asyncio.CancelledError) as error:  # noqa: BLE001 - whatever it raises, no result is lost
        return unavailable(described(error))


def unavailable(why: JsonObject) -> Audit:
    """Return the audit of a run that was not recorded.

    Args:
        why: the type and the message of what was raised.
    """
    said: Audit = storable({"status": "unavailable", "error": {key: why[key] for key in ("type", "message")}})
    return said


def _recorded(recorder: Recorder, made: Recording) -> object:
    """Call a recorder; one that has a timeout in a thread of its own, which is left behind when time is up."""
    seconds = getattr(recorder, "timeout", None)
    if seconds is None:
        return recorder.record(made)
    done = Handover()
    start(partial(recorder.record, made), done)
    if (came := done.wait(min(seconds, TIMEOUT_MAX))) is None:
        raise TimeoutError(f"the recorder did not return within its timeout of {seconds:g} seconds")
    receipt, error = came
    if error is not None:
        raise error
    return receipt


def _returned(given: object) -> object:
    """Return what a recorder returned, unless somebody had to await it for the run to be kept."""
    if not inspect.isawaitable(given):
        return given
    if inspect.iscoroutine(given):
        given.close()
    raise TypeError(
        f"the recorder returned a {type(given).__name__}, which nobody awaits; a plain function is required"
    )


def _receipt(given: object) -> Audit | None:
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
