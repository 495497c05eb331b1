"""The HTTP clients of the models that we open.

They follow no redirect to elsewhere, read no more than a reply may have, and hang up when time is up.

Everything else is as OpenAI's own clients have it, proxies and certificates of the environment included. The module
imports OpenAI's package, so it is imported when a model is opened.
"""

from __future__ import annotations

import json
import os
import socket
import urllib.request
import zlib
from collections.abc import Mapping
from contextlib import aclosing, closing, suppress
from functools import lru_cache, partial
from typing import Any

from openai import DefaultAsyncHttpxClient, DefaultHttpxClient

from guardgraph.plain.json import REPLY_BYTES, JsonObject
from guardgraph.world.deadline import close_with_call, get_allowed_reply_bytes, note_read_bytes
from guardgraph.world.failures import ReplyRefused, find_told_error, read_told_status, refuse_page

MAX_REDIRECTS = 5
LONGEST_HOST = 200
_SAME_METHOD = (307, 308)  # redirects that repeat the request; the others make a GET of it, without a prompt
_PORTS = {"http": 80, "https": 443}
_OF_THE_WIRE = ("content-encoding", "content-length", "transfer-encoding")
"""Headers that say how a reply came, and nothing of what is in it."""
_JSON_TYPE = ("content-type", "application/json")
_ABOUT = ("http_version", "reason_phrase")
_CERTIFICATES = ("SSL_CERT_FILE", "SSL_CERT_DIR")


def make_model_http_clients() -> dict[str, Any]:
    """Return ``http_client`` and ``http_async_client`` for a ``ChatOpenAI``."""
    known = {**urllib.request.getproxies(), **{name: os.environ.get(name, "") for name in _CERTIFICATES}}
    return _make_shared_clients(tuple(sorted(known.items())))


@lru_cache(maxsize=8)
def _make_shared_clients(known: tuple[tuple[str, str], ...]) -> dict[str, Any]:
    return {"http_client": _Client(), "http_async_client": _AsyncClient()}


class _Client(DefaultHttpxClient):
    def send(self, request: Any, **given: Any) -> Any:
        _hang_up_at_deadline(request)
        for _ in range(MAX_REDIRECTS + 1):
            response = super().send(request, **{**given, "stream": True, "follow_redirects": False})
            with closing(response):
                if (following := _find_followed_redirect(response)) is None:
                    reply = _Reply(response)
                    for part in response.iter_raw():
                        reply.add_reply_part(part)
                    return reply.build_whole_response()
            request = following
        raise _make_redirect_refusal(response)


class _AsyncClient(DefaultAsyncHttpxClient):
    async def send(self, request: Any, **given: Any) -> Any:
        for _ in range(MAX_REDIRECTS + 1):
            response = await super().send(request, **{**given, "stream": True, "follow_redirects": False})
            async with aclosing(response):
                if (following := _find_followed_redirect(response)) is None:
                    reply = _Reply(response)
                    async for part in response.aiter_raw():
                        reply.add_reply_part(part)
                    return reply.build_whole_response()
            request = following
        raise _make_redirect_refusal(response)


class _Reply:
    """A reply while it is read: no more of it than the run's budget allows, as it comes and unpacked."""

    def __init__(self, response: Any) -> None:
        packing = response.headers.get("content-encoding", "").strip().lower() or "identity"
        if packing not in ("identity", "gzip"):
            raise _make_unreadable_reply_error(f"a reply packed as {packing[:40]!r}, though gzip was asked for")
        self._response = response
        self._most = REPLY_BYTES if (most := get_allowed_reply_bytes()) is None else most
        self._gzip = zlib.decompressobj(zlib.MAX_WBITS | 16) if packing == "gzip" else None
        self._parts: list[bytes] = []
        self._came = self._size = 0

    def add_reply_part(self, part: bytes) -> None:
        self._came += len(part)
        self._parts.append(self._unpack_gzip_part(part))
        self._size += len(self._parts[-1])
        note_read_bytes(read := max(self._came, self._size))
        if read > self._most:
            details: JsonObject = {"cause": "max_reply_bytes", "limit": self._most}
            raise ReplyRefused(f"a reply of more than {self._most} bytes", details)

    def _unpack_gzip_part(self, part: bytes) -> bytes:
        if self._gzip is None:
            return part
        try:
            return self._gzip.decompress(part, self._most - self._size + 1)
        except zlib.error as error:
            raise _make_unreadable_reply_error(f"a reply that is no gzip: {error}") from None

    def build_whole_response(self) -> Any:
        came, body = self._response, b"".join(self._parts)
        kind = came.headers.get("content-type", "").partition(";")[0].strip().lower()
        status = came.status_code
        if status == 200 and (refused := refuse_page(kind, body)) is not None:
            raise refused
        if kind == "text/event-stream":
            body = join_events(body)
        if status == 200 and b'"error"' in body and (told := find_told_error(body)) is not None:
            status = read_told_status(told)
        headers = [(name, value) for name, value in came.headers.multi_items() if name.lower() not in _OF_THE_WIRE]
        about = {name: value for name, value in came.extensions.items() if name in _ABOUT}
        if kind == "text/event-stream":
            headers = [*(item for item in headers if item[0].lower() != "content-type"), _JSON_TYPE]
        made = type(came)(status, headers=headers, content=body, extensions=about)
        made.request, made.elapsed = came.request, came.elapsed
        return made


