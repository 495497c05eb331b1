"""Changes of the file: chunks are put in and taken out, and what is counted follows them."""

from __future__ import annotations

import sqlite3
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Final, NamedTuple

from guardgraph.knowledge.index.postings import BLOCK, appended, encoded, lengths_of, resized
from guardgraph.knowledge.index.scopes import interned
from guardgraph.knowledge.index.values import looked_up
from guardgraph.knowledge.index.words import KINDS, NAME, Reader, reader_of
from guardgraph.state.access import Access
from guardgraph.tools.terms import DEFAULT_LANGUAGE

__all__ = ["Kept", "Writer"]

_BLOCK: Final = "SELECT term, size, data FROM postings WHERE part = ? AND block = ?"
_WORDS: Final = "SELECT term, total, holders, most FROM words WHERE part = ?"
_LENGTHS: Final = "SELECT data FROM lengths WHERE part = ? AND block = ?"
_ROOM: Final = f"SELECT id, used FROM blocks WHERE scope = ? AND used < {BLOCK} ORDER BY id DESC LIMIT 1"


class Kept(NamedTuple):
    """What of a chunk its words are made of."""

    id: int
    scope: int
    language: str
    """That its text tells; "" where it tells none."""
    title: str
    section: str
    text: str


class _Word(NamedTuple):
    """What is counted of a term in a part."""

    total: int = 0
    holders: int = 0
    """How many chunks have it."""
    most: int = 0
    """The largest count that one had."""

    def more(self, total: int, holders: int, most: int = 0) -> _Word:
        """Return what is counted after a change."""
        return _Word(self.total + total, self.holders + holders, max(self.most, most))


class _Gathered:
    """What changes in a block of a part.

    Args:
        reader: of the part's language.
    """

    def __init__(self, reader: Reader) -> None:
        self._reader = reader
        self._by_word = defaultdict[str, list[int]](list)
        self.lengths: dict[int, int] = {}
        """By place; 0 where a chunk was taken out."""
        self.taken_out = Counter[str]()
        """Of chunks that were taken out, how often they had each term."""
        self.holders = Counter[str]()
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
        self.holders.update(terms.keys())

    def by_term(self) -> Mapping[str, list[int]]:
        """Return for a term place and count of chunk after chunk that was put in.

        Gathered by word first: most words share no term with another one, so that their terms share a list.
        """
        found, shared = dict[str, list[int]](), defaultdict[str, list[list[int]]](list)
        for word, values in self._by_word.items():
            for term in self._reader[word]:
                if found.setdefault(term, values) is not values:
                    shared[term].append(values)
        return found | {term: _merged([found[term], *others]) for term, others in shared.items()}


def _merged(some: Iterable[list[int]]) -> list[int]:
    """Return place and count of chunk after chunk that has any of some words."""
    counts = dict[int, int]()
    for values in some:
        for place, times in zip(values[::2], values[1::2], strict=True):
            counts[place] = counts.get(place, 0) + times
    return [value for place in sorted(counts) for value in (place, counts[place])]


