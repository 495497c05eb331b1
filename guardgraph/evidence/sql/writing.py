"""Appending to the chain, inside a transaction that has the store for itself."""

from __future__ import annotations

from datetime import UTC, datetime

from sqlalchemy import Connection, bindparam, insert, select

from guardgraph.evidence.chain import START, entry_hash, run_entry
from guardgraph.evidence.contents import Lookup, content_hash, new_salt
from guardgraph.evidence.sql.prepared import Prepared
from guardgraph.evidence.sql.tables import CALLERS, CONTENTS, ENTRIES
from guardgraph.evidence.store import Position, Receipt

__all__ = ["append_entry", "append_run", "last", "now"]


def now() -> str:
    """Return the date and time: UTC, ISO 8601, so that texts are in order as the times are."""
    return datetime.now(UTC).isoformat(timespec="microseconds")


_LAST = Prepared(select(ENTRIES.c.seq, ENTRIES.c.hash).order_by(ENTRIES.c.seq.desc()).limit(1))
_KEPT = Prepared(
    select(ENTRIES.c.seq, ENTRIES.c.hash)
    .join(CONTENTS, CONTENTS.c.seq == ENTRIES.c.seq)
    .where(ENTRIES.c.run_id == bindparam("run_id"), CONTENTS.c.content == bindparam("content"))
    .order_by(ENTRIES.c.seq)
    .limit(1)
)
_ENTRY, _CONTENT, _CALLER = (Prepared(insert(table), table.columns.keys()) for table in (ENTRIES, CONTENTS, CALLERS))


def append_run(connection: Connection, run_id: str, content: str, beside: Lookup) -> Receipt:
    """Append a run, unless it is kept already with the same content, and return its receipt."""
    if (known := _KEPT.run(connection, run_id=run_id, content=content).first()) is not None:
        return {"seq": known.seq, "hash": known.hash}
    seq, previous = last(connection)
    at, salt = now(), new_salt()
    text = run_entry(seq + 1, previous, at, run_id=run_id, content=content_hash(salt, content))
    position = append_entry(connection, Position(seq + 1, entry_hash(text), previous, at), text, run_id)
    _CONTENT.run(connection, seq=seq + 1, pattern=beside.pattern, salt=salt, content=content)
    for tenant, user in beside.callers:
        _CALLER.run(connection, seq=seq + 1, tenant=tenant, user=user)
    return position.receipt


def last(connection: Connection) -> tuple[int, str]:
    """Return number and hash of the last entry; of an empty chain, what the first one follows."""
    found = _LAST.run(connection).first()
    return (0, START) if found is None else (found.seq, found.hash)


def append_entry(connection: Connection, position: Position, text: str, run_id: str | None = None) -> Position:
    """Append an entry, and return where it stands."""
    _ENTRY.run(connection, seq=position.seq, hash=position.hash, at=position.at, run_id=run_id, entry=text)
    return position
