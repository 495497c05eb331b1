"""How long whoever is called may take, and how much it may bring."""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar
from typing import NamedTuple

__all__ = ["deadline", "reply_bytes", "within"]


class _Limits(NamedTuple):
    ends: float
    clock: Callable[[], float]
    most: int


_LIMITS: ContextVar[_Limits | None] = ContextVar("guardgraph_limits", default=None)


def deadline() -> float | None:
    """Return the seconds that the run has left, for a proposer or a tool that wants to give up in time.

    Returns:
        Seconds, 0 when time is up; None outside a call of a run. It holds in the thread or task of the call, and in
        those that are started with its context.
    """
    known = _LIMITS.get()
    return None if known is None else max(known.ends - known.clock(), 0.0)


def reply_bytes() -> int | None:
    """Return the bytes that a reply may have, for a proposer or a tool that wants to stop reading in time.

    Returns:
        `max_reply_bytes` of the run's budget: a reply that is larger as JSON text is refused. None outside a call of a
        run; it holds where `deadline` does.
    """
    known = _LIMITS.get()
    return None if known is None else known.most


class within:
    """Let `deadline` and `reply_bytes` tell what a call may take.

    Args:
        seconds: from now on.
        clock: which tells now.
        most: bytes of the reply.
    """

    __slots__ = ("_given", "_token")

    def __init__(self, seconds: float, clock: Callable[[], float], most: int) -> None:
        self._given = (seconds, clock, most)

    def __enter__(self) -> None:
        seconds, clock, most = self._given
        around = _LIMITS.get()  # of a run whose tool makes this one
        if around is not None:
            seconds, most = min(seconds, max(around.ends - around.clock(), 0.0)), min(most, around.most)
        self._token = _LIMITS.set(_Limits(clock() + seconds, clock, most))

    def __exit__(self, *raised: object) -> None:
        _LIMITS.reset(self._token)
