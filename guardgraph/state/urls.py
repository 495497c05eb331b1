"""What a URL is.

URLs are read as browsers read them (the WHATWG URL standard, https://url.spec.whatwg.org), so that what is judged is
what a reader will fetch, however the URL was spelled.
"""

from __future__ import annotations

from typing import NamedTuple
from urllib.parse import unquote_plus

from guardgraph.state.hosts import KNOWN_URL_CHARS, KNOWN_URLS, parsed_url
from guardgraph.state.memory import remembered

__all__ = ["Target", "identity", "target"]

TRACKING_PREFIXES = ("utm_", "mtm_")
"""Beginnings of the campaign parameters of Google Analytics and Matomo."""

TRACKING_PARAMETERS = frozenset(
    {
        *("gclid", "gclsrc", "dclid", "gbraid", "wbraid", "gad_source", "srsltid", "_ga", "_gl"),  # Google
        *("fbclid", "igsh", "igshid"),  # Meta
        *("msclkid", "twclid", "ttclid", "li_fat_id", "epik"),  # Microsoft, X, TikTok, LinkedIn, Pinterest
        *("yclid", "ysclid", "_openstat"),  # Yandex
        *("mc_cid", "mc_eid", "mkt_tok", "_hsenc", "_hsmi", "vero_id", "__s"),  # newsletters
        *("oly_anon_id", "oly_enc_id", "wickedid", "rb_clickid"),
        *("ref", "ref_src", "ref_url"),
    }
)
"""Query parameters that say where a reader came from, not what is read.

The common ones, and ids of clicks and mailings; browsers and filter lists such as AdGuard's "URL Tracking
Protection" (https://github.com/AdguardTeam/AdguardFilters) strip them for the same reason.
"""


class Target(NamedTuple):
    """Where a URL leads."""

    identity: str
    """The one spelling under which it counts as itself."""
    serialised: str
    """As it was spelled, in the form of the standard, without a fragment: what is fetched."""
    protocol: str
    userinfo: str
    port: str
    """Of another port than the scheme's."""
    host: str


def identity(url: object) -> str | None:
    """Return the one spelling under which a URL counts as itself.

    Lower-case host (internationalised names as punycode), no fragment, no default port, no slash at the end
    of the path, no tracking parameters; the other parameters stay as they are, in their order.

    Args:
        url: anything that a search returned.

    Returns:
        The spelling, which is its own identity; None for what is no absolute URL with a host.
    """
    known = target(url) if isinstance(url, str) else None
    return known.identity if known is not None else None


@remembered(texts=KNOWN_URLS, chars=KNOWN_URL_CHARS)
def target(url: str) -> Target | None:
    """Return where a URL leads, None for what is no absolute URL with a host."""
    parsed = parsed_url(url)
    if parsed is None:
        return None
    password = f":{parsed.password}" if parsed.password else ""
    userinfo = f"{parsed.username}{password}@" if parsed.username or password else ""
    # The standard lowers the hosts of http and its kin only.
    host = parsed.host.lower()
    path = parsed.pathname.rstrip("/")
    known = f"{parsed.protocol}//{userinfo}{host}{path}{_without_tracking(parsed.search)}"
    serialised = parsed.href.partition("#")[0]
    return Target(known, serialised, parsed.protocol, userinfo, parsed.port, parsed.hostname)


def _without_tracking(search: str) -> str:
    kept = "&".join(item for item in search[1:].split("&") if not _tracks(item))
    return f"?{kept}" if kept else ""


def _tracks(parameter: str) -> bool:
    name = unquote_plus(parameter.partition("=")[0]).lower()
    return name in TRACKING_PARAMETERS or name.startswith(TRACKING_PREFIXES)
