"""The tool agent on AgentDojo's tasks and injections, without a model; see injected_tasks.py.

AgentDojo brings the clients of many models with it, so that it runs in an environment of its own; `make bench` makes
it. Prints `name value` lines, or `skip`. Run it as ``python benchmarks/tool_injections.py``.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

from measure import Figure, Skip, print_figures
from peers import PYTHON, ROOT


def figures(rounds: int) -> Iterator[Figure]:
    """Yield what injected_tasks.py prints, run in the environment of the peers."""
    if not PYTHON.exists():
        raise Skip("tool_injections", "AgentDojo is not installed; `make bench` installs it where it can")
    command = [str(PYTHON), str(Path(__file__).with_name("injected_tasks.py"))]
    environ = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, env=environ, stdout=subprocess.PIPE, text=True, check=False, timeout=3600)
    if done.returncode:
        raise Skip("tool_injections", "could not be run; what AgentDojo says stands above")
    for line in done.stdout.splitlines():
        name, value = line.split()
        yield name, float(value)


if __name__ == "__main__":
    print_figures(figures, rounds=1)
