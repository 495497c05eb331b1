"""The tags and texts of an HTML page, as browsers part them (HTML standard, 13.2.5), in time linear in the page.

The standard library's parser is not used: up to Python 3.13.5 it takes minutes for a page of 100 kB whose tags nobody
ended, and what it makes of comments and scripts differs between versions, so a folder's documents would, too.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import unescape
from typing import Final, NamedTuple

__all__ = ["Tag", "tags_and_texts"]


class Tag(NamedTuple):
    """The beginning or the end of an element."""

    name: str
    """In lower case."""
    attributes: dict[str, str]
    is_end: bool = False


_TAG = re.compile(r"<(/?)([a-zA-Z][^\s/>]*+)")
_COMMENT_END = re.compile(r"--!?>")
_ATTRIBUTE = re.compile(r"[\s/]*+([^\s/>][^\s/>=]*+)(?:\s*+=\s*+(?:\"([^\"]*+)\"|'([^']*+)'|(?![\"'])([^\s>]*+)))?+")
_OPEN_QUOTE = re.compile(r"\s*+=\s*+[\"']")
_TAG_END = re.compile(r"[\s/]*+>")
_RAW_END: Final = {
    name: re.compile(rf"</{name}(?=[\s/>])", re.IGNORECASE)
    for name in ("iframe", "noembed", "noframes", "script", "style", "textarea", "title", "xmp")
}
"""In these elements nothing but their own end is a tag."""
_HUGE_REFERENCE = re.compile(r"&#(?:[0-9]{9,}|[xX][0-9a-fA-F]{9,});?")
"""A number that is no character; `unescape` fails on those of more than 4,300 digits."""


def tags_and_texts(page: str) -> Iterator[Tag | str]:
    """Yield what a page consists of, in order, with references such as `&amp;` resolved; comments are passed over."""
    at = 0
    while at < len(page):
        opened = page.find("<", at)
        text = page[at:] if opened < 0 else page[at:opened]
        if text:
            yield _resolved(text)
        if opened < 0:
            return
        tag = _TAG.match(page, opened)
        if tag is None:
            at = _behind_no_tag(page, opened)
            if at == opened + 1:
                yield "<"
            continue
        rest = _attributes(page, tag.end())
        if rest is None:
            return  # browsers drop a tag that nobody ended, too
        attributes, at = rest
        name = tag[2].lower()
        yield Tag(name, attributes, bool(tag[1]))
        if name in _RAW_END and not tag[1]:
            end = _RAW_END[name].search(page, at)
            stop = end.start() if end else len(page)
            yield _resolved(page[at:stop])
            at = stop


def _behind_no_tag(page: str, opened: int) -> int:
    """Return where a comment or a declaration ends; the next character where there is none."""
    if page.startswith("<!--", opened):
        end = _COMMENT_END.search(page, opened + 2)
        return end.end() if end else len(page)
    if page[opened + 1 : opened + 2] in ("!", "?", "/"):
        return page.find(">", opened) + 1 or len(page)
    return opened + 1


def _attributes(page: str, at: int) -> tuple[dict[str, str], int] | None:
    """Return the attributes of a tag, the first of a name, and where it ends; None if it does nowhere."""
    attributes: dict[str, str] = {}
    while not (end := _TAG_END.match(page, at)):
        attribute = _ATTRIBUTE.match(page, at)
        if attribute is None or _OPEN_QUOTE.match(page, attribute.end()):
            return None
        value = attribute[2] or attribute[3] or attribute[4] or ""
        attributes.setdefault(attribute[1].lower(), _resolved(value))
        at = attribute.end()
    return attributes, end.end()


def _resolved(text: str) -> str:
    return unescape(_HUGE_REFERENCE.sub("\ufffd", text)) if "&" in text else text
