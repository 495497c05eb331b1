"""What does it cost to read pages of the web: beside a bare GET, side by side, from the cache, for a thousand runs?

All pages come from a server on loopback in another process.
"""

from __future__ import annotations

import asyncio
import gc
import multiprocessing
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import httpx2
from measure import STATUS, Figure, Skip, interleaved, resident_kb, wall_ratio
from sections import Meaning, Section, run_alone

sys.path.append(str(Path(__file__).parents[1] / "tests" / "support"))
from web_server import LOOPBACK, WebServer, after, answer

from guardgraph import GuardedGraph, ResearchBudget, ResearchPolicy, WebLimits, create_research_agent, web_reader
from guardgraph.web.fetch import Hops
from guardgraph.web.limits import Meter
from guardgraph.web.reader import page_of

PAGES = 10
RUNS_AT_ONCE = 64
RUNS = 50
"""Runs of the trial of growth, for each round."""

TEXT = "The service was restored at noon, and all customers were told of it."
HTML = f"<html><head><title>News</title></head><body><article>{f'<p>{TEXT} {TEXT}</p>' * 680}</article></body></html>"
HOSTS = ("a.test",)

Reader = Callable[[dict[str, Any]], dict[str, Any]]


def measure_web(rounds: int) -> Iterator[Figure]:
    """Yield all figures."""
    with _elsewhere() as port:
        yield from _over_bare(port, rounds)
        yield "web_cached_over_first", _cached(port, min(rounds, 5))
        yield from _side_by_side(port, min(rounds, 5))
        yield (
            "web_runs_at_once_s",
            min(_at_once(port, RUNS_AT_ONCE if rounds > 1 else 4) for _ in range(min(rounds, 3))),
        )
    yield from growth(RUNS * rounds if rounds > 1 else 20)


def _over_bare(port: int, rounds: int) -> Iterator[Figure]:
    """Hold the fetching, without what is done with the bytes, against a GET over a new connection."""
    fetching, limits = _reader(port)._fetching, WebLimits()
    client = httpx2.Client(trust_env=False, headers={"connection": "close"})
    url = f"http://127.0.0.1:{port}/now"

    def ours() -> None:
        for _ in range(PAGES):
            fetching.fetch_page("http://a.test/now", Hops(HOSTS), Meter(limits))

    def bare() -> None:
        for _ in range(PAGES):
            client.get(url).read()

    taken = interleaved({"ours": ours, "bare": bare}, rounds)
    client.close()
    yield "web_reader_over_get", wall_ratio(taken["ours"], taken["bare"])
    yield "web_reader_us", min(taken["ours"].wall) / PAGES * 1e6


def _cached(port: int, rounds: int) -> float:
    ratios = []
    for _ in range(rounds):
        with TemporaryDirectory() as folder:
            read = _reader(port, cache=Path(folder) / "pages.sqlite")
            took = []
            for _ in range(2):
                began = time.perf_counter()
                for number in range(PAGES):
                    read({"url": f"http://a.test/50?{number}", "hosts": HOSTS})
                took.append(time.perf_counter() - began)
            read.close()
            ratios.append(took[1] / took[0])
    return min(ratios)


def _side_by_side(port: int, rounds: int) -> Iterator[Figure]:
    """Run the agent over ten pages; its wall time is held against the slowest of them."""
    timed = _Timed(_reader(port))
    agent = _agent(timed, "/200")
    agent.invoke(GIVEN)
    runs = {"sync": lambda: agent.invoke(GIVEN), "async": lambda: asyncio.run(agent.ainvoke(GIVEN))}
    for name, run in runs.items():
        yield f"web_side_by_side_{name}", min(timed.wall_over_slowest(run) for _ in range(rounds))
    yield "web_real_pages", _real_pages(port, rounds)


def _real_pages(port: int, rounds: int) -> float:
    """Hold pages of 100 KB against what fetching one takes, and reading the text of all, one after another."""
    read = _reader(port)
    agent = _agent(read, "/100")
    agent.invoke(GIVEN)
    ratios = []
    for _ in range(rounds):
        began = time.perf_counter()
        read._fetching.fetch_page("http://a.test/100", Hops(HOSTS), Meter(WebLimits()))
        for _ in range(PAGES):
            page_of(HTML.encode(), "text/html", url="http://a.test/", seconds=60.0)
        alone = time.perf_counter() - began
        began = time.perf_counter()
        agent.invoke(GIVEN)
        ratios.append((time.perf_counter() - began) / alone)
    return min(ratios)


