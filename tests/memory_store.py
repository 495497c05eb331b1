"""A store of somebody's own, in memory: what `guardgraph.testing.check_store` is held against beside ours."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import UTC, datetime
from threading import Lock

from guardgraph import InputError, Position, StoredRun
from guardgraph.evidence.chain import START, entry_hash, run_entry
from guardgraph.evidence.contents import build_run_lookup, content_hash, make_content_salt
from guardgraph.plain.hashing import canonical_json


@dataclass(frozen=True)
class MemoryRuns:
    """Runs as they were when they were asked for."""

    stored: tuple

    def __iter__(self):
        return iter(self.stored)

    def parts(self, count):
        length = -(-len(self.stored) // count) or 1
        return [MemoryRuns(self.stored[at : at + length]) for at in range(0, len(self.stored), length)]


class MemoryStore:
    """Keeps runs as JSON texts, in a list."""

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


def _fits(stored, pattern, tenant, since):
    found_by = build_run_lookup(stored.recording)
    return (
        pattern in (None, found_by.pattern)
        and (tenant is None or tenant in [name for name, _ in found_by.callers])
        and (since is None or datetime.fromisoformat(stored.position.at) >= since)
    )
