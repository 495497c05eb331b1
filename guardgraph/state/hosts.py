"""What a host is, read as browsers read it (the WHATWG URL standard, https://url.spec.whatwg.org)."""

from __future__ import annotations

from ada_url import URL

from guardgraph.state.memory import remembered

__all__ = ["KNOWN_URLS", "KNOWN_URL_CHARS", "host_problem", "normal_host", "parsed_url"]

KNOWN_URLS = 1024
KNOWN_URL_CHARS = 500
"""How many URLs are kept with what they are, and how long each may be: every guard of a run judges them again."""

_NO_PART_OF_A_HOST = frozenset("/\\?#@*")
"""Beginnings of a path, a query, a fragment, the end of a user, and the wildcard that no list of exact hosts has."""


def parsed_url(url: str) -> URL | None:
    """Parse an absolute URL with a host; a text with lone surrogates is none (UnicodeEncodeError)."""
    try:
        parsed = URL(url)
    except ValueError:
        return None
    return parsed if parsed.hostname else None


@remembered(texts=KNOWN_URLS, chars=KNOWN_URL_CHARS)
def normal_host(name: str) -> str | None:
    """Return a host's name as URLs carry it, lower-case and punycode, without blanks around; None for no host."""
    parsed = parsed_url(f"https://{name.strip()}")
    return parsed.hostname if parsed is not None and parsed.href == f"https://{parsed.hostname}/" else None


def host_problem(name: str) -> str | None:
    """Say what keeps a text from naming a host and nothing else, None where it does; blanks around it do not count."""
    host, required = name.strip(), "a host alone is required, without scheme, user, port, path or wildcard"
    if _is_host(host):
        return None
    meant = parsed_url(host if "://" in host else f"https://{host}")
    hint = f"; did you mean {meant.hostname!r:.80}?" if meant is not None and _is_host(meant.hostname) else ""
    return f"{required}; given: {name!r:.80}{hint}"


def _is_host(name: str) -> bool:
    has_port = ":" in name.rpartition("]")[2]
    return not (has_port or _NO_PART_OF_A_HOST & set(name)) and normal_host(name) is not None
