"""The reader of the real web, against a server on loopback: a page, or the listed reason why there is none."""

import gzip
import hashlib
import itertools
import ssl
import sys
import time
import tracemalloc
import zlib
from ipaddress import ip_address

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from web_contacts import only_loopback
from web_server import LOOPBACK, WebServer, after, answer, drip, in_turn, redirect

from guardgraph import ConfigurationError, InputError, ReadFailure, WebLimits, web_reader
from guardgraph.state.research import READ_FAILURES
from guardgraph.web.limits import Meter
from guardgraph.web.transport import unpack_content_encoding
from guardgraph.world.deadline import within

nobody_else_is_contacted = pytest.fixture(autouse=True)(only_loopback)

HOSTS = ["a.test", "b.test"]
TIGHT = {
    name: WebLimits(**{name: seconds})
    for name, seconds in (("max_connect_seconds", 0.3), ("max_first_byte_seconds", 0.3), ("max_page_seconds", 0.6))
}
SMALL = WebLimits(max_wire_bytes=200_000, max_page_bytes=300_000)


def read(server, url, *, hosts=HOSTS, denied=(), limits=SMALL, **arguments):
    """Read a page of the server as a run would; time is short only where that is what is tested."""
    given = {"resolve": server.resolve, "allowed_addresses": LOOPBACK, "limits": limits, "robots": False}
    if server.names:
        given["ssl_context"] = server.trusting
    return web_reader(**(given | arguments))({"url": url, "hosts": hosts, "denied": denied, "limits": {}})


def failure_of(server, url, **arguments):
    """Return the failure of a read, which ends within its caps."""
    began = time.monotonic()
    with pytest.raises(ReadFailure) as raised:
        read(server, url, **arguments)
    assert time.monotonic() - began < 120  # nobody waits for ever
    assert raised.value.reason in READ_FAILURES
    assert raised.value.details["hops"]
    assert raised.value.details["limits"]["max_page_seconds"] > 0
    return raised.value


@pytest.fixture(scope="module")
def nothing():
    with WebServer() as server:
        yield server


def test_a_page_says_how_it_was_read():
    packed = gzip.compress(zlib.compress(b"Refunds take 14 days."))
    with WebServer({"/terms": answer(packed, content_encoding="deflate, gzip")}) as server:
        page = read(server, "http://a.test/terms?x=1#part")
    assert page["body"] == "Refunds take 14 days."
    assert page["final_url"] == "http://a.test/terms?x=1"
    assert page["sha256"] == page["text_sha256"] == hashlib.sha256(b"Refunds take 14 days.").hexdigest()
    assert page["hops"] == [{"url": "http://a.test/terms?x=1", "denied": None}]
    assert page["limits"] == SMALL.plain()
    assert page["fetched_at"].endswith("+00:00")


def test_a_server_is_told_no_more_than_it_needs():
    with WebServer({"/": answer("hello", set_cookie="id=1; Path=/")}) as server:
        reader = web_reader(resolve=server.resolve, allowed_addresses=LOOPBACK, user_agent="tester/1", robots=False)
        for _ in range(2):
            reader({"url": "http://a.test/", "hosts": HOSTS})
    assert server.headers[1] == {
        "host": "a.test",
        "user-agent": "tester/1",
        "accept": server.headers[0]["accept"],
        "accept-encoding": "gzip, deflate",
        "connection": "close",
    }


def test_https_is_read_when_the_server_is_the_host():
    """The name and the certificate are held against the URL's host, whatever address was dialled."""
    with WebServer({"/": answer("secret")}, names=["a.test"]) as server:
        assert read(server, "https://a.test/")["body"] == "secret"
        assert failure_of(server, "https://b.test/").reason == "tls"  # another name
        assert failure_of(server, "https://a.test/", ssl_context=None).reason == "tls"  # nobody known signed it
    assert server.log == ["https://a.test/"]


@pytest.mark.parametrize(
    ("location", "denied"),
    [
        ("http://evil.test/", "source_denied_policy"),
        ("http://169.254.169.254/latest/meta-data/", "source_denied_policy"),
        ("http://[::1]/", "source_denied_policy"),
        ("http://b.test@evil.test/", "source_denied_userinfo"),
        ("http://b.test:8080/", "source_denied_port"),
        ("file:///etc/passwd", "source_denied_scheme"),
        pytest.param("http://b.test\\@evil.test/", None, marks=pytest.mark.process),
        ("http://[", "source_denied_scheme"),
        ("/\t\\evil.test/", "source_denied_policy"),
    ],
)
def test_a_redirect_is_judged_before_it_is_followed(location, denied):
    with WebServer({"/": redirect(location), "b.test/@evil.test/": answer("on b")}) as server:
        if denied is None:  # a backslash is a slash: it stays on the host
            assert read(server, "http://a.test/")["body"] == "on b"
        else:
            failure = failure_of(server, "http://a.test/")
            assert failure.reason == "redirect_denied"
            assert failure.details["hops"][-1]["denied"] == denied
    assert {*server.resolved} <= {*HOSTS}


