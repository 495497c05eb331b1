"""A run that is resumed by a graph which does not have its next node ends in guard_error, and says so."""

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command
from runs import BOTH, THREAD, check_result, content, run
from ticket_pattern import REASONS, TICKET, In, Out, Policy, State, check_request, is_bug, label

from guardgraph import report
from guardgraph.grammar import Budget, Pass, Pattern

pytestmark = pytest.mark.unreplayable  # what another graph decided cannot be decided again by the one that ends the run


def judge(state, run):
    return Pass({"accepted_label": "bug"})


def end(state, run):
    return {"outcome": "labelled", "label": state["accepted_label"]}


def small(entry="request_guard", guard="judge", ending="done", **compiled):
    """Return a small graph whose nodes have these names."""
    p = Pattern(REASONS, state=State, input=In, output=Out, policy=Policy(), budget=Budget())
    p.entry(entry, check_request, writes=["task"], to="ask")
    p.propose("ask", label(is_bug), phase="label", reads=["task"], writes=["proposed_label"], to=guard)
    p.guard(guard, judge, phase="lookup", reads=["proposed_label"], writes=["accepted_label"], to=ending, stops=["llm"])
    p.terminal(ending, end, phase="label", reads=["accepted_label"], writes=["outcome", "label"])
    return p.compile(name="small", **compiled)


@pytest.mark.paired
@pytest.mark.parametrize("mode", BOTH)
@pytest.mark.parametrize(
    ("left", "ran", "given", "phase"),
    [("request_guard", 0, None, "label"), ("judge", 2, Command(resume="x"), "label"), ("done", 3, None, "lookup")],
)
def test_a_run_whose_next_node_was_renamed_is_stopped(left, ran, given, phase, mode):
    """In the phase in which it was left, with a stop reason, its id and its record; the thread is free for the next."""
    saver = InMemorySaver()
    before, after = small(checkpointer=saver), small("entry", "judge_label", "ended", checkpointer=saver)
    before.invoke(TICKET, THREAD, interrupt_before=[left])
    began = before.get_state(THREAD).values.get("run")
    result = check_result(REASONS, run(after, given, mode, config=THREAD))
    assert (result["stop_reason"], result["phase"]) == ("guard_error:door", phase)
    assert began in (None, result["run_id"])
    message = f"the run's next node is {left}, which is not of this graph"
    assert content(result) == {"details": {"type": "StrayRun", "message": message, "given": left}}
    assert result["path"] == [*["request_guard", "ask", "judge"][:ran], "stop_guard_error"]
    assert not ran or result["timeline"][1]["proposal"] == {"label": "bug"}
    assert "guard_error:door" in report(result).html
    assert after.invoke(None, THREAD) == result
    assert after.get_state(THREAD).next == ()
    assert after.invoke(TICKET, THREAD)["outcome"] == "labelled"
