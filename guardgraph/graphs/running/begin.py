"""Beginning: the recorder is told that a run begins, before anything is called.

What it is told is a `BegunRun`. Whoever reads that later sees a run that acts, or acted, and has no ending. A run that
has to be recorded, and whose beginning cannot be, ends here.
"""

from __future__ import annotations

from typing import Any

from guardgraph.graphs.declaring.channels import name_input_field
from guardgraph.graphs.declaring.declaration import UNRECORDED_ENDING
from guardgraph.graphs.running.frame import Frame, Part, build_stop_verdict, describe_run_error
from guardgraph.graphs.running.session import Session, Visit
from guardgraph.graphs.running.telling import Steps, Telling, has_method
from guardgraph.nodes.body import Run
from guardgraph.plain.json import JsonObject, copy_json, find_unnamed_numbers, make_storable_json
from guardgraph.plain.version import FORMAT, read_package_version
from guardgraph.state.catalogue import AUDIT_UNAVAILABLE
from guardgraph.state.opening import Opening
from guardgraph.state.recording import BegunRun, JudgedBy
from guardgraph.state.settings import Policy


class NoRecorder(Exception):
    """A run had to be recorded, and its graph has no recorder."""

    def __str__(self) -> str:
        return "the run must be recorded, and its graph has no recorder"


class NoBeginning(Exception):
    """A run had to be recorded, and the recorder of its graph keeps endings only."""

    def __str__(self) -> str:
        return "the run must be recorded from its beginning on, and its graph's recorder has no begin"


def is_recording_required(frame: Frame, run: Run[Any, Any] | Exception) -> bool:
    """Say whether a run must be recorded; under a context that nobody could read, the deployment's policy says it."""
    policy = frame.policy if isinstance(run, Exception) else run.policy
    return isinstance(policy, Policy) and bool(policy.audit_required)


def tell_run_beginning(
    part: Part, state: JsonObject, run: Run[Any, Any] | Exception, visit: Visit, update: JsonObject
) -> Steps[JsonObject]:
    """Have the recorder keep that a run begins, where the entry guard let it in.

    Args:
        part: the entry guard.
        state: what it read.
        run: policy and budget of the run.
        visit: the entry guard's.
        update: what it writes.

    Returns:
        What the entry guard writes: the same, or the way to the stop of a run that had to be recorded and was not. What
        went wrong with a run that need not be recorded stands in its line of the log, for the result's audit.
    """
    frame, session = part.frame, visit.session
    if session.is_replay or "verdict" in update:  # a run that is stopped here has its ending, and calls nobody
        return update
    required = is_recording_required(frame, run)
    given, opening = read_run_input(part, state), update["log"][0]["opening"]
    with session.pause_clock():
        error = yield from tell_beginning(frame, session, given, opening, required=required)
    if error is None:
        return update
    return _refuse_beginning(part, update, error) if required else _note_missing_beginning(update, error)


def tell_beginning(
    frame: Frame, session: Session, given: JsonObject, opening: Opening, *, required: bool
) -> Steps[JsonObject | None]:
    """Have the recorder keep that a run begins, and return why that is not kept; None where it is, or need not be.

    Args:
        frame: of the graph.
        session: in which it begins, with its ids.
        given: the input's fields.
        opening: when it begins, under which context, and who asks.
        required: whether it must be kept.
    """
    if has_method(frame.recorder, "begin"):
        begun = _build_begun_run(frame, session, given, opening)
        return (yield Telling(frame.recorder, "begin", begun)).error
    missing = NoRecorder() if frame.recorder is None else NoBeginning()
    return describe_run_error(missing) if required else None


def _build_begun_run(frame: Frame, session: Session, given: JsonObject, opening: Opening) -> BegunRun:
    """Return what a recorder is told of a run that begins; arguments as of `tell_beginning`."""
    policy, budget = frame.settings_fingerprints
    plain, nameless = record_run_input(given)
    made = BegunRun(
        format=FORMAT,
        guardgraph=read_package_version(),
        pattern=frame.catalogue.pattern,
        graph=frame.name,
        run_id=session.run_id or "",
        request=session.request,
        thread=session.thread,
        input=plain,
        policy=frame.plain_settings[0],
        budget=frame.plain_settings[1],
        fingerprints=JudgedBy(policy=policy, budget=budget, declarations=frame.declarations_fingerprint),
        opening=opening,
    )
    if nameless:
        made["nameless"] = nameless
    if session.forked_from is not None:
        made["forked_from"] = session.forked_from
    begun: BegunRun = copy_json(made)
    return begun


def read_run_input(part: Part, state: JsonObject) -> JsonObject:
    """Return the input's fields, as the entry guard read them."""
    return {name_input_field(channel): state[channel] for channel in part.declaration.reads if channel in state}


def record_run_input(given: JsonObject) -> tuple[JsonObject, list[list[str | int]]]:
    """Return an input as a recording has it, and the places of numbers for which JSON has no form."""
    plain: JsonObject = make_storable_json(given, around=1)
    return plain, [] if plain is given else find_unnamed_numbers(given)


def _refuse_beginning(part: Part, update: JsonObject, error: JsonObject) -> JsonObject:
    """Return the way to the stop of a run that had to be recorded and was not, with nothing of what was let in."""
    [line] = update["log"]
    said = {**line, "verdict": "stop", "to": UNRECORDED_ENDING, "reason": AUDIT_UNAVAILABLE}
    said.pop("steps", None)
    verdict = build_stop_verdict(AUDIT_UNAVAILABLE, part.declaration.phase, {"details": error})
    return {"route": UNRECORDED_ENDING, "verdict": verdict, "log": [said]}


def _note_missing_beginning(update: JsonObject, error: JsonObject) -> JsonObject:
    [line] = update["log"]
    return {**update, "log": [{**line, "unbegun": make_storable_json(error)}]}
