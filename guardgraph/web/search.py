"""Searches of the web: SearXNG, a server of the operator's own that asks search engines, and a file of URLs.

Source of the form of its answers: https://docs.searxng.org.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from contextlib import closing
from http import HTTPStatus
from ipaddress import ip_network
from pathlib import Path
from typing import Final
from urllib.parse import urlencode

from ada_url import URL

from guardgraph.plain.errors import ConfigurationError, ExpectedFailure, ReadFailure
from guardgraph.plain.json import JsonObject, JsonValue, NotJson, excerpt_value, parse_json
from guardgraph.plain.secrets import mask_secrets
from guardgraph.plain.urls import parse_url
from guardgraph.plain.version import read_package_version
from guardgraph.tools.tool import Tool
from guardgraph.web.limits import Meter, WebLimits
from guardgraph.world.call import mark_as_instant
from guardgraph.world.deadline import deadline

MOST_LISTED_BYTES = 1_000_000
"""Of the file."""


def listed_search(file: str | os.PathLike[str]) -> Tool:
    """Return a search for `create_research_agent` that finds the URLs in a file, whatever is asked.

    Args:
        file: a URL a line, the best first; blank lines, and lines that begin with ``#``, are left out. It is read now.

    Returns:
        ``{"query": str, "max_results": int}`` -> at most `max_results` hits ``{url}``.

    Raises:
        ConfigurationError: the file cannot be read as UTF-8 text, is larger than `MOST_LISTED_BYTES`, or has no URL.
    """
    if not isinstance(file, str | os.PathLike):
        raise ConfigurationError(f"file: the path of a file of URLs is required; given: {file!r:.80}")
    given = os.fspath(file)
    try:
        with Path(file).open("rb") as opened:
            text = opened.read(MOST_LISTED_BYTES + 1)
        lines = [line.strip() for line in text.decode("utf-8-sig").splitlines()]
    except (OSError, ValueError) as error:
        raise ConfigurationError(f"file {given!r:.200}: cannot be read as UTF-8 text: {error}") from error
    urls = [line for line in lines if line and not line.startswith("#")]
    if not urls or len(text) > MOST_LISTED_BYTES:
        found = "none" if not urls else "more"
        raise ConfigurationError(
            f"file {given!r:.200}: URLs in at most {MOST_LISTED_BYTES} bytes are required; given: {found}"
        )

    @mark_as_instant
    def find_listed_urls(request: JsonObject) -> list[JsonObject]:
        return [{"url": url} for url in urls[: request["max_results"]]]

    return find_listed_urls


MOST_BYTES: Final = 16_000_000
"""Of an answer; thousands of hits take a tenth of it."""
SHOWN_CHARS: Final = 500
"""Characters of a hit's title and snippet that the run keeps."""
ANYWHERE: Final = (ip_network("0.0.0.0/0"), ip_network("::/0"))
"""The server is the operator's own, wherever it is."""
JSON_IS_OFF: Final = "let SearXNG answer in JSON: search.formats in its settings.yml"


_TOKEN = re.compile(r"[!#$%&'*+.^_`|~\w-]+", re.ASCII)
"""What names a header (RFC 9110, 5.1)."""
_OF_THE_CONNECTION: Final = frozenset({"connection", "content-length", "host", "transfer-encoding"})
"""Headers that are not the operator's to give: they say how a question comes, and where it goes."""


def searx_search(url: str, *, headers: Mapping[str, str] | None = None, timeout: float = 10) -> SearxSearch:
    """Return a search for `create_research_agent` that asks a SearXNG server by its JSON API.

    The server is the operator's own and may be local: it is asked at this very origin, follows no redirect, and is not
    held against the lists of hosts and addresses. What it finds is. It needs guardgraph's extra `web`.

    Args:
        url: where the server is, such as ``"http://localhost:8080"``; a path before ``/search`` is kept.
        headers: that every question has, such as a key for a proxy before the server. They are never recorded.
        timeout: seconds for one question and its answer.

    Raises:
        ConfigurationError: an argument is wrong, or the extra is not installed.
    """
    if isinstance(timeout, bool) or not isinstance(timeout, int | float) or not 0 < timeout < float("inf"):
        raise ConfigurationError(f"timeout: seconds above 0 are required; given: {timeout!r:.80}")
    try:
        import httpx2  # noqa: F401
    except ImportError as error:
        raise ConfigurationError(
            f"searx_search: guardgraph's extra `web` is required, as in pip install '.[web]' ({error})"
        ) from error
    return SearxSearch(_parse_searx_url(url), _check_searx_headers(headers), float(timeout))


