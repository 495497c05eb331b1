"""Changes of the file: chunks are put in and taken out, and what is counted follows them."""

from __future__ import annotations

import sqlite3
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from typing import Final, NamedTuple

from guardgraph.knowledge.index.postings import BLOCK, edited
from guardgraph.knowledge.index.values import looked_up
from guardgraph.knowledge.index.words import KINDS, Reader
from guardgraph.tools.terms import DEFAULT_LANGUAGE

__all__ = ["Kept", "Writer"]

_BLOCK: Final = "SELECT term, size, data FROM postings WHERE part = ? AND block = ?"
_WORDS: Final = "SELECT term, total, holders, most FROM words WHERE part = ?"


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
    most: int = 0
    """The largest count that a chunk had; it may be gone."""


_NOTHING: Final = _Word()


class _Edits(dict[str, list[int]]):
    """What changes in a block: for a term the number, count and length of chunk after chunk; 0 takes one out."""

    is_rising = True
    """Whether chunks are put in alone, in rising order."""
    _last = -1

    def add(self, chunk: int, terms: Mapping[str, int], length: int, *, is_taken_out: bool) -> None:
        """Put a chunk in, or take it out."""
        self.is_rising = self.is_rising and not is_taken_out and chunk > self._last
        self._last = chunk
        for term, times in terms.items():
            edit = (chunk, 0 if is_taken_out else times, length)
            if term in self:
                self[term] += edit
            else:
                self[term] = [*edit]


class Writer:
    """Gathers what changes in a transaction, and writes it once.

    Args:
        connection: in a transaction for writing.
        languages: that chunks tell which will be put in, so that those that tell none are read in each at once.
    """

    def __init__(self, connection: sqlite3.Connection, languages: Iterable[str] = ()) -> None:
        self._connection = connection
        self._edits: defaultdict[tuple[int, int], _Edits] = defaultdict(_Edits)
        """By part and block."""
        self._readers: dict[str, Reader] = {}
        self._passages: Counter[int] = Counter()
        self._words: Counter[int] = Counter()
        told = connection.execute("SELECT DISTINCT language FROM parts")
        self._languages = {DEFAULT_LANGUAGE, *languages, *(language for (language,) in told)}

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
        for language in self._languages_of(chunk):
            self._count(chunk, language, -1)

    def flush(self) -> None:
        """Write what changed."""
        now = self._connection.execute("SELECT value + 1 FROM state WHERE name = 'changes'").fetchone()[0]
        changed: defaultdict[int, dict[str, _Word]] = defaultdict(dict)
        for (part, block), edits in sorted(self._edits.items()):
            self._write_block(part, block, edits, changed[part])
        for part in sorted(self._passages):
            once = self._write_words(part, changed[part])
            self._connection.execute(
                "UPDATE parts SET passages = passages + ?, words = words + ?, stems_once = stems_once + ?, "
                "words_once = words_once + ?, beginnings_once = beginnings_once + ?, changed = ? WHERE id = ?",
                [self._passages[part], self._words[part], *(once[kind] for kind in KINDS), now, part],
            )
        for gathered in (self._edits, self._passages, self._words):
            gathered.clear()

    def _languages_of(self, chunk: Kept) -> Iterable[str]:
        return [chunk.language] if chunk.language else sorted(self._languages)

    def _untold(self) -> list[Kept]:
        """Return the chunks that do not tell their language."""
        rows = self._connection.execute(
            "SELECT chunks.id, scope, language, title, section, text FROM chunks JOIN documents "
            "ON documents.id = document WHERE language = ''"
        )
        return [Kept(*row) for row in rows]

    def _count(self, chunk: Kept, language: str, sign: int) -> None:
        if language not in self._readers:
            self._readers[language] = Reader(language)
        terms, length = self._readers[language].counted(chunk.title, chunk.section, chunk.text)
        part = self._part(chunk.scope, language, bool(chunk.language))
        self._passages[part] += sign
        self._words[part] += sign * length
        self._edits[part, chunk.id // BLOCK].add(chunk.id % BLOCK, terms, length, is_taken_out=sign < 0)

    def _part(self, scope: int, language: str, told: bool) -> int:
        row = [scope, language, told]
        self._connection.execute("INSERT OR IGNORE INTO parts (scope, language, told) VALUES (?, ?, ?)", row)
        found = self._connection.execute("SELECT id FROM parts WHERE scope = ? AND language = ? AND told = ?", row)
        return int(found.fetchone()[0])

    def _write_block(self, part: int, block: int, edits: _Edits, changed: dict[str, _Word]) -> None:
        """Write what changed in a block, and count it."""
        held = looked_up(self._connection, _BLOCK, [part, block], edits)
        written, emptied = [], []
        for term in sorted(edits):
            size, data = held.get(term, (0, b""))
            size, data, more, total = edited(size, data, edits[term], is_rising=edits.is_rising)
            before = changed.get(term, _NOTHING)
            most = max(before.most, *edits[term][1::3])
            changed[term] = _Word(before.total + total, before.holders + more, most)
            if size:
                written.append((term, part, block, size, data))
            elif term in held:
                emptied.append((term, part, block))
        self._connection.executemany("REPLACE INTO postings VALUES (?, ?, ?, ?, ?)", written)
        self._connection.executemany("DELETE FROM postings WHERE term = ? AND part = ? AND block = ?", emptied)

    def _write_words(self, part: int, changed: Mapping[str, _Word]) -> Counter[str]:
        """Write what is counted of terms, and return by how many those are more that occur once, by kind."""
        once, written, emptied = Counter[str](), [], []
        held = looked_up(self._connection, _WORDS, [part], changed)
        for term, more in sorted(changed.items()):
            before = _Word(*held[term]) if term in held else _NOTHING
            total = before.total + more.total
            once[term[0]] += (total == 1) - (before.total == 1)
            if total:
                written.append((term, part, total, before.holders + more.holders, max(before.most, more.most)))
            elif before.total:
                emptied.append((term, part))
        self._connection.executemany("REPLACE INTO words VALUES (?, ?, ?, ?, ?)", written)
        self._connection.executemany("DELETE FROM words WHERE term = ? AND part = ?", emptied)
        return once
