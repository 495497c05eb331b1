"""Pages that were read before, in one file, for as long as their servers say (RFC 9111)."""

from __future__ import annotations

import hashlib
import logging
import os
import sqlite3
import weakref
from pathlib import Path
from typing import Any

import httpx2

from guardgraph.plain.errors import ConfigurationError
from guardgraph.plain.files import keep_file_private, make_private_file

MOST_BYTES = 512 * 1024 * 1024
"""How large the file may become; what was not read for longest goes first."""

_ENTRIES = "entries"
"""A table of hishel's: a database that has tables, and not this one, is something else."""

_UNSHOWN = logging.NullHandler()


class BrokenCache(Exception):
    """What was kept of a page can no longer be read; the page itself may."""


class Cache:
    """One file of pages. Whoever may write it says what a page is, so it belongs to one domain of trust."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        from hishel import CacheOptions, SqliteStorage

        # It says what went wrong with the file in tracebacks, and goes on without it.
        logging.getLogger("hishel").addHandler(_UNSHOWN)
        connection = _open_cache_file(path)
        self._close = weakref.finalize(self, connection.close)
        # Given a path, it would write a .gitignore beside the file.
        self._storage = SqliteStorage(connection=connection, max_size=MOST_BYTES)
        self._options = CacheOptions(shared=False)
        try:
            self._storage.get_entries("")  # makes the tables
            keep_file_private(Path(path).absolute())
        except (RuntimeError, OSError) as error:
            self._close()
            raise ConfigurationError(f"cache: {os.fspath(path)!r:.200} is no cache of pages: {error}") from None

    def wrap_http_transport(self, transport: httpx2.BaseTransport) -> httpx2.BaseTransport:
        """Return a transport that asks only for what is not kept; closing it would close the file for all."""
        from hishel.httpx2 import CacheTransport

        return CacheTransport(transport, self._storage, self._options)

    def close(self) -> None:
        """Close the file; what is read from then on is read from the web."""
        self._close()


def make_http_cache_key(url: str) -> dict[str, Any]:
    """Return the extension of a request that says under which key its answer is kept: the URL as it was judged."""
    return {"caching": {"key": hashlib.sha256(url.encode()).hexdigest()}}


def _open_cache_file(path: str | os.PathLike[str]) -> sqlite3.Connection:
    file = Path(path).absolute()
    if not file.parent.is_dir():
        raise ConfigurationError(f"cache: the folder {str(file.parent)!r:.200} does not exist")
    connection = None
    try:
        make_private_file(file)
        connection = sqlite3.connect(file, timeout=5.0, check_same_thread=False, isolation_level=None)
        connection.execute("BEGIN IMMEDIATE")  # says whether it is a database, and whether it can be written
        names = {name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
        connection.execute("ROLLBACK")
        if names and _ENTRIES not in names:
            raise sqlite3.DatabaseError("it holds other tables")
    except (sqlite3.Error, OSError) as error:
        if connection is not None:
            connection.close()
        raise ConfigurationError(f"cache: {str(file)!r:.200} cannot be used as a cache of pages: {error}") from None
    return connection
