"""Whether postings, words and statistics are what the stored texts give: counted again, block by block."""

from __future__ import annotations

import sqlite3
from array import array
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from itertools import groupby, pairwise
from typing import Any, Final

from guardgraph.grounding.words import DEFAULT_LANGUAGE
from guardgraph.knowledge.checking.rebuilding import TEXTS
from guardgraph.knowledge.storing.findings import Findings
from guardgraph.knowledge.storing.postings import (
    BLOCK,
    KINDS,
    LENGTH_BYTES,
    NAME,
    choose_word_reader,
    decode_chunk_lengths,
    decode_postings,
    make_posting_key,
)
from guardgraph.knowledge.storing.writing import WrittenChunk

_COUNTED: Final = (
    "CREATE TEMP TABLE counted (part INTEGER, term TEXT, total INTEGER, holders INTEGER, most INTEGER, "
    "PRIMARY KEY (part, term)) WITHOUT ROWID"
)
"""What the texts give; in the file that SQLite puts aside, since there may be more terms than memory holds."""
_COUNT: Final = (
    "INSERT INTO counted VALUES (?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET total = total + excluded.total, "
    "holders = holders + excluded.holders, most = max(most, excluded.most)"
)
_MISCOUNTED: Final = (
    "SELECT part, term, words.total, words.holders, words.most, counted.total, counted.holders, counted.most "
    "FROM words LEFT JOIN counted USING (part, term) WHERE words.total IS NOT counted.total "
    "OR words.holders IS NOT counted.holders OR typeof(words.most) <> 'integer' OR words.most < counted.most"
)
_UNCOUNTED: Final = (
    "SELECT part, term, NULL, NULL, NULL, total, holders, most FROM counted WHERE NOT EXISTS "
    "(SELECT 1 FROM words WHERE words.part = counted.part AND words.term = counted.term)"
)
_BLOCKS: Final = (
    "SELECT id, scope, used, held, (SELECT max(length(data)) FROM lengths WHERE lengths.block = blocks.id) FROM blocks"
)
_POSTINGS: Final = (
    "SELECT term, size, data FROM postings LEFT JOIN words ON words.id = (? << 32) | (postings.id & 0xFFFFFFFF) "
    "WHERE postings.id >= ? AND postings.id < ?"
)
_TOLD: Final = "SELECT DISTINCT language FROM chunks WHERE id > 0"
_UNPLACED: Final = "SELECT DISTINCT id >> 32 FROM postings WHERE id >> 32 NOT IN (SELECT id FROM lengths)"

_MOST_ROWS: Final = 1 << 31
"""No row of lengths has so large a number."""

_MOST_CHANGES: Final = 1 << 62
"""No change has so large a number; behind the highest there is none for another."""

_ONCE: Final = ("stems_once", "words_once", "beginnings_once")


class _Expected:
    """What the texts give for a block of a part."""

    def __init__(self) -> None:
        self.lengths: dict[int, int] = {}
        """By place."""
        self.terms: defaultdict[str, array[int]] = defaultdict(_is_without_chunk_numbers)
        """For a term place and count of chunk after chunk."""


