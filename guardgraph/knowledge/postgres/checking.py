"""Whether a database has what was put in, by hashes and by counting again; and its index made anew of what it has."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable
from dataclasses import replace
from itertools import groupby
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from guardgraph.grounding.words import detect_language
from guardgraph.knowledge.checking.checked import CheckedBase
from guardgraph.knowledge.checking.rows import Doubts, StoredChunkRow, check_document_chunks
from guardgraph.knowledge.postgres.ranking import SCOPE_COLUMNS
from guardgraph.knowledge.postgres.schema import read_server_embedding
from guardgraph.knowledge.postgres.writing import TenantWriter, make_term_key, merge_cells
from guardgraph.knowledge.storing.findings import Doubtful, Findings
from guardgraph.knowledge.storing.postings import BLOCK, choose_word_reader, decode_chunk_lengths
from guardgraph.knowledge.storing.schema import name_words_version
from guardgraph.knowledge.storing.scopes import parse_scope_row, read_scope_tenant, show_scope_tenant
from guardgraph.knowledge.storing.writing import WrittenChunk
from guardgraph.knowledge.vectors import (
    FLOAT_BYTES,
    Embedder,
    embed_new_texts,
    hash_embedding_text,
    hash_vector,
    make_embedding_text,
    refuse_other_size,
)
from guardgraph.tools.relevance import list_unmeasured_languages

if TYPE_CHECKING:
    from psycopg import Connection

_ROWS: Final = (
    "SELECT at + 1, document, number, c.tenant, c.name, section, start, stop, language, hash, text, d.tenant, d.name, "
    "title, updated_at, c.scope, collection, seal FROM guardgraph.chunks c "
    "LEFT JOIN guardgraph.documents d ON d.id = document WHERE c.tenant = %s ORDER BY document, number, at"
)
_EMPTY: Final = (
    "SELECT id, name FROM guardgraph.documents d WHERE tenant = %s "
    "AND NOT EXISTS (SELECT 1 FROM guardgraph.chunks c WHERE c.tenant = d.tenant AND document = d.id) ORDER BY 2"
)
_PARTS: Final = (
    "SELECT id, scope, language, told, passages, words FROM guardgraph.parts WHERE scope = ANY (%s) ORDER BY id"
)
_STRAYS: Final = (
    "DELETE FROM guardgraph.chunks c WHERE tenant = %s "
    "AND NOT EXISTS (SELECT 1 FROM guardgraph.documents d WHERE d.id = document) RETURNING name"
)
_AGAIN: Final = (
    "UPDATE guardgraph.documents SET size = -1, modified = 0, sha256 = '' WHERE tenant = %s AND id = ANY (%s) "
    "RETURNING name"
)
"""Gives documents a stamp that no file has, so that the next addition reads them again."""
_EMPTYING: Final = (
    "DELETE FROM guardgraph.postings WHERE tenant = %s",
    "DELETE FROM guardgraph.lengths WHERE tenant = %s",
    "UPDATE guardgraph.parts SET passages = 0, words = 0, changed = nextval('guardgraph.changes') "
    "WHERE scope = ANY (ARRAY(SELECT id FROM guardgraph.scopes WHERE tenant = %s))",
    "UPDATE guardgraph.scopes s SET used = greatest(used, "
    "(SELECT coalesce(max(at) + 1, 0) FROM guardgraph.chunks c WHERE c.tenant = s.tenant AND scope = s.id)) "
    "WHERE tenant = %s",
)
_VECTOR_PROBLEMS: Final = """
    SELECT name, problem FROM (SELECT c.name, CASE
        WHEN vector IS NULL THEN CASE WHEN %(size)s::int > 0 THEN 'there is none' END
        WHEN vector_hash IS DISTINCT FROM sha256(key || vector) THEN 'it is not what was put in'
        WHEN length(vector) <> %(size)s::int THEN 'it has another size than others'
        WHEN key <> sha256(convert_to(title || E'\\n' || section || E'\\n' || text, 'UTF8'))
        THEN 'it is of another text'
    END AS problem FROM guardgraph.chunks c JOIN guardgraph.documents d ON d.id = document
    WHERE c.tenant = %(tenant)s AND at >= 0) AS checked WHERE problem IS NOT NULL ORDER BY 1
