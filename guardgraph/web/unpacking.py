"""What was packed for the way is unpacked a piece at a time, each piece counted before the next is made."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator

from guardgraph.plain.errors import ReadFailure
from guardgraph.web.limits import Meter

__all__ = ["ACCEPTED", "unpacked"]

ACCEPTED = "gzip, deflate"
"""What servers are told that may come."""

PIECE_BYTES = 256 * 1024
"""What is unpacked at once."""

MOST_PACKINGS = 3
"""How many times a page may be packed; more than one is a bomb or a mistake already."""


MOST_MEMBERS = 100
"""How many packed pieces may stand one after another; empty ones take time and bring nothing."""


def unpacked(pieces: Iterable[bytes], packings: str, meter: Meter) -> Iterator[bytes]:
    """Undo what the header Content-Encoding says.

    Each layer counts by itself, so that a page packed twice cannot swell inside.

    Args:
        pieces: what came.
        packings: the header, the outermost last.
        meter: what the page may take.

    Yields:
        Pieces of the page, each of at most 256 KiB where it was packed.

    Raises:
        ReadFailure: ``decompression``, ``too_large`` or ``timeout``.
    """
    names = [name for item in packings.lower().split(",") if (name := item.strip()) not in {"", "identity"}]
    if len(names) > MOST_PACKINGS or not {*names} <= {"gzip", "x-gzip", "deflate"}:
        raise ReadFailure("decompression", {"encoding": packings[:200], "allowed": ACCEPTED})
    layer = iter(pieces)
    for name in reversed(names):
        layer = _layer(layer, name, meter)
    for piece in layer:
        if not names:
            meter.unpacked(len(piece))
        yield piece


def _layer(pieces: Iterator[bytes], name: str, meter: Meter) -> Iterator[bytes]:
    undo, members = None, 0
    try:
        for piece in pieces:
            rest, has_more = piece, False
            while rest or has_more:
                if undo is None or undo.eof:  # a page may be several packed one after another (RFC 1952, 2.2)
                    members += 1
                    undo = zlib.decompressobj(_window(name, rest, members))
                out = undo.decompress(rest, PIECE_BYTES)
                rest = undo.unused_data if undo.eof else undo.unconsumed_tail
                # What was taken in as a whole may not have been given out as a whole.
                has_more = len(out) == PIECE_BYTES and not undo.eof
                meter.unpacked(len(out))
                if out:
                    yield out
    except zlib.error as error:
        raise ReadFailure("decompression", {"encoding": name, "cause": str(error)[:200]}) from error
    if undo is not None and not undo.eof:
        raise ReadFailure("decompression", {"encoding": name, "cause": "it ends before its end"})


def _window(name: str, start: bytes, members: int) -> int:
    """Return what zlib is to expect: gzip; zlib (RFC 1950), which is what "deflate" means; or what some send."""
    if members > (1 if name == "deflate" else MOST_MEMBERS):
        raise zlib.error("something stands behind its end")
    if name != "deflate":
        return 16 + zlib.MAX_WBITS
    is_zlib = start[0] & 0x0F == 8 and (len(start) < 2 or (start[0] << 8 | start[1]) % 31 == 0)
    return zlib.MAX_WBITS if is_zlib else -zlib.MAX_WBITS
