"""What takes minutes: kills, and eight processes that write into one store. `make soak` runs it."""

import pytest
from store_writers import TIMEOUT, survived, written
from stored_runs import make_url, recording

from guardgraph import sql_store

url = pytest.fixture(params=["sqlite", "postgres"])(make_url)
PROCESSES, RUNS = 8, 12


def test_eight_processes_write_into_one_chain(url):
    acknowledged = written(url, recording(), PROCESSES, RUNS)
    assert sorted(receipt["seq"] for _, receipt in acknowledged) == list(range(1, PROCESSES * RUNS + 1))
    store = sql_store(url, timeout=TIMEOUT)
    assert store.verify().ok
    assert {stored.run_id: stored.position.receipt for stored in store.runs()} == dict(acknowledged)


def test_no_killed_process_acts_unseen_and_what_was_acknowledged_survives(url, tmp_path):
    """Processes are killed at random points: the chain is whole, every run goes on, each that acted is on record."""
    assert survived(url, tmp_path / "checkpoints.db", kills=20, seed=50) > 0
