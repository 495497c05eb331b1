"""An OpenAI-compatible HTTP server on 127.0.0.1 that answers, and fails, as its script says.

    with OpenAIServer(answer('{"answer": "yes"}'), status(429), drip()) as server:
        model = chat_model("openai:test-model", environ=server.environ())

Each request plays the next behaviour; the last one is played again for every further request. `requests`
keeps what was asked. A behaviour is a page of `web_server`.
"""

from __future__ import annotations

import json
import platform
import socket
import ssl
from threading import Lock
from typing import Any

import web_server
from loopback import Asked, LoopbackServer
from web_server import Page, after, kept, send

platform.processor()  # OpenAI's client asks the machine for it, which starts a process, once
DEFAULT_USAGE = {"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18}


class OpenAIServer(LoopbackServer):
    """The server; a context manager."""

    def __init__(self, *script: Page, tls: ssl.SSLContext | None = None) -> None:
        super().__init__(tls)
        self.requests: list[dict[str, Any]] = []
        self._script = script or (answer("{}"),)
        self._lock = Lock()
        self.url = f"{'http' if tls is None else 'https'}://127.0.0.1:{self.bound[0]}/v1"

    def environ(self, **more: str) -> dict[str, str]:
        return {"OPENAI_API_KEY": "sk-loopback-0123456789", "OPENAI_BASE_URL": self.url, **more}

    def next_behaviour(self, request: dict[str, Any]) -> Page:
        with self._lock:
            self.requests.append(request)
            return self._script[min(len(self.requests), len(self._script)) - 1]

    def handle(self, connection: socket.socket, asked: Asked) -> None:
        request = {"path": asked.path, "headers": asked.headers, "body": asked.json}
        send(connection, asked, self.next_behaviour(request))


def payload(
    code: int, content: bytes | Any, content_type: str = "application/json", *, delay=0.0, keep_alive=False, **headers
) -> Page:
    """Any status and body: bytes as they are, anything else as JSON; after `delay` seconds."""
    body = content if isinstance(content, bytes) else json.dumps(content).encode()
    given = {**headers, "content_type": content_type, "connection": None if keep_alive else "close"}
    page = web_server.answer(body, f"{code} Said", **given)
    page = kept(page) if keep_alive else page
    return after(delay, page) if delay else page


def completion(*choices: Any, **fields: Any) -> dict[str, Any]:
    head = {"id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": "test-model"}
    return {**head, "choices": list(choices), "usage": DEFAULT_USAGE, **fields}


def choice(content: Any, finish_reason: str | None = "stop", refusal: str | None = None) -> dict[str, Any]:
    message = {"role": "assistant", "content": content, "refusal": refusal}
    return {"index": 0, "message": message, "finish_reason": finish_reason, "logprobs": None}


def answer(content: Any, *, delay=0.0, finish_reason="stop", refusal=None, usage: Any = DEFAULT_USAGE) -> Page:
    text = content if isinstance(content, str | None) else json.dumps(content)
    return payload(200, completion(choice(text, finish_reason, refusal), usage=usage), delay=delay)


def says(text: Any, **more: Any) -> Page:
    """A reply with this text, and whatever else its choice says."""
    return payload(200, completion({**choice(text), **more}))


def status(code: int, message: str = "the server says no", error_code: str | None = None, **headers: str) -> Page:
    error = {"message": message, "type": "server_says", "param": None, "code": error_code}
    return payload(code, {"error": error}, **headers)


def redirect(location: str, code: int = 307) -> Page:
    return payload(code, b"", location=location)


def truncated(content: str = '{"answer": "it was cut') -> Page:
    return answer(content, finish_reason="length")


def filtered() -> Page:
    return answer("", finish_reason="content_filter")


def refusal(text: str = "I cannot help with that.") -> Page:
    return answer(None, refusal=text)


def hang_up() -> Page:
    """The connection closes without a single byte."""
    return lambda connection, asked: None


def drop() -> Page:
    """The connection closes in the middle of a reply."""
    body = json.dumps(completion(choice("{}"))).encode()
    return web_server.answer(body, content_type="application/json")[: -len(body) // 2]


def _begin(size: int) -> bytes:
    return web_server.answer(content_type="application/json", content_length=str(size))


def drip(interval: float = 0.05, seconds: float = 30.0) -> Page:
    """A byte every `interval` seconds: no client's read timeout ever ends it. It ends after `seconds`."""
    count = int(seconds / interval)
    return web_server.drip([_begin(count + 1), *[b" "] * count], interval)


def drip_headers(interval: float = 0.05, seconds: float = 30.0) -> Page:
    """A header that never ends, a byte every `interval` seconds."""
    return web_server.drip([b"HTTP/1.1 200 OK\r\nX-Long: ", *[b"x"] * int(seconds / interval)], interval)


def flood(part: bytes, count: int, sent: list[int]) -> Page:
    """A body of `count` parts; `sent` gets the size of each that went out."""

    def pour(connection: socket.socket, asked: Asked) -> None:
        connection.sendall(_begin(len(part) * count))
        for _ in range(count):
            connection.sendall(part)
            sent.append(len(part))

    return pour


def refusing_environ() -> dict[str, str]:
    return {"OPENAI_API_KEY": "sk-loopback-0123456789", "OPENAI_BASE_URL": "http://127.0.0.1:1/v1"}
