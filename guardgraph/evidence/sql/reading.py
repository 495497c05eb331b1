"""Reading a store: one run, its head, and many runs in batches."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Connection, Select, exists, select

from guardgraph.evidence.chain import entry_of
from guardgraph.evidence.contents import content_hash, recording_of
from guardgraph.evidence.sql.tables import CALLERS, CONTENTS, ENTRIES
from guardgraph.evidence.store import Position, StoredRun
from guardgraph.state.errors import InputError, StoreError

__all__ = ["batch", "head", "latest"]

_BESIDE = CONTENTS.c.seq == ENTRIES.c.seq


def head(connection: Connection) -> Position | None:
    """Return the last place of the chain."""
    found = connection.execute(
        select(ENTRIES.c.seq, ENTRIES.c.hash, ENTRIES.c.entry).order_by(ENTRIES.c.seq.desc()).limit(1)
    ).first()
    return None if found is None else _position(found)


def latest(connection: Connection, run_id: str) -> StoredRun:
    """Return the latest record of a run.

    Raises:
        InputError: there is no such run.
        StoreError: what is kept is not what was recorded.
    """
    found = connection.execute(
        _joined().where(ENTRIES.c.run_id == run_id).order_by(ENTRIES.c.seq.desc()).limit(1)
    ).first()
    if found is None:
        raise InputError(f"run_id: a run of the store is required; given: {run_id!r:.80}")
    return _stored(found)


def batch(
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
    query = _joined().where(
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
    return [_stored(row) for row in connection.execute(query.order_by(ENTRIES.c.seq).limit(size))]


def _joined() -> Select[Any]:
    columns = (ENTRIES.c.seq, ENTRIES.c.hash, ENTRIES.c.run_id, ENTRIES.c.entry, CONTENTS.c.salt, CONTENTS.c.content)
    return select(*columns).select_from(ENTRIES.outerjoin(CONTENTS, _BESIDE))


def _stored(row: Any) -> StoredRun:
    """Return what a row says, if it still is what was recorded: nobody is to judge what somebody else put there."""
    position = _position(row)
    if row.content is None:
        return StoredRun(row.run_id, position, None, row.entry, None)
    said = entry_of(row.entry)
    try:
        is_kept = said["kind"] == "run" and content_hash(row.salt, row.content) == said["content"]
    except ValueError:
        is_kept = False
    if not is_kept:
        raise StoreError(f"entry {row.seq}: its content is not what was recorded; `guardgraph audit verify` says more")
    return StoredRun(row.run_id, position, recording_of(row.content), row.entry, row.salt)


def _position(row: Any) -> Position:
    try:
        said = entry_of(row.entry)
    except ValueError:
        raise StoreError(f"entry {row.seq}: it was changed; `guardgraph audit verify` says more") from None
    return Position(row.seq, row.hash, said["previous"], said["at"])
