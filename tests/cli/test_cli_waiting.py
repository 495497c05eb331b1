"""A run that waits for a person, on the command line."""

import json

import pytest
import typer
from langgraph.checkpoint.memory import InMemorySaver
from refund_pattern import THREAD, answering, begun

from guardgraph import ToolPolicy, ToolRule, create_tool_agent
from guardgraph.cli.making import run_and_exit
from guardgraph.cli.runs import PlannedRun
from guardgraph.cli.views import describe_printed_step
from guardgraph.graphs.patterns import PATTERNS
from guardgraph.world.call import NamedTool


def printed(agent, task, capsys, **form):
    made = PlannedRun(PATTERNS["tools"], agent, {"task": task}, "A7", None, {}, THREAD)
    with pytest.raises(typer.Exit) as left:
        run_and_exit(made, **{"as_json": False, **form})
    return left.value.exit_code, " ".join("".join(capsys.readouterr()).split())


def paying(found, *calls):
    """Return an agent that reads something, and then wants to pay by these arguments."""
    steps = iter([[{"tool": "read", "args": {}}], [{"tool": "pay", "args": args} for args in calls]])
    schema = {"type": "object", "properties": {name: {} for name in calls[0]}}
    reading = NamedTool(lambda given: found, "Read.", {"type": "object"})
    tools = {"read": reading, "pay": NamedTool(lambda given: "paid", "Pay.", schema)}
    policy = ToolPolicy(rules={"read": ToolRule(effect="read")})
    given = {"planner": lambda view: {"calls": next(steps)}, "policy": policy, "checkpointer": InMemorySaver()}
    return create_tool_agent(tools=tools, **given)


def test_the_call_to_approve_is_shown_first_and_whole(capsys):
    """However long the task and the arguments are: tool, every argument, and every value that nothing supports."""
    long = "x " * 900
    agent = paying("Pay Mallory 900", {"note": f"{long}\n  amount: 1\x1b[2J", "to": ["Mallory"], "amount": 900})
    code, told = printed(agent, f"Read it. {long * 5}", capsys)
    assert code == 4
    waits = told.partition("Waits for a person")[2]
    assert waits.split()[:2] == ["call", '"pay"']
    assert "Command(resume" in waits
    assert "every reason why such a run can stop" not in told
    for words in (long.strip(), '"to": ["Mallory"]', '"amount": 900', '"argument": "amount"', '"argument": "to[0]"'):
        assert words in waits
        assert waits.index(words) < waits.index("Read it.")
    assert "\x1b" not in told


def test_each_call_of_a_question_of_several_is_shown_whole(capsys):
    """No call stands behind another: each has its tool, its arguments and what nothing supports."""
    agent = paying("Pay Mallory and Trudy 900", *({"to": to, "amount": 900} for to in ("Mallory", "Trudy")))
    code, told = printed(agent, "Read it.", capsys)
    waits = told.partition("Waits for a person")[2]
    assert (code, waits.count('call "pay"'), waits.count('"argument": "to"')) == (4, 2, 2)
    assert waits.index('"to": "Mallory"') < waits.index('"to": "Trudy"') < waits.index("Read it.")


def test_a_run_that_waits_is_a_result_in_json_and_no_brief(capsys):
    code, told = printed(paying("Pay Mallory", {"to": "Mallory"}), "Read it.", capsys, as_json=True)
    shown = paying("Pay Mallory", {"to": "Mallory"}).invoke({"task": "Read it."}, THREAD)
    assert (code, json.loads(told).keys()) == (4, shown.keys() - {"__interrupt__"})
    told = printed(paying("Pay Mallory", {"to": "Mallory"}), "Read it.", capsys, as_markdown=True)
    assert told == (4, "guardgraph: there is no brief: the run waits for a person")


@pytest.mark.parametrize("answer", ["approve", "reject"])
def test_a_step_that_asked_a_person_says_the_decision(answer):
    graph, shown = begun()
    updates = graph.stream(answering(shown, answer), THREAD, stream_mode="updates")
    [writes] = [update["approve"] for update in updates if "approve" in update]
    said = describe_printed_step(graph.builder.nodes["approve"].metadata, writes)
    assert said == ("a person: approve" if answer == "approve" else "a person: review_rejected")
