"""Telling the recorder: a run that begins, a note of one that is open, a run that has ended.

A step of a run that has something to tell is a generator, one for sync and async: it yields what is to be told and is
sent back what came of it. Whatever a recorder does, no result is lost by it: what it raises is told, and logged. It is
told of a beginning before anything is called: whoever reads that later sees a run that acts, or acted, and has no
ending. A run that has to be recorded, and whose beginning cannot be, ends there.
"""

from __future__ import annotations

import asyncio
import inspect
import logging
from collections.abc import Callable, Generator
from dataclasses import dataclass, field, replace
from functools import partial
from inspect import Parameter, signature
from threading import TIMEOUT_MAX
from typing import Any, Final, Literal, TypeAlias, TypeVar

from guardgraph.graphs.declaring import UNRECORDED_ENDING
from guardgraph.graphs.running.frame import (
    Frame,
    Part,
    build_stop_verdict,
    describe_run_error,
    is_recording_required,
    read_run_input,
)
from guardgraph.graphs.running.session import Session, Visit, format_utc_moment
from guardgraph.nodes.body import Run
from guardgraph.plain.json import JsonObject, copy_json, find_unnamed_numbers, make_storable_json
from guardgraph.plain.log import log_failure
from guardgraph.plain.version import FORMAT, read_package_version
from guardgraph.state.catalogue import AUDIT_UNAVAILABLE
from guardgraph.state.recording import BegunRun, NoteKind, Recorder, RunNote
from guardgraph.state.run import Opening
from guardgraph.world.deadline import run_in_call_thread, start_thread_work

_AFTER: Final = "after"  # the parameter of a recorder's `notes` that is given the number of an entry

T = TypeVar("T")


@dataclass(frozen=True)
class Telling:
    """What a recorder is to be told."""

    recorder: Any
    method: Literal["begin", "note", "notes", "record"]  # which of its methods is called
    content: Any  # what it is called with
    options: JsonObject = field(default_factory=dict)  # by what names it is called with more

    def meet(self) -> Told:
        """Tell it, for as long as that may take; a recorder with a timeout is left behind in its thread."""
        work = partial(_call_recorder, self)
        try:
            if (seconds := getattr(self.recorder, "timeout", None)) is None:
                return work()
            if (came := start_thread_work(work).wait(seconds)) is None:
                return _fail_telling(self, _make_recorder_timeout(seconds))
            told, error = came
            return told if error is None else _fail_telling(self, error)
        except Exception as error:  # noqa: BLE001 - whatever goes wrong, no result is lost
            return _fail_telling(self, error)

    async def ameet(self) -> Told:
        """Tell it without blocking the event loop: every recorder has a thread of its own."""
        try:
            seconds: Any = getattr(self.recorder, "timeout", None)
            async with asyncio.timeout(None if seconds is None else min(seconds, TIMEOUT_MAX)):
                told: Told = await asyncio.wrap_future(run_in_call_thread(partial(_call_recorder, self)))
                return told
        except TimeoutError:  # the limit's: what the recorder raises is in what `_call_recorder` returns
            return _fail_telling(self, _make_recorder_timeout(seconds))
        except Exception as error:  # noqa: BLE001 - see `meet`
            return _fail_telling(self, error)


@dataclass(frozen=True)
class Told:
    """What came of telling a recorder."""

    came: Any = None  # what it returned
    error: JsonObject | None = None  # type and message of what it raised; None where it returned


Steps: TypeAlias = Generator[Telling, Told, T]
"""A step of a run: it yields what a recorder is to be told, and is sent back what came of that."""


def note_open_run(
    recorder: Recorder | None, session: Session, kind: NoteKind, content: JsonObject
) -> Steps[Told | None]:
    """Have the recorder keep something of a run that has not ended; a step like any other (``yield from``)."""
    if session.is_replay or not has_method(recorder, "note"):
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


def list_write_notes(recorder: Recorder | None, session: Session, at: JsonObject) -> Steps[Told | None]:
    """Ask the recorder what it noted of writes of the run's request, in all its runs; a step as `note_open_run` is."""
    if session.is_replay or not has_method(recorder, "notes"):
        return None
    known = session.notes
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


