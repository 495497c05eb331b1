"""Changes of the file: chunks are put in and taken out, and what is counted follows them."""

# What changes in a block of a part is gathered before it is written. A block most of whose places are left is written
# anew.

from __future__ import annotations

import sqlite3
from array import array
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from typing import Final, NamedTuple

from guardgraph.grounding.words import DEFAULT_LANGUAGE
from guardgraph.knowledge.storing.collections import count_collection_chunks
from guardgraph.knowledge.storing.postings import (
    BLOCK,
    KINDS,
    NAME,
    Reader,
    append_postings,
    choose_word_reader,
    decode_chunk_lengths,
    decode_postings,
    encode_postings,
    make_posting_key,
    read_posting_number,
    resize_chunk_lengths,
)
from guardgraph.knowledge.storing.scopes import intern_scope, look_up_index_rows, read_rows_by_key
from guardgraph.state.context import Access

_ROOM: Final = f"SELECT id, used FROM blocks WHERE scope = ? AND used < {BLOCK} ORDER BY id DESC LIMIT 1"
_BLOCK_LENGTHS: Final = (
    "SELECT lengths.id, data FROM blocks JOIN parts ON parts.scope = blocks.scope "
    "JOIN lengths ON part = parts.id AND block = blocks.id WHERE blocks.id = ?"
)
_CHANGED: Final = (
    "UPDATE parts SET changed = (SELECT value FROM state WHERE name = 'changes') "
    "WHERE scope = (SELECT scope FROM blocks WHERE id = ?)"
)
_BLOCK_POSTINGS: Final = "FROM postings WHERE id >= ? AND id < ?"


class Blocks:
    """Gives chunks their numbers, and writes a block anew when most of its places are nobody's."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._room: dict[int, int] = {}
        """By scope the block that has room."""
        self._used: dict[int, int] = {}
        """By block, how many of its places are used."""
        self._more: Counter[int] = Counter()
        """By block, how many chunks are more in it."""

    def number(self, scope: int) -> int:
        """Return the number of a new chunk of a scope."""
        block = self._room.get(scope)
        if block is None or self._used[block] == BLOCK:
            block = self._room[scope] = self._find_block(scope)
        used = self._used[block]
        self._used[block] += 1
        self._more[block] += 1
        return block * BLOCK + used

    def leave(self, chunk: int) -> None:
        """Note that a chunk is taken out."""
        self._more[chunk // BLOCK] -= 1

    def flush(self) -> None:
        """Write which places are used, after all else: chunks may have other numbers then."""
        rows = [(self._used.get(block), more, block) for block, more in self._more.items()]
        self._connection.executemany("UPDATE blocks SET used = coalesce(?, used), held = held + ? WHERE id = ?", rows)
        for block in self._more:
            (is_sparse,) = self._connection.execute(
                "SELECT 2 * held < used FROM blocks WHERE id = ?", [block]
            ).fetchone()
            if is_sparse:
                self._compact_blocks(block)
        for each in (self._room, self._used, self._more):
            each.clear()

    def _find_block(self, scope: int) -> int:
        """Return a block that has room; a new one where there is none."""
        row = self._connection.execute(_ROOM, [scope]).fetchone()
        if row is None or self._used.get(row[0]) == BLOCK:
            added = self._connection.execute("INSERT INTO blocks (scope, used, held) VALUES (?, 0, 0)", [scope])
            row = int(added.lastrowid or 0), 0
        self._used[row[0]] = row[1]
        return int(row[0])

    def _compact_blocks(self, block: int) -> None:
        """Write a block anew without the places that are nobody's."""
        self._connection.execute(_CHANGED, [block])  # of all languages: whoever searches has in memory who is where
        first = block * BLOCK
        found = self._connection.execute(
            "SELECT id FROM chunks WHERE id >= ? AND id < ? ORDER BY id", [first, first + BLOCK]
        )
        places = {number - first: place for place, (number,) in enumerate(found.fetchall())}
        moved = [(first + place, first + before) for before, place in places.items()]
        for table, column in (("chunks", "id"), ("vectors", "chunk")):  # a place is free before another chunk gets it
            self._connection.executemany(f"UPDATE {table} SET {column} = ? WHERE {column} = ?", moved)
        for row, data in self._connection.execute(_BLOCK_LENGTHS, [block]).fetchall():
            self._rewrite_block(row, data, places)
        statement = "UPDATE blocks SET used = ?, held = ? WHERE id = ?" if places else "DELETE FROM blocks WHERE id = ?"
        self._connection.execute(statement, [len(places), len(places), block] if places else [block])

    def _rewrite_block(self, row: int, data: bytes, places: Mapping[int, int]) -> None:
        """Write the lengths and the postings of a part in a block anew, by the places that chunks have now."""
        lengths, between = decode_chunk_lengths(data), [make_posting_key(row, 0), make_posting_key(row + 1, 0)]
        resize_chunk_lengths(lengths, max(places, default=0) + 1)
        there = {before: place for before, place in places.items() if lengths[before]}
        rows = self._connection.execute(f"SELECT id, size, data {_BLOCK_POSTINGS}", between).fetchall()
        self._connection.execute(f"DELETE {_BLOCK_POSTINGS}", between)
        written = []
        for number, size, held in rows:
            cells = [
                (there[place], count)
                for place, count in zip(*decode_postings(size, held), strict=True)
                if place in there
            ]
            if cells:
                columns = [*zip(*cells, strict=True)]
                written.append((number, len(cells), encode_postings(*columns)))
        self._connection.executemany("INSERT INTO postings VALUES (?, ?, ?)", written)
        kept = array(lengths.typecode, (lengths[before] for before in places))
        statement = "UPDATE lengths SET data = ? WHERE id = ?" if places else "DELETE FROM lengths WHERE id = ?"
        self._connection.execute(statement, [kept.tobytes(), row] if places else [row])


