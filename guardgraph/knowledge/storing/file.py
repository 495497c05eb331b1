"""The file as a database: connections that are opened when they are needed, and transactions."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from time import monotonic, sleep
from typing import Final, NamedTuple

from guardgraph.knowledge.storing.schema import begin_change, check_index_schema, is_index_empty, make_index_schema
from guardgraph.plain.errors import ConfigurationError, GuardgraphError, StoreError
from guardgraph.plain.files import LogWatch, identify_file, keep_file_private, make_private_file
from guardgraph.plain.forks import SQLITE

TIMEOUT: Final = 60.0
"""Seconds for which whoever writes waits for his turn."""
_CACHE_KIB: Final = 8192
"""Pages that a connection keeps in memory."""
_LOG_PAGES: Final = 4000
"""From so many on, the log is written into the file, for which whoever writes waits."""
_LEAST_BYTES: Final = 512
"""SQLite's smallest page. What is shorter SQLite takes for empty, and would write over."""
_PAUSE: Final = 0.02
_MAKING: Final = 1.0
"""Seconds after which nobody is making a knowledge base of an empty file any more."""
_NO_DATABASE: Final = "file is not a database"


class _Opened(NamedTuple):
    """A connection, and the process and the file that it belongs to."""

    process: int
    file: tuple[int, int] | None
    connection: sqlite3.Connection


def _read_anyhow(text: bytes) -> str:
    return text.decode(errors="surrogateescape")


class File:
    """A knowledge base's file. What is read or written is done on a connection that nobody else uses meanwhile."""

    def __init__(self, path: Path, timeout: float = TIMEOUT, *, to_check: bool = False) -> None:
        self.path = path
        self.shown = str(path)
        self._timeout = timeout
        self._to_check = to_check
        self._idle: list[_Opened] = []
        self._was_there = False
        self._watch = LogWatch()
        SQLITE.add_resting(self.close)

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """Yield a connection that sees one state of the file, whatever others write meanwhile."""
        with self._connect_sqlite() as connection:
            connection.execute("BEGIN")
            try:
                yield connection
            finally:
                connection.rollback()

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """Yield a connection whose changes are committed together where the block ends, or not at all."""
        with self._connect_sqlite() as connection:
            connection.execute("BEGIN IMMEDIATE")
            try:
                begin_change(connection)
                yield connection
                connection.commit()
            finally:
                if connection.in_transaction:
                    connection.rollback()

    def close(self) -> None:
        """Close the connections that nobody is using; others are opened when they are needed."""
        while self._idle:
            opened = self._idle.pop()
            if opened.process == os.getpid():
                opened.connection.close()

    @contextmanager
    def _connect_sqlite(self) -> Iterator[sqlite3.Connection]:
        SQLITE.enter()
        try:
            self._watch.check_log(self.path)
            opened = self._make_file_locked_error() or self._open_sqlite_file()
            try:
                yield opened.connection
            except sqlite3.DatabaseError:
                opened.connection.close()
                raise
            except BaseException:
                self._idle.append(opened)
                raise
            self._idle.append(opened)
            self._watch.note_log(self.path)
        except GuardgraphError:
            raise
        except sqlite3.DatabaseError as error:
            if _NO_DATABASE in str(error):
                raise self._make_no_database_error() from error
            if getattr(error, "sqlite_errorcode", None) == sqlite3.SQLITE_BUSY:
                raise StoreError(
                    f"{self.shown}: others have been writing it for {self._timeout:g} seconds (an addition, or a "
                    "rebuild of a large base); this was not written: try again when they are done"
                ) from error
            raise StoreError(f"{self.shown}: {error}") from error
        except (ArithmeticError, LookupError, TypeError, ValueError) as error:  # rows that nobody wrote so
            raise StoreError(
                f"{self.shown}: damaged ({type(error).__name__}); `guardgraph kb check` tells more"
            ) from error
        finally:
            SQLITE.leave()

    def _make_no_database_error(self) -> ConfigurationError:
        return ConfigurationError(f"{self.shown}: a knowledge base is required; it is no database")

    def _make_file_locked_error(self) -> _Opened | None:
        """Return a connection of this process to the file that is there now; forget others."""
        now = (os.getpid(), identify_file(self.path))
        with suppress(IndexError):
            while True:
                opened = self._idle.pop()
                if opened[:2] == now:
                    return opened
                if opened.process == os.getpid():
                    opened.connection.close()
        return None

    def _open_sqlite_file(self) -> _Opened:
        if self.path.is_dir():
            raise ConfigurationError(f"{self.shown}: the file of a knowledge base is required; it is a folder")
        if self._was_there and not self.path.exists():  # an empty one in its place would answer that there is nothing
            raise StoreError(f"{self.shown}: it was there and is gone; to make another one, open it anew")
        was_there = self.path.exists()
        try:
            make_private_file(self.path)
        except OSError as error:
            raise ConfigurationError(f"{self.shown}: cannot be made or read: {error.strerror}") from error
        if was_there and self._is_left_empty():  # by a full disk or a failed copy: no new base
            raise ConfigurationError(f"{self.shown}: a knowledge base is required; it is empty: remove it to make one")
        if 0 < self.path.stat().st_size < _LEAST_BYTES:
            raise self._make_no_database_error()
        file = identify_file(self.path)
        connection = sqlite3.connect(
            self.path, timeout=self._timeout, isolation_level=None, check_same_thread=False, cached_statements=256
        )
        try:
            connection.execute(f"PRAGMA cache_size = -{_CACHE_KIB}")
            if is_index_empty(connection):
                self._make_base_file(connection)
            check_index_schema(connection, self.shown, any_words=self._to_check)
            keep_file_private(self.path)
            if self._to_check:
                connection.text_factory = _read_anyhow
            self._was_there = True
            connection.execute("PRAGMA synchronous = NORMAL")
            connection.execute(f"PRAGMA wal_autocheckpoint = {_LOG_PAGES}")
        except BaseException:
            connection.close()
            raise
        return _Opened(os.getpid(), file, connection)

    def _is_left_empty(self) -> bool:
        """Say whether a file has no bytes, and nobody is making a knowledge base of it at this moment."""
        ends = monotonic() + _MAKING
        while self.path.stat().st_size == 0:
            if monotonic() > ends:
                return True
            sleep(_PAUSE)
        return False

    def _make_base_file(self, connection: sqlite3.Connection) -> None:
        """Make a knowledge base of an empty file; several processes may do so at once, and one of them does."""
        ends = monotonic() + self._timeout
        while True:  # the switch to a log does not wait for others
            try:
                connection.execute("PRAGMA journal_mode = WAL")
                break
            except sqlite3.OperationalError:
                if monotonic() > ends:
                    raise
                sleep(_PAUSE)
        connection.execute("BEGIN IMMEDIATE")
        if is_index_empty(connection):
            make_index_schema(connection)
        connection.commit()
