"""The Research agent on a model over real HTTP."""

from __future__ import annotations

import time

import pytest
from hanging import standing
from openai_server import OpenAIServer, answer, drip, html, no_choices, status, truncated
from research_cases import ANSWER, GOAL, NOTES, PLAN, REQUEST, SAMPLE, brief
from runs import ASKED_ONCE, check_result, content, run

from guardgraph import create_research_agent
from guardgraph.state.research import RESEARCH_REASONS


@pytest.fixture
def asked_of(monkeypatch):
    """Return a function that runs the demo on a server's model."""

    def ask(server, mode="invoke", world=None, **kwargs):
        for name in ("OPENAI_MODEL", "OPENAI_TIMEOUT_SECONDS"):
            monkeypatch.delenv(name, raising=False)
        for name, value in server.environ().items():
            monkeypatch.setenv(name, value)
        graph = create_research_agent("openai:test", world=world)
        return check_result(RESEARCH_REASONS, run(graph, {"goal": GOAL, "request": REQUEST}, mode, **kwargs))

    return ask


@pytest.mark.parametrize("mode", ["invoke", "ainvoke"])
def test_a_model_plans_and_writes(asked_of, mode):
    """Two requests, each with its prompt, view and schema; the run ends like the sample and keeps the tokens."""
    with OpenAIServer(answer(PLAN), answer(ANSWER)) as server:
        result = asked_of(server, mode)
    assert brief(result) == content(SAMPLE)
    planning, writing = (request["body"] for request in server.requests)
    assert all(told in planning["messages"][-1]["content"] for told in (GOAL, REQUEST["request"]["question"]))
    assert all(note["claim"] in writing["messages"][-1]["content"] for note in NOTES)
    assert [body["response_format"]["json_schema"]["name"] for body in (planning, writing)] == [
        "research_query",
        "research_answer",
    ]
    told = result["history"]
    assert told[0]["proposer"] == told[5]["proposer"] == "test"
    assert told[0]["usage"] == told[5]["usage"] == {"input_tokens": 11, "output_tokens": 7, "total_tokens": 18}


@pytest.mark.parametrize(
    ("behaviours", "reason", "phase"),
    [
        ([status(429)], "llm_rate_limited", "plan"),
        ([status(401)], "llm_auth", "plan"),
        ([answer("Here is the plan.")], "llm_invalid_json", "plan"),
        ([answer({"steps": []})], "invalid_plan:steps", "plan"),
        ([answer(PLAN), html()], "llm_bad_response", "synthesize"),
        ([answer(PLAN), no_choices()], "llm_bad_response", "synthesize"),
        ([answer(PLAN), truncated()], "llm_truncated", "synthesize"),
        ([answer(PLAN), answer({"answer": "x"})], "llm_invalid_schema", "synthesize"),
    ],
)
def test_a_failing_server_is_a_stop_reason(asked_of, behaviours, reason, phase):
    """Whatever the server does, the run ends with a reason of the catalogue, without a second try."""
    with OpenAIServer(*behaviours) as server:
        result = asked_of(server, context=ASKED_ONCE)
    assert (result["stop_reason"], result["phase"]) == (reason, phase)
    assert len(server.requests) == len(behaviours)


def test_a_server_that_drips_is_left_behind(asked_of):
    """The run's time holds against a byte now and then, and the details say which limit it was."""
    with OpenAIServer(answer(PLAN), drip()) as server:
        started = time.perf_counter()
        result = asked_of(server, world=standing(), context={"budget": {"max_seconds": 2.0}})
        elapsed = time.perf_counter() - started
    assert (result["stop_reason"], result["phase"]) == ("llm_timeout", "synthesize")
    assert result["details"]["limit"] == "max_seconds"
    assert elapsed < 15  # of the thirty seconds for which the server drips
