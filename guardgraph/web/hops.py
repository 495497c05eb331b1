"""The way to a page: every URL on it is judged by the lists before it is asked."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from ada_url import URL

from guardgraph.guards.urls import explain_url_denial
from guardgraph.plain.errors import ReadFailure
from guardgraph.plain.json import JsonObject, excerpt_value
from guardgraph.plain.urls import parse_url

MOST_REDIRECTS = 5
"""Times that a page may lead elsewhere."""

DOWNGRADE = "https_to_http"
"""Why a hop is denied that leads from https to http, whatever the lists say."""

LONGEST_URL = 8_000
"""Characters of a URL; servers take about as much."""


class Place:
    """A URL that may be asked, as what is dialled and sent: made of the same parse by which it was judged."""

    def __init__(self, parsed: URL) -> None:
        self.parsed = parsed
        self.url = parsed.href.partition("#")[0]
        self.scheme = parsed.protocol.removesuffix(":")
        self.host = parsed.hostname

    @property
    def url_origin(self) -> str:
        """Scheme and host; there is no other port than the scheme's."""
        return f"{self.scheme}://{self.host}"


class Hops:
    """The URLs that were asked for one page, or would have been, in their order.

    Args:
        hosts: which may be read now.
    """

    def __init__(self, hosts: Collection[str]) -> None:
        self._hosts = tuple(hosts)
        self._made: list[JsonObject] = []
        self._beside: list[JsonObject] = []

    def enter_first_url(self, url: str) -> Place:
        """Return the place of the URL that was asked for.

        Raises:
            ReadFailure: ``address_denied``, no list has its host, or it is no URL that may be read.
        """
        parsed = parse_url(url)
        if parsed is None:
            raise self._deny_hop("address_denied", excerpt_value(url, 200), "source_denied_scheme")
        return self._judge_hop("address_denied", parsed, None)

    def follow_redirect(self, place: Place, location: str) -> Place:
        """Return where a page leads.

        Args:
            place: the page.
            location: its header, as the server spelled it.

        Raises:
            ReadFailure: ``redirect_denied`` or ``too_many_redirects``.
        """
        try:
            parsed = URL(location, base=place.url)
        except ValueError:
            raise self._deny_hop("redirect_denied", excerpt_value(location, 200), "source_denied_scheme") from None
        if len(self._made) > MOST_REDIRECTS:
            raise ReadFailure(
                "too_many_redirects", {"allowed": MOST_REDIRECTS, "next": excerpt_value(parsed.href, 200)}
            )
        downgrade = DOWNGRADE if place.scheme == "https" and parsed.protocol == "http:" else None
        return self._judge_hop("redirect_denied", parsed, downgrade)

    def add_robots_hops(self, hops: Iterable[JsonObject]) -> None:
        """Take the hops of what was read before the page: where a robots.txt led, which the lists judged too."""
        self._beside += [hop for hop in hops if hop not in self._beside]

    def list_hops(self) -> list[JsonObject]:
        """Return the hops as plain JSON: each URL, and why it was denied, None where it was asked."""
        return [*self._made, *self._beside]

    def _judge_hop(self, reason: str, parsed: URL, denied: str | None) -> Place:
        place = Place(parsed)
        # The whole of it, with user and port: what is dialled has neither.
        denied = explain_url_denial(parsed.href, policy=self._hosts, execution=self._hosts) or denied
        if denied is not None:
            raise self._deny_hop(reason, excerpt_value(place.url, LONGEST_URL), denied)
        if len(place.url) > LONGEST_URL:
            raise ReadFailure("connection", {"cause": f"the URL is longer than {LONGEST_URL} characters"})
        self._made.append({"url": place.url, "denied": None})
        return place

    def _deny_hop(self, reason: str, url: str, denied: str) -> ReadFailure:
        self._made.append({"url": url, "denied": denied})
        return ReadFailure(reason, {"url": url, "denied": denied})
