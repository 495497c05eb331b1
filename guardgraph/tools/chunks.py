"""The pieces of a document that are found and cited: their ids, their sections, and where they stand in its text."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from guardgraph.formats.article import SECTION_SIGN, Section, Span

_PARAGRAPH_END = re.compile(r"\n[ \t]*\n\s*")
_SENTENCE_END = re.compile(
    r"[.!?…؟।۔։]['\")\]’”»*_]*\s+|[。！？｡]['\")\]’”」』）]*(?=[\s\S])|\n(?=[ \t]*(?:[-*+|>•]|\d+[.)])[ \t])|\n(?=\|)"
)
"""A mark that ends sentences, or an item's or a row's line.

No other line ends a sentence: where lines were broken to a width, a cut falls where it would if they were joined.
"""
_BLANK = re.compile(r"\s+")


def split_text_into_chunks(text: str, within: Span, max_chars: int) -> Iterator[Span]:
    """Cut a piece of a text into chunks of at most so many characters, without the blanks around them."""
    start, stop = within
    while window := text[start : min(start + max_chars + 1, stop)]:
        cut = _find_chunk_end(window, max_chars) if len(window) > max_chars else max_chars
        chunk = window[:cut]
        begun = start + len(chunk) - len(chunk.lstrip())
        if said := chunk.strip():
            yield Span(begun, begun + len(said))
        start += cut


def _find_chunk_end(window: str, max_chars: int) -> int:
    """Find where a chunk ends: after a paragraph or sentence, unless that leaves it half empty."""
    for boundary, least in ((_PARAGRAPH_END, max_chars // 2), (_SENTENCE_END, max_chars // 2), (_BLANK, 1)):
        cuts = [match.end() for match in boundary.finditer(window) if match.start() >= least]
        if cuts:
            return cuts[-1]
    return max_chars


class Piece(NamedTuple):
    """A part of a section, short enough to be shown to a model."""

    id: str
    """`DOCUMENT#section.number`; it changes only with the document's id, the headings, or what stands above."""
    section: str
    text: str
    span: Span


def split_document_into_chunks(
    document: str, text: str, sections: Iterable[Section], max_chars: int, *, below: str = ""
) -> Iterator[Piece]:
    """Cut a document's sections into pieces."""
    used: Counter[str] = Counter()
    for section in sections:
        path = f"{below}{SECTION_SIGN}{section.name}" if below else section.name
        for span in split_text_into_chunks(text, section.span, max_chars):
            anchor = "-".join(re.findall(r"[^\W_]+", section.name.lower()))[:60] or "section"
            used[anchor] += 1
            yield Piece(f"{document}#{anchor}.{used[anchor]}", path, text[span.start : span.end], span)
