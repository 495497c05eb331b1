"""Benchmarks measure once, on small texts, one after another in this process; a line before each names its section.

A process that imports the library for each of them would take most of the time.
"""

from __future__ import annotations

import gc
import sys
from pathlib import Path

sys.path += [str(Path(__file__).parents[2] / name) for name in ("benchmarks", "tests/support")]

import long_texts
import measured_agents
from measure import print_figures
from results_page import SECTIONS

measured_agents.POOL = 24
long_texts.LONG = 5_000


def main() -> None:
    """Print what the sections of the command line print."""
    sections = {section.name: section for section in SECTIONS}
    gc.freeze()  # benchmarks collect before each round, which is to pass over what was imported
    for name in sys.argv[1:]:
        print("section", name, flush=True)
        print_figures(sections[name].figures(1))


if __name__ == "__main__":
    main()
