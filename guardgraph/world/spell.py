"""The time of a recorded run, visit by visit: what a replay's clock says, and how long its calls may take."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import inf
from typing import Any, NamedTuple

from guardgraph.state.recording import Recording


class Spell(NamedTuple):
    """The time of one visit of a recorded run."""

    readings: Sequence[float]
    """Of the clock, in seconds; time counts from the first."""
    spent: float = 0.0
    """Seconds for which the recorded run had been active at the first."""
    most: float = 0.0
    """Seconds for which it might be active."""
    reply: float = inf
    """Bytes that a reply might have."""
    in_turn: bool = False
    """Whether calls that were made at once were made one after another."""

    def get_seconds_left(self, at: int) -> float:
        """Return the seconds that the recorded run had left at a reading."""
        return self.most - (self.spent + (self.readings[at] - self.readings[0]))


def read_visit_spells(recording: Recording) -> Iterator[Spell]:
    """Yield the time of every visit of a recorded run, in their order."""
    active, most, reply = 0.0, 0.0, inf
    for visit in recording["visits"]:
        carried = 0.0
        if (opening := visit.get("opening")) is not None:
            carried = opening["carried"]
            limits = [
                item
                for item in (recording["budget"], _get_context_budget(opening["context"]))
                if isinstance(item, dict)
            ]
            most, reply = (
                _get_smallest_limit(limits, "max_seconds", 0.0),
                _get_smallest_limit(limits, "max_reply_bytes", inf),
            )
        readings = visit["clock"]
        spell = Spell(readings, active + carried, most, reply, bool(visit.get("answers")))
        yield spell
        active = spell.spent + (readings[-1] - readings[0])


def _get_context_budget(context: Any) -> Any:
    return context.get("budget") if isinstance(context, dict) else None


def _get_smallest_limit(limits: list[Any], name: str, default: float) -> float:
    """Return what holds of a limit that the deployment and the context may both name: the smaller one."""
    given = [limit for item in limits if isinstance(limit := item.get(name), int | float)]
    return min(given, default=default)
