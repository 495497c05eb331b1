"""Threads for calls that may outlast their deadline.

A call that hangs keeps its thread for as long as it hangs, and nobody waits for that: not the run, nor the process at
its end, as it would for an executor of the standard library. A thread whose call is over waits for the next one, since
starting a thread costs more than most guards.

Work that nobody waits for any longer is counted until it ends, over the whole process and for each whom it is done by:
there is a bound to both. So it is with a task of an event loop that does not end when it is cancelled.
"""

from __future__ import annotations

import asyncio
import os
from asyncio import Task
from collections import deque
from collections.abc import Callable, Coroutine, Hashable
from concurrent.futures import Future
from contextlib import suppress
from contextvars import Context, copy_context
from threading import TIMEOUT_MAX, Lock, Thread
from typing import Any, TypeAlias

MAX_IDLE = 32  # threads that are kept waiting; a burst of calls may use more


class Handover:
    """What one thread waits for and another brings: a `Future` for one who waits, at a fraction of its cost."""

    __slots__ = ("_error", "_here", "_is_done", "_result")

    def __init__(self) -> None:
        self._is_done = False
        self._here = Lock()
        self._here.acquire()
        self._result: Any = None
        self._error: BaseException | None = None

    def set_result(self, result: Any) -> None:
        """Bring a result."""
        self._result, self._is_done = result, True
        self._here.release()

    def set_exception(self, error: BaseException) -> None:
        """Bring an exception."""
        self._error, self._is_done = error, True
        self._here.release()

    def done(self) -> bool:
        """Say whether something was brought."""
        return self._is_done

    def wait_for_result(self, seconds: float) -> tuple[Any, BaseException | None] | None:
        """Wait for at most `seconds`; return the result and None, or None and the exception, or None for neither."""
        return (self._result, self._error) if self._here.acquire(timeout=seconds) else None


Abandoned: TypeAlias = "Handover | Future[Any] | Task[Any]"  # what tells when abandoned work is over

ThreadTask: TypeAlias = "tuple[Context, Handover | Future[Any], Callable[[], Any]]"


def run_in_call_thread(work: Callable[[], Any]) -> Future[Any]:
    """Start work in a thread of its own, in a copy of the caller's context."""
    done: Future[Any] = Future()
    # A running future cannot be cancelled, so a late answer finds it open and is dropped without a word.
    done.set_running_or_notify_cancel()
    start_thread_work(work, done)
    return done


def start_thread_work(work: Callable[[], Any], done: Handover | Future[Any]) -> None:
    """Start work as `run_in_call_thread` does; `done` gets what comes of it."""
    task = (copy_context(), done, work)
    try:
        _idle.pop().take_thread_task(task)
    except IndexError:
        _Worker(task).start()


async def await_in_thread(work: Callable[[], Any], by: Hashable = None) -> Any:
    """Do work in a thread of its own, and wait for it without blocking the event loop; who is cancelled abandons it."""
    done = run_in_call_thread(work)
    try:
        with suppress(Exception):  # of some classes asyncio raises a copy, which does not know where it was raised
            await asyncio.wrap_future(done)
    except asyncio.CancelledError:
        abandon_work(done, by)
        raise
    return done.result()


CLEANING_SECONDS = 0.1  # seconds in which a cancelled task may clean up before it is left behind


async def await_in_task(coroutine: Coroutine[Any, Any, Any], seconds: float, by: Hashable = None) -> Task[Any] | None:
    """Do async work in a task of its own, and wait for it at most `seconds`; then it is cancelled."""
    task = asyncio.create_task(coroutine)
    try:
        done, _ = await asyncio.wait({task}, timeout=min(seconds, TIMEOUT_MAX))
        if not done:
            await _cancel_task(task, by)
        return task if done else None
    except asyncio.CancelledError:
        await _cancel_task(task, by)
        raise


async def _cancel_task(task: Task[Any], by: Hashable) -> None:
    task.add_done_callback(_forget_abandoned_task)
    task.cancel()
    abandon_work(task, by)
    await asyncio.wait({task}, timeout=CLEANING_SECONDS)


def _forget_abandoned_task(task: Task[Any]) -> None:
    _abandoned.pop(task, None)
    if not task.cancelled():
        task.exception()  # or asyncio says that nobody asked for it


def abandon_work(done: Abandoned, by: Hashable = None) -> None:
    """Say that nobody waits for what comes of some work any longer."""
    _abandoned[done] = by
    if done.done():  # in this order: whatever ends from now on takes itself out
        _abandoned.pop(done, None)


def count_abandoned_work(by: Hashable = None) -> tuple[int, int]:
    """Return how much abandoned work is still going on in this process: all of it, and what somebody does."""
    if not _abandoned:
        return 0, 0
    for done in list(_abandoned):
        if isinstance(done, Task) and done.get_loop().is_closed():  # nobody will ever finish it
            _abandoned.pop(done, None)
    doing = list(_abandoned.values())
    return len(doing), doing.count(by)


class _Worker(Thread):
    """A thread that does one task after the other."""

    def __init__(self, task: ThreadTask) -> None:
        super().__init__(name="guardgraph-call", daemon=True)
        self._task: ThreadTask | None = task
        self._wake = Lock()
        self._wake.acquire()

    def take_thread_task(self, task: ThreadTask) -> None:
        """Give a waiting thread its next task."""
        self._task = task
        self._wake.release()

    def run(self) -> None:
        """Do what was given, then wait for more."""
        while self._task is not None:
            (context, done, work), self._task = self._task, None
            context.run(_fulfil_thread_work, done, work)
            del context, done, work  # a waiting thread must not keep a run's data alive
            if len(_idle) >= MAX_IDLE:
                return
            _idle.append(self)
            self._wake.acquire()


_idle: deque[_Worker] = deque()
_abandoned: dict[Abandoned, Hashable] = {}  # what is going on though nobody waits for it, and who does it
if hasattr(os, "register_at_fork"):  # Windows does not fork
    os.register_at_fork(after_in_child=_idle.clear)  # a forked process has none of these threads
    os.register_at_fork(after_in_child=_abandoned.clear)


def _fulfil_thread_work(done: Handover | Future[Any], work: Callable[[], Any]) -> None:
    try:
        done.set_result(work())
    except (StopIteration, asyncio.CancelledError) as error:  # to asyncio, these say something else
        done.set_exception(RuntimeError(f"{type(error).__name__}: {error}"))
    except BaseException as error:  # noqa: BLE001 - nothing may be lost in a thread; the waiting side judges it
        done.set_exception(error)
    finally:
        _abandoned.pop(done, None)
        del done, work  # the error's traceback has this frame: the two must not keep each other alive
