"""How much memory a run takes, and whether many runs leave any behind, beside the floor.

The peak of one run is counted by tracemalloc, Python's allocations only. What many runs leave behind is how much the
resident memory of a process grows while it makes them, after a thousand runs that do not count; the processes of
agent and floor run at the same time. Prints `name value` lines in kB. Run it as ``python benchmarks/memory.py``;
`--rounds` is how many runs there are.
"""

from __future__ import annotations

import argparse
import gc
import subprocess
import sys
import tracemalloc
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from floors import beside_floor
from measure import Figure, Skip, print_figures
from repeated import Given
from scripted_agents import scripted_agent, scripted_agents

RUNS = 10_000
WARM = 1000
"""Runs before the memory is looked at: caches and allocators have then what they need."""
PEAKS = 5
STATUS = Path("/proc/self/status")
"""Where Linux says how much memory is resident."""


def figures(runs: int) -> Iterator[Figure]:
    """Yield the figures of every pattern."""
    for scripted in scripted_agents():
        for name, graph in beside_floor(scripted).items():
            yield f"{scripted.pattern}_{name}_peak_kb", peak_bytes(graph, scripted.given) / 1000
    if not STATUS.exists():
        raise Skip("memory_growth", f"needs {STATUS}, which only Linux has")
    for scripted in scripted_agents():
        if runs < WARM:  # they say nothing, and need no processes of their own
            for name in ("agent", "floor"):
                yield f"{scripted.pattern}_{name}_growth_kb", growth_kb(scripted.pattern, name, runs)
            continue
        processes = {name: _growing(scripted.pattern, name, runs) for name in ("agent", "floor")}
        for name, process in processes.items():
            printed, _ = process.communicate()
            if process.returncode:
                raise RuntimeError(f"the process of {scripted.pattern}, {name}, ended with {process.returncode}")
            yield f"{scripted.pattern}_{name}_growth_kb", float(printed)


def peak_bytes(graph: Any, given: Given) -> int:
    """Return the most memory that one run has in use beyond what there was before, the least of some runs."""
    peaks = []
    graph.invoke(given())
    tracemalloc.start()
    for _ in range(PEAKS):
        gc.collect()
        tracemalloc.reset_peak()
        before, _ = tracemalloc.get_traced_memory()
        graph.invoke(given())
        peaks.append(tracemalloc.get_traced_memory()[1] - before)
    tracemalloc.stop()
    return min(peaks)


def _growing(pattern: str, name: str, runs: int) -> subprocess.Popen[str]:
    command = [sys.executable, __file__, "--growth", pattern, name, str(runs)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def growth_kb(pattern: str, name: str, runs: int) -> float:
    """Return by how many kB this process grows with `runs` runs."""
    scripted = scripted_agent(pattern)
    graph = beside_floor(scripted)[name]
    for _ in range(min(WARM, runs)):
        graph.invoke(scripted.given())
    gc.collect()
    before = _resident_kb()
    for _ in range(runs):
        graph.invoke(scripted.given())
    gc.collect()
    return _resident_kb() - before


def _resident_kb() -> float:
    status = STATUS.read_text(encoding="ascii").splitlines()
    (line,) = (line for line in status if line.startswith("VmRSS:"))
    return float(line.split()[1])


if __name__ == "__main__":
    parser = argparse.ArgumentParser(add_help=False)
    parser.add_argument("--growth", nargs=3, help=argparse.SUPPRESS)
    wanted = parser.parse_known_args()[0].growth
    if wanted:
        print(growth_kb(wanted[0], wanted[1], int(wanted[2])))
    else:
        print_figures(figures, rounds=RUNS)
