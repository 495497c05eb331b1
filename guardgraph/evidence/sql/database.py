"""The database of a store: connections opened when they are needed, transactions that end in time, their errors."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from pathlib import Path
from threading import Lock
from time import monotonic, sleep
from typing import Any, TypeAlias, TypeVar
from urllib.parse import parse_qsl, quote
from weakref import WeakSet, finalize

from sqlalchemy import Connection, Engine
from sqlalchemy.exc import DBAPIError, SQLAlchemyError

from guardgraph.evidence.sql import tables, writing
from guardgraph.evidence.sql.kinds import Address, Mode, begin_sql_transaction, create_store_engine, set_sqlite_patience
from guardgraph.evidence.store import Receipt
from guardgraph.plain.errors import ConfigurationError, GuardgraphError, StoreError
from guardgraph.plain.extras import explain_extra
from guardgraph.plain.sqlite import LOGS, SQLITE, LogWatch, identify_file, keep_file_private, make_private_file
from guardgraph.world.deadline import start_thread_work

T = TypeVar("T")

Engines: TypeAlias = "dict[tuple[int, tuple[int, int] | None, str], Engine]"
"""By process and, of SQLite, by file and by how it is opened."""

_INHERITED: list[Engine] = []
"""Engines of the process that this one was forked from: to close their connections would close them there."""

PAUSE = 0.02  # seconds between two attempts at what others are in the way of
CHARS = 300  # characters of what a database says
NO_DATABASE = ("file is not a database", "file is encrypted")
BUSY = ("database is locked", "lock timeout", "LockNotAvailable")


class StoreDatabase:
    """Where a store is kept."""

    def __init__(self, address: Address, timeout: float) -> None:
        self.address = address
        self.timeout = timeout
        self._engines: Engines = {}
        # Of two engines made at once one would be disposed of with a connection in use, which no fork closes.
        self._opening = Lock()
        self.watch = LogWatch()
        self.checked: WeakSet[Engine] = WeakSet()  # engines of databases that are known to be stores
        finalize(self, _dispose_engines, self._engines)
        if address.file is not None:
            SQLITE.add_resting(self.close_engines)

    def run_transaction(self, work: Callable[[Connection], T], mode: Mode = "read") -> T:
        """Do some work in a transaction, and return its result once that is committed."""
        return Transaction(self, mode).run_in_one_step(work)

    def append_entry(self, new: writing.NewRun | writing.NewStep) -> Receipt:
        """Append a run, or a step of an open one; return its receipt. The store is made where there is none."""
        return self.run_transaction(lambda connection: writing.append_new_entry(connection, new), "append")

    @contextmanager
    def begin_stepwise_transaction(self, mode: Mode = "read") -> Iterator[Transaction]:
        """Yield a transaction whose `step` does work, each step in time; it is committed where the block ends."""
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
        """Move what SQLite's log holds into the database, and cut the log to nothing: it has what was erased."""
        if self.address.file is None:
            return

        def is_truncation_hindered(connection: Connection) -> bool:
            set_sqlite_patience(connection, 0.0)  # it is tried again here
            busy, _, _ = connection.exec_driver_sql("PRAGMA wal_checkpoint(TRUNCATE)").one()
            return bool(busy)

        ends = monotonic() + self.timeout
        while self.run_transaction(is_truncation_hindered, "bare"):
            if monotonic() > ends:
                raise StoreError(
                    f"{self.address.shown}: erased, but its log still has what was erased, since others are reading; "
                    "erase once more"
                )
            sleep(PAUSE)

    def get_database_engine(self, *, makes: bool) -> Engine:
        """Return the engine of this process for the database that is there now."""
        # A connection is never taken into another process, nor kept where another file took the place of its own.
        file = self.address.file
        with self._opening:
            found = None if file is None else self.watch.check_log(file, self.close_engines)
            way = "" if file is None or makes or found is None else choose_sqlite_way(file)
            known = self._engines.get((os.getpid(), found, way))
            if known is None:
                return self._open_database_engine(makes=makes)
        if makes:
            self.keep_database_private(known)
        return known

    def _open_database_engine(self, *, makes: bool) -> Engine:
        url, found, way = self.address.url, None, ""
        if self.address.file is not None:
            file = Path(os.path.realpath(self.address.file))  # beside which SQLite has its log
            if makes:
                make_private_file(file)
            if (found := identify_file(file)) is None:
                raise tables.Missing(f"{self.address.shown}: there is no such file; nothing was recorded yet")
            url = url.set(database=str(file))
            if way := "" if makes else choose_sqlite_way(file):
                query = dict(parse_qsl(f"{way}&uri=true"))
                url = url.set(database=f"file:{quote(str(file))}", query=query)
        _dispose_engines(self._engines)
        try:
            engine = self._engines[os.getpid(), found, way] = create_store_engine(url, self.timeout)
            return engine
        except ImportError as error:
            raise ConfigurationError(f"url: {explain_extra('postgres')} ({error})") from error

    def keep_database_private(self, engine: Engine) -> None:
        """Take from others what rights they have of the file, where it is known to be a store: another's is let be."""
        if self.address.file is not None and engine in self.checked:
            keep_file_private(str(engine.url.database))


