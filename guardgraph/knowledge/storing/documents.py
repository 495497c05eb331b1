"""Documents and chunks as rows."""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from typing import TypeAlias

from guardgraph.grounding.words import detect_language
from guardgraph.knowledge.documents import StoredDocument
from guardgraph.knowledge.storing.scopes import make_scope_key, read_index_scope
from guardgraph.knowledge.storing.writing import Writer, WrittenChunk
from guardgraph.knowledge.vectors import insert_vector
from guardgraph.plain.errors import ConfigurationError
from guardgraph.state.context import Access

_NEXT_PLACE = "SELECT coalesce(max(place), 0) + 1 FROM documents"
"""Behind all documents."""
_BEFORE = "SELECT id, place, scope, collection FROM documents WHERE tenant = ? AND name = ?"
_OWNER = (
    "SELECT chunks.id, documents.name FROM chunks LEFT JOIN documents ON documents.id = document "
    "WHERE chunks.name = ? AND chunks.tenant = ?"
)
_INSERT = (
    "INSERT INTO documents (tenant, name, collection, title, updated_at, scope, place, size, modified, sha256, seal) "
    f"VALUES (?, ?, ?, ?, ?, ?, coalesce(?, ({_NEXT_PLACE})), ?, ?, ?, ?)"
)


StoredRow: TypeAlias = tuple[bytes, tuple[str, str, int, int, str]]
"""Of a chunk its hash, and its id, section, where it begins and ends, and text."""


def hash_stored_row(
    access: Access, document: tuple[str, str, str, str], chunk: tuple[str, str, int, int, str]
) -> bytes:
    """Return the hash of a chunk, which covers all that is shown of it and who may read it."""
    covered = [access.tenant, access.readers, document, chunk]
    return hashlib.sha256(json.dumps(covered).encode()).digest()


def hash_stored_rows(collection: str, chunks: Sequence[bytes]) -> bytes:
    """Return the hash of a document, which covers its collection and which chunks it has."""
    return hashlib.sha256(json.dumps([collection, [chunk.hex() for chunk in chunks]]).encode()).digest()


def hash_stored_document(document: StoredDocument) -> tuple[list[bytes], bytes]:
    """Return the hashes of the chunks of a document, and its own."""
    about = (document.id, document.source, document.title, document.updated_at)
    hashes = [
        hash_stored_row(document.access, about, (chunk.id, chunk.section, chunk.start, chunk.end, chunk.text))
        for chunk in document.chunks
    ]
    return hashes, hash_stored_rows(document.name, hashes)


def explain_taken_id(document: StoredDocument, collection: str | None, owners: Mapping[str, str]) -> str | None:
    """Return which id of a document another collection of its tenant, or a chunk of another document, has; or None."""
    if collection is not None and collection != document.name:
        return f"document {document.id!r}: its id is in the collection {collection!r} already; give another name"
    seen = set[str]()
    for chunk in document.chunks:
        if chunk.id in seen or owners.get(chunk.id, document.id) != document.id:
            return f"document {document.id!r}: the id {chunk.id!r} of a chunk is taken"
        seen.add(chunk.id)
    return None


def put_stored_document(
    connection: sqlite3.Connection,
    writer: Writer,
    document: StoredDocument,
    vectors: Mapping[bytes, bytes] | None = None,
) -> str | None:
    """Put a document in, in place of the one that has its id."""
    # It keeps the place of that one while its readers are the same. Where they change, it is new to somebody, and its
    # place must not tell them that it was there before.
    tenant, place = make_scope_key(document.access.tenant), None
    before = connection.execute(_BEFORE, [tenant, document.id]).fetchone()
    owners, refused = _read_chunk_owners(connection, tenant, document)
    if (reason := explain_taken_id(document, before and before[3], owners)) is not None:
        return reason
    if before is not None:
        writer.remove_document(tenant, document.name)  # the same: another collection's was refused
        _take_out_chunks(connection, writer, before[0])
        place = before[1] if read_index_scope(connection, before[2]).access == document.access else None
    if refused:
        connection.executemany("DELETE FROM chunks WHERE id = ?", refused)
    scope = writer.scope(document.source, document.access)
    hashes, seal = hash_stored_document(document)
    row = [tenant, document.id, document.name, document.title, document.updated_at, scope, place, *document.stamp]
    number = connection.execute(_INSERT, [*row, seal]).lastrowid
    writer.add_document(tenant, document.name)
    for at, (chunk, hashed) in enumerate(zip(document.chunks, hashes, strict=True)):
        language = detect_language(chunk.text)
        kept = WrittenChunk(writer.number(scope), scope, language, document.title, chunk.section, chunk.text)
        cells = [kept.id, number, at, tenant, chunk.id, chunk.section, chunk.start, chunk.end]
        connection.execute(
            "INSERT INTO chunks VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", [*cells, language, hashed, chunk.text]
        )
        writer.add(kept)
        if vectors is not None:
            insert_vector(connection, kept.id, vectors, title=document.title, section=chunk.section, text=chunk.text)
    return None


