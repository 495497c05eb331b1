"""How the benchmarks measure: graphs that run many times, rounds that are interleaved, ratios of them, and shares.

On a busy machine a time by itself says little. So what is compared runs in turn, with the order turned round by round.
Processor times are compared round by round, and the median of the ratios holds. Wall times grow with whatever else
the machine does and never shrink, so the fastest round of each holds.
"""

from __future__ import annotations

import asyncio
import gc
import logging
import multiprocessing
import random
import statistics
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any

Figure = tuple[str, float]
"""A name and its value."""
Work = Callable[[], object]
Repeat = Callable[..., Work]
"""Returns what runs a graph many times: `invoked`, or `ainvoked` with a runner."""
Given = Callable[[], dict[str, Any]]
"""Returns the input of the next run."""

LOG = logging.getLogger("benchmarks")
"""Where benchmarks say what was judged wrongly; `--show` prints it."""
STATUS = Path("/proc/self/status")
"""Where Linux says how much memory is resident."""

_numbers = count()


class Skip(Exception):
    """What a benchmark needs is not there: its name, and a sentence that says what is missing."""

    def __init__(self, name: str, why: str) -> None:
        super().__init__(f"{name} {why}")


@dataclass(frozen=True)
class Taken:
    """The seconds that one work took, an item a round."""

    wall: list[float] = field(default_factory=list)
    cpu: list[float] = field(default_factory=list)
    """Processor time of all threads of this process."""


def interleaved(works: Mapping[str, Work], rounds: int) -> dict[str, Taken]:
    """Run every work once a round, the order turned round by round, after one round that does not count."""
    taken = {name: Taken() for name in works}
    for work in works.values():
        work()
    for number in range(rounds):
        for name in works if number % 2 else reversed(works):
            gc.collect()
            cpu, wall = time.process_time(), time.perf_counter()
            works[name]()
            taken[name].wall.append(time.perf_counter() - wall)
            taken[name].cpu.append(time.process_time() - cpu)
    return taken


def compare(ratio: str, works: Mapping[str, Work], rounds: int, *, runs: int) -> Iterator[Figure]:
    """Yield how the first of two works compares with the second, and the microseconds that a run of each takes.

    Args:
        ratio: what the names of both ratios begin with.
        works: the two, each by what the name of its microseconds begins with.
        rounds: how often to measure.
        runs: how many there are in a round.
    """
    taken = interleaved(works, rounds)
    this, that = taken.values()
    yield f"{ratio}_ratio", cpu_ratio(this, that)
    yield f"{ratio}_wall_ratio", wall_ratio(this, that)
    for name, times in taken.items():
        yield f"{name}_us", wall_us(times, runs)


def cpu_ratio(this: Taken, that: Taken) -> float:
    """Return the median of the ratios of two works' rounds, in processor time."""
    return median_ratio(this.cpu, that.cpu)


def median_ratio(these: list[float], those: list[float]) -> float:
    """Return the median of the ratios of two lists of times, pair by pair."""
    return statistics.median(this / that for this, that in zip(these, those, strict=True))


def wall_ratio(this: Taken, that: Taken) -> float:
    """Return the ratio of two works' fastest rounds."""
    return min(this.wall) / min(that.wall)


def wall_us(taken: Taken, times: int) -> float:
    """Return the microseconds of one of the `times` calls of the fastest round."""
    return min(taken.wall) / times * 1e6


def invoked(graph: Any, given: Given, runs: int, **kwargs: Any) -> Work:
    """Return what runs a graph `runs` times, each on what `given` returns; `kwargs` are LangGraph's."""

    def work() -> None:
        for _ in range(runs):
            graph.invoke(given(), thread_of(graph), **kwargs)

    return work


def ainvoked(runner: asyncio.Runner, graph: Any, given: Given, runs: int, **kwargs: Any) -> Work:
    """Return what runs a graph `runs` times, awaited one after another."""

    async def awaited() -> None:
        for _ in range(runs):
            await graph.ainvoke(given(), thread_of(graph), **kwargs)

    return lambda: runner.run(awaited())


def gathered(runner: asyncio.Runner, graph: Any, given: Given, runs: int) -> Work:
    """Return what runs a graph `runs` times at once."""

    async def together() -> None:
        await asyncio.gather(*(graph.ainvoke(given(), thread_of(graph)) for _ in range(runs)))

    return lambda: runner.run(together())


class Kept:
    """A recorder that keeps the latest recording."""

    recording: Any = None

    def record(self, run: Any) -> None:
        """Keep a recording."""
        self.recording = run


def thread_of(graph: Any) -> dict[str, Any]:
    """Return the config of a thread that no run has had, where the graph has a checkpointer to keep it."""
    return {"configurable": {"thread_id": str(next(_numbers))}} if graph.checkpointer is not None else {}


class Tally:
    """Cases of each source: how many were judged, and how many were found, refused or passed."""

    def __init__(self) -> None:
        self._cases: dict[str, dict[str, list[bool]]] = defaultdict(lambda: defaultdict(list))

    def add(self, name: str, source: str, found: bool) -> None:
        """Count one case."""
        self._cases[name][source].append(found)

    def figures(
        self, *, ends: tuple[str, str] = ("low", "high"), inside: float = 0.95, samples: int = 1000
    ) -> Iterator[Figure]:
        """Yield the per cent of each name, how many cases there are, and the interval, by resampling whole sources.

        Args:
            ends: how the names of the ends of the interval end.
            inside: which part of the resampled shares lies between them.
            samples: how often to resample.
        """
        for name, by_source in self._cases.items():
            cases, chance = list(by_source.values()), random.Random(name)
            shares = sorted(share_of(chance.choices(cases, k=len(cases))) for _ in range(samples))
            outside = round(samples * (1 - inside) / 2)
            yield f"{name}_pct", share_of(cases)
            yield f"{name}_{ends[0]}", shares[outside]
            yield f"{name}_{ends[1]}", shares[-outside]
            yield f"{name}_cases", sum(map(len, cases))


def share_of(cases: Sequence[Sequence[bool]]) -> float:
    """Return how many cases of several sources are true, in per cent."""
    return 100 * sum(map(sum, cases)) / max(1, sum(map(len, cases)))


def in_new_process(work: Callable[..., Any], *arguments: Any) -> Any:
    """Return what a function of a module returns in a process of its own."""
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as process:
        return process.submit(work, *arguments).result()


def resident_kb() -> float:
    """Return how much memory of this process is resident."""
    status = STATUS.read_text(encoding="ascii").splitlines()
    (line,) = (line for line in status if line.startswith("VmRSS:"))
    return float(line.split()[1])


def shown(value: float) -> str:
    """Return a figure as it is printed: four digits, or all before the point."""
    return f"{value:.0f}" if abs(value) >= 1000 else f"{value:.4g}"


def print_figures(figures: Iterator[Figure]) -> None:
    """Print each figure as soon as it is known, or `skip` with the reason."""
    try:
        for name, value in figures:
            print(name, shown(value), flush=True)
    except Skip as skip:
        print(f"skip {skip}", flush=True)
