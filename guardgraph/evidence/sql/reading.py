"""Reading a store: one run, its head, many runs in batches, and what is open."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from sqlalchemy import Connection, Select, Table, delete, exists, func, insert, or_, select, update

from guardgraph.evidence.chain import (
    START,
    Entry,
    How,
    content_hash,
    entry_hash,
    erasure_entry,
    is_run_content,
    normalize_run_lookup,
    read_chain_entry,
    read_stored_content,
)
from guardgraph.evidence.sql.database import StoreDatabase, Transaction
from guardgraph.evidence.sql.tables import CALLERS, CONTENTS, ENTRIES, OPEN, last_entry
from guardgraph.evidence.sql.writing import read_utc_time
from guardgraph.evidence.store import OpenRun, Position, StoredRun, count_notes
from guardgraph.evidence.verification import Erasure, Kept, KeptContent
from guardgraph.plain.errors import ConfigurationError, InputError, StoreError
from guardgraph.state.recording import RunNote

BATCH = 200  # entries that are read at a time


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
    contents = {row.seq: row for row in _read_between(connection, CONTENTS, after, last)}
    callers: defaultdict[int, list[Any]] = defaultdict(list)
    for row in _read_between(connection, CALLERS, after, last):
        callers[row.seq if isinstance(row.seq, int) else 0].append((row.tenant, row.user))  # SQLite keeps any value
    steps = {row.seq: row for row in _read_between(connection, OPEN, after, last)}
    rows = {row.seq: row for row in entries}
    kept: list[Kept] = []
    for seq in sorted({*rows, *contents, *callers, *steps}):
        row, content, beside = rows.get(seq), contents.get(seq), None
        if content is not None or callers[seq]:
            salt, text, pattern = (content.salt, content.content, content.pattern) if content else (None, None, None)
            beside = KeptContent(salt, text, normalize_run_lookup(pattern, callers[seq]))
        entry, mark, run_id, at = (None,) * 4 if row is None else (row.entry, row.hash, row.run_id, row.at)
        kept.append(Kept(seq, entry, mark, run_id, at, beside, steps.get(seq)))
    return kept, last


def _read_between(connection: Connection, table: Table, after: int | None, last: int | None) -> Sequence[Any]:
    query = select(table) if after is None else select(table).where(table.c.seq > after)
    return connection.execute(query if last is None else query.where(table.c.seq <= last)).all()


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
    if found is not None and not isinstance(found.hash, str):  # SQLite keeps whatever it is given
        raise StoreError(f"entry {found.seq}: it was changed; {MORE}")
    return (0, START) if found is None else (found.seq, found.hash)


def read_latest_record(connection: Connection, run_id: str) -> StoredRun:
    """Return the latest record of a run."""
    found = connection.execute(
        _select_stored_runs().where(ENTRIES.c.run_id == run_id).order_by(ENTRIES.c.seq.desc()).limit(1)
    ).first()
    if found is None:
        why = ", which has no ending" if read_run_entries(connection, run_id) else ""
        raise InputError(f"run_id: a run of the store is required; given: {run_id!r:.80}{why}")
    [stored] = _read_stored_rows(connection, [found])
    return stored


def read_run_batch(
    connection: Connection,
    stretch: tuple[int, int],
    size: int,
    *,
    pattern: str | None,
    tenant: str | None,
    since: str | None,
) -> Sequence[StoredRun]:
    """Return the next runs behind a number, each by its latest record."""
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
    return _read_stored_rows(connection, connection.execute(query.order_by(ENTRIES.c.seq).limit(size)).all())


def _read_stored_rows(connection: Connection, rows: Sequence[Any]) -> list[StoredRun]:
    """Return what rows say, each the latest record of its run, with the numbers of the earlier ones."""
    chosen = select(ENTRIES.c.run_id, ENTRIES.c.seq).where(ENTRIES.c.run_id.in_([row.run_id for row in rows]))
    numbers: dict[str, list[int]] = {}
    for run_id, seq in connection.execute(chosen.order_by(ENTRIES.c.seq)):
        numbers.setdefault(run_id, []).append(seq)
    stored = zip(rows, map(_read_stored_row, rows), strict=True)
    return [replace(item, earlier=tuple(seq for seq in numbers[row.run_id] if seq < row.seq)) for row, item in stored]


def _select_stored_runs() -> Select[Any]:
    entry = (ENTRIES.c.seq, ENTRIES.c.hash, ENTRIES.c.at, ENTRIES.c.run_id, ENTRIES.c.entry)
    return select(*entry, CONTENTS.c.salt, CONTENTS.c.content).select_from(ENTRIES.outerjoin(CONTENTS, _BESIDE))


_FAULTS = {
    "entry": "its entry is not what was {}",
    "content": "its content is not what was {}",
    "form": "its content is none of a run",
}


def _read_stored_row(row: Any) -> StoredRun:
    """Return what a row says; nobody is to judge what somebody else put there, so that is left out, and said."""
    said = _read_entry_row(row)
    is_told = said is not None and said["kind"] == "run" and (said["seq"], said["run_id"]) == (row.seq, row.run_id)
    place, recording, fault = _read_kept_row(row, said if is_told else None)
    why = None if fault is None else _FAULTS[fault].format("recorded")
    return StoredRun(str(row.run_id), place, recording, str(row.entry), row.salt if recording else None, why)


def _read_kept_row(row: Any, said: Entry | None) -> tuple[Position, Any, str | None]:
    """Return where a row stands, what it keeps, and what of it cannot be read, a key of `_FAULTS`."""
    if said is None:
        return Position(row.seq or 0, str(row.hash), "", str(row.at)), None, "entry"
    place = Position(row.seq, row.hash, said["previous"], said["at"])
    if row.content is None:
        return place, None, None
    if not _is_kept_content(row, said):
        return place, None, "content"
    told = read_stored_content(row.content)
    return (place, told, None) if is_run_content(said["kind"], told) else (place, None, "form")


def _read_entry_row(row: Any) -> Entry | None:
    try:
        return read_chain_entry(row.entry) if entry_hash(row.entry) == row.hash else None
    except UNREADABLE:
        return None


def select_open_runs(run_id: str | None = None) -> Select[Any]:
    """Choose the ids of the runs that are open; one that is heard of after it was closed is open again."""
    said, close = OPEN.alias("said"), OPEN.alias("close")
    chosen = (
        select(said.c.run_id)
        .where(
            said.c.kind != "close",
            ~exists().where(ENTRIES.c.run_id == said.c.run_id),
            ~exists().where(close.c.run_id == said.c.run_id, close.c.kind == "close", close.c.seq > said.c.seq),
        )
        .distinct()
    )
    return chosen if run_id is None else chosen.where(said.c.run_id == run_id)


def read_open_runs(connection: Connection, run_id: str | None = None) -> list[OpenRun]:
    """Return the runs that are open, in the order in which they began; of one run, that one if it is."""
    entry = (ENTRIES.c.seq, ENTRIES.c.hash, ENTRIES.c.at, ENTRIES.c.entry)
    found = OPEN.outerjoin(ENTRIES, ENTRIES.c.seq == OPEN.c.seq).outerjoin(CONTENTS, CONTENTS.c.seq == OPEN.c.seq)
    query = select(OPEN.c.kind, OPEN.c.run_id, OPEN.c.note, *entry, CONTENTS.c.salt, CONTENTS.c.content)
    of_runs: dict[str, list[Any]] = {}
    chosen = query.select_from(found).where(OPEN.c.run_id.in_(select_open_runs(run_id))).order_by(OPEN.c.seq)
    for row in connection.execute(chosen):
        of_runs.setdefault(row.run_id, []).append(row)
    return [_build_open_run(run_id, rows) for run_id, rows in of_runs.items()]


def _build_open_run(run_id: str, rows: Sequence[Any]) -> OpenRun:
    told: Any = count_notes([row.note for row in rows if row.kind == "note"])
    begins = [row for row in rows if row.kind == "begin"]
    first = begins[0] if begins else rows[0]
    said = _read_entry_row(first)
    place, begun, fault = _read_kept_row(first, said if said is not None and said.get("run_id") == run_id else None)
    if not begins and fault != "entry":  # a note, of which nothing is asked
        begun = fault = None
    why = None if fault is None else _FAULTS[fault].format("written")
    return OpenRun(run_id, place, begun, **told, changed=why)


def _is_kept_content(row: Any, said: Any) -> bool:
    try:
        return bool(content_hash(row.salt, row.content) == said["content"])
    except (*UNREADABLE, KeyError):  # an entry that has no content
        return False


def read_request_notes(connection: Connection, request: str, after: int) -> list[RunNote]:
    """Return what was noted of a request behind an entry, in its order."""
    entry = (ENTRIES.c.seq, ENTRIES.c.hash, ENTRIES.c.entry, CONTENTS.c.salt, CONTENTS.c.content)
    found = OPEN.join(ENTRIES, ENTRIES.c.seq == OPEN.c.seq).join(CONTENTS, CONTENTS.c.seq == OPEN.c.seq)
    noted = (OPEN.c.request == request, OPEN.c.kind == "note", OPEN.c.seq > after)
    rows = connection.execute(select(*entry).select_from(found).where(*noted).order_by(OPEN.c.seq)).all()
    notes: list[Any] = []
    for row in rows:
        told = read_stored_content(row.content) if _is_kept_content(row, _read_entry_row(row)) else None
        if not is_run_content("note", told):
            raise StoreError(f"entry {row.seq}: it is not what was noted; {MORE}")
        notes.append(told)
    return notes


def read_run_entries(connection: Connection, run_id: str) -> list[str]:
    """Return the texts of all entries of a run, in their order."""
    of_run = or_(ENTRIES.c.run_id == run_id, ENTRIES.c.seq.in_(select(OPEN.c.seq).where(OPEN.c.run_id == run_id)))
    return [str(text) for text in connection.scalars(select(ENTRIES.c.entry).where(of_run).order_by(ENTRIES.c.seq))]


LONGEST_NAME = 200  # characters of who erases or closes, and why: it stays for good, and is shown beside what was found


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


def erase_stored_runs(database: StoreDatabase, chosen: Select[Any], *, by: str, how: How) -> Erasure | None:
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
