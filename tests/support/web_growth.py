"""What a process has left after many runs that read pages; they come from a server on loopback in another process."""

from __future__ import annotations

import gc
import multiprocessing
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import Any

from web_server import LOOPBACK, WebServer, answer

from guardgraph import GuardedGraph, ResearchBudget, ResearchPolicy, create_research_agent, web_reader

PAGES = 10
TEXT = "The service was restored at noon, and all customers were told of it."
HOSTS = ("a.test",)
GIVEN = {"goal": "Say what happened.", "request": {"request": {"question": "When was the service restored?"}}}


def growth(runs: int) -> Iterator[tuple[str, float]]:
    """Let many runs read pages; what the process has in the end is held against what it had after a tenth of them."""
    with _elsewhere() as port:
        agent = _agent(port)
        had: dict[str, float] = {}
        for number in range(runs):
            agent.invoke(GIVEN)
            if number == runs // 10:
                had = _held()
        has = _held()
    for name in has:
        yield f"web_growth_{name}", has[name] / had[name]


@contextmanager
def _elsewhere() -> Iterator[int]:
    """Give the port of a server in another process, so that its threads and its memory do not count."""
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=_serve, args=(theirs,))
    process.start()
    try:
        yield ours.recv()
    finally:
        ours.send("done")
        process.join()
        ours.close()
        theirs.close()


def _serve(pipe: Any) -> None:
    with WebServer({"/now": answer(TEXT)}) as server:
        pipe.send(server.ports[80])
        pipe.recv()


def _held() -> dict[str, float]:
    gc.collect()
    sockets = [link for link in map(_target, Path("/proc/self/fd").iterdir()) if link.startswith("socket:")]
    return {
        "memory": _count_resident_kb(),
        "sockets": 1 + len(sockets),  # where there are none, a ratio says nothing
        "threads": threading.active_count(),
    }


def _target(link: Path) -> str:
    try:
        return os.readlink(link)
    except OSError:
        return ""


def _count_resident_kb() -> float:
    status = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    (line,) = (line for line in status if line.startswith("VmRSS:"))
    return float(line.split()[1])


def _agent(port: int) -> GuardedGraph:
    numbers = count()

    def search(asked: dict[str, Any]) -> list[dict[str, str]]:
        return [{"url": f"http://a.test/now?{next(numbers)}"} for _ in range(PAGES)]

    def notes(asked: dict[str, Any]) -> list[dict[str, str]]:
        page = {"claim": TEXT, "quote": TEXT, "title": "", "published_at": ""}
        return [{**page, "id": f"n{at}", "url": url} for at, url in enumerate(asked["pages"])][: asked["max_notes"]]

    return create_research_agent(
        search=search,
        reader=web_reader(resolve=lambda host, _: ("127.0.0.1", port), allowed_addresses=LOOPBACK),
        extractor=notes,
        policy=ResearchPolicy(allowed_domains_policy=HOSTS, allowed_domains_execution=HOSTS, check_names=False),
        budget=ResearchBudget(max_urls=PAGES, max_read_pages=PAGES),
    )
