"""A finding of the proof."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Finding:
    """One way in which a graph breaks the grammar."""

    rule: str
    """Its name in `RULES`."""
    message: str
    nodes: tuple[str, ...]
    """The nodes at fault, sorted."""
    path: tuple[str, ...] = ()
    """A way through the graph that shows it, where there is one."""

    def __str__(self) -> str:
        way = f" [{' -> '.join(self.path)}]" if self.path else ""
        return f"{self.rule}: {self.message}{way}"