def _call_recorder(telling: Telling) -> Told:
    """Call a recorder, and return what came of it; whatever it raises says the same in every thread."""
    try:
        method: Callable[..., Any] = getattr(telling.recorder, telling.method)
        came = method(telling.content, **telling.options)
        if inspect.isawaitable(came):
            if inspect.iscoroutine(came):
                came.close()
            kind = type(came).__name__
            raise TypeError(f"the recorder returned a {kind}, which nobody awaits; a plain function is required")
        return Told(came)
    except (KeyboardInterrupt, GeneratorExit):
        raise
    except BaseException as error:  # noqa: BLE001 - no result is lost
        return _fail_telling(telling, error)


def _fail_telling(telling: Telling, error: BaseException) -> Told:
    said = describe_run_error(error)
    content = telling.content
    run_id = content.get("run_id") if isinstance(content, dict) else content
    log_failure(f"recorder.{telling.method} failed, run {run_id}", error, logging.WARNING, run_id=run_id)
    return Told(error=said)


def _make_recorder_timeout(seconds: float) -> TimeoutError:
    return TimeoutError(f"the recorder did not return within its timeout of {seconds:g} seconds")


NO_RECORDER: Final = {"type": "NoRecorder", "message": "the run must be recorded, and its graph has no recorder"}
_NO_BEGINNING: Final = {
    "type": "NoBeginning",
    "message": "the run must be recorded from its beginning on, and its graph's recorder has no begin",
}


def tell_run_beginning(
    part: Part, state: JsonObject, run: Run[Any, Any] | Exception, visit: Visit, update: JsonObject
) -> Steps[JsonObject]:
    """Have the recorder keep that a run begins, where the entry guard let it in."""
    frame, session = part.frame, visit.session
    if session.is_replay or "verdict" in update:  # a run that is stopped here has its ending, and calls nobody
        return update
    required = is_recording_required(frame, run)
    given, opening = read_run_input(part, state), update["log"][0]["opening"]
    with session.pause_clock():
        error = yield from tell_beginning(frame, session, given, opening, required=required)
    if error is None:
        return update
    if required:
        [line] = update["log"]
        said = {**line, "verdict": "stop", "to": UNRECORDED_ENDING, "reason": AUDIT_UNAVAILABLE}
        said.pop("steps", None)
        verdict = build_stop_verdict(AUDIT_UNAVAILABLE, part.declaration.phase, {"details": error})
        return {"route": UNRECORDED_ENDING, "verdict": verdict, "log": [said]}
    [line] = update["log"]
    return {**update, "log": [{**line, "unbegun": make_storable_json(error)}]}


def tell_beginning(
    frame: Frame, session: Session, given: JsonObject, opening: Opening, *, required: bool
) -> Steps[JsonObject | None]:
    """Have the recorder keep that a run begins, and return why that is not kept; None where it is, or need not be."""
    if has_method(frame.recorder, "begin"):
        fork = {} if session.forked_from is None else {"forked_from": session.forked_from}
        begun: BegunRun = copy_json(
            {
                **describe_run(frame, session.run_id or "", given),
                "request": session.request,
                "thread": session.thread,
                "fingerprints": frame.judged_by,
                "opening": opening,
                **fork,
            }
        )
        return (yield Telling(frame.recorder, "begin", begun)).error
    missing = NO_RECORDER if frame.recorder is None else _NO_BEGINNING
    return {**missing} if required else None


def describe_run(frame: Frame, run_id: str, given: JsonObject) -> JsonObject:
    """Return what a beginning and a recording both say of a run: what it was given, and by which settings."""
    plain: JsonObject = make_storable_json(given, around=1)
    nameless = [] if plain is given else find_unnamed_numbers(given)
    policy, budget = frame.plain_settings
    return {
        "format": FORMAT,
        "guardgraph": read_package_version(),
        "pattern": frame.catalogue.pattern,
        "graph": frame.name,
        "run_id": run_id,
        "input": plain,
        "policy": policy,
        "budget": budget,
        **({"nameless": nameless} if nameless else {}),
    }
