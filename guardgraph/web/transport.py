"""How one URL is asked: without cookies, credentials, proxies or redirects, and over a new connection each time."""

from __future__ import annotations

import ssl
import zlib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import cache
from typing import Any

import httpcore2
import httpx2
from ada_url import URL

from guardgraph.plain.errors import ReadFailure
from guardgraph.web.limits import Meter
from guardgraph.web.network import Backend, Proxy

ACCEPTED = "gzip, deflate"  # what servers are told that may come
PIECE_BYTES = 256 * 1024  # what is unpacked at once
MOST_PACKINGS = 3  # how many times a page may be packed; more than one is a bomb or a mistake already

MOST_MEMBERS = 100  # how many packed pieces may stand one after another; empty ones take time and bring nothing


def unpack_content_encoding(pieces: Iterable[bytes], packings: str, meter: Meter) -> Iterator[bytes]:
    """Undo what the header Content-Encoding says."""
    # Each layer counts by itself, so that a page packed twice cannot swell inside.
    names = [name for item in packings.lower().split(",") if (name := item.strip()) not in {"", "identity"}]
    if len(names) > MOST_PACKINGS or not {*names} <= {"gzip", "x-gzip", "deflate"}:
        raise ReadFailure("decompression", {"encoding": packings[:200], "allowed": ACCEPTED})
    layer = iter(pieces)
    for name in reversed(names):
        layer = _unpack_encoding_layer(layer, name, meter)
    for piece in layer:
        if not names:
            meter.count_page_bytes(len(piece))
        yield piece


def _unpack_encoding_layer(pieces: Iterator[bytes], name: str, meter: Meter) -> Iterator[bytes]:
    undo, members = None, 0
    try:
        for piece in pieces:
            rest, has_more = piece, False
            while rest or has_more:
                if undo is None or undo.eof:  # a page may be several packed one after another (RFC 1952, 2.2)
                    members += 1
                    undo = zlib.decompressobj(_choose_zlib_window(name, rest, members))
                out = undo.decompress(rest, PIECE_BYTES)
                rest = undo.unused_data if undo.eof else undo.unconsumed_tail
                # What was taken in as a whole may not have been given out as a whole.
                has_more = len(out) == PIECE_BYTES and not undo.eof
                meter.count_page_bytes(len(out))
                if out:
                    yield out
    except zlib.error as error:
        raise ReadFailure("decompression", {"encoding": name, "cause": str(error)[:200]}) from error
    if undo is not None and not undo.eof:
        raise ReadFailure("decompression", {"encoding": name, "cause": "it ends before its end"})


def _choose_zlib_window(name: str, start: bytes, members: int) -> int:
    """Return what zlib is to expect: gzip; zlib (RFC 1950), which is what "deflate" means; or what some send."""
    if members > (1 if name == "deflate" else MOST_MEMBERS):
        raise zlib.error("something stands behind its end")
    if name != "deflate":
        return 16 + zlib.MAX_WBITS
    is_zlib = start[0] & 0x0F == 8 and (len(start) < 2 or (start[0] << 8 | start[1]) % 31 == 0)
    return zlib.MAX_WBITS if is_zlib else -zlib.MAX_WBITS


ASKED_AT = "guardgraph-asked-at"
"""The header that says when an answer came: a cache keeps it with the answer, and renews it with the answer."""

_ENDS = frozenset({b"content-length", b"transfer-encoding"})
"""Headers by which the end of an answer is known from a connection that broke."""

_ANY = httpx2.URL("http://page/")
"""The URL of all requests: httpx2 would parse each in its own way, so what is dialled and kept goes by extensions."""


def make_http_request(
    parsed: URL, headers: Mapping[str, str], *, body: bytes = b"", **extensions: Any
) -> httpx2.Request:
    """Return a request for what was judged, whatever another parser makes of it."""
    host = parsed.hostname.removeprefix("[").removesuffix("]")
    scheme, target = parsed.protocol.removesuffix(":").encode(), (parsed.pathname + parsed.search).encode("ascii")
    port = int(parsed.port) if parsed.port else None
    place = httpcore2.URL(scheme=scheme, host=host.encode(), port=port, target=target)
    length = {"Content-Length": str(len(body))} if body else {}
    given = {"Host": parsed.host, **headers, **length, "Connection": "close"}
    method, stream = "POST" if body else "GET", httpx2.ByteStream(body)
    return httpx2.Request(method, _ANY, headers=given, stream=stream, extensions={"place": place, **extensions})


@cache
def make_system_ssl_context() -> ssl.SSLContext:
    """Return how servers prove that they are the host, by the certificates of the system alone."""
    return httpx2.create_ssl_context(trust_env=False)


class Transport(httpx2.BaseTransport):
    """Asks for one page."""

    def __init__(self, backend: Backend, ssl_context: ssl.SSLContext, proxy: Proxy | None = None) -> None:
        given: dict[str, Any] = {
            "ssl_context": ssl_context, "network_backend": backend, "max_keepalive_connections": 0
        }  # fmt: skip
        if proxy is None:
            self._pool = httpcore2.ConnectionPool(**given)
        else:
            self._pool = httpcore2.HTTPProxy(proxy.url, proxy_auth=proxy.authorization, **given)

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        """Ask; the URL is that of the extension ``place``, which was judged, whatever another parser makes of it."""
        assert isinstance(request.stream, Iterable)
        content, place = b"".join(request.stream), request.extensions["place"]
        asked = httpcore2.Request(request.method, place, headers=request.headers.raw, content=content, extensions={})
        with _map_httpcore_errors():
            answer = self._pool.handle_request(asked)
        headers = [(name, value) for name, value in answer.headers if name.lower() != ASKED_AT.encode()]
        if not any(name.lower() in _ENDS for name, _ in headers):
            headers.append((b"cache-control", b"no-store"))  # nobody can tell whether it came to its end
        now = datetime.now(UTC).isoformat(timespec="seconds")
        headers.append((ASKED_AT.encode(), now.encode()))
        return httpx2.Response(status_code=answer.status, headers=headers, stream=_Body(answer), request=request)

    def close(self) -> None:
        """Hang up."""
        self._pool.close()


class _Body(httpx2.SyncByteStream):
    def __init__(self, answer: httpcore2.Response) -> None:
        self._answer = answer

    def __iter__(self) -> Iterator[bytes]:
        assert isinstance(self._answer.stream, Iterable)
        with _map_httpcore_errors():
            yield from self._answer.stream

    def close(self) -> None:
        self._answer.close()


_NO_CONNECTION = (
    httpcore2.NetworkError, httpcore2.UnsupportedProtocol, httpcore2.ProxyError, httpcore2.ConnectionNotAvailable,
)  # fmt: skip


@contextmanager
def _map_httpcore_errors() -> Iterator[None]:
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
    except _NO_CONNECTION as error:
        raise ReadFailure("connection", {"cause": f"{error}"[:200]}) from error
