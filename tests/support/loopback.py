"""What the HTTP servers of the tests share: ports on 127.0.0.1, a thread for each connection, requests as they came."""

import json
import socket
import ssl
import threading
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Self


@dataclass
class Asked:
    """A request, as it came; the names of headers are in small letters."""

    url: str
    host: str
    path: str
    headers: dict[str, str]
    body: bytes
    closing: threading.Event
    keeps: bool = False
    """Whether the connection is kept for a next request."""

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    def pause(self, seconds: float) -> bool:
        """Wait, and tell whether the server is there still."""
        return not self.closing.wait(seconds)


def find_free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


class LoopbackServer:
    """Listens on one port for each context of TLS, or None for one without, and ends every thread when it is left."""

    def __init__(self, *contexts: ssl.SSLContext | None) -> None:
        self.closing = threading.Event()
        self._listening = [(socket.create_server(("127.0.0.1", 0), backlog=1024), context) for context in contexts]
        self._threads: list[threading.Thread] = []
        self._open: set[socket.socket] = set()

    @property
    def bound(self) -> list[int]:
        """The ports."""
        return [one.getsockname()[1] for one, _ in self._listening]

    def handle(self, connection: socket.socket, asked: Asked) -> None:
        """Answer a request."""
        raise NotImplementedError

    def __enter__(self) -> Self:
        for listening, context in self._listening:
            self._start(self._accept, listening, context)
        return self

    def __exit__(self, *raised: object) -> None:
        self.closing.set()
        for one in [*(listening for listening, _ in self._listening), *self._open]:
            with suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)  # wakes whoever waits for it
        for listening, _ in self._listening:
            listening.close()
        for thread in self._threads:
            thread.join(5)

    def _start(self, target: Any, *args: object) -> None:
        thread = threading.Thread(target=target, args=args, daemon=True)
        self._threads = [known for known in self._threads if known.is_alive()] + [thread]
        thread.start()

    def _accept(self, listening: socket.socket, context: ssl.SSLContext | None) -> None:
        while True:
            try:
                connection, _ = listening.accept()
            except OSError:
                return
            self._start(self._serve, connection, context)

    def _serve(self, connection: socket.socket, context: ssl.SSLContext | None) -> None:
        try:
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            if context is not None:
                connection = context.wrap_socket(connection, server_side=True)
            self._open.add(connection)
            asked = self._read(connection, "http" if context is None else "https")
            while asked is not None:
                self.handle(connection, asked)
                asked = self._read(connection, "http") if asked.keeps else None
            if context is not None:
                connection.unwrap()
        except (OSError, ValueError):
            pass  # the other side had enough
        finally:
            self._open.discard(connection)
            connection.close()

    def _read(self, connection: socket.socket, scheme: str) -> Asked | None:
        """Read a request; None where the other side hangs up."""
        with connection.makefile("rb") as came:
            first, lines = came.readline().decode("latin-1"), []
            while line := came.readline().decode("latin-1").strip():
                lines.append(line.partition(": "))
            if not first:
                return None
            headers = {name.lower(): value for name, _, value in lines}
            body = came.read(int(headers.get("content-length", 0)))
            if headers.get("transfer-encoding") == "chunked":
                while size := int(came.readline(), 16):
                    body += came.read(size + 2)[:size]
                came.readline()
        path, host = first.split(" ")[1], headers.get("host", "")
        return Asked(f"{scheme}://{host}{path}", host, path, headers, body, self.closing)
