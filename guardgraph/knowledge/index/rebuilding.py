"""Rebuilding words, postings and statistics from the stored texts."""

from __future__ import annotations

import sqlite3
from itertools import islice
from typing import Final

from guardgraph.knowledge.index.schema import note_words
from guardgraph.knowledge.index.writing import Kept, Writer

__all__ = ["TEXTS", "rebuild"]

TEXTS: Final = (
    "SELECT chunks.id, scope, language, title, section, text FROM chunks CROSS JOIN documents "
    "ON documents.id = document ORDER BY chunks.id"
)
"""All chunks, in the order of their numbers."""

_AT_ONCE: Final = 2048
"""Chunks whose words are in memory together."""


def rebuild(connection: sqlite3.Connection) -> None:
    """Count the words of all chunks anew, inside the transaction that is open."""
    note_words(connection)
    # What was known of a part by its number and change must not be taken for what it is now.
    connection.execute(
        "INSERT OR REPLACE INTO state SELECT 'changes', max("
        "coalesce((SELECT CAST(value AS INTEGER) FROM state WHERE name = 'changes'), 0), "
        "coalesce((SELECT max(CAST(changed AS INTEGER)) FROM parts), 0))"
    )
    for table in ("postings", "words", "parts"):
        connection.execute(f"DELETE FROM {table}")
    languages = [language for (language,) in connection.execute("SELECT DISTINCT language FROM chunks") if language]
    chunks = map(Kept._make, connection.execute(TEXTS))
    while some := list(islice(chunks, _AT_ONCE)):
        writer = Writer(connection, languages)
        for chunk in some:
            writer.add(chunk)
        writer.flush()
