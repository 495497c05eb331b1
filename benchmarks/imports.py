"""What importing costs, as a ratio to importing LangGraph in the same run, and when LangChain's OpenAI package comes.

Every import is measured in a process of its own, rounds interleaved, in processor time. The `openai_modules_` lines
count the modules of openai and langchain_openai that are loaded once an agent is made. Prints `name value` lines. Run
it as ``python benchmarks/imports.py``.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from measure import Figure, median_ratio, print_figures

import guardgraph

ROUNDS = 15
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


def figures(rounds: int) -> Iterator[Figure]:
    """Yield the ratios, and the counts of modules."""
    taken: dict[str, list[float]] = {name: [] for name in IMPORTS}
    for statement in IMPORTS.values() if rounds > 1 else ():
        import_seconds(statement)  # so that every round finds the files in the disk cache
    for _ in range(rounds):
        for name, times in taken.items():
            times.append(import_seconds(IMPORTS[name]))
    yield "import_langgraph_ms", statistics.median(taken["langgraph"]) * 1000
    for name in ("guards", "create_rag_agent"):
        yield f"import_{name}_ratio", median_ratio(taken[name], taken["langgraph"])
    for name, made in AGENTS.items():
        yield f"openai_modules_{name}", openai_modules(made)


def import_seconds(statement: str) -> float:
    """Return the processor time of one import in a new process, the interpreter's own start left out."""
    clock = "time.process_time()"
    return float(_printed(f"import time; begun = {clock}; {statement}; print({clock} - begun)"))


def openai_modules(made: str) -> int:
    """Return how many modules of OpenAI's packages a new process has loaded after it ran an agent."""
    count = "sum(name.partition('.')[0] in ('openai', 'langchain_openai') for name in sys.modules)"
    return int(_printed(f"import sys; from guardgraph import create_rag_agent; {made}; print({count})"))


def _printed(code: str) -> str:
    environ = {**os.environ, "OPENAI_API_KEY": "none-is-needed"}
    command = [sys.executable, "-c", code]
    return subprocess.run(command, env=environ, capture_output=True, text=True, check=True, timeout=60).stdout


if __name__ == "__main__":
    print_figures(figures, rounds=ROUNDS)
