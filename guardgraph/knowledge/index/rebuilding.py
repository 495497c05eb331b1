"""Rebuilding words, postings and statistics from the stored texts."""

from __future__ import annotations

import sqlite3
from typing import Final

from guardgraph.knowledge.index.postings import BLOCK
from guardgraph.knowledge.index.schema import note_words
from guardgraph.knowledge.index.writing import Kept, Writer

__all__ = ["TEXTS", "rebuild"]

TEXTS: Final = (
    "SELECT chunks.id, scope, language, title, section, text FROM chunks CROSS JOIN documents "
    "ON documents.id = document"
)
"""All chunks, as what their words are made of."""

_AT_ONCE: Final = 4096
"""Chunks whose words are in memory together."""

_LARGEST: Final = 1 << 62
"""No chunk has so large a number."""


def rebuild(connection: sqlite3.Connection) -> None:
    """Count the words of all chunks anew, inside the transaction that is open."""
    note_words(connection)
    # What was known of a part by its number and change must not be taken for what it is now.
    connection.execute(
        "INSERT OR REPLACE INTO state SELECT 'changes', max("
        "coalesce((SELECT CAST(value AS INTEGER) FROM state WHERE name = 'changes'), 0), "
        "coalesce((SELECT max(CAST(changed AS INTEGER)) FROM parts), 0))"
    )
    for table in ("postings", "lengths", "blocks", "words", "parts"):
        connection.execute(f"DELETE FROM {table}")
    behind = _first_behind(connection)
    # Blocks are numbered from here on, so that no chunk gets a number that another one has yet.
    connection.execute("INSERT INTO blocks VALUES (?, -1, 0, 0)", [behind - 1])
    languages = [language for (language,) in connection.execute("SELECT DISTINCT language FROM chunks") if language]
    texts = f"{TEXTS} WHERE chunks.id < ? ORDER BY chunks.id LIMIT {_AT_ONCE}"
    while some := connection.execute(texts, [behind * BLOCK]).fetchall():
        writer = Writer(connection, languages)
        for row in some:
            writer.put_elsewhere(Kept(*row))
        writer.flush()
    connection.execute("DELETE FROM blocks WHERE id = ?", [behind - 1])


def _first_behind(connection: sqlite3.Connection) -> int:
    """Return the number of the first block behind all chunks."""
    last = "SELECT max(max(id), 0) FROM chunks WHERE id < ?"
    for (number,) in connection.execute("SELECT id FROM chunks WHERE id >= ?", [_LARGEST]).fetchall():
        connection.execute(f"UPDATE chunks SET id = coalesce(({last}), 0) + 1 WHERE id = ?", [_LARGEST, number])
    return int(connection.execute(last, [_LARGEST]).fetchone()[0] or 0) // BLOCK + 1
