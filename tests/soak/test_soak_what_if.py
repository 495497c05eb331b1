"""A thousand what-ifs beside live runs; `make soak` runs it."""

import importlib

import pytest


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
