"""What an agent costs beside the same agent as an engineer writes it by hand in LangGraph; see by_hand_nodes.py.

The agent has a recorder, which keeps the latest recording. Both run in turn, each on texts that no run before had, in
five processes one after another; every figure is the median of the five. Proposers and tools are instant: functions
that return what was prepared, which the agent calls under its deadlines, or (`offline`) our own rules, recordings and
retriever. Beside `ainvoke`, the nodes written by hand are coroutine functions: they hand plain functions to a thread,
await coroutines, and call our own rules where they stand. Prints `name value` lines: the ratios of processor times and
of wall times, and the microseconds of both runs. Run it as ``python benchmarks/by_hand.py``.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from measure import Figure, print_figures

ROUNDS = 20
PROCESSES = 5
ONCE = Path(__file__).with_name("by_hand_once.py")


def figures(rounds: int) -> Iterator[Figure]:
    """Yield the medians of what the processes print; as many of them as there are rounds, five at most."""
    found: dict[str, list[float]] = {}
    for _ in range(min(PROCESSES, rounds)):
        command = [sys.executable, str(ONCE), "--rounds", str(rounds)]
        printed = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout
        for name, value in (line.split() for line in printed.splitlines()):
            found.setdefault(name, []).append(float(value))
    for name, values in found.items():
        yield name, statistics.median(values)


if __name__ == "__main__":
    print_figures(figures, rounds=ROUNDS)
