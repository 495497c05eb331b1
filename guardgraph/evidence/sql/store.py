"""The store that this library brings, in SQLite or PostgreSQL, and its runs, read batch by batch."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from langgraph.checkpoint.base import BaseCheckpointSaver
from typing_extensions import override

from guardgraph.evidence.redaction import Redaction, redact_begun_run, redact_recording, redact_run_note
from guardgraph.evidence.sql.kinds import parse_store_address
from guardgraph.evidence.store import OpenRun, OpenRunStore, Position, Receipt, StoredRun
from guardgraph.evidence.verification import Erasure, Verification, find_lost_threads, verify_chain
from guardgraph.plain.errors import ConfigurationError, InputError, StoreError
from guardgraph.plain.json import find_json_problem
from guardgraph.state.recording import BegunRun, Recording, RunNote
from guardgraph.world.tenants import Balance, Charge, Overdrawn, Reserved

with suppress(ImportError):  # without the extra `audit`, for which `parse_store_address` asks
    from guardgraph.evidence.sql import ledger, reading, tables, writing

if TYPE_CHECKING:
    from sqlalchemy import Connection

T = TypeVar("T")

BATCH = 50  # runs that are read at a time, and so are in memory


@dataclass(frozen=True, slots=True)
class SqlRuns:
    """Runs of a store; what was recorded after an iteration began is not in it."""

    store: SqlStore
    pattern: str | None = None
    tenant: str | None = None
    since: str | None = None

    def __iter__(self) -> Iterator[StoredRun]:
        """Yield each run once, by its latest record, in order of the chain; one that was changed says so."""
        after, (upto, _) = 0, self.store._read_or((0, ""), reading.read_last_entry)
        while after < upto:
            stretch = after, upto
            read = partial(
                reading.read_run_batch, stretch=stretch, size=BATCH, pattern=self.pattern, tenant=self.tenant
            )
            found = self.store.database.run_transaction(partial(read, since=self.since))
            yield from found
            if len(found) < BATCH:
                return
            after = found[-1].position.seq


MOST_DAYS = 100_000  # more days than there have been since computers


class SqlStore(OpenRunStore):
    """A store in a database; `sql_store` makes it.

    It can be used from many threads, taken over by forked processes, and pickled; pickled, it has the URL's password.
    What a method returns a receipt of is on disk.

    Raises:
        StoreError: (by each method that asks the database) it cannot be read or written, or not in time; what was to
            be written is not acknowledged then.
        ConfigurationError: (likewise) the database is no store of this version.
    """

    def __init__(self, url: str, *, timeout: float = 5.0, redact: Redaction | None = None) -> None:
        if isinstance(timeout, bool) or not isinstance(timeout, int | float) or not 0 < timeout < math.inf:
            raise ConfigurationError(f"timeout: seconds, a number above 0, are required; given: {timeout!r:.80}")
        if redact is not None and not isinstance(redact, Redaction):
            raise ConfigurationError(f"redact: a Redaction is required; given: {type(redact).__name__}")
        address = parse_store_address(url)
        from guardgraph.evidence.sql.database import StoreDatabase  # says what is wrong with an extra that is broken

        self.database = StoreDatabase(address, timeout)
        self._redact = redact

    def open(self) -> None:
        """Make the store where there is none yet, as the first `record` would."""
        self.database.run_transaction(lambda connection: None, "append")

    def check(self) -> None:
        """Look whether there is a store that can be read.

        Raises:
            StoreError: nothing was recorded yet.
        """
        self.database.run_transaction(lambda connection: None)

    @override
    def record(self, run: Recording) -> Receipt:
        kept = run if self._redact is None else redact_recording(run, self._redact)
        return self.database.append_entry(writing.prepare_new_run(kept))

    @override
    def begin(self, run: BegunRun) -> Receipt:
        kept = run if self._redact is None else redact_begun_run(run, self._redact)
        return self.database.append_entry(writing.prepare_new_beginning(kept))

    @override
    def note(self, note: RunNote) -> Receipt:
        kept = note if self._redact is None else redact_run_note(note, self._redact)
        return self.database.append_entry(writing.prepare_new_note(kept))

    def notes(self, request: str, after: int = 0) -> list[RunNote]:
        """Return what was noted of a request, of all its runs, in its order; what was erased is not there.

        Args:
            request: the id of what was asked.
            after: the number of an entry, as `note` returns it: only what was noted behind it.

        Raises:
            StoreError: a note is not as it was noted.
            ConfigurationError: the request is no text.
        """
        _check_storable_names(request=request)
        return self._read_or([], lambda connection: reading.read_request_notes(connection, request, after))

    def open_runs(self, run_id: str | None = None) -> list[OpenRun]:
        """Return the runs that began, and have neither ended nor been closed, in the order in which they began.

        Args:
            run_id: of one run: it is returned if it is open; None for all.

        Raises:
            ConfigurationError: the id is no text.
        """
        _check_storable_names(run_id=run_id)
        return self._read_or([], lambda connection: reading.read_open_runs(connection, run_id))

    @override
    def entries(self, run_id: str) -> list[str]:
        if not isinstance(run_id, str) or find_json_problem(run_id) is not None:  # no database takes it as a text
            return []
        return self._read_or([], lambda connection: reading.read_run_entries(connection, run_id))

    @override
    def close_run(self, run_id: str, *, by: str, why: str) -> Receipt:
        """Append that an open run is lost, who says so and why, and return number and hash of the entry; it stays.

        Raises:
            InputError: there is no such run, or it is not open.
            ConfigurationError: nobody says so, or no reason is given, on one line of at most 200 characters.
        """
        reading.check_kept_line("by", "who closes", by)
        reading.check_kept_line("why", "why it is closed", why)
        self._require_known_run(run_id)
        if not self.open_runs(run_id):
            raise InputError(f"run_id: a run that is open is required; it has ended or was closed: {run_id!r:.80}")
        return self.database.append_entry(writing.prepare_new_close(run_id, how="closed", by=by, why=why))

    def _require_known_run(self, run_id: str) -> None:
        if not self.entries(run_id):
            raise InputError(f"run_id: a run of the store is required; given: {run_id!r:.80}")

    def _read_or(self, nothing: T, work: Callable[[Connection], T]) -> T:
        """Return what is read, or nothing where there is no store yet."""
        try:
            return self.database.run_transaction(work)
        except tables.Missing:
            return nothing

    @override
    def read(self, run_id: str) -> StoredRun:
        """Return the latest record of a run.

        Raises:
            InputError: there is no such run, or it has no ending: `open_runs` has it.
            StoreError: what the store has is not what was recorded.
        """
        if not isinstance(run_id, str) or find_json_problem(run_id) is not None:  # no database takes it as a text
            raise InputError(f"run_id: a run of the store is required; given: {run_id!r:.80}")
        try:
            found = self.database.run_transaction(lambda connection: reading.read_latest_record(connection, run_id))
        except tables.Missing as error:
            raise InputError(f"run_id: a run of the store is required; {error}") from None
        if found.changed is not None:
            raise StoreError(f"entry {found.position.seq}: {found.changed}; {reading.MORE}")
        return found

    @override
    def head(self) -> Position | None:
        return self._read_or(None, reading.read_chain_head)

    @override
    def runs(self, *, pattern: str | None = None, tenant: str | None = None, since: datetime | None = None) -> SqlRuns:
        """Return the runs of the store, each by its latest record; erased ones too where no filter asks for more.

        Args:
            pattern: of runs of this pattern only, as their catalogue names it.
            tenant: of runs only that somebody of this tenant began or resumed.
            since: of runs only that were recorded then or later; a date and time with its zone.

        Raises:
            ConfigurationError: `since` has no zone, or is out of the calendar; or a name is no text.
        """
        _check_storable_names(pattern=pattern, tenant=tenant)
        if since is not None and (not isinstance(since, datetime) or since.tzinfo is None):
            raise ConfigurationError(f"since: a date and time with its zone is required; given: {since!r:.80}")
        try:
            moment = None if since is None else since.astimezone(UTC).isoformat(timespec="microseconds")
        except OverflowError:  # a day before the first one of the calendar, or behind its last
            raise ConfigurationError(f"since: a date and time that UTC has is required; given: {since}") from None
        return SqlRuns(self, pattern, tenant, moment)

    def verify(self, head: tuple[int, str] | None = None, *, checkpointer: Any = None) -> Verification:
        """Verify the chain, every content, and what runs are found by.

        Args:
            head: number and hash of an entry that was the last one once, kept elsewhere since: without it nobody can
                tell that the end of the chain was cut off.
            checkpointer: LangGraph's, that keeps the threads of the runs: then an open run whose thread does not have
                it any more, such as one that was deleted, is a finding.

        Returns:
            How much there is, what was erased by whom and when, and what is not as it was written.

        Raises:
            StoreError: there is no store; or all entries are what they were, but SQLite finds its file damaged, which
                may be an index by which runs are found.
            ConfigurationError: the checkpointer is none.
        """
        if checkpointer is not None and not isinstance(checkpointer, BaseCheckpointSaver):
            given = type(checkpointer).__name__
            raise ConfigurationError(f"checkpointer: a LangGraph checkpointer is required; given: {given}")
        with self.database.begin_stepwise_transaction() as transaction:
            found = verify_chain(reading.read_whole_store(transaction), head)
            if not found.findings and (said := transaction.run_step(reading.find_sqlite_damage)) is not None:
                raise StoreError(f"{self.database.address.shown}: the entries are right, the file is damaged: {said}")
        return found if checkpointer is None else find_lost_threads(found, checkpointer)

    def erase(
        self, run_id: str | None = None, *, tenant: str | None = None, user: str | None = None, by: str
    ) -> Erasure | None:
        """Erase what was recorded and noted of runs: contents, salts, what they are found by; their entries stay.

        Args:
            run_id: of one run; or
            tenant: of all runs that somebody of this tenant began or resumed; or
            user: of all runs that this user did, of this tenant if one is named too.
            by: who erases, which stays in the chain.

        Returns:
            The erasure, which is an entry itself; None where there was nothing left to erase.

        Raises:
            InputError: there is no such run.
            StoreError: nothing was erased; or all was, but others were reading for so long that SQLite's log still has
                it: erase once more.
            ConfigurationError: neither or both of a run and a caller are named, or nobody who erases.
        """
        if (run_id is None) == (tenant is None and user is None):
            raise ConfigurationError("erase: either a run_id, or a tenant or user, is required")
        _check_storable_names(tenant=tenant, user=user)
        if run_id is not None:
            self._require_known_run(run_id)
            chosen = reading.select_run_to_erase(run_id)
        else:
            chosen = reading.select_caller_runs_to_erase(tenant, user)
        return reading.erase_stored_runs(self.database, chosen, by=by, how="erase")

    def retain(self, days: float, *, by: str) -> Erasure | None:
        """Erase what was recorded longer ago than some days, as `erase` does, but for runs that are open: close them.

        Args:
            days: of 24 hours, 0 or more. What stands behind a later entry counts as no older than that one.
            by: who erases, which stays in the chain.

        Raises:
            ConfigurationError: the days are no such number, or nobody erases.
        """
        if isinstance(days, bool) or not isinstance(days, int | float) or not 0 <= days < MOST_DAYS:
            raise ConfigurationError(f"days: a number from 0 to {MOST_DAYS} is required; given: {days!r:.80}")
        before = (datetime.now(UTC) - timedelta(days=days)).isoformat(timespec="microseconds")
        return reading.erase_stored_runs(self.database, reading.select_old_runs_to_erase(before), by=by, how="retain")

    def reserve(self, charges: Sequence[Charge], *, seconds: float) -> Reserved | Overdrawn:
        """Reserve what calls may use up of the accounts of tenants, all charges or none; see `Ledger`.

        Raises:
            StoreError: nobody knows whether there is room; what was reserved all the same lapses.
        """
        try:
            return ledger.run_on_accounts(
                self.database, lambda connection: ledger.reserve_charges(connection, charges, seconds)
            )
        except ledger.NoRoom as refused:
            return refused.overdrawn

    def settle(self, reserved: Reserved, amounts: Sequence[int]) -> None:
        """Count what calls used up instead of what was reserved for them; see `Ledger`.

        Raises:
            StoreError: it is not kept; the reservation lapses.
        """
        ledger.run_on_accounts(self.database, lambda connection: ledger.settle_charges(connection, reserved, amounts))

    def balances(self) -> list[Balance]:
        """Return what stands in the accounts of tenants, by tenant, period and unit."""
        return ledger.run_on_accounts(self.database, ledger.list_balances)

    def close(self) -> None:
        """Close the connections that nobody is using. The store can be used on: it opens others."""
        self.database.close_engines()

    def __reduce__(self) -> tuple[object, ...]:
        """Return what makes the same store in another process."""
        url = self.database.address.url.render_as_string(hide_password=False)
        return partial(SqlStore, timeout=self.database.timeout, redact=self._redact), (url,)

    def __repr__(self) -> str:
        return f"<SqlStore: {self.database.address.shown}>"


def _check_storable_names(**given: object) -> None:
    for name, value in given.items():
        if value is not None and (not isinstance(value, str) or find_json_problem(value) is not None):
            raise ConfigurationError(f"{name}: a text that can be stored is required; given: {value!r:.80}")


def sql_store(url: str, *, timeout: float = 5.0, redact: Redaction | None = None) -> SqlStore:
    """Return a store in a database: SQLite or PostgreSQL. Nothing is opened before it is used.

    Args:
        url: ``sqlite:///runs.db``, whose file is made when it is first written to, readable by its owner alone; or
            ``postgresql+psycopg://USER:PASSWORD@HOST/DATABASE``.
        timeout: seconds after which whoever waits for the database is let go; what was to be written is not
            acknowledged then.
        redact: what is not kept of the runs that are recorded from here on.

    Raises:
        ConfigurationError: the URL or the timeout is wrong, or the extra ``audit`` is not installed.
    """
    return SqlStore(url, timeout=timeout, redact=redact)
