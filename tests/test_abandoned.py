"""Calls that outlast their deadline are left behind, up to a bound; beyond it a call is refused until some end."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from ticket_pattern import TICKET, triage

from guardgraph import ConfigurationError, LiveWorld, create_rag_agent
from guardgraph.grammar import Budget
from guardgraph.testing import ScriptedClock

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
from guardgraph.world.threads import MAX_IDLE

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
    """150 runs whose call hangs leave no more threads than the bound and those that wait; then calls go again."""
    runs = 30 if way == "at once" else 150
    command = [sys.executable, "-c", LATE, str(Path(__file__).parent), way, str(runs)]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert ran.stderr == ""
    late, refused = (
        ("max_seconds", "tool_unavailable:lookup") if way == "at once" else ("llm_timeout", "llm_unavailable")
    )
    within = 10 if way == "at once" else 64
    assert ran.stdout.splitlines() == [
        f"Counter({{'{refused}': {runs - within}, '{late}': {within}}})",
        "{'cause': 'max_abandoned', 'limit': 64} True",
        "False",
    ]


def test_the_bound_is_a_whole_number():
    """Anything else is a clear error."""
    for wrong in (-1, 2.5, True, "8", None):
        with pytest.raises(ConfigurationError, match=r"max_abandoned: a whole number from 0 on; given: "):
            LiveWorld(max_abandoned=wrong)


@pytest.mark.parametrize("mode", ["invoke", "ainvoke"])
def test_who_answers_at_once_is_asked_whatever_hangs(mode):
    """The offline rules and the retriever of a knowledge base take no thread."""
    assert create_rag_agent(world=LiveWorld(max_abandoned=0)).invoke({"question": "What is P1?"})["status"] == "ok"


def test_a_call_that_came_in_time_is_not_abandoned():
    """However many calls were made, none of them counts once it is over."""
    graph = triage(budget=Budget(max_seconds=20.0), world=LiveWorld(clock=ScriptedClock(), max_abandoned=1))
    assert {graph.invoke(TICKET)["stop_reason"] for _ in range(20)} == {"success"}
