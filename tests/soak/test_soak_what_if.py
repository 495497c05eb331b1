"""A large store on a real cluster; `make soak` runs it."""

from __future__ import annotations

from threading import Timer

import pytest
from dask_cluster import dask_cluster
from stored_runs import new_database, recording, running_server

from guardgraph import RagBudget, sql_store, what_if

server = pytest.fixture(scope="module")(running_server)
database = pytest.fixture(new_database)

RUNS = 20_000


@pytest.mark.unreplayable(reason="nothing runs")
def test_twenty_thousand_runs_of_a_postgresql_store_are_judged_though_a_worker_is_killed(database, tmp_path):
    """The workers read ranges of the store, one of them is killed in the middle, and every run has its row in order."""
    store = sql_store(database)
    for number in range(RUNS):
        store.record(recording(number))
    with dask_cluster(tmp_path) as cluster:
        killer = Timer(5.0, cluster.kill_worker)
        killer.start()
        executor = cluster.client.get_executor()
        budget = RagBudget(min_chunk_score=0.9)
        judged = what_if("guardgraph:create_rag_agent", store.runs(), executor=executor, budget=budget)
        killer.join()
        assert cluster.workers[-1].poll() is not None
    assert [row.seq for row in judged.rows] == [*range(1, RUNS + 1)]
    assert judged.counts["changed"] == RUNS
