"""Every benchmark, measured once on a few texts, one after another in this process; a line names the script before it.

The scripts are the benchmarks' own; a process that imports the library for each of them would take most of the time.
"""

from __future__ import annotations

import gc
import sys
from importlib import import_module
from pathlib import Path

sys.path.append(str(Path(__file__).parents[1] / "benchmarks"))

import fresh

fresh.POOL = 24
"""Texts that no run before had; what is measured once needs no more."""


def main() -> None:
    """Print what the scripts of the command line print."""
    from measure import print_figures

    scripts, sys.argv[1:] = sys.argv[1:], []
    for script in scripts:
        figures = import_module(script).figures
        gc.freeze()  # benchmarks collect before each round, which is to pass over what was imported
        print("script", script, flush=True)
        print_figures(figures, rounds=1)


if __name__ == "__main__":
    main()
