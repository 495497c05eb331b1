"""Models over real HTTP: what a server does, what the client makes of it, and which stop reason that is."""

import asyncio
import json
import time
from typing import Any

import openai_server as fake
import pytest
from hanging import PROMPTLY
from runs import LIMITS
from web_server import Page

from guardgraph import create_rag_agent
from guardgraph.world.failures import classify_model_error, classify_model_message, read_model_text, read_token_usage
from guardgraph.world.named_models import chat_model
from guardgraph.world.prompts import load_prompt
from guardgraph.world.proposers import ModelProposer

USAGE = {"input_tokens": 11, "output_tokens": 7, "total_tokens": 18}
PLAN = load_prompt("rag_plan", LIMITS)


def ask(environ: dict[str, str], mode: str = "invoke", view: Any = None) -> Any:
    proposer = ModelProposer(chat_model("openai:test-model", environ=environ), PLAN)
    view = {"question": "q"} if view is None else view
    try:
        return proposer.invoke(view) if mode == "invoke" else asyncio.run(proposer.ainvoke(view))
    except Exception as error:  # noqa: BLE001 - the tests judge it
        return error


MODES = pytest.mark.parametrize("mode", ["invoke", "ainvoke"])


@MODES
def test_an_answer(mode: str) -> None:
    """One request, not streamed, with prompt, view and strict schema; message and usage come back."""
    with fake.OpenAIServer(fake.answer({"kind": "retrieve"})) as server:
        message = ask(server.environ(), mode, {"question": "Größe?"})
    assert classify_model_message(message) is None
    assert (read_model_text(message), read_token_usage(message)) == ('{"kind": "retrieve"}', USAGE)
    [request] = server.requests
    body = request["body"]
    assert (request["path"], body["model"], body["temperature"]) == ("/v1/chat/completions", "test-model", 0)
    assert not body["stream"]
    said = [(item["role"], item["content"]) for item in body["messages"]]
    assert said == [("system", PLAN.text), ("user", "Question: Größe?")]
    form = body["response_format"]
    assert (form["type"], form["json_schema"]["strict"]) == ("json_schema", True)
    assert form["json_schema"]["schema"]["required"] == PLAN.schema["required"]


BAD, INVALID = "llm_bad_response", "OpenAIInvalidRequestError"
RAISED: dict[str, tuple[Page, str, str, dict[str, Any]]] = {
    "400": (fake.status(400), INVALID, BAD, {"status": 400}),
    "400 filtered": (fake.status(400, error_code="content_filter"), INVALID, "llm_content_filter", {"status": 400}),
    "503 as HTML": (fake.payload(503, b"<html>", "text/html"), "OpenAIAPIError", "llm_unavailable", {"status": 503}),
    "filtered": (fake.filtered(), "ContentFilterFinishReasonError", "llm_content_filter", {"usage": USAGE}),
    "no choices": (fake.payload(200, fake.completion()), "IndexError", BAD, {}),
    "choices of text": (fake.payload(200, fake.completion("x")), "AttributeError", BAD, {"status": 200}),
    "broken JSON": (fake.payload(200, b'{"id": "chatcmpl-1", "choices": ['), "JSONDecodeError", BAD, {"status": 200}),
    "bytes": (fake.payload(200, b"\xff\xfe\x00"), "UnicodeDecodeError", BAD, {"status": 200}),
    "nested JSON": (fake.payload(200, b"[" * 100_000), "RecursionError", BAD, {"status": 200}),
    "redirect to nowhere": (fake.payload(302, b""), "APIStatusError", BAD, {"status": 302}),
    "no role": (fake.payload(200, fake.completion({"message": {"content": "x"}})), "ValidationError", BAD, {}),
    "hang up": (fake.hang_up(), "OpenAIConnectionError", "llm_timeout", {"cause": "connection"}),
    "drop": (fake.drop(), "OpenAIConnectionError", "llm_timeout", {"cause": "connection"}),
}


