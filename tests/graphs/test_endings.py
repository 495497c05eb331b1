"""How runs end: terminals that fail or lie, functions that fail, and what is told of it."""

import argparse
import json
import logging
from dataclasses import fields
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.runnables import RunnableLambda
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command
from office_agents import DONE, PAY, READ, STOLEN, TASK, THREAD, answer_question, calls, office_agent
from rag_agents import QUESTION, agent
from runs import BOTH, content, run
from tables import each_row
from ticket_pattern import TICKET, triage

from guardgraph import RagBudget, verify
from guardgraph.grammar import Call
from guardgraph.graphs.patterns import PATTERNS
from guardgraph.nodes import rag, self_critique, tools
from guardgraph.nodes.body import declares, read_body_declaration
from guardgraph.nodes.research import answering
from guardgraph.plain.log import locate_failure, log_failure

HERE = Path(__file__)
SECRET = "password=hunter2"


@each_row(
    "body",
    *(lambda state, run: state["x"], lambda state, run: None, lambda state, run: Command(goto="label")),
    lambda state, run: {"outcome": "x", "stop_reason": "fine"},
    lambda state, run: (yield Call("tool", print, {})),
)
def test_a_terminal_that_fails_ends_stopped(body):
    """A failing ok ending never looks like a good one, and cannot write how the run went."""
    for label, node, phase in (("spam", "spam", "label"), ("bug", "routed", "lookup")):
        proposed = {"label": label}
        result = triage(lambda view, proposed=proposed: proposed, bodies={node: body}).invoke(TICKET)
        assert (result["stop_reason"], result["phase"]) == (f"guard_error:{node}", phase)
        assert content(result).keys() == {"details"}


def test_what_a_terminal_returns_is_plain_json():
    ends = {"spam": lambda state, run: {"outcome": StrEnum("Ending", ["SPAM"]).SPAM, "label": "spam"}}
    result = triage(lambda view: {"label": "spam"}, bodies=ends).invoke(TICKET)
    assert (result["outcome"], type(result["outcome"])) == ("spam", str)


def lie(monkeypatch: Any, module: Any, name: str, key: str, told: Any) -> None:
    """Put a terminal in the place of an honest one that returns something else under a key."""
    honest = getattr(module, name)
    said = read_body_declaration(honest)

    def lying(state: Any, run: Any) -> Any:
        result = {**honest(state, run)}
        result[key] = told(result[key]) if callable(told) else told
        return result

    mutant = declares(**{item.name: getattr(said, item.name) for item in fields(said)})(lying)
    monkeypatch.setattr(module, name, mutant)


def run_demo(pattern: str) -> Any:
    agent = PATTERNS[pattern].create_agent()
    return agent.invoke(PATTERNS[pattern].demo()), agent


run_rag, run_research, run_critique = (partial(run_demo, name) for name in ("rag", "research", "self_critique"))


def run_tools() -> Any:
    agent = office_agent(calls(READ), calls(STOLEN), calls(PAY), DONE)
    return answer_question(agent, agent.invoke(TASK, THREAD)), agent


def name_the_boss(made: Any) -> Any:
    return [{**call, "approved_by": "the boss"} if "approved_by" in call else call for call in made]


ANSWERED, REVISED = "run_answered_node", "run_revised_node"
LIES: dict[str, Any] = {
    "rag, answer": (run_rag, rag, ANSWERED, "answer", "Within 1 hour."),
    "rag, outcome": (run_rag, rag, ANSWERED, "outcome", "clarify"),
    "research, citations": (run_research, answering, ANSWERED, "citations", ["n9"]),
    "critique, audit": (run_critique, self_critique, REVISED, "audit", lambda audit: {**audit, "changed": 0}),
    "tools, a call less": (run_tools, tools, ANSWERED, "tool_calls", lambda made: made[:-1]),
    "tools, another approver": (run_tools, tools, ANSWERED, "tool_calls", name_the_boss),
}
"""By who lies about what: a run, and the terminal with the key and what it says there."""


@pytest.mark.unreplayable(reason="the mutant is gone when the run is decided again")
@pytest.mark.parametrize("name", LIES)
def test_a_terminal_that_lies_closes_the_run(name, monkeypatch):
    """Whatever it says instead, the run stops and names the key; the same run with an honest terminal is ok."""
    run, module, terminal, key, told = LIES[name]
    assert run()[0]["stop_reason"] == "success"
    lie(monkeypatch, module, terminal, key, told)
    result, agent = run()
    assert verify(agent) == []
    assert (result["stop_reason"], result["path"][-1]) == (f"result_differs:{key}", "stop_guard_error")
    assert result["details"].keys() == {"accepted", "returned"}
    assert "nothing" not in result["details"].values()
    assert callable(told) or result["details"]["returned"] in (told, json.dumps(told))
    assert key not in result or key == "tool_calls"


