"""What a URL is, and whether it may be read.

URLs are read as browsers read them (the WHATWG URL standard, https://url.spec.whatwg.org), so that what is
judged here is what a reader will fetch, however the URL was spelled.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import lru_cache
from typing import NamedTuple
from urllib.parse import unquote_plus

from guardgraph.state.hosts import KNOWN_URL_CHARS, KNOWN_URLS, normal_host, parsed_url
from guardgraph.state.memory import remembered
from guardgraph.state.plain import excerpt

__all__ = ["dedupe", "denial", "identity"]

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

SHOWN_URL_CHARS = 200
"""Characters of a dropped URL that a result repeats."""


class _Target(NamedTuple):
    """Where a URL leads."""

    identity: str
    protocol: str
    userinfo: str
    port: str
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
    target = _target(url) if isinstance(url, str) else None
    return target.identity if target is not None else None


def dedupe(urls: Sequence[object], *, max_urls: int) -> tuple[list[str], list[str]]:
    """Keep every URL once.

    Args:
        urls: what a search returned, best first.
        max_urls: how many may survive.

    Returns:
        The identities in the order of their first appearance, at most `max_urls`; and what was dropped as no
        absolute URL with a host, each as text of at most 200 characters.
    """
    identities = [(url, identity(url)) for url in urls]
    survivors = dict.fromkeys(known for _, known in identities if known is not None)
    dropped = [excerpt(url, SHOWN_URL_CHARS) for url, known in identities if known is None]
    return list(survivors)[:max_urls], dropped


def denial(url: str, *, policy: Collection[str], execution: Collection[str]) -> str | None:
    """Say why a URL may not be read.

    A host is on a list when it is exactly one of its names; ``example.com.`` and ``www.example.com`` are
    other hosts than ``example.com``.

    Args:
        url: an identity.
        policy: hosts that may be asked for.
        execution: hosts that may be read now.

    Returns:
        ``source_denied_scheme``, ``_userinfo``, ``_port``, ``_policy`` or ``_execution``, the first that
        holds; None when the URL may be read.
    """
    target = _target(url)
    if target is None or target.protocol not in {"http:", "https:"}:
        return "source_denied_scheme"
    if target.userinfo:
        return "source_denied_userinfo"
    if target.port:
        return "source_denied_port"
    if target.host not in _hosts(tuple(policy)):
        return "source_denied_policy"
    if target.host not in _hosts(tuple(execution)):
        return "source_denied_execution"
    return None


@lru_cache(maxsize=64)
def _hosts(names: tuple[str, ...]) -> frozenset[str | None]:
    return frozenset(map(normal_host, names))


@remembered(texts=KNOWN_URLS, chars=KNOWN_URL_CHARS)
def _target(url: str) -> _Target | None:
    parsed = parsed_url(url)
    if parsed is None:
        return None
    password = f":{parsed.password}" if parsed.password else ""
    userinfo = f"{parsed.username}{password}@" if parsed.username or password else ""
    # The standard lowers the hosts of http and its kin only.
    host = parsed.host.lower()
    path = parsed.pathname.rstrip("/")
    known = f"{parsed.protocol}//{userinfo}{host}{path}{_without_tracking(parsed.search)}"
    return _Target(known, parsed.protocol, userinfo, parsed.port, parsed.hostname)


def _without_tracking(search: str) -> str:
    kept = "&".join(item for item in search[1:].split("&") if not _tracks(item))
    return f"?{kept}" if kept else ""


def _tracks(parameter: str) -> bool:
    name = unquote_plus(parameter.partition("=")[0]).lower()
    return name in TRACKING_PARAMETERS or name.startswith(TRACKING_PREFIXES)
