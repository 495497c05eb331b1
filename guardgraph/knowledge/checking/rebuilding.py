"""The index made anew from the stored texts whose hash is right; others stay in the file and are refused."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from typing import Final, NamedTuple

from guardgraph.knowledge.checking.rows import MOST_PLACES, Doubts, are_index_rows_typed, check_rows, read_chunk_rows
from guardgraph.knowledge.storing.collections import Lost, recount_collections
from guardgraph.knowledge.storing.findings import Doubtful, Findings
from guardgraph.knowledge.storing.postings import BLOCK
from guardgraph.knowledge.storing.schema import count_changes_anew, note_words
from guardgraph.knowledge.storing.scopes import (
    intern_scope,
    is_scope_key,
    list_index_scopes,
    make_scope_key,
    read_scope_tenant,
)
from guardgraph.knowledge.storing.writing import Writer, WrittenChunk
from guardgraph.knowledge.vectors import (
    Embedder,
    check_vector_size,
    chunks_without,
    embed_document_chunks,
    make_embedding_text,
    sift_vectors,
)
from guardgraph.state.context import Access

TEXTS: Final = (
    "SELECT chunks.id, scope, language, title, section, text FROM chunks CROSS JOIN documents "
    "ON documents.id = document WHERE chunks.id > 0"
)
"""All chunks of the index, as what their words are made of. Those that are refused have numbers below 0."""

_AT_ONCE: Final = 4096
"""Chunks whose words are in memory together."""

_LARGEST: Final = 1 << 62
"""No chunk has so large a number."""

_UNCOVERED: Final = (
    "UPDATE documents SET size = -1, modified = 0 WHERE typeof(size) <> 'integer' OR typeof(modified) <> 'integer'",
    "UPDATE OR IGNORE chunks SET tenant = (SELECT tenant FROM documents WHERE id = document) "
    "WHERE tenant IS NOT (SELECT tenant FROM documents WHERE id = document)",
)
"""What of rows no hash covers, and others tell."""
_MISPLACED: Final = f"SELECT id FROM documents WHERE typeof(place) <> 'integer' OR place >= {MOST_PLACES}"
_PLACE: Final = f"SELECT coalesce(max(place), 0) + 1 FROM documents WHERE id NOT IN ({_MISPLACED})"
_STRAY: Final = "DELETE FROM chunks WHERE document NOT IN (SELECT id FROM documents) RETURNING tenant, name"
_AGAIN: Final = "UPDATE documents SET size = -1, modified = 0, sha256 = '' WHERE id = ? RETURNING tenant, name"
"""Gives a document a stamp that no file has, so that the next addition reads it again."""


class Rebuilt(NamedTuple):
    """What an index that was made anew does not have."""

    refused: set[Doubtful]
    lost: list[Lost]
    without_vectors: set[Doubtful]


def rebuild_index(connection: sqlite3.Connection, vectors: Mapping[bytes, bytes]) -> Rebuilt:
    """Make the index anew, inside the transaction that is open."""
    doubts = check_rows(connection, Findings())
    refused = {_name_refused_documents(*row) for row in connection.execute(_STRAY).fetchall()}
    refused |= {
        named
        for document in sorted(doubts.documents)
        if (named := _refuse_damaged_chunks(connection, document, doubts))
    }
    connection.execute("DELETE FROM scopes WHERE id NOT IN (SELECT scope FROM documents)")
    for statement in _UNCOVERED:
        connection.execute(statement)
    for (document,) in connection.execute(_MISPLACED).fetchall():
        connection.execute(f"UPDATE documents SET place = ({_PLACE}) WHERE id = ?", [document])
    connection.executemany("UPDATE chunks SET language = ? WHERE id = ?", doubts.languages)
    _number_anew(connection, doubts.chunks)
    lost = [*recount_collections(connection)]
    lacking = [connection.execute(_AGAIN, [document]).fetchone() for document in sift_vectors(connection, vectors)]
    _count_index_words(connection)
    return Rebuilt(refused, lost, {_name_refused_documents(*row) for row in lacking})


def list_missing_vectors(connection: sqlite3.Connection, embedder: Embedder, shown: str) -> dict[bytes, bytes]:
    """Return vectors of the texts that have none in the file, or another one than was put in, by text."""
    known = list_index_scopes(connection)
    rows = (
        row for chunk in chunks_without(connection, embedder.name) for row in read_chunk_rows(connection, chunk=chunk)
    )
    right = [row for row in rows if row.holds(known.get(row.scope))]
    vectors = embed_document_chunks(
        connection, embedder, [make_embedding_text(row.title, row.section, row.text) for row in right]
    )
    for vector in vectors.values():
        check_vector_size(connection, vector, shown)
    return vectors


def _refuse_damaged_chunks(connection: sqlite3.Connection, document: int, doubts: Doubts) -> Doubtful | None:
    """Let the next addition read a document again; return how it is named, or None where all of it is right."""
    # Its chunks that are right stay where they are. Where none is, nobody knows for whom it was, and it is nobody's.
    # What nobody could name, to add it again, is taken out.
    select = "SELECT scope, tenant, name, collection, title, updated_at FROM documents WHERE id = ?"
    number, tenant, *texts = connection.execute(select, [document]).fetchone()
    rows, scope = [*read_chunk_rows(connection, document)], doubts.scopes.get(number)
    right = [row for row in rows if row.id not in doubts.chunks]
    named: Doubtful | None = _name_refused_documents(*connection.execute(_AGAIN, [document]).fetchone())
    if right and scope is not None:
        tenant = make_scope_key(scope.access.tenant)
        for (collection,) in connection.execute("SELECT name FROM collections").fetchall() if right == rows else ():
            if are_index_rows_typed(rows, collection):  # no more was wrong than its collection or its tenant
                named, texts[1] = None, collection
    if not (is_scope_key(tenant) and texts[0] and texts[1] and all(map(_is_stored_text, [tenant, *texts]))):
        for table, key in (("chunks", "document"), ("documents", "id")):
            connection.execute(f"DELETE FROM {table} WHERE {key} = ?", [document])
        return named
    if not right:
        number = intern_scope(connection, scope.source if scope else "", Access(read_scope_tenant(tenant), ()))
    statement = "UPDATE OR IGNORE documents SET tenant = ?, collection = ?, scope = ? WHERE id = ?"
    connection.execute(statement, [tenant, texts[1], number, document])
    connection.executemany("UPDATE chunks SET number = ? WHERE id = ?", [(at, row.id) for at, row in enumerate(rows)])
    return named


def _name_refused_documents(tenant: object, name: object) -> Doubtful:
    whose = read_scope_tenant(tenant) if isinstance(tenant, str) and is_scope_key(tenant) else None
    return Doubtful(whose, str(name).encode(errors="replace").decode())


def _is_stored_text(cell: object) -> bool:
    """Say whether a cell is a text that can be written: what is left of a damaged one cannot."""
    return isinstance(cell, str) and cell == cell.encode(errors="replace").decode()


def _number_anew(connection: sqlite3.Connection, refused: set[int]) -> None:
    """Give chunks that are refused numbers below 0, which stand in no block; and all others numbers above."""
    ends = f"SELECT min(0, min(id)), max(0, max(id)) FROM chunks WHERE id BETWEEN -{_LARGEST} AND {_LARGEST}"
    least, most = connection.execute(ends).fetchone()
    strange = connection.execute("SELECT id FROM chunks WHERE id NOT BETWEEN 1 AND ?", [_LARGEST]).fetchall()
    for chunk in sorted(refused.union(*strange)):
        if chunk in refused:
            number = least = (least or 0) - 1
        else:
            number = most = (most or 0) + 1
        connection.execute("UPDATE chunks SET id = ? WHERE id = ?", [number, chunk])


def _count_index_words(connection: sqlite3.Connection) -> None:
    """Count the words of all chunks of the index anew."""
    note_words(connection)
    count_changes_anew(connection)  # parts have numbers again that others had
    for table in ("postings", "lengths", "blocks", "words", "parts"):
        connection.execute(f"DELETE FROM {table}")
    behind = int(connection.execute("SELECT max(0, max(id)) FROM chunks").fetchone()[0] or 0) // BLOCK + 1
    # Blocks are numbered from here on, so that no chunk gets a number that another one has yet.
    connection.execute("INSERT INTO blocks VALUES (?, -1, 0, 0)", [behind - 1])
    told = connection.execute("SELECT DISTINCT language FROM chunks WHERE id > 0").fetchall()
    languages = [language for (language,) in told if language]
    texts = f"{TEXTS} AND chunks.id < ? ORDER BY chunks.id LIMIT {_AT_ONCE}"
    while some := connection.execute(texts, [behind * BLOCK]).fetchall():
        writer = Writer(connection, languages)
        for row in some:
            writer.put_elsewhere(WrittenChunk(*row))
        writer.flush()
    connection.execute("DELETE FROM blocks WHERE id = ?", [behind - 1])
