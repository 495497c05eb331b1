"""However a URL is spelled, and whatever a server sends: what is judged is what is dialled, and nothing else raises."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from web_contacts import contacts
from web_server import WebServer, answer, redirect

from guardgraph import ReadFailure, WebLimits
from guardgraph.guards.urls import explain_url_denial
from guardgraph.plain.urls import normalise_host, parse_url
from guardgraph.state.research import READ_FAILURES

HOSTS = ("a.test", "bücher.test", "a_b.test", "xn--a.test")
SCHEMES = ["http://", "HTTP://", "http:/", "http:", "http:\\\\", "https://", " \thttp://", "//", "ftp://", "ht\ntp://"]
USERS = ["", "", "", "user@", "user:word@", "a.test@", "a.test%40", ":@", "@", "a.test:80@"]
NAMES = [
    *("a.test", "A.TEST", "a.test.", "ａ.test", "a。test", "a%2etest", "a.te\tst", "%61.test", "a..test", "a.test%00"),
    *("bücher.test", "BÜCHER.test", "xn--bcher-kva.test", "a_b.test", "xn--a.test", "evil.test", "a.test.evil.test"),
    *("a.test\\.evil.test", "localhost", "", "a" * 300, "١.test", "a\u00adb.test", "a.test\u200b", "ﬀ.test"),
]
ADDRESSES = [
    *("127.0.0.1", "127.1", "0x7f.1", "0x7f000001", "017700000001", "2130706433", "127.0.0.1.", "①②⑦.0.0.1"),
    *("[::1]", "[0:0:0:0:0:0:0:1]", "[::ffff:127.0.0.1]", "[::127.0.0.1]", "[64:ff9b::7f00:1]", "169.254.169.254"),
    *("0", "0.0.0.0", "10.0.0.1", "0xa9fea9fe", "[fe80::1]", "255.255.255.255", "224.0.0.1", "192.168.257"),
]
PORTS = ["", "", "", ":80", ":443", ":", ":0080", ":8080", ":99999", ":٨٠", ":-1"]
TAILS = [
    *("", "/", "/x?y=1#z", "/../x", "/%2e%2e/x", "/./%2E/", "\\evil.test", "/\\evil.test/", "//evil.test/", "/a b"),
    *("?q=ü", "?'\"<>", "#@evil.test", "/%zz", "/\x00", "/\ud800", "/x\r\nHost: evil.test", "/x y HTTP/1.1"),
    *("@evil.test", ":80@evil.test/", "/|^{}`[]", "/%0d%0a", "/\u2028", "/😀", "?a=1&utm_source=b", "/;p=1"),
]
LIMITS = WebLimits(max_page_seconds=10.0)
SPELLED = st.tuples(*map(st.sampled_from, (SCHEMES, USERS, NAMES, PORTS, TAILS))).map("".join)


@pytest.fixture(scope="module")
def web():
    with WebServer({"/": answer("here")}, names=["a.test", "bücher.test"]) as server:
        server.pages = Everywhere()
        yield server


@pytest.fixture(scope="module")
def reader(web):
    return web.reader(ssl_context=web.trusting, limits=LIMITS)


class Everywhere(dict):
    """A page for whatever is asked, and one that leads on."""

    start = b""

    def __contains__(self, path):
        return True

    def __getitem__(self, path):
        return self.start if path.startswith("start.test") else answer("here")


def _refused(page):
    is_tls = isinstance(page, ReadFailure) and page.reason == "tls"
    return {parse_url(page.details["hops"][-1]["url"]).hostname} if is_tls else set()


def asked_by(web, read, request):
    """Return the names that were looked up, the URLs that were asked, and what was contacted."""
    web.log.clear()
    web.resolved.clear()
    with contacts() as seen:
        try:
            page = read(request)
        except ReadFailure as failure:
            page = failure
    return page, list(web.resolved), list(web.log), seen


@settings(max_examples=200)
@given(st.one_of(SPELLED, st.text(max_size=30).map("http://".__add__), st.text(max_size=30)))
def test_what_is_judged_is_what_is_dialled(web, reader, url):
    """A URL that the lists allow is asked at its host with its path; of any other not even the name is looked up."""
    page, resolved, log, seen = asked_by(web, reader, {"url": url, "hosts": list(HOSTS)})
    parsed = parse_url(url)
    if parsed is None or explain_url_denial(parsed.href, policy=HOSTS, execution=HOSTS) is not None:
        assert page.reason == "address_denied"
        assert (resolved, log, seen) == ([], [], [])
        return
    assert {*resolved} == {parsed.hostname} <= {*map(normalise_host, HOSTS)}
    assert {*log} <= {parsed.href.partition("#")[0]}
    assert log or page.reason == "tls"
    assert {place[0] for place in seen} == {"127.0.0.1"}


@settings(max_examples=100)
@given(SPELLED)
def test_a_redirect_is_judged_as_it_is_dialled(web, reader, location):
    if {"\r", "\n", "\x00", "\ud800"} & {*location}:
        return  # no server can send it
    web.pages.start = redirect(location.encode().decode("latin-1"))
    page, resolved, log, _ = asked_by(web, reader, {"url": "http://start.test/", "hosts": [*HOSTS, "start.test"]})
    assert {*resolved} <= {"start.test", *map(normalise_host, HOSTS)}
    assert {parse_url(url).hostname for url in log} == {*resolved} - _refused(page)
    if isinstance(page, ReadFailure):
        assert page.reason in {"redirect_denied", "too_many_redirects", "tls", "connection", "http_status"}


def test_an_address_in_any_spelling_is_judged_as_the_address_that_it_is(web):
    read = web.reader(allowed_addresses=(), limits=LIMITS)
    for address in ADDRESSES:
        url = f"http://{address}/"
        hosts = [parse_url(url).hostname] if parse_url(url) else [address]
        page, *contacted = asked_by(web, read, {"url": url, "hosts": hosts})
        assert (page.reason, contacted) == ("address_denied", [[], [], []]), address


LETTERS = st.text(st.characters(max_codepoint=255), max_size=40).map(lambda text: text.encode("latin-1"))
HEADERS = [
    *(b"content-length: 5", b"content-length: 99", b"content-length: -1", b"transfer-encoding: chunked"),
    *(b"content-encoding: gzip", b"content-encoding: deflate, gzip", b"content-encoding: \xff", b"location: \xff"),
    *(b"content-type: text/plain", b"content-type: text/html;charset=\xff", b"content-type: \xff\x00", b"x\x00: y"),
    *(b"retry-after: \xb2", b"cache-control: max-age=\xff", b"date: Fri, 99 Foo 99999", b"guardgraph-asked-at: x"),
    *(b"set-cookie: a=b", b"connection: upgrade", b"upgrade: h2c", b"vary: *", b" folded", b": nameless"),
]
ANSWERS = st.tuples(
    st.sampled_from([b"HTTP/1.1 200 OK", b"HTTP/1.0 200", b"HTTP/1.1 302 x", b"HTTP/1.1 304 x", b"HTTP/9.9 999 x"]),
    st.lists(st.one_of(st.sampled_from(HEADERS), LETTERS), max_size=4).map(b"\r\n".join),
    st.one_of(st.just(b"hello"), st.just(b"5\r\nhello\r\n0\r\n\r\n"), LETTERS),
).map(lambda parts: parts[0] + b"\r\n" + parts[1] + b"\r\n\r\n" + parts[2])


@pytest.fixture(scope="module")
def kept(web, tmp_path_factory):
    return web.reader(cache=tmp_path_factory.mktemp("kept") / "pages.sqlite", limits=LIMITS)


@settings(max_examples=100)
@given(ANSWERS)
def test_whatever_a_server_sends_is_a_page_or_a_listed_failure(web, reader, kept, data):
    web.pages.start = data
    for read in (reader, kept):
        page, *_ = asked_by(web, read, {"url": "http://start.test/", "hosts": ["start.test"]})
        if isinstance(page, ReadFailure):
            assert page.reason in READ_FAILURES
        else:
            assert page["hops"] == [{"url": "http://start.test/", "denied": None}]
            assert page["fetched_at"].endswith("+00:00")
