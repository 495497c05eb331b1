"""Where chunks have room: blocks of places, each of one scope."""

from __future__ import annotations

import sqlite3
from array import array
from collections import Counter
from collections.abc import Mapping
from typing import Final

from guardgraph.knowledge.index.postings import (
    BLOCK,
    decode_chunk_lengths,
    decode_postings,
    encode_postings,
    make_posting_key,
    resize_chunk_lengths,
)

_ROOM: Final = f"SELECT id, used FROM blocks WHERE scope = ? AND used < {BLOCK} ORDER BY id DESC LIMIT 1"
_LENGTHS: Final = (
    "SELECT lengths.id, data FROM blocks JOIN parts ON parts.scope = blocks.scope "
    "JOIN lengths ON part = parts.id AND block = blocks.id WHERE blocks.id = ?"
)
_CHANGED: Final = (
    "UPDATE parts SET changed = (SELECT value FROM state WHERE name = 'changes') "
    "WHERE scope = (SELECT scope FROM blocks WHERE id = ?)"
)
_POSTINGS: Final = "FROM postings WHERE id >= ? AND id < ?"


class Blocks:
    """Gives chunks their numbers, and writes a block anew when most of its places are nobody's.

    Args:
        connection: in a transaction for writing.
    """

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
        for row, data in self._connection.execute(_LENGTHS, [block]).fetchall():
            self._rewrite_block(row, data, places)
        statement = "UPDATE blocks SET used = ?, held = ? WHERE id = ?" if places else "DELETE FROM blocks WHERE id = ?"
        self._connection.execute(statement, [len(places), len(places), block] if places else [block])

    def _rewrite_block(self, row: int, data: bytes, places: Mapping[int, int]) -> None:
        """Write the lengths and the postings of a part in a block anew, by the places that chunks have now."""
        lengths, between = decode_chunk_lengths(data), [make_posting_key(row, 0), make_posting_key(row + 1, 0)]
        resize_chunk_lengths(lengths, max(places, default=0) + 1)
        there = {before: place for before, place in places.items() if lengths[before]}
        rows = self._connection.execute(f"SELECT id, size, data {_POSTINGS}", between).fetchall()
        self._connection.execute(f"DELETE {_POSTINGS}", between)
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
