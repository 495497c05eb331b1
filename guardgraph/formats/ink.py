"""Where two pictures of one page differ."""

from __future__ import annotations

from typing import Final, NamedTuple

INK: Final = b"\x01"
"""What stands in a mask where they do."""

_STEP: Final = 16
"""Of 255: shades that differ by no more than half of it cannot be told apart, and those that differ by more than that
are told apart."""
_EVEN: Final = bytes(shade // _STEP for shade in range(256))
_ODD: Final = bytes((shade + _STEP // 2) // _STEP for shade in range(256))
_DIFFERS: Final = bytes(1 if shade else 0 for shade in range(256))


class Picture(NamedTuple):
    """A picture in shades of grey, row by row."""

    pixels: bytes
    stride: int
    """Bytes of a row."""


def inked_mask(picture: Picture, other: Picture) -> bytes:
    """Return a byte for each pixel: `INK` where two pictures of one size differ, else zero.

    Shades are put into steps twice, the second time by half a step off: two shades that are close to each other are in
    one step at least once. Whole pictures are compared as one number, which is faster than any loop.
    """
    return _and(_differing(picture.pixels, other.pixels, _EVEN), _differing(picture.pixels, other.pixels, _ODD))


def _differing(pixels: bytes, others: bytes, steps: bytes) -> bytes:
    differing = int.from_bytes(pixels.translate(steps)) ^ int.from_bytes(others.translate(steps))
    return differing.to_bytes(len(pixels)).translate(_DIFFERS)


def _and(mask: bytes, other: bytes) -> bytes:
    return (int.from_bytes(mask) & int.from_bytes(other)).to_bytes(len(mask))
