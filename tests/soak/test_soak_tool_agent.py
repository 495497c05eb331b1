"""What takes minutes: tool agents that are killed while they pay, and five hundred what-ifs beside live runs."""

from __future__ import annotations

import importlib
import random
from collections import Counter

import pytest
from killed_office import KilledRun, check_paid_once, survive_kills

KILLS = 25


def test_kills_at_random_double_no_payment_and_hide_none(tmp_path):
    """However often a process dies: no payment is made twice, each is on record, and a run that ends well made all."""
    endings, killed, seed = Counter[str](), 0, 0
    while killed < KILLS:
        chance, run = random.Random(seed), KilledRun(tmp_path / str(seed), seed)
        run.folder.mkdir()
        result, died = survive_kills(run, [chance.randint(1, 130) for _ in range(chance.randint(1, 3))])
        endings[check_paid_once(run, result)] += 1
        killed, seed = killed + died, seed + 1
    print(endings, killed)
    assert set(endings) == {"success", "effect_unknown:send_money"}, endings


@pytest.mark.unreplayable(reason="each run is held against a live one already")
def test_five_hundred_what_ifs_of_tool_agents_are_what_live_runs_give(monkeypatch):
    """Random proposals, rules, lists, budgets and answers of people: none that is known is wrong."""
    monkeypatch.setenv("GUARDGRAPH_WHAT_IFS", "25")
    import test_what_if_exact as exact

    exact = importlib.reload(exact)
    exact.test_what_is_known_of_a_tool_run_is_what_a_live_run_gives()
    print(dict(exact.COUNTS))
    assert exact.COUNTS.total() >= 500
    assert min(exact.COUNTS[kind] for kind in ("same", "changed", "unknown")) >= 50
