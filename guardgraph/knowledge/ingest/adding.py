"""A folder is added: what is new or changed is read, what is gone is removed, and every rule is held again."""

from __future__ import annotations

import hashlib
import json
import os
import stat
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple

from guardgraph.formats.article import Parsed, join_article_parts, list_article_sections
from guardgraph.formats.by_ending import FORMATS, decode_file_text
from guardgraph.formats.html import parse_html
from guardgraph.formats.rst import parse_rst
from guardgraph.knowledge.documents import Chunk, Stamp, StoredDocument
from guardgraph.knowledge.ingest.collection import Collection, Failed, Report, Unusable
from guardgraph.knowledge.ingest.folder import (
    PDF,
    Folder,
    FolderEntry,
    ReadersUnknown,
    SidecarRules,
    narrow_document_readers,
    read_field_list_readers,
    read_front_matter_rules,
    read_page_readers,
    read_sidecar_rules,
)
from guardgraph.knowledge.ingest.rules import is_within_readers, read_access_list
from guardgraph.plain.errors import ConfigurationError
from guardgraph.plain.json import find_json_problem
from guardgraph.state.context import Access, normalise_tenant
from guardgraph.state.rag import PASSAGE_CHARS
from guardgraph.tools.folder import find_file_name_problem, name_source_of_file
from guardgraph.tools.knowledge_base import Document, split_document_into_chunks

if TYPE_CHECKING:
    from guardgraph.formats.extraction import Extracted

GIVEN: Final = "documents"  # the collection of documents that are given without a name
_TEXTS: Final = tuple(sorted(Document.__required_keys__))


def add_given_documents(
    documents: Iterable[Document],
    collection: Collection,
    *,
    readers: tuple[str, ...],
    prefix: str = "",
    whole: bool = False,
    prune: bool = False,
) -> Report:
    """Put a list of documents into a collection."""
    read = dict[str, Mapping[str, Any]]()
    for at, document in enumerate(documents):
        checked = _check_given_document(at, document, collection.tenant)
        number = prefix + checked["id"]
        if number in read:
            raise ConfigurationError(f"document {at}: the id {number!r:.80} is another one's, too")
        read[number] = checked
    collection.look_up(read, whole=whole)
    gone = [number for number in collection.listed if number not in read] if whole else []
    if not prune:
        empty = {number for number, document in read.items() if whole and not document["text"].strip()}
        collection.refuse_loss([*gone, *(number for number in collection.listed if number in empty)])
    for number, checked in read.items():
        _add_given_document(number, checked, collection, readers)
    collection.remove(gone)
    return collection.report()


def _check_given_document(at: int, document: object, tenant: str | None) -> Mapping[str, Any]:
    if not isinstance(document, Mapping):
        raise ConfigurationError(f"document {at} is no dictionary but a {type(document).__name__}")
    for field in _TEXTS:
        value = document.get(field)
        if not isinstance(value, str):
            raise ConfigurationError(f"document {at}: {field!r} is missing or no string")
        if (problem := find_json_problem(value)) is not None:
            raise ConfigurationError(f"document {at}: {field}: a text that can be stored is required, not {problem}")
    for field in ("id", "source"):
        if (name := document[field]) != name.strip() or not name:
            required = "a text without blanks around it is required"
            raise ConfigurationError(f"document {at}: {field}: {required}; given: {name!r:.80}")
    whose = document.get("tenant", tenant)
    if (normalise_tenant(whose) if isinstance(whose, str) else whose) != normalise_tenant(tenant):
        raise ConfigurationError(f"document {at}: tenant: {tenant!r:.80} is added to; given: {whose!r:.80}")
    _read_given_span(at, document)
    return document


def _read_given_span(at: int, document: Mapping[str, Any]) -> tuple[int, int]:
    """Return where a document's text stands in the text that it is a piece of, where it says so."""
    match document.get("span"):
        case None:
            return 0, len(document["text"])
        case [int(start), int(end)] if 0 <= start <= end < 1 << 63 and not {type(start), type(end)} & {bool}:
            return start, end
    raise ConfigurationError(f"document {at}: span: [start, end) in characters is required, or none")


