"""A browser tells what of a page is seen: no script runs in it, it dials nothing, and it is ended when it hangs."""

from __future__ import annotations

import json
import os
import signal
import socket
import threading
import time
from contextlib import suppress

import pytest
from rendered_pages import HIDDEN, HOST, SHOWN, html, renderer, seen_in
from web_contacts import only_loopback
from web_server import LOOPBACK, WebServer, answer, redirect

from guardgraph import ConfigurationError, ReadFailure, WebLimits, web_reader
from guardgraph.formats.frames import receive_all, send_all
from guardgraph.web import browser, render

pytest.importorskip("playwright.sync_api", reason="playwright is not installed: pip install playwright")
pytestmark = [pytest.mark.heavy, pytest.mark.process]

only_loopback = pytest.fixture(autouse=True)(only_loopback)
renderer = pytest.fixture(scope="module")(renderer)

OTHER = "other.example.com"
LIMITS = WebLimits(max_page_seconds=120.0)


def served(body: str, head: str = "") -> bytes:
    """Return a page as it goes over the wire."""
    return answer(html(body, head), content_type="text/html; charset=utf-8")


@pytest.fixture
def reading(chromium):
    """Return a function that reads a page of a server in the browser."""
    readers = []

    def _read(server, url=f"http://{HOST}/page", hosts=(HOST,), **settings):
        given = {"resolve": server.resolve, "allowed_addresses": LOOPBACK, "limits": LIMITS, "robots": False}
        if not readers:
            readers.append(web_reader(render=chromium, **given | settings))
        return readers[0]({"url": url, "hosts": list(hosts)})

    yield _read
    for reader in readers:
        reader.close()


def test_numbers_and_rows_are_read_as_without_a_browser(renderer):
    """Footnotes stay apart from numbers, cells from cells; a number that lacks a digit is no number."""
    sheet = "<style>.n{vertical-align:super}.w{color:#fff}</style>"
    assert "15³" in seen_in(renderer, f"{sheet}<p>15<a class=n>3</a></p>")
    assert "15 3" in seen_in(renderer, "<p>15<b style='display:inline-block'>3</b></p>")
    assert "| a | b" in seen_in(renderer, "<table><tr><td>a<td>b</table>")
    assert "157" not in seen_in(renderer, f"{sheet}<p>15<b class=w>3</b>7</p>")


def test_a_sheet_of_the_site_hides_and_one_of_another_host_is_refused(reading):
    """What the lists allow decides what is seen; what they do not allow is never asked for."""
    links = f"<link rel=stylesheet href=/a.css><link rel=stylesheet href=//{OTHER}/b.css>"
    body = f"<p class=a>{HIDDEN}</p><p class=b>Refunds take thirty days.</p>"
    pages = {
        "/page": served(body, links),
        "/a.css": answer(".a{display:none}", content_type="text/css"),
        "/b.css": answer(".b{display:none}", content_type="text/css"),
    }
    with WebServer(pages) as server:
        page = reading(server)
    assert "canary" not in page["body"]
    assert "Refunds take thirty days." in page["body"]
    assert server.log == [f"http://{HOST}/page", f"http://{HOST}/a.css"]
    assert {"url": f"http://{OTHER}/b.css", "denied": "source_denied_policy"} in page["hops"]


class Counted:
    """A server of this machine that only counts who connects."""

    def __init__(self) -> None:
        self.listening = socket.create_server(("127.0.0.1", 0))
        self.port = self.listening.getsockname()[1]
        self.contacts = 0
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self.listening.accept()
            except OSError:
                return
            self.contacts += 1
            connection.close()

    def close(self) -> None:
        self.listening.shutdown(socket.SHUT_RDWR)
        self.listening.close()


@pytest.fixture
def counted():
    """A server that nobody may contact."""
    server = Counted()
    yield server
    server.close()


