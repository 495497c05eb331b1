"""Whole runs in time and side by side: deadlines, cancellation, many at once."""

from __future__ import annotations

import asyncio
import time

import pytest
from hanging import PROMPTLY, async_hang, hang, released, standing
from runs import check_result, masked
from ticket_pattern import REASONS, TICKET, triage

SHORT = {"budget": {"max_seconds": 0.15}}

nobody_hangs_on = pytest.fixture(autouse=True)(released)


@pytest.mark.parametrize("mode", ["invoke", "ainvoke"])
@pytest.mark.parametrize("target", [hang, async_hang])
def test_a_run_ends_in_time_whatever_is_called(target, mode):
    """A proposer that is too slow ends as llm_timeout, a tool as max_seconds, each within the run's budget."""

    def timed(graph):
        async def ainvoke():
            started = time.perf_counter()
            return await graph.ainvoke(TICKET, context=SHORT), time.perf_counter() - started

        if mode == "ainvoke":
            return asyncio.run(ainvoke())
        started = time.perf_counter()
        return graph.invoke(TICKET, context=SHORT), time.perf_counter() - started

    result, seconds = timed(triage(target, world=standing()))
    assert (check_result(REASONS, result)["stop_reason"], result["phase"]) == ("llm_timeout", "label")
    assert result["details"]["limit"] == "max_seconds"
    assert seconds < PROMPTLY
    result, seconds = timed(triage(tool=target, world=standing()))
    assert (check_result(REASONS, result)["stop_reason"], result["phase"]) == ("max_seconds", "lookup")
    assert seconds < PROMPTLY


def test_a_cancelled_run_is_cancelled():
    """Cancelling an asynchronous run ends its call and raises what asyncio raises."""
    seen = []

    async def proposer(view):
        seen.append("asked")
        try:
            await asyncio.sleep(5)
        finally:
            seen.append("ended")

    async def cancelled():
        task = asyncio.create_task(triage(proposer).ainvoke(TICKET))
        while not seen:
            await asyncio.sleep(0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(cancelled())
    assert seen == ["asked", "ended"]


def test_many_runs_at_once_do_not_share_anything():
    """Concurrent runs of one graph each label their own ticket, sync and async."""

    async def proposer(view):
        await asyncio.sleep(0.001 * (int(view["ticket"]) % 3))
        return {"label": "bug" if int(view["ticket"]) % 2 else "spam", "said": view["ticket"]}

    graph = triage(proposer)
    inputs = [{"ticket": str(number)} for number in range(40)]

    async def many():
        return await asyncio.gather(*(graph.ainvoke(given) for given in inputs))

    expected = ["bug" if number % 2 else "spam" for number in range(40)]
    gathered = asyncio.run(many())
    batched = graph.batch(inputs, {"max_concurrency": 8})
    abatched = asyncio.run(graph.abatch(inputs, {"max_concurrency": 8}))
    for results in (gathered, batched, abatched):
        assert [result["label"] for result in results] == expected
        assert len({result["run_id"] for result in results}) == 40
        assert [masked(result) for result in results] == [masked(graph.invoke(given)) for given in inputs]
