"""Whether a URL may be read."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import lru_cache

from guardgraph.plain.json import excerpt_value
from guardgraph.plain.urls import normalise_host, parse_url_target

SHOWN_URL_CHARS = 200
"""Characters of a dropped URL that a result repeats."""


def dedupe_found_urls(urls: Sequence[object], *, max_urls: int) -> tuple[dict[str, str], list[str]]:
    """Keep every URL once.

    Args:
        urls: what a search returned, best first.
        max_urls: how many may survive.

    Returns:
        By identity, in the order of their first appearance, at most `max_urls`: the URL as it was first spelled, in
        the form of the standard and without its fragment. And what was dropped as no absolute URL with a host, each as
        text of at most 200 characters.
    """
    targets = [(url, parse_url_target(url) if isinstance(url, str) else None) for url in urls]
    spelled: dict[str, str] = {}
    for _, known in targets:
        if known is not None and len(spelled) < max_urls:
            spelled.setdefault(known.identity, known.serialised)
    return spelled, [excerpt_value(url, SHOWN_URL_CHARS) for url, known in targets if known is None]


def explain_url_denial(url: str, *, policy: Collection[str], execution: Collection[str]) -> str | None:
    """Say why a URL may not be read.

    A host is on a list when it is exactly one of its names; ``example.com.`` and ``www.example.com`` are
    other hosts than ``example.com``.

    Args:
        url: in any spelling.
        policy: hosts that may be asked for.
        execution: hosts that may be read now.

    Returns:
        ``source_denied_scheme``, ``_userinfo``, ``_port``, ``_policy`` or ``_execution``, the first that
        holds; None when the URL may be read.
    """
    known = parse_url_target(url)
    if known is None or known.protocol not in {"http:", "https:"}:
        return "source_denied_scheme"
    if known.userinfo:
        return "source_denied_userinfo"
    if known.port:
        return "source_denied_port"
    if known.host not in _normalise_allowed_hosts(tuple(policy)):
        return "source_denied_policy"
    if known.host not in _normalise_allowed_hosts(tuple(execution)):
        return "source_denied_execution"
    return None


def list_allowed_hosts(*, policy: Collection[str], execution: Collection[str]) -> list[str]:
    """Return the hosts that stand on both lists, as URLs carry them, sorted.

    Args:
        policy: hosts that may be asked for.
        execution: hosts that may be read now.
    """
    return sorted(
        host
        for host in _normalise_allowed_hosts(tuple(policy)) & _normalise_allowed_hosts(tuple(execution))
        if host is not None
    )


@lru_cache(maxsize=64)
def _normalise_allowed_hosts(names: tuple[str, ...]) -> frozenset[str | None]:
    return frozenset(map(normalise_host, names))
