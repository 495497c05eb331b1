"""The pieces of a document that are found and cited: their ids, their sections, and where they stand in its text."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from guardgraph.tools.folder.article import SECTION_SIGN, Section, Span
from guardgraph.tools.folder.chunks import split_chunks

__all__ = ["Piece", "pieces_of"]


class Piece(NamedTuple):
    """A part of a section, short enough to be shown to a model."""

    id: str
    """`DOCUMENT#section.number`; it changes only with the document's id, the headings, or what stands above."""
    section: str
    text: str
    span: Span


def pieces_of(
    document: str, text: str, sections: Iterable[Section], max_chars: int, *, below: str = ""
) -> Iterator[Piece]:
    """Cut a document's sections into pieces.

    Args:
        document: the document's id.
        text: all of its text.
        sections: where its sections stand in the text.
        max_chars: the most characters of a piece.
        below: what its sections stand below; no id has it.
    """
    used: Counter[str] = Counter()
    for section in sections:
        path = f"{below}{SECTION_SIGN}{section.name}" if below else section.name
        for span in split_chunks(text, section.span, max_chars):
            anchor = _anchor(section.name)
            used[anchor] += 1
            yield Piece(f"{document}#{anchor}.{used[anchor]}", path, text[span.start : span.end], span)


def _anchor(section: str) -> str:
    return "-".join(re.findall(r"[^\W_]+", section.lower()))[:60] or "section"
