"""The timeline of a result: every node that ran, what was proposed there and what a guard made of it."""

from __future__ import annotations

import pytest
from rag_agents import QUESTION, agent
from runs import ASKED_ONCE, BOTH, check_result, run
from ticket_pattern import REASONS, TICKET, triage

from guardgraph.testing import ScriptedChatModel


def at(result, node):
    """Return a node's entry, without its time."""
    [entry] = [entry for entry in result["timeline"] if entry["node"] == node]
    return {key: value for key, value in entry.items() if key != "elapsed_ms"}


@pytest.mark.parametrize("mode", BOTH)
def test_a_timeline_tells_the_whole_run(mode):
    """One entry a node, in order: proposals as they came, each guard's verdict and way, the steps it completed."""
    result = check_result(REASONS, run(triage(), TICKET, mode))
    told = [{key: value for key, value in entry.items() if key != "elapsed_ms"} for entry in result["timeline"]]
    label, lookup = {"phase": "label"}, {"phase": "lookup"}
    assert told == [
        {"node": "request_guard", "kind": "guard", **label, "verdict": "pass", "to": "label"},
        {"node": "label", "kind": "propose", **label, "proposer": "test", "proposal": {"label": "bug"}},
        {"node": "label_guard", "kind": "guard", **label, "verdict": "pass", "to": "lookup", "steps": [1]},
        {"node": "lookup", "kind": "act", **lookup},
        {"node": "duty_guard", "kind": "guard", **lookup, "verdict": "pass", "to": "routed", "steps": [2]},
        {"node": "routed", "kind": "terminal", **lookup},
    ]


@pytest.mark.parametrize(
    ("reply", "shown"),
    [
        ('{"label": "bug"}', {"proposal": {"label": "bug"}}),
        ("I think it is a bug", {"proposal": "I think it is a bug"}),
        ('{"label": NaN}', {"proposal": {"label": "nan"}}),
        (ConnectionError("gone"), {"failure": {"reason": "llm_timeout"}}),
    ],
)
def test_proposals_are_shown_as_the_model_wrote_them(reply, shown):
    """A text that is JSON is shown read, any other text as it is, and a failed call as its failure."""
    model = ScriptedChatModel(reply, model_name="m-1")
    entry = at(agent(planner=None, model=model).invoke(QUESTION, context=ASKED_ONCE), "plan")
    assert entry["proposer"] == "m-1"
    assert entry["prompt"].startswith("rag_plan@")
    if "failure" in shown:
        assert entry["failure"].items() >= shown["failure"].items()
        assert "proposal" not in entry
    else:
        assert entry["proposal"] == shown["proposal"]
