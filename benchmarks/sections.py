"""What a benchmark measures, in words that the results page can show, and how it is run by itself."""

from __future__ import annotations

import argparse
import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path

from measure import LOG, Figure, Skip, print_figures


@dataclass(frozen=True)
class Meaning:
    """What figures of one kind mean.

    Args:
        names: which figures, as a pattern with `*`.
        text: one sentence.
        at_most: the goal, a largest value.
        at_least: the goal, a smallest value.
        at_most_of: goals that differ, largest values, by what the figures' names begin with.
    """

    names: str
    text: str
    at_most: float | None = None
    at_least: float | None = None
    at_most_of: Mapping[str, float] = field(default_factory=dict)

    @property
    def ending(self) -> str:
        """How the names end, where the pattern is `*` and an ending."""
        return self.names.removeprefix("*")

    @property
    def goal(self) -> str:
        """The goal in words; blank for figures that have none."""
        if self.at_most_of:
            return ", ".join(f"≤ {most:g} (`{begin}`)" for begin, most in self.at_most_of.items())
        return self._in_words(self.at_most)

    def goal_of(self, name: str) -> str:
        """Return the goal of one figure in words; blank where it has none."""
        return self._in_words(self._most(name))

    def is_reached(self, name: str, value: float) -> bool:
        """Say whether the value of a figure reaches its goal."""
        most = self._most(name)
        return not (self.at_least is not None and value < self.at_least) and not (most is not None and value > most)

    def _most(self, name: str) -> float | None:
        return next((most for begin, most in self.at_most_of.items() if name.startswith(begin)), self.at_most)

    def _in_words(self, most: float | None) -> str:
        if most is not None:
            return f"≤ {most:g}"
        return f"≥ {self.at_least:g}" if self.at_least is not None else ""


@dataclass(frozen=True)
class Section:
    """One thing that is measured, and a section of the results page.

    Args:
        name: what the command line calls it.
        title: its heading.
        text: what was done.
        meanings: of its figures; of those that fit a name, the longest pattern holds.
        figures: the function that measures; it stands in the benchmark's file. It takes how often to measure, or the
            data set, and the half of it or the sizes where there are any.
        rounds: how often it measures, if not told otherwise; 0 for one that is measured on a data set.
        data: the option that names the file or folder that it is measured on; blank for one that needs none.
        half: which half of the data set is measured, if not told otherwise: ``tuned``, on which the rules were tuned,
            ``kept`` or ``all``; blank where there are no halves.
        sizes: how large what is measured on a data set is, one after another, if not told otherwise; empty where the
            data set says it.
        missed: why a goal is missed, where one is.
    """

    name: str
    title: str
    text: str
    meanings: tuple[Meaning, ...]
    figures: Callable[..., Iterator[Figure]]
    rounds: int = 0
    data: str = ""
    half: str = ""
    sizes: tuple[int, ...] = ()
    missed: str = ""

    @property
    def script(self) -> str:
        """The name of its file, without `.py`."""
        return self.figures.__module__

    @property
    def needs(self) -> str:
        """Why it is skipped without its data set."""
        return f"it needs a data set, `--{self.data} PATH`"

    @property
    def is_grid(self) -> bool:
        """Whether its figures are of a few kinds, told apart by how their names end."""
        return all(meaning.names.startswith("*") for meaning in self.meanings)

    def list_missed(self, found: Mapping[str, float]) -> Iterator[str]:
        """Yield the figures that do not reach their goal."""
        return (name for name, value in found.items() if not self.meaning(name).is_reached(name, value))

    def meaning(self, name: str) -> Meaning:
        """Return what a figure means.

        Raises:
            LookupError: nothing here fits the name.
        """
        if fitting := [meaning for meaning in self.meanings if fnmatchcase(name, meaning.names)]:
            return max(fitting, key=lambda meaning: len(meaning.names))
        raise LookupError(f"the section {self.name} says nothing about a figure named {name}")


def run_alone(sections: Sequence[Section]) -> None:
    """Measure what the command line asks for, of the sections of one file, and print the figures."""
    names = [section.name for section in sections]
    parser = argparse.ArgumentParser(description=f"Measure {', '.join(names)}.")
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"these alone: {', '.join(names)}")
    parser.add_argument("--rounds", type=int, help="how often to measure")
    for option in list_data(sections):
        parser.add_argument(f"--{option}", type=Path, metavar="PATH", help=f"the {option} data set")
    parser.add_argument("--half", choices=("tuned", "kept", "all"), help="of a data set on which rules were tuned")
    parser.add_argument("--sizes", type=int, nargs="+", help="how large what is measured is, where it can be told")
    parser.add_argument("--show", action="store_true", help="say what was judged wrongly, where something is judged")
    given = parser.parse_args()
    if unknown := set(given.names) - set(names):
        parser.error(f"NAME: {', '.join(sorted(unknown))}; known: {', '.join(names)}")
    if given.show:
        logging.basicConfig(format="%(message)s")
        LOG.setLevel(logging.INFO)
    for section in sections:
        if section.name in (given.names or names):
            print_figures(_measure(section, given))


def list_data(sections: Sequence[Section]) -> list[str]:
    """Return the options that name the data sets of sections."""
    return sorted({section.data for section in sections if section.data})


def _measure(section: Section, given: argparse.Namespace) -> Iterator[Figure]:
    if not section.data:
        yield from section.figures(given.rounds or section.rounds)
        return
    path = getattr(given, section.data)
    if path is None:
        raise Skip(section.name, section.needs)
    half = [given.half or section.half] if section.half else []
    sizes = [given.sizes or section.sizes] if section.sizes else []
    yield from section.figures(path, *half, *sizes)
