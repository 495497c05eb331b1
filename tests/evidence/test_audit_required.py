"""Runs that must be recorded: what a result says of its record, and how a run ends that could not be recorded."""

import asyncio
import json

import pytest
import refund_pattern
from langgraph.checkpoint.memory import InMemorySaver
from recorded_runs import AGENTS, Failing, Kept
from runs import BOTH, THREAD, check_result, content, masked, run
from tables import each_row
from ticket_pattern import REASONS, TICKET, Audited, In, State, check_request, triage

from guardgraph import CATALOGUES, ConfigurationError
from guardgraph.grammar import Budget, Ok, Pattern, Policy, Stopped
from guardgraph.graphs.patterns import PATTERNS
from guardgraph.state.run import Audit
from guardgraph.testing import InMemoryRecorder

REQUIRED = {"policy": {"audit_required": True}}


class Approved(refund_pattern.Policy, Policy):
    """The policy of the tests' pattern that asks a person."""


def audited(**kwargs):
    return triage(policy=Audited(audit_required=True), **kwargs)


def unrecorded(catalogue, result, **details):
    """Assert that a run ended since it was not recorded, with these details, and return the result."""
    check_result(catalogue, result)
    assert (result["status"], result["stop_reason"]) == ("stopped", "audit_unavailable")
    assert content(result).keys() == {"details", "audit"}
    assert result["details"] == {**result["details"], **details}
    error = {key: result["details"][key] for key in ("type", "message")}
    assert result["audit"] == {"status": "unavailable", "error": error}
    return result


# What a result says of its record


@each_row(
    ("given", "shown"),
    ({"seq": 7, "hash": "ab", "status": "lost", "answer": 1}, {"seq": 7, "hash": "ab"}),
    ({"seq": True, "hash": 5}, {}),
    ({"seq": 2**80, "hash": "\ud800"}, {"seq": ..., "hash": ...}),
    ({}, {}),
)
def test_a_receipt_stands_in_the_result(given, shown):
    """Number and hash are shown as plain JSON that every checkpointer keeps; whatever else a receipt has is not."""
    recorder = InMemoryRecorder()
    recorder.record = lambda run: given
    graph = triage(recorder=recorder, checkpointer=InMemorySaver())
    audit = graph.invoke(TICKET, THREAD)["audit"]
    assert (audit.keys(), audit["status"]) == ({"status", *shown}, "recorded")
    assert all(value in (..., audit[key]) for key, value in shown.items())
    assert graph.get_state(THREAD).values.get("audit", audit) == audit


@pytest.mark.paired
@pytest.mark.parametrize("mode", BOTH)
@pytest.mark.parametrize("error", [OSError("the disk is full"), KeyError(), asyncio.CancelledError("gone")])
def test_a_recorder_that_raises_changes_nothing_but_the_audit(error, mode):
    """The answer stays; the result says why there is no record of it."""
    result = run(triage(recorder=Failing(error)), TICKET, mode)
    audit = result.pop("audit")
    assert audit["status"] == "unavailable"
    assert str(error) in audit["error"]["message"]
    assert masked(result) == masked(triage().invoke(TICKET))


@each_row("timeout", 0, float("nan"), "5", True)
def test_a_timeout_is_a_number_of_seconds(timeout):
    """One that cannot be read any more, when the graph has been made, loses no result."""
    recorder = Kept()
    graph = triage(recorder=recorder)
    recorder.timeout = timeout
    with pytest.raises(ConfigurationError, match=r"^recorder\.timeout: seconds above 0, or None; given: "):
        triage(recorder=recorder)
    recorder.timeout = "soon"
    assert graph.invoke(TICKET)["audit"]["error"]["type"] == "TypeError"


# How a run ends that had to be recorded


FAILS = {"bodies": {"routed": lambda state, run: 1 / 0}}
ENDINGS = {
    "an ok ending": ({}, "routed", "lookup", {"stop_reason": "success", "outcome": "routed"}),
    "another one": ({"proposer": lambda view: {"label": "spam"}}, "spam", "label", {"outcome": "spam"}),
    "a stop": ({"proposer": lambda view: {}}, "stop_invalid_label", "label", {"stop_reason": "invalid_label"}),
    "an ending that fails": (FAILS, "stop_guard_error", "lookup", {"stop_reason": "guard_error:routed"}),
}


