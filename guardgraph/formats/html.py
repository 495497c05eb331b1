"""HTML: what a page shows, block by block, and the headings that part it into sections."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from datetime import date
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from guardgraph.formats.article import Heading, Parsed, Part, join_article_parts
from guardgraph.formats.page_tree import (
    HEADINGS,
    Piece,
    list_elements,
    parse_page_tree,
    read_node_text,
    read_tree_title,
    read_visible_pieces,
)
from guardgraph.formats.text import clean_plain_text, drop_unseen_letters
from guardgraph.formats.visibility import Gap

if TYPE_CHECKING:
    from selectolax.lexbor import LexborNode

_PUBLISHED: Final = (
    "article:published_time", "og:article:published_time", "og:published_time", "datepublished", "date",
    "dcterms.created", "dcterms.issued", "dcterms.date", "dc.date", "dc.date.issued", "citation_publication_date",
    "parsely-pub-date", "pubdate", "publishdate",
)  # fmt: skip
_CHANGED: Final = (
    "article:modified_time", "og:article:modified_time", "og:updated_time", "datemodified", "dcterms.modified",
    "dc.date.modified", "last-modified", "updated_at",
)  # fmt: skip
_OF_THE_FILE: Final = (
    "updated_at", "article:modified_time", "last-modified", "dcterms.modified", "date", "dcterms.date"
)  # fmt: skip
"""Names of ``<meta>``, best first."""
_DATE = re.compile(r"(\d{4})([-/]?)(\d\d)\2(\d\d)(?!\d)")
_MOST_NODES: Final = 10_000  # of one page's JSON-LD


def find_change_day(root: LexborNode) -> str:
    """Return when a page of a folder says that it was last changed, in its author's words; "" where it does not."""
    metas = ((_name_meta(meta), (meta.attributes.get("content") or "").strip()) for meta in list_elements(root, "meta"))
    said = {name: content for name, content in metas if content}
    return next((said[name] for name in _OF_THE_FILE if name in said), "")


def find_declared_day(root: LexborNode) -> str:
    """Return the day that a page declares in its head, such as ``2026-03-14``; an empty text where it declares none."""
    metas = {_name_meta(meta): meta.attributes.get("content") or "" for meta in reversed(list_elements(root, "meta"))}
    ld = list(_list_linked_data(root))
    return (
        _find_first_day(metas.get(name, "") for name in _PUBLISHED)
        or _find_first_day(value for name, value in ld if name == "datePublished")
        or _find_first_day(metas.get(name, "") for name in _CHANGED)
        or _find_first_day(value for name, value in ld if name == "dateModified")
    )


def find_shown_day(tree: Any) -> str:
    """Return the day of the first ``<time datetime>`` that has one, likewise."""
    return _find_first_day(element.get("datetime") or "" for element in tree.iter("time"))


def guess_page_day(tree: Any, url: str) -> str:
    """Return the day that htmldate takes a page to be of; an empty text where it finds none."""
    from htmldate import find_date

    return find_date(tree, original_date=True, url=url or None) or ""


def _find_first_day(values: Iterator[str]) -> str:
    return next(filter(None, map(_parse_day, values)), "")


def _parse_day(value: str) -> str:
    found = _DATE.match(value.strip())
    try:
        return date(int(found[1]), int(found[3]), int(found[4])).isoformat() if found else ""
    except ValueError:
        return ""


def _name_meta(meta: LexborNode) -> str:
    given = meta.attributes
    return (given.get("property") or given.get("name") or given.get("itemprop") or "").strip().lower()


def _list_linked_data(root: LexborNode) -> Iterator[tuple[str, str]]:
    """Yield names and texts of JSON-LD, in the order of the page."""
    waiting: list[Any] = []
    for script in list_elements(root, "script"):
        if (script.attributes.get("type") or "").strip().lower() == "application/ld+json":
            try:
                waiting.append(json.loads(read_node_text(script)))
            except (ValueError, RecursionError):
                continue
    waiting.reverse()
    for _ in range(_MOST_NODES):
        if not waiting:
            return
        node = waiting.pop()
        if isinstance(node, dict):
            yield from ((name, value) for name, value in node.items() if isinstance(value, str))
        children = node.values() if isinstance(node, dict) else node if isinstance(node, list) else ()
        waiting.extend(reversed([child for child in children if isinstance(child, dict | list)]))


