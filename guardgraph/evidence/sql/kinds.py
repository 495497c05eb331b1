"""What the two kinds of databases do in their own ways: how they are opened, and how a transaction begins."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import partial
from math import ceil
from pathlib import Path
from random import uniform
from time import monotonic, sleep
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from guardgraph.plain.errors import ConfigurationError
from guardgraph.plain.extras import explain_extra

if TYPE_CHECKING:
    from sqlalchemy import URL, Connection, Engine


ALLOWED = "sqlite:///FILE or postgresql+psycopg://USER:PASSWORD@HOST/DATABASE"
DRIVERS = {"sqlite": "sqlite+pysqlite", "postgresql": "postgresql+psycopg"}  # what a URL means that names no driver
NEVER = "none"  # as ``prepare_threshold``: no statement is prepared on the server


@dataclass(frozen=True, slots=True)
class Address:
    """A checked URL."""

    url: URL = field(repr=False)
    shown: str  # the URL for messages: without a password, and without options, which may hold one
    file: Path | None  # the file of an SQLite database; None for a server


def parse_store_address(given: object) -> Address:
    """Return where a store is. A relative file is taken from the current folder of this moment."""
    try:
        from sqlalchemy import make_url
        from sqlalchemy.exc import ArgumentError
    except ImportError as error:
        raise ConfigurationError(f"sql_store: {explain_extra('audit')} ({error})") from error
    if not isinstance(given, str):
        raise ConfigurationError(f"url: a text, {ALLOWED}, is required; given: {type(given).__name__}")
    try:
        given.encode()  # the driver does so later, and says nothing of the URL
        url = make_url(given)
    except (ArgumentError, ValueError):  # whose messages repeat the URL, and with it a password
        raise ConfigurationError(f"url: {ALLOWED} is required; what was given is no URL") from None
    if (driver := DRIVERS.get(url.drivername, url.drivername)) not in DRIVERS.values():
        raise ConfigurationError(f"url: {ALLOWED} is required; given: one that begins with {url.drivername!r:.80}")
    if driver.startswith("sqlite"):
        database = url.database or ""
        if url.host or url.query or database in ("", ":memory:") or database.startswith("file:") or "\0" in database:
            raise ConfigurationError("url: of SQLite, sqlite:///FILE is required: a file, and no options")
        url = url.set(database=str(Path(database).absolute()))
    elif not re.fullmatch(f"{NEVER}|[1-9][0-9]{{0,8}}", str(url.query.get("prepare_threshold", NEVER))):
        raise ConfigurationError(f"url: prepare_threshold: a whole number from 1 on or {NEVER} is required")
    shown = url.set(query={}).render_as_string(hide_password=True)
    file = Path(url.database) if driver.startswith("sqlite") and url.database else None
    return Address(url.set(drivername=driver), shown, file)


Mode: TypeAlias = Literal["read", "append", "change", "bare"]
"""Reads one state of a store; appends to a store, making one where there is none; changes one that there is; or does
without a transaction."""

PATIENCE = 0.9
"""The share of a timeout after which the database itself gives up: it can say what it waited for, a deadline cannot."""
PAUSES = (0.001, 0.005)  # seconds between two attempts at SQLite's lock, at random
_TEXT = partial(str, encoding="utf-8", errors="surrogateescape")
"""Reads a text that is no UTF-8 any more, for its hash to show it: one run that was damaged hides no other."""
_LOGGED = "guardgraph writes ahead"
_PATIENCE = "guardgraph waits"
_SINCE_17 = "WHERE current_setting('server_version_num')::int >= 170000"
"""Where PostgreSQL has a limit to a whole transaction."""
_LOCKED = "SELECT pg_advisory_xact_lock(7305437213966884212)"
"""Takes PostgreSQL's lock of the writers of a store: any number, as long as it stays."""


def create_store_engine(url: URL, seconds: float) -> Engine:
    """Return an engine that opens connections when needed, with no transaction but of `begin_sql_transaction`."""
    from sqlalchemy import create_engine, event

    sqlite = url.get_backend_name() == "sqlite"
    made = create_engine(
        url,
        isolation_level="AUTOCOMMIT",
        hide_parameters=True,  # they hold what was recorded
        paramstyle="named" if sqlite else None,  # so that each kind of database takes parameters by name
        pool_timeout=seconds * PATIENCE,
        pool_reset_on_return=None,  # whoever gives one back has ended the transaction
        connect_args={"timeout": seconds * PATIENCE} if sqlite else _get_postgres_options(url, seconds),
    )
    if sqlite:
        event.listen(made, "connect", _configure_sqlite_connection)
    else:
        event.listen(made, "checkout", _check_postgres_connection)
    return made


