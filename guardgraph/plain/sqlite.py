"""The files of SQLite: readable by their owner alone, watched for copies put over them, and closed before a fork."""

from __future__ import annotations

import errno
import os
import sqlite3
import stat
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path
from threading import Condition, Lock
from time import monotonic
from typing import Final, NamedTuple
from weakref import WeakMethod

from guardgraph.plain.errors import StoreError

LOGS = ("-wal", "-shm")
"""What SQLite keeps beside a database; it gives them the rights of the database when it makes them."""
CHECK_SECONDS: Final = 2.0  # for which the pages of a database are looked through that may have been written over
OTHERS = 0o077  # the rights of everybody but the owner


def make_private_file(file: Path) -> None:
    """Make the file of a database if there is none."""
    if not os.path.exists(file):
        with suppress(FileExistsError):  # before SQLite makes it, with whatever rights the process gives away
            os.close(os.open(file, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
    kind = os.stat(file).st_mode
    if not stat.S_ISREG(kind) and not stat.S_ISDIR(kind):  # SQLite would open a device, and wait for a pipe
        raise OSError(errno.EINVAL, "a device, a pipe or a socket is no file", str(file))


def keep_file_private(file: str | Path) -> None:
    """Take from others what rights they have of a database that is known to be ours, and with it of its log."""
    path = str(file)
    with suppress(FileNotFoundError):
        if not os.stat(path).st_mode & OTHERS:
            return
    for name in (*(path + ending for ending in LOGS), path):  # last what the others are looked at for
        with suppress(FileNotFoundError):
            rights = os.stat(name).st_mode
            if rights & OTHERS:
                os.chmod(name, rights & 0o700)


class _SeenFile(NamedTuple):
    id: tuple[int, int]  # what tells it from another one that took its place
    written: tuple[int, int]  # when it was written last, and its size


def _look_at_file(file: str | Path) -> _SeenFile | None:
    try:
        found = os.stat(file)
    except FileNotFoundError:
        return None
    return _SeenFile((found.st_dev, found.st_ino), (found.st_mtime_ns, found.st_size))


def identify_file(file: Path) -> tuple[int, int] | None:
    """Return what tells a file from another one that took its place, None where there is none."""
    seen = _look_at_file(file)
    return None if seen is None else seen.id


class LogWatch:
    """Tells that a copy was put in the place of a database, or over it, while its log stayed: SQLite would mix them."""

    def __init__(self) -> None:
        self._file: _SeenFile | None = None
        self._log: _SeenFile | None = None
        self._damaged: tuple[object, str] = (None, "")  # A file, and what is wrong with it

    def note_log(self, file: Path) -> None:
        """Note which file is there, which log it has, and when both were written."""
        self._file, self._log = _look_at_file(file), _look_at_file(f"{file}{LOGS[0]}")

    def check_log(self, file: Path, close: Callable[[], None]) -> tuple[int, int] | None:
        """Refuse a file whose log is that of the file before; close connections that know another file than there is.

        Where the file was written and its log was not, that was SQLite, moving its log, or a copy over the file. SQLite
        lays the log over that: all is there if it has what came since, else pages of two files are mixed. What tells
        the file from another one is returned, None where there is none.
        """
        now, log = _look_at_file(file), _look_at_file(f"{file}{LOGS[0]}")  # in this order: a log is written first
        found = None if now is None else now.id
        if self._damaged[1] and self._damaged[0] == found:
            raise StoreError(self._damaged[1])
        if self._file is None or self._log is None or log is None or log.id != self._log.id:
            return found
        names = " and ".join(file.name + ending for ending in LOGS)
        if now is None or now.id != self._file.id:
            raise StoreError(
                f"{file}: another file took its place while what was written last is in the log of the one before; "
                f"remove {names}, or put the file back"
            )
        if now.written != self._file.written and log.written == self._log.written:
            close()
            if (damage := _find_damage(file)) is not None:
                said = (
                    f"{file}: {damage}; it was written over while {names} had what was written last: put a copy in its "
                    "place by a rename, and remove them"
                )
                self._damaged = found, said
                raise StoreError(said)
        return found


def _find_damage(file: Path) -> str | None:
    """Return what is wrong with the pages of a database, as far as they can be looked through in a moment."""
    ends = monotonic() + CHECK_SECONDS
    with closing(sqlite3.connect(f"{file.absolute().as_uri()}?mode=ro", uri=True)) as connection:
        connection.set_progress_handler(lambda: monotonic() > ends, 10_000)
        try:
            [(found,)] = connection.execute("PRAGMA quick_check(1)").fetchall()
        except sqlite3.OperationalError:  # out of time, or locked
            return None
        except sqlite3.DatabaseError as error:
            return str(error)
    return None if found == "ok" else " ".join(str(found).split())


# SQLite keeps in the memory of a process which locks that process holds. A child that is forked while a thread of its
# parent writes inherits the belief that somebody here writes, and waits forever; one that inherits a connection at rest
# believes that it holds a lock which the kernel does not know of, so that others may take the log away under it. So a
# fork waits until those who are at work are done, and closes what is at rest.
WAITING: Final = 5.0
"""Seconds for which a fork waits for others; a thread that forks in the middle of its own work waits in vain."""


class _Gate:
    """Who is at work in SQLite's files in this process, and who has connections at rest."""

    def __init__(self) -> None:
        self._changed = Condition(Lock())
        self._busy = 0
        self._is_closed = False
        self._resting: list[WeakMethod[Callable[[], None]]] = []

    def add_resting(self, close: Callable[[], None]) -> None:
        """Have a method called before a fork; it closes what is at rest. Its object may go away at any time."""
        with self._changed:
            self._resting = [kept for kept in self._resting if kept() is not None]
            self._resting.append(WeakMethod(close))

    def enter(self, *, waits: bool = True) -> None:
        """Begin some work, once no fork waits; what is a part of other work that has begun does not wait."""
        with self._changed:
            ends = monotonic() + 2 * WAITING
            while waits and self._is_closed and monotonic() < ends:
                self._changed.wait(WAITING)
            self._busy += 1

    def leave(self) -> None:
        """End it."""
        with self._changed:
            self._busy = max(self._busy - 1, 0)
            self._changed.notify_all()

    def close_before_fork(self) -> None:
        """Wait until nobody is at work, and keep others from beginning."""
        self._changed.acquire()
        self._is_closed = True
        ends = monotonic() + WAITING
        while self._busy and monotonic() < ends:
            self._changed.wait(ends - monotonic())
        for kept in self._resting:
            if (close := kept()) is not None:
                close()

    def open_in_parent(self) -> None:
        """Let those begin who wait."""
        self._is_closed = False
        self._changed.notify_all()
        self._changed.release()

    def open_in_child(self) -> None:
        """Forget the threads that are not here."""
        self._changed, self._busy, self._is_closed = Condition(Lock()), 0, False


SQLITE: Final = _Gate()

if hasattr(os, "register_at_fork"):  # Windows does not fork
    os.register_at_fork(
        before=SQLITE.close_before_fork, after_in_parent=SQLITE.open_in_parent, after_in_child=SQLITE.open_in_child
    )
