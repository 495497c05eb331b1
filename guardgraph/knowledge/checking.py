"""Whether a knowledge base is what was put in, by hashes and by counting again; and its index made anew of what is."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass, replace
from itertools import groupby
from operator import attrgetter
from typing import Any, Final, Literal, NamedTuple, TypeAlias

from guardgraph.grounding.words import DETECTED_LANGUAGES, detect_language
from guardgraph.knowledge import vectors
from guardgraph.knowledge.database import Connection, KnowledgeDatabase, find_words_problem, name_words_version
from guardgraph.knowledge.documents import hash_stored_row, hash_stored_rows
from guardgraph.knowledge.file import open_scratch_base
from guardgraph.knowledge.scopes import Scope, parse_scope_row, read_scope_tenant, show_scope_tenant
from guardgraph.knowledge.views import SCOPE_COLUMNS
from guardgraph.knowledge.writing import TenantWriter, WrittenChunk
from guardgraph.plain.json import JsonObject
from guardgraph.tools.relevance import list_unmeasured_languages

MOST_FINDINGS: Final = 100
"""Of a kind that are kept; one says enough, and a base that is all wrong has one for each row."""

_AT_ONCE: Final = 256  # documents that are in memory together
_CHUNKS_AT_ONCE: Final = 1 << 12  # chunks whose words are in memory together where they are counted anew

BaseFindingKind: TypeAlias = Literal["file", "version", "row", "vectors", "words"]
"""What is wrong: the file itself; the version that read its words; a row that is not what was put in, or belongs to
nothing; its vector; what is counted of its words."""


@dataclass(frozen=True, slots=True)
class BaseFinding:
    """Something in a knowledge base that is not as it was written."""

    kind: BaseFindingKind
    place: str  #: the table, and what in it: an id, or a number
    message: str

    def __str__(self) -> str:
        return f"{self.place}: {self.message}"


@dataclass(frozen=True, slots=True)
class Doubtful:
    """A document that is not as it was put in, or a chunk of which no document is there."""

    tenant: str | None
    id: str

    def __str__(self) -> str:
        return f"{self.id} of {self.tenant}" if self.tenant else self.id


@dataclass(frozen=True, slots=True)
class CheckedBase:
    """What came of checking a knowledge base, or of making its index anew."""

    documents: int
    chunks: int
    findings: tuple[BaseFinding, ...]  #: what was found, before the index was made anew; the first hundred of each kind
    rebuilt: bool = False  #: whether the index was made anew
    refused: tuple[Doubtful, ...] = ()
    """Documents of which something was not what was put in, or was gone. They were taken out; to add them again brings
    them back."""
    without_vectors: tuple[Doubtful, ...] = ()
    """Documents whose vectors were taken out, or were not there; to add them again with the embedding, or to make the
    index anew with it, makes them."""
    unmeasured: tuple[str, ...] = ()
    """Where more than half of the chunks that tell their language are in languages for which the default
    `min_chunk_score` was not measured: the codes of these, the most frequent first. It is no finding."""

    @property
    def ok(self) -> bool:
        """Whether the base is what was put in: nothing was found, or an index that was made anew has all of it."""
        return not any((self.refused, self.without_vectors)) if self.rebuilt else not self.findings

    def plain(self) -> JsonObject:
        """Return it as plain JSON."""
        plain: JsonObject = json.loads(json.dumps(asdict(self)))
        return {"ok": self.ok, **plain}


def check_knowledge_base(database: KnowledgeDatabase) -> CheckedBase:
    """Check a base, as a writer, and close it; nothing is changed."""
    with closing(database), database.reading_all() as connection:
        database.require_writer(connection)
        return _check_database(database, connection)


def rebuild_knowledge_base(database: KnowledgeDatabase, embedder: vectors.Embedder | None = None) -> CheckedBase:
    """Make the index of a base anew from the stored texts whose hash is right, in one transaction, and close it."""
    with closing(database), database.rebuilding() as connection:
        before, refused, lacking = _check_database(database, connection), set[Doubtful](), set[Doubtful]()
        database.repair(connection)
        tenants = [_Tenant(connection, key, _Findings()) for key in _list_tenant_keys(connection)]
        for tenant in tenants:  # of all, before a place is given that a row of another one has
            database.write_for(connection, tenant.key)
            refused |= tenant.take_out_unsound()
        for tenant in tenants:
            database.write_for(connection, tenant.key)
            tenant.count_anew()
            lacking |= tenant.make_vectors(embedder, database.shown)
        note = "INSERT INTO state VALUES ('words', ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value"
        connection.execute(note, [name_words_version()])
        named, without = (tuple(sorted(each, key=lambda of: (of.tenant or "", of.id))) for each in (refused, lacking))
        documents, chunks, unmeasured = _count_stored_rows(connection)
        counted = replace(before, documents=documents, chunks=chunks, unmeasured=unmeasured)
        return replace(counted, rebuilt=True, refused=named, without_vectors=without)


class _Findings(list[BaseFinding]):
    """Keeps the first findings of each kind."""

    def __init__(self) -> None:
        super().__init__()
        self._counts = Counter[BaseFindingKind]()

    def note(self, kind: BaseFindingKind, place: str, message: str) -> None:
        """Note what is wrong."""
        self._counts[kind] += 1
        if self._counts[kind] <= MOST_FINDINGS:
            self.append(BaseFinding(kind, place, message))


def _check_database(database: KnowledgeDatabase, connection: Connection) -> CheckedBase:
    """Look at the file, then at rows, then at what is counted of them; what stands on damage says nothing."""
    findings = _Findings()
    for message in database.find_damage(connection):
        findings.note("file", "SQLite", message)
    if not findings:
        tenants = [_Tenant(connection, key, findings) for key in _list_tenant_keys(connection)]
        row = connection.execute("SELECT value FROM state WHERE name = 'words'").fetchone()
        if (problem := find_words_problem(row and row[0])) is not None:
            findings.note("version", "state: words", problem)
        else:
            _find_miscounts(connection, tenants, findings)
    documents, chunks, unmeasured = _count_stored_rows(connection)
    return CheckedBase(documents, chunks, tuple(findings), unmeasured=unmeasured)


def _list_tenant_keys(connection: Connection) -> list[str]:
    selects = (f"SELECT tenant FROM {table}" for table in ("scopes", "documents", "chunks"))
    return [key for (key,) in connection.execute(f"{' UNION '.join(selects)} ORDER BY 1").fetchall()]


def _count_stored_rows(connection: Connection) -> tuple[int, int, tuple[str, ...]]:
    """Return how many documents and chunks there are, and the languages that were not measured."""
    [(documents,)] = connection.execute("SELECT count(*) FROM documents").fetchall()
    languages = dict(connection.execute("SELECT language, count(*) FROM chunks GROUP BY language").fetchall())
    return documents, sum(languages.values()), list_unmeasured_languages(languages)


class _Chunk(NamedTuple):
    """A chunk with its document, as they are read."""

    document: int
    number: int
    language: str
    hash: bytes
    name: str
    section: str
    start: int
    stop: int
    text: str
    of: str  # the document's id
    title: str
    updated_at: str
    scope: int
    collection: str
    seal: bytes
    key: str | None
    vector: bytes | None
    vector_hash: bytes | None

    def holds(self, scope: Scope | None) -> bool:
        """Say whether it is what was put in, in a scope."""
        if scope is None:
            return False
        document = (self.of, scope.source, self.title, self.updated_at)
        chunk = (self.name, self.section, self.start, self.stop, self.text)
        return hash_stored_row(scope.access, document, chunk) == self.hash

    def find_vector_problem(self, made: vectors.EmbeddedTexts | None) -> str | None:
        """Say what is wrong with its vector; None where nothing is, and where there should be none."""
        if self.vector is None or self.key is None:
            return "there is none" if made is not None and made.name else None
        if made is None or not made.name:
            return "it belongs to nothing"
        text = vectors.hash_embedding_text(vectors.make_embedding_text(self.title, self.section, self.text))
        if self.vector_hash != vectors.hash_vector(bytes.fromhex(self.key), self.vector):
            return "it is not what was put in"
        if len(self.vector) != vectors.FLOAT_BYTES * made.size:
            return f"it has {len(self.vector) // vectors.FLOAT_BYTES} numbers, others {made.size}"
        return None if self.key == text.hex() else "it is of another text"


_ROWS: Final = (
    "SELECT document, number, language, hash, chunks.name, section, start, stop, text, documents.name, title, "
    "updated_at, chunks.scope, collection, seal, key, vector, vector_hash FROM chunks "
    "JOIN documents ON documents.id = document AND documents.tenant = chunks.tenant AND documents.scope = chunks.scope "
    "WHERE chunks.tenant = ? AND document = ANY (?) ORDER BY document, number, at"
)
_STRAYS: Final = (
    "FROM chunks WHERE tenant = ? AND NOT EXISTS (SELECT 1 FROM documents "
    "WHERE documents.id = document AND documents.tenant = chunks.tenant AND documents.scope = chunks.scope)"
)
_READ_AGAIN: Final = "UPDATE documents SET size = -1, modified = 0, sha256 = '' WHERE tenant = ? AND name = ANY (?)"
"""Gives documents a stamp that no file has, so that the next addition reads them again."""
_WORDS: Final = (
    "SELECT at, chunks.scope, language, title, section, text FROM chunks JOIN documents ON documents.id = document "
    "WHERE chunks.tenant = ? AND chunks.scope = ? AND at >= ? AND at < ? ORDER BY at"
)
_BLOCKS: Final = "SELECT DISTINCT at >> 12 FROM chunks WHERE tenant = ? AND scope = ? ORDER BY 1"
_LAST_PLACES: Final = (
    "SELECT scopes.id, used, max(at) FROM scopes JOIN chunks ON scope = scopes.id GROUP BY scopes.id, used"
)

_OF_TENANT: Final = "part IN (SELECT parts.id FROM parts JOIN scopes ON scopes.id = scope WHERE tenant = ?)"


class _Tenant:
    """What a tenant has: which of its rows are what was put in."""

    def __init__(self, connection: Connection, key: str, findings: _Findings) -> None:
        self.key = key
        self.scopes: dict[int, Scope] = {}  # those that can be read
        self._connection, self._findings = connection, findings
        self._made = vectors.read_embedding(connection)
        self._unsound = dict[int, str]()  # by number the ids of documents that are not what was put in
        self._languages: list[tuple[str, str]] = []
        """The language of chunks that are noted with another one, and their ids."""
        self._wrong_vectors: list[str] = []
        for row in connection.execute(f"SELECT {SCOPE_COLUMNS} FROM scopes WHERE tenant = ? ORDER BY 1", [key]):
            if (scope := parse_scope_row(*row)) is None:
                findings.note("row", f"scopes: {row[0]}", "no tenant, source and readers")
            else:
                self.scopes[scope.id] = scope
        for name, document in connection.execute(f"SELECT name, document {_STRAYS} ORDER BY 1", [key]).fetchall():
            message = f"its document {document} is not there, or of another tenant or for others"
            self._note_finding("chunks", name, message)
        select = "SELECT id, name FROM documents WHERE tenant = ? ORDER BY 1"
        documents = dict(connection.execute(select, [key]).fetchall())
        numbers = [*documents]
        for begin in range(0, len(numbers), _AT_ONCE):
            some = numbers[begin : begin + _AT_ONCE]
            held = groupby(map(_Chunk._make, connection.execute(_ROWS, [key, some])), key=attrgetter("document"))
            sound = {number for number, rows in held if self._check_chunk_rows([*rows])}
            self._unsound |= {number: documents[number] for number in some if number not in sound}
            for number in (number for number in some if number not in sound):
                message = "it is not what was put in: chunks of it are missing or wrong, or its collection"
                self._note_finding("documents", documents[number], message)

    def _note_finding(self, table: str, name: str, message: str, kind: BaseFindingKind = "row") -> None:
        self._findings.note(kind, f"{table}: {show_scope_tenant(name, self.key)}", message)

    def _check_chunk_rows(self, rows: Sequence[_Chunk]) -> bool:
        """Say whether a document's chunks are those that it was put in with."""
        is_sound = True
        for at, row in enumerate(rows):
            if not row.holds(self.scopes.get(row.scope)):
                is_sound = False
                message = "it is not what was put in: its text, what is shown with it, or who may read it"
                self._note_finding("chunks", row.name, message)
                continue
            is_sound &= row.number == at
            if row.language != (language := detect_language(row.text)):
                self._languages.append((language, row.name))
                self._note_finding("chunks", row.name, f"its language is not {row.language!s:.20}")
            if (problem := row.find_vector_problem(self._made)) is not None:
                self._wrong_vectors.append(row.name)
                self._note_finding("vectors", row.name, problem, "vectors")
        return is_sound and rows[0].seal == hash_stored_rows(rows[0].collection, [row.hash for row in rows])

    def take_out_unsound(self) -> set[Doubtful]:
        """Take out what is not what was put in, and name it."""
        connection, key = self._connection, self.key
        strays = connection.execute(f"DELETE {_STRAYS} RETURNING name", [key]).fetchall()
        connection.execute("DELETE FROM chunks WHERE tenant = ? AND document = ANY (?)", [key, [*self._unsound]])
        connection.execute("DELETE FROM documents WHERE id = ANY (?)", [[*self._unsound]])
        names = [*self._unsound.values(), *(name for (name,) in strays)]
        tenant = read_scope_tenant(key)
        return {Doubtful(tenant, name.encode(errors="replace").decode()) for name in names}

    def count_anew(self) -> None:
        """Give chunks places without gaps, and count their words."""
        connection, key = self._connection, self.key
        for statement in (
            f"DELETE FROM postings WHERE {_OF_TENANT}",
            f"DELETE FROM lengths WHERE {_OF_TENANT}",
            "DELETE FROM parts WHERE scope IN (SELECT id FROM scopes WHERE tenant = ?)",
            "DELETE FROM scopes WHERE tenant = ? AND id NOT IN (SELECT scope FROM documents)",
        ):
            connection.execute(statement, [key])
        for statement in (
            "DELETE FROM parts WHERE scope NOT IN (SELECT id FROM scopes)",
            "DELETE FROM postings WHERE part NOT IN (SELECT id FROM parts)",
            "DELETE FROM lengths WHERE part NOT IN (SELECT id FROM parts)",
        ):
            connection.execute(statement)
        update = "UPDATE chunks SET language = ? WHERE tenant = ? AND name = ?"
        connection.executemany(update, [(language, key, name) for language, name in self._languages])
        writer = TenantWriter(connection, read_scope_tenant(key))
        for (scope,) in connection.execute("SELECT id FROM scopes WHERE tenant = ?", [key]).fetchall():
            self._renumber_chunks(scope)
            _count_scope(connection, writer, key, scope)

    def _renumber_chunks(self, scope: int) -> None:
        connection, where = self._connection, "WHERE tenant = ? AND scope = ?"
        rows = connection.execute(
            "SELECT chunks.name FROM chunks JOIN documents ON documents.id = document "
            "WHERE chunks.tenant = ? AND chunks.scope = ? ORDER BY place, number",
            [self.key, scope],
        ).fetchall()
        select = f"SELECT coalesce(min(at), 0) FROM chunks {where}"
        [(least,)] = connection.execute(select, [self.key, scope]).fetchall()
        below = min(least, 0) - 1  # no chunk has a place from here downwards, where none is in the way of another one
        update = "UPDATE chunks SET at = ? WHERE tenant = ? AND name = ?"
        connection.executemany(update, [(below - at, self.key, name) for at, (name,) in enumerate(rows)])
        connection.execute(f"UPDATE chunks SET at = ? - at {where}", [below, self.key, scope])
        connection.execute("UPDATE scopes SET used = ? WHERE id = ?", [len(rows), scope])

    def make_vectors(self, embedder: vectors.Embedder | None, shown: str) -> set[Doubtful]:
        """Make vectors that are missing or damaged; without the embedding take them out, and name their documents."""
        connection, key = self._connection, self.key
        rows = connection.execute(
            "SELECT documents.name, chunks.name, title, section, text FROM chunks "
            "JOIN documents ON documents.id = document WHERE chunks.tenant = ? AND chunks.name = ANY (?)",
            [key, self._wrong_vectors],
        ).fetchall()
        tenant, kept = read_scope_tenant(key), dict[bytes, bytes]()
        if embedder is not None and self._made is not None and embedder.name == self._made.name:
            kept = vectors.embed_new_texts(
                connection, embedder, tenant, [vectors.make_embedding_text(*row[2:]) for row in rows]
            )
            for vector in kept.values():
                vectors.refuse_other_size(self._made, vector, shown)
        changes = list[tuple[Any, ...]]()
        for _, name, *texts in rows:
            text = vectors.hash_embedding_text(vectors.make_embedding_text(*texts))
            made = (text.hex(), kept[text], vectors.hash_vector(text, kept[text])) if kept else (None, None, None)
            changes.append((*made, key, name))
        update = "UPDATE chunks SET key = ?, vector = ?, vector_hash = ? WHERE tenant = ? AND name = ?"
        connection.executemany(update, changes)
        if kept or self._made is None or not self._made.name:
            return set()
        lacking = sorted({row[0] for row in rows})
        connection.execute(_READ_AGAIN, [key, lacking])
        return {Doubtful(tenant, name) for name in lacking}


