"""How a page is fetched: each hop judged, each answer counted, redirects followed by hand."""

from __future__ import annotations

import sqlite3
import ssl
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import httpx2

from guardgraph.plain.errors import ReadFailure
from guardgraph.web.addresses import Network
from guardgraph.web.cache import BrokenCache, Cache, key_of
from guardgraph.web.hops import Hops, Place
from guardgraph.web.limits import Meter
from guardgraph.web.network import Backend, Resolve
from guardgraph.web.retry import retried, seconds_of
from guardgraph.web.transport import ASKED_AT, Transport, request_to, system_context
from guardgraph.web.unpacking import ACCEPTED, unpacked

__all__ = ["Fetched", "Fetching"]

READ = frozenset({200, 203})
"""The statuses that come with the page itself; 206 would be a part of it."""

LEADS_ON = frozenset({301, 302, 303, 307, 308})
"""The statuses that come with another URL."""

REDIRECT_BYTES = 64 * 1024
"""What is read of a redirect's own text, so that it can be kept."""

ACCEPT = "text/html, application/xhtml+xml, application/pdf, text/plain;q=0.9, */*;q=0.1"


class Fetched(NamedTuple):
    """A page as it came."""

    url: str
    """The last of its hops."""
    body: bytes
    content_type: str
    fetched_at: str
    """When the server last said that this is the page, ISO 8601 in UTC."""


class _Answer(NamedTuple):
    status: int
    headers: httpx2.Headers
    body: bytes


@dataclass
class Fetching:
    """What all pages of a reader are fetched with."""

    resolve: Resolve | None
    allowed: tuple[Network, ...]
    context: ssl.SSLContext | None
    user_agent: str
    cache: Cache | None

    def page(
        self,
        url: str,
        hops: Hops,
        meter: Meter,
        enter: Callable[[Place, Meter], None] | None = None,
        *,
        kept: bool = True,
    ) -> Fetched:
        """Fetch a page.

        Args:
            url: where it is.
            hops: judges, and keeps the way.
            meter: what the page may take.
            enter: raises where a site does not want to be read by us, and waits where it wants that.
            kept: whether the page may come from the cache, and go there.

        Raises:
            ReadFailure: there is no such page.
        """
        place = hops.first(url)
        while True:
            if enter is not None:
                enter(place, meter)
            answer = retried(partial(self._asked, place, meter, self.cache if kept else None), meter)
            location = answer.headers.get("location")
            if answer.status in READ:
                kind = answer.headers.get("content-type", "")
                return Fetched(place.url, answer.body, kind, answer.headers[ASKED_AT])
            place = hops.next(place, location or "")

    def _asked(self, place: Place, meter: Meter, cache: Cache | None) -> _Answer:
        try:
            return self._answer(place, meter, cache)
        except BrokenCache:
            return self._answer(place, meter, None)

    def _answer(self, place: Place, meter: Meter, cache: Cache | None) -> _Answer:
        backend = Backend(self.resolve, self.allowed, meter)
        with closing(Transport(backend, self.context or system_context())) as transport:
            asking = transport if cache is None else cache.around(transport)
            with closing(asking.handle_request(self._request(place))) as response:
                return _read(response, meter, keep=cache is not None)

    def _request(self, place: Place) -> httpx2.Request:
        headers = {"User-Agent": self.user_agent, "Accept": ACCEPT, "Accept-Encoding": ACCEPTED}
        return request_to(place.parsed, headers, **key_of(place.url))


def _read(response: httpx2.Response, meter: Meter, *, keep: bool) -> _Answer:
    status, headers = response.status_code, response.headers
    pieces = response.iter_raw()
    if response.extensions.get("caching", {}).get("from_cache"):
        pieces = _counted(pieces, meter)
    if status in READ:
        body = bytearray()
        for piece in unpacked(pieces, headers.get("content-encoding", ""), meter):
            body += piece
        return _Answer(status, headers, bytes(body))
    if status in LEADS_ON and "location" in headers:
        left = REDIRECT_BYTES if keep else 0
        for piece in pieces if left else ():
            left -= len(piece)
            if left <= 0:
                break
        return _Answer(status, headers, b"")
    after = seconds_of(headers.get("retry-after"))
    raise ReadFailure("http_status", {"status": status, "retry_after": after})


def _counted(pieces: Iterator[bytes], meter: Meter) -> Iterator[bytes]:
    try:
        for piece in pieces:
            meter.received(len(piece))
            yield piece
    except (sqlite3.Error, RuntimeError) as error:
        raise BrokenCache from error