class Added(NamedTuple):
    """The postings of a term that come behind those that a block has."""

    size: int
    data: bytes
    total: int
    """The sum of the counts."""
    most: int
    """The largest of them."""


class Gathered:
    """Gathers what changes in a block."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader
        self._by_word = defaultdict[str, list[int]](list)
        self.lengths: dict[int, int] = {}
        """By place; 0 where a chunk was taken out."""
        self.taken_out = Counter[str]()
        """How often chunks that were taken out had each term."""
        self.left = Counter[str]()
        """How many of them had it."""

    def put(self, place: int, words: Mapping[str, int], length: int) -> None:
        """Put a chunk in, behind all others."""
        self.lengths[place] = length
        for word, times in words.items():
            self._by_word[word] += (place, times)

    def take_out(self, place: int, words: Mapping[str, int]) -> None:
        """Take a chunk out: it has no length any more, and its postings stay."""
        self.lengths[place] = 0
        terms = self._reader.terms(words)
        self.taken_out.update(terms)
        self.left.update(terms.keys())

    def added(self) -> dict[str, Added]:
        """Return what was put in, by term."""
        found, shared = dict[str, Added](), defaultdict[str, list[str]](list)
        first: dict[str, str] = {}
        for word, values in self._by_word.items():
            one = _add_to_block(values[::2], values[1::2])
            for term in self._reader[word]:
                if first.setdefault(term, word) == word:
                    found[term] = one
                else:
                    shared[term].append(word)
        for term, words in shared.items():
            found[term] = _add_to_block(*_merge_postings(self._by_word[word] for word in (first[term], *words)))
        return found


def _add_to_block(places: list[int], counts: list[int]) -> Added:
    """Return the postings of chunks."""
    return Added(len(counts), encode_postings(places, counts), sum(counts), max(counts))


def _merge_postings(some: Iterable[list[int]]) -> tuple[list[int], list[int]]:
    """Return the places and counts of the chunks that have any of some words, each of which has both in turn."""
    *others, most = sorted(some, key=len)
    counts = dict(zip(most[::2], most[1::2], strict=True))
    for values in others:
        for place, times in zip(values[::2], values[1::2], strict=True):
            counts[place] = counts.get(place, 0) + times
    places = sorted(counts)
    return places, [counts[place] for place in places]


_LANGUAGES: Final = """
    WITH RECURSIVE told (language) AS (
        SELECT min(language) FROM parts
        UNION ALL
        SELECT (SELECT min(language) FROM parts WHERE language > told.language) FROM told WHERE told.language > ''
    ) SELECT language FROM told WHERE language > ''
