"""Links that open a page at a quote (URL Fragment Text Directives, https://wicg.github.io/scroll-to-text-fragment/)."""

from __future__ import annotations

import re
from typing import Final
from urllib.parse import quote as percent_encoded

from guardgraph.state.memory import remembered

__all__ = ["text_fragment"]

_DIRECTIVE: Final = ":~:"
_LONGEST: Final = 100
"""Characters of a quote that is looked for as a whole; of a longer one, where it begins and where it ends."""
_WORDS: Final = 5
_CHARS: Final = 60
"""So much of a long quote's beginning and end, where words are parted by blanks and where they are not."""
_BLOCK_END = re.compile(r"\n|\|")
"""Where a text leaves a paragraph, an item or a cell: what is looked for as a whole has to stand in one of them."""
_MARK = re.compile(r"^[ \t]*-[ \t]+")
"""Of an item: laid out by whoever read the page, and not in it."""


def text_fragment(url: str, quote: str) -> str:
    """Return a link that opens a page where a quote stands.

    A short quote within one paragraph is looked for as a whole, any other one by its first and last words. A browser
    that does not find it opens the page at its top.

    Args:
        url: of the page. A fragment that it has is kept.
        quote: the quoted words. Without any, the URL is returned as it is.
    """
    directive = _directive(quote)
    if not directive:
        return url
    page, _, fragment = url.partition("#")
    return f"{page}#{fragment.partition(_DIRECTIVE)[0]}{directive}"


@remembered(texts=256, chars=1000)
def _directive(quote: str) -> str:
    """Return what leads to a quote, behind a page's own fragment; nothing where no word is quoted."""
    blocks = [" ".join(_MARK.sub("", block).split()) for block in _BLOCK_END.split(quote)]
    blocks = [block for block in blocks if block]
    if not blocks:
        return ""
    if len(blocks) == 1 and len(blocks[0]) <= _LONGEST:
        text = _encoded(blocks[0])
    else:
        text = f"{_encoded(_beginning(blocks[0]))},{_encoded(_end(blocks[-1]))}"
    return f"{_DIRECTIVE}text={text}"


def _beginning(block: str) -> str:
    return " ".join(block.split()[:_WORDS])[:_CHARS].strip()


def _end(block: str) -> str:
    return " ".join(block.split()[-_WORDS:])[-_CHARS:].strip()


def _encoded(text: str) -> str:
    """Encode all that means something in a directive: the comma, the ampersand, and the hyphen too."""
    return percent_encoded(text, safe="", errors="replace").replace("-", "%2D")
