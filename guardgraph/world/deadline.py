"""How long whoever is called may take."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
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


@contextmanager
def within(seconds: float, clock: Callable[[], float]) -> Iterator[None]:
    """Let `deadline` tell what is left of `seconds`."""
    token = _ENDS.set((clock() + seconds, clock))
    try:
        yield
    finally:
        _ENDS.reset(token)
