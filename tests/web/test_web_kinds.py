"""What a reader is made of, and pages of all kinds, read from a server on loopback."""

import ssl
import sys
import time

import pytest
from pdf_files import pdf_of
from web_contacts import only_loopback
from web_server import LOOPBACK, WebServer, answer, drip

from guardgraph import ConfigurationError, InputError, ReadFailure, web_reader
from guardgraph.world.deadline import within

nobody_else_is_contacted = pytest.fixture(autouse=True)(only_loopback)

REQUEST = {"url": "http://a.test/", "hosts": ["a.test"]}

KINDS = {
    "broken pdf": (answer(b"%PDF-1.7\nbroken", content_type="application/pdf"), "content_type"),
    "no pdf": (answer(b"hello", content_type="application/pdf"), "content_type"),
    "locked pdf": (answer(pdf_of("hello", password="x"), content_type="application/pdf"), "content_type"),
    "cut pdf": (answer(pdf_of("hello")[:300], content_type="application/pdf"), "content_type"),
    "image": (answer(b"\x89PNG\r\n", content_type="image/png"), "content_type"),
    "unnamed": (answer(b"hello", content_type=""), "content_type"),
    "archive": (answer(b"PK\x03\x04", content_type="application/zip"), "content_type"),
    "binary": (answer(b"\x00\x01\x02\x03" * 100, content_type="text/plain"), "content_type"),
    "refused charset": (answer(b"hello", content_type="text/plain; charset=hz-gb-2312"), "charset"),
    "a long text": (answer("word " * 200_000), "too_large"),
}


def read(server, **arguments):
    """Read the server's page."""
    return web_reader(resolve=server.resolve, allowed_addresses=LOOPBACK, robots=False, **arguments)(REQUEST)


@pytest.mark.parametrize(("page", "reason"), KINDS.values(), ids=KINDS.keys())
def test_what_cannot_be_read_as_a_page_has_its_reason(page, reason):
    """Of no type that can be read, broken, locked, too long, or in letters that nobody can tell."""
    with WebServer({"/": page}) as server, pytest.raises(ReadFailure) as raised:
        read(server)
    assert raised.value.reason == reason
    assert raised.value.details["hops"] == [{"url": "http://a.test/", "denied": None}]


def test_the_time_of_the_run_holds_beside_that_of_the_page():
    """The failure names whose time it was."""
    with WebServer({"/": drip([b"HTTP/1.1 200 OK\r\n", *([b"x: y\r\n"] * 200)])}) as server:
        for seconds in (0.3, 0.0):
            with within(seconds, time.monotonic, 1_000_000), pytest.raises(ReadFailure) as raised:
                read(server)
            assert (raised.value.reason, raised.value.details["limit"]) == ("timeout", "max_seconds")
    assert len(server.log) == 1


@pytest.mark.parametrize(
    "arguments",
    [
        {"cache": 5},
        {"resolve": "127.0.0.1"},
        {"allowed_addresses": "127.0.0.1"},
        {"allowed_addresses": ["everywhere"]},
        {"ssl_context": True},
        {"ssl_context": ssl._create_unverified_context()},
        {"user_agent": ""},
        {"user_agent": "evil\r\nhost: b.test"},
        {"user_agent": "žluťoučký"},
        {"robots": "no"},
        {"limits": {"max_page_seconds": 1}},
    ],
    ids=lambda given: " ".join(map(str, given.items()))[:40],
)
def test_an_argument_that_is_wrong_is_named(arguments):
    """When the reader is made, before anything is read."""
    (name,) = arguments
    with pytest.raises(ConfigurationError, match=f"^{name}: "):
        web_reader(**arguments)


@pytest.mark.parametrize("name", ["protego", "stamina"])
def test_a_missing_extra_is_named(name, monkeypatch):
    """It says what to install."""
    monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(
        ConfigurationError, match=rf'extra `web` is required: pip install "guardgraph\[web\]" \(.*{name}'
    ):
        web_reader()


@pytest.mark.parametrize(
    "request_",
    [
        None,
        {},
        {"url": 5},
        {"url": "http://a.test", "hosts": "a.test"},
        {"url": "x", "hosts": [5]},
        {"url": "x", "limits": {"max_page_seconds": "x"}},
    ],
)
def test_a_request_that_is_none_is_told(request_):
    """By hand, anybody can give anything."""
    with pytest.raises(InputError, match=r"^request"):
        web_reader()(request_)


def test_what_resolve_returns_is_looked_at():
    """An operator's function that returns no address is told so."""
    for found in (None, "127.0.0.1", ("localhost", 80), ("127.0.0.1", "80"), [("127.0.0.1", 70000)]):
        with pytest.raises(ConfigurationError, match=r"^resolve: "):
            web_reader(resolve=lambda host, port, found=found: found, robots=False)(REQUEST)
