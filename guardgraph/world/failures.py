"""What goes wrong with a call: of a model, as stop reasons of the catalogue; and what no server can cause.

Errors are recognised by their classes and status codes, never by their wording. Classes of other libraries are looked
up among the modules already loaded: a provider that raises one has loaded it, and nothing is imported for the sake of a
comparison.
"""

from __future__ import annotations

import builtins
import json
import re
import sys
from collections.abc import Iterator, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from functools import reduce
from traceback import walk_tb
from typing import Any, TypeAlias

from langchain_core.messages import AIMessage, BaseMessage
from langgraph.errors import GraphBubbleUp

from guardgraph.plain.errors import GuardgraphError
from guardgraph.plain.json import JsonObject, make_legible_text
from guardgraph.plain.log import keep_place, locate_failure
from guardgraph.plain.secrets import MARK, cut_and_mask_text, format_error_message
from guardgraph.state.outcome import Outcome

RAISED = "raised"  # reason of the outcome of a call that raised; no guard ever sees it


def record_raised_exception(error: Exception) -> Outcome:
    """Return what is kept of an exception: its class's name, its message, and where it was raised."""
    details: JsonObject = {"type": type(error).__name__, "message": format_error_message(error)}
    keep_place(error, place := locate_failure(error))
    if place is not None:
        details["at"] = place
    return Outcome("failure", {"reason": RAISED, "details": details}, {})


def restore_raised_exception(outcome: Outcome) -> Exception | None:
    """Return the exception that an outcome stands for, None for any other outcome."""
    if outcome.form != "failure" or outcome.content["reason"] != RAISED:
        return None
    details = outcome.content["details"]
    error = _restore_builtin_exception(details) or type(details["type"], (Exception,), {})(details["message"])
    keep_place(error, details.get("at"))
    return error


def _restore_builtin_exception(details: JsonObject) -> Exception | None:
    known = getattr(builtins, details["type"], None)
    if not isinstance(known, type) or not issubclass(known, Exception):
        return None
    try:
        error = known(details["message"])
    except TypeError:  # some of Python's own take more than a message
        return None
    return error if str(error) == details["message"] else None


Failure: TypeAlias = tuple[str, JsonObject]  # A stop reason and its details

_NO_FAILURES = (GraphBubbleUp, GuardgraphError, AssertionError, MemoryError)
"""Exceptions that no server can cause: LangGraph's control flow, our own, a failed test, a full machine."""

_CLASSES: tuple[tuple[str, str | None, tuple[str, ...]], ...] = (
    ("llm_timeout", "timeout", (
        "langchain_core.exceptions:ModelTimeoutError", "openai:APITimeoutError", "httpx:TimeoutException",
        "httpx2:TimeoutException", "builtins:TimeoutError",
    )),
    ("llm_timeout", "connection", (
        "langchain_core.exceptions:ModelConnectionError", "openai:APIConnectionError", "httpx:TransportError",
        "httpx2:TransportError", "builtins:ConnectionError", "socket:gaierror", "ssl:SSLError",
    )),
    ("llm_rate_limited", None, ("langchain_core.exceptions:ModelRateLimitError",)),
    ("llm_auth", None, (
        "langchain_core.exceptions:ModelAuthenticationError", "langchain_core.exceptions:ModelPermissionDeniedError",
    )),
    ("llm_unavailable", None, ("langchain_core.exceptions:ModelAPIError",)),
    ("llm_truncated", None, ("openai:LengthFinishReasonError",)),
    ("llm_content_filter", None, ("openai:ContentFilterFinishReasonError",)),
    ("llm_refused", None, ("langchain_openai.chat_models.base:OpenAIRefusalError",)),
)  # fmt: skip
"""Reason, cause and the classes that mean it; the first match holds: a timeout is a connection error too."""

_ENDINGS = {
    **dict.fromkeys(
        ("length", "max_tokens", "max_output_tokens", "model_length", "model_context_window_exceeded"), "llm_truncated"
    ),
    **dict.fromkeys(("content_filter", "content_filtered", "guardrail_intervened", "safety"), "llm_content_filter"),
    **dict.fromkeys(("prohibited_content", "blocklist", "spii", "recitation"), "llm_content_filter"),
    "refusal": "llm_refused",
    **dict.fromkeys(("error", "malformed_function_call"), "llm_bad_response"),
}
"""Words for an unfinished answer, in lower case: OpenAI (chat completions, responses), Anthropic, Google, Mistral,
Amazon."""

LONGEST_CHAIN = 10  # causes of an exception that are looked at; they can go round in a circle
_SECRET_HEADERS = ("authorization", "api-key", "x-api-key")
_SHORTEST_SECRET = 8


class ReplyRefused(Exception):
    """A server's reply that nobody reads on."""

    def __init__(self, message: str, details: JsonObject) -> None:
        super().__init__(message)
        self.details = details


