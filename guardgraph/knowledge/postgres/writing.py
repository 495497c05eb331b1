"""Changes of a tenant: documents are put in, moved and taken out, and the postings of their words follow them."""

from __future__ import annotations

import hashlib
from array import array
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from guardgraph.grounding.words import DETECTED_LANGUAGES, detect_language
from guardgraph.knowledge.documents import StoredDocument
from guardgraph.knowledge.storing.documents import StoredRow, explain_taken_id, hash_stored_document, rehash_moved_rows
from guardgraph.knowledge.storing.postings import (
    BLOCK,
    append_postings,
    choose_word_reader,
    decode_chunk_lengths,
    decode_postings,
    encode_postings,
    resize_chunk_lengths,
)
from guardgraph.knowledge.storing.scopes import make_scope_key
from guardgraph.knowledge.storing.writing import WrittenChunk
from guardgraph.knowledge.vectors import hash_embedding_text, hash_vector, make_embedding_text
from guardgraph.plain.errors import ConfigurationError
from guardgraph.state.context import Access, normalize_document_access

if TYPE_CHECKING:
    from psycopg import Connection

_LONGEST_KEY: Final = 200
"""Letters of a term that stand in the database. An index of PostgreSQL takes no row of more than 2,700 bytes."""

Cells: TypeAlias = dict[int, int]
"""By place how often the chunk there has a term; 0 where it was taken out."""


def make_term_key(term: str) -> str:
    """Return a term as the database has it: what is too long for an index is its beginning and its hash."""
    if len(term) <= _LONGEST_KEY:
        return term
    return term[:_LONGEST_KEY] + hashlib.sha256(term.encode()).hexdigest()


