"""The reader of the real web: a URL in, a page or the reason why there is none out."""

from __future__ import annotations

import hashlib
import math
import os
import re
import ssl
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from guardgraph.formats.extraction import ExtractionFailed, FailureReason, Kind
from guardgraph.formats.pool import extract
from guardgraph.plain.errors import ConfigurationError, InputError, ReadFailure
from guardgraph.plain.extras import explain_extra
from guardgraph.plain.json import JsonObject
from guardgraph.plain.version import read_package_version
from guardgraph.state.settings import choose_settings
from guardgraph.web.fetch import Enter, Hops, Place
from guardgraph.web.limits import Meter, WebLimits
from guardgraph.web.network import Network, parse_allowed_addresses
from guardgraph.world.deadline import deadline

if TYPE_CHECKING:
    from guardgraph.web.fetch import Fetched, Fetching
    from guardgraph.web.network import Resolve

DAY = 24 * 60 * 60.0  # seconds for which a robots.txt is kept (RFC 9309, 2.4)
MINUTE = 60.0  # seconds for which nobody asks again for one that could not be read
MOST_BYTES = 512 * 1024  # A larger robots.txt is refused; readers have to take 500 KiB at least (RFC 9309, 2.5)
MOST_SITES = 1024  # sites whose robots.txt is kept
AS_OF_PAGES = frozenset({"address_denied", "connection", "timeout", "tls"})
"""Failures that say something of the host, and so of each of its pages."""

Fetch = Callable[[str, Meter], "Fetched"]


@dataclass
class _Site:
    lock: threading.Lock = field(default_factory=threading.Lock)
    until: float = -math.inf
    rules: Any = None  # what protego made of robots.txt; None where there is none
    unreadable: JsonObject | None = None
    led: list[JsonObject] = field(default_factory=list)  # where robots.txt led, behind its own URL
    free: float = -math.inf  # when the next page may be read, where the site wants its readers to wait


class Robots:
    """What sites ask of their readers."""

    def __init__(self, user_agent: str) -> None:
        self._user_agent = user_agent
        self._sites: OrderedDict[str, _Site] = OrderedDict()
        self._lock = threading.Lock()

    def wait_for_robots(self, place: Place, meter: Meter, fetch: Fetch, way: Hops) -> list[JsonObject]:
        """Wait for as long as a site wants, and raise where it does not want to be read."""
        with self._lock:
            site = self._sites.setdefault(place.parsed.origin, _Site())
            self._sites.move_to_end(place.parsed.origin)
            while len(self._sites) > MOST_SITES:
                self._sites.popitem(last=False)
        if not site.lock.acquire(timeout=meter.check_seconds_left()):
            raise meter.make_timeout_failure()
        try:
            if site.until <= time.monotonic():
                self._renew_robots_rules(site, f"{place.parsed.origin}/robots.txt", meter, fetch)
                site.led = way.list_hops()[1:]
            if site.unreadable is not None:
                raise ReadFailure("robots_denied", site.unreadable)
            if site.rules is None:
                return site.led
            if not site.rules.can_fetch(place.url, self._user_agent):
                raise ReadFailure("robots_denied", {"url": place.url, "cause": "robots.txt forbids it"})
            wait = _take_turn_at_site(site, site.rules.crawl_delay(self._user_agent) or 0.0, meter)
        finally:
            site.lock.release()
        if wait > 0:
            time.sleep(wait)
            meter.exclude_site_delay(wait)
        return site.led

    def _renew_robots_rules(self, site: _Site, url: str, meter: Meter, fetch: Fetch) -> None:
        from protego import Protego

        small = WebLimits(max_wire_bytes=MOST_BYTES, max_page_bytes=MOST_BYTES)
        try:
            text = fetch(url, Meter(meter.limits.tightened_by(small), meter.page_seconds_left)).body
        except ReadFailure as failure:
            if failure.reason in AS_OF_PAGES:
                meter.check_seconds_left()
                raise
            absent = failure.reason == "http_status" and 400 <= failure.details["status"] < 500
            site.rules, site.unreadable = None, None if absent else {"url": url, "cause": str(failure)}
            # What the lists of one run denied, those of the next may allow.
            kept = 0.0 if failure.reason == "redirect_denied" else DAY if absent else MINUTE
            site.until = time.monotonic() + kept
        else:
            site.rules, site.unreadable = Protego.parse(text.decode("utf-8-sig", errors="replace")), None
            site.until = time.monotonic() + DAY


