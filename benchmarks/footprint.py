"""How heavy is guardgraph: how long does its import take, and how much memory does a run use and leave behind?"""

from __future__ import annotations

import gc
import os
import statistics
import subprocess
import sys
import tracemalloc
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

from measure import STATUS, Figure, Given, Skip, in_new_process, median_ratio, resident_kb
from measured_agents import beside_floor, scripted_agent, scripted_agents
from sections import Meaning, Section, run_alone

import guardgraph

GUARDS = sorted(
    f"guardgraph.guards.{file.stem}"
    for file in (Path(guardgraph.__file__).parent / "guards").iterdir()
    if file.stem != "__init__" and (file.suffix == ".py" or (file / "__init__.py").is_file())
)
IMPORTS = {
    "langgraph": "import langgraph.graph",
    "guards": f"import {', '.join(GUARDS)}",
    "create_rag_agent": "from guardgraph import create_rag_agent",
}
AGENTS = {
    "without_model": "create_rag_agent().invoke({'question': 'What is the P1 first response target?'})",
    "with_model": "create_rag_agent('openai').invoke({'question': ''})",  # the run begins, and ends before a question
}
WARM = 1000
"""Runs before the memory is looked at: caches and allocators have then what they need."""
PEAKS = 5


def measure_imports(rounds: int) -> Iterator[Figure]:
    """Yield the ratios of imports, each in a process of its own, and how many of OpenAI's modules a run loads."""
    taken: dict[str, list[float]] = {name: [] for name in IMPORTS}
    for statement in IMPORTS.values() if rounds > 1 else ():
        _import_seconds(statement)  # so that every round finds the files in the disk cache
    for _ in range(rounds):
        for name, times in taken.items():
            times.append(_import_seconds(IMPORTS[name]))
    yield "import_langgraph_ms", statistics.median(taken["langgraph"]) * 1000
    for name in ("guards", "create_rag_agent"):
        yield f"import_{name}_ratio", median_ratio(taken[name], taken["langgraph"])
    for name, made in AGENTS.items():
        yield f"openai_modules_{name}", _count_openai_modules(made)


def _import_seconds(statement: str) -> float:
    """Return the processor time of one import in a new process, the interpreter's own start left out."""
    clock = "time.process_time()"
    return float(_print_in_new_process(f"import time; begun = {clock}; {statement}; print({clock} - begun)"))


def _count_openai_modules(made: str) -> int:
    """Return how many modules of OpenAI's packages a new process has loaded after it ran an agent."""
    count = "sum(name.partition('.')[0] in ('openai', 'langchain_openai') for name in sys.modules)"
    return int(_print_in_new_process(f"import sys; from guardgraph import create_rag_agent; {made}; print({count})"))


def _print_in_new_process(code: str) -> str:
    environ = {**os.environ, "OPENAI_API_KEY": "none-is-needed"}
    command = [sys.executable, "-c", code]
    return subprocess.run(command, env=environ, capture_output=True, text=True, check=True, timeout=60).stdout


def measure_memory(runs: int) -> Iterator[Figure]:
    """Yield the peak of a run by Python's allocations, and by how much a process grows with many runs."""
    for scripted in scripted_agents():
        for name, graph in beside_floor(scripted).items():
            yield f"{scripted.pattern}_{name}_peak_kb", _peak_bytes(graph, scripted.given) / 1000
    if not STATUS.exists():
        raise Skip("memory_growth", f"needs {STATUS}, which only Linux has")
    for scripted in scripted_agents():
        # Few runs say nothing, and need no processes of their own.
        grow = growth_kb if runs < WARM else partial(in_new_process, growth_kb)
        with ThreadPoolExecutor(1 if runs < WARM else 2) as at_once:  # the processes run at the same time
            grown = {name: at_once.submit(grow, scripted.pattern, name, runs) for name in ("agent", "floor")}
        for name, growth in grown.items():
            yield f"{scripted.pattern}_{name}_growth_kb", growth.result()


def _peak_bytes(graph: Any, given: Given) -> int:
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


def growth_kb(pattern: str, name: str, runs: int) -> float:
    """Return by how many kB this process grows with `runs` runs of an agent or its floor."""
    scripted = scripted_agent(pattern)
    graph = beside_floor(scripted)[name]
    for _ in range(min(WARM, runs)):
        graph.invoke(scripted.given())
    gc.collect()
    before = resident_kb()
    for _ in range(runs):
        graph.invoke(scripted.given())
    gc.collect()
    return resident_kb() - before


SECTIONS = (
    Section(
        "imports",
        "Imports",
        "Every import in a process of its own, in processor time, beside `import langgraph.graph`.",
        (
            Meaning("import_langgraph_ms", "Milliseconds that `import langgraph.graph` takes."),
            Meaning(
                "import_guards_ratio", "Importing all guards, over LangGraph, without which they work.", at_most=0.35
            ),
            Meaning(
                "import_create_rag_agent_ratio",
                "`from guardgraph import create_rag_agent`, which imports LangGraph too, over LangGraph.",
                at_most=1.15,
            ),
            Meaning("openai_modules_without_model", "Modules of OpenAI's packages loaded by a run offline.", at_most=0),
            Meaning("openai_modules_with_model", "The same once a model of OpenAI is asked for.", at_least=1),
        ),
        missed="There are more guards than when the goals were set.",
        figures=measure_imports,
        rounds=15,
    ),
    Section(
        "memory",
        "Memory",
        "The peak is what one run has in use at most, Python's allocations alone. The growth is how much the "
        "resident memory of a process grows while it makes 10,000 runs, one after another; a leak of one small "
        "object a run would show as some hundred kB.",
        (
            Meaning("*_agent_peak_kb", "kB in use at the peak of a run."),
            Meaning("*_floor_peak_kb", "kB in use at the peak of a run of the floor."),
            Meaning("*_agent_growth_kb", "kB that 10,000 runs leave behind.", at_most=1000),
            Meaning("*_floor_growth_kb", "kB that 10,000 runs of the floor leave behind."),
        ),
        figures=measure_memory,
        rounds=10_000,
    ),
)

if __name__ == "__main__":
    run_alone(SECTIONS)