REACHING = [
    "<img src={to}>",
    "<img srcset='{to} 2x'>",
    "<picture><source srcset={to}><img src={to}></picture>",
    "<link rel=stylesheet href={to}>",
    "<style>@import '{to}';</style>",
    "<p style='background:url({to})'>a</p>",
    "<style>@font-face{{font-family:x;src:url({to})}}p{{font-family:x}}</style>",
    "<iframe src={to}></iframe>",
    "<iframe srcdoc='<img src={to}>'></iframe>",
    "<object data={to}></object>",
    "<embed src={to}>",
    "<video src={to} poster={to} autoplay></video>",
    "<audio src={to} autoplay preload=auto></audio>",
    "<meta http-equiv=refresh content='0;url={to}'>",
    "<link rel=prefetch href={to}>",
    "<link rel=preload as=image href={to}>",
    "<link rel=preconnect href={to}>",
    "<link rel=dns-prefetch href={to}>",
    "<link rel=prerender href={to}>",
    "<link rel=icon href={to}>",
    "<link rel=manifest href={to}>",
    "<link rel=modulepreload href={to}>",
    "<script src={to}></script>",
    "<script>fetch('{to}');new WebSocket('{to}'.replace('http','ws'));navigator.sendBeacon('{to}')</script>",
    "<base href={to}><img src=a.png>",
    "<form action={to}><input autofocus></form>",
    "<a ping={to} href={to}>a</a>",
    "<svg><image href={to} /><use href='{to}#a'/></svg>",
    "<input type=image src={to}>",
    "<body background={to}>",
    "<p onmouseover=\"location='{to}'\">a</p>",
    "<frameset><frame src={to}></frameset>",
]


def test_a_page_reaches_nothing(reading, counted):
    """By no element, style, refresh or script: a foreign host, a private address and a port are contacted by nobody."""
    targets = (f"http://127.0.0.1:{counted.port}/x", f"http://{OTHER}/x", "http://inside.example.com/x")
    pages = {
        f"/{number}": served("".join(way.format(to=to) for to in targets))
        for number, way in enumerate(REACHING)
    }  # fmt: skip
    with WebServer(pages, addresses={"inside.example.com": ["10.0.0.7"]}) as server:
        for number in range(len(REACHING)):
            page = reading(server, f"http://{HOST}/{number}", (HOST, "inside.example.com"))
            assert page["body"].count(SHOWN) == 2 or "frameset" in REACHING[number]
        time.sleep(0.5)
    assert counted.contacts == 0
    assert {url for url in server.log if not url.startswith(f"http://{HOST}/")} == set()
    assert OTHER not in server.resolved


def test_a_redirect_of_an_asset_is_judged(reading, counted):
    """A picture of the site that leads to this machine or to another host leads nowhere."""
    pages = {
        "/page": served("<img src=/a.png><img src=/b.png><link rel=stylesheet href=/c.css>"),
        "/a.png": redirect(f"http://127.0.0.1:{counted.port}/a.png"),
        "/b.png": redirect(f"http://{OTHER}/b.png"),
        "/c.css": redirect("http://inside.example.com/c.css"),
    }
    with WebServer(pages, addresses={"inside.example.com": ["192.168.0.7"]}) as server:
        page = reading(server, hosts=(HOST, "inside.example.com"))
    assert SHOWN in page["body"]
    assert counted.contacts == 0
    assert not [url for url in server.log if OTHER in url or "inside" in url]
    assert {"url": f"http://{OTHER}/b.png", "denied": "source_denied_policy"} in page["hops"]


def test_what_a_page_asks_for_counts(reading):
    """A page that asks for a hundred large pictures takes no more than a page may take, and is read all the same."""
    body = "".join(f"<img src=/{number}.png>" for number in range(300))
    pages = {"/page": served(body)} | {f"/{number}.png": answer(b"x" * 100_000) for number in range(300)}
    with WebServer(pages) as server:
        page = reading(server, limits=LIMITS.model_copy(update={"max_wire_bytes": 1_000_000}))
    assert page["body"].count(SHOWN) == 2
    assert len(server.log) <= 1 + render.MOST_ASKED


def _started(reader) -> list[int]:
    (browser,) = reader._renderer._idle
    return render._list_descendants(browser._process.pid)