@pytest.mark.unreplayable(reason="the mutant is gone when the run is decided again")
@pytest.mark.parametrize("audit", ["recorded", {"status": "recorded"}])
def test_no_terminal_says_whether_its_run_was_recorded(audit, monkeypatch):
    lie(monkeypatch, self_critique, REVISED, "audit", audit)
    result, _ = run_critique()
    assert result["stop_reason"] == "guard_error:revised"
    assert result["details"]["message"].startswith("wrote an audit that is no object without status")


@pytest.mark.parametrize("mode", BOTH)
def test_a_callback_is_told_the_phase_of_the_stop(mode):
    seen = {}

    class Phases(BaseCallbackHandler):
        def on_chain_start(self, serialized, inputs, *, metadata=None, **kwargs):
            if "langgraph_node" in (metadata or {}):
                seen[metadata["langgraph_node"]] = metadata.get("phase")

    config = {"callbacks": [Phases()], "metadata": {"tenant": "a"}}
    result = run(agent(budget=RagBudget(max_query_chars=3)), QUESTION, mode, config=config)
    assert result["phase"] == "retrieve"
    assert {entry["node"]: entry["phase"] for entry in result["timeline"]} == seen


@each_row(
    ("pattern", "ending", "off", "reason"),
    ("rag", "answered", {"allowed_sources_execution": ["billing_policy"]}, "source_denied"),
    ("research", "answered", {"allowed_domains_execution": ["nobody.example"]}, "no_reliable_sources"),
    ("self_critique", "revised", {"allowed_decisions_execution": []}, "critique_decision_denied_execution"),
)
def test_what_is_switched_off_before_the_ending_is_not_returned(pattern, ending, off, reason):
    graph = PATTERNS[pattern].create_agent(checkpointer=InMemorySaver())
    graph.invoke(PATTERNS[pattern].demo(), THREAD, interrupt_before=[ending])
    result = graph.invoke(None, THREAD, context={"policy": off})
    assert (result["status"], result["stop_reason"]) == ("stopped", f"guard_error:{ending}")
    assert (reason in result["details"]["message"], "answer" in result) == (True, False)


def raises(request):
    return json.loads("{" + SECRET)


AT = {"file": HERE.name, "line": raises.__code__.co_firstlineno + 1, "function": "raises"}


async def araises(request):
    raises(request)


RUNNABLE = RunnableLambda(raises)


@pytest.mark.parametrize(("tool", "mode"), [(araises, "astream"), (RUNNABLE, "invoke"), (RUNNABLE, "astream")])
def test_a_tool_that_fails_is_named_by_its_own_line(tool, mode, caplog):
    """Not by the line of the library that it called; the log has the way there."""
    result = run(triage(tool=tool), TICKET, mode)
    assert (result["stop_reason"], result["details"]["at"]) == ("tool_invalid_output:lookup", AT)
    [record] = [record for record in caplog.records if record.name == "guardgraph"]
    assert (record.levelno, "decoder.py" in record.getMessage()) == (logging.WARNING, True)


def test_the_log_has_no_credentials_and_the_result_no_folders(caplog):
    try:
        raise RuntimeError("password=hunter2") from ValueError(SECRET)
    except RuntimeError as error:
        log_failure("it failed", error)
        place = locate_failure(error)
    assert caplog.text.count("password=[key]") >= 3
    assert ("hunter2" in caplog.text, place["file"]) == (False, HERE.name)


def test_a_log_that_fails_changes_no_run(monkeypatch):
    monkeypatch.setattr(logging.getLogger("guardgraph"), "filters", [raises])
    assert triage(tool=raises).invoke(TICKET)["stop_reason"] == "tool_invalid_output:lookup"


def leaves(request):
    argparse.ArgumentParser(prog="tool").parse_args(["--what-a-model-said"])


async def aleaves(request):
    leaves(request)


@pytest.mark.parametrize("mode", BOTH)
def test_a_tool_that_would_end_the_process_has_failed(mode):
    for called in (leaves, aleaves):
        result = run(triage(tool=called), TICKET, mode)
        assert (result["stop_reason"], result["details"]["type"]) == ("tool_invalid_output:lookup", "SystemExit")
        result = run(agent(called, None), QUESTION, mode)
        assert (result["status"], result["phase"], result["details"]["type"]) == ("stopped", "plan", "SystemExit")

    def look_up(state, run):
        yield Call("tool", lambda request: "Ada", {})
        leaves(state)

    for node, body in (("label_guard", lambda state, run: leaves(state)), ("lookup", look_up)):
        result = run(triage(bodies={node: body}), TICKET, mode)
        assert (result["stop_reason"], result["details"]["type"]) == (f"guard_error:{node}", "SystemExit")


@pytest.mark.parametrize("mode", ["invoke", "ainvoke"])
def test_whoever_stops_the_process_by_hand_stops_it(mode):
    def interrupted(request):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(triage(tool=interrupted), TICKET, mode)
