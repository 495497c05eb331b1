"""Servers with OpenAI's interface as they are: each ends in a good answer, or in the reason why it did not."""

from __future__ import annotations

import json

import pytest
from openai_server import OpenAIServer, choice, completion, payload

from guardgraph import ToolPolicy, create_rag_agent, create_tool_agent

QUESTION = {"question": "What is the P1 first response target of the Enterprise plan?"}
SAID = "The P1 first response target is 15 minutes"
JSON = json.dumps({"answer": f"{SAID} [1].", "citations": [1], "workings": [], "insufficient": False})


def says(text, **more):
    """Reply with a text."""
    return payload(200, completion({**choice(text), **more}))


def form_of(handler):
    """Return in which form the last request asked for its reply."""
    return handler.owner.requests[-1]["body"].get("response_format", {"type": "none"})["type"]


def knows(*forms, reply):
    """Reply where the form is known, and refuse another one as servers do."""

    def behave(handler):
        refusal = {"error": {"message": "response_format is not supported", "code": 400}}
        (says(reply) if form_of(handler) in forms else payload(400, refusal))(handler)

    return behave


def streams(*events):
    """Reply with server-sent events, though nobody asked for a stream."""
    lines = [f"data: {json.dumps(event)}\n\n" for event in events]
    return payload(200, "".join([*lines, "data: [DONE]\n\n"]).encode(), "text/event-stream")


def piece(text, **more):
    """Return an event of a stream."""
    return {"id": "1", "model": "m", "created": 1, "choices": [{"index": 0, "delta": {"content": text}, **more}]}


@pytest.fixture
def answered(monkeypatch):
    """Run the agent on a server that behaves so."""

    def run(*script, **environ):
        with OpenAIServer(*script) as server:
            for name, value in server.environ(**environ).items():
                monkeypatch.setenv(name, value)
            result = create_rag_agent("openai:test-model", planner="rules").invoke(QUESTION)
        return result, server.requests

    return run


@pytest.mark.parametrize(
    ("script", "form", "requests"),
    [
        (knows("json_schema", reply=JSON), None, 1),
        (knows("json_object", reply=JSON), "json", 2),
        (knows("json_object", reply=f"Sure! Here it is:\n```json\n{JSON}\n```\nI hope this helps."), "json", 2),
        (knows("none", reply=f"{SAID} [1]."), "text", 3),
        (knows("none", reply=f"{SAID}."), "text", 3),
        (says(f"[THINK]Is it {{1}}?[/THINK]{JSON}"), None, 1),
        (says(f"<thought>They want JSON: {{}}</thought>\n{JSON}"), None, 1),
        (says(f"<|channel|>analysis<|message|>Hm.<|end|><|channel|>final<|message|>{JSON}<|return|>"), None, 1),
        (streams(piece(JSON[:20]), piece(JSON[20:]), piece("", finish_reason="stop")), None, 1),
    ],
    ids=["schema", "json alone", "prose around", "text", "text unmarked", "[THINK]", "thought", "channels", "stream"],
)
def test_a_provider_that_answers(answered, script, form, requests):
    """Whatever it knows of forms, and whatever it writes around its reply: the answer is that of the passage."""
    result, asked = answered(script)
    assert (result["outcome"], result["answer"]) == ("grounded_answer", f"{SAID}.")
    assert result["citations"] == ["doc_sla_enterprise_v3"]
    assert (result["history"][-1].get("form"), len(asked)) == (form, requests)


def test_a_form_is_found_out_once(answered, monkeypatch):
    """From then on the server is asked in the form that it knows; a form that is set is asked alone."""
    with OpenAIServer(knows("none", reply=f"{SAID} [1].")) as server:
        for name, value in server.environ().items():
            monkeypatch.setenv(name, value)
        for _ in range(2):
            create_rag_agent("openai:test-model", planner="rules").invoke(QUESTION)
    assert len(server.requests) == 4
    result, asked = answered(knows("none", reply=f"{SAID} [1]."), OPENAI_STRUCTURED_OUTPUT="schema")
    assert (result["stop_reason"], len(asked)) == ("llm_bad_response", 1)
    assert result["details"]["setting"] == "OPENAI_STRUCTURED_OUTPUT"
    assert answered(says("NOT FOUND"), OPENAI_STRUCTURED_OUTPUT="none")[0]["clarify_reason"] == "answerer_abstained"


