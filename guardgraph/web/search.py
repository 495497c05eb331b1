"""Searches of the web: services with an API, SearXNG, a server of the operator's own, and a file of URLs."""

# Sources of the forms of their answers: https://docs.searxng.org, https://docs.tavily.com, https://docs.exa.ai,
# https://api-dashboard.search.brave.com/documentation, https://serper.dev, https://serpapi.com/search-api.

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass
from http import HTTPStatus
from ipaddress import ip_network
from pathlib import Path
from types import MappingProxyType
from typing import Final, Literal
from urllib.parse import urlencode

from ada_url import URL

from guardgraph.plain.errors import ConfigurationError, ExpectedFailure, ReadFailure, explain_unread_file
from guardgraph.plain.extras import explain_extra
from guardgraph.plain.json import JsonObject, JsonValue, NotJson, excerpt_value, format_json_text, parse_json
from guardgraph.plain.scopes import parse_scope
from guardgraph.plain.secrets import MARK, mask_secrets
from guardgraph.plain.urls import parse_url
from guardgraph.plain.version import read_package_version
from guardgraph.state.tightening import explain_unknown_name
from guardgraph.tools.tool import Tool
from guardgraph.web.limits import Meter, WebLimits
from guardgraph.world.call import mark_as_instant
from guardgraph.world.deadline import deadline

MOST_LISTED_BYTES = 1_000_000  # of the file


def listed_search(file: str | os.PathLike[str]) -> Tool:
    """Return a search for `create_research_agent` that finds the URLs in a file, whatever is asked.

    Args:
        file: a URL a line, the best first; blank lines, and lines that begin with ``#``, are left out. It is read now.

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
        raise ConfigurationError(f"file {given!r:.200}: {explain_unread_file(error)}") from error
    urls = [line for line in lines if line and not line.startswith("#")]
    if not urls or len(text) > MOST_LISTED_BYTES:
        found = "none" if not urls else "more"
        required = f"URLs in at most {MOST_LISTED_BYTES} bytes are required"
        raise ConfigurationError(f"file {given!r:.200}: {required}; given: {found}")

    @mark_as_instant
    def find_listed_urls(request: JsonObject) -> list[JsonObject]:
        return [{"url": url} for url in urls[: request["max_results"]]]

    return find_listed_urls


MOST_BYTES: Final = 16_000_000  # of an answer; thousands of hits take a tenth of it
SHOWN_CHARS: Final = 500  # characters of a hit's title and snippet that the run keeps
ANYWHERE: Final = (ip_network("0.0.0.0/0"), ip_network("::/0"))  # the server is the operator's own, wherever it is
JSON_IS_OFF: Final = "let SearXNG answer in JSON: search.formats in its settings.yml"

_TOKEN = re.compile(r"[!#$%&'*+.^_`|~\w-]+", re.ASCII)
"""What names a header (RFC 9110, 5.1)."""
_OF_THE_CONNECTION: Final = frozenset({"connection", "content-length", "host", "transfer-encoding"})
"""Headers that are not the operator's to give: they say how a question comes, and where it goes."""


@dataclass(frozen=True, slots=True)
class Shape:
    """How a search is asked, and where its answer has the hits."""

    query: str
    """The field of the question, as the others of a GET a parameter of the URL and of a POST a key of its JSON."""
    hits: tuple[str, ...]  # the keys that lead to the list of hits
    snippet: str  # of a hit; its title is `title` everywhere
    link: str = "url"  # of a hit
    method: Literal["GET", "POST"] = "GET"
    endpoint: str = ""  # where a service is asked; blank of a server that everybody has their own of
    key_header: str = ""  # the header of the key
    key_prefix: str = ""  # what stands before the key there
    key_field: str = ""  # the field of the key, where it goes into no header
    count: str = ""  # the field of the number of hits
    most: int = 0  # the most that may be asked for
    hosts: str = ""  # the field of names of hosts on which alone is searched
    fixed: tuple[tuple[str, str], ...] = ()  # fields that every question has
    empty: tuple[tuple[str, ...], str] | None = None
    """The keys that lead to what an answer says that rightly has no list of hits, and what it says."""
    unanswered: str = ""  # the key of those who did not answer, where no hits and such are no empty answer


SEARX: Final = Shape(
    query="q", hits=("results",), snippet="content", fixed=(("format", "json"),), unanswered="unresponsive_engines"
)
SERVICES: Final[Mapping[str, Shape]] = MappingProxyType({
    "tavily": Shape(
        "query", ("results",), "content", method="POST", endpoint="https://api.tavily.com/search",
        key_header="Authorization", key_prefix="Bearer ", count="max_results", most=20, hosts="include_domains",
    ),
    "brave": Shape(
        "q", ("web", "results"), "description", endpoint="https://api.search.brave.com/res/v1/web/search",
        key_header="X-Subscription-Token", count="count", most=20, empty=(("type",), "search"),
    ),
    "exa": Shape(
        "query", ("results",), "summary", method="POST", endpoint="https://api.exa.ai/search", key_header="x-api-key",
        count="numResults", most=100, hosts="includeDomains",
    ),
    "serper": Shape(
        "q", ("organic",), "snippet", "link", method="POST", endpoint="https://google.serper.dev/search",
        key_header="X-API-KEY", count="num", most=100,
    ),
    "serpapi": Shape(
        "q", ("organic_results",), "snippet", "link", endpoint="https://serpapi.com/search.json", key_field="api_key",
        count="num", most=100, fixed=(("engine", "google"),), empty=(("search_metadata", "status"), "Success"),
    ),
})  # fmt: skip
"""The services that `web_search` asks."""


