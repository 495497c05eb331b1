"""Appending to the chain, with the driver itself."""

# What needs no place in the chain is done before anybody is kept waiting. The writers of an SQLite file wait in a line,
# each woken by the kernel as it came: SQLite has none, and many who sleep and try again keep each other from writing.
# What keeps writers apart is SQLite's own lock.

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from threading import Lock
from time import monotonic
from typing import TYPE_CHECKING, Any, Final, Literal
from weakref import WeakSet, finalize

from sqlalchemy import Connection

from guardgraph.evidence.chain import (
    START,
    HowClosed,
    Lookup,
    begin_entry,
    build_begun_lookup,
    build_run_lookup,
    close_entry,
    content_hash,
    entry_hash,
    make_content_salt,
    note_entry,
    run_entry,
)
from guardgraph.evidence.sql.kinds import begin_sql_transaction
from guardgraph.evidence.sql.tables import (
    CALLER,
    CLOSED_RUN,
    CONTENT,
    ENDED,
    ENTRY,
    KEPT,
    KEPT_STEP,
    LAST,
    STEP,
    THREAD_RUN,
)
from guardgraph.evidence.store import Receipt
from guardgraph.plain.errors import StoreError
from guardgraph.plain.hashing import canonical_json
from guardgraph.state.recording import BegunRun, NoteKind, Recording, RunNote

if TYPE_CHECKING:
    from sqlalchemy import Connection

try:
    import fcntl
except ImportError:  # on Windows, writers try again and again
    fcntl = None  # type: ignore[assignment]


_LINE = "guardgraph waits in line"
SUPERSEDED: Final = "another run began on its thread"
"""Why a run was closed that is superseded."""


class _Line:
    """The place of one connection: the log of its file, which SQLite does not lock by itself, opened once more."""

    def __init__(self, file: str) -> None:
        self.number = os.open(file, os.O_RDONLY)
        self.turn = _turns.setdefault(file, Lock())
        self.leave = finalize(self, os.close, self.number)
        _lines.add(self)


_lines: WeakSet[_Line] = WeakSet()
_turns: dict[str, Lock] = {}
"""By file, whose turn it is in this process to wait for others: nobody can be called back from there."""


def _leave_write_lines() -> None:
    """Leave all lines: a forked process would keep a place there that its parent no longer has."""
    for line in list(_lines):
        line.leave()
    _lines.clear()
    _turns.clear()


if hasattr(os, "register_at_fork"):  # Windows does not fork
    os.register_at_fork(after_in_child=_leave_write_lines)


@contextmanager
def wait_in_write_line(connection: Connection, seconds: float) -> Iterator[None]:
    """Wait until all who came before have left, and leave at the end. A connection's first use is out of line."""
    # So is who has waited too long behind others of this process: one that hangs keeps a thread of it, not all.
    line = connection.info.get(_LINE)
    if line is None or fcntl is None:
        yield
        with suppress(OSError):  # there is no log where nothing was written
            connection.info[_LINE] = _Line(f"{connection.engine.url.database}-wal")
    elif line.turn.acquire(timeout=seconds):
        try:
            _lock_log_file(line.number, fcntl.LOCK_EX)
            yield
        finally:
            _lock_log_file(line.number, fcntl.LOCK_UN)
            line.turn.release()
    else:
        yield


def _lock_log_file(number: int, how: int) -> None:
    with suppress(OSError):  # not every file system has such locks
        fcntl.flock(number, how)


@dataclass(frozen=True, slots=True)
class NewRun:
    """What is to be appended of a run: its recording, or what is kept of its beginning or of a note."""

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


@dataclass(frozen=True, slots=True)
class NewStep:
    """What is to be appended of a run before its ending, or instead of one."""

    kind: Literal["begin", "note", "close"]
    run_id: str
    entry: Callable[[int, str, str], str]
    """Returns the text of its entry for its number, the hash of the entry before, and the time."""
    note: NoteKind | None = None
    request: str | None = None
    thread: str | None = None
    graph: str | None = None
    kept: NewRun | None = None
    """What is kept beside the entry; None of a close."""


def prepare_new_beginning(begun: BegunRun) -> NewStep:
    """Return what is kept of a run that begins."""
    run_id, content, salt = begun["run_id"], canonical_json(begun), make_content_salt()
    kept = NewRun(run_id, content, salt, content_hash(salt, content), build_begun_lookup(begun))
    entry = partial(begin_entry, run_id=run_id, content=kept.hash)
    found_by: Any = {"request": begun["request"], "thread": begun["thread"], "graph": begun["graph"]}
    return NewStep("begin", run_id, entry, kept=kept, **found_by)


