"""What the reader of HTML makes of a page: blocks in their order, and which headings open sections."""

import time

import pytest
from tables import each_row

from guardgraph.formats.article import Heading
from guardgraph.formats.html import parse_html

TEXT = "A paragraph that is shown."


def parts(page: str) -> list[Heading | str]:
    parsed = parse_html(page)
    return [part if isinstance(part, Heading) else parsed.text[part.start : part.end] for part in parsed.parts]


@each_row(
    ("page", "expected"),
    ("<h2><button aria-expanded=false>Fees</button></h2><p>None.", [Heading(2, "Fees"), "None."]),
    ("<summary><h3>Fees</h3></summary>None.", [Heading(3, "Fees"), "None."]),
    ("<h2><a href=#x>¶</a></h2><p>Text", ["Text"]),
    ("<h2>1<button>0</button>5</h2>x", [Heading(2, "1 0 5"), "x"]),
    ("<h2>Fees<div>of all plans</div></h2>", [Heading(2, "Fees"), "of all plans"]),
    ("<blockquote><h2>Said</h2></blockquote><ul><li><h3>Item</h3>x</ul>", ["Said\n\n- Item\n\nx"]),
    ("<table><tr><td><h2>A</h2><p>a<td><p>b</table>", [Heading(2, "A"), "a | b"]),
    ("<h1>*</h1><p>—</p><h2>A</h2>", [Heading(2, "A")]),
)
def test_headings_open_sections(page, expected):
    """Wherever they stand but in a quotation or an item; one that says nothing is none."""
    assert parts(page) == expected


ASKED, TOLD = "How long do refunds take?", "They take 10 days."
FOLDED = f"<div><p>{TOLD}</p></div>"


@each_row(
    "item",
    f"<div><button aria-expanded=true>{ASKED}</button>{FOLDED}</div>",
    f"<div><button>{ASKED}</button>{FOLDED}</div>",
    f"<div><div><button aria-controls=a><span>{ASKED}</span></button></div><div id=a>{TOLD}</div></div>",
    f"<dl><dt><button aria-expanded=true>{ASKED}</button></dt><dd>{TOLD}</dd></dl>",
    f"<button>{ASKED}</button>{FOLDED}",
    f"<details open><summary>{ASKED}</summary><p>{TOLD}</p></details>",
)
def test_a_button_that_heads_what_follows_is_read(item):
    """Once or in a row: an accordion need not say that it is one."""
    for times in (1, 3):
        text = parse_html(f"<main><p>{TEXT}</p>{item * times}</main>").text
        assert [line for line in text.split("\n") if line] == [TEXT, *[ASKED, TOLD] * times]


@each_row(
    "control",
    f"<button>Copy</button><pre>{TOLD}</pre>",
    f"<p>{TOLD}</p><button aria-expanded=true>More</button>",
    f"<form><button type=submit aria-expanded=true>Sure?</button><p>{TOLD}</p></form>",
    f"<button aria-expanded=true><svg></svg></button><p>{TOLD}</p>",
    f"<button>Sure?</button> or not <p>{TOLD}</p>",
    f"<button aria-expanded=false>Menu</button><nav>Plans</nav><p>{TOLD}</p>",
    f"<button>Yes</button><button>No</button><p>{TOLD}</p>",
)
def test_a_button_that_is_only_a_control_is_not_read(control):
    text = parse_html(f"<main><p>{TEXT}</p><div>{control}</div></main>").text
    assert [line for line in text.split("\n") if line and line not in ("or not", "```text", "```")] == [TEXT, TOLD]


@each_row(
    ("page", "expected"),
    ("<table><tr><th>a<th>b<tr><td>c<td>d</table>", "| a | b\n\n| c | d"),
    ("<table><caption>Fees</caption><tr><td>a</table>", "Fees\n\n| a"),
    ("<table><tr><td>a<pre> b\n  c</pre></table>d", "| a\n\n```text\n b\n  c\n```\n\nd"),
    ("<ol><li>a<ul><li>b</ul><li>c</ol>", "- a\n\n- b\n\n- c"),
    ("<ruby>漢<rp>(</rp><rt>kan</rt><rp>)</rp></ruby>", "漢 kan"),
    ("x<math><mn>9</mn></math>y", "x\n\ny"),
    ("a&nbsp;&nbsp;b \u200b c\u00ad\u200bd \u200b", "a b cd"),
    ("<dialog open>a</dialog><dialog>b</dialog>", "a"),
    ("<div role=Navigation>Menu</div><p>a", "a"),
    ("<main>a<main>b</main></main><p>c", "a\n\nb"),
    ("<main><h1>Only</h1></main><p>b", "Only\n\nb"),
)
def test_a_page_is_laid_out_in_blocks(page, expected):
    """Rows are parted by blank lines, cells by bars; items, terms and lines stand below each other; code is fenced."""
    assert parse_html(page).text == expected


@each_row(
    ("head", "day"),
    ("<meta name=date content=2026-01-02><meta name=updated_at content=' May 3 '><meta name=updated_at>", "May 3"),
    ("<meta property=article:modified_time content=May><meta name=date content=2026-01-02>", "May"),
    ("<meta name=author content=x>", ""),
)
def test_the_day_of_a_page_is_its_authors(head, day):
    assert parse_html(f"<head>{head}</head><p>x").updated_at == day


DEEP = [
    *("<div>", "<b>", "<b><i></p>", "<ul><li>", "<dl><dt><dd>", "<i><div>", "<table><tr><td>", "<h1>-<div>"),
    *("<blockquote>", "<div></div><div>", "<style>a</style><div>"),
]


@pytest.mark.parametrize("tags", DEEP)
def test_a_page_that_is_nested_without_end_is_read(tags):
    """In time linear in its length, and what it says is read."""
    started = time.process_time()
    assert TEXT in parse_html(tags * 50_000 + f"<p>{TEXT}</p>").text
    assert time.process_time() - started < 20  # minutes, if every tag looked at all that are open


@each_row(
    "tags",
    *("<main>x</main>" * 6_000, "<div>" * 900 + "</div>" * 900 + "<br>" * 12_000, "<!--><!---><p>" * 5_000),
    *("<script>'<div>'</script>" * 6_000, "<svg><style><g></style></svg>" * 5_000, "</div></b>" * 6_000),
)
def test_a_long_page_that_is_not_nested_is_read_to_its_end(tags):
    assert TEXT in parse_html(f"{tags}<section><p>x</p></section></main><main><p>{TEXT}</p>").text


@each_row("tags", "<div hidden>", "<div style=display:none><div>", "<template>", "<dialog>", "<svg>", "<script>")
def test_what_is_hidden_far_down_is_not_read(tags):
    text = parse_html(f"<p>{TEXT}</p>{'<div>' * 10_000}{tags}canary").text
    assert (TEXT in text, "canary" in text) == (True, False)
