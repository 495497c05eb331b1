"""SQLite's files over a fork: nobody is at work in one at that moment, and a child opens its own.

SQLite keeps in the memory of a process which locks that process holds. A child that is forked while a thread of its
parent writes inherits the belief that somebody here writes, and waits forever; one that inherits a connection at rest
believes that it holds a lock which the kernel does not know of, so that others may take the log away under it. So a
fork waits until those who are at work are done, and closes what is at rest.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from threading import Condition, Lock
from time import monotonic
from typing import Final
from weakref import WeakMethod

WAITING: Final = 5.0
"""Seconds for which a fork waits for others; a thread that forks in the middle of its own work waits in vain."""


class _Gate:
    """Who is at work in SQLite's files in this process, and who has connections at rest."""

    def __init__(self) -> None:
        self._changed = Condition(Lock())
        self._busy = 0
        self._is_closed = False
        self._resting: list[WeakMethod[Callable[[], None]]] = []

    def add_resting(self, close: Callable[[], None]) -> None:
        """Have a method called before a fork; it closes what is at rest. Its object may go away at any time."""
        with self._changed:
            self._resting = [kept for kept in self._resting if kept() is not None]
            self._resting.append(WeakMethod(close))

    def enter(self, *, waits: bool = True) -> None:
        """Begin some work, once no fork waits; what is a part of other work that has begun does not wait."""
        with self._changed:
            ends = monotonic() + 2 * WAITING
            while waits and self._is_closed and monotonic() < ends:
                self._changed.wait(WAITING)
            self._busy += 1

    def leave(self) -> None:
        """End it."""
        with self._changed:
            self._busy = max(self._busy - 1, 0)
            self._changed.notify_all()

    def close_before_fork(self) -> None:
        """Wait until nobody is at work, and keep others from beginning."""
        self._changed.acquire()
        self._is_closed = True
        ends = monotonic() + WAITING
        while self._busy and monotonic() < ends:
            self._changed.wait(ends - monotonic())
        for kept in self._resting:
            if (close := kept()) is not None:
                close()

    def open_in_parent(self) -> None:
        """Let those begin who wait."""
        self._is_closed = False
        self._changed.notify_all()
        self._changed.release()

    def open_in_child(self) -> None:
        """Forget the threads that are not here."""
        self._changed, self._busy, self._is_closed = Condition(Lock()), 0, False


SQLITE: Final = _Gate()

if hasattr(os, "register_at_fork"):  # Windows does not fork
    os.register_at_fork(
        before=SQLITE.close_before_fork, after_in_parent=SQLITE.open_in_parent, after_in_child=SQLITE.open_in_child
    )
