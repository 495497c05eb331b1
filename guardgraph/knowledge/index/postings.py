"""Postings: for a term and a block of places which of its chunks have it, and how often; and how long the chunks are.

A chunk's number is that of its block times `BLOCK`, and its place in it. A block belongs to one scope. A chunk that was
taken out has no length any more; its postings stay until the block is written anew, and count for nothing.
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from typing import Final, NamedTuple

BLOCK: Final = 16_384
"""Places of a block. More make a term quicker to read and slower to change; a place has two bytes."""

_NUMBER_BITS: Final = 32
"""Of a key: a word's number in its part. What is above is the part or, of postings, the row of lengths."""

_PLACE, _LONG = "H", "I"
_SHORT_BYTES: Final = 3
_LONG_BYTES: Final = 6
"""Of a chunk: its place in two bytes, its count in one. Where one is too large for it, all counts have four."""
_PLACE_BYTES: Final = 2
LENGTH_BYTES: Final = 4
"""Of a chunk's length."""


class Cells(NamedTuple):
    """Two columns of the same length."""

    places: array[int]
    """In the block, rising. Where nobody is any more, the length is 0."""
    counts: Sequence[int]


def check_posting_size(size: int, data: bytes) -> None:
    """Refuse postings that are not those of `size` chunks.

    Raises:
        ValueError: nobody wrote them so.
    """
    if len(data) not in (_SHORT_BYTES * size, _LONG_BYTES * size):
        raise ValueError(f"{size} postings in {len(data)} bytes")


def decode_postings(size: int, data: bytes) -> Cells:
    """Return the postings that `size` chunks of a block have.

    Raises:
        ValueError: nobody wrote them so.
    """
    check_posting_size(size, data)
    split = _PLACE_BYTES * size
    places, counts = array(_PLACE, data[:split]), data[split:]
    return Cells(places, counts if len(data) == _SHORT_BYTES * size else array(_LONG, counts))


def encode_postings(places: Sequence[int], counts: Sequence[int]) -> bytes:
    """Return places that rise, and how often the chunks there have a term, as postings."""
    return array(_PLACE, places).tobytes() + _pack_posting_numbers(counts)


def append_postings(size: int, data: bytes, more: int, added: bytes) -> bytes:
    """Return the postings that `size` chunks of a block have, and those of `more` chunks behind them."""
    split, end = _PLACE_BYTES * size, _PLACE_BYTES * more
    before, behind = data[split:], added[end:]
    if len(before) > size or len(behind) > more:
        before = array(_LONG, [*decode_postings(size, data).counts, *decode_postings(more, added).counts]).tobytes()
        behind = b""
    return data[:split] + added[:end] + before + behind


def make_posting_key(high: int, number: int) -> int:
    """Return the key of a row.

    Args:
        high: the part of a word, or the row of lengths of postings.
        number: the word's.
    """
    return high << _NUMBER_BITS | number


def read_posting_number(key: int) -> int:
    """Return the word's number of a key."""
    return key & (1 << _NUMBER_BITS) - 1


def decode_chunk_lengths(data: bytes) -> array[int]:
    """Return how many words the chunks of a block have, by place; 0 where none is that has any.

    Raises:
        ValueError: nobody wrote them so.
    """
    return array(_LONG, data)


def resize_chunk_lengths(lengths: array[int], size: int) -> None:
    """Let lengths have so many places at least."""
    lengths.extend([0] * (size - len(lengths)))


def _pack_posting_numbers(counts: Sequence[int]) -> bytes:
    try:
        return bytes(counts)
    except ValueError:
        return array(_LONG, counts).tobytes()
