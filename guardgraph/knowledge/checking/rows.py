"""Whether the rows of documents, chunks and scopes are what was put in, and belong together."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from itertools import groupby
from operator import attrgetter
from typing import Any, Final, NamedTuple

from guardgraph.grounding.words import detect_language
from guardgraph.knowledge.storing.documents import hash_stored_row, hash_stored_rows
from guardgraph.knowledge.storing.findings import BaseFindingKind, Findings
from guardgraph.knowledge.storing.scopes import (
    Scope,
    is_scope_key,
    list_index_scopes,
    read_scope_tenant,
    show_scope_tenant,
)

MOST_PLACES: Final = 1 << 62
"""No document has a place as high; behind the highest number there is none for another."""

_ROWS: Final = (
    "SELECT chunks.id, document, number, chunks.tenant, chunks.name, section, start, stop, language, hash, text, "
    "documents.tenant, documents.name, title, updated_at, scope, collection, seal FROM chunks "
    "LEFT JOIN documents ON documents.id = document {} ORDER BY document, number, chunks.id"
)
_DOCUMENTS: Final = (
    "SELECT id, tenant, name, scope, place, size, modified, "
    "EXISTS (SELECT 1 FROM chunks WHERE document = documents.id) FROM documents ORDER BY id"
)


class StoredChunkRow(NamedTuple):
    """A chunk with its document, as they are read; whatever a cell may hold."""

    id: int
    document: Any
    number: Any
    tenant: Any
    name: Any
    section: Any
    start: Any
    stop: Any
    language: Any
    hash: Any
    text: Any
    of_tenant: Any
    of: Any
    """The document's id; None where it is not there."""
    title: Any
    updated_at: Any
    scope: Any
    collection: Any
    seal: Any

    def holds(self, scope: Scope | None) -> bool:
        """Say whether it is what was put in, in a scope."""
        if scope is None or self.of is None:
            return False
        document = (self.of, scope.source, self.title, self.updated_at)
        try:
            hashed = hash_stored_row(
                scope.access, document, (self.name, self.section, self.start, self.stop, self.text)
            )
        except TypeError:  # bytes, where there was a text
            return False
        return bool(hashed == self.hash)


class Doubts:
    """What an index that is made anew does not take over."""

    def __init__(self, scopes: dict[int, Scope]) -> None:
        self.scopes = scopes
        """Those that can be read."""
        self.documents = set[int]()
        """Of which a row is not what was put in, or is missing."""
        self.chunks = set[int]()
        """That are not what was put in."""
        self.languages: list[tuple[str, int]] = []
        """Of chunks that are noted with another one."""


def read_chunk_rows(
    connection: sqlite3.Connection, document: int | None = None, chunk: int | None = None
) -> Iterator[StoredChunkRow]:
    """Read chunks, by document: all of them, those of a document, or one."""
    if chunk is not None:
        return map(StoredChunkRow._make, connection.execute(_ROWS.format("WHERE chunks.id = ?"), [chunk]))
    if document is not None:
        return map(StoredChunkRow._make, connection.execute(_ROWS.format("WHERE document = ?"), [document]))
    return map(StoredChunkRow._make, connection.execute(_ROWS.format("")))


def check_rows(connection: sqlite3.Connection, findings: Findings) -> Doubts:
    """Note which documents, chunks and scopes are not what was put in."""
    doubts = Doubts(list_index_scopes(connection))
    for (number,) in connection.execute("SELECT id FROM scopes ORDER BY id"):
        if number not in doubts.scopes:
            findings.note("row", f"scopes: {number}", "no tenant, source and readers")
    _check_documents(connection, findings, doubts)
    for _, rows in groupby(read_chunk_rows(connection), key=attrgetter("document")):
        check_document_chunks([*rows], findings, doubts)
    return doubts


def _check_documents(connection: sqlite3.Connection, findings: Findings, doubts: Doubts) -> None:
    for number, tenant, name, scope, place, size, modified, has_chunks in connection.execute(_DOCUMENTS):
        shown = f"documents: {show_scope_tenant(name, tenant)}"
        if not has_chunks:
            doubts.documents.add(number)
            findings.note("reference", shown, "it has no chunks")
        if scope not in doubts.scopes:
            findings.note("reference", shown, f"its scope {scope!s:.20} is not there, or none")
        elif not is_scope_key(tenant) or read_scope_tenant(tenant) != doubts.scopes[scope].access.tenant:
            doubts.documents.add(number)
            findings.note("reference", shown, "its tenant is not that of its readers")
        if not all(isinstance(cell, int) for cell in (place, size, modified)) or place >= MOST_PLACES:
            findings.note("row", shown, "its place, size or time is no number that it may be")


def are_index_rows_typed(rows: Sequence[StoredChunkRow], collection: Any) -> bool:
    """Say whether chunks are those that their document was put in with, in a collection."""
    return isinstance(collection, str) and rows[0].seal == hash_stored_rows(collection, [row.hash for row in rows])


def check_document_chunks(rows: Sequence[StoredChunkRow], findings: Findings, doubts: Doubts) -> None:
    """Look at all chunks that name the same document."""
    hold = [_check_chunk(row, at, findings, doubts) for at, row in enumerate(rows)]
    if all(hold) and not are_index_rows_typed(rows, rows[0].collection):
        doubts.documents.add(rows[0].document)
        message = "it is not what was put in: chunks of it are missing, or it is in another collection"
        findings.note("row", f"documents: {show_scope_tenant(rows[0].of, rows[0].of_tenant)}", message)


def _check_chunk(row: StoredChunkRow, expected: int, findings: Findings, doubts: Doubts) -> bool:
    """Note what is wrong with a chunk, and say whether it is what was put in."""
    shown = f"chunks: {show_scope_tenant(row.name, row.tenant)}"
    if row.of is None:
        findings.note("reference", shown, f"its document {row.document!s:.20} is not there")
        return False
    if not row.holds(doubts.scopes.get(row.scope)):
        doubts.chunks.add(row.id)
        doubts.documents.add(row.document)
        findings.note("row", shown, "it is not what was put in: its text, what is shown with it, or who may read it")
        return False
    language = detect_language(row.text)
    if row.language != language:
        doubts.languages.append((language, row.id))
    if row.number != expected:
        doubts.documents.add(row.document)
    mixed: list[tuple[bool, BaseFindingKind, str]] = [
        (row.tenant != row.of_tenant, "reference", "its tenant is not its document's"),
        (row.number != expected, "reference", f"its number is {row.number!s:.20}; its place is {expected}"),
        (row.language != language, "row", f"its language is not {row.language!s:.20}"),
        (row.id < 1, "places", "it is not in the index"),
    ]
    for is_wrong, kind, message in mixed:
        if is_wrong:
            findings.note(kind, shown, message)
    return True
