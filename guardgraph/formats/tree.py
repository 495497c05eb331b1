"""A page as the tree that a browser makes of it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from selectolax.lexbor import LexborNode

__all__ = ["Element", "children_of", "elements_of", "text_in", "tree_of"]

Element: TypeAlias = Any
"""Of lxml, which comes without types."""

_WITHOUT_SCRIPTS = re.compile(r"(</?)(noscript|noembed)(?=[\s/>])", re.IGNORECASE)
_READ_AS = {"noscript": "noembed", "noembed": "x-noembed"}


def tree_of(page: str) -> LexborNode | None:
    """Return the tree of a page as a browser that runs scripts has it; None where it has no element.

    It is made by Lexbor, which follows the HTML standard. (libxml2, which trafilatura reads pages with, does not: it
    ends `<div hidden/>` and `<h1 hidden><p>` early, and shows what they hide.) Lexbor reads `<noscript>` as a browser
    without scripts does; `<noembed>` is read as any other browser reads both.
    """
    from selectolax.lexbor import LexborHTMLParser

    page = _WITHOUT_SCRIPTS.sub(lambda tag: tag[1] + _READ_AS[tag[2].lower()], page)
    return LexborHTMLParser(page).root


def children_of(node: LexborNode) -> Iterator[LexborNode]:
    """Yield what is in an element: elements, texts and comments."""
    child = node.first_child
    while child is not None:
        yield child
        child = child.next


def elements_of(root: LexborNode, name: str) -> list[LexborNode]:
    """Return all elements of a name, in the order of the page."""
    return root.css(name)


def text_in(node: LexborNode) -> str:
    """Return all text in an element."""
    return node.text(deep=True)