@pytest.mark.parametrize("end", [signal.SIGKILL, signal.SIGSTOP])
def test_a_browser_that_is_ended_or_hangs_has_its_own_reason(chromium, end):
    """Killed or hung, the page fails as `browser`, nothing of it stays, and the next page is read by another one."""
    with WebServer({"/page": served("")}) as server:
        limits = WebLimits(max_page_seconds=60.0)
        reader = web_reader(
            render=chromium, resolve=server.resolve, allowed_addresses=LOOPBACK, limits=limits, robots=False
        )
        request = {"url": f"http://{HOST}/page", "hosts": [HOST]}
        reader(request)
        started = _started(reader)
        for pid in started:
            with suppress(ProcessLookupError):  # one that ended with another
                os.kill(pid, end)
        with pytest.raises(ReadFailure) as raised:
            reader({**request, "limits": {"max_page_seconds": 3.0}})
        assert raised.value.reason == "browser"
        assert [pid for pid in started if _is_running(pid)] == []
        assert SHOWN in reader(request)["body"]
        reader.close()


def _is_running(pid: int) -> bool:
    for _ in range(50):
        try:
            with open(f"/proc/{pid}/stat") as stat:
                if stat.read().rpartition(")")[2].split()[0] in "ZX":
                    return False
        except OSError:
            return False
        time.sleep(0.1)
    return True


@pytest.mark.parametrize("given", ["", 1.5, "/nowhere/chromium"])
def test_a_wrong_render_is_named(given):
    """It says what is allowed."""
    with pytest.raises(ConfigurationError, match="render: "):
        web_reader(render=given)


CLOBBERED = [
    "<img name=documentElement><img name=querySelectorAll><img name=body><img name=adoptedStyleSheets>",
    "<form><input name=attributes><input name=parentNode><input name=style><input name=childNodes></form>",
    "<form id=scrollX></form><form id=CSS></form><form id=Highlight></form><form id=getComputedStyle></form>",
]


@pytest.mark.parametrize("body", CLOBBERED)
def test_names_of_a_page_change_nothing(renderer, body):
    """Elements that are named as what the browser is asked with hide and show nothing."""
    text = seen_in(renderer, f"{body}<p style='mask:linear-gradient(#0000,#0000)'>{HIDDEN}</p>")
    assert text.count(SHOWN) == 2
    assert "canary" not in text


PAGE = """<html><head><link rel=stylesheet href=/a.css></head><body><main><p>Every plan is answered soon.</p>
<p class=gone>canary one</p><p style="color:transparent">canary two</p><table><tr><td>P1</td>
<td>15 minutes</td></tr></table>
<p style="font-size:0">canary three</p><img src=/a.png><iframe src=/frame></iframe><details><summary>More</summary>
<p>Refunds take thirty days.</p></details></main></body></html>"""


def test_the_browser_s_side_says_what_is_seen_over_its_pipe(chromium):
    """It asks for what a page loads and for nothing else, shows one page after another, and ends with the pipe."""
    (asked, ask), (answered, answers) = os.pipe(), os.pipe()
    side = threading.Thread(target=browser.answer_questions, args=(chromium, asked, answers), daemon=True)
    side.start()
    for url in (f"http://{HOST}/page", f"http://{HOST}/again"):
        question = {"url": url, "content_type": "text/html; charset=utf-8", "seconds": 60}
        send_all(ask, json.dumps(question).encode())
        send_all(ask, PAGE.encode())
        wanted = []
        while (said := json.loads(receive_all(answered)))["said"] == "asks":
            receive_all(answered)
            wanted.append(said["url"])
            is_sheet = said["url"].endswith(".css")
            send_all(ask, json.dumps({"content_type": "text/css" if is_sheet else None}).encode())
            send_all(ask, b".gone{display:none}" if is_sheet else b"")
        seen = receive_all(answered).decode()
        assert said == {"said": "shown"}
        assert {*wanted} <= {f"http://{HOST}/a.css", f"http://{HOST}/a.png"}
        assert "canary" not in seen
        assert "15 minutes" in seen
        assert "thirty days" in seen
    for pipe in (ask, answered):
        os.close(pipe)
    side.join(60)
    assert not side.is_alive()
