"""Erasing contents from a store, inside a transaction that has it for itself: the chain stays, and says so."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from sqlalchemy import Connection, Select, delete, exists, insert, select

from guardgraph.evidence.chain import How, entry_hash, erasure_entry
from guardgraph.evidence.sql.database import Database
from guardgraph.evidence.sql.reading import read_last_entry
from guardgraph.evidence.sql.tables import CALLERS, CONTENTS, ENTRIES
from guardgraph.evidence.sql.writing import read_utc_time
from guardgraph.evidence.verification import Erasure
from guardgraph.plain.errors import ConfigurationError

LONGEST_NAME = 200
"""Characters of who erases: it stays for good, and is shown beside what was found."""
BATCH = 200
"""Contents that are deleted at a time."""


def select_run_to_erase(run_id: str) -> Select[Any]:
    """Choose every record of a run."""
    return _select_unerased_runs().where(ENTRIES.c.run_id == run_id)


def select_caller_runs_to_erase(tenant: str | None, user: str | None) -> Select[Any]:
    """Choose the runs that somebody of a tenant, or a user, or a user of a tenant began or resumed."""
    caller = exists().where(CALLERS.c.seq == CONTENTS.c.seq)
    if tenant is not None:
        caller = caller.where(CALLERS.c.tenant == tenant)
    if user is not None:
        caller = caller.where(CALLERS.c.user == user)
    return _select_unerased_runs().where(caller)


def select_old_runs_to_erase(at: str) -> Select[Any]:
    """Choose what was recorded before a moment: UTC, ISO 8601 with microseconds."""
    return _select_unerased_runs().where(ENTRIES.c.at < at)


def _select_unerased_runs() -> Select[Any]:
    """Choose the numbers of what is not erased yet, in their order."""
    return select(CONTENTS.c.seq).join(ENTRIES, ENTRIES.c.seq == CONTENTS.c.seq).order_by(CONTENTS.c.seq)


def erase_stored_runs(database: Database, chosen: Select[Any], *, by: str, how: How) -> Erasure | None:
    """Erase what is chosen in one transaction, and empty the log of an SQLite database.

    Raises:
        StoreError: as `SqlStore.erase`.
        ConfigurationError: nobody erases.
    """
    if not isinstance(by, str) or not by.strip() or not by.isprintable() or len(by) > LONGEST_NAME:
        raise ConfigurationError(
            f"by: who erases, a text of at most {LONGEST_NAME} characters on one line, is required; given: {by!r:.80}"
        )
    made = None
    with database.begin_stepwise_transaction("change") as transaction:
        seqs = transaction.run_step(lambda connection: connection.scalars(chosen).all())
        for at in range(0, len(seqs), BATCH):
            transaction.run_step(partial(_delete_run_contents, seqs=seqs[at : at + BATCH]))
        if seqs:
            made = transaction.run_step(partial(_append_erasure_entry, seqs=seqs, by=by, how=how))
    database.empty_sqlite_log()
    return made


def _delete_run_contents(connection: Connection, seqs: Sequence[int]) -> None:
    for table in (CONTENTS, CALLERS):
        connection.execute(delete(table).where(table.c.seq.in_(seqs)))


def _append_erasure_entry(connection: Connection, seqs: Sequence[int], *, by: str, how: How) -> Erasure:
    before, previous = read_last_entry(connection)
    seq, at = before + 1, read_utc_time()
    text = erasure_entry(seq, previous, at, by=by, how=how, erased=seqs)
    connection.execute(insert(ENTRIES).values(seq=seq, hash=entry_hash(text), at=at, entry=text))
    return Erasure(seq, at, by, how, len(seqs))
