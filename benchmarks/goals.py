"""What the figures of the benchmarks mean, and what they should be: the sections of docs/benchmarks.md, in order."""

from __future__ import annotations

from goals_of_runs import RUNS
from goals_on_data import ON_DATA

__all__ = ["SECTIONS"]

SECTIONS = (*RUNS, *ON_DATA)
