"""The text of what trafilatura made of a page, laid out as the folder's parsers lay it out."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from guardgraph.formats.article import Heading, Part
from guardgraph.formats.tree import Element
from guardgraph.formats.unseen import seen
from guardgraph.plain.letters import composed

__all__ = ["one_line", "parts_of", "plain_text", "text_of_parts"]

_BLANKS = re.compile(r"[ \t\n\f\r]+")
_ENDS: Final = {
    **dict.fromkeys(("ab", "body", "div", "fw", "head", "list", "p", "quote", "table"), "\n\n"),
    **dict.fromkeys(("item", "lb", "row"), "\n"),
}
"""What parts an element from those around it."""
_MARKS: Final = {"item": "- ", "cell": "| "}
_NO_SECTIONS_IN: Final = frozenset({"cell", "item", "quote"})
"""A heading in one of these belongs to a quotation, an item or a table."""
_LOWEST: Final = 6
_BREAK: Final = "\0"
"""Stands before a line end that was made here; no text of a page has it."""
_BREAKS = re.compile(rf"[ ]*(?:{_BREAK}\n+[ ]*)+")


def parts_of(body: Element) -> list[Part]:
    """Return headings and the texts between them; the level of a heading that has none is 6."""
    parts: list[Part] = []
    pieces: list[str] = []
    for piece in _pieces(body, in_section=True):
        if isinstance(piece, Heading):
            _end_part(parts, pieces)
            parts.append(piece)
        else:
            pieces.append(piece)
    _end_part(parts, pieces)
    return parts


def text_of_parts(parts: list[Part]) -> str:
    """Return what headings and texts say together."""
    return "\n\n".join(part.text if isinstance(part, Heading) else part for part in parts)


def one_line(text: str) -> str:
    """Return a text as a reader sees it in a heading."""
    return " ".join(plain_text(text).split())


def plain_text(text: str) -> str:
    """Return a text without what is not seen, its letters composed as they are usually written (NFC)."""
    return composed(seen(text))


def _end_part(parts: list[Part], pieces: list[str]) -> None:
    # Of several ends in a row the one that parts most counts, whatever was open between them.
    text = _BREAKS.sub(lambda breaks: "\n\n" if "\n\n" in breaks[0] else "\n", "".join(pieces)).strip()
    pieces.clear()
    if any(letter.isalnum() for letter in text):
        parts.append(text)


def _pieces(element: Element, *, in_section: bool, in_code: bool = False) -> Iterator[str | Heading]:
    tag = str(element.tag)
    if tag == "head" and in_section:
        text = " ".join("".join(map(str, element.itertext())).split())
        if text:
            yield Heading(_level(element), text)
        return
    in_code = in_code or tag == "code"
    end = _ENDS.get(tag, "\n\n" if in_code and "\n" in (element.text or "") else "")
    yield from (_BREAK + end if end else "", _MARKS.get(tag, ""), _laid_out(element.text, in_code))
    for child in element:
        yield from _pieces(child, in_section=in_section and tag not in _NO_SECTIONS_IN, in_code=in_code)
        yield _laid_out(child.tail, in_code)
    yield _BREAK + end if end else " " * (tag == "cell")


def _laid_out(text: str | None, in_code: bool) -> str:
    text = (text or "").replace(_BREAK, "")
    return text if in_code else _BLANKS.sub(" ", text)


def _level(head: Element) -> int:
    rend = head.get("rend") or ""
    return int(rend[1]) if re.fullmatch("h[1-6]", rend) else _LOWEST
