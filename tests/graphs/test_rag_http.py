"""The RAG agent over real HTTP: whatever a server does ends in its stop reason, within the run's time."""

from __future__ import annotations

import time

import pytest
from hanging import PROMPTLY, standing
from openai_server import OpenAIServer, answer, drip
from rag_agents import ANSWER, INTENT, QUESTION, SLA
from runs import LIMITS, check_result, run
from self_critique_cases import DRAFT, GIVEN, GOAL, REVISE, REVISED, checked

from guardgraph import ConfigurationError, RagBudget, create_rag_agent, create_self_critique_agent
from guardgraph.state.rag import RAG_REASONS
from guardgraph.testing import InMemoryRecorder
from guardgraph.world.prompts import load_prompt

USAGE = {"input_tokens": 11, "output_tokens": 7, "total_tokens": 18}
MODES = pytest.mark.parametrize("mode", ["invoke", "ainvoke"])
QUICK = RagBudget(max_seconds=0.3)


@pytest.fixture
def environ(monkeypatch):
    """Return a function that sets the process's environment, free of variables from outside."""
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "OPENAI_MODEL", "OPENAI_TIMEOUT_SECONDS", "OPENAI_PROXY"):
        monkeypatch.delenv(name, raising=False)

    def set_variables(variables):
        for name, value in variables.items():
            monkeypatch.setenv(name, value)

    return set_variables


def asking_in(phase, model="openai:test-model", **kwargs):
    """Make an agent that asks its model in one phase only."""
    own = {"answerer": lambda view: ANSWER} if phase == "plan" else {"planner": lambda view: INTENT}
    return create_rag_agent(model, **own, **kwargs)


def stop(graph, mode):
    """Run a graph and return its checked result and how many seconds it took."""
    started = time.perf_counter()
    result = check_result(RAG_REASONS, run(graph, QUESTION, mode))
    return result, time.perf_counter() - started


@MODES
def test_an_answer(environ, mode):
    """Two requests, an answer, and both proposals with their model, prompt and tokens in history."""
    with OpenAIServer(answer({**INTENT, "sources": None}), answer(ANSWER)) as server:
        environ(server.environ(OPENAI_MODEL="test-model"))
        result = check_result(RAG_REASONS, run(create_rag_agent("openai"), QUESTION, mode))
    assert (result["outcome"], result["answer"], result["citations"]) == ("grounded_answer", ANSWER["answer"], [SLA])
    assert [request["path"] for request in server.requests] == ["/v1/chat/completions"] * 2
    for entry, request, name in zip(result["history"], server.requests, ("rag_plan", "rag_answer"), strict=True):
        prompt = load_prompt(name, LIMITS)
        assert (entry["proposer"], entry["usage"]) == ("test-model", USAGE)
        assert entry["prompt"] == f"{name}@{prompt.hash}"
        assert request["body"]["messages"][0]["content"] == prompt.text
        assert request["body"]["response_format"]["json_schema"]["schema"]["required"] == prompt.schema["required"]


LATE = {"a late answer": answer("{}", delay=30), "a dripping body": drip()}


@MODES
@pytest.mark.parametrize(("case", "phase"), [("a late answer", "plan"), ("a dripping body", "generate")])
def test_the_runs_time_caps_a_call(environ, case, phase, mode):
    """However long the client would wait, the run's time holds, even against a server that drips."""
    with OpenAIServer(LATE[case]) as server:
        environ(server.environ(OPENAI_TIMEOUT_SECONDS="60"))
        result, seconds = stop(asking_in(phase, budget=QUICK, world=standing()), mode)
    assert (result["stop_reason"], result["phase"]) == ("llm_timeout", phase)
    assert result["details"]["limit"] == "max_seconds"
    assert seconds < PROMPTLY


@MODES
def test_no_key(environ, mode):
    """A model is named without a key; a missing one is a configuration error before the run, and nothing is run."""
    environ({"OPENAI_API_KEY": " "})
    recorder = InMemoryRecorder()
    agent = create_rag_agent("openai", recorder=recorder)
    with pytest.raises(ConfigurationError, match="OPENAI_API_KEY"):
        run(agent, QUESTION, mode)
    assert recorder.runs == []


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
