"""Run the benchmarks, print their figures and write docs/benchmarks.md.

    python benchmarks                       all sections of the page, and the page
    python benchmarks overhead guard_cost   these alone, without the page

Each file of the folder asks one question and can be run by itself; `python benchmarks/load.py --help` says how. What is
measured on data sets is skipped unless an option, such as `--cranfield`, says where the files are.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from pathlib import Path

import peers
from results_page import SECTIONS, page
from sections import Section, list_data

HERE = Path(__file__).parent


def main() -> None:
    """Run what the command line asks for."""
    parser = argparse.ArgumentParser(prog="python benchmarks", description="Run the benchmarks.")
    sections = {section.name: section for section in SECTIONS}
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"these alone: {', '.join(sections)}")
    parser.add_argument("--rounds", type=int, help="how often each one measures")
    parser.add_argument("--page", type=Path, default=HERE.parent / "docs" / "benchmarks.md", help="what to write")
    for option in list_data(SECTIONS):
        parser.add_argument(f"--{option}", type=Path, metavar="PATH", help=f"the {option} data set")
    given = parser.parse_args()
    if unknown := set(given.names) - set(sections):
        parser.error(f"NAME: {', '.join(sorted(unknown))}; known: {', '.join(sections)}")
    load, results = os.getloadavg()[0], {}
    for name in given.names or sections:
        section = sections[name]
        if not section.data:
            results[name] = measure(section, ["--rounds", str(given.rounds or section.rounds)])
        elif path := getattr(given, section.data):
            results[name] = measure(section, [f"--{section.data}", str(path)])
        else:
            results[name] = section.needs
            print(f"skip {name} {section.needs}", flush=True)
    if not given.names:
        given.page.write_text(page(results, load=load, others=peers.versions()), encoding="utf-8")


def measure(section: Section, arguments: list[str]) -> dict[str, float] | str:
    """Measure a section in a process of its own, print its lines, and return its figures, or why it was skipped.

    Raises:
        CalledProcessError: it failed.
    """
    command = [sys.executable, str(HERE / f"{section.script}.py"), section.name, *arguments]
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
