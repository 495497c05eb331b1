"""A line in which the writers of an SQLite file wait: each gets its turn as it came, woken by the kernel.

SQLite has none: whoever finds a file locked sleeps and tries again, and many who do so keep each other from writing.
The line keeps nobody from anything: what keeps writers apart is SQLite's own lock, with or without it.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from threading import Lock
from typing import TYPE_CHECKING
from weakref import WeakSet, finalize

if TYPE_CHECKING:
    from sqlalchemy import Connection

try:
    import fcntl
except ImportError:  # on Windows, writers try again and again
    fcntl = None  # type: ignore[assignment]


_LINE = "guardgraph waits in line"


class _Line:
    """The place of one connection: the log of its file, which SQLite does not lock by itself, opened once more."""

    def __init__(self, file: str) -> None:
        self.number = os.open(file, os.O_RDONLY)
        self.turn = _turns.setdefault(file, Lock())
        self.leave = finalize(self, os.close, self.number)
        _lines.add(self)


_lines: WeakSet[_Line] = WeakSet()
_turns: dict[str, Lock] = {}
"""By file, whose turn it is in this process to wait for others: nobody can be called back from there."""


def _leave_write_lines() -> None:
    """Leave all lines: a forked process would keep a place there that its parent no longer has."""
    for line in list(_lines):
        line.leave()
    _lines.clear()
    _turns.clear()


if hasattr(os, "register_at_fork"):  # Windows does not fork
    os.register_at_fork(after_in_child=_leave_write_lines)


@contextmanager
def wait_in_write_line(connection: Connection, seconds: float) -> Iterator[None]:
    """Wait until all who came before have left, and leave at the end. A connection's first use is out of line.

    So is who has waited too long behind others of this process: one that hangs keeps a thread of it, not all.

    Args:
        connection: to an SQLite database.
        seconds: how long to wait for them.
    """
    line = connection.info.get(_LINE)
    if line is None or fcntl is None:
        yield
        with suppress(OSError):  # there is no log where nothing was written
            connection.info[_LINE] = _Line(f"{connection.engine.url.database}-wal")
    elif line.turn.acquire(timeout=seconds):
        try:
            _lock_log_file(line.number, fcntl.LOCK_EX)
            yield
        finally:
            _lock_log_file(line.number, fcntl.LOCK_UN)
            line.turn.release()
    else:
        yield


def _lock_log_file(number: int, how: int) -> None:
    with suppress(OSError):  # not every file system has such locks
        fcntl.flock(number, how)
