"""Benchmarks measure once, on small texts, one after another in this process; a line before each names its script.

The scripts are those of the folder; a process that imports the library for each of them would take most of the time.
"""

from __future__ import annotations

import gc
import sys
from importlib import import_module
from pathlib import Path

sys.path.append(str(Path(__file__).parents[1] / "benchmarks"))

import fresh
import growth
from measure import print_figures

fresh.POOL = 24
growth.LONG = 5_000


def main() -> None:
    """Print what the scripts of the command line print."""
    scripts, sys.argv[1:] = sys.argv[1:], []
    for script in scripts:
        figures = import_module(script).figures
        gc.freeze()  # benchmarks collect before each round, which is to pass over what was imported
        print("script", script, flush=True)
        print_figures(figures, rounds=1)


if __name__ == "__main__":
    main()
