"""Whether a knowledge base is what was put in, and its index made anew of what is."""

from __future__ import annotations

import json
import sqlite3
from array import array
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from itertools import groupby, pairwise
from pathlib import Path
from typing import Any, Final, NamedTuple

from guardgraph.grounding.words import DEFAULT_LANGUAGE
from guardgraph.knowledge.checking.rows import MOST_PLACES, Doubts, are_index_rows_typed, check_rows, read_chunk_rows
from guardgraph.knowledge.storing.collections import Lost, check_collections, recount_collections
from guardgraph.knowledge.storing.file import File
from guardgraph.knowledge.storing.findings import BaseFinding, Doubtful, Findings
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
from guardgraph.knowledge.storing.schema import count_changes_anew, note_words, words_problem
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
    check_vectors,
    chunks_without,
    embed_document_chunks,
    make_embedding_text,
    sift_vectors,
)
from guardgraph.plain.errors import StoreError
from guardgraph.plain.json import JsonObject
from guardgraph.state.context import Access
from guardgraph.tools.relevance import list_unmeasured_languages

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


_ANEW = "`guardgraph kb add` of the same folders into a new file makes it again"


@dataclass(frozen=True, slots=True)
class CheckedBase:
    """What came of checking a knowledge base, or of making its index anew."""

    documents: int
    chunks: int
    findings: tuple[BaseFinding, ...]
    """What was found, before the index was made anew; the first hundred of each kind."""
    rebuilt: bool = False
    """Whether the index was made anew."""
    refused: tuple[Doubtful, ...] = ()
    """Documents of which something is not what was put in, or is gone; that is not in the index, and shown to nobody.
    Chunks of which no document is there, and documents that nobody could name, were taken out. To add them again
    brings them back, and until then each check says so of those that are in the file."""
    lost: tuple[Lost, ...] = ()
    """Documents and collections that are not there, and that nothing names any more; to add them again brings them
    back."""
    without_vectors: tuple[Doubtful, ...] = ()
    """Documents whose vectors were taken out, or were not there; to add them again with the embedding, or to make the
    index anew with it, makes them; in a new file where nothing tells any more which embedding it was."""
    unmeasured: tuple[str, ...] = ()
    """Where more than half of the chunks that tell their language are in languages for which the default
    `min_chunk_score` was not measured: the codes of these, the most frequent first. It is no finding."""

    @property
    def ok(self) -> bool:
        """Whether the base is what was put in: nothing was found, or an index that was made anew has all of it."""
        return not any((self.refused, self.lost, self.without_vectors)) if self.rebuilt else not self.findings

    def plain(self) -> JsonObject:
        """Return it as plain JSON."""
        plain: JsonObject = json.loads(json.dumps(asdict(self)))
        return {"ok": self.ok, **plain}


def check_file(path: Path) -> CheckedBase:
    """Check the file of a knowledge base, which is there."""
    with _open_base_to_check(path) as file:
        return _check_opened_base(file)


def rebuild_file(path: Path, embedder: Embedder | None = None) -> CheckedBase:
    """Make the index of a knowledge base anew from the stored texts whose hash is right, in one transaction."""
    with _open_base_to_check(path) as file:
        checked, vectors = _check_opened_base(file), dict[bytes, bytes]()
        if embedder is not None:  # before others have to wait for the transaction
            with file.reading() as connection:
                vectors = list_missing_vectors(connection, embedder, file.shown)
        with file.writing() as connection:
            return _rebuild_opened_base(connection, checked, vectors, file.shown)


@contextmanager
def _open_base_to_check(path: Path) -> Iterator[File]:
    file = File(path, to_check=True)
    try:
        yield file
    except StoreError as error:
        if type(error.__cause__) is sqlite3.DatabaseError:  # errors of its subclasses are no damage: locked, full
            raise StoreError(f"{error}; {_ANEW}") from error
        raise
    finally:
        file.close()


def _check_opened_base(file: File) -> CheckedBase:
    with file.reading() as connection:
        findings = tuple(_find_base_damage(connection))
        languages = _list_unmeasured_languages(connection)
        return CheckedBase(*_count_stored_chunks(connection), findings, unmeasured=languages)


def _find_base_damage(connection: sqlite3.Connection) -> Findings:
    """Look at the file, then at rows, then at what is counted of them; what stands on damage says nothing."""
    findings = Findings()
    for message in _find_file_damage(connection):
        findings.note("file", "SQLite", message)
    if findings:
        return findings
    check_rows(connection, findings)
    check_collections(connection, findings)
    check_vectors(connection, findings)
    if (problem := words_problem(connection)) is not None:
        findings.note("version", "state: words", problem)
    else:
        check_index_words(connection, findings)
    return findings


def _find_file_damage(connection: sqlite3.Connection) -> list[str]:
    rows = connection.execute("PRAGMA integrity_check").fetchall()
    return [" ".join(str(message).split()) for (message,) in rows if message != "ok"]


def _rebuild_opened_base(
    connection: sqlite3.Connection, checked: CheckedBase, vectors: Mapping[bytes, bytes], shown: str
) -> CheckedBase:
    if _find_file_damage(connection):
        connection.execute("REINDEX")
        if damage := _find_file_damage(connection):
            raise StoreError(f"{shown}: damaged where no index is ({damage[0]}); {_ANEW}")
    rebuilt = rebuild_index(connection, vectors)
    return CheckedBase(
        *_count_stored_chunks(connection),
        checked.findings,
        rebuilt=True,
        refused=_sort_base_findings(rebuilt.refused),
        lost=tuple(rebuilt.lost),
        without_vectors=_sort_base_findings(rebuilt.without_vectors),
        unmeasured=_list_unmeasured_languages(connection),
    )


def _sort_base_findings(documents: Iterable[Doubtful]) -> tuple[Doubtful, ...]:
    return tuple(sorted(documents, key=lambda document: (document.tenant or "", document.id)))


def _count_stored_chunks(connection: sqlite3.Connection) -> tuple[int, int]:
    """Return how many documents and chunks there are."""
    documents, chunks = (
        int(connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0]) for table in ("documents", "chunks")
    )
    return documents, chunks


def _list_unmeasured_languages(connection: sqlite3.Connection) -> tuple[str, ...]:
    return list_unmeasured_languages(
        dict(connection.execute("SELECT language, count(*) FROM chunks GROUP BY language").fetchall())
    )
