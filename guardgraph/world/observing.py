"""Observing: who is told how runs go, session by session and node by node, and changes nothing of them.

A world that has an ``observer`` has the runs of its graphs observed. Runs that are decided again have another world, so
nobody observes them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, Literal, Protocol, TypeAlias

from guardgraph.plain.json import JsonObject

SessionEnd: TypeAlias = Literal["ended", "waiting", "paused", "cancelled", "failed"]
"""How a session was left: the run is over; it waits for a person; a client halted it between two nodes; it was
cancelled, or whoever followed it went away; something was raised out of it."""


@dataclass(frozen=True, slots=True)
class VisitBegun:
    """A node that begins its work."""

    run_id: str
    thread: str | None  # on which a checkpointer keeps the run
    node: str
    kind: str
    phase: str
    first_mark: str | None  # the mark of the first session of the run, None in that session


@dataclass(frozen=True, slots=True)
class VisitEnded:
    """A node that has done its work."""

    update: Mapping[str, Any]
    """What it writes, its line of the log among it; of a terminal in which the run ended, the result."""
    line: Mapping[str, Any]  # its line of the log
    reason: str | None
    """The catalogue's name of the reason for which it stops the run or refuses a proposal; what stands for the
    placeholder in it is left out."""


class ObservedSession(Protocol):
    """One session of a run that is observed."""

    @property
    def mark(self) -> str | None:
        """What a later session of the run, perhaps of another process, knows this one by."""

    def enter_visit(self, begun: VisitBegun) -> AbstractContextManager[Callable[[VisitEnded], None]]:
        """Return what a node works in; it is given what is told of the node's end."""

    def see_shadows(self, shadows: Mapping[str, JsonObject]) -> None:
        """Be told what the shadows make of the run."""

    def close(self, how: SessionEnd, error: BaseException | None) -> None:
        """Be told that the session is over."""


class Observer(Protocol):
    """Who observes runs. What it raises would be raised in the run, so it raises nothing."""

    def open_session(self, agent: str, pattern: str) -> ObservedSession:
        """Return the session that begins now, of a graph of this name."""


def find_observer(world: object) -> Observer | None:
    """Return who observes what a world is used for, None where nobody does."""
    observer: Observer | None = getattr(world, "observer", None)
    return observer
