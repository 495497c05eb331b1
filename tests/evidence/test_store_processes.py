"""Many processes write into one store, and processes that are killed: what was acknowledged is there."""

from __future__ import annotations

import pytest
from store_writers import TIMEOUT, survived, written
from stored_runs import new_database, recording, running_server

from guardgraph import sql_store

server = pytest.fixture(scope="module")(running_server)
database = pytest.fixture(new_database)


@pytest.fixture(params=["sqlite", "postgres"])
def url(request, tmp_path):
    """The URL of a store that is not there yet, in both kinds of databases."""
    return request.getfixturevalue("database") if request.param == "postgres" else f"sqlite:///{tmp_path}/runs.db"


def test_processes_write_into_one_chain(url):
    """Four processes that begin with an empty database: no run is lost, and nothing breaks the chain."""
    acknowledged = written(url, recording(), processes=4, runs=5)
    assert sorted(receipt["seq"] for _, receipt in acknowledged) == list(range(1, 21))
    store = sql_store(url, timeout=TIMEOUT)
    assert store.verify().ok
    assert {stored.run_id: stored.position.receipt for stored in store.runs()} == dict(acknowledged)


def test_what_was_acknowledged_survives_a_kill(url, tmp_path):
    """Processes that make checkpointed runs are killed at some point; the chain is whole, and every run goes on."""
    assert survived(url, tmp_path / "checkpoints.db", kills=3, seed=1) > 0
