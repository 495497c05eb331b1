"""What a site asks of its readers: robots.txt (RFC 9309), read through the door of its pages, and kept for a day."""

from __future__ import annotations

import math
import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from guardgraph.plain.errors import ReadFailure
from guardgraph.plain.json import JsonObject
from guardgraph.web.fetch import Hops, Place
from guardgraph.web.limits import Meter, WebLimits

if TYPE_CHECKING:
    from guardgraph.web.fetch import Fetched


DAY = 24 * 60 * 60.0
"""Seconds for which a robots.txt is kept (RFC 9309, 2.4)."""

MINUTE = 60.0
"""Seconds for which nobody asks again for one that could not be read."""

MOST_BYTES = 512 * 1024
"""A larger robots.txt is refused; readers have to take 500 KiB at least (RFC 9309, 2.5)."""

MOST_SITES = 1024
"""Sites whose robots.txt is kept."""

AS_OF_PAGES = frozenset({"address_denied", "connection", "timeout", "tls"})
"""Failures that say something of the host, and so of each of its pages."""

Fetch = Callable[[str, Meter], "Fetched"]


@dataclass
class _Site:
    lock: threading.Lock = field(default_factory=threading.Lock)
    until: float = -math.inf
    rules: Any = None
    """What protego made of robots.txt; None where there is none."""
    unreadable: JsonObject | None = None
    led: list[JsonObject] = field(default_factory=list)
    """Where robots.txt led, behind its own URL."""
    free: float = -math.inf
    """When the next page may be read, where the site wants its readers to wait."""


class Robots:
    """What sites ask of their readers."""

    def __init__(self, user_agent: str) -> None:
        self._user_agent = user_agent
        self._sites: OrderedDict[str, _Site] = OrderedDict()
        self._lock = threading.Lock()

    def wait_for_robots(self, place: Place, meter: Meter, fetch: Fetch, way: Hops) -> list[JsonObject]:
        """Wait for as long as a site wants, and raise where it does not want to be read."""
        site = self._find_robots_site(place.url_origin)
        if not site.lock.acquire(timeout=meter.check_seconds_left()):
            raise meter.make_timeout_failure()
        try:
            if site.until <= time.monotonic():
                self._renew_robots_rules(site, f"{place.url_origin}/robots.txt", meter, fetch)
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

    def _find_robots_site(self, origin: str) -> _Site:
        with self._lock:
            site = self._sites.setdefault(origin, _Site())
            self._sites.move_to_end(origin)
            while len(self._sites) > MOST_SITES:
                self._sites.popitem(last=False)
            return site

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