def check_index_words(connection: sqlite3.Connection, findings: Findings) -> None:
    """Note what of the words is not what the stored texts give. Memory holds the words of some thousand chunks."""
    connection.execute(_COUNTED)
    recount = _Recount(connection, findings)
    for block, chunks in groupby(_read_chunk_texts(connection), key=lambda chunk: chunk.id // BLOCK):
        recount.take(block, [*chunks])
    recount.end()
    for statement in (_MISCOUNTED, _UNCOUNTED):
        for part, term, *rest in connection.execute(statement):
            counts, given = (tuple(row) if row[0] is not None else "none" for row in (rest[:3], rest[3:]))
            message = f"its counts are {counts}; the texts give {given}"
            findings.note("counts", f"words: {_strip_posting_key(term)!r:.80} in part {part}", message)
    _check_index_statistics(connection, recount, findings)
    connection.execute("DROP TABLE temp.counted")


def _read_chunk_texts(connection: sqlite3.Connection) -> Iterator[WrittenChunk]:
    return map(WrittenChunk._make, connection.execute(f"{TEXTS} ORDER BY chunks.id"))


class _Recount:
    """Counts the words of chunks again, and holds blocks, lengths and postings against them."""

    def __init__(self, connection: sqlite3.Connection, findings: Findings) -> None:
        self._connection = connection
        self._findings = findings
        rows = connection.execute("SELECT scope, language, told, id FROM parts").fetchall()
        self._parts = {(scope, language, told): number for scope, language, told, number in rows}
        told = {language for (language,) in connection.execute(_TOLD) if language}
        languages = {DEFAULT_LANGUAGE, *told, *(language for _, language, *_ in rows)}
        self._languages = sorted(language for language in languages if isinstance(language, str))
        self._missing = set[tuple[Any, ...]]()
        self._left = {(part, block) for part, block in connection.execute("SELECT part, block FROM lengths")}
        """Parts and blocks that were not looked at."""
        self._blocks = {row[0]: row[1:] for row in connection.execute(_BLOCKS)}
        self.passages = Counter[int]()
        """By part, as the words."""
        self.words = Counter[int]()

    def take(self, block: int, chunks: list[WrittenChunk]) -> None:
        """Count the chunks of a block."""
        self._check_block(block, self._blocks.pop(block, None), chunks)
        parts: defaultdict[int, _Expected] = defaultdict(_Expected)
        for chunk in chunks:
            for language in [_read_chunk_text(chunk.language)] if chunk.language else self._languages:
                reader = choose_word_reader(language)
                words = reader.words(*(_read_chunk_text(cell) for cell in (chunk.title, chunk.section, chunk.text)))
                terms, length = reader.terms(words), words.total()
                if (part := self._recount_part(chunk, language)) is not None:
                    self.passages[part] += 1
                    self.words[part] += length
                    parts[part].lengths[chunk.id % BLOCK] = length
                    for term, times in terms.items():
                        parts[part].terms[term].extend((chunk.id % BLOCK, times))
        for part, expected in parts.items():
            self._left.discard((part, block))
            self._compare_postings(part, block, expected)
            self._connection.executemany(_COUNT, _recount_postings(part, expected.terms))

    def end(self) -> None:
        """Look at what is left: blocks where the texts give nothing."""
        for block, row in self._blocks.items():
            self._check_block(block, row, [])
        for part, block in sorted(self._left, key=str):
            self._compare_postings(part, block, _Expected())
        for (row,) in self._connection.execute(_UNPLACED):
            self._findings.note("postings", f"postings: {row}", "they belong to nothing")

    def _recount_part(self, chunk: WrittenChunk, language: str) -> int | None:
        key = (chunk.scope, language, bool(chunk.language))
        part = self._parts.get(key)
        if part is None and key not in self._missing:
            self._missing.add(key)
            self._findings.note(
                "statistics", "parts", f"there is none for scope {chunk.scope!s:.20} in {language!s:.20}"
            )
        return part

    def _check_block(self, block: int, row: tuple[Any, ...] | None, chunks: list[WrittenChunk]) -> None:
        scope, used, held, longest = row or (None, 0, 0, 0)
        is_used = isinstance(used, int) and used <= BLOCK and longest == LENGTH_BYTES * used
        last = max((chunk.id % BLOCK for chunk in chunks), default=-1)
        if not is_used or held != len(chunks) or last >= used or any(chunk.scope != scope for chunk in chunks):
            message = f"scope, places and chunks are {(scope, used, held)}; the texts give {len(chunks)} chunks"
            self._findings.note("places", f"blocks: {block}", message)

    def _compare_postings(self, part: int, block: int, expected: _Expected) -> None:
        where = f"part {part!s:.20}, block {block!s:.20}"
        found = self._connection.execute("SELECT id, data FROM lengths WHERE part IS ? AND block IS ?", [part, block])
        row, data = found.fetchone() or (0, b"")
        row = row if 0 < row < _MOST_ROWS else 0
        held = _recount_chunk_lengths(data)
        lengths = held or _is_without_chunk_numbers()
        if held is None or {at: length for at, length in enumerate(lengths) if length} != {
            at: length for at, length in expected.lengths.items() if length
        }:
            self._findings.note("places", f"lengths: {where}", "they are not what the texts give")
        left = dict(expected.terms)
        wrong = [
            term
            for term, size, data in self._connection.execute(
                _POSTINGS, [part, make_posting_key(row, 0), make_posting_key(row + 1, 0)]
            )
            if not _is_posting_block_right(
                size, data, left.pop(term, _is_without_chunk_numbers()), expected.lengths, len(lengths)
            )
        ]
        wrong += left
        if wrong:
            message = f"{len(wrong)} terms are not what the texts give: {_show_posting_finding(wrong)}"
            self._findings.note("postings", f"postings: {where}", message)


def _recount_postings(part: int, terms: Mapping[str, array[int]]) -> Iterator[tuple[int | str, ...]]:
    for term, held in terms.items():
        counts = held[1::2]
        yield part, term, sum(counts), len(counts), max(counts)


def _is_posting_block_right(size: Any, data: Any, expected: array[int], there: Mapping[int, int], places: int) -> bool:
    """Say whether postings are right, less those of chunks that are gone."""
    try:
        cells = decode_postings(size, data)
    except (TypeError, ValueError):  # nobody wrote it so
        return False
    is_rising = all(before < after for before, after in pairwise([-1, *cells.places, places]))
    held = (number for cell in zip(*cells, strict=True) if cell[0] in there for number in cell)
    return is_rising and array(expected.typecode, held) == expected


def _check_index_statistics(connection: sqlite3.Connection, recount: _Recount, findings: Findings) -> None:
    """Hold what is counted of parts against their chunks and words."""
    once = Counter[tuple[int, str]]()
    single = "SELECT part, substr(term, 1, 1), count(*) FROM words WHERE total = 1 GROUP BY 1, 2"
    for part, kind, count in connection.execute(single):
        once[part, kind] = count
    row = connection.execute("SELECT value FROM state WHERE name = 'changes'").fetchone()
    changes = row[0] if row and isinstance(row[0], int) else -1
    if not 0 <= changes < _MOST_CHANGES:
        findings.note("statistics", "state: changes", "no number says which change was the last")
    columns = ("passages", "words", *_ONCE)
    statement = f"SELECT id, {', '.join(columns)}, changed FROM parts ORDER BY id"
    for part, *said, changed in connection.execute(statement):
        singles = (once[part, kind] + once[part, NAME] for kind in KINDS)
        expected = [recount.passages[part], recount.words[part], *singles]
        for column, given, counted in zip(columns, said, expected, strict=True):
            if given != counted:
                findings.note("statistics", f"parts: {part}", f"{column} is {given!s:.20}; the texts give {counted}")
        if not isinstance(changed, int) or not 0 <= changed <= max(changes, 0):
            findings.note("statistics", f"parts: {part}", f"changed is {changed!s:.20}; the last change is {changes}")


def _recount_chunk_lengths(data: Any) -> array[int] | None:
    """Return the lengths of a row; None where nobody wrote it so."""
    try:
        return decode_chunk_lengths(data)
    except (TypeError, ValueError):
        return None


def _is_without_chunk_numbers() -> array[int]:
    return array("I")


def _read_chunk_text(cell: object) -> str:
    return cell if isinstance(cell, str) else ""


def _strip_posting_key(term: object) -> str:
    """Return a term without what tells its reading."""
    return "?" if term is None else str(term)[1:]  # a number that no word has


def _show_posting_finding(terms: list[str]) -> str:
    return ", ".join(f"{term!r:.40}" for term in sorted(set(map(_strip_posting_key, terms)))[:3])