def web_search(service: str, key: str, *, url: str | None = None, timeout: float = 10) -> WebSearch:
    """Return a search for `create_research_agent` that asks a service by its API.

    The service is asked at one exact URL, follows no redirect, and is not held against the lists of hosts. What it
    finds is. It sees the question, and tavily and exa the names of the hosts that both lists allow. It needs
    guardgraph's extra `web`.

    Args:
        service: ``"tavily"``, ``"brave"``, ``"exa"``, ``"serper"`` or ``"serpapi"``.
        key: of the service. It is never recorded.
        url: where the service is asked, where that is not at its own address, such as a gateway of yours.
        timeout: seconds for one question and its answer.

    Raises:
        ConfigurationError: an argument is wrong, or the extra is not installed.
    """
    if not isinstance(service, str):
        raise ConfigurationError(f"service: a name; given: {service!r:.80}")
    if (problem := explain_unknown_name(service, [*SERVICES])) is not None:
        raise ConfigurationError(f"service: {problem}")
    if not isinstance(key, str) or not (key.strip() and key.isascii() and key.isprintable()):
        raise ConfigurationError("key: the text of the service's key is required")  # not shown: it is a secret
    shape = SERVICES[service]
    place = shape.endpoint if url is None else _parse_search_url(url, service)
    headers = {shape.key_header: f"{shape.key_prefix}{key.strip()}"} if shape.key_header else {}
    fields = {shape.key_field: key.strip()} if shape.key_field else {}
    name = f"web_search({service!r})"
    return WebSearch(name, shape=shape, url=place, headers=headers, fields=fields, timeout=timeout)


def searx_search(url: str, *, headers: Mapping[str, str] | None = None, timeout: float = 10) -> WebSearch:
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
    place = f"{_parse_search_url(url, 'SearXNG').removesuffix('/search')}/search"
    name = f"searx_search({place.removesuffix('/search')!r})"
    given = {} if headers is None else headers
    if not isinstance(given, Mapping) or not all(map(_is_allowed_header, given.items())):
        raise ConfigurationError("headers: texts of one line by their names are required")  # not shown: they hold keys
    return WebSearch(name, shape=SEARX, url=place, headers=dict(given), fields={}, timeout=timeout)


