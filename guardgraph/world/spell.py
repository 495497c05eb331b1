"""The time of a recorded run, visit by visit: what a replay's clock says, and how long its calls may take."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from guardgraph.state.recording import Recording

__all__ = ["Spell", "spells"]


@dataclass(frozen=True, slots=True)
class Spell:
    """The time of one visit of a recorded run."""

    readings: Sequence[float]
    """Of the clock, in seconds; time counts from the first."""
    spent: float = 0.0
    """Seconds for which the recorded run had been active at the first."""
    most: float = 0.0
    """Seconds for which it might be active."""
    in_turn: bool = False
    """Whether calls that were made at once were made one after another."""

    def left(self, at: int) -> float:
        """Return the seconds that the recorded run had left at a reading."""
        return self.most - (self.spent + (self.readings[at] - self.readings[0]))


def spells(recording: Recording) -> Iterator[Spell]:
    """Yield the time of every visit of a recorded run, in their order."""
    active, most = 0.0, 0.0
    for visit in recording["visits"]:
        carried = 0.0
        if (opening := visit.get("opening")) is not None:
            carried, most = opening["carried"], _most(recording["budget"], opening["context"])
        readings = visit["clock"]
        spell = Spell(readings, active + carried, most, bool(visit.get("answers")))
        yield spell
        active = spell.spent + (readings[-1] - readings[0])


def _most(budget: Any, context: Any) -> float:
    """Return the `max_seconds` of a session: the deployment's, or the context's where it is smaller."""
    given = context.get("budget") if isinstance(context, dict) else None
    limits = [item.get("max_seconds") for item in (budget, given) if isinstance(item, dict)]
    return min((limit for limit in limits if isinstance(limit, int | float)), default=0.0)