"""
"""The languages of all parts, each found behind the one before: there are as many parts as there are scopes."""
_WORDS: Final = "SELECT term, id, total, holders, most FROM words WHERE part = ?"
_NEXT: Final = "SELECT coalesce(max(id) + 1, ?) FROM words WHERE id BETWEEN ? AND ?"
_LENGTHS: Final = "SELECT id, data FROM lengths WHERE part = ? AND block = ?"
_POSTINGS: Final = "SELECT id, size, data FROM postings WHERE id IN"


class WrittenChunk(NamedTuple):
    """What of a chunk its words are made of."""

    id: int
    scope: int
    language: str
    """That its text tells; "" where it tells none."""
    title: str
    section: str
    text: str


class Writer:
    """Gathers what changes in a transaction, and writes it once."""

    def __init__(self, connection: sqlite3.Connection, languages: Iterable[str] = ()) -> None:
        self._connection = connection
        self._blocks = Blocks(connection)
        self._gathered: defaultdict[int, dict[int, Gathered]] = defaultdict(dict)
        """By part and block."""
        self._parts: dict[tuple[int, str, bool], int] = {}
        self._scopes: dict[tuple[str, Access], int] = {}
        self._passages: Counter[int] = Counter()
        self._words: Counter[int] = Counter()
        self._documents: Counter[tuple[str, str]] = Counter()
        """By how many documents collections have more, by the key of their tenants and their names."""
        told = connection.execute(_LANGUAGES)
        self._languages = {DEFAULT_LANGUAGE, *languages, *(language for (language,) in told)}

    def number(self, scope: int) -> int:
        """Return the number of a new chunk of a scope, which is then put in."""
        return self._blocks.number(scope)

    def add(self, chunk: WrittenChunk) -> None:
        """Put a chunk in."""
        if chunk.language and chunk.language not in self._languages:
            self._languages.add(chunk.language)
            for other in self._read_chunks_without_language():
                self._count_chunk_words(other, chunk.language, 1)
        for language in self._list_chunk_languages(chunk):
            self._count_chunk_words(chunk, language, 1)

    def put_elsewhere(self, chunk: WrittenChunk) -> None:
        """Put a chunk that was taken out in the place where its scope has room, under another number."""
        number = self.number(chunk.scope)
        self._connection.execute("UPDATE chunks SET id = ? WHERE id = ?", [number, chunk.id])
        self._connection.execute("UPDATE vectors SET chunk = ? WHERE chunk = ?", [number, chunk.id])
        self.add(chunk._replace(id=number))

    def remove(self, chunk: WrittenChunk) -> None:
        """Take a chunk out."""
        self._blocks.leave(chunk.id)
        for language in self._list_chunk_languages(chunk):
            self._count_chunk_words(chunk, language, -1)

    def add_document(self, tenant: str, collection: str) -> None:
        """Count a document that is put in."""
        self._documents[tenant, collection] += 1

    def remove_document(self, tenant: str, collection: str) -> None:
        """Count a document that is taken out."""
        self._documents[tenant, collection] -= 1

    def scope(self, source: str, access: Access) -> int:
        """Return the number of a scope, which is made when it is new."""
        if (source, access) not in self._scopes:
            self._scopes[source, access] = intern_scope(self._connection, source, access)
        return self._scopes[source, access]

    def flush(self) -> None:
        """Write what changed."""
        now = self._connection.execute("SELECT value FROM state WHERE name = 'changes'").fetchone()[0]
        for part in sorted(self._gathered):
            added = {block: gathered.added() for block, gathered in sorted(self._gathered[part].items())}
            numbers, once = self._write_words(part, added.values())
            for block, terms in added.items():
                row = self._write_lengths(part, block, self._gathered[part][block].lengths)
                self._write_postings(row, terms, numbers)
            self._connection.execute(
                "UPDATE parts SET passages = passages + ?, words = words + ?, stems_once = stems_once + ?, "
                "words_once = words_once + ?, beginnings_once = beginnings_once + ?, changed = ? WHERE id = ?",
                [self._passages[part], self._words[part], *(once[kind] + once[NAME] for kind in KINDS), now, part],
            )
        self._blocks.flush()
        count_collection_chunks(self._connection, self._documents)
        for each in (self._gathered, self._passages, self._words, self._documents):
            each.clear()

    def _list_chunk_languages(self, chunk: WrittenChunk) -> Iterable[str]:
        return [chunk.language] if chunk.language else sorted(self._languages)

    def _read_chunks_without_language(self) -> list[WrittenChunk]:
        """Return the chunks that do not tell their language, by number."""
        rows = self._connection.execute(
            "SELECT chunks.id, scope, language, title, section, text FROM chunks JOIN documents "
            "ON documents.id = document WHERE language = '' AND chunks.id > 0 ORDER BY chunks.id"
        )
        return [WrittenChunk(*row) for row in rows]

    def _count_chunk_words(self, chunk: WrittenChunk, language: str, sign: int) -> None:
        reader = choose_word_reader(language)
        words = reader.words(chunk.title, chunk.section, chunk.text)
        length, part = words.total(), self._gather_index_part(chunk.scope, language, bool(chunk.language))
        self._passages[part] += sign
        self._words[part] += sign * length
        block, place = divmod(chunk.id, BLOCK)
        blocks = self._gathered[part]
        if block not in blocks:
            blocks[block] = Gathered(reader)
        if sign > 0:
            blocks[block].put(place, words, length)
        else:
            blocks[block].take_out(place, words)

    def _gather_index_part(self, scope: int, language: str, told: bool) -> int:
        row = (scope, language, told)
        if row not in self._parts:
            self._connection.execute("INSERT OR IGNORE INTO parts (scope, language, told) VALUES (?, ?, ?)", row)
            found = self._connection.execute("SELECT id FROM parts WHERE scope = ? AND language = ? AND told = ?", row)
            self._parts[row] = int(found.fetchone()[0])
        return self._parts[row]

    def _write_words(self, part: int, added: Iterable[Mapping[str, Added]]) -> tuple[dict[str, int], Counter[str]]:
        """Write what is counted of terms."""
        changed = self._list_changed_words(part, added)
        held = look_up_index_rows(self._connection, _WORDS, [part], changed)
        once, numbers, updated, made = Counter[str](), dict[str, int](), [], []
        for term, (total, holders, most) in changed.items():
            if term not in held:
                if total:
                    made.append((term, total, holders, most))
                    once[term[0]] += total == 1
                continue
            row, total_before, holders_before, most_before = held[term]
            once[term[0]] += (total_before + total == 1) - (total_before == 1)
            updated.append((total_before + total, holders_before + holders, max(most_before, most), row))
            numbers[term] = read_posting_number(row)
        self._connection.executemany("UPDATE words SET total = ?, holders = ?, most = ? WHERE id = ?", updated)
        # What most chunks have stands together: whatever is put in later changes few pages.
        made.sort(key=lambda row: (-row[2], row[0]))
        first, end = make_posting_key(part, 1), make_posting_key(part + 1, 0)
        (row,) = self._connection.execute(_NEXT, [first, first, end - 1]).fetchone()
        rows = [(row + at, part, *each) for at, each in enumerate(made)]
        self._connection.executemany("INSERT INTO words VALUES (?, ?, ?, ?, ?, ?)", rows)
        self._connection.executemany("DELETE FROM words WHERE id = ?", [row[3:] for row in updated if not row[0]])
        return numbers | {row[2]: read_posting_number(row[0]) for row in rows}, once

    def _list_changed_words(self, part: int, added: Iterable[Mapping[str, Added]]) -> dict[str, list[int]]:
        """Return by how much the total and the holders of terms are more, and the largest count of a chunk."""
        changed = dict[str, list[int]]()
        for terms in added:
            for term, (size, _, total, most) in terms.items():
                word = changed.setdefault(term, [0, 0, 0])
                word[:] = word[0] + total, word[1] + size, max(word[2], most)
        for gathered in self._gathered[part].values():
            for term, times in gathered.taken_out.items():
                word = changed.setdefault(term, [0, 0, 0])
                word[:] = word[0] - times, word[1] - gathered.left[term], word[2]
        return changed

    def _write_lengths(self, part: int, block: int, changed: Mapping[int, int]) -> int:
        """Write how long chunks are, and return the row's number."""
        row, data = self._connection.execute(_LENGTHS, [part, block]).fetchone() or (None, b"")
        lengths = decode_chunk_lengths(data)
        resize_chunk_lengths(lengths, max(changed) + 1)
        for place, length in changed.items():
            lengths[place] = length
        values = [row, part, block, lengths.tobytes()]
        return int(self._connection.execute("REPLACE INTO lengths VALUES (?, ?, ?, ?)", values).lastrowid or 0)

    def _write_postings(self, row: int, terms: Mapping[str, Added], numbers: Mapping[str, int]) -> None:
        """Write what was put into a block."""
        by_key = {make_posting_key(row, numbers[term]): added for term, added in terms.items() if term in numbers}
        held, written = read_rows_by_key(self._connection, _POSTINGS, by_key), []
        for at, added in sorted(by_key.items()):
            size, data = held.get(at, (0, b""))
            both = append_postings(size, data, added.size, added.data) if size else added.data
            written.append((at, size + added.size, both))
        self._connection.executemany("REPLACE INTO postings VALUES (?, ?, ?)", written)