def _take_turn_at_site(site: _Site, delay: float, meter: Meter) -> float:
    """Return the seconds until it is the page's turn, and take the turn."""
    now = time.monotonic()
    turn = max(now, site.free)
    if turn - now > meter.max_queue_seconds:
        raise ReadFailure("robots_denied", {"cause": "the site wants a longer wait", "crawl_delay": delay})
    site.free = turn + delay
    return turn - now


MAX_TEXT_CHARS: Final = 500_000
"""Of one page: a novel of some hundred pages. What is longer is no evidence that anybody reads."""

_KINDS: Final[dict[str, Kind]] = {
    "text/html": "html", "application/xhtml+xml": "html", "text/plain": "text", "application/pdf": "pdf",
}  # fmt: skip
"""What is read. Nothing is guessed from the bytes: a page is what its server says that it is."""
_REASONS: Final[dict[FailureReason, str]] = {
    "too_large": "too_large", "timeout": "timeout", "charset": "charset", "binary": "content_type",
    "broken": "content_type", "encrypted": "content_type", "crashed": "content_type", "killed": "killed",
}  # fmt: skip
"""What a reader says where the text of a page cannot be read; of what no parser can read, that its type cannot be."""
_CHARSET = re.compile(r";\s*charset\s*=\s*(?:\"([^\"]*)\"|([^\s;]*))", re.IGNORECASE)
_SHOWN_CHARS: Final = 100


def page_of(body: bytes, content_type: str, *, url: str, seconds: float) -> JsonObject:
    """Return what a page says."""
    kind = content_type.partition(";")[0].strip().lower()
    if kind not in _KINDS:
        raise ReadFailure("content_type", {"content_type": kind[:_SHOWN_CHARS], "allowed": list(_KINDS)})
    named = _CHARSET.search(content_type)
    charset = (named[1] or named[2]) if named else None
    try:
        found = extract(body, _KINDS[kind], charset=charset, url=url, seconds=seconds, max_chars=MAX_TEXT_CHARS)
    except ExtractionFailed as failure:
        details: JsonObject = {"content_type": kind, "cause": failure.reason, **failure.details}
        raise ReadFailure(_REASONS[failure.reason], details) from failure
    published = found.declared_date or found.guessed_date
    page: JsonObject = {
        "title": found.title, "published_at": published, "body": found.text, "declared_date": found.declared_date
    }  # fmt: skip
    if found.extraction:
        page["extraction"] = found.extraction
    if _KINDS[kind] == "pdf":
        page["pages"] = [list(place) for place in found.pages]
    if found.linked_hosts is not None:
        page["linked_hosts"] = [*found.linked_hosts]
    return page


def web_reader(
    *,
    cache: str | os.PathLike[str] | None = None,
    resolve: Resolve | None = None,
    allowed_addresses: Iterable[str | Network] = (),
    ssl_context: ssl.SSLContext | None = None,
    user_agent: str | None = None,
    robots: bool = True,
    limits: WebLimits | None = None,
    proxy: str | None = None,
) -> WebReader:
    """Return a reader of the real web, for `create_research_agent`. It needs guardgraph's extra `web`.

    It reads what the lists of the run allow, hop by hop, and only from addresses of the public internet. Cookies,
    credentials, and the proxies of the environment are not used.

    Args:
        cache: a file in which pages are kept for as long as their servers say, for one domain of trust, as one tenant.
        resolve: where a host and a port are to be found, as an address and a port or several, which are judged as what
            the system says; the system when None.
        allowed_addresses: networks that pages may be read from though they are not public, such as ``"127.0.0.0/8"``.
        ssl_context: how servers prove that they are the host; by the system's certificates when None.
        user_agent: the name under which pages are read, also for robots.txt; guardgraph's own when None.
        robots: whether robots.txt is heeded.
        limits: what one page may take; a run's budget may say less, never more.
        proxy: a proxy of the company, ``"http://proxy.example.com:3128"``, through which all pages are read. It looks
            names up, so nobody here judges their addresses; addresses and private names are refused before.

    Raises:
        ConfigurationError: an argument is wrong, or the extra is not installed.
    """
    networks = parse_allowed_addresses(allowed_addresses)
    if resolve is not None and not callable(resolve):
        raise ConfigurationError(f"resolve: a function of a host and a port is required; given: {resolve!r:.80}")
    if not isinstance(robots, bool):
        raise ConfigurationError(f"robots: True or False is required; given: {robots!r:.80}")
    agent = _check_user_agent(user_agent)
    limits = choose_settings(WebLimits(), limits, "limits")
    fetching = _make_fetching(cache, resolve, networks, _check_ssl_context(ssl_context), agent)
    if proxy is not None:
        from guardgraph.web.network import parse_proxy

        if resolve is not None:
            raise ConfigurationError("resolve, proxy: not both; with a proxy, it looks names up")
        fetching.proxy = parse_proxy(proxy)
    return WebReader(fetching, Robots(agent) if robots else None, limits)


