"""The files of an SQLite database: readable by their owner alone from their first moment on."""

from __future__ import annotations

import errno
import os
import stat
from contextlib import suppress
from pathlib import Path
from typing import Final

from guardgraph.plain.errors import StoreError

LOGS = ("-wal", "-shm")
"""What SQLite keeps beside a database; it gives them the rights of the database when it makes them."""
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
    """Tells that another file took the place of a database while its log stayed: SQLite would mix the two."""

    def __init__(self) -> None:
        self._file: tuple[int, int] | None = None
        self._log: tuple[int, int] | None = None

    def note_log(self, file: Path) -> None:
        """Note which file is there, and which log it has."""
        self._file, self._log = identify_file(file), identify_file(Path(f"{file}{LOGS[0]}"))

    def check_log(self, file: Path) -> None:
        """Refuse a file whose log is that of the file before."""
        if self._log is None or self._file in (None, identify_file(file)):
            return
        if identify_file(Path(f"{file}{LOGS[0]}")) == self._log:
            left = " and ".join(file.name + ending for ending in LOGS)
            raise StoreError(
                f"{file}: another file took its place while what was written last is in the log of the one before; "
                f"remove {left}, or put the file back"
            )


SERVER_URLS: Final = ("postgresql://", "postgres://", "postgresql+psycopg://")
"""How the URL of a server begins that keeps documents."""


def is_server_url(given: object) -> bool:
    """Say whether something is the URL of a server, and no path."""
    return isinstance(given, str) and given.startswith(SERVER_URLS)
