"""Whole runs in time and side by side: deadlines, cancellation, many at once."""

from __future__ import annotations

import asyncio
import time

import pytest
from hanging import PROMPTLY, async_hang, hang, released, standing
from runs import check_result, masked
from ticket_pattern import REASONS, TICKET, triage

from guardgraph import LiveWorld
from guardgraph.grammar import Call, declares
from guardgraph.testing import ScriptedClock

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


async def stubborn(request):
    """Bring an answer although the call was cancelled."""
    try:
        await asyncio.sleep(30)
    except asyncio.CancelledError:
        return {"label": "bug"}


def test_an_answer_that_comes_after_the_deadline_counts_for_nothing():
    """Not even that of somebody who does not let himself be cancelled."""
    result = asyncio.run(triage(stubborn, world=standing()).ainvoke(TICKET, context=SHORT))
    assert (result["stop_reason"], result["details"]["limit"]) == ("llm_timeout", "max_seconds")


def test_the_second_call_of_a_step_has_what_the_first_left():
    """All calls of one node share the run's time."""
    clock, left = ScriptedClock(), []

    @declares(rounds=3)
    def body(state, run):
        for _ in range(3):
            came = yield Call("tool", lambda request: clock.advance(25), {})
            left.append(came.form)
        return {"found_duty": came.packed()}

    result = triage(bodies={"lookup": body}, world=LiveWorld(clock=clock)).invoke(TICKET)
    assert left == ["value", "value", "value"]
    assert result["stop_reason"] == "tool_invalid_output:lookup"
    left.clear()
    result = triage(bodies={"lookup": body}, world=LiveWorld(clock=clock)).invoke(
        TICKET, context={"budget": {"max_seconds": 50.0}}
    )
    assert left == ["value", "value", "failure"]
    assert result["stop_reason"] == "max_seconds"


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
