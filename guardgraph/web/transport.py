"""How one URL is asked: without cookies, credentials, proxies or redirects, and over a new connection each time."""

from __future__ import annotations

import ssl
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import cache
from typing import Any

import httpcore2
import httpx2
from ada_url import URL

from guardgraph.plain.errors import ReadFailure
from guardgraph.web.network import Backend

__all__ = ["ASKED_AT", "Transport", "request_to", "system_context"]

ASKED_AT = "guardgraph-asked-at"
"""The header that says when an answer came: a cache keeps it with the answer, and renews it with the answer."""


_ENDS = frozenset({b"content-length", b"transfer-encoding"})
"""Headers by which the end of an answer is known from a connection that broke."""


_ANY = httpx2.URL("http://page/")
"""The URL of all requests: httpx2 would parse each in its own way, so what is dialled and kept goes by extensions."""


def request_to(parsed: URL, headers: Mapping[str, str], **extensions: Any) -> httpx2.Request:
    """Return a request for what was judged, whatever another parser makes of it.

    Args:
        parsed: where it goes.
        headers: beside those that say where it goes, and that one question is asked.
        extensions: more, for a cache.
    """
    host = parsed.hostname.removeprefix("[").removesuffix("]")
    place = httpcore2.URL(
        scheme=parsed.protocol.removesuffix(":").encode(),
        host=host.encode(),
        port=int(parsed.port) if parsed.port else None,
        target=(parsed.pathname + parsed.search).encode("ascii"),
    )
    given = {"Host": parsed.host, **headers, "Connection": "close"}
    return httpx2.Request(
        "GET", _ANY, headers=given, stream=httpx2.ByteStream(b""), extensions={"place": place, **extensions}
    )


@cache
def system_context() -> ssl.SSLContext:
    """Return how servers prove that they are the host, by the certificates of the system alone."""
    return httpx2.create_ssl_context(trust_env=False)


class Transport(httpx2.BaseTransport):
    """Asks for one page.

    Args:
        backend: which dials.
        ssl_context: how servers prove that they are the host.
    """

    def __init__(self, backend: Backend, ssl_context: ssl.SSLContext) -> None:
        self._pool = httpcore2.ConnectionPool(
            ssl_context=ssl_context, network_backend=backend, max_keepalive_connections=0
        )

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        """Ask; the URL is that of the extension ``place``, which was judged, whatever another parser makes of it.

        Raises:
            ReadFailure: nothing came that is an answer.
        """
        with _mapped():
            answer = self._pool.handle_request(
                httpcore2.Request(
                    method=request.method,
                    url=request.extensions["place"],
                    headers=request.headers.raw,
                    extensions={},
                )
            )
        headers = [(name, value) for name, value in answer.headers if name.lower() != ASKED_AT.encode()]
        if not any(name.lower() in _ENDS for name, _ in headers):
            headers.append((b"cache-control", b"no-store"))  # nobody can tell whether it came to its end
        now = datetime.now(UTC).isoformat(timespec="seconds")
        headers.append((ASKED_AT.encode(), now.encode()))
        return httpx2.Response(
            status_code=answer.status,
            headers=headers,
            stream=_Body(answer),
            request=request,
        )

    def close(self) -> None:
        """Hang up."""
        self._pool.close()


class _Body(httpx2.SyncByteStream):
    def __init__(self, answer: httpcore2.Response) -> None:
        self._answer = answer

    def __iter__(self) -> Iterator[bytes]:
        assert isinstance(self._answer.stream, Iterable)
        with _mapped():
            yield from self._answer.stream

    def close(self) -> None:
        self._answer.close()


@contextmanager
def _mapped() -> Iterator[None]:
    """Raise as a `ReadFailure` all that httpcore2 raises; its network is ours, and raises nothing else already."""
    try:
        yield
    except httpcore2.TimeoutException as error:
        raise ReadFailure("timeout", {"cause": f"{error}"[:200]}) from error
    except httpcore2.ProtocolError as error:
        # h11 gives a head that is too long the status that a server would answer with.
        large = error.args and getattr(error.args[0], "error_status_hint", None) == 431
        said = "protocol" if error.args and isinstance(error.args[0], Exception) else "cause"
        raise ReadFailure("too_large" if large else "connection", {said: f"{error}"[:200]}) from error
    except (
        httpcore2.NetworkError,
        httpcore2.UnsupportedProtocol,
        httpcore2.ProxyError,
        httpcore2.ConnectionNotAvailable,
    ) as error:
        raise ReadFailure("connection", {"cause": f"{error}"[:200]}) from error
