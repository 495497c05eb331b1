"""Servers with OpenAI's interface as they are: each ends in a good answer, or in the reason why it did not."""

import json
from typing import Any

import pytest
from langchain_core.language_models import BaseChatModel
from langchain_openai import ChatOpenAI
from openai_server import OpenAIServer, choice, completion, payload, says
from tables import each_row
from web_server import send

from guardgraph import ResilientWorld, ToolPolicy, create_rag_agent, create_tool_agent, replay
from guardgraph.testing import InMemoryRecorder

QUESTION = {"question": "What is the P1 first response target of the Enterprise plan?"}
SAID = "The P1 first response target is 15 minutes"
JSON = json.dumps({"answer": f"{SAID} [1].", "citations": [1], "workings": [], "insufficient": False})


def form_of(body):
    return body.get("response_format", {"type": "none"})["type"]


def knows(*forms, reply):
    def behave(connection, asked):
        refusal = {"error": {"message": "response_format is not supported", "code": 400}}
        send(connection, asked, says(reply) if form_of(asked.json) in forms else payload(400, refusal))

    return behave


def streams(*events):
    lines = [f"data: {json.dumps(event)}\n\n" for event in events]
    return payload(200, "".join([*lines, "data: [DONE]\n\n"]).encode(), "text/event-stream")


def piece(text, **more):
    return {"id": "1", "model": "m", "created": 1, "choices": [{"index": 0, "delta": {"content": text}, **more}]}


@pytest.fixture
def answered(monkeypatch):
    """Run the agent on a server that behaves so, and as often."""

    def run(*script, times=1, **environ):
        with OpenAIServer(*script) as server:
            for name, value in server.environ(**environ).items():
                monkeypatch.setenv(name, value)
            for _ in range(times):
                result = create_rag_agent("openai:test-model", planner="rules").invoke(QUESTION)
        return result, server.requests

    return run


@each_row(
    ("script", "form", "requests"),
    (knows("json_schema", reply=JSON), None, 1),
    (knows("json_object", reply=f"Sure! Here it is:\n```json\n{JSON}\n```\nI hope this helps."), "json", 2),
    (knows("none", reply=f"{SAID} [1]."), "text", 3),
    (says(f"[THINK]Is it {{1}}?[/THINK]{JSON}"), None, 1),
    (says(f"<|channel|>analysis<|message|>Hm.<|end|><|channel|>final<|message|>{JSON}<|return|>"), None, 1),
    (streams(piece(JSON[:20]), piece(JSON[20:]), piece("", finish_reason="stop")), None, 1),
)
def test_a_provider_that_answers(answered, script, form, requests):
    """Whatever it knows of forms, and whatever it writes around its reply: the answer is that of the passage."""
    result, asked = answered(script)
    assert (result["outcome"], result["answer"]) == ("grounded_answer", f"{SAID}.")
    assert result["citations"] == ["doc_sla_enterprise_v3"]
    assert (result["history"][-1].get("form"), len(asked)) == (form, requests)


def test_a_form_is_found_out_once(answered, caplog):
    """From then on it is asked in the form that it knows, which is logged; a form that is set is asked alone."""
    caplog.set_level("INFO", "guardgraph")
    assert len(answered(knows("none", reply=f"{SAID} [1]."), times=2)[1]) == 4
    assert caplog.text.count("is asked without a JSON schema (OPENAI_STRUCTURED_OUTPUT=none)") == 1
    result, asked = answered(knows("none", reply=f"{SAID} [1]."), OPENAI_STRUCTURED_OUTPUT="schema")
    assert (result["stop_reason"], len(asked)) == ("llm_bad_response", 1)
    assert result["details"]["setting"] == "OPENAI_STRUCTURED_OUTPUT"
    result, asked = answered(knows("json_object", reply=JSON), OPENAI_STRUCTURED_OUTPUT=" json ")
    assert (result["answer"], [form_of(request["body"]) for request in asked]) == (f"{SAID}.", ["json_object"])
    assert "JSON" in asked[0]["body"]["messages"][0]["content"]
    for text in ("NOT FOUND", "The answer is not found in the passages."):
        result, _ = answered(says(text), OPENAI_STRUCTURED_OUTPUT="none")
        assert result["clarify_reason"] == "answerer_abstained"


