"""The file as a database: connections that are opened when they are needed, and transactions."""

from __future__ import annotations

import json
import os
import secrets
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, closing, contextmanager, suppress
from pathlib import Path
from time import monotonic, sleep
from typing import Any, Final, NamedTuple

from guardgraph.knowledge import database
from guardgraph.plain.errors import ConfigurationError, GuardgraphError, StoreError
from guardgraph.plain.sqlite import SQLITE, LogWatch, identify_file, keep_file_private, make_private_file
from guardgraph.plain.version import BEFORE_FORMATS, FORMAT, find_format_problem, read_package_version
from guardgraph.state.context import Caller

TIMEOUT: Final = 60.0  # seconds for which whoever writes waits for his turn
_CACHE_KIB: Final = 8192  # pages that a connection keeps in memory
_LOG_PAGES: Final = 4000  # from so many on, the log is written into the file, for which whoever writes waits
_LEAST_BYTES: Final = 512  # SQLite's smallest page. What is shorter SQLite takes for empty, and would write over.
_PAUSE: Final = 0.02
_MAKING: Final = 1.0  # seconds after which nobody is making a knowledge base of an empty file any more
_NO_DATABASE: Final = "file is not a database"
_APPLICATION: Final = 0x67676B62  # SQLite's application id of our files: `ggkb`
_BEGINNING_BITS: Final = 48
"""Of the number that a file's changes are counted from, so that no other file, nor this one, has counted from it."""
_STEP_BITS: Final = 24  # of the number that is left out between one change and the next one
_TYPES: Final = {
    "id": "INTEGER PRIMARY KEY", "number": "INTEGER", "text": "TEXT", "bytes": "BLOB", "json": "TEXT",
    "everybody": "INTEGER GENERATED ALWAYS AS (instr(readers, '\"public\"') > 0) VIRTUAL",
}  # fmt: skip
_READ_BY_ALL: Final = "CREATE INDEX for_everybody ON scopes (id) WHERE everybody"


class _Opened(NamedTuple):
    """A connection, and the process and the file that it belongs to."""

    process: int
    file: tuple[int, int] | None
    connection: sqlite3.Connection


