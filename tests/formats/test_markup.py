"""Markup as people write it, of reStructuredText and of pages: whatever it is, it is read as a reader sees it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tables import each_row

from guardgraph.formats.article import Span
from guardgraph.formats.by_ending import FORMATS


def text_of(suffix, content):
    parsed = FORMATS[suffix](content)
    return "".join(parsed.text[part.start : part.end] for part in parsed.parts if isinstance(part, Span))


@each_row(
    ("text", "expected"),
    ("A paragraph\nof two lines\n------\n", "A paragraph\nof two lines\n------"),
    ("before\n\n------\n\nbehind", "before\n\nbehind"),
    ("Too long a title\n--\n", "Too long a title\n--"),
    ("=====  ===\nA      B\n=====  ===\n", "=====  ===\nA      B\n=====  ==="),
    ("- one\n- two\n  goes on", "- one\n- two\n  goes on"),
    ("H\\ :sub:`2`\\ O and \\*", "H2O and *"),
    (".. figure:: x.png\n   :alt: no\n\n   The caption.", "The caption."),
    (".. class:: Foo(bar)\n\n   Does it.\n\nBehind.", "Class: Foo(bar)\n\nDoes it.\n\nBehind."),
    (".. |logo| image:: x.png\n.. _a: https://x.example\n__ https://y.example\n", "__ https://y.example"),
)
def test_rst_that_is_no_title(text, expected):
    """Paragraphs, lines across the page, tables and items are no titles, and stay as a reader sees them."""
    assert text_of(".rst", text) == expected


@each_row(
    ("page", "expected"),
    ("<header>Menu</header><main><p>Text</main><footer>Imprint</footer>", "Text"),
    ("<div>Menu</div><div role=main>Text</div><div>Imprint</div>", "Text"),
    ("<p>Text</p><main><script>x</script></main>", "Text"),
    ("<div role='navigation'>Menu</div>Text", "Text"),
    ("one<p>two</div>three", "one\n\ntwothree"),
    ("<p>a < b & c &lt;d&gt; &#x41;&#" + "9" * 5000 + ";</p>", "a < b & c <d> A\ufffd"),
    ("<p title='a > b'>Text", "Text"),
    ("<textarea><p>no</textarea><title>no</title>Text<svg><title>no</title></svg>", "Text"),
    ("<style>p > a { }</style ><P>Text</P>", "Text"),
    ("Text <a href='never ended> more", "Text"),
    ("Text<!-- never ended", "Text"),
    ("Te&shy;xt<br/>and <wbr><div/>more", "Text\nand\n\nmore"),
    ("<p>1<button>0</button>5, 1<img src=0.png>5, 1<del>0</del>5", "1\n\n5, 1 5, 1 5"),
    ("<p>1<b style='opacity:0'>0</b>5</p>", "1 5"),
    ("<p>1<b hidden>0</b>5</p>", "15"),
    ("<table><tr><td><p>a<p>b<td><ul><li>c<li>d</ul></table>", "| a\n\nb | - c\n- d"),
)
def test_pages_of_the_web(page, expected):
    """Pages with tags that nobody ended, with a main part, or with references are read as browsers read them."""
    assert text_of(".html", page) == expected


MARKS = [*("<", ">", "</", "<p", "<li>", "</ul>", "<!--", "-->", "'", '"', "=", "&", "&#", "<script>", "<td>", "<h1>")]
MARKS += [" ", "::", "..", ".. a::", "`", "``", ":x:", "\n", "====", "----", "   ", "\\", "|", "a", "7", "é"]


@given(st.sampled_from([".rst", ".html"]), st.lists(st.sampled_from(MARKS), max_size=60).map("".join))
def test_any_text_is_read(suffix, content):
    """No text is refused, however broken its markup, and no part of it is read twice."""
    parsed = FORMATS[suffix](content)
    letters = parsed.text + parsed.title
    assert letters.count("7") <= content.count("7")


@pytest.mark.parametrize("suffix", [".rst", ".html", ".txt"])
def test_repeated_marks_are_read(suffix):
    """A file of nothing but one mark is read to its end, not in minutes, and says no more than it has."""
    for mark in [*MARKS, "<a ", "<a x='", "<![", "<b><i></p>", "<p></div>", "=\n", ".. a::\n ", ":x"]:
        assert len(text_of(suffix, mark * 50_000)) <= 4 * len(mark) * 50_000, mark