"""
_EMBEDDED: Final = (
    "SELECT c.name, title, section, text FROM guardgraph.chunks c JOIN guardgraph.documents d ON d.id = document "
    "WHERE c.tenant = %s AND c.name = ANY (%s) AND at >= 0"
)
_LACKING: Final = "SELECT DISTINCT document FROM guardgraph.chunks WHERE tenant = %s AND name = ANY (%s)"


def check_rows_and_counts(connection: Connection[Any]) -> CheckedBase:
    """Check a database, tenant by tenant; all chunks of one are in memory meanwhile."""
    findings, languages, documents, chunks = Findings(), Counter[str](), 0, 0
    for key in _list_tenant_keys(connection):
        doubts, rows = _check_tenant_rows(connection, key, findings)
        by_part: defaultdict[tuple[int, str], list[StoredChunkRow]] = defaultdict(list)
        for row in rows:
            if row.id > 0:
                by_part[row.scope, row.language].append(row)
            languages[row.language] += 1
        for of_part in connection.execute(_PARTS, [[*doubts.scopes]]).fetchall():
            part = _Part(*of_part)
            _check_part(connection, part, by_part[part.scope, part.language if part.told else ""], findings)
        for name, problem in _find_vector_problems(connection, key):
            findings.note("vectors", f"vectors: {show_scope_tenant(name, key)}", problem)
        documents, chunks = documents + len({row.document for row in rows if row.of is not None}), chunks + len(rows)
    return CheckedBase(documents, chunks, tuple(findings), unmeasured=list_unmeasured_languages(languages))


def rebuild_database(
    connection: Connection[Any], write_for: Callable[[str], None], embedder: Embedder | None
) -> CheckedBase:
    """Make the index anew, tenant by tenant, from the stored texts whose hash is right."""
    before, refused, lacking = check_rows_and_counts(connection), set[Doubtful](), set[Doubtful]()
    for key in _list_tenant_keys(connection):
        write_for(key)
        doubts, rows = _check_tenant_rows(connection, key, Findings())
        refused |= _refuse_documents(connection, key, doubts)
        _count_words_anew(connection, key, [row for row in rows if row.document not in doubts.documents])
        lacking |= _make_vectors_anew(connection, key, embedder)
    connection.execute("UPDATE guardgraph.state SET value = %s WHERE name = 'words'", [name_words_version()])
    named, without = (tuple(sorted(each, key=lambda of: (of.tenant or "", of.id))) for each in (refused, lacking))
    return replace(before, rebuilt=True, refused=named, without_vectors=without)


def _list_tenant_keys(connection: Connection[Any]) -> list[str]:
    tables = " UNION ".join(f"SELECT tenant FROM guardgraph.{table}" for table in ("scopes", "documents", "chunks"))
    return [key for (key,) in connection.execute(f"{tables} ORDER BY 1").fetchall()]


def _check_tenant_rows(
    connection: Connection[Any], key: str, findings: Findings
) -> tuple[Doubts, list[StoredChunkRow]]:
    """Note which rows of a tenant are not what was put in; return what is doubted, and all of its chunks."""
    doubts = Doubts({})
    for row in connection.execute(
        f"SELECT {SCOPE_COLUMNS} FROM guardgraph.scopes s WHERE tenant = %s ORDER BY 1", [key]
    ):
        if (scope := parse_scope_row(*row)) is None:
            findings.note("row", f"scopes: {row[0]}", "no tenant, source and readers")
        else:
            doubts.scopes[scope.id] = scope
    rows = [*map(StoredChunkRow._make, connection.execute(_ROWS, [key]))]
    for _, some in groupby(rows, key=attrgetter("document")):
        check_document_chunks([*some], findings, doubts)
    for number, name in connection.execute(_EMPTY, [key]):
        doubts.documents.add(number)
        findings.note("reference", f"documents: {show_scope_tenant(name, key)}", "it has no chunks")
    return doubts, rows


def _refuse_documents(connection: Connection[Any], key: str, doubts: Doubts) -> set[Doubtful]:
    """Take documents that are not what was put in out of the index, and let the next addition read them again."""
    # Their chunks get places below 0, which no search reads; chunks of no document are deleted.
    doubted, tenant = [*doubts.documents], read_scope_tenant(key)
    back = "UPDATE guardgraph.chunks SET at = -1 - at WHERE tenant = %s AND at < 0 AND document <> ALL (%s)"
    out = "UPDATE guardgraph.chunks SET at = -1 - at WHERE tenant = %s AND at >= 0 AND document = ANY (%s)"
    for statement in (back, out):
        connection.execute(statement, [key, doubted])
    strays = connection.execute(_STRAYS, [key]).fetchall()
    named = connection.execute(_AGAIN, [key, doubted]).fetchall()
    return {Doubtful(tenant, name) for (name,) in [*strays, *named]}


def _count_words_anew(connection: Connection[Any], key: str, rows: Iterable[StoredChunkRow]) -> None:
    for statement in _EMPTYING:
        connection.execute(statement, [key])
    writer = TenantWriter(connection, read_scope_tenant(key))
    for row in rows:
        if row.of is None:
            continue
        if (language := detect_language(row.text)) != row.language:
            update = "UPDATE guardgraph.chunks SET language = %s WHERE tenant = %s AND name = %s"
            connection.execute(update, [language, key, row.name])
        place = row.id - 1 if row.id > 0 else -row.id
        writer.count(WrittenChunk(place, row.scope, language, row.title, row.section, row.text), 1)
    writer.flush()


def _make_vectors_anew(connection: Connection[Any], key: str, embedder: Embedder | None) -> set[Doubtful]:
    """Make the vectors of a tenant that are missing or damaged; without the embedding take them out, and name them."""
    made = read_server_embedding(connection)
    wrong = [name for name, _ in _find_vector_problems(connection, key)]
    rows = connection.execute(_EMBEDDED, [key, wrong]).fetchall()
    vectors = dict[bytes, bytes]()
    if embedder is not None and made is not None and embedder.name == made.name:
        vectors = embed_new_texts(embedder, [make_embedding_text(*row[1:]) for row in rows], lambda keys: ())
        for vector in vectors.values():
            refuse_other_size(made, vector, "the database")
    update = "UPDATE guardgraph.chunks SET key = %s, vector = %s, vector_hash = %s WHERE tenant = %s AND name = %s"
    for name, *texts in rows:
        text = hash_embedding_text(make_embedding_text(*texts))
        cells = [text, vectors[text], hash_vector(text, vectors[text])] if vectors else [None] * 3
        connection.execute(update, [*cells, key, name])
    if vectors or made is None or not made.name:
        return set()
    lacking = connection.execute(_LACKING, [key, wrong]).fetchall()
    named = connection.execute(_AGAIN, [key, [number for (number,) in lacking]]).fetchall()
    return {Doubtful(read_scope_tenant(key), name) for (name,) in named}


def _find_vector_problems(connection: Connection[Any], key: str) -> list[tuple[str, str]]:
    """Return chunks of a tenant by id, and what is wrong with their vectors."""
    made = read_server_embedding(connection)
    size = made.size * FLOAT_BYTES if made is not None else 0
    return connection.execute(_VECTOR_PROBLEMS, {"tenant": key, "size": size}).fetchall()


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
