"""Runs whose beginning is on record: what a recorder is told before anything is called, and who does not begin."""

import itertools
import json
from contextlib import closing

import pytest
from hanging import hang, released
from langgraph.checkpoint.memory import InMemorySaver
from recorded_runs import Kept
from runs import BOTH, THREAD, content, halt_before, on_thread, run
from ticket_pattern import TICKET, Audited, triage

from guardgraph import ConfigurationError, InputError, verify
from guardgraph.testing import InMemoryRecorder

nobody_hangs_on = pytest.fixture(autouse=True)(released)
RECEIPT = {"status": "recorded", "seq": 7, "hash": "ab"}
SERVED = {"graph_id": "g", "run_id": "r1"}
REQUESTS = [({"request_key": "order 7", **SERVED}, "order 7"), (SERVED, "r1"), ({"run_id": "r1"}, None)]


class Telling(InMemoryRecorder):
    """A recorder that writes down what happened in which order; the tool does so too."""

    def __init__(self, error=None):
        super().__init__()
        self.order, self.error = [], error

    def begin(self, run):
        self.order.append("begin")
        if self.error is not None:
            raise self.error
        super().begin(run)

    def record(self, run):
        self.order.append("record")
        super().record(run)
        return {"seq": 7, "hash": "ab", "more": 1}

    def look_up(self, request):
        return self.order.append("tool") or "ann"


@pytest.mark.parametrize("mode", BOTH)
def test_a_recorder_is_told_before_anything_is_called(mode):
    """Once for each run, in every way of running; the ending has the same id."""
    kept = Telling()
    result = run(triage(tool=kept.look_up, recorder=kept), TICKET, mode)
    assert (kept.order, result["audit"]) == (["begin", "tool", "record"], RECEIPT)
    [begun], [ended] = kept.begun, kept.runs
    assert begun["run_id"] == result["run_id"] == ended["run_id"]
    same = ("format", "guardgraph", "pattern", "graph", "input", "policy", "budget")
    assert {key: begun[key] for key in same} == {key: ended[key] for key in same}
    assert begun["opening"] == ended["visits"][0]["opening"]
    assert begun["fingerprints"].items() <= ended["fingerprints"].items()
    assert (begun["thread"], begun["request"]) == (None, result["run_id"])
    assert json.loads(json.dumps(begun, allow_nan=False)) == begun


FAILURES = [(lambda: None, "NoRecorder"), (Kept, "NoBeginning"), (lambda: Telling(OSError("a full disk")), "OSError")]


@pytest.mark.paired
@pytest.mark.parametrize("mode", BOTH)
@pytest.mark.parametrize(("make", "error"), FAILURES, ids=["no recorder", "endings only", "a full disk"])
def test_a_run_that_must_be_recorded_does_not_begin_unrecorded(make, error, mode):
    """It ends before any call, says why, and nothing of what was let in is shown."""
    called = []
    graph = triage(called.append, policy=Audited(audit_required=True), recorder=make(), tool=called.append)
    assert verify(graph) == []
    result = run(graph, TICKET, mode)
    assert (result["stop_reason"], result["phase"]) == ("audit_unavailable", "label")
    assert result["path"] == ["request_guard", "stop_audit_unavailable"]
    assert result["details"]["type"] == result["audit"]["error"]["type"] == error
    assert (called, content(result).keys()) == ([], {"details", "audit"})


@pytest.mark.parametrize("mode", BOTH)
def test_another_run_goes_on_and_says_that_its_beginning_is_not_on_record(mode, caplog):
    kept = Telling(OSError("the disk is full"))
    result = run(triage(recorder=kept, tool=kept.look_up), TICKET, mode)
    assert kept.order == ["begin", "tool", "record"]
    assert result["audit"] == {"unbegun": {"type": "OSError", "message": "the disk is full"}, **RECEIPT}
    assert all(said in caplog.text for said in ("recorder.begin failed", result["run_id"]))
    assert "unbegun" not in json.dumps(kept.runs)


@pytest.mark.parametrize("mode", BOTH)
def test_a_recorder_that_hangs_is_left_after_its_timeout(mode):
    kept = InMemoryRecorder()
    kept.timeout, kept.begin = 0.05, hang
    must, graph = run(triage(policy=Audited(audit_required=True), recorder=kept), TICKET, mode), triage(recorder=kept)
    assert (must["stop_reason"], must["details"]["type"]) == ("audit_unavailable", "TimeoutError")
    for begin, timeout, error in ((hang, 0.05, "TimeoutError"), (hang, "1", "TypeError"), (awaited, 9, "TypeError")):
        kept.begin, kept.timeout = begin, timeout
        assert run(graph, TICKET, mode)["audit"]["unbegun"]["type"] == error


async def awaited(given):
    """Keep nothing."""


@pytest.mark.parametrize("name", ["begin", "note", "notes"])
def test_a_recorder_keeps_open_runs_or_does_not(name):
    """One that has some of the methods and lacks another is refused, as one whose method nobody would await."""
    kept = InMemoryRecorder()
    for method, message in ((None, f": an object with {name} is"), (awaited, rf"\.{name}: a plain function is")):
        setattr(kept, name, method)
        with pytest.raises(ConfigurationError, match=f"^recorder{message} required"):
            triage(recorder=kept)


@pytest.mark.parametrize(("configurable", "request_id"), REQUESTS)
def test_a_request_has_the_id_that_its_client_gives_it(configurable, request_id):
    """Else that of a server's run, else the run's own; it stays the same over resumes, whoever makes them."""
    kept, saver = InMemoryRecorder(), InMemorySaver()
    graph = triage(recorder=kept, checkpointer=saver)
    assert halt_before(graph, TICKET, on_thread(**configurable), "lookup")
    [begun] = kept.begun
    assert begun["request"] == (request_id or begun["run_id"])
    assert graph.get_state(THREAD).values["log"][0].get("request") == request_id
    result = graph.invoke(None, on_thread(request_key="another"))
    assert (result["status"], "order 7" in json.dumps(result)) == ("ok", False)


@pytest.mark.parametrize("given", ["", 7, "x" * 201, ["a"], "\ud800"])
def test_a_request_key_is_a_short_text(given):
    kept = InMemoryRecorder()
    with pytest.raises(InputError, match=r"^config\.configurable\.request_key: a text of 1 to 200 characters"):
        triage(recorder=kept).invoke(TICKET, on_thread(request_key=given))
    assert kept.begun == []


def test_a_run_that_a_client_breaks_off_or_whose_checkpointer_fails_is_open():
    kept, saver = Telling(), InMemorySaver()
    with closing(triage(recorder=kept, tool=kept.look_up).stream(TICKET)) as chunks:
        while "lookup" not in next(chunks):
            pass
    put, puts = saver.put, itertools.count()
    saver.put = lambda *given: put(*given) if next(puts) != 2 else 1 / 0
    with pytest.raises(ZeroDivisionError):
        triage(recorder=kept, checkpointer=saver).invoke(TICKET, THREAD)
    assert (len(kept.open), kept.runs) == (2, [])