class WebReader:
    """A reader of the real web; `web_reader` makes it. It can be called from many threads at once."""

    def __init__(self, fetching: Fetching, robots: Robots | None, limits: WebLimits) -> None:
        self._fetching, self._robots, self._limits = fetching, robots, limits

    def __call__(self, request: JsonObject) -> JsonObject:
        """Read a page."""
        url, lists, asked = _parse_read_request(request)
        try:
            limits = self._limits.within(asked)
        except ValueError:
            raise InputError(f"request.limits: numbers of at least 0 are required; given: {asked!r:.200}") from None
        hops, meter = Hops(**lists), Meter(limits, deadline())
        try:
            fetched = self._fetching.fetch_page(url, hops, meter, self._make_robots_check(hops, lists))
            seconds = meter.check_seconds_left()
            page = page_of(fetched.body, fetched.content_type, url=fetched.url, seconds=seconds)
        except ReadFailure as failure:
            known = {"hops": hops.list_hops(), "limits": meter.limits.plain()}
            raise ReadFailure(failure.reason, {**failure.details, **known}) from failure
        return {
            **page, "final_url": fetched.url, "fetched_at": fetched.fetched_at,
            "sha256": hashlib.sha256(fetched.body).hexdigest(),
            "text_sha256": hashlib.sha256(page["body"].encode()).hexdigest(),
            "hops": hops.list_hops(), "limits": meter.limits.plain(),
        }  # fmt: skip

    def close(self) -> None:
        """Close the cache; the reader can still be called, without it."""
        if self._fetching.cache is not None:
            self._fetching.cache.close()
            self._fetching.cache = None

    def _make_robots_check(self, hops: Hops, lists: Mapping[str, Collection[str]]) -> Enter | None:
        if (robots := self._robots) is None:
            return None

        def check_robots_of_site(place: Place, meter: Meter) -> None:
            way = Hops(**lists)
            fetch = partial(self._fetching.fetch_page, hops=way, kept=False)
            hops.add_hops_beside(robots.wait_for_robots(place, meter, lambda url, small: fetch(url, meter=small), way))

        return check_robots_of_site


def _parse_read_request(request: Any) -> tuple[str, dict[str, tuple[str, ...]], JsonObject]:
    match request:
        case {"url": str(url)}:
            lists, limits = {name: request.get(name, ()) for name in ("hosts", "denied")}, request.get("limits") or {}
        case _:
            raise InputError(f"request: a dictionary with a url is required; given: {request!r:.80}")
    for name, hosts in lists.items():
        if not isinstance(hosts, list | tuple) or not all(isinstance(host, str) for host in hosts):
            raise InputError(f"request.{name}: a list of hosts is required; given: {hosts!r:.80}")
    if not isinstance(limits, dict):
        raise InputError(f"request.limits: a dictionary is required; given: {limits!r:.80}")
    return url, {name: tuple(hosts) for name, hosts in lists.items()}, limits


def _make_fetching(
    cache: object, resolve: Resolve | None, networks: tuple[Network, ...], context: ssl.SSLContext | None, agent: str
) -> Fetching:
    if cache is not None and not isinstance(cache, str | os.PathLike):
        raise ConfigurationError(f"cache: the path of a file is required; given: {cache!r:.80}")
    try:
        import protego  # noqa: F401
        import stamina  # noqa: F401

        from guardgraph.web.fetch import Cache, Fetching
    except ImportError as error:
        raise ConfigurationError(f"web_reader: {explain_extra('web')} ({error})") from error
    return Fetching(resolve, networks, context, agent, Cache(cache) if cache is not None else None)


def _check_user_agent(given: object) -> str:
    if given is None:
        return f"guardgraph/{read_package_version()}"
    if not isinstance(given, str) or not given.strip() or not given.isascii() or not given.isprintable():
        raise ConfigurationError(f"user_agent: a name of printable ASCII letters is required; given: {given!r:.80}")
    return given.strip()


def _check_ssl_context(context: object) -> ssl.SSLContext | None:
    if context is None:
        return None
    if not isinstance(context, ssl.SSLContext):
        raise ConfigurationError(f"ssl_context: an ssl.SSLContext is required; given: {type(context).__name__}")
    if context.verify_mode != ssl.CERT_REQUIRED or not context.check_hostname:
        raise ConfigurationError("ssl_context: it has to require certificates and to check their host names")
    return context