class SearxSearch:
    """A search by a SearXNG server; `searx_search` makes it. It can be called from many threads at once."""

    def __init__(self, endpoint: str, headers: dict[str, str], timeout: float) -> None:
        self._endpoint = endpoint
        self._headers = headers
        self._timeout = timeout

    def __repr__(self) -> str:
        return f"searx_search({self._endpoint.removesuffix('/search')!r})"

    def __call__(self, request: JsonObject) -> list[JsonObject]:
        """Search.

        Args:
            request: ``{"query": str, "max_results": int}``.

        Returns:
            At most `max_results` hits ``{url, title, snippet}`` of the first page, in the server's order. A hit without
            a text as its url has None there, and is dropped by the run.

        Raises:
            ExpectedFailure: ``connection``, ``tls``, ``timeout``, ``http_status``, ``too_large``, ``decompression`` or
                ``no_json``.
        """
        found = self._ask_searx(request["query"])
        hits = found.get("results") if isinstance(found, dict) else None
        if not isinstance(hits, list):
            raise self._make_searx_failure(
                "no_json", given=excerpt_value(found), advice="an object with a list of results is required"
            )
        return [_parse_searx_hit(hit) for hit in hits[: request["max_results"]]]

    def _ask_searx(self, query: str) -> JsonValue:
        seconds = self._timeout
        times = {"max_connect_seconds": seconds, "max_first_byte_seconds": seconds, "max_page_seconds": seconds}
        meter = Meter(WebLimits(**times, max_wire_bytes=MOST_BYTES, max_page_bytes=MOST_BYTES), deadline())
        try:
            status, kind, body = self._fetch_searx_reply(query, meter)
        except ReadFailure as failure:
            raise self._make_searx_failure(failure.reason, **failure.details) from None
        if status != HTTPStatus.OK:
            advice = {"advice": JSON_IS_OFF} if status == HTTPStatus.FORBIDDEN else {}
            raise self._make_searx_failure("http_status", status=status, **advice)
        try:
            return parse_json(body.decode())
        except (NotJson, UnicodeDecodeError):
            raise self._make_searx_failure("no_json", content_type=kind[:80], advice=JSON_IS_OFF) from None

    def _fetch_searx_reply(self, query: str, meter: Meter) -> tuple[int, str, bytes]:
        from guardgraph.web.network import Backend
        from guardgraph.web.transport import (
            ACCEPTED,
            Transport,
            make_http_request,
            make_system_ssl_context,
            unpack_content_encoding,
        )

        asked = urlencode({"q": query, "format": "json"}, errors="replace")
        ours = {
            "Accept": "application/json",
            "Accept-Encoding": ACCEPTED,
            "User-Agent": f"guardgraph/{read_package_version()}",
        }
        named = {name.lower() for name in self._headers}
        headers = {name: text for name, text in ours.items() if name.lower() not in named} | self._headers
        request = make_http_request(URL(f"{self._endpoint}?{asked}"), headers)
        transport = Transport(Backend(None, ANYWHERE, meter), make_system_ssl_context())
        with closing(transport), closing(transport.handle_request(request)) as response:
            if response.status_code != HTTPStatus.OK:
                return response.status_code, "", b""
            packings = response.headers.get("content-encoding", "")
            body = b"".join(unpack_content_encoding(response.iter_raw(), packings, meter))
            return response.status_code, response.headers.get("content-type", ""), body

    def _make_searx_failure(self, reason: str, **details: JsonValue) -> ExpectedFailure:
        return ExpectedFailure(reason, {"server": self._endpoint.removesuffix("/search"), **details})


def _parse_searx_hit(raw: JsonValue) -> JsonObject:
    hit = raw if isinstance(raw, dict) else {}
    url = hit.get("url")
    title, snippet = (_cut_hit_text(hit.get(name)) for name in ("title", "content"))
    return {"url": url if isinstance(url, str) else None, "title": title, "snippet": snippet}


def _cut_hit_text(value: JsonValue) -> str:
    return value[:SHOWN_CHARS] if isinstance(value, str) else ""


def _parse_searx_url(url: object) -> str:
    parsed = parse_url(url) if isinstance(url, str) else None
    if parsed is None or parsed.protocol not in ("http:", "https:"):
        given = mask_secrets(str(url))
        raise ConfigurationError(
            f"url: where the SearXNG server is, such as http://localhost:8080; given: {given!r:.200}"
        )
    if parsed.username or parsed.password or parsed.search or parsed.hash:
        wrong = "without user, query and fragment; what a proxy before it needs goes into headers"
        raise ConfigurationError(f"url: where the SearXNG server is, {wrong}; given: {mask_secrets(str(url))!r:.200}")
    return f"{parsed.origin}{parsed.pathname.rstrip('/').removesuffix('/search')}/search"


def _check_searx_headers(given: object) -> dict[str, str]:
    if given is None:
        return {}
    if not isinstance(given, Mapping) or not all(map(_is_allowed_header, given.items())):
        raise ConfigurationError("headers: texts of one line by their names are required")  # not shown: they hold keys
    return dict(given)


def _is_allowed_header(item: tuple[object, object]) -> bool:
    if not all(isinstance(text, str) and text.isascii() and text.isprintable() for text in item):
        return False
    name = str(item[0])
    return _TOKEN.fullmatch(name) is not None and name.lower() not in _OF_THE_CONNECTION
