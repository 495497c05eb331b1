"""An OpenAI-compatible HTTP server on 127.0.0.1 that answers, and fails, as its script says.

    with OpenAIServer(answer('{"answer": "yes"}'), status(429), drip()) as server:
        model = chat_model("openai:test-model", environ=server.environ())

Each request plays the next behaviour; the last one is played again for every further request. `requests`
keeps what was asked. Leaving the block closes the socket and ends every thread, whatever it was doing.
"""

from __future__ import annotations

import json
import platform
import ssl
from collections.abc import Callable, Iterator
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Lock, Thread
from typing import Any

platform.processor()  # OpenAI's client asks the machine for it, which starts a process, once
DEFAULT_USAGE = {"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18}


class OpenAIServer:
    """The server; a context manager."""

    def __init__(self, *script: Behaviour, tls: ssl.SSLContext | None = None) -> None:
        self.requests: list[dict[str, Any]] = []
        self.closing = Event()
        self._script = script or (answer("{}"),)
        self._lock = Lock()
        self._http = _Server(("127.0.0.1", 0), _Handler, owner=self)
        self._scheme = "http" if tls is None else "https"
        if tls is not None:
            self._http.socket = tls.wrap_socket(self._http.socket, server_side=True)
        self._thread = Thread(target=self._http.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)

    @property
    def url(self) -> str:
        return f"{self._scheme}://127.0.0.1:{self._http.server_port}/v1"

    def environ(self, **more: str) -> dict[str, str]:
        return {"OPENAI_API_KEY": "sk-loopback-0123456789", "OPENAI_BASE_URL": self.url, **more}

    def __enter__(self) -> OpenAIServer:
        self._thread.start()
        return self

    def __exit__(self, *exc: object) -> None:
        self.closing.set()
        self._http.shutdown()
        self._http.server_close()
        self._thread.join()

    def next_behaviour(self, request: dict[str, Any]) -> Behaviour:
        with self._lock:
            self.requests.append(request)
            return self._script[min(len(self.requests), len(self._script)) - 1]


class _Server(ThreadingHTTPServer):
    daemon_threads = False  # server_close waits for them; `closing` ends what they wait for

    def __init__(self, *args: Any, owner: OpenAIServer) -> None:
        self.owner = owner
        super().__init__(*args)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout = 5.0  # a client that connects and says nothing

    def do_POST(self) -> None:
        size = int(self.headers.get("Content-Length", 0))
        body = json.loads(self.rfile.read(size))
        behaviour = self.owner.next_behaviour({"path": self.path, "headers": dict(self.headers), "body": body})
        with suppress(ConnectionError):  # the client may go when it likes
            behaviour(self)

    @property
    def owner(self) -> OpenAIServer:
        return self.server.owner  # type: ignore[attr-defined,no-any-return]

    def pause(self, seconds: float) -> bool:
        closing = self.owner.closing.wait(seconds)
        self.close_connection = self.close_connection or closing
        return not closing

    def send(
        self,
        code: int,
        chunks: Iterator[bytes],
        size: int,
        content_type: str,
        *,
        keep_alive: bool = False,
        **headers: str,
    ) -> None:
        self.send_response(code)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("Content-Type", content_type)
        self.send_header("Content-Length", str(size))
        if not keep_alive:
            self.send_header("Connection", "close")  # sets close_connection too
        self.end_headers()
        for chunk in chunks:
            self.wfile.write(chunk)

    def log_message(self, format: str, *args: Any) -> None:
        """Tests print nothing."""


Behaviour = Callable[[_Handler], None]


def payload(
    code: int,
    content: bytes | Any,
    content_type: str = "application/json",
    *,
    delay: float = 0.0,
    keep_alive: bool = False,
) -> Behaviour:
    """Any status and body: bytes as they are, anything else as JSON; after `delay` seconds."""
    body = content if isinstance(content, bytes) else json.dumps(content).encode()

    def behave(handler: _Handler) -> None:
        if handler.pause(delay):
            handler.send(code, iter([body]), len(body), content_type, keep_alive=keep_alive)

    return behave


def completion(*choices: Any, **fields: Any) -> dict[str, Any]:
    head = {"id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": "test-model"}
    return {**head, "choices": list(choices), "usage": DEFAULT_USAGE, **fields}


def choice(content: Any, finish_reason: str | None = "stop", refusal: str | None = None) -> dict[str, Any]:
    message = {"role": "assistant", "content": content, "refusal": refusal}
    return {"index": 0, "message": message, "finish_reason": finish_reason, "logprobs": None}


def answer(
    content: Any,
    *,
    delay: float = 0.0,
    finish_reason: str = "stop",
    refusal: str | None = None,
    usage: Any = DEFAULT_USAGE,
) -> Behaviour:
    text = content if isinstance(content, str | None) else json.dumps(content)
    return payload(200, completion(choice(text, finish_reason, refusal), usage=usage), delay=delay)


def says(text: Any, **more: Any) -> Behaviour:
    """A reply with this text, and whatever else its choice says."""
    return payload(200, completion({**choice(text), **more}))


def status(code: int, message: str = "the server says no", error_code: str | None = None) -> Behaviour:
    return payload(code, {"error": {"message": message, "type": "server_says", "param": None, "code": error_code}})


def redirect(location: str, code: int = 307) -> Behaviour:
    """A redirect to anywhere."""

    def behave(handler: _Handler) -> None:
        handler.send(code, iter(()), 0, "text/plain", Location=location)

    return behave


def truncated(content: str = '{"answer": "it was cut') -> Behaviour:
    return answer(content, finish_reason="length")


def filtered() -> Behaviour:
    return answer("", finish_reason="content_filter")


def refusal(text: str = "I cannot help with that.") -> Behaviour:
    return answer(None, refusal=text)


def hang_up() -> Behaviour:
    """The connection closes without a single byte."""

    def behave(handler: _Handler) -> None:
        handler.close_connection = True

    return behave


def drop() -> Behaviour:
    body = json.dumps(completion(choice("{}"))).encode()
    return lambda handler: handler.send(200, iter([body[: len(body) // 2]]), len(body), "application/json")


def drip(interval: float = 0.05, seconds: float = 30.0) -> Behaviour:
    """A byte every `interval` seconds: no client's read timeout ever ends it. It ends after `seconds`."""
    count = int(seconds / interval)

    def behave(handler: _Handler) -> None:
        drops = (b" " for _ in range(count) if handler.pause(interval))
        handler.send(200, drops, count + 1, "application/json")

    return behave


def drip_headers(interval: float = 0.05, seconds: float = 30.0) -> Behaviour:
    """A header that never ends, a byte every `interval` seconds."""

    def behave(handler: _Handler) -> None:
        handler.wfile.write(b"HTTP/1.1 200 OK\r\nX-Long: ")
        for _ in range(int(seconds / interval)):
            if handler.pause(interval):
                handler.wfile.write(b"x")

    return behave


def flood(part: bytes, count: int, sent: list[int], **headers: str) -> Behaviour:
    """A body of `count` parts; `sent` gets the size of each that went out."""

    def parts() -> Iterator[bytes]:
        for _ in range(count):
            yield part
            sent.append(len(part))

    return lambda handler: handler.send(200, parts(), len(part) * count, "application/json", **headers)


def refusing_environ() -> dict[str, str]:
    return {"OPENAI_API_KEY": "sk-loopback-0123456789", "OPENAI_BASE_URL": "http://127.0.0.1:1/v1"}
