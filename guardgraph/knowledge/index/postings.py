"""Postings: for a term and a block of chunks which of them have it, how often, and how long they are."""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Sequence
from typing import Final, NamedTuple

__all__ = ["BLOCK", "Cells", "Edited", "decoded", "edited", "encoded", "is_of"]

BLOCK: Final = 1024
"""Chunks of a block. More make a term quicker to read and slower to change."""

_SHORT, _LONG = "H", "I"
_SHORT_LIMIT: Final = 1 << 16
_SHORT_BYTES: Final = 6
"""Of a chunk: three numbers of two bytes. Where one is too large for them, all of the block have four."""


class Cells(NamedTuple):
    """Three columns of the same length."""

    chunks: array[int]
    """Less the first chunk of the block, rising."""
    counts: array[int]
    lengths: array[int]

    def at(self, chunk: int) -> tuple[int, int] | None:
        """Return the count and the length of a chunk, None where it does not have the term."""
        at = bisect_left(self.chunks, chunk)
        if at == len(self.chunks) or self.chunks[at] != chunk:
            return None
        return self.counts[at], self.lengths[at]


def decoded(size: int, data: bytes) -> Cells:
    """Return the postings that `size` chunks of a block have."""
    cells = _array(size, data)
    return Cells(cells[::3], cells[1::3], cells[2::3])


def is_of(size: int, data: bytes, values: Sequence[int]) -> bool:
    """Say whether a row of postings has number, count and length of one chunk after the other."""
    try:
        return 3 * size == len(values) and _array(size, data).tolist() == values
    except (TypeError, ValueError):  # nobody wrote it so
        return False


def encoded(values: Sequence[int]) -> bytes:
    """Return number, count and length of one chunk after the other as postings."""
    try:
        return array(_SHORT, values).tobytes()
    except OverflowError:
        return array(_LONG, values).tobytes()


class Edited(NamedTuple):
    """A block of a term after changes, and what they made of it."""

    size: int
    data: bytes
    more: int
    """By how many the chunks are more."""
    total: int
    """By how much the sum of their counts is larger."""


def edited(size: int, data: bytes, edits: Sequence[int], *, is_rising: bool) -> Edited:
    """Return a block's postings after changes.

    Args:
        size: how many chunks of the block have the term.
        data: their postings.
        edits: number, count and length of one chunk after the other; a count of 0 takes a chunk out.
        is_rising: whether the edits put chunks in alone, in rising order.
    """
    cells = _array(size, data)
    if cells.typecode == _SHORT and max(edits) >= _SHORT_LIMIT:
        cells = array(_LONG, cells)
    total = sum(edits[1::3])
    if is_rising and (not cells or cells[-3] < edits[0]):
        cells.extend(array(cells.typecode, edits))
    else:
        for at in range(0, len(edits), 3):
            total -= _replace(cells, edits[at : at + 3])
    return Edited(len(cells) // 3, cells.tobytes(), len(cells) // 3 - size, total)


def _replace(cells: array[int], edit: Sequence[int]) -> int:
    """Put a chunk in its place, or take it out, and return the count that it had."""
    at = 3 * bisect_left(cells[::3], edit[0])
    is_there = at < len(cells) and cells[at] == edit[0]
    before = cells[at + 1] if is_there else 0
    cells[at : at + 3 * is_there] = array(cells.typecode, edit if edit[1] else ())
    return before


def _array(size: int, data: bytes) -> array[int]:
    cells = array(_SHORT if len(data) == _SHORT_BYTES * size else _LONG)
    cells.frombytes(data)
    return cells
