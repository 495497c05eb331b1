"""Changes of the file: chunks are put in and taken out, and what is counted follows them."""

from __future__ import annotations

import sqlite3
from collections import Counter, defaultdict
from collections.abc import Iterable
from typing import NamedTuple

from guardgraph.knowledge.index.postings import BLOCK, decoded, encoded
from guardgraph.knowledge.index.words import KINDS, counted
from guardgraph.tools.terms import DEFAULT_LANGUAGE

__all__ = ["Kept", "Writer"]


class Kept(NamedTuple):
    """What of a chunk its words are made of."""

    id: int
    scope: int
    language: str
    """That its text tells; "" where it tells none."""
    title: str
    section: str
    text: str


class Writer:
    """Gathers what changes in a transaction, and writes it once.

    Args:
        connection: in a transaction for writing.
    """

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._edits: defaultdict[tuple[str, int], dict[int, tuple[int, int] | None]] = defaultdict(dict)
        """By term and part: for chunks the count and the length, or that they have the term no more."""
        self._totals: Counter[tuple[str, int]] = Counter()
        self._passages: Counter[int] = Counter()
        self._words: Counter[int] = Counter()
        told = connection.execute("SELECT DISTINCT language FROM parts")
        self._languages = {DEFAULT_LANGUAGE, *(language for (language,) in told)}

    def add(self, chunk: Kept) -> None:
        """Put a chunk in."""
        if chunk.language and chunk.language not in self._languages:
            self._languages.add(chunk.language)
            for other in self._untold():
                self._count(other, chunk.language, 1)
        for language in self._languages_of(chunk):
            self._count(chunk, language, 1)

    def remove(self, chunk: Kept) -> None:
        """Take a chunk out."""
        for language in self._languages_of(chunk):
            self._count(chunk, language, -1)

    def flush(self) -> None:
        """Write what changed."""
        now = self._connection.execute("SELECT value + 1 FROM state WHERE name = 'changes'").fetchone()[0]
        once: Counter[tuple[int, str]] = Counter()
        for term, part in sorted(self._edits):
            self._write(term, part, once)
        for part in sorted(self._passages):
            self._connection.execute(
                "UPDATE parts SET passages = passages + ?, words = words + ?, stems_once = stems_once + ?, "
                "words_once = words_once + ?, beginnings_once = beginnings_once + ?, changed = ? WHERE id = ?",
                [self._passages[part], self._words[part], *(once[part, kind] for kind in KINDS), now, part],
            )
        self._edits.clear()
        self._totals.clear()
        self._passages.clear()
        self._words.clear()

    def _languages_of(self, chunk: Kept) -> Iterable[str]:
        return [chunk.language] if chunk.language else sorted(self._languages)

    def _untold(self) -> list[Kept]:
        """Return the chunks that do not tell their language."""
        rows = self._connection.execute(
            "SELECT chunks.id, scope, language, title, section, text FROM chunks JOIN documents "
            "ON documents.id = document WHERE language = ''"
        )
        return [Kept(*row) for row in rows]

    def _count(self, chunk: Kept, language: str, sign: int) -> None:
        terms, length = counted(chunk.title, chunk.section, chunk.text, language)
        part = self._part(chunk.scope, language, bool(chunk.language))
        self._passages[part] += sign
        self._words[part] += sign * length
        for term, times in terms.items():
            self._edits[term, part][chunk.id] = (times, length) if sign > 0 else None
            self._totals[term, part] += sign * times

    def _part(self, scope: int, language: str, told: bool) -> int:
        row = [scope, language, told]
        self._connection.execute("INSERT OR IGNORE INTO parts (scope, language, told) VALUES (?, ?, ?)", row)
        found = self._connection.execute("SELECT id FROM parts WHERE scope = ? AND language = ? AND told = ?", row)
        return int(found.fetchone()[0])

    def _write(self, term: str, part: int, once: Counter[tuple[int, str]]) -> None:
        holders = 0
        blocks: defaultdict[int, dict[int, tuple[int, int] | None]] = defaultdict(dict)
        for chunk, held in self._edits[term, part].items():
            blocks[chunk // BLOCK][chunk % BLOCK] = held
        for block, edits in blocks.items():
            holders += self._write_block((term, part, block), edits)
        total = self._totals[term, part]
        row = self._connection.execute("SELECT total FROM words WHERE term = ? AND part = ?", [term, part]).fetchone()
        before = row[0] if row else 0
        after = before + total
        once[part, term[0]] += (after == 1) - (before == 1)
        if after:
            self._connection.execute(
                "INSERT INTO words VALUES (?, ?, ?, ?) ON CONFLICT DO UPDATE SET "
                "total = total + excluded.total, holders = holders + excluded.holders",
                [term, part, total, holders],
            )
        else:
            self._connection.execute("DELETE FROM words WHERE term = ? AND part = ?", [term, part])

    def _write_block(self, key: tuple[str, int, int], edits: dict[int, tuple[int, int] | None]) -> int:
        """Write what changed in a block, and return by how many the chunks in it are more."""
        row = self._connection.execute(
            "SELECT size, data FROM postings WHERE term = ? AND part = ? AND block = ?", key
        ).fetchone()
        held = {}
        if row:
            postings = decoded(*row)
            held = {chunk: (count, length) for chunk, count, length in zip(*postings, strict=True)}
        before = len(held)
        for chunk, edit in edits.items():
            if edit is None:
                del held[chunk]
            else:
                held[chunk] = edit
        if held:
            self._connection.execute("REPLACE INTO postings VALUES (?, ?, ?, ?, ?)", [*key, len(held), encoded(held)])
        else:
            self._connection.execute("DELETE FROM postings WHERE term = ? AND part = ? AND block = ?", key)
        return len(held) - before