@pytest.mark.process
@pytest.mark.parametrize("entry", ["domain:b.test", "suffix:test", "b.test"])
def test_a_redirect_is_judged_by_wider_entries(entry):
    """A host under a domain or a suffix on the list is read; a host on the list opens none under it."""
    pages = {"a.test/": redirect("http://sub.b.test/x"), "sub.b.test/x": answer("here")}
    with WebServer(pages) as server:
        if entry != "b.test":
            assert read(server, "http://a.test/", hosts=["a.test", entry])["body"] == "here"
            return
        failure = failure_of(server, "http://a.test/", hosts=["a.test", entry])
        assert failure.details["hops"][-1] == {"url": "http://sub.b.test/x", "denied": "source_denied_policy"}
        assert "sub.b.test" not in server.resolved


def test_a_redirect_into_what_is_denied_is_not_followed():
    with WebServer({"a.test/": redirect("http://sub.b.test/x")}) as server:
        failure = failure_of(server, "http://a.test/", hosts=["suffix:test"], denied=["sub.b.test"])
    assert failure.details["hops"][-1] == {"url": "http://sub.b.test/x", "denied": "source_denied_listed"}
    assert {*server.resolved} <= {"a.test"}


def test_redirects_are_followed_as_the_server_spelled_them():
    pages = {
        "a.test/docs": redirect("/docs/"),
        "a.test/docs/": redirect("//b.test/Docs/?utm_source=a", "301 Moved Permanently"),
        "b.test/Docs/?utm_source=a": redirect("https://b.test/end", "308 Permanent Redirect"),
        "b.test/end": answer("here"),
    }
    with WebServer(pages, names=HOSTS) as server:
        page = read(server, "http://a.test/docs")
    assert [hop["url"] for hop in page["hops"]] == server.log
    assert page["final_url"] == "https://b.test/end"


def test_five_redirects_are_followed_and_no_more():
    pages = {f"/{number}": redirect(f"/{number + 1}") for number in range(10)}
    with WebServer(pages | {"/loop": redirect("/loop"), "/5": answer("five")}) as server:
        assert read(server, "http://a.test/0")["body"] == "five"
        assert failure_of(server, "http://a.test/loop").reason == "too_many_redirects"
    assert server.log.count("http://a.test/loop") == 6


def test_https_never_leads_to_http():
    with WebServer({"/": redirect("http://a.test/plain"), "/plain": answer("plain")}, names=HOSTS) as server:
        failure = failure_of(server, "https://a.test/")
    assert failure.reason == "redirect_denied"
    assert failure.details["hops"][-1] == {"url": "http://a.test/plain", "denied": "https_to_http"}
    assert server.log == ["https://a.test/"]


@pytest.mark.parametrize("addresses", [["169.254.169.254"], ["93.184.215.14", "192.168.0.1"], ["64:ff9b::7f00:1"]])
def test_one_bad_address_denies_the_host(addresses):
    with WebServer(addresses={"a.test": addresses}) as server:
        failure = failure_of(server, "http://a.test/", allowed_addresses=())
    assert failure.reason == "address_denied"
    assert ip_address(failure.details["address"]) == ip_address(addresses[-1])


def test_a_name_is_judged_again_at_every_connection():
    """One that changes its address between two look-ups gets nowhere: what was judged is what is dialled."""
    with WebServer({"/": answer(status="503 Busy", retry_after="0"), "/to": redirect("/")}) as server:
        for path in ("to", ""):
            places = iter([("127.0.0.1", server.ports[80]), ("10.0.0.1", 80)])
            failure = failure_of(
                server, f"http://a.test/{path}", resolve=lambda host, port, places=places: next(places)
            )
            assert failure.reason == "address_denied"
        assert server.log == ["http://a.test/to", "http://a.test/"]


