"""How a page is fetched: each hop judged by the lists, each answer counted, redirects followed by hand."""

from __future__ import annotations

import hashlib
import logging
import os
import random
import sqlite3
import ssl
import weakref
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import NamedTuple, TypeVar

import httpx2
from ada_url import URL

from guardgraph.guards.urls import explain_url_denial
from guardgraph.plain.errors import ConfigurationError, ReadFailure
from guardgraph.plain.json import JsonObject, excerpt_value
from guardgraph.plain.sqlite import keep_file_private, make_private_file
from guardgraph.plain.urls import parse_url
from guardgraph.web.limits import Meter
from guardgraph.web.network import Backend, Network, Proxy, ProxyBackend, Resolve
from guardgraph.web.transport import (
    ACCEPTED,
    ASKED_AT,
    Transport,
    make_http_request,
    make_system_ssl_context,
    unpack_content_encoding,
)
from guardgraph.world.failures import parse_retry_after

MOST_BYTES = 512 * 1024 * 1024  # how large the file may become; what was not read for longest goes first
_ENTRIES = "entries"  # A table of hishel's: a database that has tables, and not this one, is something else


class BrokenCache(Exception):
    """What was kept of a page can no longer be read; the page itself may."""


class Cache:
    """One file of pages. Whoever may write it says what a page is, so it belongs to one domain of trust."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        from hishel import CacheOptions, SqliteStorage

        # It says what went wrong with the file in tracebacks, and goes on without it.
        logging.getLogger("hishel").addHandler(_UNSHOWN)
        connection = _open_cache_file(path)
        self._close = weakref.finalize(self, connection.close)
        # Given a path, it would write a .gitignore beside the file.
        self._storage = SqliteStorage(connection=connection, max_size=MOST_BYTES)
        self._options = CacheOptions(shared=False)
        try:
            self._storage.get_entries("")  # makes the tables
            keep_file_private(Path(path).absolute())
        except (RuntimeError, OSError) as error:
            self._close()
            raise ConfigurationError(f"cache: {os.fspath(path)!r:.200} is no cache of pages: {error}") from None

    def wrap_http_transport(self, transport: httpx2.BaseTransport) -> httpx2.BaseTransport:
        """Return a transport that asks only for what is not kept; closing it would close the file for all."""
        from hishel.httpx2 import CacheTransport

        return CacheTransport(transport, self._storage, self._options)

    def close(self) -> None:
        """Close the file; what is read from then on is read from the web."""
        self._close()


def _open_cache_file(path: str | os.PathLike[str]) -> sqlite3.Connection:
    file = Path(path).absolute()
    if not file.parent.is_dir():
        raise ConfigurationError(f"cache: the folder {str(file.parent)!r:.200} does not exist")
    connection = None
    try:
        make_private_file(file)
        connection = sqlite3.connect(file, timeout=5.0, check_same_thread=False, isolation_level=None)
        connection.execute("BEGIN IMMEDIATE")  # says whether it is a database, and whether it can be written
        names = {name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
        connection.execute("ROLLBACK")
        if names and _ENTRIES not in names:
            raise sqlite3.DatabaseError("it holds other tables")
    except (sqlite3.Error, OSError) as error:
        if connection is not None:
            connection.close()
        raise ConfigurationError(f"cache: {str(file)!r:.200} cannot be used as a cache of pages: {error}") from None
    return connection


MOST_REDIRECTS = 5  # times that a page may lead elsewhere
DOWNGRADE = "https_to_http"  # why a hop is denied that leads from https to http, whatever the lists say
LONGEST_URL = 8_000  # characters of a URL; servers take about as much


class Place(NamedTuple):
    """A URL that may be asked, as what is dialled and sent: made of the same parse by which it was judged."""

    parsed: URL
    url: str  # without a fragment


Enter = Callable[[Place, Meter], None]  # is told of each place before it is asked, and raises where it must not be


class Hops:
    """The URLs that were asked for one page, or would have been, in their order."""

    def __init__(self, hosts: Collection[str], denied: Collection[str] = ()) -> None:
        self._hosts = tuple(hosts)
        self._denied = tuple(denied)
        self._made: list[JsonObject] = []
        self._beside: list[JsonObject] = []

    def enter_first_url(self, url: str) -> Place:
        """Return the place of the URL that was asked for."""
        parsed = parse_url(url)
        if parsed is None:
            raise self._deny_hop("address_denied", excerpt_value(url, 200), "source_denied_scheme")
        return self._judge_hop("address_denied", parsed, None)

    def follow_redirect(self, place: Place, location: str) -> Place:
        """Return where a page leads."""
        try:
            parsed = URL(location, base=place.url)
        except ValueError:
            raise self._deny_hop("redirect_denied", excerpt_value(location, 200), "source_denied_scheme") from None
        if len(self._made) > MOST_REDIRECTS:
            details = {"allowed": MOST_REDIRECTS, "next": excerpt_value(parsed.href, 200)}
            raise ReadFailure("too_many_redirects", details)
        downgrade = DOWNGRADE if place.parsed.protocol == "https:" and parsed.protocol == "http:" else None
        return self._judge_hop("redirect_denied", parsed, downgrade)

    def add_hops_beside(self, hops: Iterable[JsonObject]) -> None:
        """Take the hops of what was read beside the page, which the lists judged too."""
        self._beside += [hop for hop in hops if hop not in self._beside]

    def list_hops(self) -> list[JsonObject]:
        """Return the hops as plain JSON: each URL, and why it was denied, None where it was asked."""
        return [*self._made, *self._beside]

    def _judge_hop(self, reason: str, parsed: URL, denied: str | None) -> Place:
        place = Place(parsed, parsed.href.partition("#")[0])
        # The whole of it, with user and port: what is dialled has neither.
        listed = {"policy": self._hosts, "execution": self._hosts, "denied": self._denied}
        denied = explain_url_denial(parsed.href, **listed) or denied
        if denied is not None:
            raise self._deny_hop(reason, excerpt_value(place.url, LONGEST_URL), denied)
        if len(place.url) > LONGEST_URL:
            raise ReadFailure("connection", {"cause": f"the URL is longer than {LONGEST_URL} characters"})
        self._made.append({"url": place.url, "denied": None})
        return place

    def _deny_hop(self, reason: str, url: str, denied: str) -> ReadFailure:
        self._made.append({"url": url, "denied": denied})
        return ReadFailure(reason, {"url": url, "denied": denied})


ATTEMPTS = 3  # how often one URL is asked at most
FIRST_WAIT = 0.1  # seconds before the second attempt; each further wait is three times as long
BUSY = frozenset({429, 502, 503, 504})  # what a server answers that may answer with the page in a moment
_UNSHOWN = logging.NullHandler()

Answer = TypeVar("Answer")


def retry_page_fetch(ask: Callable[[], Answer], meter: Meter) -> Answer:
    """Ask until there is an answer, as long as that is worth it and the page has time."""
    import stamina

    logging.getLogger("stamina").addHandler(_UNSHOWN)  # or Python itself prints what it says
    waits = iter([FIRST_WAIT * 3**number for number in range(ATTEMPTS)])

    def find_retry_wait(error: Exception) -> bool | float:
        seconds = _choose_retry_seconds(error, next(waits))
        return seconds if seconds is not None and seconds < meter.page_seconds_left else False

    for attempt in stamina.retry_context(on=find_retry_wait, attempts=ATTEMPTS, timeout=None):
        with attempt:
            return ask()
    raise AssertionError("the last attempt returns or raises")


def _choose_retry_seconds(error: Exception, otherwise: float) -> float | None:
    if not isinstance(error, ReadFailure):
        return None
    otherwise *= random.uniform(1.0, 1.5)  # so that many who were sent away together do not come back together
    if error.reason == "connection" and "protocol" not in error.details:  # who speaks no HTTP will not learn it now
        return otherwise
    if error.reason == "http_status" and error.details["status"] in BUSY:
        after = error.details["retry_after"]
        return otherwise if after is None else after
    return None


READ = frozenset({200, 203})  # the statuses that come with the page itself; 206 would be a part of it
LEADS_ON = frozenset({301, 302, 303, 307, 308})  # the statuses that come with another URL
REDIRECT_BYTES = 64 * 1024  # what is read of a redirect's own text, so that it can be kept
ACCEPT = "text/html, application/xhtml+xml, application/pdf, text/plain;q=0.9, */*;q=0.1"


class Fetched(NamedTuple):
    """A page as it came."""

    url: str  # the last of its hops
    body: bytes
    content_type: str
    fetched_at: str  # when the server last said that this is the page, ISO 8601 in UTC


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
    cache: Cache | None  # where every answer that a page is made of is kept, those that lead on too
    proxy: Proxy | None = None  # through which all pages are read

    def fetch_page(
        self, url: str, hops: Hops, meter: Meter, enter: Enter | None = None, *, kept: bool = True
    ) -> Fetched:
        """Fetch a page."""
        place = hops.enter_first_url(url)
        while True:
            if enter is not None:
                enter(place, meter)
            ask = partial(self._request_cached_page, place, meter, self.cache if kept else None)
            answer = retry_page_fetch(ask, meter)
            if answer.status in READ:
                kind = answer.headers.get("content-type", "")
                return Fetched(place.url, answer.body, kind, answer.headers[ASKED_AT])
            place = hops.follow_redirect(place, answer.headers.get("location") or "")

    def _request_cached_page(self, place: Place, meter: Meter, cache: Cache | None) -> _Answer:
        try:
            return self._request_page(place, meter, cache)
        except BrokenCache:
            return self._request_page(place, meter, None)

    def _request_page(self, place: Place, meter: Meter, cache: Cache | None) -> _Answer:
        if self.proxy is not None:
            self.proxy.check_host(place.parsed.hostname, self.allowed)
        backend = Backend(self.resolve, self.allowed, meter) if self.proxy is None else ProxyBackend(meter)
        with closing(Transport(backend, self.context or make_system_ssl_context(), self.proxy)) as transport:
            asking = transport if cache is None else cache.wrap_http_transport(transport)
            headers = {"User-Agent": self.user_agent, "Accept": ACCEPT, "Accept-Encoding": ACCEPTED}
            caching = {"key": hashlib.sha256(place.url.encode()).hexdigest()}  # by the URL as it was judged
            request = make_http_request(place.parsed, headers, caching=caching)
            with closing(asking.handle_request(request)) as response:
                return _read_http_response(response, meter, keep=cache is not None)


def _read_http_response(response: httpx2.Response, meter: Meter, *, keep: bool) -> _Answer:
    status, headers = response.status_code, response.headers
    pieces = response.iter_raw()
    if response.extensions.get("caching", {}).get("from_cache"):
        pieces = _count_cached_bytes(pieces, meter)
    if status in READ:
        body = bytearray()
        for piece in unpack_content_encoding(pieces, headers.get("content-encoding", ""), meter):
            body += piece
        return _Answer(status, headers, bytes(body))
    if status in LEADS_ON and "location" in headers:
        left = REDIRECT_BYTES if keep else 0
        for piece in pieces if left else ():
            left -= len(piece)
            if left <= 0:
                break
        return _Answer(status, headers, b"")
    after = parse_retry_after(headers.get("retry-after", ""))
    raise ReadFailure("http_status", {"status": status, "retry_after": after})


def _count_cached_bytes(pieces: Iterator[bytes], meter: Meter) -> Iterator[bytes]:
    try:
        for piece in pieces:
            meter.count_wire_bytes(len(piece))
            yield piece
    except (sqlite3.Error, RuntimeError) as error:
        raise BrokenCache from error
