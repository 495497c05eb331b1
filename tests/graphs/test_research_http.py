"""The Research agent on a model over real HTTP."""

from __future__ import annotations

import pytest
from openai_server import OpenAIServer, answer
from research_cases import ANSWER, GOAL, NOTES, PLAN, REQUEST, SAMPLE, brief
from runs import check_result, content, run

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
