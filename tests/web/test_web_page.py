"""What a page of the web says, by what its server says that it is."""

import pytest
from pdf_files import pdf_of
from tables import each_row

from guardgraph.plain.errors import ReadFailure
from guardgraph.web.reader import MAX_TEXT_CHARS, page_of

TEXT = "The target of the Enterprise plan is 15 minutes, and has been so since the first of May."
HTML = (
    f'<html><head><title>Targets</title><meta name="date" content="2026-05-01"></head><body><p>{TEXT}</p></body></html>'
)
URL = "https://docs.example.com/targets"


def read(body: bytes, content_type: str, seconds: float = 30) -> dict:
    return page_of(body, content_type, url=URL, seconds=seconds)


def test_a_page_has_title_text_and_day():
    page = {"title": "Targets", "published_at": "2026-05-01", "body": TEXT, "declared_date": "2026-05-01"}
    for kind in ("text/html", "TEXT/HTML ; Charset=UTF-8", 'application/xhtml+xml;charset="utf-8"'):
        assert read(HTML.encode(), kind) == {**page, "linked_hosts": []}


def test_a_page_says_which_hosts_it_links_to():
    """Seen or not, by relative and absolute links, its canonical one and a base; its own host is none of them."""
    links = (
        '<base href="https://base.example.org/x/"><link rel="canonical" href="https://first.example.com/1">'
        '<link rel="stylesheet" href="https://cdn.example.com/s.css"><a href="/own">a</a>'
        '<a href="//Other.Example.com:8443/2#x" style="display:none">b</a><a href="mailto:me@example.net">c</a>'
        '<a href="http://[broken">d</a><a href="https://docs.example.com/1">e</a><a href="javascript:x()">f</a>'
    )
    page = read(HTML.replace("</head>", links + "</head>").encode(), "text/html")
    assert page["linked_hosts"] == ["base.example.org", "first.example.com", "other.example.com"]


def test_of_a_page_with_too_many_links_and_of_other_kinds_nobody_knows_them():
    many = "".join(f'<a href="https://h{at}.example.org/">{at}</a>' for at in range(1_001))
    assert "linked_hosts" not in read(HTML.replace("</p>", f"</p>{many}").encode(), "text/html")
    assert "linked_hosts" not in read(TEXT.encode(), "text/plain")
    assert "linked_hosts" not in read(pdf_of(TEXT), "application/pdf")


@each_row(
    ("body", "content_type", "reason", "cause"),
    (b"x", "", "content_type", None),
    (HTML.encode(), "application/octet-stream", "content_type", None),
    (b"\x89PNG\r\n\0\0\0\rIHDR", "text/plain; charset=latin1", "content_type", "binary"),
    (b"no file", "application/pdf", "content_type", "broken"),
    (pdf_of("x", password="y"), "application/pdf", "content_type", "encrypted"),
    (b"x", "text/html; charset=iso-2022-kr", "charset", "charset"),
    (b"x" * (MAX_TEXT_CHARS + 1), "text/plain", "too_large", "too_large"),
)
def test_what_cannot_be_read_has_a_listed_reason(body, content_type, reason, cause):
    with pytest.raises(ReadFailure) as raised:
        read(body, content_type)
    assert raised.value.reason == reason
    assert raised.value.details.get("cause") == cause


def test_without_time_nothing_is_read():
    for seconds in (0, -1.5):
        with pytest.raises(ReadFailure, match="timeout"):
            read(HTML.encode(), "text/html", seconds)