@pytest.mark.paired
@pytest.mark.parametrize("mode", BOTH)
@pytest.mark.parametrize("ending", ENDINGS)
def test_a_run_that_is_not_recorded_ends_stopped(ending, mode):
    """From every terminal, in every way of running; the recorder is asked once."""
    given, terminal, phase, details = ENDINGS[ending]
    recorder = Failing()
    result = run(audited(recorder=recorder, **given), TICKET, mode)
    unrecorded(REASONS, result, type="OSError", message="the disk is full", **details)
    assert (result["phase"], result["path"][-2:]) == (phase, [terminal, "stop_audit_unavailable"])
    assert result["timeline"][-2]["reason"] == "audit_unavailable"
    assert "outcome" in details or "outcome" not in result["details"]
    assert recorder.asked == 1


@each_row("mode", *BOTH)
def test_a_graph_without_a_recorder_gives_no_answer_that_must_be_recorded(mode):
    """Nobody to record is no reason to answer: the run ends behind its entry guard, and calls nobody."""
    called = []
    result = run(audited(tool=called.append), TICKET, mode)
    unrecorded(REASONS, result, type="NoRecorder")
    assert (result["path"], result["phase"], called) == (["request_guard", "stop_audit_unavailable"], "label", [])
    assert "stop_reason" not in result["details"]


@each_row("pattern", *AGENTS)
def test_the_three_patterns_give_no_answer_without_a_record(pattern):
    """Nothing of the answer, the draft, a proposal or a source is left in the result, which the catalogue knows."""
    create, policy, _ = AGENTS[pattern]
    given = PATTERNS[pattern].demo()
    answered = create().invoke(given)
    result = create(policy=policy(audit_required=True), recorder=Failing()).invoke(given)
    unrecorded(CATALOGUES[pattern], result, stop_reason="success", outcome=answered["outcome"])
    shown, known = json.dumps(result), json.dumps([given, answered["trace"]])
    said = _texts({**answered, "path": [], "trace": [], "outcome": ""})
    texts = [text for text in said if len(text) > 25 and json.dumps(text)[1:-1] not in known]
    assert texts
    assert [text for text in texts if json.dumps(text)[1:-1] in shown] == []


def _texts(value):
    if isinstance(value, dict):
        value = list(value.values())
    return [text for item in value for text in _texts(item)] if isinstance(value, list) else [str(value)]


def test_a_context_may_require_an_audit_and_never_lift_it():
    graph = triage(policy=Audited())
    assert graph.invoke(TICKET)["status"] == "ok"
    assert graph.invoke(TICKET, context=REQUIRED)["stop_reason"] == "audit_unavailable"
    lifted = {"policy": {"audit_required": False}}
    assert audited().invoke(TICKET, context=lifted)["stop_reason"] == "audit_unavailable"


# With checkpoints, persons and graphs around


def test_what_a_person_approved_is_done_and_withheld():
    """A run that waited ends stopped if it cannot be recorded; what was done is done, and the details say it."""
    policy = Approved(audit_required=True)
    graph = refund_pattern.refund(policy=policy, checkpointer=InMemorySaver(), recorder=Failing())
    waiting = graph.invoke({"order": "A-1"}, THREAD)
    assert waiting["status"] == "waiting"
    answer = refund_pattern.answering(waiting)
    result = unrecorded(refund_pattern.REASONS, graph.invoke(answer, THREAD), outcome="refunded")
    assert result["phase"] == "pay"
    assert "answer" not in json.dumps(result["timeline"])


# What the grammar holds


class Noted(Audit):
    remark: str


class Own(Ok):
    audit: Noted


def ending(output, audit, **compiled):
    p = Pattern(REASONS, state=State, input=In, output=output, policy=Audited(), budget=Budget())
    p.entry("request_guard", check_request, writes=["task"], to="done")
    body = lambda state, run: {"outcome": "done", "audit": audit}  # noqa: E731
    p.terminal("done", body, phase="lookup", reads=["task"], writes=["outcome", "audit"])
    return p.compile(name="noted", **compiled)


@each_row("audit", {"status": "recorded"}, {"remark": "", "error": {}}, None)
def test_no_body_says_that_a_run_was_recorded(audit):
    """A body that writes the grammar's keys, or no object, closes the run."""
    result = check_result(REASONS, ending(Own | Stopped, audit).invoke(TICKET))
    assert result["stop_reason"] == "guard_error:done"
    assert "audit" not in result