class FileConnection:
    """A connection of SQLite's that takes the statements of both databases: a list is one of JSON."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def execute(self, statement: str, values: Sequence[Any] = ()) -> sqlite3.Cursor:
        """As `Connection.execute`."""
        given = [json.dumps(value) if isinstance(value, list) else value for value in values]
        listed = "(SELECT value FROM json_each(?))"
        statement = statement.replace("= ANY (?)", f"IN {listed}").replace("<> ALL (?)", f"NOT IN {listed}")
        return self._connection.execute(statement, given)

    def executemany(self, statement: str, rows: Iterable[Sequence[Any]]) -> None:
        """As `Connection.executemany`."""
        self._connection.executemany(statement, rows)

    def take_numbers(self, count: int) -> list[int]:
        """As `Connection.take_numbers`."""
        # The first is more than the last one by chance: an earlier copy of the file that is put in its place and
        # changed, too, must not come to the same number.
        step = count + secrets.randbits(_STEP_BITS)
        change = "UPDATE state SET value = CAST(value AS INTEGER) + ? WHERE name = 'changes' RETURNING value"
        [(last,)] = self._connection.execute(change, [step]).fetchall()
        return [*range(int(last) - count + 1, int(last) + 1)]


class File(database.KnowledgeDatabase):
    """A knowledge base's file."""

    def __init__(self, path: Path, timeout: float = TIMEOUT, *, to_check: bool = False) -> None:
        self.path = path
        self.shown = str(path)
        self._timeout, self._to_check = timeout, to_check
        self._idle: list[_Opened] = []
        self._was_there = False
        self._watch = LogWatch()
        SQLITE.add_resting(self.close)

    @contextmanager
    def reading_all(self) -> Iterator[FileConnection]:
        """As `KnowledgeDatabase.reading_all`."""
        with self._lend_file_connection() as connection:
            connection.execute("BEGIN")
            try:
                self._check_file_words(connection)
                yield FileConnection(connection)
            finally:
                connection.rollback()

    @contextmanager
    def rebuilding(self) -> Iterator[FileConnection]:
        """As `KnowledgeDatabase.rebuilding`."""
        with self._lend_file_connection() as connection:
            connection.execute("BEGIN IMMEDIATE")
            try:
                self._check_file_words(connection)
                yield FileConnection(connection)
                connection.commit()
            finally:
                if connection.in_transaction:
                    connection.rollback()

    # Connections of a file see all rows, and one writes at a time.

    def reading(self, caller: Caller | None) -> AbstractContextManager[FileConnection]:
        """As `KnowledgeDatabase.reading`."""
        return self.reading_all()

    def reading_tenant(self, tenant: str | None) -> AbstractContextManager[FileConnection]:
        """As `KnowledgeDatabase.reading_tenant`."""
        return self.reading_all()

    def writing(self, tenant: str | None) -> AbstractContextManager[FileConnection]:
        """As `KnowledgeDatabase.writing`."""
        return self.rebuilding()

    def is_writer(self, connection: database.Connection) -> bool:
        """As `KnowledgeDatabase.is_writer`."""
        return True

    def write_for(self, connection: database.Connection, key: str) -> None:
        """As `KnowledgeDatabase.write_for`."""

    def find_damage(self, connection: database.Connection) -> list[str]:
        """As `KnowledgeDatabase.find_damage`."""
        rows = connection.execute("PRAGMA integrity_check").fetchall()
        return [" ".join(str(message).split()) for (message,) in rows if message != "ok"]

    def repair(self, connection: database.Connection) -> None:
        """Make SQLite's own indexes anew where they are damaged, and count changes from where nobody has counted."""
        if self.find_damage(connection):
            connection.execute("REINDEX")
            if damage := self.find_damage(connection):
                raise StoreError(f"{self.shown}: damaged where no index is ({damage[0]}); {_MADE_AGAIN}")
        connection.execute(_COUNTED_FROM, [str(secrets.randbits(_BEGINNING_BITS))])

    def close(self) -> None:
        """As `KnowledgeDatabase.close`."""
        while self._idle:
            opened = self._idle.pop()
            if opened.process == os.getpid():
                opened.connection.close()

    @contextmanager
    def _lend_file_connection(self) -> Iterator[sqlite3.Connection]:
        SQLITE.enter()
        try:
            try:
                self._watch.check_log(self.path, self.close)
            except NotADirectoryError as error:
                raise self._make_unreadable_error(error) from error
            opened = self._take_idle_connection() or self._open_file_connection()
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
            # Errors of its subclasses are no damage: locked, full.
            again = f"; {_MADE_AGAIN}" if self._to_check and type(error) is sqlite3.DatabaseError else ""
            raise StoreError(f"{self.shown}: {error}{again}") from error
        except (ArithmeticError, LookupError, TypeError, ValueError) as error:  # rows that nobody wrote so
            why = f"damaged ({type(error).__name__}); `guardgraph kb check` tells more"
            raise StoreError(f"{self.shown}: {why}") from error
        finally:
            SQLITE.leave()

    def _make_unreadable_error(self, error: OSError) -> ConfigurationError:
        return ConfigurationError(f"{self.shown}: cannot be made or read: {error.strerror}")

    def _make_no_database_error(self) -> ConfigurationError:
        return ConfigurationError(f"{self.shown}: a knowledge base is required; it is no database")

    def _take_idle_connection(self) -> _Opened | None:
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

    def _open_file_connection(self) -> _Opened:
        if self.path.is_dir():
            raise ConfigurationError(f"{self.shown}: the file of a knowledge base is required; it is a folder")
        if self._was_there and not self.path.exists():  # an empty one in its place would answer that there is nothing
            raise StoreError(f"{self.shown}: it was there and is gone; to make another one, open it anew")
        was_there = self.path.exists()
        try:
            make_private_file(self.path)
        except OSError as error:
            raise self._make_unreadable_error(error) from error
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
            if _is_empty_file(connection):
                self._make_file_tables(connection)
            self._check_file_format(connection)
            self._check_file_words(connection)
            keep_file_private(self.path)
            if self._to_check:
                connection.text_factory = lambda text: text.decode(errors="surrogateescape")
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

    def _make_file_tables(self, connection: sqlite3.Connection) -> None:
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
        if _is_empty_file(connection):
            _make_tables(connection)
            connection.execute(f"PRAGMA application_id = {_APPLICATION}")
            connection.execute(f"PRAGMA user_version = {FORMAT}")
        connection.commit()

    def _check_file_format(self, connection: sqlite3.Connection) -> None:
        if _read_number(connection, "application_id") != _APPLICATION:
            raise ConfigurationError(
                f"{self.shown}: a knowledge base is required; it is another application's database"
            )
        number = _read_number(connection, "user_version")
        try:
            row = connection.execute("SELECT value FROM state WHERE name = 'guardgraph'").fetchone()
        except sqlite3.OperationalError:  # its tables are others
            row = None
        # Before 0.14 nothing said it, and there were other formats 1 and 2.
        made_by = row[0] if row else BEFORE_FORMATS if number <= 2 else None
        if (problem := find_format_problem(number, made_by)) is not None:
            raise ConfigurationError(f"{self.shown}: {problem}; `guardgraph kb add` into a new file makes one")

    def _check_file_words(self, connection: sqlite3.Connection) -> None:
        """Refuse words that another version read; it may have rebuilt the file since it was opened."""
        if self._to_check:
            return
        row = connection.execute("SELECT value FROM state WHERE name = 'words'").fetchone()
        if (problem := database.find_words_problem(row and row[0])) is not None:
            advice = f"`guardgraph kb rebuild {self.shown}` reads its texts again"
            raise ConfigurationError(f"{self.shown}: {problem}; {advice}")


_MADE_AGAIN: Final = "`guardgraph kb add` of the same folders into a new file makes it again"
_COUNTED_FROM: Final = "INSERT OR REPLACE INTO state VALUES ('changes', ?)"


def _make_tables(connection: sqlite3.Connection) -> None:
    for statement in [*database.list_table_statements("", _TYPES, behind=" STRICT"), _READ_BY_ALL]:
        connection.execute(statement)
    state = {"guardgraph": read_package_version(), "words": database.name_words_version()}
    connection.executemany("INSERT INTO state VALUES (?, ?)", state.items())
    connection.execute(_COUNTED_FROM, [str(secrets.randbits(_BEGINNING_BITS))])


@contextmanager
def open_scratch_base() -> Iterator[FileConnection]:
    """Yield an empty base that nobody keeps, which SQLite writes into a file only where it is large."""
    with closing(sqlite3.connect("", isolation_level=None)) as connection:
        connection.execute(f"PRAGMA cache_size = -{_CACHE_KIB}")
        connection.execute("PRAGMA journal_mode = OFF")
        connection.execute("BEGIN")
        _make_tables(connection)
        yield FileConnection(connection)


def _is_empty_file(connection: sqlite3.Connection) -> bool:
    has_tables = connection.execute("SELECT 1 FROM sqlite_master").fetchone()
    return _read_number(connection, "application_id") == 0 and not has_tables


def _read_number(connection: sqlite3.Connection, name: str) -> int:
    return int(connection.execute(f"PRAGMA {name}").fetchone()[0])
