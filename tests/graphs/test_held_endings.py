"""The ending is held against the run: a terminal that says something else than guards accepted closes it."""

from __future__ import annotations

from dataclasses import fields
from functools import partial
from typing import Any

import pytest
from office_agents import DONE, PAY, READ, STOLEN, TASK, THREAD, answer_question, calls, office_agent

from guardgraph import verify
from guardgraph.graphs.patterns import PATTERNS
from guardgraph.nodes import rag, self_critique, tools
from guardgraph.nodes.body import declares, read_body_declaration
from guardgraph.nodes.research import answering

pytestmark = pytest.mark.unreplayable(reason="the mutant is gone when the run is decided again")


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


def run_demo(pattern: str, **given: Any) -> Any:
    """Return the result of a run of a demo, and the agent."""
    agent = PATTERNS[pattern].create_agent()
    return agent.invoke({**PATTERNS[pattern].demo(), **given}), agent


run_rag, run_research, run_critique = (partial(run_demo, name) for name in ("rag", "research", "self_critique"))
run_clarified = partial(run_demo, "rag", question="Who won the cup in 1954?")


def run_tools() -> Any:
    """Return the result of a run of the tool agent, with a call that a person approved."""
    agent = office_agent(calls(READ), calls(STOLEN), calls(PAY), DONE)
    return answer_question(agent, agent.invoke(TASK, THREAD)), agent


LIES: dict[str, Any] = {
    "rag, answer": (run_rag, rag, "run_answered_node", "answer", "Within 1 hour."),
    "rag, citations": (run_rag, rag, "run_answered_node", "citations", []),
    "rag, outcome": (run_rag, rag, "run_answered_node", "outcome", "clarify"),
    "rag, clarified": (run_clarified, rag, "run_clarified_node", "answer", "Germany."),
    "research, answer": (run_research, answering, "run_answered_node", "answer", "All is well."),
    "research, citations": (run_research, answering, "run_answered_node", "citations", ["n9"]),
    "critique, answer": (run_critique, self_critique, "run_revised_node", "answer", "All is well."),
    "critique, audit": (
        run_critique,
        self_critique,
        "run_revised_node",
        "audit",
        lambda audit: {**audit, "changed": 0},
    ),
    "critique, outcome": (run_critique, self_critique, "run_revised_node", "outcome", "approved_direct"),
    "tools, answer": (run_tools, tools, "run_answered_node", "answer", "Nothing was sent."),
    "tools, outcome": (run_tools, tools, "run_answered_node", "outcome", "declined"),
    "tools, a call less": (run_tools, tools, "run_answered_node", "tool_calls", lambda made: made[:-1]),
    "tools, other arguments": (
        run_tools,
        tools,
        "run_answered_node",
        "tool_calls",
        lambda made: [{**call, "args": {}} for call in made],
    ),
    "tools, another approver": (
        run_tools,
        tools,
        "run_answered_node",
        "tool_calls",
        lambda made: [{**call, "approved_by": "the boss"} if "approved_by" in call else call for call in made],
    ),
    "tools, no approver": (
        run_tools,
        tools,
        "run_answered_node",
        "tool_calls",
        lambda made: [{key: value for key, value in call.items() if key != "approved_by"} for call in made],
    ),
}
"""By who lies about what: a run, and the terminal with the key and what it says there."""


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
    assert key not in result or key == "tool_calls"