def _count_scope(connection: Connection, writer: TenantWriter, key: str, scope: int) -> None:
    blocks = connection.execute(_BLOCKS, [key, scope]).fetchall()
    for begin in (block * _CHUNKS_AT_ONCE for (block,) in blocks):
        rows = connection.execute(_WORDS, [key, scope, begin, begin + _CHUNKS_AT_ONCE]).fetchall()
        for at, _, language, *said in rows:  # which may be damaged
            told = language if language in DETECTED_LANGUAGES else ""
            texts = [text.encode(errors="replace").decode() for text in said]
            writer.count(WrittenChunk(at, scope, told, *texts), 1)
        writer.flush()


def _find_miscounts(connection: Connection, tenants: Iterable[_Tenant], findings: _Findings) -> None:
    """Count the words of all chunks in a base of their own, and hold what is noted of them against that."""
    with open_scratch_base() as counted:
        for tenant in tenants:
            writer = TenantWriter(counted, read_scope_tenant(tenant.key))
            for scope in tenant.scopes:
                _count_scope(connection, writer, tenant.key, scope)
        given, expected = _read_parts(connection), _read_parts(counted)
        for part in sorted({*given, *expected}):
            number, *said = given.get(part, _NO_PART)
            other, *counts = expected.get(part, _NO_PART)
            for column, noted, count in zip(_PART_COLUMNS, said, counts, strict=True):
                if noted != count:
                    place = f"parts: {part[1]:.20} of scope {part[0]}"
                    findings.note("words", place, f"{column} is {noted}; the texts give {count}")
            for block in sorted(_list_blocks(connection, number) | _list_blocks(counted, other)):
                noted_block, counted_block = _read_block(connection, number, block), _read_block(counted, other, block)
                if wrong := {*dict({*noted_block.items()} ^ {*counted_block.items()})}:
                    shown = ", ".join(sorted(f"{term!r:.40}" for term in wrong)[:3])
                    findings.note("words", f"postings: {number}", f"chunks have {shown} otherwise than is noted")
    for table in ("lengths", "postings"):
        stray = f"SELECT DISTINCT part FROM {table} WHERE part NOT IN (SELECT id FROM parts) ORDER BY 1"
        for (number,) in connection.execute(stray).fetchall():
            findings.note("words", f"{table}: {number}", "they are of no chunks")
    for scope, used, last in connection.execute(_LAST_PLACES).fetchall():
        if last >= used:
            findings.note("words", f"scopes: {scope}", f"{used} places are used; a chunk has place {last}")


