"""Ten layouts of one page: a folder, a knowledge base and the web read the same sections of each."""

import pytest
from web_server import LOOPBACK, WebServer, answer

from guardgraph import KnowledgeBase, web_reader
from guardgraph.tools.knowledge_base import load_folder

WHO = "Every support case is answered within the time of the plan, by a person who knows the product well."
PLANS = {
    "Basic": f"The Basic plan costs 10 euros a month and answers within 30 hours. {WHO}",
    "Team": f"The Team plan costs 20 euros a month and answers within 20 hours. {WHO}",
    "Enterprise": f"The Enterprise plan costs 90 euros a month and answers within 15 minutes. {WHO}",
}
ROWS = [("Plan", "Answer"), ("Basic", "within 30 hours"), ("Enterprise", "within 15 minutes")]


def each(layout: str) -> str:
    return "".join(layout.replace("NAME", name).replace("TEXT", text) for name, text in PLANS.items())


def rows() -> str:
    cells = "".join("<tr>" + "".join(f"<td>{cell}</td>" for cell in row) + "</tr>" for row in ROWS)
    return f"<table>{cells}</table>"


SECTIONS = each("<h2>NAME</h2><p>TEXT</p>")
LAYOUTS = {
    "a form": f"<form action=/send><h1>Plans</h1>{SECTIONS}<input type=submit></form>",
    "an accordion": f"<h1>Plans</h1>{each('<details open><summary><h2>NAME</h2></summary><p>TEXT</p></details>')}",
    "an accordion of buttons": "<h1>Plans</h1>"
    + each("<div class=item><h2><button aria-expanded=true>NAME</button></h2><div class=panel>TEXT</div></div>"),
    "tables for layout": f"<table><tr><td><h1>Plans</h1></td></tr><tr><td>{SECTIONS}</td></tr></table>",
    "a table of data": f"<h1>Plans</h1>{SECTIONS}<h2>Answers</h2>{rows()}",
    "a sidebar": f"<div class=sidebar><h1>Plans</h1>{SECTIONS}</div>",
    "a list of terms": f"<h1>Plans</h1><dl>{each('<dt><h2>NAME</h2></dt><dd>TEXT</dd>')}</dl>",
    "divisions alone": f"<div><h1>Plans</h1></div>{each('<div><div><h2>NAME</h2></div><div>TEXT</div></div>')}",
    "an article": f"<article><h1>Plans</h1>{each('<section><h2>NAME</h2><p>TEXT</p></section>')}</article>",
    "a main part": f"<div role=main><h1>Plans</h1>{SECTIONS}</div>",
}
ANSWERS = [("Answers", "\n\n".join(f"| {name} | {time}" for name, time in ROWS))]
AROUND = (
    "<div id=cookie-banner><p>We and our 300 partners keep cookies on your device, if you let us.</p></div>"
    "<nav><a href=/>Home</a></nav><div id=content>{}</div>"
    "<div class=related><h2>Related pages</h2><ul><li><a href=/a>What another company has to offer</a></li></ul></div>"
    "<footer><p>All rights are reserved, in every country of the world.</p><a href=/i>Imprint</a></footer>"
)
"""What stands around the content of a page, and is not on it."""


def page_of(layout: str, around: str = "{}") -> str:
    body = around.format(LAYOUTS[layout])
    return f"<!DOCTYPE html><html><head><title>Our plans</title></head><body>{body}</body></html>"


def sections_in(layout: str) -> list[tuple[str, str]]:
    return [*PLANS.items(), *(ANSWERS if layout == "a table of data" else [])]


def read_in_folder(folder, page: str) -> list[tuple[str, str]]:
    (folder / "plans.html").write_text(page)
    return [(found["section"], found["text"]) for found in load_folder(folder)]


def read_in_base(folder, page: str) -> list[tuple[str, str]]:
    (folder / "docs").mkdir(exist_ok=True)
    (folder / "docs" / "plans.html").write_text(page)
    with KnowledgeBase(folder / "kb.sqlite") as base:
        base.add(folder / "docs", readers=["public"])
        found = base.search("plan answers", top_k=100)
    return [(item["section"], item["text"]) for item in sorted(found, key=lambda item: item["span"])]


def read_on_the_web(page: str) -> str:
    with WebServer({"/": answer(page, content_type="text/html; charset=utf-8")}) as server:
        reader = web_reader(resolve=server.resolve, allowed_addresses=LOOPBACK, robots=False)
        return reader({"url": "http://a.test/", "hosts": ["a.test"]})["body"]


def as_text(sections: list[tuple[str, str]]) -> str:
    return "\n\n".join(["Plans", *(line for section in sections for line in section)])


@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_layout_has_the_same_sections_everywhere(layout, tmp_path):
    """A folder, a base and the web read the same headings and texts; the last two not what stands around them: cookie
    banners, navigation, related pages and footers.
    """
    page, around, sections = page_of(layout), page_of(layout, AROUND), sections_in(layout)
    (tmp_path / "folder").mkdir()
    assert read_in_folder(tmp_path / "folder", page) == sections
    for each_page in (page, around):
        assert read_in_base(tmp_path, each_page) == sections
        assert read_on_the_web(each_page) == as_text(sections)
