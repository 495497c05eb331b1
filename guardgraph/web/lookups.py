"""Names are looked up by threads that are kept, since a look-up can be left alone but not be stopped."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from contextvars import copy_context
from queue import SimpleQueue
from typing import Any

__all__ = ["within_seconds"]

MOST_IDLE = 4
"""Threads that wait for work; more may be at work."""

_Work = Callable[[], None]
_IDLE: dict[int, list[SimpleQueue[_Work]]] = {}
"""By process: threads are not there after a fork."""


def within_seconds(look_up: Callable[[], Any], seconds: float) -> Any:
    """Return what a look-up returns, or raise what it raises.

    Args:
        look_up: runs in another thread, in the context of this one.
        seconds: how long it may take; its thread is left alone after that.

    Raises:
        TimeoutError: it took longer.
    """
    found: list[Any] = []
    raised: list[BaseException] = []
    done = threading.Lock()
    done.acquire()
    context = copy_context()

    def work() -> None:
        try:
            found.append(context.run(look_up))
        except Exception as error:  # noqa: BLE001 it is raised again, where somebody waits for it
            raised.append(error)
        done.release()

    _given(work)
    if not done.acquire(timeout=seconds):
        raise TimeoutError
    if raised:
        raise raised[0]
    return found[0]


def _given(work: _Work) -> None:
    idle = _IDLE.setdefault(os.getpid(), [])
    try:
        waiting = idle.pop()
    except IndexError:
        waiting = SimpleQueue()
        threading.Thread(target=_wait, args=(waiting, idle), name="guardgraph-lookup", daemon=True).start()
    waiting.put(work)


def _wait(given: SimpleQueue[_Work], idle: list[SimpleQueue[_Work]]) -> None:
    while True:
        given.get()()
        if len(idle) >= MOST_IDLE:
            return
        idle.append(given)