ENDLESS = itertools.repeat(b"x" * 65536)
HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\n"
BOMB = gzip.compress(b"x" * 50_000_000)
TWICE = {"content_encoding": "gzip, gzip"}
SLOW = {
    "head": (after(2.0, answer("late")), "timeout", "max_first_byte_seconds"),
    "dripping head": (drip([HEAD, *([b"x: y\r\n"] * 200)]), "timeout", "max_page_seconds"),
    "endless interim": (drip(itertools.repeat(b"HTTP/1.1 100 Continue\r\n\r\n")), "timeout", "max_page_seconds"),
    "dripping body": (drip([HEAD + b"\r\n", *([b"x"] * 200)]), "timeout", "max_page_seconds"),
    "endless body": (drip(itertools.chain([HEAD + b"\r\n"], ENDLESS), 0), "too_large", "max_wire_bytes"),
    "endless head": (drip(itertools.chain([HEAD + b"x: "], ENDLESS), 0), "too_large", None),
    "bomb": (answer(BOMB, content_encoding="gzip"), "too_large", "max_page_bytes"),
    "nested bomb": (answer(gzip.compress(gzip.compress(b"x" * 5_000_000)), **TWICE), "too_large", "max_page_bytes"),
    "bomb inside": (answer(gzip.compress(gzip.compress(b"") * 100_000), **TWICE), "decompression", None),
}


@pytest.mark.parametrize(("page", "reason", "limit"), SLOW.values(), ids=SLOW.keys())
def test_a_page_that_takes_too_much_is_left(page, reason, limit):
    """Its time, its bytes on the way and its bytes unpacked have ends that no way of sending goes round."""
    with WebServer({"/": page}) as server:
        failure = failure_of(server, "http://a.test/", limits=TIGHT.get(limit, SMALL))
    assert (failure.reason, failure.details.get("limit")) == (reason, limit)


def test_a_bomb_takes_no_more_memory_than_its_limit_and_a_chunk():
    """50 MB that come as 50 kB are never there: what is unpacked at once is less than 1 MiB."""
    with WebServer({"/": answer(BOMB, content_encoding="gzip")}) as server:
        failure_of(server, "http://a.test/")  # what is loaded once
        tracemalloc.start()
        failure_of(server, "http://a.test/")
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
    assert peak < SMALL.max_page_bytes + 1024 * 1024


BROKEN = {
    "nothing": (drip([]), "connection"),
    "garbage": (b"\x00\x01garbage\r\n\r\n", "connection"),
    "shorter than said": (HEAD + b"content-length: 10\r\n\r\nshort", "connection"),
    "two lengths": (HEAD + b"content-length: 1\r\ncontent-length: 5\r\n\r\nhello", "connection"),
    "packed chunks": (HEAD + b"transfer-encoding: gzip, chunked\r\n\r\n0\r\n\r\n", "connection"),
    "another protocol": (b"HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\n\r\n", "connection"),
    "not found": (answer("no", "404 Not Found"), "http_status"),
    "a part": (answer("half", "206 Partial Content", content_range="bytes 0-3/8"), "http_status"),
    "redirect to nowhere": (answer("", "302 Found"), "http_status"),
    "no gzip": (answer("plain", content_encoding="gzip"), "decompression"),
    "gzip cut off": (answer(gzip.compress(b"x" * 100_000)[:60], content_encoding="gzip"), "decompression"),
    "unknown packing": (answer("x", content_encoding="br"), "decompression"),
}


@pytest.mark.parametrize(("page", "reason"), BROKEN.values(), ids=BROKEN.keys())
def test_an_answer_that_is_no_page_has_its_reason(page, reason):
    with WebServer({"/": page}) as server:
        assert failure_of(server, "http://a.test/").reason == reason


def gzip_members(data):
    return gzip.compress(data[:5]) + gzip.compress(data[5:])


PACKERS = {
    "gzip": gzip.compress, "GZIP": gzip_members, "deflate": zlib.compress, "identity": bytes,
    "Deflate": lambda data: zlib.compress(data, wbits=-15),
}  # fmt: skip
SIZES = [256 * 1024 - 1, 256 * 1024, 256 * 1024 + 1, 256 * 1024 + 200]


