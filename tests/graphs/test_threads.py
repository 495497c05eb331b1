"""The threads of sync calls: used again, apart from each other, and never in the way."""

from __future__ import annotations

import subprocess
import sys
import threading
from contextvars import ContextVar

from ticket_pattern import TICKET, triage

WHO = ContextVar("WHO", default="nobody")


def test_one_thread_after_the_other_is_used_again():
    """A hundred runs, one after the other, do not start a thread for each call."""
    seen = set()

    def label(view):
        seen.add(threading.get_ident())
        return {"label": "spam"}

    graph = triage(label)
    for _ in range(100):
        graph.invoke(TICKET)
    assert len(seen) < 10


BURST = """
import threading
from guardgraph.world.deadline import run_in_call_thread
together = threading.Barrier(80)
calls = [run_in_call_thread(lambda: together.wait(120)) for _ in range(80)]
for call in calls:
    call.result(120)
for thread in threading.enumerate():
    if thread is not threading.main_thread():
        thread.join(0.05)
print(threading.active_count() - 1)
"""


def test_calls_at_once_have_a_thread_each_and_few_stay():
    """Eighty calls that wait for each other all run; afterwards no more threads are kept than a process needs."""
    command = [sys.executable, "-c", BURST]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert ran.stderr == ""
    assert 0 < int(ran.stdout) <= 40  # 32, and some that looked at the same moment


def test_what_one_call_sets_no_other_call_sees():
    """A context variable that a call sets is gone with it, though the thread goes on; the run's own is seen."""
    seen = []

    def label(view):
        seen.append(WHO.get())
        WHO.set("an earlier call")
        return {"label": "spam"}

    graph = triage(label)
    token = WHO.set("the caller")
    for _ in range(3):
        graph.invoke(TICKET)
    WHO.reset(token)
    assert seen == ["the caller"] * 3


FORKING = """
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


def test_a_forked_process_starts_threads_of_its_own():
    """A server that forks after the first run goes on working in its children."""
    command = [sys.executable, "-W", "ignore", "-c", FORKING]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert (ran.stdout.strip(), ran.stderr) == ("0", "")


def test_a_process_ends_while_a_call_hangs():
    """Nobody waits for a call that was given up, not even the process at its end."""
    script = """
import threading
from guardgraph import RagBudget, create_rag_agent
graph = create_rag_agent(planner=lambda view: threading.Event().wait(), budget=RagBudget(max_seconds=0.2))
print(graph.invoke({"question": "What SLA applies to enterprise plan?"})["stop_reason"])
"""
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=300, check=False)
    assert (ran.returncode, ran.stdout.strip()) == (0, "llm_timeout")
