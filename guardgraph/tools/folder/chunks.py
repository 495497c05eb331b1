"""Where the text of a section is cut."""

from __future__ import annotations

import re
from collections.abc import Iterator

from guardgraph.tools.folder.article import Span

__all__ = ["split_chunks"]

_PARAGRAPH_END = re.compile(r"\n[ \t]*\n\s*")
_SENTENCE_END = re.compile(
    r"[.!?…؟।۔։]['\")\]’”»*_]*\s+|[。！？｡]['\")\]’”」』）]*(?=[\s\S])|\n(?=[ \t]*(?:[-*+|>•]|\d+[.)])[ \t])|\n(?=\|)"
)
"""A mark that ends sentences, or an item's or a row's line.

No other line ends a sentence: where lines were broken to a width, a cut falls where it would if they were joined.
"""
_BLANK = re.compile(r"\s+")


def split_chunks(text: str, within: Span, max_chars: int) -> Iterator[Span]:
    """Cut a piece of a text into chunks of at most so many characters, without the blanks around them.

    A cut falls between paragraphs, else sentences, else words; into a word only if it is longer than a chunk.

    Args:
        text: all of it.
        within: the piece.
        max_chars: the most characters of a chunk.

    Yields:
        Where each chunk stands in the text.
    """
    start, stop = within
    while window := text[start : min(start + max_chars + 1, stop)]:
        cut = _cut(window, max_chars) if len(window) > max_chars else max_chars
        chunk = window[:cut]
        begun = start + len(chunk) - len(chunk.lstrip())
        if said := chunk.strip():
            yield Span(begun, begun + len(said))
        start += cut


def _cut(window: str, max_chars: int) -> int:
    """Find where a chunk ends: after a paragraph or sentence, unless that leaves it half empty."""
    for boundary, least in ((_PARAGRAPH_END, max_chars // 2), (_SENTENCE_END, max_chars // 2), (_BLANK, 1)):
        cuts = [match.end() for match in boundary.finditer(window) if match.start() >= least]
        if cuts:
            return cuts[-1]
    return max_chars