@each_row(
    ("script", "reason", "details"),
    (payload(200, {"error": {"code": 429, "message": "slow down"}}), "llm_rate_limited", {"status": 429}),
    (streams(piece("Th"), {"error": {"code": 502, "message": "gone"}}), "llm_unavailable", {"status": 502}),
    (payload(200, b"<!doctype html><title>Sign in", "text/html"), "llm_bad_response", {"cause": "html"}),
    (says("", finish_reason="PROHIBITED_CONTENT"), "llm_content_filter", {}),
    (says(JSON[:30], finish_reason="model_length"), "llm_truncated", {}),
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


def test_what_a_reply_may_have_is_bounded_by_what_it_proposes():
    """A model that goes round in circles ends; a bound of its own holds, and one known to think has none of ours."""
    plain = {"model": "test-model", "api_key": "sk-0", "max_retries": 0}
    for given, bound in ({}, 4000), ({"max_tokens": 9000}, 9000), ({"profile": {"reasoning_output": True}}, None):
        with OpenAIServer(says(JSON)) as server:
            create_rag_agent(ChatOpenAI(**plain, base_url=server.url, **given), planner="rules").invoke(QUESTION)
        assert server.requests[0]["body"].get("max_completion_tokens") == bound


GONE = {"error": {"code": 502, "message": "gone"}}
PAGE = "<!doctype html><title>Sign in"
HTML = {"cause": "html"}


@pytest.mark.parametrize("model", [{}, {"streaming": True}, {"use_responses_api": True}])
@pytest.mark.parametrize(
    ("script", "reason", "details"),
    [
        (payload(200, {"error": {"code": 429, "message": "slow down"}}), "llm_rate_limited", {"message": "slow down"}),
        (payload(200, {"error": {"code": "overloaded", "message": "busy"}}), "llm_unavailable", {"status": 503}),
        (payload(200, {"error": "no GPU is free"}), "llm_unavailable", {"message": "no GPU is free", "status": 502}),
        (payload(200, {"message": "no key", "type": "authentication_error"}), "llm_auth", {"message": "no key"}),
        (payload(200, {"detail": "no such route"}), "llm_bad_response", {"text": '{"detail": "no such route"}'}),
        (payload(200, {"choices": 5, "error": None}), "llm_bad_response", {"status": 200}),
        (payload(200, PAGE.encode(), "text/html"), "llm_bad_response", HTML),
        (payload(200, PAGE.encode()), "llm_bad_response", HTML),
        (payload(200, b"<think>no JSON"), "llm_bad_response", {"text": "<think>no JSON"}),
        (streams(piece("Th"), GONE), "llm_unavailable", {"message": "gone", "status": 502}),
    ],
)
def test_a_failure_inside_a_reply_to_a_client_of_ones_own(script, reason, details, model):
    """Its code and its text are told, as with the client that we open; also where it streams, and drops them."""
    with OpenAIServer(script) as server:
        own = ChatOpenAI(model="test-model", api_key="sk-0", base_url=server.url, max_retries=0, **model)
        result = create_rag_agent(own, planner="rules").invoke(QUESTION)
    assert result["stop_reason"] == reason
    assert details.items() <= result["details"].items()


def test_a_failure_inside_a_reply_is_retried_like_its_code():
    """A model that is overloaded, and says so in a reply with status 200, is asked again."""
    with OpenAIServer(payload(200, GONE), says(JSON)) as server:
        own = ChatOpenAI(model="test-model", api_key="sk-0", base_url=server.url, max_retries=0)
        world = ResilientWorld(attempts=2, wait=0.01)
        assert create_rag_agent(own, planner="rules", world=world).invoke(QUESTION)["outcome"] == "grounded_answer"
    assert len(server.requests) == 2


class Streaming(BaseChatModel):
    """A chat model whose class knows no argument beside those that LangChain names."""

    streaming: bool = False
    raised: Any = None
    asked: list[str]

    @property
    def _llm_type(self):
        return "streaming"

    def _stream(self, messages, stop=None, run_manager=None, **kwargs):
        self.asked.append("stream")
        yield from ()

    def _generate(self, messages, stop=None, run_manager=None):
        self.asked.append("whole")
        raise self.raised


@each_row(
    ("model", "reason", "raised", "asked"),
    ({"raised": ValueError("no words")}, "llm_bad_response", "ValueError", ["whole"]),
    ({"raised": AssertionError("the test is wrong")}, "guard_error:generate", "AssertionError", ["whole"]),
    ({"streaming": True}, "llm_bad_response", "ValueError", ["stream"]),
)
def test_a_model_is_asked_again_only_where_a_stream_brought_nothing(model, reason, raised, asked):
    """What a model raises that was asked for a whole reply is told at once, as where its class knows no other way."""
    own = Streaming(asked=[], **model)
    result = create_rag_agent(own, planner="rules").invoke(QUESTION)
    assert (result["stop_reason"], result["details"]["type"], own.asked) == (reason, raised, asked)


CALL = {"name": "find_order", "arguments": {"number": 7}}
STEP = json.dumps({"calls": [{"tool": "find_order", "args": {"number": 7}}]})
DONE = json.dumps({"calls": [], "answer": "Order 7 is shipped."})


def calls(name, **args):
    call = {"id": "1", "type": "function", "function": {"name": name, "arguments": json.dumps(args)}}
    message = {"role": "assistant", "content": "", "tool_calls": [call]}
    return payload(200, completion({"index": 0, "message": message, "finish_reason": "tool_calls"}))


def without_tools(reply):
    """Return a server that replies so to whoever has tools: it refuses them, or shows the model nothing of them."""

    def behave(connection, asked):
        is_second = "shipped" in asked.json["messages"][-1]["content"]
        send(connection, asked, reply if "tools" in asked.json else says(DONE if is_second else STEP))

    return behave


NO_TOOLS = payload(400, {"error": {"message": "tools are not supported", "code": 400}})


@each_row(
    ("script", "forms", "requests"),
    ([calls("find_order", number=7), calls("final_answer", answer="Order 7 is shipped.")], ["calls", "calls"], 2),
    ([calls("find_order", number=7), says("Order 7 is shipped.")], ["calls", "calls"], 2),
    ([says(STEP), says(DONE)], ["calls", "calls"], 2),
    ([says(f"<tool_call>\n{json.dumps(CALL)}\n</tool_call>"), says(DONE)], ["calls", "calls"], 2),
    ([without_tools(NO_TOOLS)], [None, None], 4),
    ([without_tools(says("I cannot look orders up."))], ["schema", None], 3),
)
def test_calls_in_whatever_form(monkeypatch, caplog, script, forms, requests):
    """A call is read out of the provider's own form, of JSON and of a text; who drops tools is found out, and named."""
    caplog.set_level("INFO", "guardgraph")
    caplog.clear()
    found = []

    def find_order(number: int) -> str:
        """Return an order."""
        found.append(number)
        return "shipped"

    recorder = InMemoryRecorder()
    policy = ToolPolicy(rules={"find_order": {"effect": "read"}})
    with OpenAIServer(*script) as server:
        for name, value in server.environ().items():
            monkeypatch.setenv(name, value)
        agent = create_tool_agent("openai:test-model", tools=[find_order], policy=policy, recorder=recorder)
        result = agent.invoke({"task": "What of order 7?"})
    assert (result["outcome"], result["answer"], found) == ("answered", "Order 7 is shipped.", [7])
    assert [item.get("form") for item in result["history"] if "proposer" in item] == forms
    assert len(server.requests) == requests
    assert ("does not call the tools" in caplog.text) == (forms[0] == "schema")
    given = {item["function"]["name"]: item["function"]["parameters"] for item in server.requests[0]["body"]["tools"]}
    assert given.keys() == {"find_order", "final_answer"}
    assert given["find_order"]["properties"]["number"]["type"] == "integer"
    [recording] = recorder.runs
    assert replay(agent, recording)["answer"] == result["answer"]
