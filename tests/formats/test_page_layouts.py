"""Ten layouts of one page: a folder, a knowledge base and the web read the same sections of each."""

import pytest
from web_server import WebServer, answer

from guardgraph import KnowledgeBase
from guardgraph.tools.knowledge_base import load_folder

WHO = "Every support case is answered within the time of the plan, by a person who knows the product well."
PLANS = {
    "Basic": f"The Basic plan costs 10 euros a month and answers within 30 hours. {WHO}",
    "Team": f"The Team plan costs 20 euros a month and answers within 20 hours. {WHO}",
    "Enterprise": f"The Enterprise plan costs 90 euros a month and answers within 15 minutes. {WHO}",
}
ANSWERS = {"Plan": "Answer", "Basic": "within 30 hours", "Enterprise": "within 15 minutes"}
ROWS = "".join(f"<tr><td>{name}</td><td>{time}</td></tr>" for name, time in ANSWERS.items())


def each(layout: str) -> str:
    return "".join(layout.replace("NAME", name).replace("TEXT", text) for name, text in PLANS.items())


SECTIONS = each("<h2>NAME</h2><p>TEXT</p>")
LAYOUTS = {
    "a form": f"<form action=/send><h1>Plans</h1>{SECTIONS}<input type=submit></form>",
    "an accordion": f"<h1>Plans</h1>{each('<details open><summary><h2>NAME</h2></summary><p>TEXT</p></details>')}",
    "an accordion of buttons": "<h1>Plans</h1>"
    + each("<div class=item><h2><button aria-expanded=true>NAME</button></h2><div class=panel>TEXT</div></div>"),
    "tables for layout": f"<table><tr><td><h1>Plans</h1></td></tr><tr><td>{SECTIONS}</td></tr></table>",
    "a table of data": f"<h1>Plans</h1>{SECTIONS}<h2>Answers</h2><table>{ROWS}</table>",
    "a sidebar": f"<div class=sidebar><h1>Plans</h1>{SECTIONS}</div>",
    "a list of terms": f"<h1>Plans</h1><dl>{each('<dt><h2>NAME</h2></dt><dd>TEXT</dd>')}</dl>",
    "divisions alone": f"<div><h1>Plans</h1></div>{each('<div><div><h2>NAME</h2></div><div>TEXT</div></div>')}",
    "an article": f"<article><h1>Plans</h1>{each('<section><h2>NAME</h2><p>TEXT</p></section>')}</article>",
    "a main part": f"<div role=main><h1>Plans</h1>{SECTIONS}</div>",
}
AROUND = (
    "<div id=cookie-banner><p>We and our 300 partners keep cookies on your device, if you let us.</p></div>"
    "<nav><a href=/>Home</a></nav><div id=content>{}</div>"
    "<div class=related><h2>Related pages</h2><ul><li><a href=/a>What another company has to offer</a></li></ul></div>"
    "<footer><p>All rights are reserved, in every country of the world.</p><a href=/i>Imprint</a></footer>"
)
"""What stands around the content of a page, and is not on it."""


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


@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_layout_has_the_same_sections_everywhere(layout, tmp_path):
    """A folder, a base and the web read the same headings and texts; the last two not what stands around them: cookie
    banners, navigation, related pages and footers.
    """
    sections = [*PLANS.items()]
    if layout == "a table of data":
        sections.append(("Answers", "\n\n".join(f"| {name} | {time}" for name, time in ANSWERS.items())))
    text = "\n\n".join(["Plans", *(line for section in sections for line in section)])
    head = "<!DOCTYPE html><html><head><title>Our plans</title></head><body>"
    alone, among = (f"{head}{around.format(LAYOUTS[layout])}</body></html>" for around in ("{}", AROUND))
    (tmp_path / "folder").mkdir()
    assert read_in_folder(tmp_path / "folder", alone) == sections
    for page in (alone, among):
        assert read_in_base(tmp_path, page) == sections
        with WebServer({"/": answer(page, content_type="text/html; charset=utf-8")}) as server:
            assert server.reader()({"url": "http://a.test/", "hosts": ["a.test"]})["body"] == text
