"""Messages over a pipe: eight bytes of length, then so many bytes. Nothing that is read can run code."""

from __future__ import annotations

import os
import select
from contextlib import suppress
from time import monotonic
from typing import Final

_HEAD: Final = 8
_PIECE: Final = 1 << 20


class FrameTooLong(Exception):
    """A message is announced that is longer than it may be."""


def pack_frame(message: bytes) -> bytes:
    """Return a message as it is sent."""
    return len(message).to_bytes(_HEAD) + message


def send(pipe: int, message: bytes, deadline: float) -> None:
    """Send a message through a pipe that does not block."""
    rest = memoryview(pack_frame(message))
    while rest:
        _wait_for_pipe(pipe, select.POLLOUT, deadline)
        with suppress(BlockingIOError):
            rest = rest[os.write(pipe, rest[:_PIECE]) :]


def receive(pipe: int, most: int, deadline: float) -> bytes:
    """Return the next message of a pipe that does not block."""
    size = int.from_bytes(_read_pipe(pipe, _HEAD, deadline))
    if size > most:
        raise FrameTooLong
    return _read_pipe(pipe, size, deadline)


def _read_pipe(pipe: int, size: int, deadline: float | None = None) -> bytes:
    """Return so many bytes of a pipe, which blocks where there is no deadline."""
    read = bytearray()
    while len(read) < size:
        if deadline is not None:
            _wait_for_pipe(pipe, select.POLLIN, deadline)
        try:
            piece = os.read(pipe, min(size - len(read), _PIECE))
        except BlockingIOError:
            continue
        if not piece:
            raise EOFError
        read += piece
    return bytes(read)


def _wait_for_pipe(pipe: int, event: int, deadline: float) -> None:
    left = deadline - monotonic()
    poll = select.poll()  # select() fails on descriptors above 1,023
    poll.register(pipe, event)
    if left <= 0 or not poll.poll(left * 1000):
        raise TimeoutError


def send_all(pipe: int, message: bytes) -> None:
    """Send a message through a pipe that blocks."""
    rest = memoryview(pack_frame(message))
    while rest:
        rest = rest[os.write(pipe, rest) :]


def receive_all(pipe: int) -> bytes | None:
    """Return the next message of a pipe that blocks; None where nobody writes any more."""
    try:
        return _read_pipe(pipe, int.from_bytes(_read_pipe(pipe, _HEAD)))
    except EOFError:
        return None
