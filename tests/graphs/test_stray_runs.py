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


def small(guard, **compiled):
    """Return a small graph whose guard behind the proposal has this name."""
    p = Pattern(REASONS, state=State, input=In, output=Out, policy=Policy(), budget=Budget())
    p.entry("request_guard", check_request, writes=["task"], to="ask")
    p.propose("ask", label(is_bug), phase="label", reads=["task"], writes=["proposed_label"], to=guard)
    p.guard(guard, judge, phase="label", reads=["proposed_label"], writes=["accepted_label"], to="done", stops=["llm"])
    p.terminal("done", end, phase="lookup", reads=["accepted_label"], writes=["outcome", "label"])
    return p.compile(name="small", **compiled)


@pytest.mark.paired
@pytest.mark.parametrize("mode", BOTH)
@pytest.mark.parametrize("given", [None, Command(resume="x")], ids=["None", "an answer"])
def test_a_run_whose_next_node_was_renamed_is_stopped(mode, given):
    """The run ends with a stop reason, its id and its record, and the thread is free for the next one."""
    saver = InMemorySaver()
    before, after = small("judge", checkpointer=saver), small("judge_label", checkpointer=saver)
    before.invoke(TICKET, THREAD, interrupt_before=["judge"])
    began = before.get_state(THREAD).values["run"]
    result = check_result(REASONS, run(after, given, mode, config=THREAD))
    assert (result["stop_reason"], result["phase"], result["run_id"]) == ("guard_error:door", "label", began)
    message = "the run's next node is judge, which is not of this graph"
    assert content(result) == {"details": {"type": "StrayRun", "message": message, "given": "judge"}}
    assert result["path"] == ["request_guard", "ask", "stop_guard_error"]
    assert result["timeline"][1]["proposal"] == {"label": "bug"}
    assert "guard_error:door" in report(result).html
    assert after.invoke(None, THREAD) == result
    assert after.get_state(THREAD).next == ()
    assert after.invoke(TICKET, THREAD)["outcome"] == "labelled"