def prepare_new_note(note: RunNote) -> NewStep:
    """Return what is kept of a note of an open run."""
    run_id, content, salt = note["run_id"], canonical_json(note), make_content_salt()
    kept = NewRun(run_id, content, salt, content_hash(salt, content), Lookup("", ()))
    entry = partial(note_entry, run_id=run_id, note=note["kind"], content=kept.hash)
    return NewStep("note", run_id, entry, note=note["kind"], request=note["request"], kept=kept)


def prepare_new_close(run_id: str, *, how: HowClosed, by: str, why: str) -> NewStep:
    """Return what is kept of the close of an open run."""
    return NewStep("close", run_id, partial(close_entry, run_id=run_id, how=how, by=by, why=why))


def append_new_entry(connection: Connection, new: NewRun | NewStep, seconds: float, may: Callable[[], None]) -> Receipt:
    """Append in one transaction, unless it is kept already with the same content, and return its receipt."""
    driver: Any = connection.connection.driver_connection
    sqlite = connection.dialect.name == "sqlite"
    began = monotonic()
    # the other half is for what SQLite says
    with wait_in_write_line(connection, seconds / 2) if sqlite else nullcontext():
        begin_sql_transaction(connection, seconds - (monotonic() - began), "append")
        may()  # a server that hung has answered now, before there is anything to commit
        if isinstance(new, NewStep):
            seq, mark = append_open_step(connection, new)
        else:
            seq, mark = _append_run(connection, new)
        may()
        driver.execute("COMMIT")
    return {"seq": seq, "hash": mark}


def _append_run(connection: Connection, run: NewRun) -> tuple[int, str]:
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


def append_open_step(connection: Connection, step: NewStep) -> tuple[int, str]:
    """Append what is kept of an open run, behind the lock of the writers; return number and hash of its entry."""
    # A run that begins closes the one that began last on its thread for the same tenant, or without one for the same
    # user, where that is open still: a thread of the same name may be another's.
    if step.kept is not None:
        kept: tuple[int, str] | None = KEPT_STEP.execute_statement(
            connection, run_id=step.run_id, kind=step.kind, content=step.kept.content
        ).fetchone()
        if kept is not None:
            return kept
    if ENDED.execute_statement(connection, run_id=step.run_id).fetchone() is not None:
        raise StoreError(f"run {step.run_id:.80}: it has ended, and its ending was recorded")
    if step.thread is not None and (earlier := _find_open_run_of_thread(connection, step)) is not None:
        _write_step(connection, prepare_new_close(earlier, how="superseded", by=step.run_id, why=SUPERSEDED))
    return _write_step(connection, step)


def _find_open_run_of_thread(connection: Connection, step: NewStep) -> str | None:
    [(tenant, user)] = (step.kept.found_by.callers if step.kept is not None else ()) or [(None, None)]
    whose = {"thread": step.thread, "graph": step.graph, "tenant": tenant, "user": user}
    found = THREAD_RUN.execute_statement(connection, **whose).fetchone()
    if found is None or found[0] == step.run_id:
        return None
    run_id: str = found[0]
    over = (statement.execute_statement(connection, run_id=run_id).fetchone() for statement in (ENDED, CLOSED_RUN))
    return run_id if all(row is None for row in over) else None


def _write_step(connection: Connection, step: NewStep) -> tuple[int, str]:
    last, previous = LAST.execute_statement(connection).fetchone() or (0, START)
    seq, at = last + 1, read_utc_time()
    text = step.entry(seq, previous, at)
    mark = entry_hash(text)
    ENTRY.execute_statement(connection, seq=seq, hash=mark, at=at, run_id=None, entry=text)
    STEP.execute_statement(
        connection,
        seq=seq,
        kind=step.kind,
        run_id=step.run_id,
        note=step.note,
        request=step.request,
        thread=step.thread,
        graph=step.graph,
    )
    if (kept := step.kept) is not None:
        pattern = kept.found_by.pattern
        CONTENT.execute_statement(connection, seq=seq, pattern=pattern, salt=kept.salt, content=kept.content)
        for tenant, user in kept.found_by.callers:
            CALLER.execute_statement(connection, seq=seq, tenant=tenant, user=user)
    return seq, mark
