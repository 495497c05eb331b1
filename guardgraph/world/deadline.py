"""How long whoever is called may take."""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar

__all__ = ["deadline", "within"]

_ENDS: ContextVar[tuple[float, Callable[[], float]] | None] = ContextVar("guardgraph_deadline", default=None)


def deadline() -> float | None:
    """Return the seconds that the run has left, for a proposer or a tool that wants to give up in time.

    Returns:
        Seconds, 0 when time is up; None outside a call of a run. It holds in the thread or task of the call, and in
        those that are started with its context.
    """
    known = _ENDS.get()
    if known is None:
        return None
    ends, clock = known
    return max(ends - clock(), 0.0)


class within:
    """Let `deadline` tell what is left of some seconds.

    Args:
        seconds: from now on.
        clock: which tells now.
    """

    __slots__ = ("_clock", "_seconds", "_token")

    def __init__(self, seconds: float, clock: Callable[[], float]) -> None:
        self._seconds, self._clock = seconds, clock

    def __enter__(self) -> None:
        around = deadline()  # of a run whose tool makes this one
        seconds = self._seconds if around is None else min(self._seconds, around)
        self._token = _ENDS.set((self._clock() + seconds, self._clock))

    def __exit__(self, *raised: object) -> None:
        _ENDS.reset(self._token)