def _add_given_document(
    number: str, document: Mapping[str, Any], collection: Collection, readers: tuple[str, ...]
) -> None:
    before = collection.listed.get(number)
    if not document["text"].strip():
        collection.leave_empty(number, number)
        return
    try:
        own = read_access_list(document["readers"]) if "readers" in document else None
        held = narrow_document_readers(readers, own)
    except ValueError as error:
        collection.fail(number, number, str(error), ())
        return
    text, title, day = document["text"], document["title"], document["updated_at"]
    start, end = _read_given_span(0, document)
    own_place = [] if (start, end) == (0, len(text)) else [start, end]
    written = json.dumps([text, title, document["section"], day, *own_place]).encode()
    stamp = Stamp(len(text.encode()), 0, hashlib.sha256(written).hexdigest())
    chunks = (Chunk(number, document["section"], text, start, end),)
    access = Access(collection.tenant, held)
    stored = StoredDocument(number, collection.name, document["source"], title, day, access, chunks, stamp)
    if before is not None and before.stamp.sha256 == stored.stamp.sha256:
        collection.keep(number, stored.stamp, stored.source, held)
        return
    collection.put(stored, number)


MAX_DOCUMENT_BYTES: Final = 50_000_000
"""Bytes of one file. Nobody reads a longer one; what is found in it could not be checked by a person."""

_SECONDS: Final = 60.0  # in which a page or a PDF file is read
_SECONDS_LOST: Final = 120.0  # of a folder, that pages and PDF files may take which are not read in their time
_LEAST_SECONDS: Final = 1.0  # in which each of them is read once those are lost; nearly all are
_MAX_CHARS: Final = 10_000_000  # of the text of a page or a PDF file: twice what the longest book has
_FLAGS: Final = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
"""What became a link or a pipe since the folder was walked is not opened."""


class Content(NamedTuple):
    """What was read of a document and its sidecar."""

    data: bytes
    said: SidecarRules  # what the sidecar says
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
        encodings = ("utf-8", "utf-16-le", "utf-16-be") if b"\0" in content.data else ("utf-8",)
        texts = (content.data.decode(encoding, "replace").removeprefix("\ufeff") for encoding in encodings)
        return tuple(map(read_page_readers, texts))
    text = _decode_document_text(entry, content)
    fields = read_field_list_readers(text) if parse is parse_rst else None
    return read_front_matter_rules(text), fields


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
    return join_article_parts(found.parts, updated_at=day, page_title=found.title, without_headings=is_paged)


def _decode_document_text(entry: FolderEntry, content: Content) -> str:
    try:
        text = decode_file_text(content.data, entry.suffix)
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


def add_folder(
    folder: Folder,
    collection: Collection,
    *,
    prefix: str = "",
    prune: bool = False,
    progress: Callable[[int, int], object] | None = None,
) -> Report:
    """Make a collection match a folder."""
    entries = dict[str, FolderEntry]()
    for entry in folder.entries:
        number = prefix + "/".join(entry.file.parts)
        if (problem := find_file_name_problem(number, name_source_of_file(folder.name, entry.file.parts))) is not None:
            collection.failed.append(Failed(entry.shown, problem))
        else:
            entries[number] = entry
    collection.look_up(entries)
    collection.check_rules_version()
    unread = {*_list_unread_files(collection.listed, prefix, folder)}
    there = {number for number, entry in entries.items() if entry.file.size} | unread
    gone = [number for number in collection.listed if number not in there]
    if not prune:
        collection.refuse_loss(_list_lost_documents(gone, entries, collection))
    collection.failed += [*folder.failed, *(Failed(*item) for item in folder.unread)]
    collection.left_out += folder.left_out
    patience = Patience()
    read, total = 0, sum(entry.file.size for entry in entries.values())
    for number, entry in entries.items():
        _add_folder_entry(number, entry, folder, collection, patience)
        read += entry.file.size
        if progress is not None:
            progress(read, total)
    for number in sorted(unread):  # who may read it is what the rules say now, as for any file that cannot be read
        rule = folder.rules.readers_of(tuple(number.removeprefix(prefix).split("/")))
        kept = collection.listed[number].access.readers
        collection.narrow(number, tuple(reader for reader in kept if is_within_readers(reader, rule)))
    collection.remove(number for number in gone if number not in entries)
    return collection.report()


