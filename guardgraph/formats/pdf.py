"""PDF files: the text of each page."""

from __future__ import annotations

from collections.abc import Iterator
from io import BytesIO
from typing import Any, Final

from guardgraph.formats.article import Heading, Part
from guardgraph.formats.extraction import Extracted, ExtractionFailed
from guardgraph.formats.text import within
from guardgraph.formats.visibility import one_line, plain_text

_LEVEL: Final = 2
"""Of a page, below the title."""
_SHOWING: Final = (b"Tj", b"TJ", b"'", b'"')
_UNDRAWN: Final = (3, 7)
"""Text rendering modes: neither fill nor stroke (ISO 32000-2, table 104)."""


def read_pdf(content: bytes, max_chars: int) -> Extracted:
    """Return the texts of a file's pages. What the file says of its own date is a guess: programs write it.

    Args:
        content: its bytes.
        max_chars: how many characters they may have together.

    Raises:
        ExtractionFailed: `broken`, `encrypted`, or `too_large`.
    """
    from pypdf import PdfReader
    from pypdf.errors import DependencyError, LimitReachedError, PyPdfError

    try:
        reader = PdfReader(BytesIO(content))
        if reader.is_encrypted and not reader.decrypt(""):
            raise ExtractionFailed("encrypted", {})
        return _read(reader, max_chars)
    except DependencyError as error:  # of a cipher that needs another library
        raise ExtractionFailed("encrypted", {"error": str(error)[:200]}) from error
    except LimitReachedError as error:
        raise ExtractionFailed("too_large", {"limit": "pdf", "error": str(error)[:200]}) from error
    except PyPdfError as error:
        raise ExtractionFailed("broken", {"error": type(error).__name__}) from error


def _read(reader: Any, max_chars: int) -> Extracted:
    parts, texts, left = list[Part](), list[str](), max_chars
    for number, page in enumerate(reader.pages, start=1):
        _leave_out_undrawn(page)
        if text := plain_text(page.extract_text()).strip():
            within(text, left)
            left -= len(text) + 2
            texts.append(text)
            parts.extend((Heading(_LEVEL, f"Page {number}"), text))
    title, created = _about(reader.metadata)
    return Extracted(title, within("\n\n".join(texts), max_chars), tuple(parts), "", created)


def _leave_out_undrawn(page: Any) -> None:
    """Leave out text that a page does not draw beside text that it does.

    Where all of it is not drawn, it is the text of a scanned picture, and stays.
    """
    from pypdf.generic import NameObject

    content = page.get_contents()
    if content is None:
        return
    drawn = list(_drawn(content.operations))
    shows = any(operator in _SHOWING for _, operator in drawn)
    if shows and len(drawn) < len(content.operations):
        content.operations = drawn
        page[NameObject("/Contents")] = content


def _drawn(operations: list[tuple[Any, bytes]]) -> Iterator[tuple[Any, bytes]]:
    """Yield the operations of a content stream but for those that show text in a mode that draws nothing."""
    mode, saved = 0, list[Any]()
    for operands, operator in operations:
        if operator == b"q":
            saved.append(mode)
        elif operator == b"Q" and saved:
            mode = saved.pop()
        elif operator == b"Tr" and operands:
            mode = operands[0]
        elif operator in _SHOWING and mode in _UNDRAWN:
            continue
        yield operands, operator


def _about(metadata: Any) -> tuple[str, str]:
    """Return the title that a file says it has, and the day on which it says that it was made."""
    if metadata is None:
        return "", ""
    try:
        created = metadata.creation_date
    except ValueError:  # of a date that is none
        created = None
    return one_line(str(metadata.title or "")), created.date().isoformat() if created else ""
