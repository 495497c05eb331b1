"""Several tool calls at once: side by side, bounded, under one deadline, each recorded by itself."""

from __future__ import annotations

import asyncio
import threading

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command, interrupt
from research_cases import hits, quotes, research, vendor
from runs import check_result, run
from ticket_pattern import REASONS, TICKET, triage

from guardgraph import LiveWorld
from guardgraph.grammar import Call, declares
from guardgraph.testing import ScriptedClock
from guardgraph.world.live import MAX_AT_ONCE

MODES = pytest.mark.parametrize("mode", ["invoke", "ainvoke"])
THREAD = {"configurable": {"thread_id": "1"}}


def asking(target, count, seen=None):
    """Return a body that asks a tool several times at once and joins what came."""

    @declares(rounds=2)
    def body(state, run):
        outcomes = yield [Call("tool", target, {"number": number}) for number in range(count)]
        if seen is not None:
            seen.extend(outcomes)
        came = [str(item.content) if item.form == "value" else item.content["reason"] for item in outcomes]
        last = yield Call("tool", lambda request: "-".join(came), {})
        return {"found_duty": last.packed()}

    return body


def together(count, kind):
    """Return a tool that answers only once `count` calls of it are at work."""
    if kind == "sync":
        barrier = threading.Barrier(count)

        def wait(request):
            barrier.wait(300)
            return request["number"]

        return wait
    arrived, all_there = [], asyncio.Event()

    async def await_all(request):
        arrived.append(request["number"])
        if len(arrived) == count:
            all_there.set()
        await asyncio.wait_for(all_there.wait(), 20)
        return request["number"]

    return await_all


@pytest.mark.parametrize(("mode", "kind"), [("invoke", "sync"), ("ainvoke", "sync"), ("ainvoke", "async")])
def test_calls_of_one_node_are_at_work_at_the_same_time(mode, kind):
    """Ten calls that wait for each other all answer, and their outcomes come in the order of the calls."""
    result = run(triage(bodies={"lookup": asking(together(10, kind), 10)}), TICKET, mode)
    assert check_result(REASONS, result)["on_duty"] == "0-1-2-3-4-5-6-7-8-9"


@MODES
def test_only_so_many_are_at_work_at_once(mode):
    """More calls than may be at work wait for their turn; none is lost, and the order stays."""
    working, most, lock = 0, [], threading.Lock()

    def tool(request):
        nonlocal working
        with lock:
            working += 1
            most.append(working)
        threading.Event().wait(0.002)
        with lock:
            working -= 1
        return request["number"]

    count = 3 * MAX_AT_ONCE
    result = run(triage(bodies={"lookup": asking(tool, count)}), TICKET, mode)
    assert result["on_duty"] == "-".join(map(str, range(count)))
    assert 1 < max(most) <= MAX_AT_ONCE


@MODES
def test_calls_at_once_share_one_deadline(mode):
    """Who is late is max_seconds, who was in time is kept, and nobody waits longer than the run has."""
    seen, released, clock = [], threading.Event(), ScriptedClock()

    def tool(asked):
        return asked["number"] or clock.advance(2) or released.wait(20)

    graph = triage(bodies={"lookup": asking(tool, 3, seen)}, world=LiveWorld(clock=clock))
    result = run(graph, TICKET, mode, context={"budget": {"max_seconds": 1.0}})
    released.set()
    assert [item.form for item in seen] == ["failure", "value", "value"]
    assert seen[0].content["reason"] == "max_seconds"
    assert (result["stop_reason"], result["phase"]) == ("max_seconds", "lookup")


@MODES
@pytest.mark.parametrize(
    ("node", "yielded", "message"),
    [
        ("label", [Call("proposer", print, {})], "yielded a Call of a proposer"),
        ("lookup", [Call("tool", print, {}), "x"], "yielded a str; this node may yield Calls of a tool"),
        ("lookup", [Call("tool", print, {})] * 1001, "yielded 1001 Calls at once; at most 1000"),
    ],
)
def test_a_group_that_may_not_be_made_closes_the_run(node, yielded, message, mode):
    """A propose node makes one call, a group holds calls alone, and it has a bound; nothing is called."""

    def body(state, run):
        yield yielded

    result = check_result(REASONS, run(triage(bodies={node: body}), TICKET, mode))
    assert result["stop_reason"] == f"guard_error:{node}"
    if node == "lookup":
        assert result["details"]["message"] == message


@MODES
def test_a_person_asked_by_one_of_several_keeps_the_run_waiting(mode):
    """An interrupt in a group waits; on resume the group is asked again, and the answer comes in its place."""

    def tool(asked):
        return interrupt("who?") if asked["number"] == 1 else asked["number"]

    graph = triage(bodies={"lookup": asking(tool, 3)}, checkpointer=InMemorySaver())
    waiting = run(graph, TICKET, mode, config=THREAD)
    assert (waiting["status"], waiting["waiting_for"]["shown"]) == ("waiting", "who?")
    assert run(graph, Command(resume="Grace"), mode, config=THREAD)["on_duty"] == "0-Grace-2"


@MODES
def test_research_reads_as_many_pages_at_once_as_are_still_wanted(mode):
    """Three pages are wanted, so three are read together; the one that fails is replaced by the next in order."""
    barrier, asked = threading.Barrier(3), []

    def reader(request):
        name = request["url"][-1]
        asked.append(name)
        if name in "abc":
            barrier.wait(300)
        if name == "b":
            raise LookupError("gone")
        return {"title": name, "body": f"This is what the page {name} says."}

    result = research(
        {"max_read_pages": 3}, mode=mode, search=hits(*vendor(*"abcde")), reader=reader, extractor=quotes()
    )
    assert sorted(asked) == ["a", "b", "c", "d"]
    assert result["aggregate"]["pages_read"] == 3
    assert [item["url"] for item in result["failed_sources"]] == vendor("b")


@MODES
def test_answers_go_to_whoever_was_shown_to_be_asking(mode):
    """Two tools of a group ask: the first in order is shown first, however slow, and each gets its own answer."""

    def tool(asked):
        if asked["number"] == 0:
            threading.Event().wait(0.05)
        return interrupt({"pay": asked["number"]}) if asked["number"] < 2 else "free"

    graph = triage(bodies={"lookup": asking(tool, 3)}, checkpointer=InMemorySaver())
    shown = [run(graph, TICKET, mode, config=THREAD)["waiting_for"]["shown"]]
    shown.append(run(graph, Command(resume="to 0"), mode, config=THREAD)["waiting_for"]["shown"])
    assert shown == [{"pay": 0}, {"pay": 1}]
    assert run(graph, Command(resume="to 1"), mode, config=THREAD)["on_duty"] == "to 0-to 1-free"
