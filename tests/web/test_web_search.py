"""Searches by services, asked of servers on loopback that answer in the shapes which they document."""

import json
from urllib.parse import parse_qs, urlsplit

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from recorded_runs import Kept
from research_cases import RUMORS, SLA, research
from runs import check_result
from tables import each_row
from web_server import WebServer, after, answer, redirect

from guardgraph import ConfigurationError, listed_search, searx_search, web_search
from guardgraph.guards.urls import dedupe_found_urls
from guardgraph.plain.errors import ExpectedFailure
from guardgraph.state.research import RESEARCH_REASONS
from guardgraph.tools.recordings import make_recorded_extractor, make_recorded_reader

KEY = "s3cret-key"
ASKED = {"query": "SLA & uptime?", "max_results": 3, "hosts": ["docs.example.com", "domain:example.org", "suffix:gov"]}
NAMES = ["docs.example.com", "example.org", "gov"]

HITS = {
    "tavily": {"query": "q", "results": [{"title": "SLA", "url": SLA, "content": "Uptime.", "score": 0.8}]},
    "brave": {"type": "search", "web": {"results": [{"title": "SLA", "url": SLA, "description": "Uptime."}]}},
    "exa": {"requestId": "1", "results": [{"id": SLA, "title": "SLA", "url": SLA, "summary": "Uptime."}]},
    "serper": {"organic": [{"title": "SLA", "link": SLA, "snippet": "Uptime.", "position": 1}], "credits": 1},
    "serpapi": {
        "search_metadata": {"status": "Success"},
        "organic_results": [{"position": 1, "title": "SLA", "link": SLA, "snippet": "Uptime."}],
    },
}
EMPTY = {
    "tavily": {"query": "q", "results": []},
    "brave": {"type": "search", "query": {"original": "q"}},
    "exa": {"requestId": "1", "results": []},
    "serper": {"organic": [], "credits": 1},
    "serpapi": {
        "search_metadata": {"status": "Success"},
        "search_information": {"organic_results_state": "Fully empty"},
        "error": "Google hasn't returned any results for this query.",
    },
}
ERRORS = {
    "tavily": {"detail": {"error": "Unauthorized: missing or invalid API key."}},
    "brave": {"type": "ErrorResponse", "error": {"status": 429, "code": "RATE_LIMITED"}},
    "exa": {"requestId": "1", "error": "Invalid API key"},
    "serper": {"message": "Not enough credits", "statusCode": 400},
    "serpapi": {"search_metadata": {"status": "Error"}, "error": "Your account has run out of searches."},
}


def served(body, status="200 OK"):
    return answer(json.dumps(body), status, content_type="application/json")


def ask(make, page, request):
    """Ask a search, made of the address of a server that answers so; return what came of it, and the server."""
    with WebServer({"/search": page}) as server:
        search = make(f"http://127.0.0.1:{server.ports[80]}")
        try:
            return search(request), server
        except ExpectedFailure as failure:
            return failure, server


def asked(service, page, **given):
    return ask(lambda at: web_search(service, KEY, url=f"{at}/search", **given), page, ASKED)


def ask_searx(page, query="SLA & uptime?", **given):
    return ask(lambda at: searx_search(at, **given), page, {"query": query, "max_results": 3})


