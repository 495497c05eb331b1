"""Telling the recorder: a run that begins, a note of one that is open, a run that has ended.

A step of a run that has something to tell is a generator, one for sync and async: it yields what is to be told and is
sent back what came of it. Whatever a recorder does, no result is lost by it: what it raises is told, and logged.
"""

from __future__ import annotations

import asyncio
import inspect
import logging
from collections.abc import Awaitable, Callable, Generator
from dataclasses import dataclass, field, replace
from functools import partial
from inspect import Parameter, signature
from threading import TIMEOUT_MAX
from typing import Any, Final, Literal, TypeAlias, TypeVar

from guardgraph.graphs.running.frame import Part, describe_run_error
from guardgraph.graphs.running.notes import KnownNotes
from guardgraph.graphs.running.session import Session, format_utc_moment
from guardgraph.plain.json import JsonObject, copy_json
from guardgraph.plain.log import log_failure
from guardgraph.state.recording import NoteKind, RunNote
from guardgraph.world.threads import Handover, run_in_call_thread, start_thread_work

_AFTER: Final = "after"
"""The parameter of a recorder's `notes` that is given the number of an entry."""

T = TypeVar("T")


@dataclass(frozen=True)
class Telling:
    """What a recorder is to be told."""

    recorder: Any
    method: Literal["begin", "note", "notes", "record"]
    """Which of its methods is called."""
    content: Any
    """What it is called with."""
    options: JsonObject = field(default_factory=dict)
    """By what names it is called with more."""


@dataclass(frozen=True)
class Told:
    """What came of telling a recorder."""

    came: Any = None
    """What it returned."""
    error: JsonObject | None = None
    """Type and message of what it raised; None where it returned."""


Steps: TypeAlias = Generator[Telling, Told, T]
"""A step of a run: it yields what a recorder is to be told, and is sent back what came of that."""


def take_steps(steps: Steps[T]) -> T:
    """Take steps to their end, and return what they return; the recorder is waited for in this thread."""
    try:
        telling = next(steps)
        while True:
            telling = steps.send(tell_recorder(telling))
    except StopIteration as end:
        return end.value  # type: ignore[no-any-return]


async def atake_steps(steps: Steps[T]) -> T:
    """Do what `take_steps` does; the recorder works in a thread of its own, and is awaited."""
    try:
        telling = next(steps)
        while True:
            telling = steps.send(await atell_recorder(telling))
    except StopIteration as end:
        return end.value  # type: ignore[no-any-return]


def note_open_run(part: Part, session: Session, kind: NoteKind, content: JsonObject) -> Steps[Told | None]:
    """Have the recorder keep something of a run that has not ended; a step like any other (``yield from``).

    Args:
        part: a node of the run.
        session: in which the run is.
        kind: what is noted.
        content: what is kept of it, plain JSON.

    Returns:
        What came of it, with an `error` where it was not kept; None where nobody is there to keep it: the recorder has
        no `note`, or the run is decided again.
    """
    if session.is_replay or not has_method(recorder := part.frame.recorder, "note"):
        return None
    note = RunNote(
        run_id=session.run_id or "",
        request=session.request,
        kind=kind,
        at=format_utc_moment(session.world.calendar()),
        content=content,
    )
    told = yield Telling(recorder, "note", copy_json(note))
    session.notes.take_receipt(told.came)
    return told


def list_write_notes(part: Part, session: Session, at: JsonObject) -> Steps[Told | None]:
    """Ask the recorder what it noted of writes of the run's request, in all its runs; a step as `note_open_run` is.

    Args:
        part: a node of the run.
        session: in which the run is.
        at: the place of a write, or of a visit: node, visit, and a number where one write is meant.

    Returns:
        What came of it: a list of `RunNote`, in which others may stand too, or an `error`; None where nobody could have
        noted anything.
    """
    if session.is_replay or not has_method(recorder := part.frame.recorder, "notes"):
        return None
    known: KnownNotes = session.notes
    if not has_parameter(recorder.notes, _AFTER):  # type: ignore[union-attr]
        return (yield Telling(recorder, "notes", session.request))
    told = yield Telling(recorder, "notes", session.request, {_AFTER: known.read_to})
    if told.error is not None:
        return told
    known.add_notes(told.came)
    return replace(told, came=known.list_notes(at))


def has_method(recorder: object, name: str) -> bool:
    """Say whether a recorder, if there is one, may be told this."""
    return callable(getattr(recorder, name, None))


def has_parameter(function: Any, name: str) -> bool:
    """Say whether a function can be given something by a name."""
    try:
        parameters = signature(function).parameters.values()
    except (TypeError, ValueError):  # some of C's have none
        return False
    return any(given.name == name and given.kind is not Parameter.POSITIONAL_ONLY for given in parameters)


def tell_recorder(telling: Telling) -> Told:
    """Tell a recorder something, for as long as that may take.

    One that has a timeout works in a thread of its own, which is left behind when time is up.
    """
    work = partial(_call_recorder, telling)
    try:
        if (seconds := getattr(telling.recorder, "timeout", None)) is None:
            return work()
        start_thread_work(work, done := Handover())
        if (came := done.wait_for_result(min(seconds, TIMEOUT_MAX))) is None:
            return _fail_telling(telling, _make_recorder_timeout(seconds))
        told, error = came
        return told if error is None else _fail_telling(telling, error)
    except Exception as error:  # noqa: BLE001 - whatever goes wrong, no result is lost
        return _fail_telling(telling, error)


async def atell_recorder(telling: Telling) -> Told:
    """Do what `tell_recorder` does without blocking the event loop: every recorder has a thread of its own."""
    try:
        seconds: Any = getattr(telling.recorder, "timeout", None)
        async with asyncio.timeout(None if seconds is None else min(seconds, TIMEOUT_MAX)):
            told: Told = await asyncio.wrap_future(run_in_call_thread(partial(_call_recorder, telling)))
            return told
    except TimeoutError:  # the limit's: what the recorder raises is in what `_call_recorder` returns
        return _fail_telling(telling, _make_recorder_timeout(seconds))
    except Exception as error:  # noqa: BLE001 - see tell_recorder
        return _fail_telling(telling, error)


def _call_recorder(telling: Telling) -> Told:
    """Call a recorder, and return what came of it; whatever it raises says the same in every thread."""
    try:
        method: Callable[..., Any] = getattr(telling.recorder, telling.method)
        if inspect.isawaitable(came := method(telling.content, **telling.options)):
            raise _make_unawaited_error(came)
        return Told(came)
    except (Exception, asyncio.CancelledError) as error:  # noqa: BLE001 - no result is lost
        return _fail_telling(telling, error)


def _fail_telling(telling: Telling, error: BaseException) -> Told:
    said = describe_run_error(error)
    content = telling.content
    run_id = content.get("run_id") if isinstance(content, dict) else content
    log_failure(f"recorder.{telling.method} failed, run {run_id}", error, logging.WARNING, run_id=run_id)
    return Told(error=said)


def _make_recorder_timeout(seconds: float) -> TimeoutError:
    return TimeoutError(f"the recorder did not return within its timeout of {seconds:g} seconds")


def _make_unawaited_error(given: Awaitable[object]) -> TypeError:
    if inspect.iscoroutine(given):
        given.close()
    return TypeError(
        f"the recorder returned a {type(given).__name__}, which nobody awaits; a plain function is required"
    )
