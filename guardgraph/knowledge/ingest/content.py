"""A file of a folder: its bytes, by what an unchanged one is known, and the text that is made of it."""

from __future__ import annotations

import hashlib
import os
import stat
from datetime import UTC, datetime
from typing import Final, Literal, NamedTuple

from guardgraph.formats.article import Parsed, assembled
from guardgraph.formats.by_ending import FORMATS, decoded
from guardgraph.formats.html import parse_html
from guardgraph.formats.rst import parse_rst
from guardgraph.knowledge.documents import Stamp
from guardgraph.knowledge.ingest.folder import PDF, FolderEntry
from guardgraph.knowledge.ingest.report import Unusable
from guardgraph.knowledge.ingest.sidecar import (
    ReadersUnknown,
    SidecarRules,
    read_field_list_readers,
    read_front_matter_rules,
    read_page_readers,
    read_sidecar_rules,
)
from guardgraph.plain.errors import ConfigurationError

MAX_DOCUMENT_BYTES: Final = 50_000_000
"""Bytes of one file. Nobody reads a longer one; what is found in it could not be checked by a person."""

_SECONDS: Final = 60.0
"""In which a page or a PDF file is read."""
_MAX_CHARS: Final = 10_000_000
"""Of the text of a page or a PDF file: twice what the longest book has."""

_FLAGS: Final = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
"""What became a link or a pipe since the folder was walked is not opened."""


class Content(NamedTuple):
    """What was read of a document and its sidecar."""

    data: bytes
    said: SidecarRules
    """What the sidecar says."""
    stamp: Stamp


def quick_stamp(entry: FolderEntry) -> tuple[int, int] | None:
    """Return the size and the time of a document, None where they cannot tell whether it is unchanged."""
    return None if entry.beside is not None or entry.wrong else (entry.file.size, entry.file.modified)


def read_document_content(entry: FolderEntry) -> Content:
    """Read a document and its sidecar.

    Raises:
        Unusable: one of them cannot be read, is too large, or the sidecar is wrong.
    """
    if entry.wrong:
        raise ReadersUnknown(entry.wrong)
    data, modified = _read_document_bytes(entry.file.path)
    digest = hashlib.sha256(data)
    if entry.beside is None:
        return Content(data, SidecarRules(), Stamp(len(data), modified, digest.hexdigest()))
    try:
        beside, later = _read_document_bytes(entry.beside.path)
    except Unusable as error:
        raise ReadersUnknown(f"its sidecar: {error}") from None
    digest.update(hashlib.sha256(beside).digest())
    stamp = Stamp(len(data) + len(beside), max(modified, later), digest.hexdigest())
    return Content(data, read_sidecar_rules(beside), stamp)


def read_document_readers(entry: FolderEntry, content: Content) -> tuple[str, ...] | None:
    """Return the readers that a document names at its top, None where it names none.

    Raises:
        Unusable: the document is not UTF-8, or what it says of its readers is not understood.
    """
    if entry.suffix == PDF:
        return None
    parse = FORMATS[entry.suffix]
    if parse is parse_html:  # whose encoding is told later; what is said of readers is ASCII around their ids
        return read_page_readers(content.data.decode("utf-8-sig", "replace"))
    text = _decode_document_text(entry, content)
    own = read_front_matter_rules(text)
    return read_field_list_readers(text) if own is None and parse is parse_rst else own


def parse_document_content(entry: FolderEntry, content: Content) -> Parsed:
    """Return what a file says.

    Raises:
        Unusable: it is no text, or no file of its format, or the library that reads those is not installed.
    """
    if entry.suffix == PDF:
        return _extract_document_text(content.data, "pdf")
    if FORMATS[entry.suffix] is parse_html:
        return _extract_document_text(content.data, "html")
    return FORMATS[entry.suffix](_decode_document_text(entry, content))


def read_document_day(content: Content) -> str:
    """Return the day (UTC) on which a document was last changed."""
    try:
        return datetime.fromtimestamp(content.stamp.modified / 1e9, tz=UTC).date().isoformat()
    except (OverflowError, OSError, ValueError):
        return ""


def _extract_document_text(data: bytes, kind: Literal["html", "pdf"]) -> Parsed:
    from guardgraph.formats.extraction import EXTRACTION_FAILURES, ExtractionFailed
    from guardgraph.formats.pool import extract

    try:
        found = extract(data, kind, seconds=_SECONDS, max_chars=_MAX_CHARS)
    except ConfigurationError as error:
        raise Unusable(str(error)) from None
    except ExtractionFailed as error:
        raise Unusable(f"{error.reason}: {EXTRACTION_FAILURES[error.reason]}") from None
    is_paged = kind == "pdf"  # that a page begins is no part of the text
    day = found.declared_date
    return assembled(found.parts, updated_at=day, page_title=found.title, without_headings=is_paged)


def _decode_document_text(entry: FolderEntry, content: Content) -> str:
    try:
        text = decoded(content.data, entry.suffix)
    except UnicodeError as error:
        raise Unusable(f"not UTF-8: {error}") from None
    if "\0" in text:
        raise Unusable("not text: it holds a NUL character")
    return text


def _read_document_bytes(path: str) -> tuple[bytes, int]:
    try:
        with open(os.open(path, _FLAGS), "rb") as opened:
            found = os.fstat(opened.fileno())
            if not stat.S_ISREG(found.st_mode):
                raise Unusable("no regular file")
            data = opened.read(MAX_DOCUMENT_BYTES + 1)
    except OSError as error:
        raise Unusable(f"cannot be read: {error.strerror or error}") from None
    if len(data) > MAX_DOCUMENT_BYTES:
        raise Unusable(f"more than {MAX_DOCUMENT_BYTES} bytes")
    return data, found.st_mtime_ns