def choose_sqlite_way(file: Path) -> str:
    """Return how a file is opened to be read: as it is, or as one that nobody here may write."""
    name = os.path.realpath(file)
    if os.access(name, os.W_OK) and os.access(os.path.dirname(name), os.W_OK):
        return ""
    log = name + LOGS[0]
    if not os.path.exists(log):  # and so nobody writes
        return "mode=ro&immutable=1"
    if unread := next((each for each in (name + ending for ending in LOGS) if not os.access(each, os.R_OK)), None):
        raise StoreError(
            f"{name}: its log, {os.path.basename(unread)}, cannot be read by this user; it needs the right to, or the "
            "store has to be closed"
        )
    return "mode=ro"


def _dispose_engines(engines: Engines) -> None:
    """Close the connections of this process; what another one opened stays as it is, and is kept from being closed."""
    for key in list(engines):
        if (engine := engines.pop(key, None)) is not None:
            if key[0] == os.getpid():
                engine.dispose()
            else:
                _INHERITED.append(engine)


class Transaction:
    """A transaction of a database. A thread that hangs in it ends it when it comes back, without a commit."""

    def __init__(self, database: StoreDatabase, mode: Mode) -> None:
        self._database = database
        self._mode = mode
        self._connection: Connection | None = None
        self._line = ExitStack()  # leaves the line of the writers of a file
        self._lock = Lock()
        self._busy = False
        self._left = False
        self._is_first = False  # whether the database was not known to be a store before

    def run_in_one_step(self, work: Callable[[Connection], T]) -> T:
        """Do all of it in one step, from begin to end."""
        return self._run_within_timeout(partial(self._run_whole_transaction, work))

    def begin(self) -> None:
        """Begin it, in what is a store still: somebody may have put a trigger there since it was opened."""
        self._run_within_timeout(partial(self._begin_transaction, looks=True))

    def run_step(self, work: Callable[[Connection], T]) -> T:
        """Do some work in it."""
        return self._run_within_timeout(lambda: work(self._open_connection))

    def end(self, *, commit: bool) -> None:
        """End it; nothing is left to do where it was left behind."""
        if not self._left:
            self._run_within_timeout(partial(self._end_transaction, commit=commit))

    @property
    def _open_connection(self) -> Connection:
        if self._connection is None:
            raise StoreError(f"{self._database.address.shown}: the transaction is over")
        return self._connection

    def _run_whole_transaction(self, work: Callable[[Connection], T]) -> T:
        self._begin_transaction()
        try:
            made = work(self._open_connection)
        except BaseException:
            with suppress(Exception):  # what went wrong first is what is told
                self._end_transaction(commit=False)
            raise
        self._end_transaction(commit=True)
        return made

    def _connect_to_store(self, engine: Engine) -> Connection:
        """Open the connection; of SQLite, no fork comes in between until it is closed."""
        if self._database.address.file is None:
            self._connection = engine.connect()
            return self._connection
        SQLITE.enter(waits=False)
        try:
            self._connection = engine.connect()
        except BaseException:
            SQLITE.leave()
            raise
        return self._connection

    def _close_connection(self, *steps: Callable[[], None]) -> None:
        """Leave the line of writers, and take the steps, whatever goes wrong in between."""
        with ExitStack() as closing:
            if (file := self._database.address.file) is not None:
                closing.callback(SQLITE.leave)
                closing.callback(self._database.watch.note_log, file)
            for step in reversed(steps):
                closing.callback(step)
            self._line.close()

    def _begin_transaction(self, *, looks: bool = False) -> None:
        database = self._database
        engine = database.get_database_engine(makes=self._mode == "append")
        connection, seconds = self._connect_to_store(engine), database.timeout
        try:
            if self._mode == "append" and database.address.file is not None:
                began = monotonic()  # half of the time is for what SQLite says
                self._line.enter_context(writing.wait_in_write_line(connection, seconds / 2))
                seconds -= monotonic() - began
            begin_sql_transaction(connection, seconds, self._mode)
            if looks or engine not in database.checked:
                check = tables.prepare_store_schema if self._mode == "append" else tables.check_store_schema
                check(connection, database.address.shown)
                self._is_first = engine not in database.checked
                database.checked.add(engine)
                if self._mode == "append":
                    database.keep_database_private(engine)
        except BaseException:
            self._discard_connection()
            raise

    def _end_transaction(self, *, commit: bool) -> None:
        connection, self._connection = self._open_connection, None
        if self._is_first and (not commit or self._left):  # tables that it made are gone with it
            self._database.checked.discard(connection.engine)
        try:
            if self._mode != "bare":
                driver: Any = connection.connection.driver_connection
                driver.execute("COMMIT" if commit and not self._left else "ROLLBACK")
        except BaseException:
            self._connection = connection
            self._discard_connection()
            raise
        self._close_connection(connection.close)

    def _run_within_timeout(self, work: Callable[[], T]) -> T:
        """Do work in a thread, and wait for it for as long as the database may take."""
        seconds = self._database.timeout
        self._busy = True
        try:
            came = start_thread_work(partial(self._run_work_in_thread, work)).wait(seconds)
        except BaseException:  # an interrupt of whoever waits
            self._abandon_transaction()
            raise
        if came is None:
            self._abandon_transaction()
            raise StoreError(f"{self._database.address.shown}: no answer within {seconds:g} seconds")
        result, error = came
        if error is not None:
            raise convert_database_error(error, self._database.address)
        made: T = result
        return made

    def _run_work_in_thread(self, work: Callable[[], Any]) -> Any:
        is_file = self._database.address.file is not None
        if is_file:  # a child could not load a module which a thread is loading that it does not have
            SQLITE.enter(waits=self._connection is None)
        try:
            return work()
        finally:
            with self._lock:
                self._busy = False
                left = self._left
            if left:
                self._discard_connection()
            if is_file:
                SQLITE.leave()

    def _abandon_transaction(self) -> None:
        with self._lock:
            self._left = True
            busy = self._busy
        if not busy:  # it came back in this very moment
            self._discard_connection()

    def _discard_connection(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            if self._is_first:
                self._database.checked.discard(connection.engine)
            with suppress(Exception):  # a new one says more than one that is broken
                self._close_connection(connection.invalidate, connection.close)


def convert_database_error(error: BaseException, address: Address) -> BaseException:
    """Return the error that a caller gets; one that is none of a database stays what it is."""
    if isinstance(error, GuardgraphError):
        return error
    driver = address.url.get_dialect().import_dbapi()
    odd = OverflowError | UnicodeDecodeError  # a number that SQLite has not, a message that repeats what was damaged
    if not isinstance(error, SQLAlchemyError | OSError | odd | driver.Error):
        return error
    own = error.orig if isinstance(error, DBAPIError) else error
    # What it says first: behind that, PostgreSQL shows rows and statements.
    line = " ".join((getattr(getattr(own, "diag", None), "message_primary", None) or str(own)).split())
    if address.url.password:  # no database repeats it, as far as anybody knows
        line = line.replace(str(address.url.password), "***")
    line = line[:CHARS]
    if any(words in line for words in NO_DATABASE):
        made: GuardgraphError = ConfigurationError(f"{address.shown}: an SQLite database is required; {line}")
    elif any(words in line for words in BUSY):
        made = StoreError(f"{address.shown}: others kept it busy for as long as the timeout allows ({line})")
    else:
        made = StoreError(f"{address.shown}: {line}")
    made.__suppress_context__ = True
    return made
