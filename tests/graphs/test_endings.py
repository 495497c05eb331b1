"""How runs end: terminals that fail, and what a result says of the steps on the way."""

from __future__ import annotations

import pytest
from langgraph.types import Command
from runs import check_result, content
from ticket_pattern import REASONS, TICKET, triage

from guardgraph import LiveWorld
from guardgraph.grammar import Call, Stop
from guardgraph.testing import ScriptedClock


def raising(error):
    """Return a body that raises."""

    def body(state, run):
        raise error

    return body


@pytest.mark.paired
@pytest.mark.parametrize("node", ["routed", "spam"])
@pytest.mark.parametrize(
    "body",
    [
        raising(KeyError("x")),
        raising(Stop("invalid_label")),
        lambda state, run: None,
        lambda state, run: Command(goto="label"),
        lambda state, run: {"outcome": "x", "status": "ok"},
        lambda state, run: {"outcome": "x", "stop_reason": "fine"},
        lambda state, run: {"outcome": {1}},
        lambda state, run: (yield Call("tool", print, {})),
    ],
)
def test_a_terminal_that_fails_ends_stopped(node, body):
    """A failing ok ending never looks like a good one, and cannot write how the run went."""
    proposed = {"label": "spam" if node == "spam" else "bug"}
    result = triage(lambda view: proposed, bodies={node: body}).invoke(TICKET)
    assert (result["status"], result["stop_reason"]) == ("stopped", f"guard_error:{node}")
    assert result["phase"] == ("label" if node == "spam" else "lookup")
    assert content(result).keys() == {"details"}


def test_a_terminal_shows_plain_json():
    """Numbers that JSON has no form for are shown by name in an ok result too."""
    result = triage(bodies={"routed": lambda state, run: {"outcome": "routed", "on_duty": float("inf")}}).invoke(TICKET)
    assert check_result(REASONS, result)["on_duty"] == "inf"


def test_steps_are_numbered_timed_and_kept_when_a_later_guard_stops():
    """What was completed before a stop stands in trace and history, with the time since the step before."""
    clock = ScriptedClock()
    result = triage(advancing(clock, 2, {"label": "bug"}), advancing(clock, 3, 7), world=LiveWorld(clock=clock)).invoke(
        TICKET
    )
    assert result["stop_reason"] == "tool_invalid_output:lookup"
    assert result["trace"] == [{"step": 1, "phase": "label", "labels": 1, "elapsed_ms": 2000.0, "ok": True}]
    told = {"step": 1, "action": "label", "label": "bug", "proposer": "test", "elapsed_ms": 2000.0}
    assert result["history"] == [told]


def advancing(clock, seconds, value):
    """Return a proposer or tool during which time passes."""

    def answer(request):
        clock.advance(seconds)
        return value

    return answer


def test_a_way_that_spends_nothing_needs_no_time():
    """A run whose time is spent still ends well when nothing more is to be done."""
    clock = ScriptedClock()
    result = triage(advancing(clock, 90, {"label": "spam"}), world=LiveWorld(clock=clock)).invoke(TICKET)
    assert (result["stop_reason"], result["outcome"]) == ("success", "spam")