def _read_chunk_owners(
    connection: sqlite3.Connection, tenant: str, document: StoredDocument
) -> tuple[dict[str, str], list[tuple[int]]]:
    """Return of the ids of a document's chunks who has them in the index, and the refused chunks that have them."""
    owners, refused = dict[str, str](), list[tuple[int]]()
    for chunk in document.chunks:
        for number, owner in connection.execute(_OWNER, [chunk.id, tenant]):
            if number < 1:  # of whatever document; it is replaced
                refused.append((number,))
            elif owner is not None:
                owners[chunk.id] = owner
    return owners, refused


def _take_out_chunks(connection: sqlite3.Connection, writer: Writer, number: int) -> None:
    for chunk in _read_written_chunks(connection, number):
        writer.remove(chunk)
    connection.execute("DELETE FROM vectors WHERE chunk IN (SELECT id FROM chunks WHERE document = ?)", [number])
    connection.execute("DELETE FROM chunks WHERE document = ?", [number])
    connection.execute("DELETE FROM documents WHERE id = ?", [number])


def _read_written_chunks(connection: sqlite3.Connection, number: int) -> list[WrittenChunk]:
    rows = connection.execute(
        "SELECT chunks.id, scope, language, title, section, text FROM chunks JOIN documents ON documents.id = document "
        "WHERE document = ? AND chunks.id > 0 ORDER BY number",
        [number],
    )
    return [WrittenChunk(*row) for row in rows]


def drop_stored_documents(connection: sqlite3.Connection, tenant: str | None, names: Iterable[str]) -> None:
    """Take documents out, those that are there."""
    writer = Writer(connection)
    key, select = make_scope_key(tenant), "SELECT id, collection FROM documents WHERE tenant = ? AND name = ?"
    for name in names:
        for number, collection in connection.execute(select, [key, name]).fetchall():
            writer.remove_document(key, collection)
            _take_out_chunks(connection, writer, number)
    writer.flush()


def move_stored_document(
    connection: sqlite3.Connection, tenant: str | None, name: str, source: str, access: Access
) -> None:
    """Give a document another source and other readers."""
    row = connection.execute(
        "SELECT id, title, updated_at, scope, collection, seal FROM documents WHERE tenant = ? AND name = ?",
        [make_scope_key(tenant), name],
    ).fetchone()
    if row is None:
        raise ConfigurationError(f"document {name!r}: the tenant has none of this id")
    if access.tenant != tenant:
        raise ConfigurationError(f"document {name!r}: a document stays with its tenant")
    number, title, updated_at, scope, collection, seal = row
    before = read_index_scope(connection, scope)
    if before.source == source and before.access == access:
        return
    writer = Writer(connection)
    target = writer.scope(source, access)
    for chunk in _read_written_chunks(connection, number):
        writer.remove(chunk)
        writer.put_elsewhere(chunk._replace(scope=target))
    writer.flush()
    connection.execute("UPDATE documents SET scope = ? WHERE id = ?", [target, number])
    if before.access != access:
        connection.execute(f"UPDATE documents SET place = ({_NEXT_PLACE}) WHERE id = ?", [number])
    select = "SELECT id, hash, name, section, start, stop, text FROM chunks WHERE document = ? ORDER BY number"
    numbers, rows = list[int](), list[StoredRow]()
    for at, hashed, *chunk in connection.execute(select, [number]):
        numbers.append(at)
        rows.append((hashed, tuple(chunk)))
    document = (name, title, updated_at)
    hashes, seal = rehash_moved_rows(
        rows, seal, collection, document, before=(before.source, before.access), after=(source, access)
    )
    connection.executemany("UPDATE chunks SET hash = ? WHERE id = ?", zip(hashes, numbers, strict=True))
    connection.execute("UPDATE documents SET seal = ? WHERE id = ?", [seal, number])


def rehash_moved_rows(
    rows: Sequence[StoredRow],
    seal: bytes,
    collection: str,
    document: tuple[str, str, str],
    *,
    before: tuple[str, Access],
    after: tuple[str, Access],
) -> tuple[list[bytes], bytes]:
    """Return the hashes of the chunks of a document that has another source and other readers now, and its own."""
    name, title, day = document

    def hash_within(place: tuple[str, Access], chunk: tuple[str, str, int, int, str]) -> bytes:
        return hash_stored_row(place[1], (name, place[0], title, day), chunk)

    is_sound = [hashed == hash_within(before, chunk) for hashed, chunk in rows]
    hashes = [
        hash_within(after, chunk) if holds else hashed for holds, (hashed, chunk) in zip(is_sound, rows, strict=True)
    ]
    if all(is_sound) and seal == hash_stored_rows(collection, [hashed for hashed, _ in rows]):
        return hashes, hash_stored_rows(collection, hashes)
    return hashes, seal
