"""Pages that are kept: what holds of a page from the web holds of a page from the file."""

import json
import sqlite3
import subprocess
import sys
from contextlib import closing

import pytest
from web_contacts import only_loopback
from web_server import WebServer, answer, drip, in_turn, redirect

from guardgraph import ConfigurationError, ReadFailure, WebLimits, web_reader

nobody_else_is_contacted = pytest.fixture(autouse=True)(only_loopback)

HOSTS = ["a.test", "b.test"]


FRESH = {"cache_control": "max-age=3600"}


def body_of(read, url="http://a.test/", hosts=HOSTS):
    try:
        return read({"url": url, "hosts": hosts})["body"]
    except ReadFailure as failure:
        return failure


def test_a_page_that_is_kept_is_not_asked_for_again(tmp_path):
    """By another reader of the same file either; it says when it was fetched, and is the same to a byte."""
    with WebServer({"/": answer("here", **FRESH)}) as server:
        first = server.reader(cache=tmp_path / "pages.sqlite")({"url": "http://a.test/", "hosts": HOSTS})
        second = server.reader(cache=str(tmp_path / "pages.sqlite"))({"url": "http://a.test/#x", "hosts": HOSTS})
    assert first == second
    assert len(server.log) == 1
    assert {path.name for path in tmp_path.iterdir()} <= {"pages.sqlite", "pages.sqlite-wal", "pages.sqlite-shm"}


def test_the_lists_of_today_hold_for_what_is_kept(tmp_path):
    pages = {"a.test/": redirect("http://b.test/", **FRESH), "b.test/": answer("here", **FRESH)}
    with WebServer(pages) as server:
        read = server.reader(cache=tmp_path / "c")
        assert [body_of(read), body_of(read)] == ["here", "here"]
        assert server.log == ["http://a.test/", "http://b.test/"]
        assert body_of(read, hosts=["a.test"]).reason == "redirect_denied"
        assert body_of(read, "http://b.test/", hosts=["a.test"]).reason == "address_denied"
        assert body_of(read, "http://b.test/") == "here"
    assert len(server.log) == 2


def test_the_limits_of_today_hold_for_what_is_kept(tmp_path):
    with WebServer({"/": answer("x" * 10_000, **FRESH)}) as server:
        assert body_of(server.reader(cache=tmp_path / "c")) == "x" * 10_000
        for limits in (WebLimits(max_wire_bytes=5_000), WebLimits(max_page_bytes=5_000)):
            assert body_of(server.reader(cache=tmp_path / "c", limits=limits)).reason == "too_large"
    assert len(server.log) == 1


def test_a_body_that_was_broken_off_is_never_kept(tmp_path):
    cut = b"HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\ncache-control: max-age=99\r\n"
    pages = {
        "/large": in_turn(answer("x" * 10_000, **FRESH), answer("small", **FRESH)),
        "/cut": in_turn(cut + b"content-length: 100\r\n\r\nhalf", answer("whole", **FRESH)),
        "/open": in_turn(cut + b"\r\nhalf", answer("whole", **FRESH)),
        "/slow": in_turn(drip([cut + b"content-length: 100\r\n\r\n", *([b"x"] * 100)], 0.05), answer("whole", **FRESH)),
    }
    with WebServer(pages) as server:
        read = server.reader(cache=tmp_path / "c", limits=WebLimits(max_wire_bytes=5_000))
        hasty = server.reader(cache=tmp_path / "c", limits=WebLimits(max_page_seconds=0.5, max_wire_bytes=5_000))
        first = {path: hasty if path == "/slow" else read for path in pages}
        found = [
            [path, *(body_of(reader, f"http://a.test{path}") for reader in (first[path], read, read))] for path in pages
        ]
    assert found[2][1] == "half"
    assert [[path, *bodies] for path, _, *bodies in found] == [
        ["/large", *["small"] * 2], *([path, *["whole"] * 2] for path in ("/cut", "/open", "/slow"))
    ]  # fmt: skip
    assert len(server.log) == 8


def test_what_may_not_be_kept_is_not_kept(tmp_path):
    pages = {"/": answer("new", cache_control="no-store"), "/no": answer("no", "404 Not Found", **FRESH)}
    with WebServer(pages) as server:
        read = server.reader(cache=tmp_path / "c")
        for _ in range(2):
            assert body_of(read) == "new"
            assert body_of(read, "http://a.test/no").reason == "http_status"
    assert len(server.log) == 4


def test_a_page_is_asked_about_when_its_time_is_over(tmp_path):
    pages = {"/": in_turn(answer("here", etag='"1"', cache_control="no-cache"), answer(status="304 Not Modified"))}
    with WebServer(pages) as server:
        read = server.reader(cache=tmp_path / "c")
        assert [body_of(read), body_of(read)] == ["here", "here"]
    assert server.headers[1]["if-none-match"] == '"1"'


def test_a_file_that_is_no_cache_is_told_at_once(tmp_path):
    (tmp_path / "text").write_bytes(b"this is no database" * 1000)
    with closing(sqlite3.connect(tmp_path / "other")) as other, other:
        other.execute("CREATE TABLE entries (id TEXT)")
    for cache in (tmp_path / "text", tmp_path / "other", tmp_path, tmp_path / "none" / "c", 5):
        with pytest.raises(ConfigurationError, match=r"^cache: ") as raised:
            web_reader(cache=cache)
        assert "\n" not in str(raised.value)
    assert (tmp_path / "text").read_bytes() == b"this is no database" * 1000


def test_a_file_that_breaks_meanwhile_costs_no_page(tmp_path):
    """What was kept is lost, and the page is read from the web."""
    with WebServer({"/": answer("x" * 300_000, **FRESH)}) as server:
        read = server.reader(cache=tmp_path / "c")
        for statement in ("SELECT 1", "DELETE FROM streams WHERE chunk_number = 1", "DROP TABLE streams"):
            with closing(sqlite3.connect(tmp_path / "c")) as kept, kept:
                kept.execute(statement)
            assert body_of(read) == "x" * 300_000
        read.close()
        assert body_of(read) == "x" * 300_000


# A limit of the process's files stands for a disk.
FULL = """
import json, resource, sys
from guardgraph import web_reader
resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))
port, path = int(sys.argv[1]), sys.argv[2]
read = web_reader(cache=path, resolve=lambda host, port_: ("127.0.0.1", port), allowed_addresses=["127.0.0.1"])
pages = [read({"url": "http://a.test/", "hosts": ["a.test"]}) for _ in range(2)]
print(json.dumps([len(page["body"]) for page in pages]))
"""


@pytest.mark.usefixtures("uncounted")
def test_a_full_disk_costs_no_page(tmp_path):
    with WebServer({"/": answer("x" * 300_000, **FRESH)}) as server:
        command = [sys.executable, "-c", FULL, str(server.ports[80]), str(tmp_path / "c")]
        done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert (json.loads(done.stdout), done.stderr) == ([300_000, 300_000], "")
