"""What sites ask of their readers is heeded."""

import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from web_contacts import only_loopback
from web_server import WebServer, answer, drip, in_turn, redirect

from guardgraph import ReadFailure, WebLimits
from guardgraph.world.deadline import within

nobody_else_is_contacted = pytest.fixture(autouse=True)(only_loopback)

HOSTS = ["a.test", "b.test"]
TIGHT = WebLimits(max_first_byte_seconds=0.3, max_page_seconds=0.6)


def reason_of(read, url="http://a.test/page"):
    """Return why a page cannot be read; None where it can."""
    try:
        read({"url": url, "hosts": HOSTS})
    except ReadFailure as failure:
        return failure.reason
    return None


ROBOTS = [
    (answer("User-agent: *\nDisallow: /\n"), "robots_denied"),
    (answer("User-agent: *\nDisallow: /pa*e$\n"), "robots_denied"),
    (answer("User-agent: guardgraph\nDisallow: /page\n\nUser-agent: *\nAllow: /\n"), "robots_denied"),
    (answer("\ufeffUser-agent: guardgraph\nAllow: /\n\nUser-agent: *\nDisallow: /\n"), None),
    (answer(b"\xff\xfe garbage \x00"), None),
    (answer("no", "404 Not Found"), None),
    (answer("no", "500 Internal Server Error"), "robots_denied"),
    (redirect("/elsewhere.txt"), "robots_denied"),
    (redirect("http://evil.test/robots.txt"), "robots_denied"),
    (answer("x" * 600_000), "robots_denied"),
    (answer("x", content_encoding="br"), "robots_denied"),
    (drip([b"HTTP/1.1 200 OK\r\n", *([b"x: y\r\n"] * 100)]), "timeout"),
    (drip([]), "connection"),
]


@pytest.mark.parametrize(
    ("robots", "reason"), [pytest.param(*row, marks=[pytest.mark.process] if row[1] is None else []) for row in ROBOTS]
)
def test_a_site_says_what_may_be_read(robots, reason):
    """Absent or 4xx allows, 5xx and what cannot be read denies; a page that is denied is not asked for."""
    pages = {"/robots.txt": robots, "/page": answer("here"), "/elsewhere.txt": answer("User-agent: *\nDisallow: /\n")}
    with WebServer(pages) as server:
        assert reason_of(server.reader(robots=True, limits=TIGHT if reason == "timeout" else None)) == reason
    assert ("http://a.test/page" in server.log) == (reason is None)
    assert {*server.resolved} == {"a.test"}


def test_robots_txt_is_asked_for_once():
    with WebServer({"/": answer("here")}, names=HOSTS) as server:
        read = server.reader(robots=True, ssl_context=server.trusting)
        with ThreadPoolExecutor(8) as threads:
            assert [*threads.map(lambda number: reason_of(read, f"http://a.test/?{number}"), range(8))] == [None] * 8
        assert reason_of(read, "https://a.test/") is None
        assert reason_of(read, "http://b.test/") is None
    robots = sorted(url for url in server.log if url.endswith("robots.txt"))
    assert robots == ["http://a.test/robots.txt", "http://b.test/robots.txt", "https://a.test/robots.txt"]
    assert len(server.log) == 13


def test_each_hop_is_allowed_by_its_site():
    pages = {"a.test/page": redirect("http://b.test/page"), "b.test/robots.txt": answer("User-agent: *\nDisallow: /")}
    with WebServer(pages) as server:
        assert reason_of(server.reader(robots=True)) == "robots_denied"
    assert "http://b.test/page" not in server.log


def test_a_failure_of_one_moment_is_not_kept_for_a_day():
    slow = drip([b"HTTP/1.1 200 OK\r\n", *([b"x: y\r\n"] * 100)])
    with WebServer({"/page": answer("here"), "/robots.txt": in_turn(slow, answer(""))}) as server:
        read = server.reader(robots=True, limits=WebLimits(max_page_seconds=1.0))
        assert [reason_of(read), reason_of(read)] == ["timeout", None]


def test_what_the_lists_of_one_run_deny_is_not_kept_for_the_next():
    """And a page says where its robots.txt led, also where that was kept: a what-if of other lists judges it too."""
    pages = {"a.test/robots.txt": redirect("http://b.test/robots.txt"), "/page": answer("here")}
    with WebServer(pages) as server:
        read = server.reader(robots=True)
        with pytest.raises(ReadFailure, match="robots_denied"):
            read({"url": "http://a.test/page", "hosts": ["a.test"]})
        assert server.log == ["http://a.test/robots.txt"]
        for _ in range(2):
            page = read({"url": "http://a.test/page", "hosts": HOSTS})
            urls = ["http://a.test/page", "http://b.test/robots.txt"]
            assert page["hops"] == [{"url": url, "denied": None} for url in urls]


def test_a_page_waits_for_its_turn():
    """As long as the site wants, which the page's own time does not count; and not at all where the run has no time."""
    pages = {"/page": answer("here"), "/robots.txt": answer("User-agent: *\nCrawl-delay: 3")}
    with WebServer(pages) as server:
        read = server.reader(robots=True, limits=WebLimits(max_page_seconds=1.5))
        with within(20.0, time.monotonic, 1_000_000):
            assert [reason_of(read), reason_of(read)] == [None, None]
        assert reason_of(read) == "robots_denied"  # no run, so a page has no longer than its own time
    assert len(server.log) == 3
