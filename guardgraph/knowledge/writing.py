"""Changes of a tenant: documents are put in, moved and taken out, and the postings of their words follow them."""

from __future__ import annotations

import json
from collections import Counter, defaultdict, deque
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple

from guardgraph.grounding.words import DETECTED_LANGUAGES, detect_language
from guardgraph.knowledge import postings
from guardgraph.knowledge.database import Connection, execute_for
from guardgraph.knowledge.documents import (
    StoredDocument,
    StoredRow,
    explain_taken_id,
    hash_stored_document,
    rehash_moved_rows,
)
from guardgraph.knowledge.scopes import make_scope_key
from guardgraph.knowledge.vectors import hash_embedding_text, hash_vector, make_embedding_text
from guardgraph.plain.errors import ConfigurationError
from guardgraph.state.context import Access, normalize_document_access

_INSERT_DOCUMENT: Final = (
    "INSERT INTO documents (tenant, name, collection, title, updated_at, scope, place, size, modified, sha256, seal) "
    "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING id"
)
_INSERT_CHUNK: Final = (
    "INSERT INTO chunks (tenant, scope, at, document, number, name, section, start, stop, language, hash, text, key, "
    "vector, vector_hash) VALUES ?"
)
_HELD: Final = (
    "SELECT name, documents.id, collection, place, CAST(readers AS TEXT) FROM documents "
    "JOIN scopes ON scopes.id = scope WHERE documents.tenant = ? AND name = ANY (?)"
)
_OWNERS: Final = (
    "SELECT chunks.name, documents.name FROM chunks JOIN documents ON documents.id = document "
    "WHERE chunks.tenant = ? AND chunks.name = ANY (?)"
)
_CHUNKS: Final = (
    "SELECT at, chunks.scope, language, title, section, text FROM chunks JOIN documents ON documents.id = document "
    "WHERE chunks.tenant = ? AND document = ANY (?) ORDER BY document, number"
)


class WrittenChunk(NamedTuple):
    """What of a chunk its words are made of."""

    at: int  # its place in its scope
    scope: int
    language: str  # that its text tells; "" where it tells none
    title: str
    section: str
    text: str


