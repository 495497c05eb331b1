"""Postings: for a term and a block of chunks which of them have it, how often, and how long they are."""

from __future__ import annotations

from array import array
from collections.abc import Mapping
from typing import Final, NamedTuple

__all__ = ["BLOCK", "Postings", "decoded", "encoded"]

BLOCK: Final = 1024
"""Chunks of a block. More make a term quicker to read and slower to change."""

_SHORT, _LONG = "H", "I"
_SHORT_LIMIT: Final = 1 << 16


class Postings(NamedTuple):
    """Three columns of the same length."""

    chunks: array[int]
    """Less the first chunk of the block, rising."""
    counts: array[int]
    lengths: array[int]


def encoded(held: Mapping[int, tuple[int, int]]) -> bytes:
    """Return the postings of a block: by chunk, count and length."""
    order = sorted(held)
    columns = (order, [held[chunk][0] for chunk in order], [held[chunk][1] for chunk in order])
    is_short = max(max(column) for column in columns) < _SHORT_LIMIT
    return b"".join(array(_SHORT if is_short else _LONG, column).tobytes() for column in columns)


def decoded(size: int, data: bytes) -> Postings:
    """Return the postings that `size` chunks of a block have."""
    cells = array(_SHORT if len(data) == 6 * size else _LONG)
    cells.frombytes(data)
    return Postings(cells[:size], cells[size : 2 * size], cells[2 * size :])
