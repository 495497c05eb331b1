"""A file of a folder: its bytes, by what an unchanged one is known, and the text that is made of it."""

from __future__ import annotations

import hashlib
import os
import stat
from time import monotonic
from typing import TYPE_CHECKING, Final, Literal, NamedTuple

from guardgraph.formats.article import Parsed, assembled
from guardgraph.formats.by_ending import FORMATS, decoded
from guardgraph.formats.html import parse_html
from guardgraph.formats.rst import parse_rst
from guardgraph.knowledge.documents import Stamp
from guardgraph.knowledge.ingest.collection import Unusable
from guardgraph.knowledge.ingest.folder import PDF, FolderEntry
from guardgraph.knowledge.ingest.sidecar import (
    ReadersUnknown,
    SidecarRules,
    read_field_list_readers,
    read_front_matter_rules,
    read_page_readers,
    read_sidecar_rules,
)
from guardgraph.plain.errors import ConfigurationError

if TYPE_CHECKING:
    from guardgraph.formats.extraction import Extracted

MAX_DOCUMENT_BYTES: Final = 50_000_000
"""Bytes of one file. Nobody reads a longer one; what is found in it could not be checked by a person."""

_SECONDS: Final = 60.0
"""In which a page or a PDF file is read."""
_SECONDS_LOST: Final = 120.0
"""Of a folder, that pages and PDF files may take which are not read in their time."""
_LEAST_SECONDS: Final = 1.0
"""In which each of them is read once those are lost; nearly all are."""
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


class Patience:
    """How long the pages and PDF files of a folder may take: many that never end must not take a minute each."""

    def __init__(self) -> None:
        self._lost = 0.0

    def extract(self, data: bytes, kind: Literal["html", "pdf"]) -> Extracted:
        """Return what a page or a file shows a reader; see `guardgraph.formats.pool.extract`."""
        from guardgraph.formats.extraction import ExtractionFailed
        from guardgraph.formats.pool import extract

        seconds, begun = min(_SECONDS, max(_SECONDS_LOST - self._lost, _LEAST_SECONDS)), monotonic()
        try:
            return extract(data, kind, seconds=seconds, max_chars=_MAX_CHARS)
        except ExtractionFailed:
            self._lost += monotonic() - begun
            raise


def quick_stamp(entry: FolderEntry) -> tuple[int, int] | None:
    """Return the size and the time of a document, None where they cannot tell whether it is unchanged."""
    return None if entry.beside is not None or entry.wrong else (entry.file.size, entry.file.modified)


def read_document_content(entry: FolderEntry) -> Content:
    """Read a document and its sidecar."""
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


def read_document_readers(entry: FolderEntry, content: Content) -> tuple[tuple[str, ...] | None, ...]:
    """Return the readers that a document names at its top, by each of its ways; None for one that names none."""
    if entry.suffix == PDF:
        return ()
    parse = FORMATS[entry.suffix]
    if parse is parse_html:  # whose encoding is told later; what is said of readers is ASCII around their ids
        return (read_page_readers(content.data.decode("utf-8-sig", "replace")),)
    text = _decode_document_text(entry, content)
    fields = read_field_list_readers(text) if parse is parse_rst else None
    return read_front_matter_rules(text), fields


def parse_document_content(entry: FolderEntry, content: Content, patience: Patience) -> Parsed:
    """Return what a file says."""
    if entry.suffix == PDF:
        return _extract_document_text(content.data, "pdf", patience)
    if FORMATS[entry.suffix] is parse_html:
        return _extract_document_text(content.data, "html", patience)
    return FORMATS[entry.suffix](_decode_document_text(entry, content))


def _extract_document_text(data: bytes, kind: Literal["html", "pdf"], patience: Patience) -> Parsed:
    from guardgraph.formats.extraction import EXTRACTION_FAILURES, ExtractionFailed

    try:
        found = patience.extract(data, kind)
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
