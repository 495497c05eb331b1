"""Folders of documents: what is read of reStructuredText and HTML, and under which titles."""

import pytest

from guardgraph.formats.article import Heading, Span
from guardgraph.formats.by_ending import FORMATS
from guardgraph.plain.errors import ConfigurationError
from guardgraph.tools.knowledge_base import load_folder


def loaded(folder, name, content):
    (folder / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    return [(found["title"], found["section"], found["text"]) for found in load_folder(folder)]


def texts_of(parsed):
    return [parsed.text[part.start : part.end] for part in parsed.parts if isinstance(part, Span)]


RST = """\
.. _manual:

======
Manual
======
:date: 2026-01-05

See :ref:`the rules <rules>`, `our site <https://x.example>`_ and ``code``
of :class:`~a.b.Client`.

Rules
-----
.. note:: Mind the gap.

   Really.

.. toctree::
   :maxdepth: 2

   other/page

.. unknown-thing:: An argument
   :option: value

   Its body.

Special
~~~~~~~
Run::

    # no heading
    ----------
      run

More rules
----------
.. code-block:: python
   :linenos:

   x = [1]

.. a comment
   that goes on

.. [1] A footnote.
"""


def test_rst_is_read_in_sections(tmp_path):
    """Underlines make sections; roles, targets, comments and options are not shown, and no directive fails."""
    assert loaded(tmp_path, "a.rst", RST) == [
        ("Manual", "Manual", ":date: 2026-01-05\n\nSee the rules, our site and `code`\nof Client."),
        ("Manual", "Rules", "Note: Mind the gap.\n\nReally.\n\nUnknown thing: An argument\n\nIts body."),
        ("Manual", "Rules > Special", "Run:\n\n```text\n# no heading\n----------\n  run\n```"),
        ("Manual", "More rules", "```python\nx = [1]\n```\n\n[1] A footnote."),
    ]
    assert load_folder(tmp_path)[0]["updated_at"] == "2026-01-05"
    assert load_folder(tmp_path)[1]["id"] == "a.rst#rules.1"


HTML = """\
<!DOCTYPE html><html><head><title>Shop &amp; returns</title>
<meta name="date" content="2026-01-02"><meta property="article:modified_time" content="2026-02-03">
<style>p { color: red }</style></head>
<body><nav><ul><li><a href="/">Home</a></ul></nav>
<h1>Returns<a class="headerlink" href="#r">¶</a></h1>
<p>A refund takes
   <b>14</b> days.<p hidden>Nobody sees this.
<p>Up to 10<sup>9</sup> cents, not <del>20</del> 30.<br>Ask&nbsp;us.
<script>if (1 < 2) document.write("<p>no</p>")</script>
<div style="display: none">nor <div>this</div></div>
<h2>Prices</h2>
<table><thead><tr><th>Plan<th>Price<tbody><tr><td><p>Basic</p></td><td></td></tr><tr><td>Pro<td>$5</table>
<ul><li>one<li><p>two</p></ul>
<blockquote><h2>quoted</h2></blockquote>
<pre>
  a
    b
</pre><!-- a comment --></body></html>
"""


def test_html_is_read_as_a_browser_shows_it(tmp_path):
    """Headings make sections; markup, scripts, styles, navigation and what is hidden are not read."""
    assert loaded(tmp_path, "a.html", HTML) == [
        ("Returns", "Returns", "A refund takes 14 days.\n\nUp to 10⁹ cents, not 30.\nAsk us."),
        (
            "Returns",
            "Prices",
            "| Plan | Price\n\n| Basic |\n\n| Pro | $5\n\n- one\n- two\n\nquoted\n\n```text\n  a\n    b\n```",
        ),
    ]
    assert [found["updated_at"] for found in load_folder(tmp_path)] == ["2026-02-03"] * 2


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.md", "---\ntitle: Travel in 2026\nsection: Handbook > Money\n---\n# Travel\nFly.\n## Hotels\nBook.\n"),
        (
            "a.rst",
            "Travel\n======\n:title: Travel in 2026\n:section: Handbook > Money\n\nFly.\n\nHotels\n------\n\nBook.",
        ),
    ],
)
def test_what_an_author_says_goes_before_headings(tmp_path, name, content):
    """A title and a section path of front matter or a field list are shown; no id changes by them."""
    found = loaded(tmp_path, name, content)
    assert [(title, section) for title, section, _ in found] == [
        ("Travel in 2026", "Handbook > Money > Travel"),
        ("Travel in 2026", "Handbook > Money > Hotels"),
    ]
    assert [piece["id"] for piece in load_folder(tmp_path)] == [f"{name}#travel.1", f"{name}#hotels.1"]


def test_title_of_a_page(tmp_path):
    """Without a heading of level 1, the title is the page's, else the file's name."""
    assert loaded(tmp_path, "a.htm", "<title>The\n page</title><p>x")[0][:2] == ("The page", "The page")
    assert loaded(tmp_path, "a.htm", "<h2>Sub</h2><p>x") == [("a", "Sub", "x")]
    assert loaded(tmp_path, "a.htm", "<title>Shop - Page</title><h1>Page</h1><p>x") == [("Page", "Page", "x")]
    parsed = FORMATS[".html"]("<h1>Never ended<p>text<h3><div>Deep</div></h3>")
    assert [part for part in parsed.parts if isinstance(part, Heading)] == [
        Heading(1, "Never ended"),
        Heading(3, "Deep"),
    ]
    assert (texts_of(parsed), parsed.text) == (["text"], "Never ended\n\ntext\n\nDeep")


def test_encoding_of_a_page(tmp_path):
    """A page that is no UTF-8 is read in the older encoding that it declares, and refused without one."""
    page = '<meta http-equiv="Content-Type" content="text/html; charset={}"><p>“Größe”'
    for name, encoding in (("iso-8859-1", "cp1252"), ("Windows-1252", "cp1252"), ("utf-8", "utf-8")):
        [(_, _, text)] = loaded(tmp_path, "a.html", page.format(name).encode(encoding))
        assert text == "“Größe”"
    for name in ("utf-8", "unicode_escape", "gb-nobody-has"):
        with pytest.raises(ConfigurationError, match=r"a\.html' is not UTF-8"):
            loaded(tmp_path, "a.html", page.format(name).encode("cp1252"))


@pytest.mark.parametrize(
    ("sheet", "why"),
    [
        ("a{" * 40, r"too_large \(limit: nested rules"),
        ("p{width:" + "9" * 5_000, "Exceeds the limit"),
        ("@media " + "not " * 5_000 + "screen{p{top:0}}", "maximum recursion"),
    ],
)
def test_a_page_that_is_no_page_is_named(tmp_path, sheet, why):
    """What one page of a folder has too much of is said with its name."""
    with pytest.raises(ConfigurationError, match=rf"a\.html' cannot be read: {why}"):
        loaded(tmp_path, "a.html", f"<style>{sheet}</style><p>Words.")
