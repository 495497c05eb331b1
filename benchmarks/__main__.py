"""Run the benchmarks, print their figures and write docs/benchmarks.md.

    python benchmarks                 all, and the page
    python benchmarks by_hand bases   these alone, without the page

What texts are told by (`truth.py`), the tool agent under attack (`tool_injections.py`) and small models
(`local_models.py`) need data sets, libraries or weights of others, and are run by themselves.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from importlib.metadata import version
from pathlib import Path

from figures import MEASURED
from measured import ROOT, Row, Skip, show

LIBRARIES = ("guardgraph", "langgraph", "langchain", "pydantic", "bm25s")
HEAD = """# Benchmarks

What guardgraph costs a user, each figure beside what they would have without it. `make bench` writes this page: both
sides run in turn in one process, on texts that no run before had, with proposers and tools that return at once. A
ratio of runs is the median of the ratios of processor times, round by round; other figures are of the fastest wall
times. ✗ marks a goal that is missed; why stands below.
"""
TAIL = """
By hand means the same checks in plain node functions, one TypedDict for the state, conditional edges; no deadlines, no
record of the run, no proof. `create_agent` makes each call that it is asked for; the tool agent holds it against lists,
rules, budgets and support, twice, and keeps an intent and a receipt of the transfer. A bare insert puts the same bytes
into a table of one column. FTS5 and bm25s know no callers; the question of 1,000 chunks took 0.47 of FTS5's in an
earlier run.

Why goals are missed: of the tool agent's run LangGraph's code takes 36 %, with a step for each proposal and each
judgement: 0.8 of a whole run of `create_agent`. The record takes 11 %, grounding 9 %, licences, held twice, 3 %. A
stored run commits twice, as its beginning is on disk before anything is called: two of the three bare inserts.

The hooks of the middlewares, empty, cost 1.30, LangChain's own limits with its human in the loop 1.57: only there can
the user's words be kept, and a person be asked before a message's calls. Over AgentDojo's 97 tasks they ask a model
1.05 times as often, for 1.07 times the tokens.

## Measured elsewhere

- How much that is false is stopped, and how much that is true: [grounding](grounding.md), by `truth.py`.
- What the tool agent is talked into: [security](security.md), by `tool_injections.py` with AgentDojo's tasks.
- What a small model does: [local models](local_models.md), by `local_models.py`.
"""


@dataclass(frozen=True)
class Skipped:
    """Why something was not measured."""

    why: str


def main() -> None:
    """Run what the command line asks for."""
    parser = argparse.ArgumentParser(prog="python benchmarks", description="Run the benchmarks.")
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"these alone: {', '.join(MEASURED)}")
    parser.add_argument("--rounds", type=int, help="how often each one measures")
    parser.add_argument("--page", type=Path, default=ROOT / "docs" / "benchmarks.md", help="what to write")
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if unknown := set(given.names) - set(MEASURED):
        parser.error(f"NAME: {', '.join(sorted(unknown))}; known: {', '.join(MEASURED)}")
    if given.child:
        for name in given.names:
            measure(name, given.rounds)
        return
    load, rows = os.getloadavg()[0], list[Row | Skipped]()
    for name in given.names or MEASURED:  # each in a process of its own, so that none warms another's caches
        rounds = ["--rounds", str(given.rounds)] if given.rounds else []
        command = [sys.executable, str(Path(__file__).parent), "--child", name, *rounds]
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
        for line in done.stdout.splitlines():
            found = json.loads(line)
            rows.append(Row(*found) if isinstance(found, list) else Skipped(found))
            print(describe(rows[-1]), flush=True)
    if not given.names:
        given.page.write_text(write_page(rows, load=load), encoding="utf-8")


def measure(name: str, rounds: int | None) -> None:
    """Print each row of a benchmark as JSON, or why it was skipped."""
    work, usual = MEASURED[name]
    try:
        for row in work(rounds or usual):
            print(json.dumps(row), flush=True)
    except Skip as skip:
        print(json.dumps(str(skip)), flush=True)


def describe(row: Row | Skipped) -> str:
    """Return a row as a line of text."""
    if isinstance(row, Skipped):
        return f"skip {row.why}"
    beside = "" if row.theirs is None else f" beside {show(row.theirs)} ({row.peer})"
    ratio = "" if row.ratio is None else f" ratio {show(row.ratio)}"
    return f"{row.name} {show(row.ours)} {row.unit}{beside}{ratio}{'' if row.is_reached else ' MISSED'}"


def write_page(rows: Sequence[Row | Skipped], *, load: float) -> str:
    """Return the page.

    Args:
        rows: what was measured, and why some was not.
        load: how many processes were running on average before the first benchmark.
    """
    lines = ["| what | ours | beside | theirs | ratio | goal |", "| --- | ---: | --- | ---: | ---: | --- |"]
    for row in rows:
        if isinstance(row, Row):
            mark = "" if row.is_reached else " ✗"
            goal = "" if row.at_most is None else f"≤ {row.at_most:g}"
            goal = goal if row.at_least is None else f"≥ {row.at_least:g}"
            theirs, ratio = ("" if value is None else show(value) for value in (row.theirs, row.ratio))
            lines.append(
                f"| {row.what} | {show(row.ours)} {row.unit} | {row.peer} | {theirs} | {ratio}{mark} | {goal} |"
            )
    lines += ["", *(f"Skipped: {row.why}." for row in rows if isinstance(row, Skipped))]
    machine = (
        f"Measured on {date.today().isoformat()}: {platform.machine()}, {os.cpu_count()} cores, "
        f"{platform.python_implementation()} {platform.python_version()}, load before {load:.2f}; "
        f"{', '.join(f'{name} {version(name)}' for name in LIBRARIES)}.\n"
    )
    return "\n".join([HEAD, machine, *lines]).rstrip("\n") + "\n" + TAIL


if __name__ == "__main__":
    main()
