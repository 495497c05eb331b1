"""What a call has opened, so that it can be closed when the call is left behind.

Python cannot end a thread, but a thread that waits for a byte ends when its connection does.
"""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar, Token

_HERE: ContextVar[Connections | None] = ContextVar("guardgraph_connections", default=None)


def close_with_call(close: Callable[[], object]) -> None:
    """Let `close` be called, in another thread, if the call that is at work outlasts its time.

    It holds in the thread of the call, and in those that are started with its context; elsewhere nobody calls it.
    """
    if (connections := _HERE.get()) is not None:
        connections.add_connection(close)


class Connections:
    """What one call has opened. Whatever starts inside of the block belongs to the call."""

    __slots__ = ("_are_closed", "_closing", "_token")

    def __init__(self) -> None:
        self._closing: list[Callable[[], object]] = []
        self._are_closed = False

    def __enter__(self) -> None:
        self._token: Token[Connections | None] = _HERE.set(self)

    def __exit__(self, *raised: object) -> None:
        _HERE.reset(self._token)

    def add_connection(self, close: Callable[[], object]) -> None:
        """Keep what closes a connection; one that was opened too late is closed at once."""
        self._closing.append(close)
        if self._are_closed:
            close()

    def close_connections(self) -> None:
        """Close what is open, and what will be."""
        self._are_closed = True
        for close in tuple(self._closing):
            close()
