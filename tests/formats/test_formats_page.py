"""Pages as bases and the web read them, in this process: title, days, and which part of a page is its main part."""

from unittest.mock import Mock

import pytest
import trafilatura
from tables import each_row

from guardgraph.formats.article import Heading
from guardgraph.formats.extraction import Extracted
from guardgraph.formats.html import BlockReader, ShownPage, list_page_parts
from guardgraph.formats.page import choose_main_text, find_main_part, read_page, write_page_markup
from guardgraph.formats.page_tree import Tag, parse_page_tree, read_visible_pieces

SAYS = [
    "The council voted on Tuesday to close the old bridge over the river for two years while it is repaired.",
    "Engineers found cracks in three of the five arches during an inspection, and traffic was limited to cars.",
    "Repairs will cost 14 million euros, of which the state pays half, and the rest comes from the city.",
]
BODY = "".join(f"<p>{text}</p>" for text in SAYS)
OTHER = "Something else is told here in words that nobody chose, and at such a length that it could be read."


def read(page: str, *, url: str = "", max_chars: int = 100_000) -> Extracted:
    return read_page(page, url, max_chars)


def shown(body: str) -> ShownPage:
    reader = BlockReader()
    for piece in read_visible_pieces(parse_page_tree(body)):
        reader.take(piece)
    return reader.page()


def chosen(body: str, *texts: str) -> list[str]:
    parts = list_page_parts(find_main_part(shown(body), texts or SAYS))
    return [f"# {part.text}" if isinstance(part, Heading) else part for part in parts]


MAIN = "\n\n".join(SAYS)
GRAPH = '<script type="application/ld+json">{"@graph": [{"datePublished": "2026-03-14T09:00"}]}</script>'


class TestPage:
    def test_a_page_has_title_text_and_parts(self):
        found = read(f"<title> The\n page</title><h1>A bridge</h1>{BODY}")
        assert (found.title, found.parts) == ("The page", (Heading(1, "A bridge"), MAIN))
        assert found.text == f"A bridge\n\n{MAIN}"
        assert read("<h1><img></h1><h1>A <i>bridge</i></h1>x").title == "A bridge"

        for page in ("", "<title>Empty</title>", "<p hidden>x", "<script>x</script>"):
            assert read(page)[1:] == ("", (), "", "", "", ())

    @each_row(
        ("page", "declared", "guessed"),
        ('<meta name=date content="2026-03-14">', "2026-03-14", ""),
        ('<meta name=date content="2026-02-30"><meta name=updated_at content=20260314>', "2026-03-14", ""),
        ('<script type="application/ld+json">[{"datePublished": "2026-03-14"}, 5]</script>', "2026-03-14", ""),
        (f'<script type="application/ld+json">[{"[" * 9 + "]" * 9}, {{}}]</script>', "", ""),
        ('<script type="application/ld+json">{"broken</script>', "", ""),
        ("<p>As of <time datetime=yesterday>x</time><time datetime=2026-03-14>Pi day</time>.", "2026-03-14", ""),
        ("<p hidden>As of <time datetime=2026-03-14>Pi day</time>.", "", ""),
        (f'<meta property="article:modified_time" content="2026-05-01">{GRAPH}', "2026-03-14", ""),
        (GRAPH.replace("[{", "[" + "[]," * 20_000 + "{"), "", ""),
        ("<p>Published on March 14, 2024", "", "2024-03-14"),
        ("", "", ""),
    )
    def test_days_are_declared_or_guessed(self, page, declared, guessed):
        found = read(page + BODY, url="https://docs.example.com/bridge")
        assert (found.declared_date, found.guessed_date) == (declared, guessed)


