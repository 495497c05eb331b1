"""Stores keep what the protocol promises: in SQLite, in PostgreSQL, and in one of somebody's own."""

import json
from dataclasses import replace
from datetime import UTC, datetime
from threading import Lock

import pytest
from stored_runs import new_database

from guardgraph import InputError, Position, StoredRun, sql_store
from guardgraph.evidence.chain import START, build_run_lookup, content_hash, entry_hash, make_content_salt, run_entry
from guardgraph.plain.hashing import canonical_json
from guardgraph.testing import STORE_CHECKS, check_store


class MemoryStore:
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
        def fits(stored):
            known = build_run_lookup(stored.recording)
            is_young = since is None or datetime.fromisoformat(stored.position.at) >= since
            is_theirs = tenant is None or tenant in [name for name, _ in known.callers]
            return is_young and is_theirs and pattern in (None, known.pattern)

        latest = {stored.run_id: (stored, content) for stored, content in self._kept}
        made = [replace(stored, recording=json.loads(content)) for stored, content in latest.values()]
        return tuple(sorted(filter(fits, made), key=lambda stored: stored.position.seq))


database = pytest.fixture(new_database)


@pytest.fixture(params=["sqlite", "postgres", "memory"])
def make_store(request, tmp_path):
    """How a store is made, another empty one each time."""
    if request.param == "memory":
        return MemoryStore
    if request.param == "sqlite":
        return lambda: sql_store(f"sqlite:///{tmp_path}/{len(list(tmp_path.iterdir()))}.db", timeout=60)
    return lambda: sql_store(request.getfixturevalue("database"), timeout=60)


@pytest.mark.parametrize("check", STORE_CHECKS)
def test_a_store_does_what_the_protocol_says(check, make_store):
    STORE_CHECKS[check](make_store())


def test_a_store_of_ones_own_passes_all_at_once_and_one_that_fails_a_check_is_told_which():
    class Forgetful(MemoryStore):
        def record(self, run):
            return super().record({**run, "graph": "another"})

    check_store(MemoryStore)
    with pytest.raises(AssertionError, match=r"a_run_is_read_as_it_was_recorded: read\(\).recording"):
        check_store(Forgetful)
