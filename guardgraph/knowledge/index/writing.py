"""Changes of the file: chunks are put in and taken out, and what is counted follows them."""

from __future__ import annotations

import sqlite3
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from typing import Final, NamedTuple

from guardgraph.knowledge.index.postings import BLOCK, edited, encoded
from guardgraph.knowledge.index.scopes import interned
from guardgraph.knowledge.index.values import looked_up
from guardgraph.knowledge.index.words import KINDS, NAME, Reader, reader_of
from guardgraph.state.access import Access
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


_Word = tuple[int, int, int]
"""What is counted of a term in a part: its total, how many chunks have it, and the largest count that one had."""

_NOTHING: Final = (0, 0, 0)


class _Edits:
    """What changes in a block of a part.

    Args:
        reader: of the part's language.
    """

    def __init__(self, reader: Reader) -> None:
        self._reader = reader
        self._log: list[tuple[int, Mapping[str, int], int, bool]] = []
        self.is_rising = True
        """Whether chunks are put in alone, in rising order."""

    def add(self, chunk: int, words: Mapping[str, int], length: int, *, is_taken_out: bool) -> None:
        """Put a chunk in, or take it out."""
        self.is_rising = self.is_rising and not is_taken_out and (not self._log or chunk > self._log[-1][0])
        self._log.append((chunk, words, length, is_taken_out))

    def by_term(self) -> Mapping[str, list[int]]:
        """Return for a term the number, count and length of chunk after chunk; a count of 0 takes one out."""
        return self._gathered() if self.is_rising else self._in_turn()

    def _in_turn(self) -> Mapping[str, list[int]]:
        found = defaultdict[str, list[int]](list)
        for chunk, words, length, is_taken_out in self._log:
            for term, times in self._reader.terms(words).items():
                values, edit = found[term], (chunk, 0 if is_taken_out else times, length)
                at = len(values) - 3 if values and values[-3] == chunk else len(values)
                values[at:] = edit  # what came last of a chunk holds
        return found

    def _gathered(self) -> Mapping[str, list[int]]:
        """Gather by word first: most words share no term with another one, so that their terms share a list."""
        by_word = defaultdict[str, list[int]](list)
        for chunk, words, length, _ in self._log:
            for word, times in words.items():
                by_word[word] += (chunk, times, length)
        found, shared = dict[str, list[int]](), defaultdict[str, list[list[int]]](list)
        for word, values in by_word.items():
            for term in self._reader[word]:
                if found.setdefault(term, values) is not values:
                    shared[term].append(values)
        lengths = {chunk: length for chunk, _, length, _ in self._log}
        return found | {term: _merged([found[term], *others], lengths) for term, others in shared.items()}


def _merged(some: Iterable[list[int]], lengths: Mapping[int, int]) -> list[int]:
    """Return number, count and length of chunk after chunk that has any of some words."""
    counts = dict[int, int]()
    for values in some:
        for chunk, times in zip(values[::3], values[1::3], strict=True):
            counts[chunk] = counts.get(chunk, 0) + times
    return [value for chunk in sorted(counts) for value in (chunk, counts[chunk], lengths[chunk])]


class Writer:
    """Gathers what changes in a transaction, and writes it once.

    Args:
        connection: in a transaction for writing.
        languages: that chunks tell which will be put in, so that those that tell none are read in each at once.
    """

    def __init__(self, connection: sqlite3.Connection, languages: Iterable[str] = ()) -> None:
        self._connection = connection
        self._edits: dict[tuple[int, int], _Edits] = {}
        """By part and block."""
        self._parts: dict[tuple[int, str, bool], int] = {}
        self._scopes: dict[tuple[str, Access], int] = {}
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

    def scope(self, source: str, access: Access) -> int:
        """Return the number of a scope, which is made when it is new."""
        if (source, access) not in self._scopes:
            self._scopes[source, access] = interned(self._connection, source, access)
        return self._scopes[source, access]

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
                [self._passages[part], self._words[part], *(once[kind] + once[NAME] for kind in KINDS), now, part],
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
        reader = reader_of(language)
        words = reader.words(chunk.title, chunk.section, chunk.text)
        length, part = words.total(), self._part(chunk.scope, language, bool(chunk.language))
        self._passages[part] += sign
        self._words[part] += sign * length
        at = (part, chunk.id // BLOCK)
        if at not in self._edits:
            self._edits[at] = _Edits(reader)
        self._edits[at].add(chunk.id % BLOCK, words, length, is_taken_out=sign < 0)

    def _part(self, scope: int, language: str, told: bool) -> int:
        row = (scope, language, told)
        if row not in self._parts:
            self._connection.execute("INSERT OR IGNORE INTO parts (scope, language, told) VALUES (?, ?, ?)", row)
            found = self._connection.execute("SELECT id FROM parts WHERE scope = ? AND language = ? AND told = ?", row)
            self._parts[row] = int(found.fetchone()[0])
        return self._parts[row]

    def _write_block(self, part: int, block: int, edits: _Edits, changed: dict[str, _Word]) -> None:
        """Write what changed in a block, and count it."""
        by_term = edits.by_term()
        held = looked_up(self._connection, _BLOCK, [part, block], by_term)
        written, emptied = [], []
        for term in sorted(by_term):
            values = by_term[term]
            counts = values[1::3]
            if term in held or not edits.is_rising:
                size, data = held.get(term, (0, b""))
                size, data, more, total = edited(size, data, values, is_rising=edits.is_rising)
            else:
                size = more = len(counts)
                data, total = encoded(values), sum(counts)
            before = changed.get(term, _NOTHING)
            changed[term] = (before[0] + total, before[1] + more, max(before[2], *counts))
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
        for term, (added, holders, most) in sorted(changed.items()):
            total_before, holders_before, most_before = held.get(term, _NOTHING)
            total = total_before + added
            once[term[0]] += (total == 1) - (total_before == 1)
            if total:
                written.append((term, part, total, holders_before + holders, max(most_before, most)))
            elif total_before:
                emptied.append((term, part))
        self._connection.executemany("REPLACE INTO words VALUES (?, ?, ?, ?, ?)", written)
        self._connection.executemany("DELETE FROM words WHERE term = ? AND part = ?", emptied)
        return once
