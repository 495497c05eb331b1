"""A web on loopback: many names, plain and behind TLS, with pages as they should be and pages that are not."""

import socket
import ssl
import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property

LOOPBACK = ("127.0.0.0/8", "::1/128")
"""What a reader has to allow, so that it may read from here."""


@dataclass
class Asked:
    """A request, as it came."""

    url: str
    host: str
    path: str
    headers: dict[str, str]


Page = bytes | Callable[[socket.socket, Asked], None]
"""A whole answer, or what is done with the connection instead."""


def answer(body: bytes | str = b"", status: str = "200 OK", **headers: str) -> bytes:
    """Return an answer as it goes over the wire, head and body as one: apart, they would cost 40 ms."""
    data = body.encode() if isinstance(body, str) else body
    given = {name.replace("_", "-").lower(): value for name, value in headers.items()}
    known = {"content-type": "text/plain; charset=utf-8", "content-length": str(len(data)), **given}
    head = "".join(f"{name}: {value}\r\n" for name, value in known.items() if value is not None)
    return f"HTTP/1.1 {status}\r\n{head}\r\n".encode("latin-1") + data


def redirect(location: str, status: str = "302 Found", **headers: str) -> bytes:
    return answer(status=status, location=location, **headers)


def after(seconds: float, page: Page) -> Page:
    """Return a page that takes its time."""

    def late(connection: socket.socket, asked: Asked) -> None:
        time.sleep(seconds)
        send(connection, asked, page)

    return late


def in_turn(*pages: Page) -> Page:
    """Return a page that is another one each time; the last one stays."""
    left = list(pages)

    def turn(connection: socket.socket, asked: Asked) -> None:
        send(connection, asked, left.pop(0) if len(left) > 1 else left[0])

    return turn


def drip(data: Iterable[bytes], seconds: float = 0.02) -> Page:
    """Return a page of which a piece comes now and then, until the other side has had enough."""

    def slowly(connection: socket.socket, asked: Asked) -> None:
        for piece in data:
            connection.sendall(piece)
            time.sleep(seconds)

    return slowly


def send(connection: socket.socket, asked: Asked, page: Page) -> None:
    """Send a page, whichever kind it is."""
    if callable(page):
        page(connection, asked)
    else:
        connection.sendall(page)


def _receive(connection: socket.socket, left: int) -> bytes:
    body = b""
    while len(body) < left and (piece := connection.recv(65536)):
        body += piece
    return body


class WebServer:
    """Serves pages by ``host/path`` or by ``/path`` on every host; whatever else is asked for is not found.

    Args:
        pages: the answers.
        names: hosts that have a certificate.
        addresses: hosts that are said to be elsewhere: addresses, with the port that was asked for.
    """

    def __init__(
        self,
        pages: dict[str, Page] | None = None,
        *,
        names: Iterable[str] = (),
        addresses: dict[str, list[str]] | None = None,
    ) -> None:
        self.pages = dict(pages or {})
        self.addresses = dict(addresses or {})
        self.names = tuple(names)
        self.log: list[str] = []
        self.resolved: list[str] = []
        self.headers: list[dict[str, str]] = []
        self.bodies: list[bytes] = []
        self._sockets = [socket.create_server(("127.0.0.1", 0), backlog=1024)]
        if self.names:
            self._sockets.append(socket.create_server(("127.0.0.1", 0), backlog=1024))
        self.ports = {80: self._sockets[0].getsockname()[1], 443: self._sockets[-1].getsockname()[1]}
        self._threads: list[threading.Thread] = []
        self._open: set[socket.socket] = set()

    @cached_property
    def _authority(self):
        import trustme

        return trustme.CA()

    @cached_property
    def trusting(self) -> ssl.SSLContext:
        context = ssl.create_default_context()
        self._authority.configure_trust(context)
        return context

    def resolve(self, host: str, port: int):
        self.resolved.append(host)
        if host in self.addresses:
            return [(address, port) for address in self.addresses[host]]
        return "127.0.0.1", self.ports[port]

    def __enter__(self):
        context = None
        if self.names:
            context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
            self._authority.issue_cert(*self.names).configure_cert(context)
        for number, listening in enumerate(self._sockets):
            self._start(self._accept, listening, context if number else None)
        return self

    def __exit__(self, *raised: object) -> None:
        for one in self._sockets:
            one.shutdown(socket.SHUT_RDWR)  # wakes whoever accepts
            one.close()
        for one in list(self._open):
            one.close()
        for thread in self._threads:
            thread.join(5)

    def _start(self, target: Callable[..., None], *args: object) -> None:
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
            self._answer(connection, "http" if context is None else "https")
            if context is not None:
                connection.unwrap()
        except (OSError, ValueError):
            pass  # the other side had enough
        finally:
            self._open.discard(connection)
            connection.close()

    def _answer(self, connection: socket.socket, scheme: str) -> None:
        head = b""
        while b"\r\n\r\n" not in head:
            piece = connection.recv(65536)
            if not piece:
                return
            head += piece
        first, *lines = head.decode("latin-1").split("\r\n\r\n")[0].split("\r\n")
        begun = head.partition(b"\r\n\r\n")[2]
        headers = {name.lower(): value for name, _, value in (line.partition(": ") for line in lines)}
        path, host = first.split(" ")[1], headers.get("host", "")
        self.bodies.append(begun + _receive(connection, int(headers.get("content-length", 0)) - len(begun)))
        asked = Asked(f"{scheme}://{host}{path}", host, path, headers)
        self.log.append(asked.url)
        self.headers.append(headers)
        bare = path.partition("?")[0]
        found = [self.pages[key] for key in (host + path, path, host + bare, bare) if key in self.pages]
        send(connection, asked, [*found, answer("not here", "404 Not Found")][0])
