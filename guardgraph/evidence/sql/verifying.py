"""Reading all that a store has, for its verification: in one state of the database, batch by batch."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

from sqlalchemy import Connection, select

from guardgraph.evidence.contents import normalize_run_lookup
from guardgraph.evidence.sql.database import Transaction
from guardgraph.evidence.sql.tables import CALLERS, CONTENTS, ENTRIES, OPEN
from guardgraph.evidence.verification import Kept, KeptContent, KeptStep

BATCH = 200
"""Entries that are read at a time."""


def read_whole_store(transaction: Transaction) -> Iterator[Kept]:
    """Yield what a store has, in order of the numbers: entries, and contents that have none."""
    after: int | None = None
    while (found := transaction.run_step(partial(_read_entry_batch, after=after))) is not None:
        kept, after = found
        yield from kept
        if after is None:
            return


def find_sqlite_damage(connection: Connection) -> str | None:
    """Return the first thing that SQLite finds wrong with its file and indices; None if nothing is, or elsewhere."""
    if connection.dialect.name != "sqlite":  # PostgreSQL offers this to a superuser with an extension only
        return None
    said = str(connection.exec_driver_sql("PRAGMA integrity_check(1)").scalar())
    return None if said == "ok" else " ".join(said.split())[:300]


def _read_entry_batch(connection: Connection, after: int | None) -> tuple[list[Kept], int | None]:
    """Return what stands behind a number, and the number behind which the next batch begins; None at the end."""
    query = select(ENTRIES).order_by(ENTRIES.c.seq).limit(BATCH)
    entries = connection.execute(query if after is None else query.where(ENTRIES.c.seq > after)).all()
    last = entries[-1].seq if len(entries) == BATCH else None
    contents = {
        row.seq: row for row in _select_between_entries(connection, select(CONTENTS), CONTENTS.c.seq, after, last)
    }
    callers: defaultdict[int, list[Any]] = defaultdict(list)
    for row in _select_between_entries(connection, select(CALLERS), CALLERS.c.seq, after, last):
        callers[row.seq if isinstance(row.seq, int) else 0].append((row.tenant, row.user))  # SQLite keeps any value
    found = _select_between_entries(connection, select(OPEN), OPEN.c.seq, after, last)
    steps = {row.seq: KeptStep(row.kind, row.run_id, row.note, row.request, row.thread, row.graph) for row in found}
    rows = {row.seq: row for row in entries}
    return [
        _combine_stored_rows(seq, rows.get(seq), contents.get(seq), callers[seq], steps.get(seq))
        for seq in sorted({*rows, *contents, *callers, *steps})
    ], last


def _select_between_entries(
    connection: Connection, query: Any, seq: Any, after: int | None, last: int | None
) -> Sequence[Any]:
    query = query if after is None else query.where(seq > after)
    return connection.execute(query if last is None else query.where(seq <= last)).all()


def _combine_stored_rows(
    seq: int, row: Any | None, content: Any | None, callers: list[Any], step: KeptStep | None
) -> Kept:
    beside = None
    if content is not None or callers:
        salt, text, pattern = (content.salt, content.content, content.pattern) if content else (None, None, None)
        beside = KeptContent(salt, text, normalize_run_lookup(pattern, callers))
    if row is None:
        return Kept(seq, None, None, None, None, beside, step)
    return Kept(seq, row.entry, row.hash, row.run_id, row.at, beside, step)
