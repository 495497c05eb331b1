"""Searches: SearXNG's documented JSON from a server on loopback, and a file of URLs."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from recorded_runs import Kept
from research_cases import QUESTION, RUMORS, SLA, research
from runs import check_result
from tables import each_row
from web_server import WebServer, after, answer, drip, redirect

from guardgraph import ConfigurationError, listed_search, searx_search
from guardgraph.guards.urls import dedupe_found_urls
from guardgraph.plain.errors import ExpectedFailure
from guardgraph.state.research import RESEARCH_REASONS
from guardgraph.tools.recordings import make_recorded_extractor, make_recorded_reader

HIT = {"url": SLA, "title": "Enterprise SLA", "content": "Uptime.", "engine": "mwmbl", "score": 1.0}
ASKED = {"query": "SLA & uptime?", "max_results": 3}


def found(*hits, **more):
    """Return a server's answer in the form of SearXNG's JSON API."""
    return answer(json.dumps({"query": "q", "results": [*hits], **more}), content_type="application/json")


def asked(page, timeout=10.0, request=ASKED, base="", **given):
    """Ask a server whose search answers so; return what came of it, and the server."""
    with WebServer({"/search": page, "/searxng/search": page}) as server:
        search = searx_search(f"http://127.0.0.1:{server.ports[80]}{base}", timeout=timeout, **given)
        try:
            return search(request), server
        except ExpectedFailure as failure:
            return failure, server


def test_a_server_is_asked_by_its_json_api():
    """The question goes to /search in JSON, with the operator's headers; a hit is url, title and snippet."""
    hits, server = asked(found(HIT, {"url": None, "title": 5}, "no hit"), headers={"X-Key": "s3cret"})
    assert hits == [
        {"url": SLA, "title": "Enterprise SLA", "snippet": "Uptime."},
        *([{"url": None, "title": "", "snippet": ""}] * 2),
    ]
    [url] = server.log
    assert url.endswith("/search?q=SLA+%26+uptime%3F&format=json")
    assert server.headers[0]["x-key"] == "s3cret"


@each_row(
    ("page", "reason", "details"),
    [
        (answer("<html>", "403 Forbidden", content_type="text/html"), "http_status", {"status": 403}),
        (answer("<html>", content_type="text/html"), "no_json", {"content_type": "text/html"}),
        (answer(b"\xff\xfe"), "no_json", {}),
        (answer("[" * 100_000), "no_json", {}),
        (answer('{"results": {}}'), "no_json", {}),
        (answer("[]"), "no_json", {}),
        (answer("", "500 Internal Server Error"), "http_status", {"status": 500}),
        (redirect("https://evil.example/search"), "http_status", {"status": 302}),
        (b"no HTTP at all\r\n\r\n", "connection", {}),
        (b"", "connection", {}),
        (answer(b"x" * 16_000_001), "too_large", {"bytes": 16_000_000}),
    ],
)
def test_whatever_else_a_server_says_is_a_clear_failure(page, reason, details):
    """Redirects are not followed; HTML where JSON was due says which setting of SearXNG it is."""
    failure, server = asked(page)
    assert (failure.reason, {name: failure.details[name] for name in details}) == (reason, details)
    assert len(server.log) == 1
    if details.get("status") == 403 or "html" in str(details):
        assert "search.formats" in str(failure)


def test_a_server_that_is_slow_or_away_is_a_failure():
    """The time for an answer is the operator's."""
    assert asked(after(2, found()), timeout=0.1)[0].reason == "timeout"
    with pytest.raises(ExpectedFailure, match="connection"):
        searx_search("http://127.0.0.1:9")(ASKED)


@pytest.mark.parametrize("start", [b"HTTP/1.1 200 OK\r\n", b"HTTP/1.1 200 OK\r\n\r\n"], ids=["head", "body"])
def test_a_server_that_drips_is_a_failure(start):
    """The time holds for a question and its whole answer, not for each piece of it."""
    assert asked(drip([start, *[b"x: y\r\n"] * 100], 0.05), timeout=0.3)[0].reason == "timeout"


@pytest.mark.parametrize("query", ["x" * 70_000, "\ud800", "a\0b", "?&#q=1&format=html"])
def test_any_query_can_be_asked(query):
    """However long it is, and whatever it is made of; it changes nothing else of the question."""
    hits, server = asked(found(HIT), request={**ASKED, "query": query})
    assert len(hits) == 1
    assert server.log[0].endswith("&format=json")


@each_row(
    "url",
    [
        *("", "localhost:8080", "/search", "ftp://localhost", "http://", "http://user:s3cret@localhost:8080"),
        5,
        None,
        "http://localhost:8080/?q=x",
        "http://localhost:8080/#x",
        "file:///etc/passwd",
    ],
)
def test_a_wrong_url_is_named(url):
    """Nothing is asked, and no password is repeated."""
    with pytest.raises(ConfigurationError, match=r"^url: where the SearXNG server is") as raised:
        searx_search(url)
    assert "s3cret" not in str(raised.value)


PARTS = {"reader": make_recorded_reader(), "extractor": make_recorded_extractor()}


def test_a_run_searches_with_searxng():
    """Its hits are judged by the run's lists; no header stands in the result, in the recording or in a repr."""
    kept = Kept()
    with WebServer({"/search": found({"title": "no url"}, {"url": RUMORS}, HIT)}) as server:
        search = searx_search(f"http://127.0.0.1:{server.ports[80]}", headers={"Authorization": "Bearer s3cret"})
        result = check_result(RESEARCH_REASONS, research(search=search, recorder=kept, **PARTS))
    assert result["status"] == "ok"
    assert [item["url"] for item in result["aggregate"]["denied_sources"]] == [RUMORS]
    assert result["dropped_urls"] == ["null"]
    assert "s3cret" not in json.dumps(kept.only) + repr(search)
    assert f"q={QUESTION[:4]}" in server.log[0]


@settings(max_examples=40)
@given(st.lists(st.text(st.characters(codec="utf-8")), max_size=8))
def test_a_file_of_urls_is_read_as_it_is(tmp_path_factory, lines):
    """Any text is a file of URLs, or one without; what is no URL in it is dropped by the run."""
    file = tmp_path_factory.getbasetemp() / "urls.txt"
    file.write_text("\n".join([*lines, SLA]), encoding="utf-8")
    hits = listed_search(file)({"query": "anything", "max_results": 1000})
    assert hits[-1] == {"url": SLA}
    assert SLA in dedupe_found_urls([hit["url"] for hit in hits], max_urls=1000)[0]


@pytest.mark.parametrize("content", [None, b"", b"# nothing\n\n", b"\xff\xfe", b"https://a.example\n" * 100_000])
def test_a_file_without_urls_is_named(tmp_path, content):
    """A file that is missing, blank, no text or too long is an error that names it."""
    file = tmp_path / "urls.txt"
    if content is not None:
        file.write_bytes(content)
    with pytest.raises(ConfigurationError, match=r"urls\.txt"):
        listed_search(file)
