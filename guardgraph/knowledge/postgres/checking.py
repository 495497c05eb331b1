"""Whether a database has what was put in: each chunk by its hash, and all that is counted by counting it again."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from itertools import groupby
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from guardgraph.knowledge.checking.checked import CheckedBase
from guardgraph.knowledge.checking.rows import Doubts, StoredChunkRow, check_document_chunks
from guardgraph.knowledge.postgres.ranking import SCOPE_COLUMNS
from guardgraph.knowledge.postgres.writing import make_term_key, merge_cells
from guardgraph.knowledge.storing.findings import Findings
from guardgraph.knowledge.storing.postings import BLOCK, choose_word_reader, decode_chunk_lengths
from guardgraph.knowledge.storing.scopes import parse_scope_row, show_scope_tenant

if TYPE_CHECKING:
    from psycopg import Connection

_ROWS: Final = (
    "SELECT at + 1, document, number, c.tenant, c.name, section, start, stop, language, hash, text, d.tenant, d.name, "
    "title, updated_at, c.scope, collection, seal FROM guardgraph.chunks c "
    "LEFT JOIN guardgraph.documents d ON d.id = document ORDER BY document, number, at"
)
_EMPTY: Final = (
    "SELECT tenant, name FROM guardgraph.documents d "
    "WHERE NOT EXISTS (SELECT 1 FROM guardgraph.chunks WHERE document = d.id) ORDER BY 1, 2"
)
_PARTS: Final = "SELECT id, scope, language, told, passages, words FROM guardgraph.parts ORDER BY id"


def check_rows_and_counts(connection: Connection[Any]) -> CheckedBase:
    """Check a database; all of its chunks are in memory meanwhile.

    Args:
        connection: in a transaction that sees all rows.
    """
    findings, doubts = Findings(), Doubts({})
    for row in connection.execute(f"SELECT {SCOPE_COLUMNS} FROM guardgraph.scopes s ORDER BY 1"):
        if (scope := parse_scope_row(*row)) is None:
            findings.note("row", f"scopes: {row[0]}", "no tenant, source and readers")
        else:
            doubts.scopes[scope.id] = scope
    rows = [*map(StoredChunkRow._make, connection.execute(_ROWS))]
    for _, some in groupby(rows, key=attrgetter("document")):
        check_document_chunks([*some], findings, doubts)
    for tenant, name in connection.execute(_EMPTY):
        findings.note("reference", f"documents: {show_scope_tenant(name, tenant)}", "it has no chunks")
    chunks: defaultdict[tuple[int, str], list[StoredChunkRow]] = defaultdict(list)
    for chunk in rows:
        chunks[chunk.scope, chunk.language].append(chunk)
    for of_part in connection.execute(_PARTS).fetchall():
        part = _Part(*of_part)
        _check_part(connection, part, chunks[part.scope, part.language if part.told else ""], findings)
    documents = connection.execute("SELECT count(*) FROM guardgraph.documents").fetchone() or (0,)
    return CheckedBase(documents[0], len(rows), tuple(findings))


class _Part(NamedTuple):
    id: int
    scope: int
    language: str
    told: bool
    passages: int
    words: int


def _check_part(connection: Connection[Any], part: _Part, rows: Iterable[StoredChunkRow], findings: Findings) -> None:
    """Count the words of the chunks of a part again, and hold what the database says of them against it."""
    reader, lengths = choose_word_reader(part.language), dict[tuple[int, int], int]()
    cells: defaultdict[tuple[int, str], dict[int, int]] = defaultdict(dict)
    for row in rows:
        block, place = divmod(row.id - 1, BLOCK)
        words = reader.words(row.title or "", row.section, row.text)
        lengths[block, place] = words.total()
        for term, times in reader.terms(words).items():
            cells[block, make_term_key(term)][place] = times
    if (part.passages, part.words) != (len(lengths), sum(lengths.values())):
        findings.note("statistics", f"parts: {part.id}", "it has another number of chunks or of words than is noted")
    noted = {
        (block, place): length
        for block, data in connection.execute("SELECT block, data FROM guardgraph.lengths WHERE part = %s", [part.id])
        for place, length in enumerate(decode_chunk_lengths(data))
        if length
    }
    if noted != {place: length for place, length in lengths.items() if length}:
        findings.note("places", f"lengths: {part.id}", "chunks are longer or shorter than is noted")
    select = "SELECT block, term, size, total, data FROM guardgraph.postings WHERE part = %s"
    held = {(block, term): tuple(rest) for block, term, *rest in connection.execute(select, [part.id])}
    if held != {at: merge_cells(0, b"", changed) for at, changed in cells.items()}:
        findings.note("postings", f"postings: {part.id}", "chunks have other words than is noted")
