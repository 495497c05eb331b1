"""What was read, as a WARC file: every answer that a page was made of, without what says who asked."""

from __future__ import annotations

import hashlib
import random

import pytest
from warcio.archiveiterator import ArchiveIterator
from web_contacts import only_loopback
from web_server import LOOPBACK, WebServer, answer, redirect

from guardgraph import ConfigurationError, ReadFailure, web_reader
from guardgraph.web.recheck import Cited, make_archived_page_reader, recheck_cited_notes
from guardgraph.web.warc import WarcFile, iterate_kept_answers

nobody_else_is_contacted = pytest.fixture(autouse=True)(only_loopback)

SAYS = "Refunds take 14 days for all who ask."
PAGES = {
    "/old": redirect("/terms?access_key=abcdef0123456789abcdef", **{"Set-Cookie": "a=1"}),
    "/terms?access_key=abcdef0123456789abcdef": answer(
        SAYS, **{"Set-Cookie": "session=topsecret", "WWW-Authenticate": "Basic", "X-User": "me", "ETag": '"7"'}
    ),
    "/robots.txt": answer("User-agent: *\nAllow: /\n"),
}


def read_page(server, file, url):
    """Read a page with robots.txt heeded, its answers kept in a file."""
    reader = web_reader(resolve=server.resolve, allowed_addresses=LOOPBACK, evidence=file)
    return reader({"url": url, "hosts": ["a.test"], "limits": {}})


@pytest.mark.parametrize("name", ["kept.warc", "kept.warc.gz"])
def test_answers_of_a_page_stand_in_the_file(tmp_path, name):
    """The redirect and the page, as another program reads them; no cookie, no authorization, no key of a URL."""
    with WebServer(PAGES) as server:
        page = read_page(server, tmp_path / name, "http://a.test/old")
        with pytest.raises(ReadFailure):
            read_page(server, tmp_path / name, "http://b.test/denied")
    with (tmp_path / name).open("rb") as file:
        records = [
            (r.rec_type, r.rec_headers.get_header("WARC-Target-URI"), r.http_headers, r.content_stream().read())
            for r in ArchiveIterator(file, check_digests="raise")
        ]
    assert [kind for kind, *_ in records] == ["warcinfo", "response", "response"]
    (_, first, leads, _), (_, url, headers, body) = records[1:]
    assert (first, leads.get_statuscode(), body) == ("http://a.test/old", "302", SAYS.encode())
    assert hashlib.sha256(body).hexdigest() == page["sha256"]
    assert headers.get_header("ETag") == '"7"'
    told = f"{url} {leads.to_str()} {headers.to_str()}".lower()
    assert not [word for word in ("cookie", "topsecret", "authenticate", "x-user", "abcdef0123") if word in told]


def test_a_run_is_rechecked_from_the_file(tmp_path):
    """The text is made of the answer once more; a page that is not in the file is told."""
    file = tmp_path / "kept.warc.gz"
    with WebServer(PAGES) as server:
        page = read_page(server, file, "http://a.test/old")
    note = Cited("n1", page["final_url"], "Refunds take 14 days", (0, 20), page["text_sha256"])
    other = Cited("n2", "http://a.test/x", SAYS, None, "0" * 64)
    checked = recheck_cited_notes([note, other], make_archived_page_reader(file))
    assert [each.verdict for each in checked] == ["same", "gone"]


@pytest.mark.parametrize(("given", "said"), [("x.txt", "ends with .warc"), (7, "the path"), ("no/x.warc", "written")])
def test_what_is_no_file_to_write_is_refused(given, said, tmp_path, monkeypatch):
    """When the reader is made."""
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ConfigurationError, match=said):
        web_reader(evidence=given)


@pytest.mark.parametrize("name", ["kept.warc", "kept.warc.gz"])
def test_an_answer_without_room_leaves_the_file_whole(tmp_path, name):
    """It is an error, and what stood in the file can be read, and added to."""
    resource = pytest.importorskip("resource")
    path = tmp_path / name
    file = WarcFile(path)
    file.add_answer("http://a.test/1", 200, {"content-type": "text/plain"}, b"first")
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (path.stat().st_size + 100, hard))
    try:
        with pytest.raises(OSError, match="room"):
            file.add_answer("http://a.test/2", 200, {"content-type": "text/plain"}, random.Random(1).randbytes(9999))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    file.add_answer("http://a.test/3", 200, {"content-type": "text/plain"}, b"third")
    assert [kept.url for kept in iterate_kept_answers(path)] == ["http://a.test/1", "http://a.test/3"]
