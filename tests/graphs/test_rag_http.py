"""The RAG agent over real HTTP: whatever a server does ends in its stop reason, within the run's time."""

from __future__ import annotations

import json
import threading
import time

import pytest
from hanging import PROMPTLY, standing
from langchain_openai import ChatOpenAI
from openai_server import (
    OpenAIServer,
    answer,
    broken_json,
    completion,
    drip,
    drop,
    filtered,
    hang_up,
    html,
    missing_choices,
    no_choices,
    null_message,
    payload,
    refusal,
    status,
    truncated,
)
from prompt_limits import LIMITS
from rag_agents import ANSWER, INTENT, QUESTION, SLA
from runs import check_result, content, run
from self_critique_cases import DRAFT, GIVEN, GOAL, REVISE, REVISED, checked

from guardgraph import ConfigurationError, RagBudget, create_rag_agent, create_self_critique_agent, replay
from guardgraph.state.rag import RAG_REASONS
from guardgraph.testing import InMemoryRecorder
from guardgraph.world.prompts import load_prompt

USAGE = {"input_tokens": 11, "output_tokens": 7, "total_tokens": 18}
MODES = pytest.mark.parametrize("mode", ["invoke", "ainvoke"])
PHASES = pytest.mark.parametrize("phase", ["plan", "generate"])
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


FAILURES = {
    "400": (status(400), "llm_bad_response", {"status": 400}),
    "400 content filter": (status(400, error_code="content_filter"), "llm_content_filter", {"status": 400}),
    "401": (status(401, "Incorrect API key: sk-loopback-0123456789"), "llm_auth", {"status": 401}),
    "403": (status(403), "llm_auth", {"status": 403}),
    "404": (status(404), "llm_bad_response", {"status": 404}),
    "418 as text": (payload(418, b"teapot", "text/plain"), "llm_bad_response", {"status": 418}),
    "429": (status(429), "llm_rate_limited", {"status": 429}),
    "500": (status(500), "llm_unavailable", {"status": 500}),
    "503 as HTML": (payload(503, b"<html>", "text/html"), "llm_unavailable", {"status": 503}),
    "truncated": (truncated(), "llm_truncated", {"usage": USAGE}),
    "filtered": (filtered(), "llm_content_filter", {"usage": USAGE}),
    "refusal": (refusal("I cannot."), "llm_refused", {"message": "I cannot.", "usage": USAGE}),
    "no choices": (no_choices(), "llm_bad_response", {}),
    "choices missing": (missing_choices(), "llm_bad_response", {}),
    "choices of text": (payload(200, completion("x")), "llm_bad_response", {}),
    "null message": (null_message(), "llm_bad_response", {}),
    "no role": (payload(200, completion({"message": {"content": "x"}})), "llm_bad_response", {}),
    "an error with 200": (payload(200, {"error": {"message": "overloaded"}}), "llm_unavailable", {"status": 502}),
    "null": (payload(200, None), "llm_bad_response", {}),
    "a list": (payload(200, []), "llm_bad_response", {}),
    "nothing": (payload(200, b""), "llm_bad_response", {}),
    "broken JSON": (broken_json(), "llm_bad_response", {}),
    "HTML with 200": (html(), "llm_bad_response", {}),
    "redirect": (payload(302, b""), "llm_bad_response", {"status": 302}),
    "hang up": (hang_up(), "llm_timeout", {"cause": "connection"}),
    "drop": (drop(), "llm_timeout", {"cause": "connection"}),
}


@pytest.mark.paired
@pytest.mark.parametrize(("phase", "mode"), [("plan", "invoke"), ("generate", "ainvoke")])
@pytest.mark.parametrize("case", FAILURES)
def test_a_server_that_fails(environ, case, phase, mode):
    """Every failure of a server is that stop reason in that phase, but for a 400 after one request; no key is shown."""
    behaviour, reason, details = FAILURES[case]
    with OpenAIServer(behaviour) as server:
        environ(server.environ())
        result, seconds = stop(asking_in(phase), mode)
    assert (result["stop_reason"], result["phase"]) == (reason, phase)
    assert content(result).keys() == ({"details"} if phase == "plan" else {"details", "so_far"})
    assert result["details"] == {**result["details"], **details}
    assert "0123456789" not in json.dumps(result)
    assert len(server.requests) == (3 if case == "400" else 1)
    assert seconds < 10


TEXTS = {
    "no JSON": ("Sure! Here it is.", "invalid_intent:kind", "llm_invalid_json"),
    "blank": (" ", "invalid_intent:kind", "llm_invalid_json"),
    "no content": (None, "invalid_intent:kind", "llm_invalid_json"),
    "no object": ("[1]", "invalid_intent:not_object", "llm_invalid_json"),
    "an empty object": ("{}", "invalid_intent:kind", "llm_invalid_schema"),
    "huge": (
        '{"kind": "retrieve", "query": "q", "top_k": ' + "9" * 5000 + "}",
        "invalid_intent:kind",
        "llm_invalid_json",
    ),
    "deep": ("[" * 5000, "invalid_intent:kind", "llm_invalid_json"),
}


@PHASES
@pytest.mark.parametrize("case", TEXTS)
def test_a_text_that_is_no_proposal(environ, case, phase):
    """A text that is no proposal is judged by the guard behind the phase."""
    text, *reasons = TEXTS[case]
    with OpenAIServer(answer(text)) as server:
        environ(server.environ())
        result, _ = stop(asking_in(phase), "invoke")
    assert (result["stop_reason"], result["phase"]) == (reasons[phase == "generate"], phase)


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
def test_a_client_that_retries(mode):
    """A client that goes on retrying is left when the run's time is over."""
    left, ended = threading.Event(), threading.Event()

    def refuse(handler):
        status(400 if left.is_set() else 429)(handler)
        ended.set() if left.is_set() else None

    with OpenAIServer(refuse) as server:
        model = ChatOpenAI(model="test-model", api_key="sk-x", base_url=server.url, max_retries=50)
        result, seconds = stop(asking_in("plan", model, budget=QUICK, world=standing()), mode)
        left.set()
        assert mode == "ainvoke" or ended.wait(30)  # or it would disturb other tests for minutes
    assert (result["stop_reason"], result["details"]["limit"]) == ("llm_timeout", "max_seconds")
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


def test_a_replay_needs_no_key(environ):
    """What a model was asked with a key is decided again without one, by an agent that names the same model."""
    recorder = InMemoryRecorder()
    with OpenAIServer(answer({**INTENT, "sources": None}), answer(ANSWER)) as server:
        environ(server.environ())
        result = create_rag_agent("openai", recorder=recorder).invoke(QUESTION)
        model = server.environ().get("OPENAI_MODEL", "")
    environ({"OPENAI_API_KEY": " ", "OPENAI_BASE_URL": "http://127.0.0.1:9", "OPENAI_MODEL": model})
    assert replay(create_rag_agent("openai"), recorder.runs[0]) == result


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
