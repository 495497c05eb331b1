"""HTML: what a page shows of its content, with its title and dates."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from guardgraph.formats.article import Heading, Part
from guardgraph.formats.blocks import one_line, parts_of, plain_text, text_of_parts
from guardgraph.formats.dates import declared_in, guessed_from, shown_in
from guardgraph.formats.extraction import Extracted
from guardgraph.formats.html import parse_html
from guardgraph.formats.text import within
from guardgraph.formats.tree import Element, elements_of, text_in, tree_of
from guardgraph.formats.visible import visible_page

if TYPE_CHECKING:
    from selectolax.lexbor import LexborNode

__all__ = ["read_page"]

_SHORT: Final = 250
"""Characters. What trafilatura makes of less is all words of the page on one line; such a page is read as a file is."""


def read_page(page: str, url: str, max_chars: int) -> Extracted:
    """Return what a page shows: its content as trafilatura finds it, in what is left when the unseen is removed.

    Args:
        page: its text.
        url: where it is from.
        max_chars: how many characters its text may have.

    Raises:
        ExtractionFailed: `broken`, or `too_large`.
    """
    from lxml.html import HTMLParser, document_fromstring  # type: ignore[import-untyped]
    from trafilatura import bare_extraction

    root = tree_of(page)
    shown = visible_page(root) if root is not None else ""
    if root is None or not shown:
        return Extracted("", "", (), "", "")
    # Without huge_tree, whatever is below the 255th level is lost.
    tree = document_fromstring(shown.encode(), parser=HTMLParser(encoding="utf-8", huge_tree=True))
    title = _title(root, tree)
    declared = declared_in(root) or shown_in(tree)
    guessed = "" if declared else guessed_from(tree, url)
    found: Any = bare_extraction(tree, url=url or None, include_comments=False)
    parts = parts_of(found.body) if found is not None else []
    if len(text_of_parts(parts)) < _SHORT:
        parts = _read_as_a_file(shown)
    text = within(plain_text(text_of_parts(parts)), max_chars)
    return Extracted(title, text, tuple(map(_plain, parts)), declared, guessed)


def _title(root: LexborNode, shown: Element) -> str:
    named = [text_in(element) for element in elements_of(root, "head > title")]
    named += ["".join(heading.itertext()) for heading in shown.iter("h1")]
    return next(filter(None, map(one_line, named)), "")


def _read_as_a_file(shown: str) -> list[Part]:
    parsed = parse_html(shown)
    return [part if isinstance(part, Heading) else parsed.text[part.start : part.end] for part in parsed.parts]


def _plain(part: Part) -> Part:
    return Heading(part.level, one_line(part.text)) if isinstance(part, Heading) else plain_text(part)