def _list_unread_files(ids: Iterable[str], prefix: str, folder: Folder) -> Iterator[str]:
    """Yield documents of which nobody knows whether they are still there."""
    names = {item.name for item in folder.unread}
    for number in ids:
        parts = number.removeprefix(prefix).split("/")
        if any("/".join(parts[:size]) in names for size in range(1, len(parts) + 1)):
            yield number


def _list_lost_documents(gone: Iterable[str], entries: dict[str, FolderEntry], collection: Collection) -> list[str]:
    """Return what of the gone documents stands under no other name in the folder."""
    named = {number: collection.listed[number].stamp.sha256 for number in gone}
    found, sizes = set[str](), {collection.listed[number].stamp.size for number in named}
    for number, entry in entries.items():
        # A sidecar is part of what is hashed, and of the size.
        if number not in collection.listed and (entry.beside is not None or entry.file.size in sizes):
            with suppress(Unusable):
                found.add(read_document_content(entry).stamp.sha256)
    return [number for number, digest in named.items() if digest not in found]


def _add_folder_entry(
    number: str, entry: FolderEntry, folder: Folder, collection: Collection, patience: Patience
) -> None:
    rule = folder.rules.readers_of(entry.file.parts)
    source, before = name_source_of_file(folder.name, entry.file.parts), collection.listed.get(number)
    # What an unchanged document says of its own readers is within the rule, as it was.
    is_placed = before is not None and (before.source, before.access.readers) == (source, rule)
    is_read_alike = is_placed and not collection.has_old_rules
    is_alone = entry.beside is None and not entry.wrong  # what stands beside it may have changed
    if before and is_read_alike and is_alone and (entry.file.size, entry.file.modified) == before.stamp[:2]:
        collection.keep(number, before.stamp, source, rule)
        return
    readers = rule
    try:
        content = read_document_content(entry)
        readers = narrow_document_readers(readers, content.said.readers)
        readers = narrow_document_readers(readers, *read_document_readers(entry, content))
        if before is not None and content.stamp.sha256 == before.stamp.sha256:
            collection.keep(number, content.stamp, source, readers)
            return
        access = Access(collection.tenant, readers)
        if entry.suffix == PDF:
            parsed = _extract_document_text(content.data, "pdf", patience)
        elif FORMATS[entry.suffix] is parse_html:
            parsed = _extract_document_text(content.data, "html", patience)
        else:
            parsed = FORMATS[entry.suffix](_decode_document_text(entry, content))
        said = content.said
        title, sections = list_article_sections(parsed, Path(entry.file.parts[-1]).stem)
        below = said.section or parsed.section
        pieces = split_document_into_chunks(number, parsed.text, sections, PASSAGE_CHARS, below=below)
        chunks = tuple(Chunk(piece.id, piece.section, piece.text, *piece.span) for piece in pieces)
        if chunks:
            about = (collection.name, source, said.title or title, said.updated_at or parsed.updated_at)
            collection.put(StoredDocument(number, *about, access, chunks, content.stamp), entry.shown)
            return
    except Unusable as error:  # what there is of it stays, for those who may read what it is now
        kept = () if before is None or isinstance(error, ReadersUnknown) else before.access.readers
        left = tuple(reader for reader in kept if is_within_readers(reader, readers))
        collection.fail(number, entry.shown, str(error), left)
        return
    collection.leave_empty(number, entry.shown)
