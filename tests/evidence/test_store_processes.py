"""Many processes write into one store, and processes that are killed: what was acknowledged is there."""

import gc
import os
import re
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from pathlib import Path
from shutil import rmtree
from tempfile import mkdtemp
from threading import Barrier, Event, Thread
from time import monotonic, sleep

import pytest
from store_writers import TIMEOUT, survived, written
from stored_runs import make_url, numbered, recording
from tables import each_row

from guardgraph import sql_store

url = pytest.fixture(params=["sqlite", "postgres"])(make_url)


def test_processes_write_into_one_chain(url):
    """Four processes that begin with an empty database: no run is lost, and nothing breaks the chain."""
    acknowledged = written(url, recording(), processes=4, runs=5)
    assert sorted(receipt["seq"] for _, receipt in acknowledged) == list(range(1, 21))
    store = sql_store(url, timeout=TIMEOUT)
    assert store.verify().ok
    assert {stored.run_id: stored.position.receipt for stored in store.runs()} == dict(acknowledged)


def test_what_was_acknowledged_survives_a_kill(url, tmp_path):
    """Processes that make checkpointed runs are killed at some point; the chain is whole, and every run goes on."""
    assert survived(url, tmp_path / "checkpoints.db", kills=3, seed=1) > 0


def test_a_worker_that_is_forked_while_its_parent_writes_records_too(tmp_path):
    """Twelve children, forked between writes of two threads: each records at once, and nothing is lost."""
    store, template, ended = sql_store(f"sqlite:///{tmp_path}/runs.db"), recording(), Event()
    numbers, children, statuses = count(), list[int](), dict[int, int]()

    def keep_writing():
        while not ended.is_set():
            store.record(numbered(template, next(numbers)))

    threads = [Thread(target=keep_writing) for _ in range(2)]
    for thread in threads:
        thread.start()
    for child in range(12):
        if (pid := os.fork()) == 0:
            try:
                for number in range(3):
                    store.record(numbered(template, 1_000_000 + 10 * child + number))
                os._exit(0)
            finally:
                os._exit(1)
        children.append(pid)
    ends = monotonic() + 60
    while len(statuses) < len(children) and monotonic() < ends:
        for pid in {*children} - {*statuses}:
            found, status = os.waitpid(pid, os.WNOHANG)
            statuses |= {pid: status} if found else {}
        sleep(0.05)
    for pid in {*children} - {*statuses}:
        os.kill(pid, signal.SIGKILL)
    ended.set()
    for thread in threads:
        thread.join()
    assert [statuses.get(pid) for pid in children] == [0] * 12
    assert store.verify().ok
    assert sum(1 for _ in store.runs()) == next(numbers) + 36


READING = """
import os, sys
import sqlalchemy.dialects.sqlite, sqlite3
from guardgraph import sql_store
sql_store("sqlite:///" + sys.argv[2]).verify()  # so that all is imported before the rights are given up
if os.getuid() == 0:
    os.setuid(65534)
store = sql_store("sqlite:///" + sys.argv[1])
try:
    print(store.verify().ok, len(list(store.runs())))
except Exception as error:
    print(type(error).__name__, error)
"""


@pytest.mark.process
@each_row(
    ("state", "said"),
    ("closed", "True 3"),
    ("written, readable", "True 3"),
    ("written", "StoreError .*its log, runs.db-wal, cannot be read"),
)
def test_whoever_may_only_read_verifies(tmp_path, state, said):
    """Rights to read file and folder are enough; a log that may not be read is said, and not taken for nothing."""
    sql_store(f"sqlite:///{tmp_path}/other.db").open()
    folder = Path(mkdtemp(dir="/tmp"))
    try:
        store, file = sql_store(f"sqlite:///{folder}/runs.db"), folder / "runs.db"
        for number in range(3):
            store.record(numbered(recording(), number))
        if state == "closed":
            store.close()
        for ending in ("", "-wal", "-shm") if state == "written, readable" else ("",):
            Path(f"{file}{ending}").chmod(0o444)
        if state == "written":
            for ending in ("-wal", "-shm"):
                Path(f"{file}{ending}").chmod(0o000)
        folder.chmod(0o555)
        line = [sys.executable, "-c", READING, str(file), f"{tmp_path}/other.db"]
        done = subprocess.run(line, check=False, capture_output=True, text=True, timeout=120)
        assert re.match(said, done.stdout), done
    finally:
        folder.chmod(0o755)
        rmtree(folder)


@pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="open files are listed in /proc")
def test_threads_that_open_a_store_at_once_leave_no_connection_that_a_fork_would_hand_on(tmp_path):
    """A child that inherits one believes that it holds a lock; its records were written into a log that was gone."""
    store, template, begin = sql_store(f"sqlite:///{tmp_path}/runs.db"), recording(), Barrier(8)

    def write(number):
        for turn in range(5):
            begin.wait(30)
            if number == 0:
                store.close()
            begin.wait(30)
            store.record(numbered(template, 10 * turn + number))

    gc.disable()  # which would close what nobody knows any more
    try:
        with ThreadPoolExecutor(8) as threads:
            list(threads.map(write, range(8)))
        store.close()
        files = [os.path.realpath(f"/proc/self/fd/{fd}") for fd in os.listdir("/proc/self/fd")]
        assert [file for file in files if file.startswith(str(tmp_path))] == []
    finally:
        gc.enable()