class WebSearch:
    """A search by a server; `web_search` and `searx_search` make it. It can be called from many threads at once."""

    def __init__(
        self, name: str, *, shape: Shape, url: str, headers: dict[str, str], fields: dict[str, str], timeout: float
    ) -> None:
        if isinstance(timeout, bool) or not isinstance(timeout, int | float) or not 0 < timeout < float("inf"):
            raise ConfigurationError(f"timeout: seconds above 0 are required; given: {timeout!r:.80}")
        try:
            import httpx2  # noqa: F401
        except ImportError as error:
            search = name.partition("(")[0]
            raise ConfigurationError(f"{search}: {explain_extra('web')} ({error})") from error
        self._name, self._shape, self._url = name, shape, url
        self._headers, self._fields, self._timeout = headers, fields, float(timeout)
        self.takes_hosts = bool(shape.hosts)  # whether it is told which hosts both lists allow

    def __repr__(self) -> str:
        return self._name

    def __call__(self, request: JsonObject) -> list[JsonObject]:
        """Search."""
        found = self._ask_search_server(self._make_search_fields(request))
        return [self._parse_search_hit(hit) for hit in self._find_search_hits(found)[: request["max_results"]]]

    def _make_search_fields(self, request: JsonObject) -> JsonObject:
        shape = self._shape
        fields: JsonObject = {shape.query: request["query"], **dict(shape.fixed), **self._fields}
        if shape.count:
            fields[shape.count] = max(1, min(request["max_results"], shape.most))
        scopes = [scope for entry in request.get("hosts", ()) if (scope := parse_scope(entry)) is not None]
        if shape.hosts and scopes:
            fields[shape.hosts] = [scope.name for scope in scopes]
        return fields

    def _find_search_hits(self, found: JsonValue) -> list[JsonValue]:
        """Return the list of hits."""
        shape, hits = self._shape, _follow_answer_keys(found, self._shape.hits)
        said = found if isinstance(found, dict) else {}
        if isinstance(hits, list):
            if not hits and (silent := said.get(shape.unanswered)):
                raise self._make_search_failure("unavailable", said=self._show_answer(silent))
            return hits
        if hits is None and shape.empty is not None and _follow_answer_keys(found, shape.empty[0]) == shape.empty[1]:
            return []
        if wrong := next((said[name] for name in _ERRORS if said.get(name)), None):
            raise self._make_search_failure("unavailable", said=self._show_answer(wrong))
        advice = f"an object with a list of {'.'.join(shape.hits)} is required"
        raise self._make_search_failure("no_json", given=self._show_answer(found), advice=advice)

    def _show_answer(self, value: JsonValue) -> str:
        """Show what a server said, without what it was told in confidence: it may repeat that."""
        text = excerpt_value(value, _READ_CHARS)
        for told in (*self._headers.values(), *self._fields.values()):
            secret = told.removeprefix(self._shape.key_prefix)
            for spelled in (secret, format_json_text(secret)[1:-1]) if len(secret) >= _LEAST_SECRET else ():
                text = text.replace(spelled, MARK)
        return excerpt_value(text)

    def _ask_search_server(self, fields: JsonObject) -> JsonValue:
        seconds = self._timeout
        times = {"max_connect_seconds": seconds, "max_first_byte_seconds": seconds, "max_page_seconds": seconds}
        meter = Meter(WebLimits(**times, max_wire_bytes=MOST_BYTES, max_page_bytes=MOST_BYTES), deadline())
        try:
            status, kind, body = self._fetch_search_reply(fields, meter)
        except ReadFailure as failure:
            raise self._make_search_failure(failure.reason, **failure.details) from None
        advice = {"advice": JSON_IS_OFF} if self._shape is SEARX else {}
        if status != HTTPStatus.OK:
            known = {"status": status, **(advice if status == HTTPStatus.FORBIDDEN else {})}
            raise self._make_search_failure("http_status", **known)
        try:
            return parse_json(body.decode())
        except (NotJson, UnicodeDecodeError):
            raise self._make_search_failure("no_json", content_type=kind[:80], **advice) from None

    def _fetch_search_reply(self, fields: JsonObject, meter: Meter) -> tuple[int, str, bytes]:
        from guardgraph.web.network import Backend
        from guardgraph.web.transport import ACCEPTED, Transport, make_http_request, make_system_ssl_context
        from guardgraph.web.transport import unpack_content_encoding as unpack

        is_post = self._shape.method == "POST"
        asked = "" if is_post else f"?{urlencode(fields, errors='replace')}"
        body = format_json_text(fields).encode() if is_post else b""
        ours = {"Accept": "application/json", "Accept-Encoding": ACCEPTED}
        ours["User-Agent"] = f"guardgraph/{read_package_version()}"
        ours |= {"Content-Type": "application/json"} if is_post else {}
        named = {name.lower() for name in self._headers}
        headers = {name: text for name, text in ours.items() if name.lower() not in named} | self._headers
        request = make_http_request(URL(f"{self._url}{asked}"), headers, body=body)
        transport = Transport(Backend(None, ANYWHERE, meter), make_system_ssl_context())
        with closing(transport), closing(transport.handle_request(request)) as response:
            if response.status_code != HTTPStatus.OK:
                return response.status_code, "", b""
            packings = response.headers.get("content-encoding", "")
            reply = b"".join(unpack(response.iter_raw(), packings, meter))
            return response.status_code, response.headers.get("content-type", ""), reply

    def _make_search_failure(self, reason: str, **details: JsonValue) -> ExpectedFailure:
        server = self._url.removesuffix("/search") if self._shape is SEARX else self._url
        return ExpectedFailure(reason, {"server": server, **details})

    def _parse_search_hit(self, raw: JsonValue) -> JsonObject:
        hit = raw if isinstance(raw, dict) else {}
        url = hit.get(self._shape.link)
        texts = (hit.get(name) for name in ("title", self._shape.snippet))
        title, snippet = (text[:SHOWN_CHARS] if isinstance(text, str) else "" for text in texts)
        return {"url": url if isinstance(url, str) else None, "title": title, "snippet": snippet}


_READ_CHARS: Final = 10_000  # of an answer, of which a failure shows the beginning
_LEAST_SECRET: Final = 6  # characters; what is shorter is no key, and may be a part of any word
_ERRORS: Final = ("error", "detail", "message", "errors")  # keys under which answers say what went wrong


def _follow_answer_keys(value: JsonValue, keys: tuple[str, ...]) -> JsonValue:
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    return value


def _parse_search_url(url: object, server: str) -> str:
    parsed = parse_url(url) if isinstance(url, str) else None
    where = f"url: where the {server} server is"
    if parsed is None or parsed.protocol not in ("http:", "https:"):
        raise ConfigurationError(f"{where}, such as http://localhost:8080; given: {mask_secrets(str(url))!r:.200}")
    if parsed.username or parsed.password or parsed.search or parsed.hash:
        wrong = "without user, query and fragment; what a proxy before it needs goes into headers"
        raise ConfigurationError(f"{where}, {wrong}; given: {mask_secrets(str(url))!r:.200}")
    return f"{parsed.origin}{parsed.pathname.rstrip('/')}"


def _is_allowed_header(item: tuple[object, object]) -> bool:
    if not all(isinstance(text, str) and text.isascii() and text.isprintable() for text in item):
        return False
    name = str(item[0])
    return _TOKEN.fullmatch(name) is not None and name.lower() not in _OF_THE_CONNECTION