@settings(max_examples=80, deadline=None)
@given(
    st.binary(max_size=40) | st.sampled_from(SIZES).map(b"x".__mul__),
    st.lists(st.sampled_from([*PACKERS]), max_size=3),
    st.sampled_from([1, 2, 70, 70_000]),
)
def test_a_packed_page_of_any_length_is_unpacked_to_its_end(data, names, step):
    """However it comes, also where all that came is taken in before all is given out; nothing may stand behind it."""
    packed = data
    for name in names:
        packed = PACKERS[name](packed)
    step = max(step, len(packed) // 500)
    pieces = [packed[at : at + step] for at in range(0, len(packed), step)]
    assert b"".join(unpack_content_encoding(iter(pieces), ", ".join(names), Meter(WebLimits()))) == data
    if names and names[-1] != "identity":
        for wrong in ([*pieces, b"?"], [packed[:-1]]):
            with pytest.raises(ReadFailure, match="decompression"):
                list(unpack_content_encoding(iter(wrong), ", ".join(names), Meter(WebLimits())))


def test_a_server_that_is_busy_is_asked_again():
    busy = ("429 Too Many Requests", "502 Bad Gateway", "503 Busy", "504 Late")
    pages = {f"/{said[:3]}": in_turn(answer(status=said, retry_after="0"), answer("then")) for said in busy}
    with WebServer(pages) as server:
        assert [read(server, f"http://a.test{path}")["body"] for path in pages] == ["then"] * 4
    assert len(server.log) == 8


def test_a_broken_connection_is_tried_again():
    made = in_turn(answer(status="500 Broken"), answer("then"))
    with WebServer({"/": in_turn(drip([]), answer("then")), "/made": made}) as server:
        assert read(server, "http://a.test/")["body"] == "then"
        assert failure_of(server, "http://a.test/made").details["status"] == 500
        assert read(server, "http://a.test/made")["body"] == "then"


@pytest.mark.parametrize("wait", ["3600", "Fri, 31 Dec 9999 23:59:59 GMT"])
def test_nobody_waits_longer_than_the_page_may_take(wait):
    with WebServer({"/": answer(status="429 Too Many Requests", retry_after=wait)}) as server:
        failure = failure_of(server, "http://a.test/")
    assert failure.details["status"] == 429
    assert failure.details["retry_after"] >= 3600
    assert len(server.log) == 1


def test_a_host_that_cannot_be_reached(nothing):
    def unknown(host, port):
        raise OSError("no such name")

    for resolve in (unknown, lambda host, port: [], lambda host, port: ("127.0.0.1", 1)):
        assert failure_of(nothing, "http://a.test/", resolve=resolve).reason == "connection"
    tight = TIGHT["max_connect_seconds"]
    slow = failure_of(nothing, "http://a.test/", resolve=lambda host, port: time.sleep(3.0), limits=tight)
    assert (slow.reason, slow.details["limit"]) == ("timeout", "max_connect_seconds")


def test_the_limits_of_a_run_only_tighten(nothing):
    """A reader's own limits hold whatever a run allows, and the smaller one where both say something."""
    reader = web_reader(resolve=nothing.resolve, limits=SMALL)
    with pytest.raises(ReadFailure) as raised:
        reader({"url": "http://a.test/", "hosts": [], "limits": {"max_page_seconds": 99, "max_wire_bytes": 5, "x": 1}})
    held = raised.value.details["limits"]
    assert held == SMALL.plain() | {"max_wire_bytes": 5}


def test_the_time_of_the_run_holds_beside_that_of_the_page():
    slow = drip([b"HTTP/1.1 200 OK\r\n", *([b"x: y\r\n"] * 200)])
    with WebServer({"/": in_turn(answer("no", "404 Not Found"), slow)}) as server:
        failure_of(server, "http://a.test/")  # what is loaded once takes its time
        for seconds in (1.0, 0.0):
            with within(seconds, time.monotonic, 1_000_000), pytest.raises(ReadFailure) as raised:
                read(server, "http://a.test/")
            assert (raised.value.reason, raised.value.details["limit"]) == ("timeout", "max_seconds")
    assert len(server.log) == 2


def test_an_argument_that_is_wrong_is_named():
    unverified = ssl._create_unverified_context()
    for arguments in (
        *({"cache": 5}, {"allowed_addresses": ["everywhere"]}, {"ssl_context": unverified}, {"user_agent": ""}),
        *({"user_agent": "evil\r\nhost: b.test"}, {"robots": "no"}, {"limits": {"max_page_seconds": 1}}),
    ):
        (name,) = arguments
        with pytest.raises(ConfigurationError, match=f"^{name}: "):
            web_reader(**arguments)


@pytest.mark.parametrize("name", ["protego", "stamina"])
def test_a_missing_extra_is_named(name, monkeypatch):
    monkeypatch.setitem(sys.modules, name, None)
    told = rf'extra `web` is required: pip install "guardgraph\[web\]" \(.*{name}'
    with pytest.raises(ConfigurationError, match=told):
        web_reader()


def test_a_request_that_is_none_and_an_address_that_is_none_are_told():
    limits = {"url": "x", "limits": {"max_page_seconds": "x"}}
    for wrong in (None, {}, {"url": "http://a.test", "hosts": "a.test"}, {"url": "x", "hosts": [5]}, limits):
        with pytest.raises(InputError, match=r"^request"):
            web_reader()(wrong)
    request = {"url": "http://a.test/", "hosts": HOSTS}
    for found in (None, "127.0.0.1", ("localhost", 80), ("127.0.0.1", "80"), [("127.0.0.1", 70000)]):
        with pytest.raises(ConfigurationError, match=r"^resolve: "):
            web_reader(resolve=lambda host, port, found=found: found, robots=False)(request)
