"""Active time: whatever a run does counts against its budget, also what never got to write anything."""

import asyncio
from contextlib import suppress

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.types import Command, interrupt
from runs import THREAD, check_result, run
from tables import each_row
from ticket_pattern import REASONS, TICKET, triage

from guardgraph import LiveWorld
from guardgraph.testing import ScriptedClock


class SlowSaver(InMemorySaver):
    """A checkpointer that takes its time on a scripted clock for every checkpoint."""

    def __init__(self, clock):
        super().__init__()
        self.clock = clock

    def put(self, *args, **kwargs):
        self.clock.advance(0.3)
        return super().put(*args, **kwargs)


def budget(seconds):
    return {"budget": {"max_seconds": seconds}}


def asking(clock, seconds):
    """Return a proposer that takes its time before it asks a person and again when the answer is there."""

    def proposer(view):
        clock.advance(seconds)
        given = interrupt("Which label?")
        clock.advance(seconds)
        return given

    return proposer


@pytest.mark.parametrize("mode", ["invoke", "ainvoke"])
def test_time_before_an_interrupt_counts(mode):
    """A proposer that works before it asks, again when it is run again, and after the answer, is charged for all."""
    clock = ScriptedClock()
    graph = triage(asking(clock, 9), checkpointer=InMemorySaver(), world=LiveWorld(clock=clock))
    for thread, most, reason in (("a", 27.0, "max_seconds"), ("b", 27.5, "success")):
        given = {"config": {"configurable": {"thread_id": thread}}, "context": budget(most)}
        assert run(graph, TICKET, mode, **given)["status"] == "waiting"
        clock.advance(100_000)
        result = check_result(REASONS, run(graph, Command(resume={"label": "bug"}), mode, **given))
        assert result["stop_reason"] == reason
        if reason == "max_seconds":
            assert result["details"] == {"max_seconds": 27.0, "spent_seconds": 27.0}


class Cancelled:
    """Runs of which each is given up while it waits for its tool, which takes four scripted seconds first."""

    def __init__(self):
        self.clock, self.called = ScriptedClock(), 0
        self.graph = triage(tool=self._tool, checkpointer=InMemorySaver(), world=LiveWorld(clock=self.clock))

    async def _tool(self, request):
        self.called += 1
        self.clock.advance(4)
        await asyncio.sleep(60)

    async def attempt(self, given):
        """Make an attempt that is cancelled as soon as it waits; return its result where it never does."""
        before, task = self.called, asyncio.create_task(self.graph.ainvoke(given, THREAD, context=budget(10.0)))
        while self.called == before and not task.done():
            await asyncio.sleep(0.001)
        if task.done():
            return task.result()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        return None

    async def waited(self, given):
        with suppress(TimeoutError):
            return await asyncio.wait_for(self.graph.ainvoke(given, THREAD, context=budget(10.0)), 0.4)


@each_row("way", "attempt", "waited")
def test_cancelled_attempts_count(way):
    """However often a run is given up and resumed, by a cancellation or a timeout, what the attempts took is spent."""
    runs = Cancelled()

    async def attempts():
        result = None
        while result is None:
            result = await getattr(runs, way)(None if runs.called else TICKET)
        return result

    result = check_result(REASONS, asyncio.run(attempts()))
    assert (result["stop_reason"], result["phase"], runs.called) == ("max_seconds", "lookup", 3)
    assert result["details"] == {"max_seconds": 10.0, "spent_seconds": 12.0}


@pytest.mark.parametrize("options", [{}, {"durability": "sync"}], ids=["as it is", "sync"])
@pytest.mark.parametrize("mode", ["invoke", "ainvoke"])
def test_a_slow_checkpointer_counts(mode, options):
    """A step is kept before the next one begins, and the time that this takes is time of the run."""
    clock, called = ScriptedClock(), []
    graph = triage(tool=called.append, checkpointer=SlowSaver(clock), world=LiveWorld(clock=clock))
    result = check_result(REASONS, run(graph, TICKET, mode, config=THREAD, context=budget(0.5), **options))
    assert (result["stop_reason"], called) == ("max_seconds", [])


@pytest.mark.parametrize(("limit", "reason"), [(27.0, "max_seconds"), (27.5, "success")])
def test_time_of_another_process_counts(limit, reason, tmp_path):
    """What was done before somebody was asked counts for who goes on, with a clock and a checkpointer of its own."""
    for given, start in ((TICKET, 0.0), (Command(resume={"label": "bug"}), 1e6)):
        clock = ScriptedClock(start)
        with SqliteSaver.from_conn_string(str(tmp_path / "runs.sqlite")) as saver:
            graph = triage(asking(clock, 9), checkpointer=saver, world=LiveWorld(clock=clock))
            result = graph.invoke(given, THREAD, context=budget(limit))
    assert check_result(REASONS, result)["stop_reason"] == reason
