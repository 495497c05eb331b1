"""A visit: one node at work, once. It reads the clock, and writes the node's line into the log."""

from __future__ import annotations

from typing import Any

from guardgraph.graphs.frame import Part
from guardgraph.graphs.session import Session
from guardgraph.nodes.body import Run
from guardgraph.plain.json import JsonObject
from guardgraph.state.run import LogEntry

__all__ = ["Visit"]


class Visit:
    """One node at work.

    Args:
        part: the node.
        log: the lines of the nodes before it in this run.
        session: the call of the graph in which it works.
    """

    __slots__ = ("_active", "_before", "_clock", "_readings", "began", "log", "part", "session")

    def __init__(self, part: Part, log: list[LogEntry], session: Session) -> None:
        self.part, self.log, self.session = part, log, session
        self._clock = session.world.clock
        self._readings = [session.last]
        self._before = log[-1].get("active", 0.0) if log else 0.0  # a run that version 0.1 began has none
        self._active: float | None = None
        self.began = self.spent()
        """Seconds for which the run had been active when the node began."""

    def spent(self) -> float:
        """Read the clock, and return the seconds for which the run has been active."""
        now = self._clock()
        self._readings.append(now)
        return self._before + self.session.carried + (now - self._readings[0])

    def run(self, run: Run[Any, Any]) -> Run[Any, Any]:
        """Return the run as the body of this node sees it."""
        return Run(run.policy, run.budget, self.began, run.caller)

    def end(self) -> float:
        """Let the node's time end here, and return the seconds for which the run has been active."""
        self._active = self.spent()
        return self._active

    def line(self, said: JsonObject) -> LogEntry:
        """Return the node's line in the log; its time ends here, unless it has ended."""
        item = self.part.declaration
        active = self.end() if self._active is None else self._active
        readings = self._readings
        elapsed = round((readings[-1] - readings[1]) * 1000, 3)
        line: Any = {"node": item.name, "kind": item.kind, "phase": item.phase, "elapsed_ms": elapsed, **said}
        line["clock"], line["active"] = readings, active
        opening = self.session.settle(readings[-1])
        if opening is not None:
            line["opening"] = opening
        return line  # type: ignore[no-any-return]
