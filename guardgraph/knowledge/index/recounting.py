"""Whether postings, words and statistics are what the stored texts give: counted again, block by block."""

from __future__ import annotations

import sqlite3
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import Any, Final

from guardgraph.knowledge.index.findings import Findings
from guardgraph.knowledge.index.postings import BLOCK, decoded, is_of
from guardgraph.knowledge.index.rebuilding import TEXTS
from guardgraph.knowledge.index.values import looked_up
from guardgraph.knowledge.index.words import KINDS, NAME, reader_of
from guardgraph.knowledge.index.writing import Kept
from guardgraph.tools.terms import DEFAULT_LANGUAGE

__all__ = ["check_words"]

_BLOCK: Final = "SELECT term, size, data FROM postings WHERE part = ? AND block = ?"
_COUNTED: Final = (
    "SELECT term, part, block, size, data, total, holders, most FROM postings LEFT JOIN words USING (term, part) "
    "ORDER BY term, part, block"
)
_UNFOUNDED: Final = (
    "SELECT term, part FROM words WHERE NOT EXISTS "
    "(SELECT 1 FROM postings WHERE postings.term = words.term AND postings.part = words.part)"
)

_ONCE: Final = ("stems_once", "words_once", "beginnings_once")

_Terms = defaultdict[str, list[int]]
"""Of a block: for a term number, count and length of one chunk after the other."""


