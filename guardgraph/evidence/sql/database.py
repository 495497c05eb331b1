"""The database of a store: connections that are opened when they are needed, and transactions that end in time."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from time import monotonic, sleep
from typing import TYPE_CHECKING, TypeAlias, TypeVar
from weakref import WeakSet, finalize

from guardgraph.evidence.sql.address import Address
from guardgraph.evidence.sql.transaction import Mode, Transaction
from guardgraph.plain.errors import ConfigurationError, StoreError
from guardgraph.plain.files import identify_file, keep_file_private, make_private_file

if TYPE_CHECKING:
    from sqlalchemy import Connection, Engine

    from guardgraph.evidence.sql.writing import NewRun, NewStep
    from guardgraph.evidence.store import Receipt


T = TypeVar("T")

Engines: TypeAlias = "dict[tuple[int, tuple[int, int] | None], Engine]"
"""By process and, of SQLite, by file."""

_INHERITED: list[Engine] = []
"""Engines of the process that this one was forked from: to close their connections would close them there."""

PAUSE = 0.02
"""Seconds between two attempts at what others are in the way of."""


class Database:
    """Where a store is kept.

    Args:
        address: where it is.
        timeout: seconds after which whoever waits for the database is let go.
    """

    def __init__(self, address: Address, timeout: float) -> None:
        self.address = address
        self.timeout = timeout
        self._engines: Engines = {}
        self.checked: WeakSet[Engine] = WeakSet()
        """Engines of databases that are known to be stores."""
        finalize(self, _dispose_engines, self._engines)

    def run_transaction(self, work: Callable[[Connection], T], mode: Mode = "read") -> T:
        """Do some work in a transaction, and return its result once that is committed.

        Raises:
            StoreError: it was not done, or not in time; nothing was acknowledged.
            ConfigurationError: the database is no store of this version.
        """
        return Transaction(self, mode).run_in_one_step(work)

    def append_entry(self, new: NewRun | NewStep) -> Receipt:
        """Append a run, or a step of an open one, in a transaction of its own; return its receipt once it is committed.

        Raises:
            StoreError: as `run_transaction`.
            ConfigurationError: as `run_transaction`.
        """
        return Transaction(self, "append").append_entry(new)

    @contextmanager
    def begin_stepwise_transaction(self, mode: Mode = "read") -> Iterator[Transaction]:
        """Yield a transaction whose `step` does work, each step in time; it is committed where the block ends.

        Raises:
            StoreError: as `run_transaction`.
            ConfigurationError: as `run_transaction`.
        """
        transaction = Transaction(self, mode)
        transaction.begin()
        try:
            yield transaction
        except BaseException:
            transaction.end(commit=False)
            raise
        transaction.end(commit=True)

    def close_engines(self) -> None:
        """Close the connections that nobody is using; others are opened when they are needed."""
        _dispose_engines(self._engines)

    def empty_sqlite_log(self) -> None:
        """Move what SQLite's log holds into the database, and cut the log to nothing: it has what was erased.

        Raises:
            StoreError: others were reading for longer than the timeout.
        """
        if self.address.file is None:
            return
        ends = monotonic() + self.timeout
        while self.run_transaction(_truncate_sqlite_log, "bare"):
            if monotonic() > ends:
                raise StoreError(
                    f"{self.address.shown}: erased, but its log still has what was erased, since others are reading; "
                    "erase once more"
                )
            sleep(PAUSE)

    def get_database_engine(self, *, makes: bool) -> Engine:
        """Return the engine of this process for the database that is there now.

        A connection is never taken into another process, nor kept where another file took the place of its own.
        """
        found = None if self.address.file is None else identify_file(self.address.file)
        known = self._engines.get((os.getpid(), found))
        if known is None:
            return self._open_database_engine(makes=makes)
        if makes:
            self.keep_database_private(known)
        return known

    def _open_database_engine(self, *, makes: bool) -> Engine:
        from guardgraph.evidence.sql.kinds import create_store_engine
        from guardgraph.evidence.sql.schema import Missing

        url, found = self.address.url, None
        if self.address.file is not None:
            file = Path(os.path.realpath(self.address.file))  # beside which SQLite has its log
            if makes:
                make_private_file(file)
            if (found := identify_file(file)) is None:
                raise Missing(f"{self.address.shown}: there is no such file; nothing was recorded yet")
            url = url.set(database=str(file))
        _dispose_engines(self._engines)
        try:
            return self._engines.setdefault((os.getpid(), found), create_store_engine(url, self.timeout))
        except ImportError as error:
            raise ConfigurationError(
                f"url: guardgraph's extra `postgres` is required, as in pip install '.[postgres]' ({error})"
            ) from error

    def keep_database_private(self, engine: Engine) -> None:
        """Take from others what rights they have of the file, where it is known to be a store: another's is let be."""
        if self.address.file is not None and engine in self.checked:
            keep_file_private(Path(str(engine.url.database)))


def _dispose_engines(engines: Engines) -> None:
    """Close the connections of this process; what another one opened stays as it is, and is kept from being closed."""
    for key in list(engines):
        if (engine := engines.pop(key, None)) is not None:
            if key[0] == os.getpid():
                engine.dispose()
            else:
                _INHERITED.append(engine)


def _truncate_sqlite_log(connection: Connection) -> bool:
    """Say whether others were in the way of emptying the log."""
    from guardgraph.evidence.sql.kinds import set_sqlite_patience

    set_sqlite_patience(connection, 0.0)  # whoever calls tries again
    busy, _, _ = connection.exec_driver_sql("PRAGMA wal_checkpoint(TRUNCATE)").one()
    return bool(busy)
