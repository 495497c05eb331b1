"""Processes that write into a store, and what is left of what they wrote when they are killed.

They come from a server of processes that has loaded all that they need, so that many of them start in no time.
"""

import multiprocessing
import os
import random
import sqlite3
import sys
import time
from itertools import count
from multiprocessing import forkserver
from types import SimpleNamespace
from unittest.mock import patch

from langgraph.checkpoint.sqlite import SqliteSaver
from stored_runs import numbered

from guardgraph import create_rag_agent, sql_store

PROCESSES = multiprocessing.get_context("forkserver")
PROCESSES.set_forkserver_preload(["pytest", "store_writers"])
TIMEOUT = 120
"""Seconds that a store may take where sixteen processes share two cores."""
QUESTION = {"question": "What is the P1 first response target?"}
SOURCES = ["support_policy", "security_policy", "billing_policy"]


def write(url, pipe, template, numbers):
    """Record runs with these numbers, and send what the store said of each."""
    store = sql_store(url, timeout=TIMEOUT)
    for number in numbers:
        made = numbered(template, number)
        pipe.send((made["run_id"], store.record(made)))
    pipe.close()


class Sending:
    """A store that sends what it acknowledged of endings, and keeps beginnings."""

    def __init__(self, store, pipe):
        self.store, self.pipe = store, pipe
        self.begin, self.note, self.notes = store.begin, store.note, store.notes

    def record(self, run):
        receipt = self.store.record(run)
        self.pipe.send((run["run_id"], receipt))
        return receipt


def saver(checkpoints):
    return SqliteSaver(sqlite3.connect(checkpoints, check_same_thread=False, timeout=TIMEOUT))


def run_agents(url, pipe, checkpoints, first):
    """Make runs that are checkpointed, each on a thread of its own, from a number on, until somebody ends it."""
    store = Sending(sql_store(url, timeout=TIMEOUT), pipe)
    agent = create_rag_agent(recorder=store, checkpointer=saver(checkpoints))
    for number in count(first):
        pipe.send(number)
        agent.invoke(QUESTION, {"configurable": {"thread_id": str(number)}}, durability="sync")


class Telling:
    """A store that sends the id of a run that it has kept the beginning of, and may hang then."""

    def __init__(self, store, pipe, hangs):
        self.store, self.pipe, self.hangs = store, pipe, hangs
        self.record, self.note, self.notes = store.record, store.note, store.notes

    def begin(self, run):
        """Keep a beginning, and send its id."""
        self.store.begin(run)
        self.pipe.send(run["run_id"])
        if self.hangs:
            time.sleep(TIMEOUT)


def stand_still(url, pipe, checkpoints, where):
    """Begin a run on a thread, and stand still behind its beginning, or in its tool, until somebody ends it."""
    store = Telling(sql_store(url, timeout=TIMEOUT), pipe, where == "beginning")

    def stands(request):
        pipe.send("called")
        time.sleep(TIMEOUT)

    agent = create_rag_agent(recorder=store, checkpointer=saver(checkpoints), retriever=stands, sources=SOURCES)
    agent.invoke(QUESTION, {"configurable": {"thread_id": "1"}}, durability="sync")


def killed_at(url, checkpoints, where):
    """Let a process begin a run, kill it where it stands still, and return the id of the run."""
    process, pipe = started(stand_still, url, checkpoints, where)
    run_id = pipe.recv()
    if where != "beginning":
        assert pipe.recv() == "called"
    process.kill()
    process.join()
    pipe.close()
    return run_id


def call_tools(url, pipe, checkpoints, first):
    """Make runs, each on a thread of its own, and send the id of each whose tool is called, until somebody ends it."""
    begun = Telling(sql_store(url, timeout=TIMEOUT), None, False)
    ids = []
    begun.pipe = SimpleNamespace(send=ids.append)

    def called(request):
        pipe.send(ids[-1])
        return []

    agent = create_rag_agent(recorder=begun, checkpointer=saver(checkpoints), retriever=called, sources=SOURCES)
    pipe.send("ready")
    for number in count(first):
        agent.invoke(QUESTION, {"configurable": {"thread_id": str(number)}}, durability="async")


