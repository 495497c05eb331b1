"""What the benchmarks share: rounds that are interleaved, ratios of them, and figures as `name value` lines.

On a busy machine a time by itself says little. So what is compared runs in turn, with the order turned round by round.
Processor times are compared round by round, and the median of the ratios holds. Wall times grow with whatever else
the machine does and never shrink, so the fastest round of each holds.
"""

from __future__ import annotations

import argparse
import gc
import statistics
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

Figure = tuple[str, float]
"""A name and its value."""


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


def interleaved(works: Mapping[str, Callable[[], object]], rounds: int) -> dict[str, Taken]:
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


def cpu_us(taken: Taken, times: int) -> float:
    """Return the microseconds of processor time of one of the `times` calls of a round, the median of the rounds."""
    return statistics.median(taken.cpu) / times * 1e6


def shown(value: float) -> str:
    """Return a figure as it is printed: four digits, or all before the point."""
    return f"{value:.0f}" if abs(value) >= 1000 else f"{value:.4g}"


def print_figures(figures: Callable[[int], Iterator[Figure]], *, rounds: int) -> None:
    """Print what a benchmark finds, each figure as soon as it is known, or `skip` with the reason.

    The command line's `--rounds` changes how often it measures.
    """
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=rounds, help=f"how often to measure; default {rounds}")
    try:
        for name, value in figures(parser.parse_args().rounds):
            print(name, shown(value), flush=True)
    except Skip as skip:
        print(f"skip {skip}", flush=True)
