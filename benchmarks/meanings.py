"""What the figures of a benchmark mean, in words that the results page can show."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase

__all__ = ["Meaning", "Section"]


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
    """A benchmark on the page.

    Args:
        script: its file, without `.py`.
        title: its heading.
        text: what was done.
        meanings: of its figures; of those that fit a name, the longest pattern holds.
        data: the option that names the file or folder that it measures on, None for a benchmark that needs none.
    """

    script: str
    title: str
    text: str
    meanings: tuple[Meaning, ...]
    data: str | None = None

    @property
    def is_grid(self) -> bool:
        """Whether its figures are of a few kinds, told apart by how their names end."""
        return all(meaning.names.startswith("*") for meaning in self.meanings)

    def meaning(self, name: str) -> Meaning:
        """Return what a figure means.

        Raises:
            LookupError: nothing here fits the name.
        """
        if fitting := [meaning for meaning in self.meanings if fnmatchcase(name, meaning.names)]:
            return max(fitting, key=lambda meaning: len(meaning.names))
        raise LookupError(f"no goals of {self.script} say anything about a figure named {name}")
