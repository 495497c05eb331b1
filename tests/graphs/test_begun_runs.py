"""Runs whose beginning is on record: what a recorder is told before anything is called, and who does not begin."""

from __future__ import annotations

import asyncio
import json
import threading
from contextlib import closing

import pytest
import ticket_pattern
from langgraph.checkpoint.memory import InMemorySaver
from recorded_runs import Kept
from runs import BOTH, content, halt_before, run
from ticket_pattern import TICKET, triage

from guardgraph import ConfigurationError, InputError, LiveWorld, verify
from guardgraph.grammar import Policy
from guardgraph.graphs.running.node import aperform_driven_node, perform_driven_node
from guardgraph.graphs.running.recorder import list_write_notes, note_open_run
from guardgraph.graphs.running.session import Session
from guardgraph.testing import InMemoryRecorder

THREAD = {"configurable": {"thread_id": "1"}}


class Audited(ticket_pattern.Policy, Policy):
    """The policy of the tests' own pattern, which may require an audit."""


class Telling(InMemoryRecorder):
    """A recorder that writes down what happened in which order; the tool does so too."""

    def __init__(self, error=None, timeout=None):
        super().__init__()
        self.order = []
        self.error = error
        self.timeout = timeout

    def begin(self, run):
        """Keep a beginning, or fail."""
        self.order.append("begin")
        self.thread = threading.get_ident()
        if self.error is not None:
            raise self.error
        super().begin(run)

    def record(self, run):
        """Keep an ending."""
        self.order.append("record")
        super().record(run)

    def look_up(self, request):
        """Be the tool."""
        self.order.append("tool")
        return "ann"


@pytest.mark.parametrize("mode", BOTH)
def test_a_recorder_is_told_before_anything_is_called(mode):
    """Once for each run, in every way of running; the ending has the same id."""
    kept = Telling()
    result = run(triage(tool=kept.look_up, recorder=kept), TICKET, mode)
    assert kept.order == ["begin", "tool", "record"]
    [begun], [ended] = kept.begun, kept.runs
    assert begun["run_id"] == result["run_id"] == ended["run_id"]
    same = ("format", "guardgraph", "pattern", "graph", "input", "policy", "budget")
    assert {key: begun[key] for key in same} == {key: ended[key] for key in same}
    assert begun["opening"] == ended["visits"][0]["opening"]
    assert begun["fingerprints"].items() <= ended["fingerprints"].items()
    assert (begun["thread"], begun["request"]) == (None, result["run_id"])
    assert json.loads(json.dumps(begun, allow_nan=False)) == begun


# Where a beginning cannot be kept


FAILURES = {
    "no recorder": (lambda: None, "NoRecorder"),
    "endings only": (Kept, "NoBeginning"),
    "a full disk": (lambda: Telling(OSError("the disk is full")), "OSError"),
    "cancelled": (lambda: Telling(asyncio.CancelledError("gone")), "CancelledError"),
    "with a timeout": (lambda: Telling(OSError("the disk is full"), timeout=20), "OSError"),
}


@pytest.mark.paired
@pytest.mark.parametrize("mode", BOTH)
@pytest.mark.parametrize("how", FAILURES)
def test_a_run_that_must_be_recorded_does_not_begin_unrecorded(how, mode):
    """It ends before any call, says why, and nothing of what was let in is shown."""
    make, error = FAILURES[how]
    called = []
    graph = triage(
        policy=Audited(audit_required=True), recorder=make(), tool=called.append, proposer=lambda view: called.append(1)
    )
    assert verify(graph) == []
    result = run(graph, TICKET, mode)
    assert (result["stop_reason"], result["phase"]) == ("audit_unavailable", "label")
    assert result["path"] == ["request_guard", "stop_audit_unavailable"]
    assert result["details"]["type"] == result["audit"]["error"]["type"] == error
    assert (called, content(result).keys()) == ([], {"details", "audit"})


