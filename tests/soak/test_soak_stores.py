"""What takes minutes: fifty kills, and sixteen processes that write into one store. `make soak` runs it."""

from __future__ import annotations

import pytest
from store_writers import TIMEOUT, survived, written
from stored_runs import new_database, recording, running_server

from guardgraph import sql_store

server = pytest.fixture(scope="module")(running_server)
database = pytest.fixture(new_database)

PROCESSES, RUNS = 16, 25


@pytest.fixture(params=["sqlite", "postgres"])
def url(request, tmp_path):
    """The URL of a store that is not there yet, in both kinds of databases."""
    return request.getfixturevalue("database") if request.param == "postgres" else f"sqlite:///{tmp_path}/runs.db"


def test_sixteen_processes_write_into_one_chain(url):
    """No run is lost, and nothing breaks the chain."""
    acknowledged = written(url, recording(), PROCESSES, RUNS)
    assert sorted(receipt["seq"] for _, receipt in acknowledged) == list(range(1, PROCESSES * RUNS + 1))
    store = sql_store(url, timeout=TIMEOUT)
    assert store.verify().ok
    assert {stored.run_id: stored.position.receipt for stored in store.runs()} == dict(acknowledged)


def test_what_was_acknowledged_survives_fifty_kills(url, tmp_path):
    """Processes that make checkpointed runs are killed at random points; the chain is whole, and every run goes on."""
    assert survived(url, tmp_path / "checkpoints.db", kills=50, seed=50) > 0
