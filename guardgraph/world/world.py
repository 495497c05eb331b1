"""The world: the one object through which a run reaches outside, reads the clock and the calendar, and gets its id.

It is for a run what a transport is for an HTTP client. `LiveWorld` performs calls, `ReplayingWorld` gives back what a
recording holds; a wrapper adds retries, limits or measures and hands on the rest.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

from guardgraph.world.call import Asked, Performed

WORLD_METHODS = ("clock", "calendar", "new_run", "perform", "aperform")
"""What a world is asked for."""


class World(Protocol):
    """What a compiled graph asks of whatever is outside."""

    def clock(self) -> float:
        """Return seconds that only grow."""

    def calendar(self) -> datetime:
        """Return the date and time in UTC."""

    def new_run(self) -> str:
        """Return the id of a new run, a UUID."""

    def perform(self, asked: Sequence[Asked], seconds: float) -> list[Performed]:
        """Make calls side by side and wait for all of them, `seconds` at most.

        A call of a person (``item.call.kind == "person"``) is never to be repeated by a wrapper: a rejection is a
        failure outcome too, and who repeats it asks until somebody says yes.

        Args:
            asked: the calls; one unless an act node asks several tools at once.
            seconds: the deadline that they share; a call that outlasts it is a failure.

        Returns:
            What each brought back, in the order of `asked`, and the seconds that it took, all attempts together. A
            failure is an outcome too.

        Raises:
            GraphInterrupt: the run has to wait for a person.
            Exception: what no server can cause, such as a failed assertion; the node that asked closes the run.
        """

    async def aperform(self, asked: Sequence[Asked], seconds: float) -> list[Performed]:
        """Make calls like `perform`, without blocking the event loop."""
