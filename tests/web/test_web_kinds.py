"""What a reader is made of, and pages of all kinds, read from a server on loopback."""

import ssl
import sys
import time

import pytest
from web_contacts import only_loopback
from web_server import LOOPBACK, WebServer, answer, drip, in_turn

from guardgraph import ConfigurationError, InputError, ReadFailure, web_reader
from guardgraph.world.deadline import within

nobody_else_is_contacted = pytest.fixture(autouse=True)(only_loopback)

REQUEST = {"url": "http://a.test/", "hosts": ["a.test"]}


def read(server, **arguments):
    """Read the server's page."""
    return web_reader(resolve=server.resolve, allowed_addresses=LOOPBACK, robots=False, **arguments)(REQUEST)


def test_the_time_of_the_run_holds_beside_that_of_the_page():
    slow = drip([b"HTTP/1.1 200 OK\r\n", *([b"x: y\r\n"] * 200)])
    with WebServer({"/": in_turn(answer("here"), slow)}) as server:
        read(server)  # what is loaded once takes its time
        for seconds in (1.0, 0.0):
            with within(seconds, time.monotonic, 1_000_000), pytest.raises(ReadFailure) as raised:
                read(server)
            assert (raised.value.reason, raised.value.details["limit"]) == ("timeout", "max_seconds")
    assert len(server.log) == 2


@pytest.mark.parametrize(
    "arguments",
    [
        {"cache": 5},
        {"allowed_addresses": ["everywhere"]},
        {"ssl_context": ssl._create_unverified_context()},
        {"user_agent": "evil\r\nhost: b.test"},
        {"user_agent": "žluťoučký"},
        {"robots": "no"},
        {"limits": {"max_page_seconds": 1}},
    ],
    ids=lambda given: " ".join(map(str, given.items()))[:40],
)
def test_an_argument_that_is_wrong_is_named(arguments):
    (name,) = arguments
    with pytest.raises(ConfigurationError, match=f"^{name}: "):
        web_reader(**arguments)


@pytest.mark.parametrize("name", ["protego", "stamina"])
def test_a_missing_extra_is_named(name, monkeypatch):
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
        {"url": "http://a.test", "hosts": "a.test"},
        {"url": "x", "hosts": [5]},
        {"url": "x", "limits": {"max_page_seconds": "x"}},
    ],
)
def test_a_request_that_is_none_is_told(request_):
    with pytest.raises(InputError, match=r"^request"):
        web_reader()(request_)


def test_what_resolve_returns_is_looked_at():
    for found in (None, "127.0.0.1", ("localhost", 80), ("127.0.0.1", "80"), [("127.0.0.1", 70000)]):
        with pytest.raises(ConfigurationError, match=r"^resolve: "):
            web_reader(resolve=lambda host, port, found=found: found, robots=False)(REQUEST)