def classify_model_error(error: BaseException, *, is_tool: bool = False) -> Failure | None:
    """Say which stop reason an exception of a model call is; of a tool's, no reply is read, nor what it was made of."""
    if not isinstance(error, Exception) or isinstance(error, _NO_FAILURES):
        return None
    status = _get_error_status(error)
    kind, body = ("", b"") if is_tool else _read_reply(error)
    refused = _find_reply_refusal(error) or (refuse_page(kind, body) if status == 200 else None)
    if refused is not None:
        unread: JsonObject = {"type": type(refused).__name__, "message": _mask_error_message(refused)}
        return "llm_bad_response", unread | refused.details
    told = None
    if not is_tool and status in (None, 200):
        # A client raises an error that stands in a reply, or in an event, as it stands there, or trips over the reply.
        told = find_told_error(body) or _read_error(getattr(error, "body", None)) or _find_raised_error(error)
        status = status if told is None else read_told_status(told)
    reason, cause = _classify_by_class(error) or (_classify_by_status(error, status), None)
    if cause == "connection" and _is_refused_connection(error):
        reason, cause = "llm_unavailable", "connection_refused"
    usage = _read_completion_usage(error)
    said = str(told.get("message") or told) if told else None
    details: JsonObject = {"type": type(error).__name__, "message": _mask_error_message(error, said)}
    if body and told is None:
        details["text"] = _mask_error_message(error, body.decode(errors="replace"))
    details |= {"cause": cause} if cause else {}
    details |= {"status": status} if status is not None else {}
    details |= {"usage": usage} if usage else {}
    if getattr(error, "code", None) == "insufficient_quota":  # a 429 of OpenAI's that does not pass
        details["cause"] = "quota"
    if (setting := getattr(error, _SETTING, None)) is not None:
        details["setting"] = setting
    if (wait := _read_retry_after(error)) is not None:
        details["retry_after"] = wait
    return reason, details


_FORM_STATUSES = (400, 415, 422, 501)  # statuses with which servers refuse a response format that they do not know


def is_form_refused(error: Exception) -> bool:
    """Say whether an error may mean that a server does not know the form in which it was asked for a reply."""
    return _get_error_status(error) in _FORM_STATUSES and getattr(error, "code", None) not in _OTHER_CODES


_SETTING = "__guardgraph_setting__"  # attribute of an exception of a model that may be mended by a setting


def name_refused_setting(error: Exception, form: str) -> None:
    """Note on an error by which a server may refuse a form the setting that chooses another one."""
    if form != "none" and is_form_refused(error):
        with suppress(AttributeError):
            setattr(error, _SETTING, "OPENAI_STRUCTURED_OUTPUT")


_OTHER_CODES = ("content_filter", "context_length_exceeded", "model_not_found", "invalid_api_key")
"""Codes of OpenAI's with such a status that say of another thing that it is refused."""


_TOLD_STATUSES = {
    **dict.fromkeys(("rate_limit_exceeded", "rate_limited", "insufficient_quota", "resource_exhausted"), 429),
    **dict.fromkeys(("invalid_api_key", "authentication_error", "unauthenticated"), 401),
    **dict.fromkeys(("overloaded", "overloaded_error", "server_error", "unavailable", "engine_overloaded"), 503),
}
"""Words for an error inside of a reply that has no number, in lower case."""


def read_told_status(told: JsonObject) -> int:
    """Return the HTTP status that an error inside of a reply means; where it says none, it is the server's error."""
    return _find_told_status(told) or 502


def _find_told_status(told: JsonObject) -> int | None:
    for name in ("code", "status", "type"):
        code = told.get(name)
        if isinstance(code, int) and 400 <= code < 600:
            return code
        if isinstance(code, str) and len(code) == 3 and code.isdecimal():
            return int(code)
        if isinstance(code, str) and (known := _TOLD_STATUSES.get(code.lower())):
            return known
    return None


def find_told_error(body: bytes) -> JsonObject | None:
    """Return the error that stands in a reply with status 200, or in an event or a choice of it; None for none."""
    for part in (body, *(line[5:] for line in body.splitlines() if line.startswith(b"data:"))):
        try:
            told = json.loads(part)
        except (ValueError, RecursionError):
            continue
        if not isinstance(told, dict):
            continue
        choices = told.get("choices")
        for item in [told, *(choices if isinstance(choices, list) else ())]:
            if isinstance(item, dict) and (error := item.get("error")):
                return _read_error(error) or {"message": str(error)}
        if not told.keys() & {"choices", "output"} and (error := _read_error(told)):
            return error
    return None


def _read_error(told: object) -> JsonObject | None:
    return told if isinstance(told, dict) and ("message" in told or "code" in told) else None