@pytest.mark.parametrize("mode", BOTH)
def test_another_run_goes_on_and_says_that_its_beginning_is_not_on_record(mode, caplog):
    """In the result's audit, and in the log of the process."""
    kept = Telling(OSError("the disk is full"))
    result = run(triage(recorder=kept, tool=kept.look_up), TICKET, mode)
    assert kept.order == ["begin", "tool", "record"]
    assert result["audit"] == {"unbegun": {"type": "OSError", "message": "the disk is full"}}
    assert "recorder.begin failed" in caplog.text
    assert result["run_id"] in caplog.text
    assert "audit" not in kept.runs[0]["result"]
    assert "unbegun" not in json.dumps(kept.runs)


class Hanging(InMemoryRecorder):
    """A recorder that does not return in its time when a run begins."""

    timeout = 0.05

    def __init__(self):
        super().__init__()
        self.released = threading.Event()

    def begin(self, run):
        """Wait until the test is over."""
        self.released.wait(20)


@pytest.mark.parametrize("mode", BOTH)
def test_a_recorder_that_hangs_is_left_after_its_timeout(mode):
    """A run that must be recorded ends, another goes on."""
    kept = Hanging()
    try:
        must = run(triage(policy=Audited(audit_required=True), recorder=kept), TICKET, mode)
        assert (must["stop_reason"], must["details"]["type"]) == ("audit_unavailable", "TimeoutError")
        assert run(triage(recorder=kept), TICKET, mode)["audit"]["unbegun"]["type"] == "TimeoutError"
    finally:
        kept.released.set()


@pytest.mark.parametrize("missing", ["begin", "note", "notes"])
def test_a_recorder_keeps_open_runs_or_does_not(missing):
    """One that has some of the methods and lacks another is refused, as one whose method nobody would await."""
    kept = InMemoryRecorder()
    setattr(kept, missing, None)
    with pytest.raises(ConfigurationError, match=rf"^recorder: an object with {missing} is required"):
        triage(recorder=kept)

    async def awaited(given):
        """Keep nothing."""

    setattr(kept, missing, awaited)
    with pytest.raises(ConfigurationError, match=rf"^recorder\.{missing}: a plain function is required"):
        triage(recorder=kept)


# What is open


def left(kept):
    """Return the ids of the runs that began and never ended."""
    return [begun["run_id"] for begun in kept.open]


WAYS_TO_BREAK_OFF = ["a stream", "a cancelled ainvoke", "a checkpointer that fails", "a dropped generator"]


@pytest.mark.parametrize("way", WAYS_TO_BREAK_OFF)
def test_a_run_that_a_client_breaks_off_is_open(way):
    """It acted, or may have, and that it began is on record."""
    kept = Telling()
    if way == "a stream":
        with closing(triage(recorder=kept, tool=kept.look_up).stream(TICKET)) as chunks:
            for chunk in chunks:
                if "lookup" in chunk:
                    break
    elif way == "a dropped generator":
        next(triage(recorder=kept).stream(TICKET))
    elif way == "a cancelled ainvoke":
        asyncio.run(cancelled(kept))
    else:
        saver = InMemorySaver()
        saver.put = failing_from(saver.put, 3)
        with pytest.raises(OSError, match="gone"):
            triage(recorder=kept, checkpointer=saver).invoke(TICKET, THREAD)
    assert len(left(kept)) == 1
    assert kept.runs == []


async def cancelled(kept):
    """Cancel a run while its tool works."""
    began = asyncio.Event()
    loop = asyncio.get_running_loop()

    def look_up(request):
        loop.call_soon_threadsafe(began.set)
        threading.Event().wait(0.2)

    task = asyncio.create_task(triage(recorder=kept, tool=look_up).ainvoke(TICKET))
    await began.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


