"""Appending a run to the chain in the way that is quickest in each kind of database, with the driver itself.

What needs no place in the chain is done before anybody is kept waiting. Behind the lock, SQLite is asked and written to
step by step; PostgreSQL finds the place and hashes the entry by itself, in one statement: others wait there for no more
that goes over the network.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass
from datetime import UTC, datetime
from time import monotonic
from typing import Any

from sqlalchemy import Connection

from guardgraph.evidence.chain import START, build_run_entry_parts, entry_hash, run_entry
from guardgraph.evidence.contents import Lookup, build_run_lookup, content_hash, make_content_salt
from guardgraph.evidence.sql.kinds import begin_sql_transaction
from guardgraph.evidence.sql.line import wait_in_write_line
from guardgraph.evidence.sql.statements import APPEND, CALLER, CONTENT, ENTRY, KEPT, LAST
from guardgraph.evidence.store import Receipt
from guardgraph.plain.hashing import canonical_json
from guardgraph.state.recording import Recording


@dataclass(frozen=True, slots=True)
class NewRun:
    """A run that is to be appended."""

    run_id: str
    content: str
    salt: str
    hash: str
    """The salted hash of the content."""
    found_by: Lookup


def prepare_new_run(recording: Recording) -> NewRun:
    """Return what is kept of a recording."""
    content, salt = canonical_json(recording), make_content_salt()
    return NewRun(recording["run_id"], content, salt, content_hash(salt, content), build_run_lookup(recording))


def read_utc_time() -> str:
    """Return the date and time: UTC, ISO 8601, so that texts are in order as the times are."""
    return datetime.now(UTC).isoformat(timespec="microseconds")


def append_run_entry(connection: Connection, run: NewRun, seconds: float, may: Callable[[], None]) -> Receipt:
    """Append a run in one transaction, unless it is kept already with the same content, and return its receipt.

    Args:
        connection: without a transaction; one that fails here is not to be used any more.
        run: the run.
        seconds: for which others may be in the way.
        may: raises where nobody waits for the receipt any more.
    """
    driver: Any = connection.connection.driver_connection
    sqlite = connection.dialect.name == "sqlite"
    began = monotonic()
    # the other half is for what SQLite says
    with wait_in_write_line(connection, seconds / 2) if sqlite else nullcontext():
        begin_sql_transaction(connection, seconds - (monotonic() - began), "append")
        may()  # a server that hung has answered now, before there is anything to commit
        seq, mark = (_append_in_sqlite if sqlite else _append_in_postgres)(connection, run)
        may()
        driver.execute("COMMIT")
    return {"seq": seq, "hash": mark}


def _append_in_sqlite(connection: Connection, run: NewRun) -> tuple[int, str]:
    kept: tuple[int, str] | None = KEPT.execute_statement(connection, run_id=run.run_id, content=run.content).fetchone()
    if kept is not None:
        return kept
    last, previous = LAST.execute_statement(connection).fetchone() or (0, START)
    seq, at = last + 1, read_utc_time()
    text = run_entry(seq, previous, at, run_id=run.run_id, content=run.hash)
    mark = entry_hash(text)
    ENTRY.execute_statement(connection, seq=seq, hash=mark, at=at, run_id=run.run_id, entry=text)
    CONTENT.execute_statement(connection, seq=seq, pattern=run.found_by.pattern, salt=run.salt, content=run.content)
    for tenant, user in run.found_by.callers:
        CALLER.execute_statement(connection, seq=seq, tenant=tenant, user=user)
    return seq, mark


def _append_in_postgres(connection: Connection, run: NewRun) -> tuple[int, str]:
    at, callers = read_utc_time(), run.found_by.callers
    before, between, behind = build_run_entry_parts(at, run_id=run.run_id, content=run.hash)
    made: tuple[int, str] = APPEND.execute_statement(
        connection,
        run_id=run.run_id,
        content=run.content,
        at=at,
        before=before,
        between=between,
        behind=behind,
        pattern=run.found_by.pattern,
        salt=run.salt,
        tenants=[tenant for tenant, _ in callers],
        users=[user for _, user in callers],
    ).fetchone()
    return made
