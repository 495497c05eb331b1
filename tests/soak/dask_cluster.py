"""A real Dask cluster: a scheduler and workers as processes of their own on 127.0.0.1."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path

from guardgraph import create_rag_agent

HERE = Path(__file__).parent
IN_A_WORKER = "GUARDGRAPH_TESTS_WORKER"


def fatal(**settings):
    """Return the RAG agent; in a worker, end its process as the kernel does where memory runs out."""
    if IN_A_WORKER in os.environ:
        os.kill(os.getpid(), signal.SIGKILL)
    return create_rag_agent(**settings)


class Cluster:
    """Its client, and its workers by their process ids."""

    def __init__(self, client, workers):
        self.client, self.workers = client, workers

    def kill_worker(self):
        """Kill a worker, without a word to it."""
        self.workers[-1].send_signal(signal.SIGKILL)


@contextmanager
def dask_cluster(folder, workers=2, *, allowed_failures=10):
    """Run a cluster in which each worker does one task at a time.

    Args:
        folder: what it writes stands there.
        workers: how many there are; their environment has `IN_A_WORKER`.
        allowed_failures: how many killed workers a task may cost before the cluster gives it up.
    """
    from distributed import Client

    file, log = folder / "scheduler.json", (folder / "cluster.log").open("w")
    failures = {"DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES": str(allowed_failures)}
    environment = {
        **os.environ,
        "PYTHONPATH": f"{HERE}{os.pathsep}{HERE.parent / 'support'}",
        **failures,
        IN_A_WORKER: "1",
    }

    def started(*command):
        return subprocess.Popen([sys.executable, "-m", *command], env=environment, stdout=log, stderr=log, cwd=folder)

    host = ("--host", "127.0.0.1")
    scheduler = started(
        "distributed.cli.dask_scheduler", *host, "--port", "0", "--no-dashboard", "--scheduler-file", str(file)
    )
    working = []
    try:
        address = _address(file, scheduler)
        for _ in range(workers):
            options = ("--nthreads", "1", "--no-nanny", "--no-dashboard", "--local-directory", str(folder))
            working.append(started("distributed.cli.dask_worker", address, *host, *options))
        with Client(address, timeout=300) as client:
            client.wait_for_workers(workers, timeout=300)
            yield Cluster(client, working)
    finally:
        for process in [*working, scheduler]:
            process.kill()
            process.wait(20)
        log.close()


def _address(file, scheduler):
    for _ in range(600):
        if file.exists() and (text := file.read_text()):
            return json.loads(text)["address"]
        assert scheduler.poll() is None, (file.parent / "cluster.log").read_text()
        time.sleep(0.1)
    raise AssertionError("the scheduler does not start")