def called_and_killed(url, checkpoints, kills, seed):
    """Let processes make runs, kill each at some point, and return the ids of the runs that called a tool."""
    chance, called = random.Random(seed), []
    for number in range(kills):
        process, pipe = started(call_tools, url, checkpoints, number * 1000)
        assert pipe.recv() == "ready"
        called += [pipe.recv() for _ in range(chance.randint(0, 3))]
        time.sleep(chance.random() * 0.1)
        process.kill()
        called += sent(pipe)
        process.join()
        pipe.close()
    return called


def started(target, url, *arguments):
    """Start a process, and return it with the end of the pipe that it sends into."""
    with patch.dict(os.environ, PYTHONPATH=os.pathsep.join(sys.path)):  # the server looks there for what it loads
        forkserver.ensure_running()
    here, there = PROCESSES.Pipe(duplex=False)
    process = PROCESSES.Process(target=target, args=(url, there, *arguments), daemon=True)
    process.start()
    there.close()
    return process, here


def sent(pipe):
    """Return all that came through a pipe until its other end was closed."""
    got = []
    try:
        while True:
            got.append(pipe.recv())
    except (EOFError, OSError):
        return got


def written(url, template, processes, runs):
    """Let processes write so many runs each into one store, and return what they were told, run by run."""
    writers = [started(write, url, template, range(number * runs, (number + 1) * runs)) for number in range(processes)]
    acknowledged = [receipt for _, pipe in writers for receipt in sent(pipe)]
    for process, pipe in writers:
        process.join()
        pipe.close()
    assert [process.exitcode for process, _ in writers] == [0] * processes
    return acknowledged


def killed(url, checkpoints, first, chance):
    """Let a process make runs, kill it at some point, and return what was acknowledged and the thread it was at."""
    process, pipe = started(run_agents, url, checkpoints, first)
    got = [pipe.recv() for _ in range(chance.randint(1, 5))]  # runs that began, and in between what was acknowledged
    time.sleep(chance.random() * 0.1)
    process.kill()
    got += sent(pipe)
    process.join()
    pipe.close()
    threads = [item for item in got if isinstance(item, int)]
    return [item for item in got if not isinstance(item, int)], threads[-1]


def survived(url, checkpoints, kills, seed):
    """Kill writers of a store again and again; nothing that was acknowledged is lost, and every run goes on.

    Returns:
        How many runs were acknowledged.
    """
    chance, first = random.Random(seed), 0
    acknowledged, store = {}, sql_store(url, timeout=TIMEOUT)
    for _ in range(kills):
        receipts, thread = killed(url, checkpoints, first, chance)
        acknowledged |= dict(receipts)
        first = thread + 1
        resumed = resume(store, checkpoints, thread)
        assert store.read(resumed["run_id"]).recording["result"]["path"] == resumed["path"]
    kept = {stored.run_id: stored.position.receipt for stored in store.runs()}
    lost = {run_id for run_id, receipt in acknowledged.items() if kept[run_id]["seq"] < receipt["seq"]}
    verification = store.verify()
    assert (lost, verification.findings, verification.open) == (set(), (), ())
    return len(acknowledged)


def resume(store, checkpoints, thread):
    """Go on with the run of a thread, or begin it where nothing of it was kept, and return its result."""
    with sqlite3.connect(checkpoints, check_same_thread=False, timeout=TIMEOUT) as connection:
        agent = create_rag_agent(recorder=store, checkpointer=SqliteSaver(connection))
        config = {"configurable": {"thread_id": str(thread)}}
        is_begun = bool(agent.get_state(config).values)
        result = agent.invoke(None if is_begun else QUESTION, config)
    connection.close()
    return result
