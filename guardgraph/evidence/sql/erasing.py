"""Erasing contents from a store, inside a transaction that has it for itself: the chain stays, and says so."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from sqlalchemy import Connection, Select, delete, exists, func, insert, or_, select, update

from guardgraph.evidence.chain import How, entry_hash, erasure_entry
from guardgraph.evidence.sql.database import Database
from guardgraph.evidence.sql.reading import read_last_entry, select_open_runs
from guardgraph.evidence.sql.tables import CALLERS, CONTENTS, ENTRIES, OPEN
from guardgraph.evidence.sql.writing import read_utc_time
from guardgraph.evidence.verification import Erasure
from guardgraph.plain.errors import ConfigurationError

LONGEST_NAME = 200
"""Characters of who erases or closes, and why: it stays for good, and is shown beside what was found."""
BATCH = 200
"""Contents that are deleted at a time."""


def select_run_to_erase(run_id: str) -> Select[Any]:
    """Choose every record of a run, its beginning and its notes."""
    step = exists().where(OPEN.c.seq == CONTENTS.c.seq, OPEN.c.run_id == run_id)
    return _select_unerased_runs().where(or_(ENTRIES.c.run_id == run_id, step))


def select_caller_runs_to_erase(tenant: str | None, user: str | None) -> Select[Any]:
    """Choose the runs that somebody of a tenant, or a user, or a user of a tenant began or resumed."""
    named = [CALLERS.c.tenant == tenant] if tenant is not None else []
    named += [CALLERS.c.user == user] if user is not None else []
    caller = exists().where(CALLERS.c.seq == CONTENTS.c.seq, *named)
    step, begun = OPEN.alias("step"), OPEN.alias("begun")
    theirs = exists().where(CALLERS.c.seq == begun.c.seq, begun.c.run_id == step.c.run_id, *named)
    recorded = exists().where(CALLERS.c.seq == ENTRIES.c.seq, ENTRIES.c.run_id == step.c.run_id, *named)
    steps = select(step.c.seq).where(or_(theirs, recorded))
    return _select_unerased_runs().where(or_(caller, CONTENTS.c.seq.in_(steps)))


def select_old_runs_to_erase(at: str) -> Select[Any]:
    """Choose what was recorded before a moment, UTC, ISO 8601 with microseconds, but for runs that are open."""
    # A clock that went back makes nothing older: what stands behind an entry was written after it. What an open run
    # noted says what must not be done once more.
    later = ENTRIES.alias("later")
    first_kept = select(func.min(later.c.seq)).where(later.c.at >= at).scalar_subquery()
    is_open = exists().where(OPEN.c.seq == CONTENTS.c.seq, OPEN.c.run_id.in_(select_open_runs()))
    return _select_unerased_runs().where(or_(first_kept.is_(None), ENTRIES.c.seq < first_kept), ~is_open)


def _select_unerased_runs() -> Select[Any]:
    """Choose the numbers of what is not erased yet, in their order."""
    return select(CONTENTS.c.seq).join(ENTRIES, ENTRIES.c.seq == CONTENTS.c.seq).order_by(CONTENTS.c.seq)


def erase_stored_runs(database: Database, chosen: Select[Any], *, by: str, how: How) -> Erasure | None:
    """Erase what is chosen in one transaction, and empty the log of an SQLite database."""
    check_kept_line("by", "who erases", by)
    made = None
    with database.begin_stepwise_transaction("change") as transaction:
        seqs = transaction.run_step(lambda connection: connection.scalars(chosen).all())
        for at in range(0, len(seqs), BATCH):
            transaction.run_step(partial(_delete_run_contents, seqs=seqs[at : at + BATCH]))
        if seqs:
            made = transaction.run_step(partial(_append_erasure_entry, seqs=seqs, by=by, how=how))
    database.empty_sqlite_log()
    return made


def check_kept_line(name: str, what: str, given: object) -> None:
    """Refuse what may not stay in the chain for good."""
    if not isinstance(given, str) or not given.strip() or not given.isprintable() or len(given) > LONGEST_NAME:
        allowed = f"a text of at most {LONGEST_NAME} characters on one line"
        raise ConfigurationError(f"{name}: {what}, {allowed}, is required; given: {given!r:.80}")


def _delete_run_contents(connection: Connection, seqs: Sequence[int]) -> None:
    for table in (CONTENTS, CALLERS):
        connection.execute(delete(table).where(table.c.seq.in_(seqs)))
    connection.execute(update(OPEN).where(OPEN.c.seq.in_(seqs)).values(request=None, thread=None, graph=None))


def _append_erasure_entry(connection: Connection, seqs: Sequence[int], *, by: str, how: How) -> Erasure:
    before, previous = read_last_entry(connection)
    seq, at = before + 1, read_utc_time()
    text = erasure_entry(seq, previous, at, by=by, how=how, erased=seqs)
    connection.execute(insert(ENTRIES).values(seq=seq, hash=entry_hash(text), at=at, entry=text))
    return Erasure(seq, at, by, how, len(seqs))
