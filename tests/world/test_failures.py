"""Which stop reason an exception or a message of a model is, whichever provider it comes from."""

import asyncio
import socket
from types import SimpleNamespace
from typing import Any

import httpx
from hypothesis import given, settings
from hypothesis import strategies as st
from langchain_core import exceptions
from langchain_core.messages import AIMessage, AIMessageChunk
from langgraph.errors import GraphInterrupt
from tables import each_row

from guardgraph import create_rag_agent
from guardgraph.plain.errors import ConfigurationError
from guardgraph.testing import ScriptExhausted
from guardgraph.world.failures import classify_model_error, classify_model_message, read_model_text

BAD = "llm_bad_response"


class Status(Exception):
    def __init__(self, code: Any) -> None:
        super().__init__("no")
        self.status_code = code


def responded(response: object) -> Exception:
    error = RuntimeError("no")
    error.response = response  # type: ignore[attr-defined]
    return error


@each_row(
    ("reason", "errors"),
    ("llm_timeout", [exceptions.ModelTimeoutError(), httpx.ReadTimeout("late"), TimeoutError()]),
    ("llm_timeout", [socket.gaierror()]),
    ("llm_rate_limited", [exceptions.ModelRateLimitError(), Status(429)]),
    ("llm_rate_limited", [ValueError({"message": "slow down", "code": 429})]),
    ("llm_auth", [exceptions.ModelAuthenticationError(), responded(Status(401))]),
    ("llm_unavailable", [exceptions.ModelAPIError(), Status(599)]),
    (BAD, [exceptions.ModelInvalidRequestError(), httpx.DecodingError("no"), OSError(), Status("500")]),
    (BAD, [ValueError("\n <b>\n"), ValueError({"message": "hello"}), ExceptionGroup("both", [ValueError()])]),
)
def test_errors_of_any_provider(reason: str, errors: list[Exception]) -> None:
    """Errors are told apart by class and status code, whoever raises them."""
    for error in errors:
        failure = classify_model_error(error)
        assert failure is not None
        assert (failure[0], failure[1]["type"]) == (reason, type(error).__name__)
        assert "\n" not in failure[1]["message"]


def test_the_text_of_a_reply_shows_no_key() -> None:
    """A server that repeats the key of the request in what it says does not bring it into the details."""
    request = httpx.Request("POST", "http://localhost/", headers={"Authorization": "Bearer my-own-word"})
    reply = httpx.Response(200, json={"detail": "no route for my-own-word"}, request=request)
    failure = classify_model_error(httpx.HTTPStatusError("no", request=request, response=reply))
    assert failure is not None
    assert ("my-own-word" in failure[1]["text"], "no route for" in failure[1]["text"]) == (False, True)


class Unread:
    status_code, headers = 500, httpx.Headers()

    @property
    def content(self) -> bytes:
        raise OSError("the connection is gone")


NO_BASE = {"message": "no such base", "code": "E17", "hint": "ask Ada"}


@each_row(
    ("error", "details"),
    (ValueError(NO_BASE), {"message": str(NO_BASE)}),
    (responded(Unread()), {"message": "no", "status": 500}),
    (responded(SimpleNamespace(content=b"<html>", headers={})), {"message": "no"}),
    (responded(httpx.Response(200, html="<html>")), {"message": "no", "status": 200}),
)
def test_what_a_tool_raises_is_read_as_no_reply_of_a_model(error: Exception, details: dict[str, Any]) -> None:
    """Its message is as it was written, its status is that of its response, and no body is read for it."""

    def retrieve(request: Any) -> list[Any]:
        raise error

    result = create_rag_agent(retriever=retrieve, sources=["policies"]).invoke({"question": "What is a P1?"})
    assert result["stop_reason"] == "tool_invalid_output:retrieve"
    told = {key: result["details"][key] for key in ("message", "status", "cause") if key in result["details"]}
    assert told == details


def test_what_is_no_failure_of_a_model() -> None:
    """Cancellation, control flow, our own errors and failed assertions are left to be raised."""
    ours = (ConfigurationError("model: wrong"), ScriptExhausted("the test is wrong"))
    for error in (asyncio.CancelledError(), GraphInterrupt(()), *ours, MemoryError()):
        assert classify_model_error(error) is None


@each_row(
    ("reason", "told"),
    (None, [{"finish_reason": "stop"}, {"finish_reason": ["length"]}, {"incomplete_details": None}]),
    ("llm_truncated", [{"finish_reason": "length"}, {"finish_reason": "MAX_TOKENS"}, {"done_reason": "length"}]),
    ("llm_truncated", [{"finish_reason": None, "incomplete_details": {"reason": "max_output_tokens"}}]),
    ("llm_content_filter", [{"finish_reason": "content_filter"}]),
    ("llm_refused", [{"stop_reason": "refusal"}]),
)
def test_unfinished_messages(reason: str | None, told: list[dict[str, Any]]) -> None:
    """What says itself that it is unfinished is none; a refusal is found where OpenAI's two interfaces put it."""
    for metadata in told:
        failure = classify_model_message(AIMessage("{}", response_metadata=metadata))
        assert (failure and failure[0]) == reason
    blocks: list[Any] = [{"type": "refusal", "refusal": "no"}, {"type": "non_standard", "value": {"refusal": "no"}}]
    for message in (AIMessage("", additional_kwargs={"refusal": "no"}), *(AIMessage([block]) for block in blocks)):
        assert classify_model_message(message) == ("llm_refused", {"type": "AIMessage", "message": "no"})


@each_row(
    ("message", "text"),
    (AIMessage(["a", {"type": "text", "text": "b"}, {"type": "reasoning"}, "c"]), "abc"),
    (AIMessage([{"type": "text", "text": None}]), ""),
    (AIMessage("", invalid_tool_calls=[{"name": "f", "args": "{bad", "id": "1", "error": None}]), "{bad"),
    (AIMessage("", tool_calls=[{"name": "f", "args": {"a": "ü"}, "id": "1"}]), '{"a": "ü"}'),
    (AIMessage("said", tool_calls=[{"name": "f", "args": {}, "id": "1"}]), "said"),
    (AIMessageChunk("part"), "part"),
)
def test_text_of_messages(message: Any, text: str) -> None:
    """The text is the content as it was sent, its text blocks in order, or a tool call's arguments."""
    assert read_model_text(message) == text


ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)
KEYS = st.sampled_from(["finish_reason", "stop_reason", "incomplete_details", "refusal", "type", "text", "value", "x"])
ODD = st.dictionaries(KEYS, ANYTHING | st.sampled_from(["length", "refusal", "text", "non_standard"]), max_size=4)


@settings(max_examples=60, deadline=None)
@given(ODD, ODD, st.text() | st.lists(st.text(max_size=5) | ODD, max_size=4))
def test_no_message_is_too_odd(metadata: Any, extra: Any, content: Any) -> None:
    """Whatever a provider puts into a message, it is read without an exception."""
    message = AIMessage("", response_metadata=metadata, additional_kwargs=extra)
    message.content = content
    failure = classify_model_message(message)
    assert failure is None or failure[0] in {"llm_refused", "llm_truncated", "llm_content_filter"}
    assert isinstance(read_model_text(message), str)