def failing_from(put, number):
    """Return a way to write checkpoints that fails from some number on."""
    made = []

    def written(*args, **kwargs):
        made.append(1)
        if len(made) >= number:
            raise OSError("gone")
        return put(*args, **kwargs)

    return written


# The id of what was asked


@pytest.mark.parametrize(
    ("configurable", "request_id"),
    [
        ({"request_key": "order 7"}, "order 7"),
        ({"request_key": "order 7", "graph_id": "g", "run_id": "r1"}, "order 7"),
        ({"graph_id": "g", "run_id": "r1"}, "r1"),
        ({"run_id": "r1"}, None),
        ({}, None),
    ],
)
def test_a_request_has_the_id_that_its_client_gives_it(configurable, request_id):
    """Else that of a server's run, else the run's own; it stays the same over resumes, whoever makes them."""
    kept, saver = InMemoryRecorder(), InMemorySaver()
    graph = triage(recorder=kept, checkpointer=saver)
    assert halt_before(graph, TICKET, {"configurable": {**THREAD["configurable"], **configurable}}, "lookup")
    [begun] = kept.begun
    assert begun["request"] == (request_id or begun["run_id"])
    assert graph.get_state(THREAD).values["log"][0].get("request") == request_id
    result = graph.invoke(None, {"configurable": {"thread_id": "1", "request_key": "another"}})
    assert (result["status"], "order 7" in json.dumps(result)) == ("ok", False)


@pytest.mark.parametrize("given", ["", 7, "x" * 201, ["a"], "\ud800"])
def test_a_request_key_is_a_short_text(given):
    """Anything else is refused before anything runs."""
    kept = InMemoryRecorder()
    with pytest.raises(InputError, match=r"^config\.configurable\.request_key: a text of 1 to 200 characters"):
        triage(recorder=kept).invoke(TICKET, {"configurable": {"request_key": given}})
    assert kept.begun == []


# Notes of a run that goes on


def noting(kept):
    """Return a node of a graph with a recorder, and a session of it."""
    part = triage(recorder=kept).frame.nodes["lookup"]
    session = Session(part.frame.world)
    session.run_id, session.request = "run 1", "order 7"
    return part, session


def driven(part, session):
    """Note something between two calls, as a body at work does, and return what came of it."""
    told = yield from note_open_run(part.frame.recorder, session, "intent", {"key": "pay 1"})
    listed = yield from list_write_notes(part.frame.recorder, session, {"node": "pay", "visit": 1})
    return {"told": told, "listed": listed}


@pytest.mark.parametrize("mode", ["sync", "async"])
def test_a_node_at_work_has_the_recorder_keep_notes(mode):
    """By a step of its own; what was noted of the request is given back."""
    kept = InMemoryRecorder()
    part, session = noting(kept)
    steps = driven(part, session)
    world = part.frame.world
    done = perform_driven_node(steps, world) if mode == "sync" else asyncio.run(aperform_driven_node(steps, world))
    [note] = kept.noted
    assert (note["run_id"], note["request"], note["kind"], note["content"]) == (
        "run 1",
        "order 7",
        "intent",
        {"key": "pay 1"},
    )
    assert (done["told"].error, done["listed"].came) == (None, [note])


def test_a_note_that_cannot_be_kept_is_told(caplog):
    """It raises nowhere; a recorder that keeps endings only, and a replay, are told nothing."""

    class Full(InMemoryRecorder):
        def note(self, note):
            raise OSError("the disk is full")

    part, session = noting(Full())
    assert perform_driven_node(driven(part, session), LiveWorld())["told"].error["type"] == "OSError"
    assert "recorder.note failed" in caplog.text
    part, session = noting(Kept())
    assert perform_driven_node(driven(part, session), LiveWorld()) == {"told": None, "listed": None}
    part, session = noting(InMemoryRecorder())
    session.is_replay = True
    assert perform_driven_node(driven(part, session), LiveWorld()) == {"told": None, "listed": None}
