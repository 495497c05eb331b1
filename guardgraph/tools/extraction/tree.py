"""A page as a tree of elements."""

from __future__ import annotations

from typing import Any, TypeAlias

from guardgraph.tools.extraction.extracted import ExtractionFailed

__all__ = ["Element", "tree_of"]

Element: TypeAlias = Any
"""Of lxml, which comes without types."""


def tree_of(page: str) -> Element | None:
    """Return the tree of a page, without comments; None where the page is blank.

    Raises:
        ExtractionFailed: `broken`: it has nothing that is an element or a text.
    """
    from lxml.etree import ParserError  # type: ignore[import-untyped]
    from lxml.html import HTMLParser, document_fromstring  # type: ignore[import-untyped]

    # Without huge_tree, whatever is below the 255th level is lost.
    parser = HTMLParser(remove_comments=True, remove_pis=True, encoding="utf-8", huge_tree=True)
    try:
        # As bytes, since lxml refuses a text that declares an encoding.
        return document_fromstring(page.encode("utf-8", "replace"), parser=parser)
    except ParserError as error:
        if not page.strip():
            return None
        raise ExtractionFailed("broken", {"error": "no element"}) from error
