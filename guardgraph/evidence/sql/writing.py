"""Appending to the chain, with the driver itself."""

# What needs no place in the chain is done before anybody is kept waiting. The writers of an SQLite file wait in a line,
# each woken by the kernel as it came: SQLite has none, and many who sleep and try again keep each other from writing.
# What keeps writers apart is SQLite's own lock.

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from threading import Lock
from typing import Any, Final, Literal
from weakref import WeakSet, finalize

from sqlalchemy import Connection

from guardgraph.evidence.chain import (
    START,
    HowClosed,
    Lookup,
    build_begun_lookup,
    build_run_lookup,
    content_hash,
    entry_hash,
    make_content_salt,
    write_chain_entry,
)
from guardgraph.evidence.sql import tables
from guardgraph.evidence.store import Receipt
from guardgraph.plain.errors import StoreError
from guardgraph.plain.hashing import canonical_json
from guardgraph.state.recording import BegunRun, NoteKind, Recording, RunNote

try:
    import fcntl
except ImportError:  # on Windows, writers try again and again
    fcntl = None  # type: ignore[assignment]


_LINE = "guardgraph waits in line"
_LOOKED_UP: Final = ("kind", "run_id", "note", "request", "thread", "graph")
SUPERSEDED: Final = "another run began on its thread"  # why a run was closed that is superseded


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
    hash: str  # the salted hash of the content
    found_by: Lookup


def _salt_content(said: Recording | BegunRun | RunNote, found_by: Lookup) -> NewRun:
    content, salt = canonical_json(said), make_content_salt()
    return NewRun(said["run_id"], content, salt, content_hash(salt, content), found_by)


def prepare_new_run(recording: Recording) -> NewRun:
    """Return what is kept of a recording."""
    return _salt_content(recording, build_run_lookup(recording))


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
    kept: NewRun | None = None  # what is kept beside the entry; None of a close


def prepare_new_beginning(begun: BegunRun) -> NewStep:
    """Return what is kept of a run that begins."""
    kept = _salt_content(begun, build_begun_lookup(begun))
    entry = partial(write_chain_entry, kind="begin", run_id=kept.run_id, content=kept.hash)
    found_by: Any = {"request": begun["request"], "thread": begun["thread"], "graph": begun["graph"]}
    return NewStep("begin", kept.run_id, entry, kept=kept, **found_by)


def prepare_new_note(note: RunNote) -> NewStep:
    """Return what is kept of a note of an open run."""
    kept = _salt_content(note, Lookup("", ()))
    entry = partial(write_chain_entry, kind="note", run_id=kept.run_id, note=note["kind"], content=kept.hash)
    return NewStep("note", kept.run_id, entry, note=note["kind"], request=note["request"], kept=kept)


def prepare_new_close(run_id: str, *, how: HowClosed, by: str, why: str) -> NewStep:
    """Return what is kept of the close of an open run."""
    return NewStep("close", run_id, partial(write_chain_entry, kind="close", run_id=run_id, how=how, by=by, why=why))


def append_new_entry(connection: Connection, new: NewRun | NewStep) -> Receipt:
    """Append it, behind the lock of the writers, unless it is kept with the same content; return its receipt."""
    seq, mark = _append_open_step(connection, new) if isinstance(new, NewStep) else _append_run(connection, new)
    return {"seq": seq, "hash": mark}


def _append_run(connection: Connection, new: NewRun) -> tuple[int, str]:
    known = {"run_id": new.run_id, "content": new.content}
    last, previous, seq, mark = tables.LAST_AND_RUN.fetch_row(connection, **known) or (0, START, None, "")
    if seq is not None:
        return seq, mark
    entry = partial(write_chain_entry, kind="run", run_id=new.run_id, content=new.hash)
    return _write_entry(connection, (last, previous), entry, new, run_id=new.run_id)


def _append_open_step(connection: Connection, step: NewStep) -> tuple[int, str]:
    # A run that begins closes the one that began last on its thread for the same tenant, or without one for the same
    # user, where that is open still: a thread of the same name may be another's.
    known = {"run_id": step.run_id, "kind": step.kind, "content": None if step.kept is None else step.kept.content}
    found = tables.LAST_AND_STEP.fetch_row(connection, **known)
    number, previous, seq, mark, ended = found or (0, START, None, "", None)
    if seq is not None:
        return seq, mark
    if ended is not None:
        raise StoreError(f"run {step.run_id:.80}: it has ended, and its ending was recorded")
    last = number, previous
    if step.thread is not None and (earlier := _find_open_run_of_thread(connection, step)) is not None:
        close = prepare_new_close(earlier, how="superseded", by=step.run_id, why=SUPERSEDED)
        last = _write_entry(connection, last, close.entry, step=close)
    return _write_entry(connection, last, step.entry, step.kept, step=step)


def _find_open_run_of_thread(connection: Connection, step: NewStep) -> str | None:
    [(tenant, user)] = (step.kept.found_by.callers if step.kept is not None else ()) or [(None, None)]
    whose = {"thread": step.thread, "graph": step.graph, "tenant": tenant, "user": user}
    found = tables.THREAD_RUN.fetch_row(connection, **whose)
    if found is None or found[0] == step.run_id:
        return None
    run_id: str = found[0]
    is_over = any(each.fetch_row(connection, run_id=run_id) for each in (tables.ENDED, tables.CLOSED_RUN))
    return None if is_over else run_id


def _write_entry(
    connection: Connection,
    last: tuple[int, str],
    entry: Callable[[int, str, str], str],
    kept: NewRun | None = None,
    *,
    run_id: str | None = None,
    step: NewStep | None = None,
) -> tuple[int, str]:
    """Write the entry behind the last one with what stands beside it; return its number and hash."""
    seq, at = last[0] + 1, read_utc_time()
    text = entry(seq, last[1], at)
    mark = entry_hash(text)
    tables.ENTRY.execute_statement(connection, seq=seq, hash=mark, at=at, run_id=run_id, entry=text)
    if step is not None:
        tables.STEP.execute_statement(connection, seq=seq, **{name: getattr(step, name) for name in _LOOKED_UP})
    if kept is not None:
        pattern = kept.found_by.pattern
        tables.CONTENT.execute_statement(connection, seq=seq, pattern=pattern, salt=kept.salt, content=kept.content)
        for tenant, user in kept.found_by.callers:
            tables.CALLER.execute_statement(connection, seq=seq, tenant=tenant, user=user)
    return seq, mark