class TestMainPart:
    def test_it_is_the_smallest_element_with_what_was_chosen(self):
        """With its own headings and whatever else stands there, and nothing of what stands around."""
        body = f"<div>Top</div><div><h2>Bridge</h2>{BODY}<div>{OTHER}</div><h3>End</h3></div><div>{OTHER}</div>"
        assert chosen(body) == ["# Bridge", f"{MAIN}\n\n{OTHER}", "# End"]

    def test_what_was_chosen_elsewhere_is_kept(self):
        body = f"<div><h2>Bridge</h2>{BODY}</div><div><h2>A</h2><h3>More</h3><p>Two short words</p><p>{OTHER}</p></div>"
        found = chosen(body, *SAYS, "Two short words")
        assert found == ["# Bridge", MAIN, "# A", "# More", "Two short words"]

    def test_its_author_says_where_it_is(self):
        """Whatever is chosen outside of `<main>` is not read; where little was chosen, all of it is."""
        everything = f"<div>{BODY}</div><div>{OTHER}</div>"
        assert chosen(everything, "nothing of it") == chosen(everything, "") == [f"{MAIN}\n\n{OTHER}"]
        body = f"<p>{SAYS[0]}</p><main><h2>Bridge</h2><p>{OTHER}</p>{BODY}</main><footer>{OTHER}</footer>"
        assert chosen(body) == ["# Bridge", f"{OTHER}\n\n{MAIN}"]
        assert chosen(body, "nothing of it") == ["# Bridge", f"{OTHER}\n\n{MAIN}"]
        assert chosen(f"<main>{everything}</main>") == [f"{MAIN}\n\n{OTHER}"]

    def test_what_looks_like_it_stands_around_is_not_read(self):
        for around in (
            f"<footer>{OTHER}</footer>",
            f"<div class='x cookie-banner'>{OTHER}</div>",
            f"<section id=comments><h2>2 comments</h2><p>{OTHER}</p></section>",
            f"<p>See <a href=/a>{OTHER}</a></p>",
            f"<div><h2>More</h2><h3><a href=/a>Other</a></h3>{OTHER}<h3><a href=/b>One</a></h3>{OTHER}</div>",
        ):
            body = f"<main><h2>Bridge</h2>{BODY}{around}</main>"
            assert chosen(body) == ["# Bridge", MAIN]
            assert OTHER in "".join(chosen(body, *SAYS, OTHER))

    @pytest.mark.parametrize("tag", ["form", "details open", "table><tr><td", "dl><dd", "fieldset"])
    def test_elements_that_are_never_chosen_are_read(self, tag):
        """Where they have sections and a text of their own, but for what stands around a text in them."""
        told = f"<h2>Told</h2><p>{OTHER} one</p><h3>More</h3><p>{OTHER} two</p><p>{OTHER} three</p>"
        body = f"<div><h1>Bridge</h1>{BODY}</div><{tag}>{told}<footer>{OTHER} four</footer>"
        found = "\n\n".join(chosen(body))
        assert [word in found for word in ("# Told", "one", "# More", "two", "three", "four")] == [True] * 5 + [False]
        short = f"<div><h1>Bridge</h1>{BODY}</div><{tag}><h2>Told</h2>{OTHER}"
        assert chosen(short) == ["# Bridge", MAIN]

    @pytest.mark.parametrize("side", ["<aside>", "<div class='left sidebar'>"])
    def test_a_side_that_says_more_than_all_else_is_read(self, side):
        """It has the content of the page; any other has what stands beside it."""
        told = f"{side}<h2>Told</h2>" + "".join(f"<p>{OTHER} {number}</p>" for number in range(5))
        assert "# Told" in chosen(f"<div>{BODY}</div>{told}")
        assert chosen(f"<div>{BODY}{BODY}</div>{told}") == [f"{MAIN}\n\n{MAIN}"]

    def test_texts_without_blanks_are_known_again(self):
        says = "议会周二投票决定关闭河上的旧桥两年以便进行维修工程师在检查中发现五个拱门中有三个出现裂缝" * 7
        assert chosen(f"<div><h2>桥</h2><p>{says}</p></div><p>{OTHER}</p>", says) == ["# 桥", says]


class TestTrafilatura:
    def test_it_chooses_and_rewrites_nothing(self, monkeypatch):
        class Found:
            body = trafilatura.utils.load_html(f"<html><body>{BODY}<p>Words of its own</p></body></html>")

        monkeypatch.setattr(trafilatura, "bare_extraction", lambda *_, **__: Found)
        assert read(f"<div><h2>Bridge</h2>{BODY}</div><p>{OTHER}</p>").text == f"Bridge\n\n{MAIN}"

    @pytest.mark.parametrize("finds", [None, RecursionError])
    def test_where_it_finds_nothing_the_page_is_read(self, finds, monkeypatch):
        monkeypatch.setattr(trafilatura, "bare_extraction", Mock(return_value=None, side_effect=finds))
        assert choose_main_text(None, "") == []
        assert read(f"<form><h2>Bridge</h2>{BODY}</form>").text == f"Bridge\n\n{MAIN}"

    def test_it_is_given_what_is_shown(self):
        """No attribute in which a text could be hidden, no letter that XML refuses, and no tag within a line."""
        pieces = [Tag("div", {"id": "a&b", "title": "x"}), "1 < 2\x01", Tag("b", {}), Tag("b", {}, is_end=True)]
        pieces += [Tag("br", {}), Tag("br", {}, is_end=True), Tag("div", {}, is_end=True)]
        assert "".join(map(write_page_markup, pieces)) == '<div id="a&amp;b">1 &lt; 2<br></div>'
