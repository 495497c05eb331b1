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

from guardgraph.evidence.chain import START, around_run, entry_hash, run_entry
from guardgraph.evidence.contents import Lookup, content_hash, lookup, new_salt
from guardgraph.evidence.sql.kinds import begin
from guardgraph.evidence.sql.line import in_line
from guardgraph.evidence.sql.statements import APPEND, CALLER, CONTENT, ENTRY, KEPT, LAST
from guardgraph.evidence.store import Receipt
from guardgraph.plain.hashing import canonical_json
from guardgraph.state.recording import Recording

__all__ = ["NewRun", "append", "new_run", "now"]


@dataclass(frozen=True, slots=True)
class NewRun:
    """A run that is to be appended."""

    run_id: str
    content: str
    salt: str
    hash: str
    """The salted hash of the content."""
    found_by: Lookup


def new_run(recording: Recording) -> NewRun:
    """Return what is kept of a recording."""
    content, salt = canonical_json(recording), new_salt()
    return NewRun(recording["run_id"], content, salt, content_hash(salt, content), lookup(recording))


def now() -> str:
    """Return the date and time: UTC, ISO 8601, so that texts are in order as the times are."""
    return datetime.now(UTC).isoformat(timespec="microseconds")


def append(connection: Connection, run: NewRun, seconds: float, may: Callable[[], None]) -> Receipt:
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
    with in_line(connection, seconds / 2) if sqlite else nullcontext():  # the other half is for what SQLite says
        begin(connection, seconds - (monotonic() - began), "append")
        may()  # a server that hung has answered now, before there is anything to commit
        seq, mark = (_in_sqlite if sqlite else _in_postgres)(connection, run)
        may()
        driver.execute("COMMIT")
    return {"seq": seq, "hash": mark}


def _in_sqlite(connection: Connection, run: NewRun) -> tuple[int, str]:
    kept: tuple[int, str] | None = KEPT.run(connection, run_id=run.run_id, content=run.content).fetchone()
    if kept is not None:
        return kept
    last, previous = LAST.run(connection).fetchone() or (0, START)
    seq, at = last + 1, now()
    text = run_entry(seq, previous, at, run_id=run.run_id, content=run.hash)
    mark = entry_hash(text)
    ENTRY.run(connection, seq=seq, hash=mark, at=at, run_id=run.run_id, entry=text)
    CONTENT.run(connection, seq=seq, pattern=run.found_by.pattern, salt=run.salt, content=run.content)
    for tenant, user in run.found_by.callers:
        CALLER.run(connection, seq=seq, tenant=tenant, user=user)
    return seq, mark


def _in_postgres(connection: Connection, run: NewRun) -> tuple[int, str]:
    at, callers = now(), run.found_by.callers
    before, between, behind = around_run(at, run_id=run.run_id, content=run.hash)
    made: tuple[int, str] = APPEND.run(
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