def join_events(body: bytes) -> bytes:
    """Return the events of a server that streams, though it was asked for one reply, as the reply that they make."""
    parts = [line[5:].strip() for line in body.splitlines() if line.startswith(b"data:")]
    events = [event for part in parts if part != b"[DONE]" and isinstance(event := _read_event(part), dict)]
    if failed := next((event for event in events if event.get("error")), None):
        return json.dumps(failed).encode()
    choices = [choice for event in events for choice in event.get("choices") or [] if isinstance(choice, dict)]
    said = [choice.get("delta") or choice.get("message") or {} for choice in choices]
    text = "".join(str(delta.get("content") or "") for delta in said)
    endings = [ending for choice in choices if (ending := choice.get("finish_reason"))]
    message = {"role": "assistant", "content": text}
    whole = {"index": 0, "message": message, "finish_reason": endings[-1] if endings else None}
    usage = next((event["usage"] for event in reversed(events) if event.get("usage")), None)
    about = {**(events[0] if events else {}), "object": "chat.completion", "choices": [whole], "usage": usage}
    return json.dumps(about).encode()


def _read_event(part: bytes) -> Any:
    try:
        return json.loads(part)
    except ValueError:
        return None


def _make_unreadable_reply_error(message: str) -> ReplyRefused:
    return ReplyRefused(message, {"cause": "content_encoding"})


def _find_followed_redirect(response: Any) -> Any:
    following = response.next_request
    if following is None or is_followed_redirect(response.status_code, response.request.url, following.url):
        return following
    raise _make_redirect_refusal(response)


def is_followed_redirect(status: int, here: Any, there: Any) -> bool:
    """Say whether a redirect repeats the request at the same place, or at the same host by HTTPS in place of HTTP."""
    asked, told = ((url.scheme, url.host, url.port or _PORTS.get(url.scheme)) for url in (here, there))
    is_safer = (asked, told) == (("http", here.host, 80), ("https", here.host, 443))
    return status in _SAME_METHOD and (asked == told or is_safer)


def _make_redirect_refusal(response: Any) -> ReplyRefused:
    there = response.next_request.url
    host = there.netloc.decode("ascii")[:LONGEST_HOST]
    said = f"a redirect to {there.scheme}://{host}, which is not followed; the base URL says where the model is"
    return ReplyRefused(said, {"cause": "redirect", "host": host, "status": response.status_code})


def _hang_up_at_deadline(request: Any) -> None:
    """Let the connection of a request end when the run's time is up, and with it the thread that waits for a byte."""

    def trace(event: str, info: Mapping[str, Any]) -> None:
        stream = info.get("return_value")  # of connecting, and of TLS on top of that
        if hasattr(stream, "get_extra_info"):
            close_with_call(partial(_hang_up_connection, stream))

    request.extensions = {**request.extensions, "trace": trace}


def _hang_up_connection(stream: Any) -> None:
    connection = stream.get_extra_info("socket")
    with suppress(OSError, TypeError):  # it is closed already, or TLS inside TLS, which is no socket
        socket.socket.shutdown(connection, socket.SHUT_RDWR)
