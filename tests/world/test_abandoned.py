"""Calls that outlast their deadline are left behind, up to a bound; beyond it a call is refused until some end."""

import asyncio
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from runs import run
from ticket_pattern import TICKET, triage

from guardgraph import ConfigurationError, LiveWorld
from guardgraph.grammar import Budget
from guardgraph.testing import ScriptedClock
from guardgraph.world.call import Call, mark_as_instant
from guardgraph.world.deadline import count_abandoned_work
from guardgraph.world.live import aperform_call

LATE = """
import asyncio
import sys
import threading
import time
from collections import Counter

sys.path.insert(0, sys.argv[1])

from ticket_pattern import TICKET, triage

from guardgraph import LiveWorld
from guardgraph.grammar import Budget, Call
from guardgraph.testing import ScriptedClock
from guardgraph.world.call import mark_as_instant
from guardgraph.world.live import MAX_ABANDONED
from guardgraph.world.deadline import MAX_IDLE

way, runs = sys.argv[2], int(sys.argv[3])
hanging = threading.Event()


def hang(request):
    hanging.wait(60)
    return {"label": "bug"}


def several(state, run):
    outcomes = yield [Call("tool", hang, {"desk": str(at)}) for at in range(7)]
    return {"found_duty": outcomes[-1].packed()}


@mark_as_instant
def label(request):
    return {"label": "bug"}


parts = {"bodies": {"lookup": several}, "proposer": label} if way == "at once" else {"proposer": hang}
# The clock stands still, so that each call has the same seconds, however busy the machine is.
graph = triage(**parts, budget=Budget(max_seconds=0.01), world=LiveWorld(clock=ScriptedClock()))


async def invoke_all():
    return [await graph.ainvoke(TICKET) for _ in range(runs)]


results = asyncio.run(invoke_all()) if way == "ainvoke" else [graph.invoke(TICKET) for _ in range(runs)]
print(Counter(result["stop_reason"] for result in results))
print(results[-1]["details"], threading.active_count() - 1 <= MAX_ABANDONED + MAX_IDLE)
hanging.set()
ends = time.monotonic() + 30
while "unavailable" in (last := graph.invoke(TICKET))["stop_reason"] and time.monotonic() < ends:
    time.sleep(0.01)
time.sleep(0.01)
print("unavailable" in last["stop_reason"])
"""


@pytest.mark.parametrize("way", ["invoke", "ainvoke", "at once"])
def test_late_calls_are_bounded(way):
    """150 runs whose call hangs leave no more threads than the bound of one target; then calls go again."""
    runs = 30 if way == "at once" else 150
    command = [sys.executable, "-c", LATE, str(Path(__file__).parents[1] / "support"), way, str(runs)]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert ran.stderr == ""
    late, refused = (
        ("max_seconds", "tool_unavailable:lookup") if way == "at once" else ("llm_timeout", "llm_unavailable")
    )
    within = 3 if way == "at once" else 16
    assert ran.stdout.splitlines() == [
        f"Counter({{'{refused}': {runs - within}, '{late}': {within}}})",
        "{'cause': 'max_abandoned_each', 'limit': 16} True",
        "False",
    ]


def test_the_bound_is_a_whole_number():
    for wrong in (-1, 2.5, True, "8", None):
        with pytest.raises(ConfigurationError, match=r"max_abandoned: a whole number from 0 on; given: "):
            LiveWorld(max_abandoned=wrong)
    for wrong in (-1, 2.5, True, "8"):
        with pytest.raises(ConfigurationError, match=r"max_abandoned_each: a whole number from 0 on; given: "):
            LiveWorld(max_abandoned_each=wrong)


@pytest.fixture
def hanging():
    """Yield an event for which calls wait, and let them end."""
    event = threading.Event()
    yield event
    event.set()
    ends = time.monotonic() + 20
    while count_abandoned_work()[0] and time.monotonic() < ends:
        time.sleep(0.01)


@mark_as_instant
def label(request):
    """Propose at once, however busy the machine is."""
    return {"label": "bug"}


@pytest.mark.parametrize("mode", ["invoke", "ainvoke"])
def test_who_hangs_leaves_room_for_the_others(mode, hanging):
    """However often one tool hangs, in whatever agent, proposers and other tools are asked; and all have a bound."""
    tight, world = Budget(max_seconds=0.02), LiveWorld(clock=ScriptedClock())

    def answer(graph, times=1):
        ran = [run(graph, TICKET, mode) for _ in range(times)]
        return [result["stop_reason"] for result in ran]

    hangs = triage(label, lambda request: hanging.wait(30), budget=tight, world=world)
    assert answer(hangs, 20) == ["max_seconds"] * 16 + ["tool_unavailable:lookup"] * 4
    assert answer(triage(world=world)) == ["success"]
    others = [triage(label, lambda request: hanging.wait(30), budget=tight, world=world) for _ in range(3)]
    assert [reason for graph in others for reason in answer(graph, 16)] == ["max_seconds"] * 48
    result = run(triage(world=world), TICKET, mode)
    assert (result["stop_reason"], result["details"]) == ("llm_unavailable", {"cause": "max_abandoned", "limit": 64})


def stubborn(event, begun=None):

    async def tool(request):
        if begun is not None:
            begun.set()
        while not event.is_set():
            try:
                await asyncio.sleep(0.01)
            except asyncio.CancelledError:
                continue
        return "Ada"

    return tool


def _standing(**given):
    """Return a world whose clock stands: a run's time passes while it waits for a call, and at nothing else."""
    return LiveWorld(clock=ScriptedClock(), **given)


async def _all_ended():
    async with asyncio.timeout(60):
        while count_abandoned_work()[0]:
            await asyncio.sleep(0.01)


def test_an_async_call_that_goes_on_is_left_behind(hanging):
    """The run does not wait for a task that swallows its cancellation, and counts it until it ends."""

    async def both():
        tool = stubborn(hanging)
        graph = triage(label, tool, budget=Budget(max_seconds=0.4), world=_standing(max_abandoned_each=2))
        began = time.monotonic()
        reasons = [(await graph.ainvoke(TICKET))["stop_reason"] for _ in range(3)]
        took, left = time.monotonic() - began, count_abandoned_work(id(tool))
        hanging.set()
        await _all_ended()
        return reasons, took, left, count_abandoned_work()

    reasons, took, left, after = asyncio.run(both())
    assert (reasons, left, after) == (["max_seconds", "max_seconds", "tool_unavailable:lookup"], (2, 2), (0, 0))
    assert took < 60


def test_what_a_closed_loop_left_behind_counts_no_more(hanging):
    """A task whose event loop is gone will never end, and takes no room."""
    loop = asyncio.new_event_loop()
    call = Call("tool", stubborn(hanging), {})
    assert loop.run_until_complete(aperform_call(call, 0.05)).content["reason"] == "max_seconds"
    assert count_abandoned_work()[0] == 1
    loop.close()
    assert count_abandoned_work()[0] == 0