@pytest.mark.parametrize(
    ("script", "reason", "details"),
    [
        (payload(200, {"error": {"code": 429, "message": "slow down"}}), "llm_rate_limited", {"status": 429}),
        (payload(200, {"error": {"code": "overloaded", "message": "busy"}}), "llm_unavailable", {"status": 503}),
        (streams(piece("Th"), {"error": {"code": 502, "message": "gone"}}), "llm_unavailable", {"status": 502}),
        (payload(200, b"<!doctype html><title>Sign in", "text/html"), "llm_bad_response", {"cause": "html"}),
        (says("", finish_reason="PROHIBITED_CONTENT"), "llm_content_filter", {}),
        (says("", finish_reason="RECITATION"), "llm_content_filter", {}),
        (says(JSON[:30], finish_reason="model_length"), "llm_truncated", {}),
    ],
)
def test_a_provider_that_fails(answered, script, reason, details):
    """An error keeps its code and its text, whatever the status of the reply that it stands in."""
    result, _ = answered(script)
    assert (result["stop_reason"], result["phase"]) == (reason, "generate")
    assert details.items() <= result["details"].items()


def test_a_text_that_was_cut_off_is_judged_as_far_as_it_has_whole_sentences(answered):
    """History says how much came; of JSON nothing can be judged, and the details have its beginning."""
    text = f"{SAID} [1]. It is counted from the mo"
    result, _ = answered(payload(200, completion(choice(text, "length"))), OPENAI_STRUCTURED_OUTPUT="none")
    assert (result["answer"], result["history"][-1]["truncated"]) == (f"{SAID}.", len(text))
    result, _ = answered(payload(200, completion(choice(JSON[:30], "length"))))
    assert (result["stop_reason"], result["details"]["chars"]) == ("llm_truncated", 30)
    assert result["details"]["text"].startswith('{"answer"')


CALL = {"name": "find_order", "arguments": {"number": 7}}
NATIVE = {"id": "1", "type": "function", "function": {**CALL, "arguments": json.dumps(CALL["arguments"])}}


@pytest.mark.parametrize(
    "script",
    [
        says(json.dumps({"calls": [{"tool": "find_order", "args": {"number": 7}}]})),
        payload(200, completion({"index": 0, "message": {"role": "assistant", "content": "", "tool_calls": [NATIVE]}})),
        knows("none", reply=f"<tool_call>\n{json.dumps(CALL)}\n</tool_call>"),
    ],
    ids=["json", "native", "in the text"],
)
def test_calls_in_whatever_form(monkeypatch, script):
    """A call is read out of JSON, of the provider's own form, and of a text; its schema names tools and types."""
    found = []

    def find_order(number: int) -> str:
        """Return an order."""
        found.append(number)
        return "shipped"

    done = says(json.dumps({"calls": [], "answer": "Order 7 is shipped."}))
    policy = ToolPolicy(rules={"find_order": {"effect": "read"}})
    with OpenAIServer(*[script] * (3 if "knows" in script.__qualname__ else 1), done) as server:
        for name, value in server.environ().items():
            monkeypatch.setenv(name, value)
        agent = create_tool_agent("openai:test-model", tools=[find_order], policy=policy)
        result = agent.invoke({"task": "What of order 7?"})
    assert (result["outcome"], found) == ("answered", [7])
    schema = server.requests[0]["body"]["response_format"]["json_schema"]["schema"]
    [form] = schema["properties"]["calls"]["items"]["anyOf"]
    assert form["properties"]["args"]["properties"]["number"]["type"] == "integer"