class Writer:
    """Gathers what changes in a transaction, and writes it once.

    Args:
        connection: in a transaction for writing.
        languages: that chunks tell which will be put in, so that those that tell none are read in each at once.
    """

    def __init__(self, connection: sqlite3.Connection, languages: Iterable[str] = ()) -> None:
        self._connection = connection
        self._gathered: dict[tuple[int, int], _Gathered] = {}
        """By part and block."""
        self._parts: dict[tuple[int, str, bool], int] = {}
        self._scopes: dict[tuple[str, Access], int] = {}
        self._passages: Counter[int] = Counter()
        self._words: Counter[int] = Counter()
        self._room: dict[int, tuple[int, int]] = {}
        """By scope the block that has room, and how much of it is used."""
        self._held: Counter[int] = Counter()
        """By block, how many chunks are more in it."""
        told = connection.execute("SELECT DISTINCT language FROM parts")
        self._languages = {DEFAULT_LANGUAGE, *languages, *(language for (language,) in told)}

    def number(self, scope: int) -> int:
        """Return the number of a new chunk of a scope, which is then put in."""
        block, used = self._room.get(scope) or self._connection.execute(_ROOM, [scope]).fetchone() or (0, BLOCK)
        if used == BLOCK:
            added = self._connection.execute("INSERT INTO blocks (scope, used, held) VALUES (?, 0, 0)", [scope])
            block, used = int(added.lastrowid or 0), 0
        self._room[scope] = block, used + 1
        self._held[block] += 1
        self._connection.execute("UPDATE blocks SET used = ? WHERE id = ?", [used + 1, block])
        return block * BLOCK + used

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
        self._held[chunk.id // BLOCK] -= 1
        for language in self._languages_of(chunk):
            self._count(chunk, language, -1)

    def put_elsewhere(self, chunk: Kept) -> None:
        """Put a chunk that was taken out in the place where its scope has room, under another number."""
        number = self.number(chunk.scope)
        self._connection.execute("UPDATE chunks SET id = ? WHERE id = ?", [number, chunk.id])
        self._connection.execute("UPDATE vectors SET chunk = ? WHERE chunk = ?", [number, chunk.id])
        self.add(chunk._replace(id=number))

    def scope(self, source: str, access: Access) -> int:
        """Return the number of a scope, which is made when it is new."""
        if (source, access) not in self._scopes:
            self._scopes[source, access] = interned(self._connection, source, access)
        return self._scopes[source, access]

    def flush(self) -> None:
        """Write what changed."""
        now = self._connection.execute("SELECT value + 1 FROM state WHERE name = 'changes'").fetchone()[0]
        changed: defaultdict[int, dict[str, _Word]] = defaultdict(dict)
        for (part, block), gathered in sorted(self._gathered.items()):
            self._write_lengths(part, block, gathered.lengths)
            self._write_block(part, block, gathered.by_term(), changed[part])
            for term, times in gathered.taken_out.items():
                changed[part][term] = changed[part].get(term, _Word()).more(-times, -gathered.holders[term])
        for part in sorted(self._passages):
            once = self._write_words(part, changed[part])
            self._connection.execute(
                "UPDATE parts SET passages = passages + ?, words = words + ?, stems_once = stems_once + ?, "
                "words_once = words_once + ?, beginnings_once = beginnings_once + ?, changed = ? WHERE id = ?",
                [self._passages[part], self._words[part], *(once[kind] + once[NAME] for kind in KINDS), now, part],
            )
        held = [(more, block) for block, more in self._held.items()]
        self._connection.executemany("UPDATE blocks SET held = held + ? WHERE id = ?", held)
        for each in (self._gathered, self._passages, self._words, self._held):
            each.clear()

    def _languages_of(self, chunk: Kept) -> Iterable[str]:
        return [chunk.language] if chunk.language else sorted(self._languages)

    def _untold(self) -> list[Kept]:
        """Return the chunks that do not tell their language, by number."""
        rows = self._connection.execute(
            "SELECT chunks.id, scope, language, title, section, text FROM chunks JOIN documents "
            "ON documents.id = document WHERE language = '' ORDER BY chunks.id"
        )
        return [Kept(*row) for row in rows]

    def _count(self, chunk: Kept, language: str, sign: int) -> None:
        reader = reader_of(language)
        words = reader.words(chunk.title, chunk.section, chunk.text)
        length, part = words.total(), self._part(chunk.scope, language, bool(chunk.language))
        self._passages[part] += sign
        self._words[part] += sign * length
        block, place = divmod(chunk.id, BLOCK)
        if (part, block) not in self._gathered:
            self._gathered[part, block] = _Gathered(reader)
        if sign > 0:
            self._gathered[part, block].put(place, words, length)
        else:
            self._gathered[part, block].take_out(place, words)

    def _part(self, scope: int, language: str, told: bool) -> int:
        row = (scope, language, told)
        if row not in self._parts:
            self._connection.execute("INSERT OR IGNORE INTO parts (scope, language, told) VALUES (?, ?, ?)", row)
            found = self._connection.execute("SELECT id FROM parts WHERE scope = ? AND language = ? AND told = ?", row)
            self._parts[row] = int(found.fetchone()[0])
        return self._parts[row]

    def _write_lengths(self, part: int, block: int, changed: Mapping[int, int]) -> None:
        row = self._connection.execute(_LENGTHS, [part, block]).fetchone()
        lengths = lengths_of(row[0] if row else b"")
        resized(lengths, max(changed) + 1)
        for place, length in changed.items():
            lengths[place] = length
        self._connection.execute("REPLACE INTO lengths VALUES (?, ?, ?)", [part, block, lengths.tobytes()])

    def _write_block(
        self, part: int, block: int, by_term: Mapping[str, Sequence[int]], changed: dict[str, _Word]
    ) -> None:
        """Write what was put into a block, and count it."""
        held, written = looked_up(self._connection, _BLOCK, [part, block], by_term), []
        for term in sorted(by_term):
            values = by_term[term]
            places, counts = values[::2], values[1::2]
            size, data = held.get(term, (0, b""))
            data = appended(size, data, places, counts) if size else encoded(places, counts)
            written.append((part, block, term, size + len(places), data))
            changed[term] = changed.get(term, _Word()).more(sum(counts), len(counts), max(counts))
        self._connection.executemany("REPLACE INTO postings VALUES (?, ?, ?, ?, ?)", written)

    def _write_words(self, part: int, changed: Mapping[str, _Word]) -> Counter[str]:
        """Write what is counted of terms, and return by how many those are more that occur once, by kind."""
        once, written, emptied = Counter[str](), [], []
        held = looked_up(self._connection, _WORDS, [part], changed)
        for term, more in sorted(changed.items()):
            before = _Word(*held.get(term, ()))
            after = before.more(*more)
            once[term[0]] += (after.total == 1) - (before.total == 1)
            if after.total:
                written.append((part, term, *after))
            elif before.total:
                emptied.append((part, term))
        self._connection.executemany("REPLACE INTO words VALUES (?, ?, ?, ?, ?)", written)
        self._connection.executemany("DELETE FROM words WHERE part = ? AND term = ?", emptied)
        return once
