"""The files of an SQLite database: readable by their owner alone from their first moment on."""

from __future__ import annotations

import errno
import os
import sqlite3
import stat
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path
from time import monotonic
from typing import Final

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


def keep_file_private(file: Path) -> None:
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


def identify_file(file: Path) -> tuple[int, int] | None:
    """Return what tells a file from another one that took its place, None where there is none."""
    try:
        found = file.stat()
    except FileNotFoundError:
        return None
    return found.st_dev, found.st_ino


class LogWatch:
    """Tells that a copy was put in the place of a database, or over it, while its log stayed: SQLite would mix them."""

    def __init__(self) -> None:
        self._file: tuple[int, int] | None = None
        self._log: tuple[int, int] | None = None
        self._dates: tuple[object, object] = (None, None)
        self._damaged: tuple[object, str] = (None, "")  # A file, and what is wrong with it

    def note_log(self, file: Path) -> None:
        """Note which file is there, which log it has, and when both were written."""
        log = Path(f"{file}{LOGS[0]}")
        self._file, self._log, self._dates = (identify_file(file), identify_file(log), (_date(file), _date(log)))

    def check_log(self, file: Path, close: Callable[[], None]) -> None:
        """Refuse a file whose log is that of the file before; close connections that know another file than there is.

        Where the file was written and its log was not, that was SQLite, moving its log, or a copy over the file. SQLite
        lays the log over that: all is there if it has what came since, else pages of two files are mixed.
        """
        log = Path(f"{file}{LOGS[0]}")
        if self._damaged[1] and self._damaged[0] == identify_file(file):
            raise StoreError(self._damaged[1])
        if self._log is None or identify_file(log) != self._log:
            return
        names = " and ".join(file.name + ending for ending in LOGS)
        if self._file not in (None, identify_file(file)):
            raise StoreError(
                f"{file}: another file took its place while what was written last is in the log of the one before; "
                f"remove {names}, or put the file back"
            )
        then, log_then = self._dates
        if then is not None and _date(file) != then and _date(log) == log_then:
            close()
            if (found := _find_damage(file)) is not None:
                said = (
                    f"{file}: {found}; it was written over while {names} had what was written last: put a copy in its "
                    "place by a rename, and remove them"
                )
                self._damaged = self._file, said
                raise StoreError(said)


def _date(file: Path) -> tuple[int, int] | None:
    with suppress(OSError):
        found = file.stat()
        return found.st_mtime_ns, found.st_size
    return None


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


SERVER_URLS: Final = ("postgresql://", "postgres://", "postgresql+psycopg://")
"""How the URL of a server begins that keeps documents."""


def is_server_url(given: object) -> bool:
    """Say whether something is the URL of a server, and no path."""
    return isinstance(given, str) and given.startswith(SERVER_URLS)