@each_row(
    ("service", "fields", "header", "before"),
    ("tavily", {"query": "SLA & uptime?", "max_results": 3, "include_domains": NAMES}, "authorization", "Bearer "),
    ("exa", {"query": "SLA & uptime?", "numResults": 3, "includeDomains": NAMES}, "x-api-key", ""),
    ("serper", {"q": "SLA & uptime?", "num": 3}, "x-api-key", ""),
    ("brave", {"q": ["SLA & uptime?"], "count": ["3"]}, "x-subscription-token", ""),
    ("serpapi", {"q": ["SLA & uptime?"], "num": ["3"], "engine": ["google"], "api_key": [KEY]}, None, ""),
)
def test_a_service_is_asked_in_its_own_fields(service, fields, header, before):
    """The key goes where the service wants it; hosts are told by their names, to services that take them."""
    hits, server = asked(service, served(HITS[service]))
    assert hits == [{"url": SLA, "title": "SLA", "snippet": "Uptime."}]
    sent = json.loads(server.bodies[0]) if server.bodies[0] else parse_qs(urlsplit(server.log[0]).query)
    assert sent == fields
    assert header is None or server.headers[0][header] == f"{before}{KEY}"
    assert web_search(service, KEY).takes_hosts == (NAMES in fields.values())


@pytest.mark.parametrize("service", HITS)
def test_an_error_is_unavailable_and_not_empty(service):
    """What the service says of it stands in the details; with an error status, that does."""
    assert asked(service, served(EMPTY[service]))[0] == []
    failure, _ = asked(service, served(ERRORS[service]))
    assert failure.reason == "unavailable"
    assert failure.details["said"]
    failure, _ = asked(service, served(ERRORS[service], "429 Too Many Requests"))
    assert (failure.reason, failure.details["status"]) == ("http_status", 429)


@pytest.mark.parametrize("service", HITS)
def test_no_key_is_shown(service):
    """Neither of a failure nor of the search itself, not even if the server repeats it; no redirect is followed."""
    failure, server = asked(service, redirect("https://evil.example/search"))
    assert (failure.reason, failure.details["status"], len(server.log)) == ("http_status", 302, 1)
    slow, _ = asked(service, after(0.5, served({})), timeout=0.1)
    assert slow.reason == "timeout"
    repeated = [asked(service, served({said: {"asked": {"key": KEY}}}))[0] for said in ("error", "something")]
    assert [each.reason for each in repeated] == ["unavailable", "no_json"]
    for shown in (failure, slow, *repeated, web_search(service, KEY)):
        assert KEY not in f"{shown!r} {shown} {getattr(shown, 'details', '')}"


def test_engines_that_do_not_answer_are_not_an_empty_answer():
    """A SearXNG server with no hits says who did not answer; with hits from others, these are taken."""
    silent = [["duckduckgo", "CAPTCHA"]]
    failure, _ = ask_searx(served({"results": [], "unresponsive_engines": silent}))
    assert (failure.reason, "CAPTCHA" in str(failure)) == ("unavailable", True)
    hits, _ = ask_searx(served({"results": [{"url": SLA}], "unresponsive_engines": silent}))
    assert [hit["url"] for hit in hits] == [SLA]


def test_a_run_searches_by_a_service():
    """Its hits are judged by the run's lists, and no key stands in the recording; an error stops the run."""
    kept = Kept()
    pages = {"/search": served({"results": [{"url": RUMORS}, {"url": SLA}]}), "/broken": served(ERRORS["tavily"])}
    with WebServer(pages) as server:
        at = f"http://127.0.0.1:{server.ports[80]}"
        search, broken = (web_search("tavily", KEY, url=f"{at}/{name}") for name in ("search", "broken"))
        result = check_result(RESEARCH_REASONS, research(search=search, recorder=kept, **PARTS))
        stopped = check_result(RESEARCH_REASONS, research(search=broken, **PARTS))
    assert result["status"] == "ok"
    assert [item["url"] for item in result["aggregate"]["denied_sources"]] == [RUMORS]
    assert KEY not in json.dumps(kept.only)
    assert json.loads(server.bodies[0])["include_domains"] == ["official-status.example.com", "vendor.example.com"]
    assert stopped["stop_reason"] == "tool_invalid_output:search_sources"
    assert "unavailable" in str(stopped["details"])


