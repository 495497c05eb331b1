"""Stores keep what the protocol promises: in SQLite, in PostgreSQL, and in one of somebody's own."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from threading import Lock

import pytest
from stored_runs import new_database

from guardgraph import InputError, OpenRun, Position, StoredRun, StoreError, sql_store
from guardgraph.evidence.chain import (
    START,
    begin_entry,
    build_begun_lookup,
    build_run_lookup,
    close_entry,
    content_hash,
    entry_hash,
    make_content_salt,
    note_entry,
    read_chain_entry,
    run_entry,
)
from guardgraph.plain.hashing import canonical_json
from guardgraph.testing import STORE_CHECKS, check_store


@dataclass(frozen=True)
class MemoryRuns:
    """Runs as they were when they were asked for."""

    stored: tuple

    def __iter__(self):
        return iter(self.stored)


class MemoryStore:
    """Keeps finished runs as JSON texts, in a list."""

    def __init__(self):
        self._kept = []
        self._lock = Lock()

    def record(self, run):
        content = canonical_json(run)
        with self._lock:
            for stored, kept in self._kept:
                if kept == content:
                    return stored.position.receipt
            previous = self._kept[-1][0].position.hash if self._kept else START
            at, salt = datetime.now(UTC).isoformat(timespec="microseconds"), make_content_salt()
            seq = len(self._kept) + 1
            entry = run_entry(seq, previous, at, run_id=run["run_id"], content=content_hash(salt, content))
            position = Position(seq, entry_hash(entry), previous, at)
            self._kept.append((StoredRun(run["run_id"], position, None, entry, salt), content))
            return position.receipt

    def read(self, run_id):
        found = [item for item in self.runs() if item.run_id == run_id]
        if not found:
            raise InputError(f"run_id: a run of the store is required; given: {run_id!r:.80}")
        return found[0]

    def head(self):
        return self._kept[-1][0].position if self._kept else None

    def runs(self, *, pattern=None, tenant=None, since=None):
        latest = {stored.run_id: (stored, content) for stored, content in self._kept}
        read = sorted((self._read(*item) for item in latest.values()), key=lambda item: item.position.seq)
        return MemoryRuns(tuple(item for item in read if _fits(item, pattern, tenant, since)))

    def _read(self, stored, content):
        return StoredRun(stored.run_id, stored.position, json.loads(content), stored.entry, stored.salt)


class OpenMemoryStore(MemoryStore):
    """Keeps runs from their beginning on: entries in one list, and what they are of beside."""

    def __init__(self):
        super().__init__()
        self._texts, self._steps = [], []

    def begin(self, run):
        over = [item for item in self.open_runs() if item.begun and _place(item.begun) == _place(run)]
        if run["thread"] is not None and over:
            self._append(close_entry, over[0].run_id, how="superseded", by=run["run_id"], why="another run began")
        return self._keep(begin_entry, run)

    def note(self, note):
        return self._keep(partial(note_entry, note=note["kind"]), note)

    def record(self, run):
        return self._keep(run_entry, run)

    def notes(self, request):
        kept = [json.loads(content) for said, content in self._steps if said["kind"] == "note"]
        return [note for note in kept if note["request"] == request]

    def entries(self, run_id):
        return [text for text, (said, _) in zip(self._texts, self._steps, strict=True) if said["run_id"] == run_id]

    def close_run(self, run_id, *, by, why):
        if run_id not in [item.run_id for item in self.open_runs()]:
            raise InputError(f"run_id: a run that is open is required; given: {run_id!r:.80}")
        return self._append(close_entry, run_id, how="closed", by=by, why=why)

    def open_runs(self):
        made = {}
        for text, (said, content) in zip(self._texts, self._steps, strict=True):
            if said["kind"] in ("run", "close"):
                made.pop(said["run_id"], None)
            elif said["kind"] == "begin":
                made[said["run_id"]] = OpenRun(said["run_id"], _position(text), json.loads(content), 0, 0, False)
            else:
                left, note = made[said["run_id"]], said["note"]
                intents, receipts = left.intents + (note == "intent"), left.receipts + (note == "receipt")
                made[said["run_id"]] = replace(left, intents=intents, receipts=receipts, waiting=note == "waiting")
        return list(made.values())

    def _keep(self, entry, given):
        content, salt = canonical_json(given), make_content_salt()
        with self._lock:
            for text, (_, kept) in zip(self._texts, self._steps, strict=True):
                if kept == content:
                    return _position(text).receipt
            if entry is begin_entry and given["run_id"] in [stored.run_id for stored, _ in self._kept]:
                raise StoreError("it has ended")
            receipt = self._append(entry, given["run_id"], kept=content, content=content_hash(salt, content))
            if entry is run_entry:
                text = self._texts[-1]
                self._kept.append((StoredRun(given["run_id"], _position(text), None, text, salt), content))
            return receipt

    def _append(self, entry, run_id, kept=None, **said):
        previous = entry_hash(self._texts[-1]) if self._texts else START
        at = datetime.now(UTC).isoformat(timespec="microseconds")
        text = entry(len(self._texts) + 1, previous, at, run_id=run_id, **said)
        self._texts.append(text)
        self._steps.append((read_chain_entry(text), kept))
        return _position(text).receipt

    def head(self):
        return _position(self._texts[-1]) if self._texts else None


def _place(begun):
    [(tenant, user)] = build_begun_lookup(begun).callers or [(None, None)]
    return begun["thread"], begun["graph"], tenant, user if tenant is None else None


def _position(text):
    said = read_chain_entry(text)
    return Position(said["seq"], entry_hash(text), said["previous"], said["at"])


def _fits(stored, pattern, tenant, since):
    found_by = build_run_lookup(stored.recording)
    return (
        pattern in (None, found_by.pattern)
        and (tenant is None or tenant in [name for name, _ in found_by.callers])
        and (since is None or datetime.fromisoformat(stored.position.at) >= since)
    )


database = pytest.fixture(new_database)


@pytest.fixture(params=["sqlite", "postgres", "memory", "open memory"])
def make_store(request, tmp_path):
    """How a store is made, another empty one each time."""
    if "memory" in request.param:
        return OpenMemoryStore if "open" in request.param else MemoryStore
    if request.param == "sqlite":
        return lambda: sql_store(f"sqlite:///{tmp_path}/{len(list(tmp_path.iterdir()))}.db", timeout=60)
    return lambda: sql_store(request.getfixturevalue("database"), timeout=60)


@pytest.mark.parametrize("check", STORE_CHECKS)
def test_a_store_does_what_the_protocol_says(check, make_store):
    """Every check of the conformance suite holds."""
    STORE_CHECKS[check](make_store())


def test_a_store_that_fails_a_check_is_told_which():
    """A store that forgets is named by the check that it fails."""

    class Forgetful(MemoryStore):
        def record(self, run):
            return super().record({**run, "graph": "another"})

    with pytest.raises(AssertionError, match=r"a_run_is_read_as_it_was_recorded: read\(\).recording"):
        check_store(Forgetful)


def test_a_store_of_ones_own_passes_all_at_once():
    """`check_store` holds every check against a store of its own."""
    made = []
    check_store(lambda: made.append(MemoryStore()) or made[-1])
    assert len(made) == len(STORE_CHECKS)
    check_store(OpenMemoryStore)
    with pytest.raises(InputError):
        made[0].read("nobody")
