"""Calls that outlast their deadline are left behind, up to a bound; beyond it a call is refused until some end."""

import asyncio
import threading
import time
from contextlib import suppress

import pytest
from hanging import standing
from runs import run
from ticket_pattern import TICKET, triage

from guardgraph import ConfigurationError, LiveWorld
from guardgraph.grammar import Budget
from guardgraph.world.call import Call, mark_as_instant
from guardgraph.world.deadline import MAX_IDLE, count_abandoned_work
from guardgraph.world.live import aperform_call


def test_the_bound_is_a_whole_number():
    for name in ("max_abandoned", "max_abandoned_each"):
        for wrong in (-1, 2.5, True, "8", *([None] if name == "max_abandoned" else [])):
            with pytest.raises(ConfigurationError, match=f"^{name}: a whole number from 0 on; given: "):
                LiveWorld(**{name: wrong})


@pytest.fixture
def hanging():
    """Yield an event for which calls wait, and let them end; whoever was left behind before has ended too."""
    event = threading.Event()
    wait_for_all()
    yield event
    event.set()
    wait_for_all()


def wait_for_all():
    ends = time.monotonic() + 60
    while count_abandoned_work()[0] and time.monotonic() < ends:
        time.sleep(0.01)


@mark_as_instant
def label(request):
    """Propose at once, however busy the machine is."""
    return {"label": "bug"}


@pytest.mark.parametrize("mode", ["invoke", "ainvoke"])
def test_late_calls_are_bounded(mode, hanging):
    """However often one tool hangs, others are asked; all have a bound, and so have their threads, until some end."""
    world, tight = standing(max_abandoned=4, max_abandoned_each=2), Budget(max_seconds=0.02)
    threads = threading.active_count()

    def answer(graph, times=1):
        return [run(graph, TICKET, mode)["stop_reason"] for _ in range(times)]

    first, second = (triage(label, lambda request: hanging.wait(60), budget=tight, world=world) for _ in range(2))
    assert answer(first, 4) == ["max_seconds"] * 2 + ["tool_unavailable:lookup"] * 2
    assert (answer(triage(world=world)), answer(second, 2)) == (["success"], ["max_seconds"] * 2)
    result = run(triage(world=world), TICKET, mode)
    assert (result["stop_reason"], result["details"]) == ("llm_unavailable", {"cause": "max_abandoned", "limit": 4})
    assert threading.active_count() <= threads + 4 + MAX_IDLE
    hanging.set()
    wait_for_all()
    assert answer(triage(world=world)) == ["success"]


def stubborn(event):
    async def tool(request):
        while not event.is_set():
            with suppress(asyncio.CancelledError):
                await asyncio.sleep(0.01)

    return tool


def test_an_async_call_that_goes_on_is_left_behind(hanging):
    """The run does not wait for a task that swallows its cancellation, and counts it until it ends."""

    async def both():
        tool = stubborn(hanging)
        graph = triage(label, tool, budget=Budget(max_seconds=0.4), world=standing(max_abandoned_each=2))
        reasons = [(await graph.ainvoke(TICKET))["stop_reason"] for _ in range(3)]
        left = count_abandoned_work(id(tool))
        hanging.set()
        await asyncio.to_thread(wait_for_all)
        return reasons, left, count_abandoned_work()

    assert asyncio.run(both()) == (["max_seconds", "max_seconds", "tool_unavailable:lookup"], (2, 2), (0, 0))


def test_what_a_closed_loop_left_behind_counts_no_more(hanging):
    """A task whose event loop is gone will never end, and takes no room."""
    loop = asyncio.new_event_loop()
    call = Call("tool", stubborn(hanging), {})
    assert loop.run_until_complete(aperform_call(call, 0.05)).content["reason"] == "max_seconds"
    assert count_abandoned_work()[0] == 1
    loop.close()
    assert count_abandoned_work()[0] == 0
