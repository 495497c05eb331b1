"""Text of pages and files: what is read, and what is said where nothing can be."""

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from io import BytesIO
from pathlib import Path

import pytest
from pdf_files import pdf_of
from pypdf import PdfWriter

from guardgraph.formats.article import Heading
from guardgraph.formats.extraction import Extracted, ExtractionFailed
from guardgraph.formats.pool import Pool, extract
from guardgraph.plain.errors import ConfigurationError

PAGE = """<html><head><title>Price list</title></head><body><nav><a href="/">Home</a></nav><main><h1>Prices</h1>
<p>What follows is the list of all plans that anybody can book, with what each of them costs.</p>
<h2>Enterprise</h2><p>The plan costs 10<sup>3</sup> euros,&nbsp;and <b>no less</b>.</p>
<ul><li>one <i>item</i></li><li>another</li></ul>
<table><tr><th>plan</th><th>target</th></tr><tr><td>P1</td><td>15 minutes</td></tr></table>
<h3>Notes</h3><blockquote>As we said</blockquote><pre><code>x = 1
  y = 2</code></pre></main></body></html>"""


def read(content: str | bytes, kind: str = "html", *, max_chars: int = 100_000) -> Extracted:
    content = content.encode() if isinstance(content, str) else content
    return extract(content, kind, seconds=30, max_chars=max_chars)


class TestPages:
    def test_the_text_of_a_page_is_its_content_with_headings(self):
        """Headings, paragraphs, items, rows and code are laid out one below the other; what leads elsewhere is not."""
        found = read(PAGE)
        assert found.title == "Price list"
        assert found.text.split("\n\n") == [
            "Prices",
            "What follows is the list of all plans that anybody can book, with what each of them costs.",
            "Enterprise",
            "The plan costs 10³ euros, and no less.",
            "- one item\n- another",
            "| plan | target",
            "| P1 | 15 minutes",
            "Notes",
            "As we said",
            "x = 1\n  y = 2",
        ]

    def test_a_text_may_be_as_long_as_is_asked_for(self):
        """One character more is `too_large`, and the details say the limit."""
        words = "all of it " * 30
        length = len(read(words, "text").text)
        assert read(words, "text", max_chars=length).text == words.strip()
        with pytest.raises(ExtractionFailed) as raised:
            read(words, "text", max_chars=length - 1)
        assert raised.value.reason == "too_large"
        assert raised.value.details == {"limit": "max_chars", "characters": length, "allowed": length - 1}


class TestPdf:
    def test_pages_are_parts(self):
        found = read(pdf_of("First page", "", "Third page", title="First page"), "pdf")
        assert found.title == "First page"
        assert found.text == "First page\n\nThird page"
        assert found.parts == (Heading(2, "Page 1"), "First page", Heading(2, "Page 3"), "Third page")
        assert found.declared_date == ""

    def test_a_file_that_only_its_owner_may_change_is_read(self):
        """It opens without a password, whatever its cipher; most files that offices protect are such."""
        for cipher in ("RC4-128", "AES-128", "AES-256"):
            writer = PdfWriter(clone_from=BytesIO(pdf_of("the pension age is 67")))
            writer.encrypt("", "owner", algorithm=cipher)
            writer.write(file := BytesIO())
            assert read(file.getvalue(), "pdf").text == "the pension age is 67"


class TestUse:
    def test_threads_read_side_by_side(self):
        with ThreadPoolExecutor(8) as threads:
            found = list(threads.map(lambda n: read(f"page {n}", "text").text, range(40)))
        assert found == [f"page {n}" for n in range(40)]

    def test_a_wrong_argument_is_named(self):
        for changed in ({"kind": "docx"}, {"max_chars": 0}):
            [name] = changed
            with pytest.raises(ConfigurationError, match=rf"^{name}: .*allowed"):
                extract(b"", **{"kind": "text", "seconds": 1, "max_chars": 1, **changed})

    def test_a_missing_library_names_the_extra(self, tmp_path):
        code = (
            "import sys, importlib.util as util; find = util.find_spec\n"
            "util.find_spec = lambda name: None if name == 'trafilatura' else find(name)\n"
            "from guardgraph.formats.pool import extract\n"
            "try: extract(b'', 'html', seconds=9, max_chars=9)\n"
            "except ValueError as error: print(error)"
        )
        said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=tmp_path, check=True)
        assert "trafilatura, which is not installed; guardgraph's extra `kb` is required: pip install " in said.stdout

    def test_a_library_that_cannot_be_loaded_says_so(self, tmp_path, monkeypatch):
        """One that lacks a part of its own, as where pip left it out, is not taken for a damaged page."""
        (tmp_path / "trafilatura.py").write_text("raise ImportError('a part of it is missing')")
        python = tmp_path / "python"  # finds that one first, as if it was installed
        first = f"import sys; sys.path.insert(0, '{tmp_path}'); $boot"
        python.write_text(f'#!/bin/sh\nshift 5; boot=$1; shift\nexec {sys.executable} -I -c "{first}" "$@"\n')
        python.chmod(0o700)
        monkeypatch.setattr(sys, "executable", str(python))
        pool, told = Pool(children=1), r"^trafilatura, .* loaded: a part of it is missing; .*: pip install"
        with pytest.raises(ConfigurationError, match=told):
            pool.extract(PAGE.encode(), "html", seconds=30, max_chars=10_000)
        assert pool.extract(b"text", "text", seconds=30, max_chars=10).text == "text"
        pool.close()

    def test_the_working_directory_and_the_environment_do_not_reach_the_child(self, tmp_path, monkeypatch):
        """A module of a library's name beside the program is not run by it."""
        for name in ("lxml.py", "json.py"):
            (tmp_path / name).write_text(f"open({str(tmp_path / 'seen')!r}, 'w')")
        monkeypatch.chdir(tmp_path)
        monkeypatch.setenv("PYTHONPATH", str(tmp_path))
        pool = Pool(children=1)
        assert pool.extract(PAGE.encode(), "html", seconds=30, max_chars=10_000).title == "Price list"
        pool.close()
        assert not (tmp_path / "seen").exists()

    def test_a_pool_that_is_closed_leaves_no_process(self):
        pool = Pool(children=1)
        for _ in range(2):
            before = children()
            assert pool.extract(b"text", "text", seconds=30, max_chars=10).text == "text"
            assert len(children() - before) == 1
            pool.close()
            assert children() == before


def children() -> set[str]:
    found = set[str]()
    for task in Path(f"/proc/{os.getpid()}/task").iterdir():
        with suppress(FileNotFoundError):  # a thread that ended meanwhile
            found.update((task / "children").read_text().split())
    return found