_PARAGRAPHS: Final = frozenset(
    {
        "address", "article", "aside", "blockquote", "body", "center", "details", "dir", "div", "dl", "fieldset",
        "figcaption", "figure", "footer", "form", "header", "hgroup", "hr", "html", "legend", "main", "menu", "ol", "p",
        "pre", "search", "section", "summary", "table", "tr", "ul", *HEADINGS,
    }
)  # fmt: skip
"""Elements with a blank line before and behind; the row of a table is one, so that nobody reads on into the next."""
_LINES: Final = frozenset(["br", "caption", "dd", "dt", "li", "tbody", "tfoot", "thead"])  # elements that begin a line
_NO_SECTIONS_IN: Final = ("blockquote", "li")  # A heading in one of these belongs to a quotation or an item
_CELLS: Final = ("td", "th")
_PARTED: Final = "\n\n"  # what stands between the lines of a heading that a gap parts
_BLANKS = re.compile(r"[ \t\n\f\r]{2,}|[\t\n\f\r]")


class Block(NamedTuple):
    """A heading, a paragraph, an item, the row of a table, or a line, as a page shows it."""

    text: str
    level: int  # of a heading that opens a section; 0 of anything else
    breaks: int  # line ends before it, where another text stands before it in its section
    linked: int  # how many of its characters are links; in a heading, links to other pages
    is_code: bool = False  # whether it stands as it is written, and is no item and no cell


class Element(NamedTuple):
    """An element that begins a block, with the blocks in it."""

    tag: str
    attributes: Mapping[str, str]
    first: int
    end: int  # the block behind its last

    @property
    def is_main(self) -> bool:
        """Whether its author says that the page is about what is in it."""
        return _is_main_element(self.tag, self.attributes)


class ShownPage(NamedTuple):
    """What a page shows."""

    blocks: list[Block]
    elements: list[Element]  # in the order in which they begin, so that each stands behind those that it is in

    def main_blocks(self) -> list[int]:
        """Return the numbers of the blocks of its `<main>`; none where that says nothing or is not there."""
        main = list[int]()
        for element in self.elements:
            if element.is_main:  # which may stand in another one
                main.extend(range(max(element.first, main[-1] + 1 if main else 0), element.end))
        says = any(_has_letters(self.blocks[at].text) and not self.blocks[at].level for at in main)
        return main if says else []


def parse_html(text: str) -> Parsed:
    """Read a page: headings, and the text between them as a browser shows it."""
    root = parse_page_tree(text)
    reader = BlockReader()
    for piece in read_visible_pieces(root):
        reader.take(piece)
    page = reader.page()
    main = [page.blocks[at] for at in page.main_blocks()] or page.blocks
    fenced = (block._replace(text=f"```text\n{block.text}\n```") if block.is_code else block for block in main)
    parts = list_page_parts(fenced)
    return join_article_parts(parts, updated_at=find_change_day(root), page_title=read_tree_title(root))


def list_page_parts(blocks: Iterable[Block]) -> list[Part]:
    """Return headings, and the texts between them."""
    parts, texts = list[Part](), list[str]()
    for block in blocks:
        if block.level:
            parts += _join_block_texts(texts)
            texts.clear()
            if _has_letters(block.text):
                lines = (" ".join(line.split()) for line in block.text.split(_PARTED))
                parts.append(Heading(block.level, _PARTED.join(filter(None, lines))))
        elif block.text.strip("| "):
            texts.append("\n" * block.breaks * bool(texts) + block.text)
    return [*parts, *_join_block_texts(texts)]


def _join_block_texts(texts: list[str]) -> Iterator[str]:
    if any(map(_has_letters, texts)):
        yield "".join(texts)


