"""A web on loopback: many names, plain and behind TLS, with pages as they should be and pages that are not."""

import socket
import ssl
from collections.abc import Callable, Iterable
from functools import cached_property
from typing import Any

from loopback import Asked, LoopbackServer

LOOPBACK = ("127.0.0.0/8", "::1/128")
"""What a reader has to allow, so that it may read from here."""


Page = bytes | Callable[[socket.socket, Asked], None]
"""A whole answer, or what is done with the connection instead."""


def answer(body: bytes | str = b"", status: str = "200 OK", **headers: str) -> bytes:
    """Return an answer as it goes over the wire, head and body as one: apart, they would cost 40 ms."""
    data = body.encode() if isinstance(body, str) else body
    given = {name.replace("_", "-").lower(): value for name, value in headers.items()}
    known = {"content-type": "text/plain; charset=utf-8", "content-length": str(len(data)), **given}
    head = "".join(f"{name}: {value}\r\n" for name, value in known.items() if value is not None)
    return f"HTTP/1.1 {status}\r\n{head}\r\n".encode("latin-1") + data


def kept(page: Page) -> Page:
    """Return a page behind which the connection is kept for a next request."""

    def keep(connection: socket.socket, asked: Asked) -> None:
        asked.keeps = True
        send(connection, asked, page)

    return keep


def redirect(location: str, status: str = "302 Found", **headers: str) -> bytes:
    return answer(status=status, location=location, **headers)


def after(seconds: float, page: Page) -> Page:
    """Return a page that takes its time."""

    def late(connection: socket.socket, asked: Asked) -> None:
        if asked.pause(seconds):
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
            if not asked.pause(seconds):
                return

    return slowly


def send(connection: socket.socket, asked: Asked, page: Page) -> None:
    """Send a page, whichever kind it is."""
    if callable(page):
        page(connection, asked)
    else:
        connection.sendall(page)


class WebServer(LoopbackServer):
    """Serves pages by ``host/path`` or ``/path``; `names` have a certificate, `addresses` are said to be elsewhere."""

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
        secure = None
        if self.names:
            secure = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
            self._authority.issue_cert(*self.names).configure_cert(secure)
        super().__init__(None, *([secure] if secure else []))
        self.ports = {80: self.bound[0], 443: self.bound[-1]}

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

    def reader(self, **arguments: Any) -> Any:
        """Return a reader of the pages of this server, which asks for no robots.txt if nothing else is said."""
        from guardgraph import web_reader

        return web_reader(**{"resolve": self.resolve, "allowed_addresses": LOOPBACK, "robots": False, **arguments})

    def handle(self, connection: socket.socket, asked: Asked) -> None:
        self.bodies.append(asked.body)
        self.log.append(asked.url)
        self.headers.append(asked.headers)
        bare = asked.path.partition("?")[0]
        keys = (asked.host + asked.path, asked.path, asked.host + bare, bare)
        found = [self.pages[key] for key in keys if key in self.pages]
        send(connection, asked, [*found, answer("not here", "404 Not Found")][0])
