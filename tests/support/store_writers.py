"""Processes, of a server that has loaded all they need, that write into a store and are killed; what is left then."""

import multiprocessing
import os
import random
import sqlite3
import sys
import time
from itertools import count
from multiprocessing import forkserver
from unittest.mock import patch

from langgraph.checkpoint.sqlite import SqliteSaver
from stored_runs import numbered

from guardgraph import create_rag_agent, sql_store

PROCESSES = multiprocessing.get_context("forkserver")
PROCESSES.set_forkserver_preload(["pytest", "effect_runs", "random_effects", "store_writers"])
TIMEOUT = 120
"""Seconds that a store may take where sixteen processes share two cores."""
QUESTION = {"question": "What is the P1 first response target?"}
SOURCES = ["support_policy", "security_policy", "billing_policy"]


def write(pipe, url, template, numbers):
    """Record runs with these numbers, and send what the store said of each."""
    store = sql_store(url, timeout=TIMEOUT)
    for number in numbers:
        made = numbered(template, number)
        pipe.send((made["run_id"], store.record(made)))
    pipe.close()


class Telling:
    """A store that sends which runs it began, and the receipts of those that ended; it may hang behind a beginning."""

    def __init__(self, store, pipe, hangs=False):
        self.store, self.pipe, self.hangs = store, pipe, hangs
        self.note, self.notes = store.note, store.notes

    def begin(self, run):
        self.store.begin(run)
        self.pipe.send(("begun", run["run_id"]))
        if self.hangs:
            time.sleep(TIMEOUT)

    def record(self, run):
        receipt = self.store.record(run)
        self.pipe.send(("recorded", (run["run_id"], receipt)))
        return receipt


def run_agents(pipe, url, checkpoints, first, stands=None):
    """Make checkpointed runs and send what happens; the first stands behind its ``beginning`` or in its ``tool``."""

    def retrieve(request):
        pipe.send(("called", None))
        if stands == "tool":
            time.sleep(TIMEOUT)
        return []

    store = Telling(sql_store(url, timeout=TIMEOUT), pipe, hangs=stands == "beginning")
    saver = SqliteSaver(sqlite3.connect(checkpoints, check_same_thread=False, timeout=TIMEOUT))
    agent = create_rag_agent(recorder=store, checkpointer=saver, retriever=retrieve, sources=SOURCES)
    for number in count(first):
        pipe.send(("thread", number))
        agent.invoke(QUESTION, {"configurable": {"thread_id": str(number)}}, durability="sync")


def killed_at(url, checkpoints, where):
    """Let a process begin a run, kill it where it stands still, and return the id of the run."""
    process, pipe = start_process(run_agents, url, checkpoints, 1, where)
    last = {"beginning": "begun", "tool": "called"}[where]
    told = {}
    while last not in told:
        told |= dict([pipe.recv()])
    process.kill()
    process.join()
    pipe.close()
    return told["begun"]


def start_process(target, *arguments):
    """Start a process, and return it with the end of the pipe that it sends into, which is its first argument."""
    with patch.dict(os.environ, PYTHONPATH=os.pathsep.join(sys.path)):  # the server looks there for what it loads
        forkserver.ensure_running()
    here, there = PROCESSES.Pipe(duplex=False)
    process = PROCESSES.Process(target=target, args=(there, *arguments), daemon=True)
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
    blocks = [range(number * runs, (number + 1) * runs) for number in range(processes)]
    writers = [start_process(write, url, template, numbers) for numbers in blocks]
    acknowledged = [receipt for _, pipe in writers for receipt in sent(pipe)]
    for process, pipe in writers:
        process.join()
        pipe.close()
    assert [process.exitcode for process, _ in writers] == [0] * processes
    return acknowledged


def killed(url, checkpoints, first, chance):
    """Let a process make runs, kill it at some point, and return what it told, in its order."""
    process, pipe = start_process(run_agents, url, checkpoints, first)
    told = [pipe.recv() for _ in range(chance.randint(1, 12))]
    time.sleep(chance.random() * 0.1)
    process.kill()
    told += sent(pipe)
    process.join()
    pipe.close()
    return told


def survived(url, checkpoints, kills, seed):
    """Kill writers of a store again and again; return how many runs were acknowledged, of which none is lost."""
    chance, first = random.Random(seed), 0
    acknowledged, store = {}, sql_store(url, timeout=TIMEOUT)
    for _ in range(kills):
        told = killed(url, checkpoints, first, chance)
        acknowledged |= dict(what for kind, what in told if kind == "recorded")
        left = {item.run_id for item in store.open_runs()}
        begun = None
        for kind, what in told:
            begun = what if kind == "begun" else begun
            assert kind != "called" or begun in left or store.entries(begun)
        *_, thread = (what for kind, what in told if kind == "thread")
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