def _get_postgres_options(url: URL, seconds: float) -> dict[str, Any]:
    """Return what PostgreSQL's driver is given beside the URL."""
    options: dict[str, Any] = {"client_encoding": "utf8"}  # whatever the database itself is in
    if "connect_timeout" not in url.query:
        options["connect_timeout"] = max(2, ceil(seconds))
    if (threshold := url.query.get("prepare_threshold")) is not None:  # of which the driver takes no text
        options["prepare_threshold"] = None if threshold == NEVER else int(str(threshold))
    return options


def _configure_sqlite_connection(connection: Any, record: Any) -> None:
    connection.text_factory = _TEXT
    connection.execute("PRAGMA synchronous = FULL")  # what is committed survives a loss of power
    connection.execute("PRAGMA secure_delete = ON")  # what is deleted is overwritten


def _check_postgres_connection(connection: Any, record: Any, pooled: Any) -> None:
    """Refuse a connection that the server has closed meanwhile: it has said so, and nobody need ask it."""
    from sqlalchemy.exc import DisconnectionError

    try:
        for _ in range(2):  # what it said, and that there is no more
            connection.pgconn.consume_input()
    except connection.Error as error:
        raise DisconnectionError(str(error)) from error


def begin_sql_transaction(connection: Connection, seconds: float, mode: Mode) -> None:
    """Begin a transaction: of a reader on one state of the database, of a writer when no other one writes."""
    if mode == "bare":
        return
    driver: Any = connection.connection.driver_connection
    writes = mode != "read"
    if connection.dialect.name != "sqlite":
        limit = int(seconds * PATIENCE * 1000)
        reading = ["BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY", f"SET LOCAL statement_timeout = {limit}"]
        driver.execute("; ".join(_build_postgres_writer_sql(limit, mode) if writes else reading))
    elif writes:
        _begin_sqlite_writing(connection, driver, seconds)
    else:
        set_sqlite_patience(connection, seconds * PATIENCE)
        driver.execute("BEGIN")


def set_sqlite_patience(connection: Connection, seconds: float) -> None:
    """Let SQLite itself wait for so long for what others lock, from here on."""
    if connection.info.get(_PATIENCE) != seconds:
        connection.exec_driver_sql(f"PRAGMA busy_timeout = {int(seconds * 1000)}")
        connection.info[_PATIENCE] = seconds


def _begin_sqlite_writing(connection: Connection, driver: Any, seconds: float) -> None:
    """Take SQLite's lock, trying often: its own way of waiting sleeps ever longer while the lock is free."""
    from sqlite3 import OperationalError

    set_sqlite_patience(connection, 0.0)
    ends = monotonic() + seconds * PATIENCE
    while True:
        try:
            if not connection.info.get(_LOGGED):  # of several that begin at once, SQLite refuses some without waiting
                driver.execute("PRAGMA journal_mode = WAL")  # a writer holds no reader up
                connection.info[_LOGGED] = True
            driver.execute("BEGIN IMMEDIATE")
            return
        except OperationalError as error:
            if "locked" not in str(error) or monotonic() > ends:
                raise
        sleep(uniform(*PAUSES))


def _build_postgres_writer_sql(limit: int, mode: Mode) -> list[str]:
    """Return what begins a transaction of a PostgreSQL writer, so that it waits for nothing longer than it may."""
    return [
        "BEGIN ISOLATION LEVEL READ COMMITTED",  # so that what is read behind the lock is the latest
        f"SET LOCAL statement_timeout = {limit}",
        f"SET LOCAL lock_timeout = {int(limit * PATIENCE)}",  # the first of the two to end says what it waited for
        f"SET LOCAL idle_in_transaction_session_timeout = {2 * limit}",  # a writer that hangs stops nobody else
        # Nor does one that hangs in the middle of a statement, which is not idle; no other than appending is so short.
        *([f"SELECT set_config('transaction_timeout', '{2 * limit}', true) {_SINCE_17}"] if mode == "append" else []),
        # A commit that is acknowledged is on disk, whatever the server does for others.
        "SELECT set_config('synchronous_commit', 'on', true) WHERE current_setting('synchronous_commit') = 'off'",
        _LOCKED,
    ]
