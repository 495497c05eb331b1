"""Reading a store: one run, its head, and many runs in batches."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Connection, Select, exists, select

from guardgraph.evidence.chain import START, RunEntry, entry_hash, read_chain_entry
from guardgraph.evidence.contents import content_hash, read_stored_recording
from guardgraph.evidence.sql.tables import CALLERS, CONTENTS, ENTRIES, last_entry
from guardgraph.evidence.store import Position, StoredRun
from guardgraph.plain.errors import InputError, StoreError

_BESIDE = CONTENTS.c.seq == ENTRIES.c.seq
UNREADABLE = (ValueError, TypeError, AttributeError)
"""What reading a column raises that holds no text any more: SQLite keeps whatever it is given."""
MORE = "`guardgraph audit verify` says more"


def read_chain_head(connection: Connection) -> Position | None:
    """Return the last place of the chain."""
    found = connection.execute(
        select(ENTRIES.c.seq, ENTRIES.c.hash, ENTRIES.c.entry).order_by(ENTRIES.c.seq.desc()).limit(1)
    ).first()
    if found is None:
        return None
    try:
        said = read_chain_entry(found.entry)
    except ValueError:
        raise StoreError(f"entry {found.seq}: it was changed; {MORE}") from None
    return Position(found.seq, found.hash, said["previous"], said["at"])


def read_last_entry(connection: Connection) -> tuple[int, str]:
    """Return number and hash of the last entry; of an empty chain, what the first one follows."""
    found = connection.execute(last_entry).first()
    return (0, START) if found is None else (found.seq, found.hash)


def read_latest_record(connection: Connection, run_id: str) -> StoredRun:
    """Return the latest record of a run.

    Raises:
        InputError: there is no such run.
    """
    found = connection.execute(
        _select_stored_runs().where(ENTRIES.c.run_id == run_id).order_by(ENTRIES.c.seq.desc()).limit(1)
    ).first()
    if found is None:
        raise InputError(f"run_id: a run of the store is required; given: {run_id!r:.80}")
    return _read_stored_row(found)


def read_run_batch(
    connection: Connection,
    stretch: tuple[int, int],
    size: int,
    *,
    pattern: str | None,
    tenant: str | None,
    since: str | None,
) -> Sequence[StoredRun]:
    """Return the next runs behind a number, each by its latest record.

    Args:
        connection: a reader's.
        stretch: the number behind which they begin, and the last one that may be returned.
        size: how many there are at most.
        pattern: as in `RunStore.runs`.
        tenant: as in `RunStore.runs`.
        since: UTC, ISO 8601 with microseconds.
    """
    later = ENTRIES.alias("later")
    query = _select_stored_runs().where(
        ENTRIES.c.seq > stretch[0],
        ENTRIES.c.seq <= stretch[1],
        ENTRIES.c.run_id.is_not(None),
        ~exists().where(later.c.run_id == ENTRIES.c.run_id, later.c.seq > ENTRIES.c.seq),
    )
    if pattern is not None:
        query = query.where(CONTENTS.c.pattern == pattern)
    if tenant is not None:
        query = query.where(exists().where(CALLERS.c.seq == ENTRIES.c.seq, CALLERS.c.tenant == tenant))
    if since is not None:
        query = query.where(ENTRIES.c.at >= since)
    return [_read_stored_row(row) for row in connection.execute(query.order_by(ENTRIES.c.seq).limit(size))]


def _select_stored_runs() -> Select[Any]:
    entry = (ENTRIES.c.seq, ENTRIES.c.hash, ENTRIES.c.at, ENTRIES.c.run_id, ENTRIES.c.entry)
    return select(*entry, CONTENTS.c.salt, CONTENTS.c.content).select_from(ENTRIES.outerjoin(CONTENTS, _BESIDE))


def _read_stored_row(row: Any) -> StoredRun:
    """Return what a row says; nobody is to judge what somebody else put there, so that is left out, and said."""
    said = _read_run_entry(row)
    if said is None:
        place = Position(row.seq, str(row.hash), "", str(row.at))
        return StoredRun(str(row.run_id), place, None, str(row.entry), None, "its entry is not what was recorded")
    position = Position(row.seq, row.hash, said["previous"], said["at"])
    if row.content is None:
        return StoredRun(row.run_id, position, None, row.entry, None)
    try:
        is_kept = content_hash(row.salt, row.content) == said["content"]
    except UNREADABLE:
        is_kept = False
    if not is_kept:
        return StoredRun(row.run_id, position, None, row.entry, None, "its content is not what was recorded")
    return StoredRun(row.run_id, position, read_stored_recording(row.content), row.entry, row.salt)


def _read_run_entry(row: Any) -> RunEntry | None:
    """Return what the entry of a run says; None where it is not what its hash and its columns say."""
    try:
        if entry_hash(row.entry) != row.hash:
            return None
        said = read_chain_entry(row.entry)
    except UNREADABLE:
        return None
    is_told = said["kind"] == "run" and (said["seq"], said["run_id"]) == (row.seq, row.run_id)
    return said if is_told else None  # type: ignore[return-value]