@pytest.mark.paired
@MODES
@pytest.mark.parametrize("case", RAISED)
def test_what_a_server_makes_the_client_raise(case: str, mode: str) -> None:
    """Every failure is one exception and stop reason, after one request; a 400 is asked again in two other forms."""
    behaviour, expected, reason, details = RAISED[case]
    with fake.OpenAIServer(behaviour) as server:
        error = ask(server.environ(OPENAI_TIMEOUT_SECONDS="5"), mode)
    assert type(error).__name__ == expected
    assert len(server.requests) == (3 if case == "400" else 1)
    failure = classify_model_error(error)
    assert failure is not None
    assert failure[0] == reason
    assert failure[1].items() >= {"type": expected, **details}.items()
    assert 0 < len(failure[1]["message"]) <= 200
    assert json.dumps(failure[1])


MESSAGES: dict[str, tuple[Page, str | None, str]] = {
    "refusal": (fake.refusal("I cannot."), "llm_refused", ""),
    "truncated": (fake.truncated('{"answer": "it'), "llm_truncated", '{"answer": "it'),
    "wrong content type": (fake.payload(200, fake.completion(fake.choice('{"a": 1}')), "text/plain"), None, '{"a": 1}'),
    "null content": (fake.answer(None), None, ""),
    "text": (fake.answer("Sure! Here is the plan."), None, "Sure! Here is the plan."),
}


@pytest.mark.paired
@MODES
@pytest.mark.parametrize("case", MESSAGES)
def test_what_a_server_makes_the_client_return(case: str, mode: str) -> None:
    """A refusal and a reply that was cut off are failures with text and usage; all else is text for the guard."""
    behaviour, reason, text = MESSAGES[case]
    with fake.OpenAIServer(behaviour) as server:
        message = ask(server.environ(), mode)
    failure = classify_model_message(message)
    if reason is None:
        assert failure is None
    else:
        said = "I cannot." if reason == "llm_refused" else "finish reason: length"
        assert failure == (reason, {"type": "AIMessage", "message": said, "usage": USAGE})
    assert read_model_text(message) == text


def test_a_cancelled_call_leaves_no_connection() -> None:
    """An async call that is cancelled at its deadline hangs up, and the dripping server notices."""

    async def impatient(proposer: ModelProposer) -> None:
        async with asyncio.timeout(0.3):
            await proposer.ainvoke({})

    with fake.OpenAIServer(fake.drip()) as server:
        proposer = ModelProposer(chat_model("openai:test-model", environ=server.environ()), PLAN)
        begun = time.monotonic()
        with pytest.raises(TimeoutError):
            asyncio.run(impatient(proposer))
        assert time.monotonic() - begun < PROMPTLY


def test_one_model_in_two_event_loops() -> None:
    """A connection that the server would keep does not break the next event loop."""
    keeps = fake.payload(200, fake.completion(fake.choice("{}")), keep_alive=True)
    with fake.OpenAIServer(keeps) as server:
        proposer = ModelProposer(chat_model("openai:test-model", environ=server.environ()), PLAN)
        for _ in range(3):
            assert read_model_text(asyncio.run(proposer.ainvoke({}))) == "{}"
        assert read_model_text(proposer.invoke({})) == "{}"


@MODES
def test_keys_are_never_shown(mode: str) -> None:
    """A key or header that an error repeats is not in the details; a refused connection says that it was refused."""
    refused = classify_model_error(ask(fake.refusing_environ(), mode))
    assert refused is not None
    assert (refused[0], refused[1]["cause"]) == ("llm_unavailable", "connection_refused")
    key = "loopback-Key+without/prefix="
    with fake.OpenAIServer(
        fake.status(401, f"Bad key {key} in Authorization: Bearer {key}; also sk-other-0123456789")
    ) as server:
        failure = classify_model_error(ask(server.environ(OPENAI_API_KEY=key), mode))
    assert failure is not None
    assert failure[0] == "llm_auth"
    assert not any(part in str(failure) for part in (key, "without", "other-0123456789"))
    assert "[key]" in failure[1]["message"]


def test_proposals_stay_out_of_token_streams() -> None:
    """Under stream_mode="messages" a call is not streamed, its usage is known, and no message is shown."""
    with fake.OpenAIServer(fake.answer('{"kind": "retrieve", "query": "nothing of this kind"}')) as server:
        agent = create_rag_agent(chat_model("openai:test-model", environ=server.environ()))
        streamed = list(agent.stream({"question": "q"}, stream_mode=["messages", "values"]))
    assert {mode for mode, _ in streamed} == {"values"}
    assert streamed[-1][1]["history"][0]["usage"] == USAGE
    assert not server.requests[0]["body"]["stream"]
