"""What takes minutes: kills, and eight processes that write into one store. `make soak` runs it."""

import pytest
from store_writers import TIMEOUT, called_and_killed, survived, written
from stored_runs import new_database, recording

from guardgraph import sql_store

database = pytest.fixture(new_database)

PROCESSES, RUNS = 8, 12


@pytest.fixture(params=["sqlite", "postgres"])
def url(request, tmp_path):
    return request.getfixturevalue("database") if request.param == "postgres" else f"sqlite:///{tmp_path}/runs.db"


def test_eight_processes_write_into_one_chain(url):
    acknowledged = written(url, recording(), PROCESSES, RUNS)
    assert sorted(receipt["seq"] for _, receipt in acknowledged) == list(range(1, PROCESSES * RUNS + 1))
    store = sql_store(url, timeout=TIMEOUT)
    assert store.verify().ok
    assert {stored.run_id: stored.position.receipt for stored in store.runs()} == dict(acknowledged)


def test_what_was_acknowledged_survives_many_kills(url, tmp_path):
    """Processes that make checkpointed runs are killed at random points; the chain is whole, and every run goes on."""
    assert survived(url, tmp_path / "checkpoints.db", kills=10, seed=50) > 0


def test_no_killed_process_acts_unseen(url, tmp_path):
    """Processes are killed at random points: whatever called a tool has its beginning on record."""
    called = called_and_killed(url, tmp_path / "checkpoints.db", kills=10, seed=51)
    store = sql_store(url, timeout=TIMEOUT)
    left = {item.run_id for item in store.open_runs()}
    assert all(run_id in left or store.entries(run_id) for run_id in called)
    assert store.verify().ok
    assert called
