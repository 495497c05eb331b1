"""One transaction, worked on by threads that are left behind when the database does not answer in time.

What a database's errors say is told in one line without a statement, a value or a password.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from functools import partial
from threading import Lock
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypeVar

from guardgraph.evidence.sql.address import Address
from guardgraph.plain.errors import ConfigurationError, GuardgraphError, StoreError
from guardgraph.world.threads import Handover, start_thread_work

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from guardgraph.evidence.sql.database import Database
    from guardgraph.evidence.sql.writing import NewRun, NewStep
    from guardgraph.evidence.store import Receipt

CHARS = 300
"""Characters of what a database says."""
NO_DATABASE = ("file is not a database", "file is encrypted")
BUSY = ("database is locked", "lock timeout", "LockNotAvailable")


def convert_database_error(error: BaseException, address: Address) -> BaseException:
    """Return the error that a caller gets; one that is none of a database stays what it is."""
    from sqlalchemy.exc import DBAPIError, SQLAlchemyError

    if isinstance(error, GuardgraphError):
        return error
    driver = address.url.get_dialect().import_dbapi()
    odd = OverflowError | UnicodeDecodeError  # a number that SQLite has not, a message that repeats what was damaged
    if not isinstance(error, SQLAlchemyError | OSError | odd | driver.Error):
        return error
    line = _format_database_error(
        _get_database_message(error.orig if isinstance(error, DBAPIError) else error), address
    )
    if any(words in line for words in NO_DATABASE):
        made: GuardgraphError = ConfigurationError(f"{address.shown}: an SQLite database is required; {line}")
    elif any(words in line for words in BUSY):
        made = StoreError(f"{address.shown}: others kept it busy for as long as the timeout allows ({line})")
    else:
        made = StoreError(f"{address.shown}: {line}")
    made.__suppress_context__ = True
    return made


def _get_database_message(error: object) -> str:
    """Return what a database says first: behind that, PostgreSQL shows rows and statements."""
    return getattr(getattr(error, "diag", None), "message_primary", None) or str(error)


def _format_database_error(said: str, address: Address) -> str:
    line = " ".join(said.split())
    if address.url.password:  # no database repeats it, as far as anybody knows
        line = line.replace(str(address.url.password), "***")
    return line[:CHARS]


T = TypeVar("T")

Mode: TypeAlias = Literal["read", "append", "change", "bare"]
"""Reads one state of a store; appends to a store, making one where there is none; changes one that there is; or does
without a transaction."""


class Transaction:
    """A transaction of a database. A thread that hangs in it ends it when it comes back, without a commit.

    Args:
        database: whose it is.
        mode: what is done in it.
    """

    def __init__(self, database: Database, mode: Mode) -> None:
        self._database = database
        self._mode = mode
        self._connection: Connection | None = None
        self._lock = Lock()
        self._busy = False
        self._left = False

    def run_in_one_step(self, work: Callable[[Connection], T]) -> T:
        """Do all of it in one step, from begin to end."""
        return self._run_within_timeout(partial(self._run_whole, work))

    def append_entry(self, new: NewRun | NewStep) -> Receipt:
        """Append a run, or a step of an open one, to the store, which is made where there is none, in one step."""
        return self._run_within_timeout(partial(self._append_entry, new))

    def begin(self) -> None:
        """Begin it, in what is a store still: somebody may have put a trigger there since it was opened."""
        self._run_within_timeout(partial(self._begin, looks=True))

    def run_step(self, work: Callable[[Connection], T]) -> T:
        """Do some work in it."""
        return self._run_within_timeout(lambda: work(self._open_connection))

    def end(self, *, commit: bool) -> None:
        """End it; nothing is left to do where it was left behind."""
        if not self._left:
            self._run_within_timeout(partial(self._end, commit=commit))

    @property
    def _open_connection(self) -> Connection:
        if self._connection is None:
            raise StoreError(f"{self._database.address.shown}: the transaction is over")
        return self._connection

    def _run_whole(self, work: Callable[[Connection], T]) -> T:
        self._begin()
        try:
            made = work(self._open_connection)
        except BaseException:
            with suppress(Exception):  # what went wrong first is what is told
                self._end(commit=False)
            raise
        self._end(commit=True)
        return made

    def _append_entry(self, new: NewRun | NewStep) -> Receipt:
        from guardgraph.evidence.sql.writing import append_new_entry

        database = self._database
        engine = database.get_database_engine(makes=True)
        if engine not in database.checked:
            self._run_whole(lambda connection: None)
        self._connection = connection = engine.connect()
        try:
            receipt = append_new_entry(connection, new, database.timeout, self._check_still_wanted)
        except BaseException:
            self._discard_connection()
            raise
        self._connection = None
        connection.close()
        return receipt

    def _check_still_wanted(self) -> None:
        """Raise where nobody waits any longer."""
        if self._left:
            raise StoreError(f"{self._database.address.shown}: nobody waits for it any longer")

    def _begin(self, *, looks: bool = False) -> None:
        from guardgraph.evidence.sql import schema
        from guardgraph.evidence.sql.kinds import begin_sql_transaction
        from guardgraph.evidence.sql.tables import VERSION

        database = self._database
        engine = database.get_database_engine(makes=self._mode == "append")
        self._connection = engine.connect()
        try:
            begin_sql_transaction(self._connection, database.timeout, self._mode)
            self._connection.info.pop(schema.FOUND, None)
            if looks or engine not in database.checked:
                found = {"append": schema.prepare_store_schema, "change": schema.upgrade_store_schema}.get(
                    self._mode, schema.check_store_schema
                )(self._connection, database.address.shown)
                if found == VERSION:
                    database.checked.add(engine)
                else:  # somebody may make it one of this version at any time
                    self._connection.info[schema.FOUND] = found
                if self._mode == "append":
                    database.keep_database_private(engine)
        except BaseException:
            self._discard_connection()
            raise

    def _end(self, *, commit: bool) -> None:
        connection, self._connection = self._open_connection, None
        try:
            if self._mode != "bare":
                connection.exec_driver_sql("COMMIT" if commit and not self._left else "ROLLBACK")
        except BaseException:
            self._connection = connection
            self._discard_connection()
            raise
        connection.close()

    def _run_within_timeout(self, work: Callable[[], T]) -> T:
        """Do work in a thread, and wait for it for as long as the database may take.

        Raises:
            StoreError: it took longer, or the database said no.
        """
        seconds = self._database.timeout
        done = Handover()
        self._busy = True
        try:
            start_thread_work(partial(self._run_in_thread, work), done)
            came = done.wait_for_result(seconds)
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

    def _run_in_thread(self, work: Callable[[], Any]) -> Any:
        try:
            return work()
        finally:
            with self._lock:
                self._busy = False
                left = self._left
            if left:
                self._discard_connection()

    def _abandon_transaction(self) -> None:
        with self._lock:
            self._left = True
            busy = self._busy
        if not busy:  # it came back in this very moment
            self._discard_connection()

    def _discard_connection(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            for undo in (connection.invalidate, connection.close):  # a new one says more than one that is broken
                with suppress(Exception):
                    undo()