_PART_COLUMNS: Final = ("passages", "words", "stems_once", "words_once", "beginnings_once")
_NO_PART: Final = (-1, 0, 0, 0, 0, 0)


def _read_parts(connection: Connection) -> dict[tuple[int, str, int], tuple[int, ...]]:
    rows = connection.execute(f"SELECT scope, language, told, id, {', '.join(_PART_COLUMNS)} FROM parts").fetchall()
    return {(scope, language, told): tuple(counts) for scope, language, told, *counts in rows}


def _list_blocks(connection: Connection, part: int) -> set[int]:
    select = "SELECT block FROM lengths WHERE part = ? UNION SELECT block FROM postings WHERE part = ?"
    return {block for (block,) in connection.execute(select, [part, part])}


def _read_block(connection: Connection, part: int, block: int) -> dict[str, tuple[int, bytes]]:
    """Return by term how often the chunks of a block have it, and which; how long they are, under no term."""
    where = "WHERE part = ? AND block = ?"
    rows = connection.execute(f"SELECT term, total, data FROM postings {where}", [part, block])
    held = {term: (total, bytes(data)) for term, total, data in rows}
    for (data,) in connection.execute(f"SELECT data FROM lengths {where}", [part, block]).fetchall():
        if size := len(bytes(data).rstrip(b"\0")):  # behind the last chunk stand zeros, where others stood
            held[""] = 0, bytes(data)[: -(-size // 4) * 4]
    return held
