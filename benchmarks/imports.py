"""What importing costs, as a ratio to importing LangGraph in the same run. Prints `name value` lines.

Run it as ``python benchmarks/imports.py``; every import is measured in a process of its own, rounds interleaved.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

import guardgraph

ROUNDS = 9
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


def seconds(statement: str) -> float:
    """Return how long one import takes in a new process, the interpreter's own start left out."""
    code = f"import time; begun = time.perf_counter(); {statement}; print(time.perf_counter() - begun)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    return float(done.stdout)


def medians(names: Iterable[str]) -> dict[str, float]:
    """Measure every import `ROUNDS` times, in turn."""
    taken: dict[str, list[float]] = {name: [] for name in names}
    for _ in range(ROUNDS):
        for name, times in taken.items():
            times.append(seconds(IMPORTS[name]))
    return {name: statistics.median(times) for name, times in taken.items()}


def main() -> None:
    """Measure and print."""
    taken = medians(IMPORTS)
    print(f"langgraph_seconds {taken['langgraph']:.3f}")
    for name in ("guards", "create_rag_agent"):
        print(f"{name}_ratio {taken[name] / taken['langgraph']:.3f}")


if __name__ == "__main__":
    main()
