"""Postings: for a term and a block of places which of its chunks have it, and how often; and how long the chunks are.

A chunk's number is that of its block times `BLOCK`, and its place in it. A block belongs to one scope.
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from typing import Final, NamedTuple

__all__ = ["BLOCK", "Cells", "appended", "decoded", "encoded", "lengths_of", "resized"]

BLOCK: Final = 2048
"""Places of a block. More make a term quicker to read and slower to change; a place has two bytes."""

_PLACE, _LONG = "H", "I"
_SHORT_BYTES: Final = 3
"""Of a chunk: its place in two bytes, its count in one. Where one is too large for it, all counts have four."""
_PLACE_BYTES: Final = 2


class Cells(NamedTuple):
    """Two columns of the same length."""

    places: array[int]
    """In the block, rising. Where nobody is any more, the length is 0."""
    counts: Sequence[int]


def decoded(size: int, data: bytes) -> Cells:
    """Return the postings that `size` chunks of a block have.

    Raises:
        ValueError: nobody wrote them so.
    """
    split = _PLACE_BYTES * size
    places, counts = array(_PLACE, data[:split]), data[split:]
    held = counts if len(data) == _SHORT_BYTES * size else array(_LONG, counts)
    if not len(places) == len(held) == size:
        raise ValueError(f"{size} postings in {len(data)} bytes")
    return Cells(places, held)


def encoded(places: Sequence[int], counts: Sequence[int]) -> bytes:
    """Return places that rise, and how often the chunks there have a term, as postings."""
    return array(_PLACE, places).tobytes() + _packed(counts)


def appended(size: int, data: bytes, places: Sequence[int], counts: Sequence[int]) -> bytes:
    """Return the postings that `size` chunks of a block have, and those of chunks behind them."""
    split = _PLACE_BYTES * size
    before, packed = data[split:], _packed(counts)
    if len(before) - size or len(packed) - len(counts):
        packed = array(_LONG, [*decoded(size, data).counts, *counts]).tobytes()
        before = b""
    return data[:split] + array(_PLACE, places).tobytes() + before + packed


def lengths_of(data: bytes) -> array[int]:
    """Return how many words the chunks of a block have, by place; 0 where none is that has any.

    Raises:
        ValueError: nobody wrote them so.
    """
    return array(_LONG, data)


def resized(lengths: array[int], size: int) -> None:
    """Let lengths have so many places at least."""
    lengths.extend([0] * (size - len(lengths)))


def _packed(counts: Sequence[int]) -> bytes:
    try:
        return bytes(counts)
    except ValueError:
        return array(_LONG, counts).tobytes()
