"""Plain text and PDF files, read in this process: encodings, what is not seen, and what cannot be read."""

import codecs
from io import BytesIO

import pytest
from pdf_files import pdf_of
from pypdf import PdfWriter
from pypdf.generic import NameObject, TextStringObject
from tables import each_row
from webencodings.labels import LABELS

from guardgraph.formats import text as texts
from guardgraph.formats.extraction import ExtractionFailed
from guardgraph.formats.pdf import read_pdf
from guardgraph.formats.text import decode_text, find_named_encoding, list_encodings_in_page

TEXT = "Das Übermaß kostet 5 € und gehört zum Café, naïveté inbegriffen."


def reason(read, *arguments, **named) -> str:
    with pytest.raises(ExtractionFailed) as raised:
        read(*arguments, **named)
    return raised.value.reason


@each_row(
    ("label", "encoding"),
    *(("latin1", "cp1252"), (' "UTF8"', "utf-8"), ("GBK", "gb18030"), ("shift_jis", "cp932")),
    *((label, None) for label in ("utf-7", "klingon", "rot13", "base64", "idna", "x\0y", "utf-32", "é", "\0")),
)
def test_labels_are_those_of_the_web(label, encoding):
    """Browsers know them; what else Python knows is none."""
    assert find_named_encoding(label) == encoding


@each_row(
    ("page", "labels"),
    (b"<meta charset='latin1'>", ["latin1"]),
    (b"<META\nHTTP-EQUIV=Content-Type content='text/html; charset=Shift_JIS'>", ["Shift_JIS"]),
    (b"<meta name=description content='charset=latin1'>", []),
    (b" " * 1010 + b"<meta charset=gbk>", ["gbk"]),
    (b"<title>a</title><!-- <meta charset=latin1> --><!--><meta charset=gbk>", ["gbk"]),
    (b"<!-- <meta charset=latin1>", []),
    (b"<?xml version='1.0' encoding='koi8-r'?><html>", ["koi8-r"]),
    (b"<body><meta charset=gbk>", []),
    (b"<meta charset=klingon><meta charset=gbk>", ["klingon", "gbk"]),
    (b"<a " * 20_000, []),
)
def test_a_page_says_its_encoding_in_its_head(page, labels):
    """Also across byte 1,024, where browsers read it once more."""
    assert list(list_encodings_in_page(page)) == labels


def test_every_label_has_an_encoding_of_python():
    named = {find_named_encoding(label) for label in LABELS}
    assert all(name == texts.REPLACED or codecs.lookup(name) for name in named)
    assert (len(LABELS), len(named)) == (228, 37)


@each_row(
    ("content", "declared", "is_html"),
    (TEXT.encode(), None, False),
    (TEXT.encode("utf-8-sig"), "latin1", False),
    (TEXT.encode("utf-16"), None, True),
    (TEXT.encode(), "klingon", False),
    (TEXT.encode("cp1252"), "iso-8859-1", False),
)
def test_bytes_become_text(content, declared, is_html):
    """By their mark, else by what the server says, else as they fit; a byte that no letter has is a hole."""
    assert decode_text(content, declared, is_html=is_html) == TEXT
    assert decode_text(b"a\xffb", "utf-8", is_html=False) == "a\ufffdb"
    assert decode_text(b"<meta charset=windows-1252>\xe9", "klingon", is_html=True)[-1] == "\xe9"
    cyrillic = "Съешь же ещё этих мягких французских булок, да выпей чаю. " * 5
    assert decode_text(cyrillic.encode("cp1251"), None, is_html=False) == cyrillic


def test_bytes_that_are_no_text_are_refused(monkeypatch):
    import charset_normalizer

    monkeypatch.setattr(charset_normalizer.models.CharsetMatches, "best", lambda self: None)
    for content, declared, why in (
        (b"x", "iso-2022-kr", "charset"),
        (b"<meta charset=hz-gb-2312>", None, "charset"),
        (b"a\0b", "utf-8", "binary"),
        (bytes(range(128, 256)) * 9, None, "charset"),
    ):
        assert reason(decode_text, content, declared, is_html=True) == why


def test_plain_text_is_what_is_seen():
    assert texts.read_plain(" a\u200bb \n", 9) == ("", "ab", ("ab",), "", "", "", None)
    assert texts.read_plain("\u200b", 9).parts == ()
    assert (texts.clean_plain_text("e\u0301"), texts.put_on_one_line(" a\n\u200bb ")) == ("é", "a b")
    assert texts.cut_to_chars("abc", 3) == "abc"
    assert reason(texts.cut_to_chars, "abcd", 3) == "too_large"


@each_row(("created", "day"), ("D:20260314090000Z", "2026-03-14"), ("some day", ""), (None, ""))
def test_a_file_may_say_when_it_was_made(created, day):
    writer = PdfWriter(clone_from=BytesIO(pdf_of("text")))
    if created is None:
        writer._info = None
    else:
        writer.add_metadata({NameObject("/CreationDate"): TextStringObject(created)})
    writer.write(file := BytesIO())
    assert read_pdf(file.getvalue(), 99).guessed_date == day


def test_files_that_cannot_be_read_say_why():
    for content in (b"", b"no file", b"%PDF-1.7\n%%EOF", pdf_of("cut")[:300]):
        assert reason(read_pdf, content, 99) == "broken"
    assert reason(read_pdf, pdf_of("secret", password="x"), 99) == "encrypted"
    assert reason(read_pdf, pdf_of("many words"), 5) == "too_large"
