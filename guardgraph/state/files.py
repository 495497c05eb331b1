"""The files of an SQLite database: readable by their owner alone from their first moment on."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from stat import S_ISREG

__all__ = ["identity", "make_private"]

LOGS = ("-wal", "-shm")
"""What SQLite keeps beside a database; it gives them the rights of the database when it makes them."""
OTHERS = 0o077
"""The rights of everybody but the owner."""


def make_private(file: Path) -> None:
    """Make the file of a database if there is none, and take from others what rights they have.

    What is no file, such as a folder or /dev/null, keeps its rights.

    Raises:
        OSError: it cannot be made, or belongs to somebody else who lets others read it.
    """
    path = str(file)
    with suppress(FileExistsError):  # before SQLite makes it, with whatever rights the process gives away
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
    for name in (path, *(path + ending for ending in LOGS)):
        with suppress(FileNotFoundError):
            rights = os.stat(name).st_mode
            if S_ISREG(rights) and rights & OTHERS:
                os.chmod(name, rights & 0o700)


def identity(file: Path) -> tuple[int, int] | None:
    """Return what tells a file from another one that took its place, None where there is none."""
    try:
        found = file.stat()
    except FileNotFoundError:
        return None
    return found.st_dev, found.st_ino
