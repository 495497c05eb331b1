"""Run the benchmarks, print their figures and write docs/benchmarks.md.

    python benchmarks                       all of them, and the page
    python benchmarks overhead guard_cost   these alone, without the page

The benchmarks on data sets are skipped unless an option, such as `--cranfield`, says where the files are.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from pathlib import Path

import peers
from goals import SECTIONS
from results_page import page

HERE = Path(__file__).parent
DATA_SETS = {section.script: section.data for section in SECTIONS if section.data}
"""Scripts that need a file or a folder of files, and the option that says where it is."""


def main() -> None:
    """Run what the command line asks for."""
    parser = argparse.ArgumentParser(prog="python benchmarks", description="Run the benchmarks.")
    scripts = [section.script for section in SECTIONS]
    parser.add_argument("scripts", nargs="*", metavar="NAME", help=f"these alone: {', '.join(scripts)}")
    parser.add_argument("--rounds", type=int, help="how often each one measures")
    parser.add_argument("--page", type=Path, default=HERE.parent / "docs" / "benchmarks.md", help="what to write")
    for option in sorted({*DATA_SETS.values()}):
        parser.add_argument(f"--{option}", type=Path, metavar="FILE", help=f"the {option} data set")
    given = parser.parse_args()
    if unknown := set(given.scripts) - set(scripts):
        parser.error(f"NAME: {', '.join(sorted(unknown))}; known: {', '.join(scripts)}")
    load, results = os.getloadavg()[0], {}
    for script in given.scripts or scripts:
        option = DATA_SETS.get(script)
        file = getattr(given, option) if option else None
        results[script] = _skipped(script, option) if option and file is None else run(script, given.rounds, file)
    if not given.scripts:
        given.page.write_text(page(results, load=load, others=peers.versions()), encoding="utf-8")


def _skipped(script: str, option: str) -> str:
    why = f"it needs a data set, `--{option} FILE`"
    print(f"skip {script} {why}", flush=True)
    return why


def run(script: str, rounds: int | None, file: Path | None) -> dict[str, float] | str:
    """Run one benchmark in a process of its own, print its lines, and return its figures, or why it was skipped.

    Raises:
        CalledProcessError: it failed.
    """
    arguments = [str(file)] if file else ["--rounds", str(rounds)] if rounds else []
    command = [sys.executable, str(HERE / f"{script}.py"), *arguments]
    figures: dict[str, float] = {}
    skipped = None
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        for line in process.stdout or ():
            print(line, end="", flush=True)
            name, _, value = line.strip().partition(" ")
            if name == "skip":
                skipped = value
            else:
                figures[name] = float(value)
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, command)
    return skipped if skipped and not figures else figures


if __name__ == "__main__":
    main()