class TenantWriter:
    """Gathers what changes of a tenant in a transaction, and writes it once."""

    def __init__(self, connection: Connection[Any], tenant: str | None) -> None:
        self._connection = connection
        self._tenant = tenant
        self._key = make_scope_key(tenant)
        self._left: defaultdict[int, list[int]] = defaultdict(list)
        """By scope the places of chunks that were taken out, which the next ones get."""
        self._cells: defaultdict[tuple[int, int], defaultdict[str, Cells]] = defaultdict(lambda: defaultdict(dict))
        """By part and block, and by term."""
        self._lengths: defaultdict[tuple[int, int], dict[int, int]] = defaultdict(dict)
        self._passages: Counter[int] = Counter()
        self._words: Counter[int] = Counter()
        self._parts: dict[tuple[int, str], Mapping[str, int]] = {}
        """By scope and the language that chunks tell, the parts in which they count, by language."""
        self._scopes: dict[tuple[str, Access], int] = {}

    def put(self, documents: Sequence[StoredDocument], vectors: Mapping[bytes, bytes]) -> dict[str, str]:
        """Put documents in, each in place of the one that has its id, but for those an id of which is taken."""
        held = {
            name: (number, collection, place, tuple(readers))
            for name, number, collection, place, readers in self._connection.execute(
                "SELECT name, d.id, collection, place, to_json(readers) FROM guardgraph.documents d "
                "JOIN guardgraph.scopes s ON s.id = scope WHERE d.tenant = %s AND name = ANY (%s)",
                [self._key, [document.id for document in documents]],
            )
        }
        owners = dict(
            self._connection.execute(
                "SELECT c.name, d.name FROM guardgraph.chunks c JOIN guardgraph.documents d ON d.id = c.document "
                "WHERE c.tenant = %s AND c.name = ANY (%s)",
                [self._key, [chunk.id for document in documents for chunk in document.chunks]],
            ).fetchall()
        )
        new, taken = list[StoredDocument](), dict[str, str]()
        for document in documents:
            collection = held[document.id][1] if document.id in held else None
            if (reason := explain_taken_id(document, collection, owners)) is not None:
                taken[document.id] = reason
            else:
                new.append(document)
        self._take_out([held[document.id][0] for document in new if document.id in held])
        if new:
            self._insert(new, {name: (place, readers) for name, (*_, place, readers) in held.items()}, vectors)
        return taken

    def _insert(
        self,
        documents: Sequence[StoredDocument],
        before: Mapping[str, tuple[int, tuple[str, ...]]],
        vectors: Mapping[bytes, bytes],
    ) -> None:
        """Write documents; `before` has by id the places and the readers of those that were taken out for them."""
        rows, placed = [], list[tuple[StoredDocument, int, list[bytes]]]()
        for document in documents:
            access = normalize_document_access(self._tenant, document.access.readers)
            place, readers = before.get(document.id, (None, None))
            scope = self._intern_scope(document.source, access)
            hashes, seal = hash_stored_document(document._replace(access=access))
            cells = [document.id, document.name, document.title, document.updated_at, scope]
            rows.append((*cells, place if readers == access.readers else None, *document.stamp, seal))
            placed.append((document, scope, hashes))
        numbers = self._connection.execute(
            "INSERT INTO guardgraph.documents "
            "(tenant, name, collection, title, updated_at, scope, place, size, modified, sha256, seal) "
            "SELECT %s, name, collection, title, day, scope, coalesce(place, nextval('guardgraph.changes')), size, "
            "modified, sha256, seal FROM unnest(%b::text[], %b::text[], %b::text[], %b::text[], %b::bigint[], "
            "%b::bigint[], %b::bigint[], %b::bigint[], %b::text[], %b::bytea[]) "
            "AS given (name, collection, title, day, scope, place, size, modified, sha256, seal) RETURNING name, id",
            [self._key, *_transpose(rows)],
        )
        self._insert_chunks(placed, dict(numbers.fetchall()), vectors)

    def _insert_chunks(
        self,
        placed: Sequence[tuple[StoredDocument, int, Sequence[bytes]]],
        numbers: Mapping[str, int],
        vectors: Mapping[bytes, bytes],
    ) -> None:
        """Write the chunks of documents, each with its scope and the hashes of its chunks, and count their words."""
        wanted = Counter(scope for document, scope, _ in placed for _ in document.chunks)
        places = {scope: iter(self._take_places(scope, count)) for scope, count in wanted.items()}
        rows = []
        for document, scope, hashes in placed:
            for at, (chunk, hashed) in enumerate(zip(document.chunks, hashes, strict=True)):
                place, language = next(places[scope]), detect_language(chunk.text)
                self.count(WrittenChunk(place, scope, language, document.title, chunk.section, chunk.text), 1)
                embedded: tuple[bytes | None, ...] = (None, None, None)
                if vectors:
                    key = hash_embedding_text(make_embedding_text(document.title, chunk.section, chunk.text))
                    embedded = (key, vectors[key], hash_vector(key, vectors[key]))
                named = (scope, place, numbers[document.id], at, chunk.id, chunk.section, chunk.start, chunk.end)
                rows.append((*named, language, hashed, chunk.text, *embedded))
        if rows:
            self._connection.execute(
                "INSERT INTO guardgraph.chunks (tenant, scope, at, document, number, name, section, start, stop, "
                "language, hash, text, key, vector, vector_hash) SELECT %s, * FROM unnest(%b::bigint[], %b::bigint[], "
                "%b::bigint[], %b::bigint[], %b::text[], %b::text[], %b::bigint[], %b::bigint[], %b::text[], "
                "%b::bytea[], %b::text[], %b::bytea[], %b::bytea[], %b::bytea[])",
                [self._key, *_transpose(rows)],
            )

    def drop(self, names: Iterable[str]) -> int:
        """Take documents out, those that are there, and return how many were."""
        numbers = self._connection.execute(
            "SELECT id FROM guardgraph.documents WHERE tenant = %s AND name = ANY (%s)", [self._key, [*names]]
        ).fetchall()
        self._take_out([number for (number,) in numbers])
        return len(numbers)

    def move(self, name: str, source: str, access: Access) -> None:
        """Give a document another source and other readers."""
        row = self._connection.execute(
            "SELECT d.id, title, updated_at, collection, seal, source, to_json(readers) FROM guardgraph.documents d "
            "JOIN guardgraph.scopes s ON s.id = scope WHERE d.tenant = %s AND name = %s",
            [self._key, name],
        ).fetchone()
        if row is None:
            raise ConfigurationError(f"document {name!r}: the tenant has none of this id")
        number, title, day, collection, seal, source_before, readers = row
        before, after = Access(access.tenant, tuple(readers)), access
        if (source_before, before) == (source, after):
            return
        chunks = self._read_chunks([number])
        rows: list[StoredRow] = [
            (hashed, tuple(shown))
            for hashed, *shown in self._connection.execute(
                "SELECT hash, name, section, start, stop, text FROM guardgraph.chunks WHERE tenant = %s "
                "AND document = %s AND at >= 0 ORDER BY number",
                [self._key, number],
            )
        ]
        hashes, seal = rehash_moved_rows(
            rows, seal, collection, (name, title, day), before=(source_before, before), after=(source, after)
        )
        target = self._intern_scope(source, after)
        for chunk, place, hashed in zip(chunks, self._take_places(target, len(chunks)), hashes, strict=True):
            self.count(chunk, -1)
            self.count(chunk._replace(id=place, scope=target), 1)
            self._connection.execute(
                "UPDATE guardgraph.chunks SET scope = %s, at = %s, hash = %s "
                "WHERE tenant = %s AND scope = %s AND at = %s",
                [target, place, hashed, self._key, chunk.scope, chunk.id],
            )
        self._connection.execute(
            "UPDATE guardgraph.documents SET scope = %s, seal = %s, "
            "place = CASE WHEN %s THEN nextval('guardgraph.changes') ELSE place END WHERE id = %s",
            [target, seal, before != after, number],
        )

    def flush(self) -> None:
        """Write what changed."""
        if parts := sorted({part for part, _ in self._cells}):
            self._connection.execute(
                "UPDATE guardgraph.parts p SET passages = p.passages + more.passages, words = p.words + more.words, "
                "changed = nextval('guardgraph.changes') "
                "FROM unnest(%b::bigint[], %b::bigint[], %b::bigint[]) AS more (part, passages, words) WHERE id = part",
                [parts, [self._passages[part] for part in parts], [self._words[part] for part in parts]],
            )
            self._write_lengths()
            self._write_postings()

    def _take_out(self, numbers: Sequence[int]) -> None:
        if not numbers:
            return
        for chunk in self._read_chunks(numbers):
            self._left[chunk.scope].append(chunk.id)
            self.count(chunk, -1)
        self._connection.execute(
            "DELETE FROM guardgraph.chunks WHERE tenant = %s AND document = ANY (%s)", [self._key, numbers]
        )
        self._connection.execute("DELETE FROM guardgraph.documents WHERE id = ANY (%s)", [numbers])

    def _read_chunks(self, numbers: Sequence[int]) -> list[WrittenChunk]:
        rows = self._connection.execute(
            "SELECT at, c.scope, language, title, section, text FROM guardgraph.chunks c "
            "JOIN guardgraph.documents d ON d.id = document WHERE c.tenant = %s AND document = ANY (%s) AND at >= 0 "
            "ORDER BY document, number",
            [self._key, numbers],
        )
        return [WrittenChunk(*row) for row in rows]

    def _intern_scope(self, source: str, access: Access) -> int:
        if (source, access) not in self._scopes:
            row = [self._key, source, [*access.readers]]
            select = "SELECT id FROM guardgraph.scopes WHERE tenant = %s AND source = %s AND readers = %s::text[]"
            insert = "INSERT INTO guardgraph.scopes (tenant, source, readers) VALUES (%s, %s, %s::text[]) RETURNING id"
            # Nobody else writes for the tenant meanwhile.
            found = self._connection.execute(select, row).fetchone() or self._connection.execute(insert, row).fetchone()
            [self._scopes[source, access]] = found or [0]
        return self._scopes[source, access]

    def _intern_parts(self, scope: int, told: str) -> Mapping[str, int]:
        """Return the parts of chunks of a scope by language: the one that they tell, or of those that tell none all."""
        if (scope, told) not in self._parts:
            languages = [told] if told else [*DETECTED_LANGUAGES]
            row = [scope, bool(told), languages]
            held = (
                "SELECT language, id FROM guardgraph.parts WHERE scope = %s AND told = %s "
                "AND language = ANY (%s::text[])"
            )
            parts = dict(self._connection.execute(held, row).fetchall())
            if missing := [language for language in languages if language not in parts]:
                insert = (
                    "INSERT INTO guardgraph.parts (scope, told, language) SELECT %s, %s, unnest(%s::text[]) "
                    "RETURNING language, id"
                )
                parts |= dict(self._connection.execute(insert, [*row[:2], missing]).fetchall())
            self._parts[scope, told] = parts
        return self._parts[scope, told]

    def _take_places(self, scope: int, count: int) -> list[int]:
        """Return places for chunks: those that were left in this transaction, then new ones."""
        left = self._left[scope]
        places, self._left[scope] = left[:count], left[count:]
        new = count - len(places)
        [used] = self._connection.execute(
            "UPDATE guardgraph.scopes SET used = used + %s WHERE id = %s RETURNING used", [new, scope]
        ).fetchone() or [0]
        return [*places, *range(used - new, used)]

    def count(self, chunk: WrittenChunk, sign: int) -> None:
        """Count the words of a chunk, or with a sign of -1 those of one that is taken out."""
        block, place = divmod(chunk.id, BLOCK)
        for language, part in self._intern_parts(chunk.scope, chunk.language).items():
            reader = choose_word_reader(language)
            words = reader.words(chunk.title, chunk.section, chunk.text)
            length = words.total()
            self._passages[part] += sign
            self._words[part] += sign * length
            self._lengths[part, block][place] = length if sign > 0 else 0
            cells = self._cells[part, block]
            for term, times in reader.terms(words).items():
                cells[make_term_key(term)][place] = times if sign > 0 else 0

    def _write_lengths(self) -> None:
        held = {
            (part, block): data
            for part, block, data in self._connection.execute(
                "SELECT part, block, data FROM guardgraph.lengths JOIN unnest(%b::bigint[], %b::bigint[]) "
                "AS changed (part, block) USING (part, block) WHERE tenant = %s",
                [*_transpose(self._lengths), self._key],
            )
        }
        rows = []
        for at, changed in sorted(self._lengths.items()):
            lengths = decode_chunk_lengths(held.get(at, b""))
            resize_chunk_lengths(lengths, max(changed) + 1)
            for place, length in changed.items():
                lengths[place] = length
            rows.append((*at, lengths.tobytes()))
        self._connection.execute(
            "INSERT INTO guardgraph.lengths SELECT %s, * FROM unnest(%b::bigint[], %b::bigint[], %b::bytea[]) "
            "ON CONFLICT (part, block, tenant) DO UPDATE SET data = excluded.data",
            [self._key, *_transpose(rows)],
        )

    def _write_postings(self) -> None:
        cells = {(*at, term): changed for at, terms in self._cells.items() for term, changed in terms.items()}
        wanted = "unnest(%b::bigint[], %b::bigint[], %b::text[]) AS changed (part, block, term)"
        same = "p.tenant = %s AND p.part = changed.part AND p.block = changed.block AND p.term = changed.term"
        if not cells:
            return
        held = {
            (part, block, term): (size, data)
            for part, block, term, size, data in self._connection.execute(
                f"SELECT p.part, p.block, p.term, size, data FROM guardgraph.postings p JOIN {wanted} ON {same}",
                [*_transpose(cells), self._key],
            )
        }
        rows = [(*at, *merge_cells(*held.get(at, (0, b"")), cells[at])) for at in sorted(cells)]
        if gone := [row[:3] for row in rows if not row[3]]:
            self._connection.execute(
                f"DELETE FROM guardgraph.postings p USING {wanted} WHERE {same}", [*_transpose(gone), self._key]
            )
        if left := [row for row in rows if row[3]]:
            self._connection.execute(
                "INSERT INTO guardgraph.postings SELECT %s, * FROM unnest(%b::bigint[], %b::bigint[], %b::text[], "
                "%b::bigint[], %b::bigint[], %b::bytea[]) ON CONFLICT (part, term, block, tenant) DO UPDATE SET "
                "size = excluded.size, total = excluded.total, data = excluded.data",
                [self._key, *_transpose(left)],
            )


def _transpose(rows: Iterable[tuple[Any, ...]]) -> list[list[Any]]:
    """Return the columns of rows, of which there are some."""
    return [[*column] for column in zip(*rows, strict=True)]


def merge_cells(size: int, data: bytes, changed: Mapping[int, int]) -> tuple[int, int, bytes]:
    """Return the postings of a term after a change: of how many chunks, the sum of their counts, and the bytes."""
    places, counts = decode_postings(size, data) if size else (array("H"), array("I"))
    if all(changed.values()) and (not size or min(changed) > places[-1]):  # only put in, behind all others
        behind = sorted(changed.items())
        more = [count for _, count in behind]
        added = encode_postings([place for place, _ in behind], more)
        return size + len(more), sum(counts) + sum(more), append_postings(size, data, len(more), added)
    held = dict(zip(places, counts, strict=True)) | dict(changed)
    left = sorted((place, count) for place, count in held.items() if count)
    counts = [count for _, count in left]
    return len(left), sum(counts), encode_postings([place for place, _ in left], counts)
