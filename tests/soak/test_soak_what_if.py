"""Runs judged on a real cluster, and a thousand what-ifs beside live runs; `make soak` runs it."""

from __future__ import annotations

import importlib
from functools import partial
from signal import SIGKILL
from threading import Timer

import pytest
from dask_cluster import dask_cluster
from judged_runs import expected, killing, numbered, rows
from stored_runs import new_database, recording

from guardgraph import RagBudget, sql_store, what_if

database = pytest.fixture(new_database)

RAG = "guardgraph:create_rag_agent"
RUNS = 1_500


@pytest.mark.unreplayable(reason="nothing runs")
def test_hundreds_of_runs_of_a_postgresql_store_are_judged_though_a_worker_is_killed(database, tmp_path):
    """The workers read ranges of the store, one of them is killed in the middle, and every run has its row in order."""
    store = sql_store(database)
    for number in range(RUNS):
        store.record(recording(number))
    with dask_cluster(tmp_path) as cluster:
        killer = Timer(5.0, cluster.kill_worker)
        killer.start()
        judge = partial(what_if, RAG, executor=cluster.client.get_executor(), budget=RagBudget(min_chunk_score=0.9))
        judged = judge(store.runs())
        killer.join()
        assert cluster.workers[-1].poll() is not None
    assert [row.seq for row in judged.rows] == [*range(1, RUNS + 1)]
    assert judged.counts["changed"] == RUNS


@pytest.mark.unreplayable(reason="each run is held against a live one already")
def test_a_thousand_what_ifs_are_what_live_runs_give(monkeypatch):
    """Random agents, candidates, times, limits, scopes, refusals and questions: none that is known is wrong."""
    monkeypatch.setenv("GUARDGRAPH_WHAT_IFS", "5")
    import test_what_if_exact as exact

    exact = importlib.reload(exact)
    for name, trial in vars(exact).items():
        if name.startswith("test_what_is_known"):
            trial()
    print(dict(exact.COUNTS))
    assert exact.COUNTS.total() >= 1_000
    assert min(exact.COUNTS[kind] for kind in ("same", "changed", "unknown")) >= 100


def test_a_dask_cluster_judges_in_order_and_a_killed_worker_loses_nothing(tmp_path):
    """A scheduler and two workers, one of them killed in the middle: every run is judged, in its place."""
    store = sql_store(f"sqlite:///{tmp_path}/runs.db")
    for number in range(40):
        store.record(recording(number))
    with dask_cluster(tmp_path) as cluster:
        judge = partial(what_if, RAG, executor=cluster.client.get_executor(), budget=RagBudget(min_chunk_score=0.9))
        of_store = judge(store.runs())
        judged = judge(killing(numbered(80), 60, cluster.kill_worker))
    assert [row.seq for row in of_store.rows] == [*range(1, 41)]
    assert rows(judged) == expected(80)


def test_what_a_dask_cluster_gives_up_is_judged_here(tmp_path):
    """Runs over which every worker dies have their rows all the same, in their places."""
    with dask_cluster(tmp_path, allowed_failures=0) as cluster:
        executor = cluster.client.get_executor()
        judged = what_if("dask_cluster:fatal", numbered(100), executor=executor, budget=RagBudget(min_chunk_score=0.9))
        assert [worker.wait(600) for worker in cluster.workers] == [-SIGKILL, -SIGKILL]
    assert rows(judged) == expected(100)