def check_words(connection: sqlite3.Connection, findings: Findings) -> None:
    """Note what of the words is not what the stored texts give. Memory holds the words of some thousand chunks.

    Args:
        connection: in a transaction; what is no text is read as what is left of it.
        findings: it is added to.
    """
    recount = _Recount(connection, findings)
    for block, chunks in groupby(_texts(connection), key=lambda chunk: chunk.id // BLOCK):
        recount.take(block, chunks)
    _check_counts(connection, recount.sizes, findings)
    _check_statistics(connection, recount, findings)


def _texts(connection: sqlite3.Connection) -> Iterator[Kept]:
    return map(Kept._make, connection.execute(TEXTS))


class _Recount:
    """Counts the words of chunks again, and holds the postings against them."""

    def __init__(self, connection: sqlite3.Connection, findings: Findings) -> None:
        self._connection = connection
        self._findings = findings
        rows = connection.execute("SELECT scope, language, told, id FROM parts").fetchall()
        self._parts = {(scope, language, told): number for scope, language, told, number in rows}
        told = {language for (language,) in connection.execute("SELECT DISTINCT language FROM chunks") if language}
        languages = {DEFAULT_LANGUAGE, *told, *(language for _, language, *_ in rows)}
        self._languages = sorted(language for language in languages if isinstance(language, str))
        self._missing = set[tuple[Any, ...]]()
        self.passages = Counter[int]()
        """By part, as the words."""
        self.words = Counter[int]()
        self.sizes = Counter[tuple[int, int]]()
        """How many terms a part has in a block."""

    def take(self, block: int, chunks: Iterable[Kept]) -> None:
        """Count the chunks of a block."""
        parts: defaultdict[int, _Terms] = defaultdict(lambda: _Terms(list))
        for chunk in chunks:
            for language in [_text(chunk.language)] if chunk.language else self._languages:
                reader = reader_of(language)
                words = reader.words(*(_text(cell) for cell in (chunk.title, chunk.section, chunk.text)))
                terms, length = reader.terms(words), words.total()
                if (part := self._part(chunk, language)) is not None:
                    self.passages[part] += 1
                    self.words[part] += length
                    for term, times in terms.items():
                        parts[part][term] += (chunk.id % BLOCK, times, length)
        for part, expected in parts.items():
            self._compare(part, block, expected)

    def _part(self, chunk: Kept, language: str) -> int | None:
        key = (chunk.scope, language, bool(chunk.language))
        part = self._parts.get(key)
        if part is None and key not in self._missing:
            self._missing.add(key)
            self._findings.note(
                "statistics", "parts", f"there is none for scope {chunk.scope!s:.20} in {language!s:.20}"
            )
        return part

    def _compare(self, part: int, block: int, expected: _Terms) -> None:
        self.sizes[part, block] = len(expected)
        held = looked_up(self._connection, _BLOCK, [part, block], expected)
        wrong = [term for term, values in expected.items() if term not in held or not _is_of(held[term], values)]
        if wrong:
            message = f"{len(wrong)} of {len(expected)} terms are not what the texts give: {_shown(wrong)}"
            self._findings.note("postings", f"postings: part {part}, block {block}", message)


def _check_counts(connection: sqlite3.Connection, sizes: Counter[tuple[int, int]], findings: Findings) -> None:
    """Hold what is counted of each term against its postings."""
    stored = Counter[tuple[int, int]]()
    for (term, part), rows in groupby(connection.execute(_COUNTED), key=lambda row: row[:2]):
        total = holders = most = 0
        said: list[Any] = []
        for _, _, block, size, data, *said in rows:  # noqa: B007 - they are the same in each row
            stored[part, block] += 1
            counts = _counts(size, data)
            total, holders, most = total + sum(counts), holders + len(counts), max(most, *counts, 0)
        if not _fits(said, total, holders, most):
            message = f"its counts are {tuple(said)}; its postings give {(total, holders, most)}"
            findings.note("counts", f"words: {_bare(term)!r:.80} in part {part}", message)
    for term, part in connection.execute(_UNFOUNDED):
        findings.note("counts", f"words: {_bare(term)!r:.80} in part {part}", "it has no postings")
    for part, block in sorted(stored.keys() | sizes.keys(), key=str):
        if stored[part, block] > sizes[part, block]:
            message = f"{stored[part, block]} terms; the texts give {sizes[part, block]}"
            findings.note("postings", f"postings: part {part}, block {block}", message)


def _fits(said: list[Any], total: int, holders: int, most: int) -> bool:
    """Say whether counts are right; the largest may be that of a chunk that is gone."""
    return said[:2] == [total, holders] and isinstance(said[2], int) and said[2] >= most


def _check_statistics(connection: sqlite3.Connection, recount: _Recount, findings: Findings) -> None:
    """Hold what is counted of parts against their chunks and words."""
    once = Counter[tuple[int, str]]()
    single = "SELECT part, substr(term, 1, 1), count(*) FROM words WHERE total = 1 GROUP BY 1, 2"
    for part, kind, count in connection.execute(single):
        once[part, kind] = count
    row = connection.execute("SELECT value FROM state WHERE name = 'changes'").fetchone()
    changes = row[0] if row and isinstance(row[0], int) else -1
    if changes < 0:
        findings.note("statistics", "state: changes", "no number says how often the file was changed")
    columns = ("passages", "words", *_ONCE)
    statement = f"SELECT id, {', '.join(columns)}, changed FROM parts ORDER BY id"
    for part, *said, changed in connection.execute(statement):
        singles = (once[part, kind] + once[part, NAME] for kind in KINDS)
        expected = [recount.passages[part], recount.words[part], *singles]
        for column, given, counted in zip(columns, said, expected, strict=True):
            if given != counted:
                findings.note("statistics", f"parts: {part}", f"{column} is {given!s:.20}; the texts give {counted}")
        if not isinstance(changed, int) or not 0 <= changed <= max(changes, 0):
            findings.note("statistics", f"parts: {part}", f"changed is {changed!s:.20}; the file has {changes} changes")


def _is_of(held: tuple[Any, ...], values: list[int]) -> bool:
    size, data = held
    return is_of(size, data, values)


def _counts(size: Any, data: Any) -> Sequence[int]:
    try:
        return decoded(size, data).counts
    except (TypeError, ValueError):  # nobody wrote it so
        return ()


def _text(cell: object) -> str:
    return cell if isinstance(cell, str) else ""


def _bare(term: object) -> str:
    return str(term)[1:]


def _shown(terms: list[str]) -> str:
    return ", ".join(f"{term!r:.40}" for term in sorted(set(map(_bare, terms)))[:3])