def _find_raised_error(error: Exception) -> JsonObject | None:
    """Return what an exception was made of, where that says by its code that it is an error of a server."""
    told = (_read_error(item) for item in error.args)
    return next((item for item in told if item and _find_told_status(item)), None)


def refuse_page(content_type: str, body: bytes) -> ReplyRefused | None:
    """Return the refusal of a page of HTML that came in place of a reply, None for anything else."""
    is_page = body.lstrip()[:9].lower().startswith((b"<!doctype", b"<html"))
    if content_type.partition(";")[0].strip().lower() != "text/html" and not is_page:
        return None
    return ReplyRefused("an HTML page in place of a reply; the base URL says where the model is", {"cause": "html"})


def _read_reply(error: Exception) -> tuple[str, bytes]:
    """Return the type and the body of the reply with status 200 that a client raised an error for."""
    response: Any = getattr(error, "response", None)
    if getattr(response, "status_code", None) != 200:
        return "", b""
    try:
        kind, body = response.headers.get("content-type", ""), response.content
    except Exception:  # noqa: BLE001 - it was not read, and whatever is called a response raises what it likes
        return "", b""
    return str(kind), body if isinstance(body, bytes) else b""


_GATHER_STREAMS = ("langchain_core.language_models.chat_models", "openai.lib.streaming")
"""Modules that make one reply of the parts of a stream, and raise an error of Python's own where none came."""


def has_dropped_reply(error: Exception) -> bool:
    """Say whether a stream brought nothing, for all that a client tells: it drops a reply which is no event."""
    modules = [str(frame.f_globals.get("__name__")) for frame, _ in walk_tb(error.__traceback__)]
    return isinstance(error, AssertionError | ValueError) and modules[-1].startswith(_GATHER_STREAMS)


def _is_refused_connection(error: BaseException | None) -> bool:
    for _ in range(LONGEST_CHAIN):
        if error is None or isinstance(error, ConnectionRefusedError):
            return error is not None
        error = error.__cause__ or error.__context__
    return False


def is_unclassified_model_error(error: Exception) -> bool:
    """Say whether nothing about an error tells that a server caused it: no class of a client's, no status code."""
    return _classify_by_class(error) is None and _get_error_status(error) is None


def _find_reply_refusal(error: BaseException | None) -> ReplyRefused | None:
    """Return the refusal that an error is or was caused by: some clients call all that is raised a connection error."""
    for _ in range(LONGEST_CHAIN):
        if error is None or isinstance(error, ReplyRefused):
            return error
        error = error.__cause__
    return None


def _classify_by_class(error: Exception) -> tuple[str, str | None] | None:
    for reason, cause, paths in _CLASSES:
        for path in paths:
            module, _, name = path.partition(":")
            if (known := getattr(sys.modules.get(module), name, None)) is not None and isinstance(error, known):
                return reason, cause
    return None


def _classify_by_status(error: Exception, status: int | None) -> str:
    if getattr(error, "code", None) == "content_filter":  # Azure filters a prompt with a 400
        return "llm_content_filter"
    if status == 429:
        return "llm_rate_limited"
    if status in (401, 403):
        return "llm_auth"
    return "llm_unavailable" if status is not None and status >= 500 else "llm_bad_response"


def _get_error_status(error: Exception) -> int | None:
    for holder in (error, getattr(error, "response", None)):
        status = getattr(holder, "status_code", None)
        if isinstance(status, int):
            return int(status)
    return None


_LONGEST_WAIT = 86_400.0  # seconds that a server may ask to wait; what it says beyond a day counts as a day


def _read_retry_after(error: Exception) -> float | None:
    headers = getattr(getattr(error, "response", None) or getattr(error.__cause__, "response", None), "headers", None)
    if not isinstance(headers, Mapping):
        return None
    for name, each in (("retry-after-ms", 1000.0), ("retry-after", 1.0)):
        if isinstance(said := headers.get(name), str) and (seconds := parse_retry_after(said, each)) is not None:
            return min(seconds, _LONGEST_WAIT)
    return None


def parse_retry_after(said: str, each: float = 1.0) -> float | None:
    """Return the seconds that a header asks to wait, a number or a date (RFC 9110, 10.2.3); None where it says none."""
    if re.fullmatch(r"\s*[0-9]{1,18}(?:\.[0-9]*)?\s*", said):
        return float(said) / each
    try:
        at = parsedate_to_datetime(said)
    except (ValueError, OverflowError):
        return None
    return max((at if at.tzinfo else at.replace(tzinfo=UTC)).timestamp() - datetime.now(UTC).timestamp(), 0.0)


def _read_completion_usage(error: Exception) -> dict[str, int] | None:
    usage = getattr(getattr(error, "completion", None), "usage", None)
    names = {"input_tokens": "prompt_tokens", "output_tokens": "completion_tokens", "total_tokens": "total_tokens"}
    return _keep_token_counts({name: getattr(usage, theirs, None) for name, theirs in names.items()})