@each_row(
    ("given", "message"),
    (("tavilly", KEY), r"service: there are tavily, .*did you mean 'tavily'\?"),
    (("tavily", ""), "key: "),
    (("tavily", "s3cret\r\nHost: x"), "key: "),
)
def test_a_wrong_service_or_key_is_named(given, message):
    with pytest.raises(ConfigurationError, match=f"^{message}") as raised:
        web_search(*given)
    assert "s3cret" not in str(raised.value)


HIT = {"url": SLA, "title": "Enterprise SLA", "content": "Uptime.", "engine": "mwmbl", "score": 1.0}


def test_a_server_is_asked_by_its_json_api():
    """The question goes to /search in JSON, with the operator's headers; a hit is url, title and snippet.

    However long it is, and whatever it is made of, it changes nothing else of the question.
    """
    found = served({"results": [HIT, {"url": None, "title": 5}, "no hit"]})
    hits, server = ask_searx(found, headers={"X-Key": "s3cret"})
    none = {"url": None, "title": "", "snippet": ""}
    assert hits == [{"url": SLA, "title": "Enterprise SLA", "snippet": "Uptime."}, none, none]
    [url] = server.log
    assert url.endswith("/search?q=SLA+%26+uptime%3F&format=json")
    assert server.headers[0]["x-key"] == "s3cret"
    for query in ("x" * 70_000, "\ud800", "a\0b", "?&#q=1&format=html"):
        hits, server = ask_searx(found, query)
        assert (len(hits), server.log[0].endswith("&format=json")) == (3, True)


@each_row(
    ("page", "reason", "details"),
    (answer("<html>", "403 Forbidden", content_type="text/html"), "http_status", {"status": 403}),
    (answer("<html>", content_type="text/html"), "no_json", {"content_type": "text/html"}),
    (answer("[" * 100_000), "no_json", {}),
    (answer("[]"), "no_json", {}),
    (redirect("https://evil.example/search"), "http_status", {"status": 302}),
    (b"no HTTP at all\r\n\r\n", "connection", {}),
    (answer(b"x" * 16_000_001), "too_large", {"bytes": 16_000_000}),
)
def test_whatever_else_a_server_says_is_a_clear_failure(page, reason, details):
    """Redirects are not followed; HTML where JSON was due says which setting of SearXNG it is."""
    failure, server = ask_searx(page)
    assert (failure.reason, {name: failure.details[name] for name in details}) == (reason, details)
    assert len(server.log) == 1
    if details.get("status") == 403 or "html" in str(details):
        assert "search.formats" in str(failure)


@each_row(
    "url",
    *("", "localhost:8080", "/search", "ftp://localhost", "http://", "http://user:s3cret@localhost:8080"),
    *(5, None, "http://localhost:8080/?q=x", "http://localhost:8080/#x", "file:///etc/passwd"),
)
def test_a_wrong_url_is_named(url):
    with pytest.raises(ConfigurationError, match=r"^url: where the SearXNG server is") as raised:
        searx_search(url)
    assert "s3cret" not in str(raised.value)


PARTS = {"reader": make_recorded_reader(), "extractor": make_recorded_extractor()}


@settings(max_examples=15)
@given(st.lists(st.text(st.characters(codec="utf-8")), max_size=8))
def test_a_file_of_urls_is_read_as_it_is(tmp_path_factory, lines):
    file = tmp_path_factory.getbasetemp() / "urls.txt"
    file.write_text("\n".join([*lines, SLA]), encoding="utf-8")
    hits = listed_search(file)({"query": "anything", "max_results": 1000})
    assert hits[-1] == {"url": SLA}
    assert SLA in dedupe_found_urls([hit["url"] for hit in hits], max_urls=1000)[0]


def test_a_file_without_urls_is_named(tmp_path):
    file = tmp_path / "urls.txt"
    for content in (None, b"", b"# nothing\n\n", b"\xff\xfe", b"https://a.example\n" * 100_000):
        if content is not None:
            file.write_bytes(content)
        with pytest.raises(ConfigurationError, match=r"urls\.txt"):
            listed_search(file)