class TenantWriter:
    """Gathers what changes of a tenant in a transaction, and writes it once."""

    def __init__(self, connection: Connection, tenant: str | None) -> None:
        self._connection, self._tenant = connection, tenant
        self._key = make_scope_key(tenant)
        self._left: defaultdict[int, list[int]] = defaultdict(list)
        """By scope the places of chunks that were taken out, which the next ones get."""
        self._cells: defaultdict[tuple[int, int], defaultdict[str, dict[int, int]]]
        """By part and block, and by term: by place how often the chunk there has it; 0 where it was taken out."""
        self._cells = defaultdict(lambda: defaultdict(dict))
        self._lengths: defaultdict[tuple[int, int], dict[int, int]] = defaultdict(dict)
        self._passages: Counter[int] = Counter()
        self._words: Counter[int] = Counter()
        self._parts: dict[tuple[int, str], Mapping[str, int]] = {}
        """By scope and the language that chunks tell, the parts in which they count, by language."""
        self._scopes: dict[tuple[str, Access], int] = {}

    def put(self, documents: Sequence[StoredDocument], vectors: Mapping[bytes, bytes]) -> dict[str, str]:
        """Put documents in, each in place of the one that has its id, but for those an id of which is taken."""
        ids = [document.id for document in documents]
        rows = self._connection.execute(_HELD, [self._key, ids])
        held = {name: (number, collection, (place, readers)) for name, number, collection, place, readers in rows}
        chunks = [chunk.id for document in documents for chunk in document.chunks]
        owners = dict(self._connection.execute(_OWNERS, [self._key, chunks]).fetchall())
        new, taken = list[StoredDocument](), dict[str, str]()
        for document in documents:
            collection = held[document.id][1] if document.id in held else None
            if (reason := explain_taken_id(document, collection, owners)) is not None:
                taken[document.id] = reason
            else:
                new.append(document)
        self._take_chunks_out([held[document.id][0] for document in new if document.id in held])
        places = iter(self._connection.take_numbers(len(new)) if new else [])
        chunks_of_new = list[tuple[Any, ...]]()
        for document in new:
            access = normalize_document_access(self._tenant, document.access.readers)
            place, readers = held[document.id][2] if document.id in held else (0, "null")
            # It keeps its place while its readers are the same. Where they change, it is new to somebody, and its place
            # must not tell them that it was there before.
            stays = json.loads(readers) == [*access.readers]
            after = next(places)
            chunks_of_new += self._insert(document._replace(access=access), place if stays else after, vectors)
        deque(execute_for(self._connection, _INSERT_CHUNK, [], chunks_of_new))
        return taken

    def _insert(self, document: StoredDocument, place: int, vectors: Mapping[bytes, bytes]) -> list[tuple[Any, ...]]:
        """Write a document, count the words of its chunks, and return these as rows."""
        scope = self._intern_scope(document.source, document.access)
        hashes, seal = hash_stored_document(document)
        cells = [document.id, document.name, document.title, document.updated_at, scope, place, *document.stamp, seal]
        [(number,)] = self._connection.execute(_INSERT_DOCUMENT, [self._key, *cells]).fetchall()
        rows = list[tuple[Any, ...]]()
        places = self._take_places(scope, len(document.chunks))
        for order, (at, chunk, hashed) in enumerate(zip(places, document.chunks, hashes, strict=True)):
            language = detect_language(chunk.text)
            self.count(WrittenChunk(at, scope, language, document.title, chunk.section, chunk.text), 1)
            embedded: tuple[str | bytes | None, ...] = (None, None, None)
            if vectors:
                key = hash_embedding_text(make_embedding_text(document.title, chunk.section, chunk.text))
                embedded = (key.hex(), vectors[key], hash_vector(key, vectors[key]))
            named = (self._key, scope, at, number, order, chunk.id, chunk.section, chunk.start, chunk.end)
            rows.append((*named, language, hashed, chunk.text, *embedded))
        return rows

    def drop(self, names: Iterable[str]) -> int:
        """Take documents out, those that are there, and return how many were."""
        select = "SELECT id FROM documents WHERE tenant = ? AND name = ANY (?)"
        numbers = [number for (number,) in self._connection.execute(select, [self._key, [*names]])]
        self._take_chunks_out(numbers)
        return len(numbers)

    def move(self, name: str, source: str, access: Access) -> None:
        """Give a document another source and other readers."""
        select = (
            "SELECT documents.id, title, updated_at, collection, seal, source, CAST(readers AS TEXT) FROM documents "
            "JOIN scopes ON scopes.id = scope WHERE documents.tenant = ? AND name = ?"
        )
        row = self._connection.execute(select, [self._key, name]).fetchone()
        if row is None:
            raise ConfigurationError(f"document {name!r}: the tenant has none of this id")
        number, title, day, collection, seal, source_before, readers = row
        before = Access(access.tenant, tuple(json.loads(readers)))
        if (source_before, before) == (source, access):
            return
        chunks = self._read_written_chunks([number])
        shown = "SELECT hash, name, section, start, stop, text FROM chunks WHERE tenant = ? AND document = ?"
        held = self._connection.execute(f"{shown} ORDER BY number", [self._key, number])
        rows: list[StoredRow] = [(hashed, tuple(cells)) for hashed, *cells in held]
        hashes, seal = rehash_moved_rows(
            rows, seal, collection, (name, title, day), before=(source_before, before), after=(source, access)
        )
        target = self._intern_scope(source, access)
        changes = list[tuple[Any, ...]]()
        for chunk, at, hashed in zip(chunks, self._take_places(target, len(chunks)), hashes, strict=True):
            self.count(chunk, -1)
            self.count(chunk._replace(at=at, scope=target), 1)
            changes.append((target, at, hashed, self._key, chunk.scope, chunk.at))
        update = "UPDATE chunks SET scope = ?, at = ?, hash = ? WHERE tenant = ? AND scope = ? AND at = ?"
        self._connection.executemany(update, changes)
        self._connection.execute("UPDATE documents SET scope = ?, seal = ? WHERE id = ?", [target, seal, number])
        if before != access:
            place = self._connection.take_numbers(1)
            self._connection.execute("UPDATE documents SET place = ? WHERE id = ?", [*place, number])

    def count(self, chunk: WrittenChunk, sign: int) -> None:
        """Count the words of a chunk, or with a sign of -1 those of one that is taken out."""
        block, place = divmod(chunk.at, postings.BLOCK)
        for language, part in self._intern_parts(chunk.scope, chunk.language).items():
            length, terms = postings.choose_word_reader(language).count(chunk.title, chunk.section, chunk.text)
            self._passages[part] += sign
            self._lengths[part, block][place] = length if sign > 0 else 0
            cells = self._cells[part, block]
            for term, times in terms.items():
                cells[term][place] = times if sign > 0 else 0

    def flush(self) -> None:
        """Write what changed."""
        self._write_lengths()
        once = self._write_postings()
        parts = sorted({part for part, _ in self._lengths})
        changes = self._connection.take_numbers(len(parts)) if parts else []
        update = (
            "UPDATE parts SET passages = passages + ?, words = words + ?, stems_once = stems_once + ?, "
            "words_once = words_once + ?, beginnings_once = beginnings_once + ?, changed = ? WHERE id = ?"
        )
        rows = list[tuple[int, ...]]()
        for part, change in zip(parts, changes, strict=True):
            counts = (self._passages[part], self._words[part], *(once[part, kind] for kind in postings.KINDS))
            rows.append((*counts, change, part))
        self._connection.executemany(update, rows)
        for gathered in (self._lengths, self._cells, self._passages, self._words):
            gathered.clear()

    def _take_chunks_out(self, numbers: list[int]) -> None:
        for chunk in self._read_written_chunks(numbers):
            self._left[chunk.scope].append(chunk.at)
            self.count(chunk, -1)
        self._connection.execute("DELETE FROM chunks WHERE tenant = ? AND document = ANY (?)", [self._key, numbers])
        self._connection.execute("DELETE FROM documents WHERE id = ANY (?)", [numbers])

    def _read_written_chunks(self, numbers: list[int]) -> list[WrittenChunk]:
        return [WrittenChunk(*row) for row in self._connection.execute(_CHUNKS, [self._key, numbers])]

    def _intern_scope(self, source: str, access: Access) -> int:
        if (source, access) not in self._scopes:
            row = [self._key, source, json.dumps(access.readers, ensure_ascii=False)]
            select = "SELECT id FROM scopes WHERE tenant = ? AND source = ? AND readers = ?"
            insert = "INSERT INTO scopes (tenant, source, readers) VALUES (?, ?, ?) RETURNING id"
            # Nobody else writes for the tenant meanwhile.
            found = self._connection.execute(select, row).fetchall() or self._connection.execute(insert, row).fetchall()
            [(self._scopes[source, access],)] = found
        return self._scopes[source, access]

    def _intern_parts(self, scope: int, told: str) -> Mapping[str, int]:
        """Return the parts of chunks of a scope by language: the one that they tell, or of those that tell none all."""
        if (scope, told) not in self._parts:
            row = [scope, int(bool(told))]
            select = "SELECT language, id FROM parts WHERE scope = ? AND told = ?"
            parts = dict(self._connection.execute(select, row).fetchall())
            languages = [told] if told else [*DETECTED_LANGUAGES]
            missing = [(*row, language) for language in languages if language not in parts]
            insert = "INSERT INTO parts (scope, told, language) VALUES ? RETURNING language, id"
            parts |= dict(execute_for(self._connection, insert, [], missing))
            self._parts[scope, told] = {language: parts[language] for language in languages}
        return self._parts[scope, told]

    def _take_places(self, scope: int, count: int) -> list[int]:
        """Return places for chunks: those that were left in this transaction, then new ones."""
        left = self._left[scope]
        places, self._left[scope] = left[:count], left[count:]
        new = count - len(places)
        update = "UPDATE scopes SET used = used + ? WHERE id = ? RETURNING used"
        [(used,)] = self._connection.execute(update, [new, scope]).fetchall()
        return [*places, *range(used - new, used)]

    def _write_lengths(self) -> None:
        select = (
            "WITH wanted (part, block) AS (VALUES ?) SELECT held.part, held.block, data FROM wanted "
            "CROSS JOIN lengths held WHERE held.part = wanted.part AND held.block = wanted.block"
        )
        held = {row[:2]: row[2] for row in execute_for(self._connection, select, [], [*self._lengths])}
        rows = list[tuple[Any, ...]]()
        for at, changed in self._lengths.items():
            before = held.get(at, b"")
            after = postings.change_lengths(before, changed)
            # By what is noted, and not by the texts: what is left of one that was damaged has other words.
            self._words[at[0]] += int(postings.decode_lengths(after).sum()) - int(postings.decode_lengths(before).sum())
            rows.append((*at, after))
        insert = "INSERT INTO lengths (part, block, data) VALUES ?"
        update = "ON CONFLICT (part, block) DO UPDATE SET data = excluded.data"
        deque(execute_for(self._connection, f"{insert} {update}", [], rows))

    def _write_postings(self) -> Counter[tuple[int, str]]:
        """Return by part and kind how many terms more occur once."""
        connection, cells = self._connection, dict[tuple[int, str, int], dict[int, int]]()
        for (part, block), changes in self._cells.items():
            cells |= {(part, term, block): changed for term, changed in changes.items()}
        # SQLite looks at the tables of a cross join in their order: it searches for each tuple.
        select = (
            "WITH wanted (part, term, block) AS (VALUES ?) SELECT held.part, held.term, held.block, total, "
            "CASE WHEN held.block = wanted.block THEN data END FROM wanted "
            "CROSS JOIN postings held WHERE held.part = wanted.part AND held.term = wanted.term"
        )
        held, totals = dict[tuple[int, str, int], bytes](), defaultdict[tuple[int, str], dict[int, int]](dict)
        for part, term, block, total, data in execute_for(connection, select, [], [*cells]):
            totals[part, term][block] = total
            if data is not None:
                held[part, term, block] = data
        before = {at: sum(by_block.values()) for at, by_block in totals.items()}
        written, gone = list[tuple[Any, ...]](), defaultdict[tuple[int, int], list[str]](list)
        for at, changed in sorted(cells.items()):
            part, term, block = at
            data, total = postings.change_postings(held.get(at, b""), totals[part, term].get(block, 0), changed)
            totals[part, term][block] = total
            if data:
                written.append((*at, total, data))
            elif at in held:
                gone[part, block].append(term)
        once = Counter[tuple[int, str]]()
        for (part, term), by_block in totals.items():
            more = (sum(by_block.values()) == 1) - (before.get((part, term)) == 1)
            for kind in postings.KINDS if more and term[0] == postings.NAME else term[0] if more else ():
                once[part, kind] += more
        insert = (
            "INSERT INTO postings (part, term, block, total, data) VALUES ? "
            "ON CONFLICT (part, term, block) DO UPDATE SET total = excluded.total, data = excluded.data"
        )
        for (part, block), terms in gone.items():
            delete = "DELETE FROM postings WHERE part = ? AND block = ? AND term = ANY (?)"
            connection.execute(delete, [part, block, terms])
        deque(execute_for(connection, insert, [], written))
        return once