def _at_once(port: int, runs: int) -> float:
    agent = _agent(_reader(port), "/200")
    agent.invoke(GIVEN)
    with ThreadPoolExecutor(runs) as threads:
        began = time.perf_counter()
        ended = list(threads.map(lambda _: agent.invoke(GIVEN)["status"], range(runs)))
        took = time.perf_counter() - began
    assert ended == ["ok"] * runs
    return took


def growth(runs: int) -> Iterator[Figure]:
    """Let many runs read pages; what the process has in the end is held against what it had after a tenth of them."""
    if not STATUS.exists():
        raise Skip("web_growth", f"needs {STATUS}, which only Linux has")
    with _elsewhere() as port:
        agent = _agent(_reader(port), "/now")
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
    pages = {
        "/now": answer(TEXT),
        "/50": after(0.05, answer(TEXT, cache_control="max-age=3600")),
        "/100": after(0.1, answer(HTML, content_type="text/html")),
        "/200": after(0.2, answer(TEXT)),
    }
    with WebServer(pages) as server:
        pipe.send(server.ports[80])
        pipe.recv()


def _held() -> dict[str, float]:
    gc.collect()
    sockets = [link for link in map(_target, Path("/proc/self/fd").iterdir()) if link.startswith("socket:")]
    return {
        "memory": resident_kb(),
        "sockets": 1 + len(sockets),  # where there are none, a ratio says nothing
        "threads": threading.active_count(),
    }


def _target(link: Path) -> str:
    try:
        return os.readlink(link)
    except OSError:
        return ""


def _reader(port: int, **arguments: Any) -> Any:
    return web_reader(resolve=lambda host, _: ("127.0.0.1", port), allowed_addresses=LOOPBACK, **arguments)


class _Timed:
    """A reader that says how long its slowest page took."""

    def __init__(self, read: Reader) -> None:
        self._read = read
        self._took: list[float] = []

    def __call__(self, request: dict[str, Any]) -> dict[str, Any]:
        began = time.perf_counter()
        page = self._read(request)
        self._took.append(time.perf_counter() - began)
        return page

    def wall_over_slowest(self, run: Callable[[], Any]) -> float:
        self._took.clear()
        began = time.perf_counter()
        run()
        wall = time.perf_counter() - began
        assert len(self._took) == PAGES
        return wall / max(self._took)


GIVEN = {"goal": "Say what happened.", "request": {"request": {"question": "When was the service restored?"}}}


def _agent(read: Reader, path: str) -> GuardedGraph:
    numbers = count()

    def search(asked: dict[str, Any]) -> list[dict[str, str]]:
        return [{"url": f"http://a.test{path}?{next(numbers)}"} for _ in range(PAGES)]

    def notes(asked: dict[str, Any]) -> list[dict[str, str]]:
        page = {"claim": TEXT, "quote": TEXT, "title": "", "published_at": ""}
        return [{**page, "id": f"n{at}", "url": url} for at, url in enumerate(asked["pages"])][: asked["max_notes"]]

    return create_research_agent(
        search=search,
        reader=read,
        extractor=notes,
        policy=ResearchPolicy(allowed_domains_policy=HOSTS, allowed_domains_execution=HOSTS, check_names=False),
        budget=ResearchBudget(max_urls=PAGES, max_read_pages=PAGES),
    )


SECTIONS = (
    Section(
        "web",
        "Pages of the web",
        "The reader of the real web, against a server on loopback in another process: what fetching costs beside a "
        "GET of httpx2, each over a new connection; runs of the Research agent over ten pages, which take 200 ms, or "
        "100 ms and have 100 KB of HTML; the same pages a second time, from the cache; 64 runs at once; and what many "
        "runs leave behind.",
        (
            Meaning("web_reader_over_get", "Wall time of fetching a page over that of a bare GET.", at_most=1.6),
            Meaning("web_reader_us", "Microseconds that fetching a page takes."),
            Meaning("web_cached_over_first", "Pages of 50 ms from the cache over those from the web.", at_most=0.3),
            Meaning("web_side_by_side_*", "A run over ten pages of 200 ms, over the slowest of them.", at_most=1.2),
            Meaning(
                "web_real_pages",
                "A run over ten pages of 100 KB, over one that is fetched and the text of all, one after another.",
                at_most=1.15,
            ),
            Meaning("web_runs_at_once_s", "Seconds for 64 runs at once, each over ten pages of 200 ms.", at_most=2.0),
            Meaning("web_growth_*", "What a process has after 1,000 runs, over what it had after 100.", at_most=1.05),
        ),
        missed="Sixty-four runs share two processors.",
        figures=measure_web,
        rounds=20,
    ),
)

if __name__ == "__main__":
    run_alone(SECTIONS)
