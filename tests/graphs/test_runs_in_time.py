"""Runs in time and side by side: deadlines, cancellation, threads, many runs and many calls at once."""

import asyncio
import subprocess
import sys
import threading
import time

import pytest
from hanging import PROMPTLY, async_hang, hang, released, standing
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command, interrupt
from runs import THREAD, check_result, masked, run
from ticket_pattern import REASONS, TICKET, triage

from guardgraph import LiveWorld
from guardgraph.grammar import Call, declares
from guardgraph.testing import ScriptedClock
from guardgraph.world.live import MAX_AT_ONCE

nobody_hangs_on = pytest.fixture(autouse=True)(released)
MODES = pytest.mark.parametrize("mode", ["invoke", "ainvoke"])


@pytest.mark.parametrize("mode", ["invoke", "ainvoke"])
@pytest.mark.parametrize("target", [hang, async_hang])
def test_a_run_ends_in_time_whatever_is_called(target, mode):
    """A proposer that is too slow ends as llm_timeout, a tool as max_seconds, each within the run's budget."""

    def make_run(*args, **given):
        started = time.perf_counter()
        graph = triage(*args, world=standing(), **given)
        result = check_result(REASONS, run(graph, TICKET, mode, context={"budget": {"max_seconds": 0.15}}))
        assert time.perf_counter() - started < PROMPTLY
        return result

    result = make_run(target)
    assert (result["stop_reason"], result["phase"]) == ("llm_timeout", "label")
    assert result["details"]["limit"] == "max_seconds"
    result = make_run(tool=target)
    assert (result["stop_reason"], result["phase"]) == ("max_seconds", "lookup")


def test_many_runs_at_once_do_not_share_anything():
    """Concurrent runs of one graph each label their own ticket, sync and async."""

    async def proposer(view):
        await asyncio.sleep(0.001 * (int(view["ticket"]) % 3))
        return {"label": "bug" if int(view["ticket"]) % 2 else "spam", "said": view["ticket"]}

    graph = triage(proposer)
    inputs = [{"ticket": str(number)} for number in range(40)]
    expected = [masked(graph.invoke(given)) for given in inputs]
    assert [result["label"] for result in expected] == ["spam", "bug"] * 20
    batched = graph.batch(inputs, {"max_concurrency": 8})
    for results in (batched, asyncio.run(graph.abatch(inputs, {"max_concurrency": 8}))):
        assert [masked(result) for result in results] == expected
        assert len({result["run_id"] for result in results}) == 40


def run_script(script):
    command = [sys.executable, "-W", "ignore", "-c", script]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    return ran.stdout.strip(), ran.stderr, ran.returncode


def test_a_forked_process_starts_threads_of_its_own():
    """A server that forks after the first run goes on working in its children."""
    script = """
import os
from guardgraph import create_rag_agent
graph = create_rag_agent()
question = {"question": "What SLA applies to enterprise plan?"}
graph.invoke(question)
child = os.fork()
if child == 0:
    os._exit(0 if graph.invoke(question)["stop_reason"] == "success" else 1)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""
    assert run_script(script) == ("0", "", 0)


def test_a_process_ends_while_a_call_hangs():
    """Nobody waits for a call that was given up, not even the process at its end."""
    script = """
import threading
from guardgraph import RagBudget, create_rag_agent
graph = create_rag_agent(planner=lambda view: threading.Event().wait(), budget=RagBudget(max_seconds=0.2))
print(graph.invoke({"question": "What SLA applies to enterprise plan?"})["stop_reason"])
"""
    said, _, code = run_script(script)
    assert (said, code) == ("llm_timeout", 0)


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
    threads, tasks = threading.Barrier(count), asyncio.Barrier(count)

    def wait(request):
        threads.wait(300)
        return request["number"]

    async def await_all(request):
        await asyncio.wait_for(tasks.wait(), 20)
        return request["number"]

    return wait if kind == "sync" else await_all


@pytest.mark.parametrize(("mode", "kind"), [("invoke", "sync"), ("ainvoke", "sync"), ("ainvoke", "async")])
def test_calls_of_one_node_are_at_work_at_the_same_time(mode, kind):
    """Ten calls that wait for each other all answer, and their outcomes come in the order of the calls."""
    result = run(triage(bodies={"lookup": asking(together(10, kind), 10)}), TICKET, mode)
    assert check_result(REASONS, result)["on_duty"] == "0-1-2-3-4-5-6-7-8-9"


@MODES
def test_only_so_many_are_at_work_at_once(mode):
    """More calls than may be at work wait for their turn; none is lost, and the order stays."""
    free, count = threading.Semaphore(MAX_AT_ONCE), 3 * MAX_AT_ONCE

    def tool(request):
        assert free.acquire(blocking=False)
        threading.Event().wait(0.002)
        free.release()
        return request["number"]

    result = run(triage(bodies={"lookup": asking(tool, count)}), TICKET, mode)
    assert result["on_duty"] == "-".join(map(str, range(count)))


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
def test_answers_go_to_whoever_was_shown_to_be_asking(mode):
    """Two tools of a group ask: the first in order is shown first, however slow, and each gets its own answer."""

    def tool(asked):
        if asked["number"] == 0:
            threading.Event().wait(0.05)
        return interrupt({"pay": asked["number"]}) if asked["number"] < 2 else "free"

    graph = triage(bodies={"lookup": asking(tool, 3)}, checkpointer=InMemorySaver())
    for number, given in enumerate((TICKET, Command(resume="to 0"))):
        assert run(graph, given, mode, config=THREAD)["waiting_for"]["shown"] == {"pay": number}
    assert run(graph, Command(resume="to 1"), mode, config=THREAD)["on_duty"] == "to 0-to 1-free"