def find_cut_off_message(error: Exception) -> AIMessage | None:
    """Return the message that OpenAI's client raises for in place of returning it: it was cut off."""
    choices = getattr(getattr(error, "completion", None), "choices", None)
    if not choices or (found := _classify_by_class(error)) is None or found[0] != "llm_truncated":
        return None
    usage: Any = _read_completion_usage(error)
    ending = {"finish_reason": "length", "model_name": getattr(error.completion, "model", None)}  # type: ignore[attr-defined]
    said = getattr(choices[0].message, "content", None) or ""
    return AIMessage(said, response_metadata=ending, usage_metadata=usage if len(usage or ()) == 3 else None)


def _keep_token_counts(counts: dict[str, Any]) -> dict[str, int] | None:
    known = {name: it for name, it in counts.items() if isinstance(it, int) and not isinstance(it, bool)}
    return known or None


def _mask_error_message(error: Exception, said: str | None = None) -> str:
    secrets = list(_list_request_secrets(error))
    return _collapse_error_blanks(
        format_error_message(
            error, lambda text: reduce(lambda masked, secret: masked.replace(secret, MARK), secrets, said or text)
        )
    )


def _collapse_error_blanks(text: str) -> str:
    return " ".join(text.split())


def _list_request_secrets(error: Exception) -> Iterator[str]:
    """Yield what the request was signed with: servers like to repeat a key that they refuse."""
    for holder in (error, getattr(error, "response", None)):
        try:
            headers = holder.request.headers  # type: ignore[union-attr]
        except (AttributeError, RuntimeError):  # httpx raises RuntimeError where no request is known
            continue
        for name in _SECRET_HEADERS:
            secret = str(headers.get(name, "")).rpartition(" ")[2]
            if len(secret) >= _SHORTEST_SECRET:
                yield secret


def classify_model_message(message: BaseMessage) -> Failure | None:
    """Say which stop reason a model's message is, None for one that can be read."""
    refusal = _read_model_refusal(message)
    ending = _read_finish_reason(message)
    if refusal is not None:
        reason, text = "llm_refused", refusal
    elif ending is not None:
        reason, text = _ENDINGS[ending], f"finish reason: {ending}"
    else:
        return None
    usage = read_token_usage(message)
    details: JsonObject = {"type": type(message).__name__, "message": _collapse_error_blanks(cut_and_mask_text(text))}
    return reason, details | ({"usage": usage} if usage else {})


def _read_model_refusal(message: BaseMessage) -> str | None:
    said = [message.additional_kwargs.get("refusal")]
    for block in _list_message_blocks(message):
        inner = block.get("value") if block.get("type") == "non_standard" else block
        said.append(inner.get("refusal") if isinstance(inner, dict) else None)
    return next((text for text in said if isinstance(text, str) and text), None)


def _read_finish_reason(message: BaseMessage) -> str | None:
    metadata = message.response_metadata
    incomplete = metadata.get("incomplete_details")
    words = [metadata.get(key) for key in ("finish_reason", "stop_reason", "done_reason")]
    words.append(incomplete.get("reason") if isinstance(incomplete, dict) else None)
    endings = [word.lower() for word in words if isinstance(word, str)]
    return next((word for word in endings if word in _ENDINGS), None)


def _list_message_blocks(message: BaseMessage) -> list[dict[str, Any]]:
    content = message.content
    return [block for block in content if isinstance(block, dict)] if isinstance(content, list) else []


def read_model_text(message: BaseMessage) -> str:
    """Return a message's text: its content, its blocks of text, or else the arguments of its first tool call."""
    text = str(message.text)
    return text if text.strip() else _read_tool_arguments(message) or text


def _read_tool_arguments(message: BaseMessage) -> str | None:
    if not isinstance(message, AIMessage):
        return None
    if message.tool_calls:
        return json.dumps(message.tool_calls[0]["args"], ensure_ascii=False)
    return message.invalid_tool_calls[0]["args"] if message.invalid_tool_calls else None


def read_token_usage(message: BaseMessage) -> dict[str, int] | None:
    """Return what a message cost (input_tokens, output_tokens, total_tokens), None where unknown."""
    usage = getattr(message, "usage_metadata", None) or {}
    return _keep_token_counts({name: usage.get(name) for name in ("input_tokens", "output_tokens", "total_tokens")})


_LONGEST_NAME = 200


def read_model_name(message: BaseMessage) -> str | None:
    """Return the name of the model that wrote a message, as the provider says it; None where it does not."""
    named = (message.response_metadata.get(key) for key in ("model_name", "model"))
    return next((make_legible_text(name)[:_LONGEST_NAME] for name in named if isinstance(name, str) and name), None)