class BlockReader:
    """Takes what a page shows, piece by piece, and makes blocks of it."""

    def __init__(self) -> None:
        self._blocks: list[Block] = []
        self._elements: list[Element] = []
        self._open: list[int | None] = []
        """The numbers of the elements that are open; None for those that begin no block."""
        self._count: Counter[str] = Counter()  # how many of a tag are open
        self._text: list[str] = []  # of the block that is being read
        self._speaks = False  # whether that has a letter or a digit
        self._in_pre = False  # whether some of it stands as it is written
        self._linked = 0  # how many of its characters are links
        self._before = 0  # line ends before it
        self._breaks = 0  # line ends to write before the next text
        self._mark = ""  # of an item or a cell, to write before its first text
        self._gap: Gap | None = None  # what may part the next text from the one before
        self._heading = 0  # the level of the heading that is being read
        self._link = ""  # where the link leads that is being read
        self._link_at = 0  # where the text of the last link began

    def page(self) -> ShownPage:
        """Return what was read."""
        self._finish_block()
        return ShownPage(self._blocks, self._elements)

    def take(self, piece: Piece) -> None:
        """Take the beginning or the end of an element, a gap, or a text."""
        if isinstance(piece, str):
            self._write_page_words(piece)
        elif piece is Gap.BLANK:
            self._write_page_words(" ")
        elif isinstance(piece, Gap):
            if self._text and not self._mark and self._gap is not Gap.LINE:
                self._gap = piece
        elif piece.is_end:
            self._end_element(piece.name)
        else:
            self._begin_element(piece.name, piece.attributes)

    def _begin_element(self, tag: str, given: Mapping[str, str]) -> None:
        is_main = _is_main_element(tag, given)
        begins_block = is_main or tag in _PARAGRAPHS or tag in _LINES
        if is_main:
            self._break_section()
        self._break_block_at(tag)
        if tag in HEADINGS and not any(self._count[name] for name in _NO_SECTIONS_IN):
            self._break_section()
            self._heading = HEADINGS[tag]
        elif tag == "li":
            self._mark = self._mark.replace("- ", "") + "- "
        elif tag in _CELLS:
            self._mark, self._gap = "| ", None
        elif tag == "a":
            self._link, self._link_at = given.get("href", ""), len(self._text)
        self._count[tag] += 1
        self._open.append(len(self._elements) if begins_block else None)
        if begins_block:
            first = len(self._blocks) + (1 if self._text and self._breaks else 0)
            self._elements.append(Element(tag, given, first, first))

    def _end_element(self, tag: str) -> None:
        if tag in _CELLS and self._mark:
            self._write_block_text("")  # an empty cell is one, too
        if tag in _CELLS or tag == "li":
            self._mark = ""
        number = self._open.pop()
        if number is not None:
            element = self._elements[number]
            self._elements[number] = element._replace(end=len(self._blocks) + (1 if self._text else 0))
            if element.is_main:
                self._break_section()
        self._break_block_at(tag)
        if tag in HEADINGS and self._heading:
            self._break_section()  # one that says nothing, too
        elif tag in _CELLS:
            self._breaks, self._gap = 0, None
        elif tag == "a":
            self._link = ""
            if self._heading and not _has_letters("".join(self._text[self._link_at :])):
                del self._text[self._link_at :]  # a heading's link to itself
        self._count[tag] -= 1

    def _break_block_at(self, tag: str) -> None:
        if tag in _PARAGRAPHS:
            if self._heading and self._speaks:
                self._break_section()  # a block in a heading ends it
            self._breaks, self._gap = self._breaks if self._mark else 2, None
        elif tag in _LINES:
            self._breaks = self._breaks if self._mark else max(self._breaks, 1)
            self._gap = self._gap if tag == "br" else None

    def _is_parted(self, data: str) -> bool:
        """Say whether a gap ends the line before a text: in any case, or where two words would be one without it."""
        before = drop_unseen_letters("".join(self._text[-1:]))[-1:]
        return self._gap is Gap.LINE or (before.isalnum() and drop_unseen_letters(data)[:1].isalnum())

    def _write_page_words(self, data: str) -> None:
        in_pre = self._count["pre"] > 0
        if self._gap is not None and data.strip():
            if not self._is_parted(data):
                self._gap = None
            elif in_pre:
                data, self._gap = data if self._text[-1:] and self._text[-1][-1:] == "\n" else f"\n{data}", None
            else:
                self._breaks = 2
        shown = data if in_pre else _BLANKS.sub(" ", data)
        begins = self._breaks or self._mark or not self._text
        if begins or (not in_pre and self._text[-1][-1].isspace()):
            shown = shown.lstrip("\n") if in_pre else shown.lstrip(" ")
        if shown and not (begins and shown.isspace()):
            self._write_block_text(shown)

    def _write_block_text(self, shown: str) -> None:
        if self._text and self._breaks and not self._heading:
            self._finish_block()
        elif self._text and (self._breaks or self._mark):
            self._text[-1] = self._text[-1].rstrip(" \n")
            self._text.append(_PARTED if self._gap else " ")
        if not self._text:
            self._before = self._breaks or 2
        self._text.append(self._mark + shown)
        self._speaks = self._speaks or _has_letters(shown)
        self._in_pre = self._in_pre or self._count["pre"] > 0
        if self._link and not (self._heading and self._link.startswith("#")):
            self._linked += len(shown)
        self._breaks, self._mark = 0, ""
        self._gap = self._gap if shown.isspace() else None

    def _break_section(self) -> None:
        """End what is being read: what follows is another heading, or stands under another."""
        self._finish_block()
        self._heading, self._breaks, self._mark, self._gap = 0, 2, "", None

    def _finish_block(self) -> None:
        if self._text:
            written = "".join(self._text)
            text = clean_plain_text(written)
            if text != written and not self._in_pre:  # what is not seen stood between two blanks
                text = _PARTED.join(_BLANKS.sub(" ", line).strip(" ") for line in text.split(_PARTED))
            is_code = self._in_pre and not self._heading and not text.startswith(("- ", "| "))
            self._blocks.append(Block(text.rstrip(" \n"), self._heading, self._before, self._linked, is_code))
            self._text, self._speaks, self._in_pre, self._linked = [], False, False, 0


def _is_main_element(tag: str, attributes: Mapping[str, str]) -> bool:
    return tag == "main" or ("role" in attributes and attributes["role"].strip().lower() == "main")


def _has_letters(text: str) -> bool:
    return any(map(str.isalnum, text))
