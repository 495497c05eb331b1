"""The Self-critique agent with ChatOpenAI over real HTTP, against a server on 127.0.0.1."""

from __future__ import annotations

import time

from hanging import standing
from openai_server import OpenAIServer, answer
from self_critique_cases import DRAFT, GIVEN, GOAL, REVISE, REVISED, checked

from guardgraph import create_self_critique_agent

USAGE = {"input_tokens": 11, "output_tokens": 7, "total_tokens": 18}
GOOD = (answer({"draft": DRAFT}), answer(REVISE), answer({"revised_answer": REVISED}))


def served(monkeypatch, *script, seconds=20.0):
    """Run the agent against a server; return the result, what was asked, and how many seconds the run took."""
    with OpenAIServer(*script) as server:
        for name, value in server.environ().items():
            monkeypatch.setenv(name, value)
        graph = create_self_critique_agent("openai:test", world=standing())
        started = time.perf_counter()
        result = graph.invoke(GIVEN, context={"budget": {"max_seconds": seconds}})
        took = time.perf_counter() - started
    return checked(result), [request["body"] for request in server.requests], took


def test_a_draft_is_criticised_and_revised_over_http(monkeypatch):
    """Three requests, each with its own schema and view; history keeps model, prompt and usage."""
    result, asked, _ = served(monkeypatch, *GOOD)
    assert (result["outcome"], result["answer"]) == ("revised_once", REVISED)
    schemas = [body["response_format"]["json_schema"]["name"] for body in asked]
    assert schemas == ["incident_draft", "critique", "revision"]
    views = [body["messages"][-1]["content"] for body in asked]
    assert all(GOAL in view for view in views)
    assert DRAFT in views[1]
    assert all(told in views[2] for told in (DRAFT, *REVISE["required_changes"]))
    assert [(entry["proposer"], entry["usage"]) for entry in result["history"][:3]] == [("test", USAGE)] * 3
