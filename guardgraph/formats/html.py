"""HTML: what a page shows, without what leads to other pages."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from typing import Final, NamedTuple

from guardgraph.formats.article import Heading, Parsed, Part, assembled
from guardgraph.formats.markup import Tag, tags_and_texts
from guardgraph.formats.styles import shown_by

__all__ = ["DRAWN", "RAISED", "UNSEEN", "VOID", "parse_html"]

VOID: Final = frozenset(
    {"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr"}
)
_HEADINGS: Final = {f"h{level}": level for level in range(1, 7)}
_PARAGRAPHS: Final = frozenset(
    {
        "address", "article", "aside", "blockquote", "details", "div", "dl", "fieldset", "figcaption", "figure",
        "footer", "form", "header", "hr", "main", "ol", "p", "pre", "section", "summary", "table", "ul", *_HEADINGS,
    }
)  # fmt: skip
"""Elements with a blank line before and behind."""
_LINES: Final = frozenset(["br", "caption", "dd", "dt", "li", "tbody", "tfoot", "thead", "tr"])
"""Elements that begin a line."""
UNSEEN: Final = frozenset(
    {
        "audio", "button", "canvas", "datalist", "del", "iframe", "nav", "noscript", "object", "s", "script", "select",
        "strike", "style", "svg", "template", "textarea", "title", "video"
    }
)  # fmt: skip
"""Elements whose text is not shown, is no text, leads elsewhere, or is struck out."""
DRAWN: Final = frozenset(
    {
        "applet", "audio", "button", "canvas", "del", "embed", "iframe", "img", "input", "math", "meter", "object",
        "progress", "s", "select", "strike", "svg", "textarea", "video",
    }
)  # fmt: skip
"""Elements that a reader sees and that are left out: words on both sides of one are two words."""
_NO_SECTIONS_IN: Final = ("blockquote", "li")
"""A heading in one of these belongs to a quotation or an item."""
_CELLS: Final = ("td", "th")
_ENDS: Final[dict[str, tuple[str, ...]]] = {
    **dict.fromkeys(_PARAGRAPHS, ("p",)),
    "li": ("p", "li"),
    **dict.fromkeys(("dt", "dd"), ("p", "dt", "dd")),
    **dict.fromkeys(("td", "th"), ("p", "td", "th")),
    "tr": ("p", "td", "th", "tr"),
    **dict.fromkeys(("tbody", "tfoot"), ("p", "td", "th", "tr", "thead", "tbody")),
}
"""Elements that end where one begins, if nobody ended them (HTML standard, optional tags)."""
RAISED: Final = {
    "sup": str.maketrans("0123456789+-−", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻"),
    "sub": str.maketrans("0123456789+-−", "₀₁₂₃₄₅₆₇₈₉₊₋₋"),
}
_DATES: Final = ("updated_at", "article:modified_time", "last-modified", "dcterms.modified", "date", "dcterms.date")
"""Names of ``<meta>``, best first."""
_BLANKS = re.compile(r"[ \t\n\f\r]+")


def parse_html(text: str) -> Parsed:
    """Read a page: headings, and the text between them as a browser shows it.

    Where a page has a `<main>`, the rest of it is not read. Cells of a table are parted by `|`, items begin with `-`,
    raised and lowered digits are characters of their own (`10⁹`).
    """
    reader = _Reader()
    for piece in tags_and_texts(text):
        if isinstance(piece, str):
            reader.take(piece)
        elif piece.is_end:
            reader.end(piece.name)
        else:
            reader.begin(piece)
    return reader.parsed()


class _Element(NamedTuple):
    tag: str
    hides: bool
    """Nothing in it is shown."""
    is_main: bool


class _Reader:
    """Keeps which elements are open, and writes what they show."""

    def __init__(self) -> None:
        self._open: list[_Element] = []
        self._count: Counter[str] = Counter()
        """How many of a tag are open."""
        self._hiding = 0
        self._mains = 0
        self._parts: list[tuple[bool, Part]] = []
        """Each with whether it stands in the main part."""
        self._text: list[str] = []
        self._breaks = 0
        """Line ends to write before the next text."""
        self._gap = ""
        """A blank to write before the next text, where something stood that is left out."""
        self._mark = ""
        """Of an item or a cell, to write before its first text."""
        self._heading = 0
        """The level of the heading that is being read."""
        self._link_at = 0
        """Where the text of the last link began."""
        self._title: list[str] = []
        self._dates: dict[str, str] = {}

    def parsed(self) -> Parsed:
        """Return what was read."""
        self._flush()
        main = [part for in_main, part in self._parts if in_main]
        if not any(isinstance(part, str) for part in main):
            main = [part for _, part in self._parts]
        date = next((self._dates[name] for name in _DATES if name in self._dates), "")
        return assembled(main, updated_at=date, page_title=" ".join("".join(self._title).split()))

    def begin(self, begun: Tag) -> None:
        """Begin an element."""
        tag, given = begun.name, begun.attributes
        if tag == "meta":
            self._note_date(given)
        while self._open and self._open[-1].tag in _ENDS.get(tag, ()):
            self._end_last()
        is_main = tag == "main" or given.get("role") == "main"
        if is_main and not self._hiding:
            self._flush()
        if not self._hiding and (tag in DRAWN or shown_by(tag, given).takes_room):
            self._gap = " "
        if tag not in VOID:
            element = _Element(tag, tag in UNSEEN or _is_hidden(tag, given), is_main)
            self._open.append(element)
            self._count[tag] += 1
            self._hiding += element.hides
            self._mains += is_main
        if not self._hiding:
            self._begin_shown(tag)

    def end(self, tag: str) -> None:
        """End an element, and those in it that nobody ended."""
        if self._count[tag]:
            while self._end_last() != tag:
                pass

    def take(self, data: str) -> None:
        """Take a text."""
        if self._open and self._open[-1].tag == "title" and not self._count["svg"]:
            self._title.append(data)
        elif not self._hiding:
            for tag, table in RAISED.items():
                data = data.translate(table) if self._count[tag] else data
            self._write(data.replace("\u00ad", ""))

    def _note_date(self, given: dict[str, str]) -> None:
        name = (given.get("name") or given.get("property") or "").lower()
        if name in _DATES and given.get("content", "").strip():
            self._dates[name] = given["content"].strip()

    def _begin_shown(self, tag: str) -> None:
        self._break_at(tag)
        if tag in _HEADINGS and not any(self._count[name] for name in _NO_SECTIONS_IN):
            self._flush()
            self._heading = _HEADINGS[tag]
        elif tag == "li":
            self._mark = self._mark.replace("- ", "") + "- "
        elif tag in _CELLS:
            self._mark = "| "
        elif tag == "a":
            self._link_at = len(self._text)

    def _end_last(self) -> str:
        element = self._open.pop()
        if not self._hiding:
            self._end_shown(element)
        self._count[element.tag] -= 1
        self._hiding -= element.hides
        self._mains -= element.is_main
        return element.tag

    def _end_shown(self, element: _Element) -> None:
        if element.tag in _CELLS and self._mark:
            self._put("")  # an empty cell is one, too
        if element.tag in (*_CELLS, "li"):
            self._mark = ""
        self._break_at(element.tag)
        if element.is_main:
            self._flush()
        elif element.tag in _CELLS:
            self._breaks = 0
        elif element.tag == "a" and self._heading and not _says_something(self._text[self._link_at :]):
            del self._text[self._link_at :]  # a heading's link to itself

    def _break_at(self, tag: str) -> None:
        if tag in _PARAGRAPHS:
            if self._heading and _says_something(self._text):
                self._flush()  # whether or not somebody ended the heading
            self._breaks = self._breaks if self._mark else 2
        elif tag in _LINES and not self._mark:
            self._breaks = max(self._breaks, 1)

    def _write(self, data: str) -> None:
        in_pre = self._count["pre"]
        data, self._gap = self._gap + data, ""
        shown = data if in_pre else _BLANKS.sub(" ", data)
        begins = self._breaks or self._mark or not self._text
        if begins or (not in_pre and self._text[-1][-1].isspace()):
            shown = shown.lstrip("\n") if in_pre else shown.lstrip(" ")
        if shown and not (begins and shown.isspace()):
            self._put(shown)

    def _put(self, shown: str) -> None:
        if self._text and (self._breaks or self._mark):
            self._text[-1] = self._text[-1].rstrip(" \n")
            self._text.append("\n" * self._breaks or " ")
        self._text.append(self._mark + shown)
        self._breaks, self._mark = 0, ""

    def _flush(self) -> None:
        """Make what was written a part."""
        text, level = "".join(self._text), self._heading
        if _says_something(self._text):
            part = Heading(level, " ".join(text.split())) if level else text
            self._parts.append((self._mains > 0, part))
        self._text, self._heading, self._breaks, self._mark, self._gap = [], 0, 0, "", ""


def _is_hidden(tag: str, given: dict[str, str]) -> bool:
    shown = shown_by(tag, given)
    return shown.hides or given.get("role") == "navigation" or shown.is_drawn is False or shown.is_readable is False


def _says_something(pieces: Iterable[str]) -> bool:
    return any(letter.isalnum() for piece in pieces for letter in piece)
