"""How long whoever is called may take, how much it may bring, who replied, and what is closed when it is left behind.

Python cannot end a thread, but a thread that waits for a byte ends when its connection does.
"""

from __future__ import annotations

import asyncio
import os
from asyncio import Task
from collections import deque
from collections.abc import Callable, Coroutine, Hashable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from contextvars import Context, ContextVar, Token, copy_context
from queue import Empty, SimpleQueue
from threading import TIMEOUT_MAX, Lock, Thread
from typing import Any, NamedTuple, TypeAlias

_HERE: ContextVar[Connections | None] = ContextVar("guardgraph_connections", default=None)


def close_with_call(close: Callable[[], object]) -> None:
    """Let `close` be called, in another thread, if the call that is at work outlasts its time."""
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


class ReplyMeter:
    """How much was read for a call."""

    __slots__ = ("_around", "_is_told", "_most", "form", "model")

    def __init__(self, around: ReplyMeter | None = None) -> None:
        self._around, self._most, self._is_told = around, 0, True
        self.model: str | None = None  # the name of the model that replied, where one of several was asked
        self.form: str | None = None  # how the reply was asked for, where that was not by a schema

    @property
    def largest_reply_size(self) -> int | None:
        """Bytes of the largest reply that was read, as it came, by those who count them; 0 where nobody does."""
        return self._most if self._is_told else None

    def count_reply_bytes(self, size: int) -> None:
        """Count a reply, or as much as has come of it."""
        self._most = max(self._most, size)
        if self._around is not None:
            self._around.count_reply_bytes(size)

    def note_limit_asked(self) -> None:
        """Somebody asked how many bytes a reply may have."""
        self._is_told = False
        if self._around is not None:
            self._around.note_limit_asked()


class _Limits(NamedTuple):
    ends: float
    clock: Callable[[], float]
    most: int
    reading: ReplyMeter
    tokens: int | None = None


_LIMITS: ContextVar[_Limits | None] = ContextVar("guardgraph_limits", default=None)


def deadline() -> float | None:
    """Return the seconds that the run has left, 0 when time is up, for whoever wants to give up in time.

    It is None outside a call of a run, and holds in its thread or task and those started with its context.
    """
    known = _LIMITS.get()
    return None if known is None else max(known.ends - known.clock(), 0.0)


def reply_bytes() -> int | None:
    """Return the bytes of JSON that a reply may have (`max_reply_bytes`), for whoever wants to stop reading in time.

    It is None outside a call of a run; it holds where `deadline` does.
    """
    if (known := _LIMITS.get()) is not None:
        known.reading.note_limit_asked()
    return None if known is None else known.most


def output_tokens() -> int | None:
    """Return the tokens that a model may write in its reply (`max_output_tokens`), for a proposer that asks one itself.

    It is None where the budget says nothing, and outside a call of a run; it holds where `deadline` does.
    """
    return None if (known := _LIMITS.get()) is None else known.tokens


def get_allowed_reply_bytes() -> int | None:
    """Return what `reply_bytes` does, for a client that says by `note_read_bytes` how much it reads."""
    return None if (known := _LIMITS.get()) is None else known.most


def note_read_bytes(size: int) -> None:
    """Say how many bytes of a reply have come so far, for what-ifs to know whether a smaller limit would have held."""
    if (known := _LIMITS.get()) is not None:
        known.reading.count_reply_bytes(size)


def get_reply_meter() -> ReplyMeter:
    """Return what is read for the call that is at work, and who replied how; outside a call of a run one for nobody."""
    return ReplyMeter() if (known := _LIMITS.get()) is None else known.reading


@contextmanager
def within(seconds: float, clock: Callable[[], float], most: int, tokens: int | None = None) -> Iterator[ReplyMeter]:
    """Let `deadline` and `reply_bytes` tell what a call may take, and yield how much is read for it."""
    around = _LIMITS.get()  # of a run whose tool makes this one
    if around is not None:
        seconds, most = min(seconds, max(around.ends - around.clock(), 0.0)), min(most, around.most)
        tokens = min((limit for limit in (tokens, around.tokens) if limit is not None), default=None)
    reading = ReplyMeter(None if around is None else around.reading)
    token = _LIMITS.set(_Limits(clock() + seconds, clock, most, reading, tokens))
    try:
        yield reading
    finally:
        _LIMITS.reset(token)


MAX_IDLE = 32  # threads that are kept waiting; a burst of calls may use more


class ThreadWork:
    """Work in a thread of its own, for a thread that waits for it: it is told in half the time of a future."""

    __slots__ = ("_came", "_is_over")

    def __init__(self) -> None:
        self._came: SimpleQueue[tuple[Any, BaseException | None]] = SimpleQueue()
        self._is_over = False

    def done(self) -> bool:
        """Say whether it is over."""
        return self._is_over

    def wait(self, seconds: float) -> tuple[Any, BaseException | None] | None:
        """Wait for at most `seconds`; return the result and None, or None and the exception, or None for neither."""
        try:
            return self._came.get(timeout=min(seconds, TIMEOUT_MAX))
        except Empty:
            return None

    def set_result(self, result: Any) -> None:
        """Hand the result over, once."""
        self._is_over = True
        self._came.put((result, None))

    def set_exception(self, error: BaseException) -> None:
        """Hand over what was raised, once."""
        self._is_over = True
        self._came.put((None, error))


Abandoned: TypeAlias = "Future[Any] | Task[Any] | ThreadWork"  # what tells when abandoned work is over

ThreadTask: TypeAlias = "tuple[Context, Future[Any] | ThreadWork, Callable[[], Any]]"


def start_thread_work(work: Callable[[], Any]) -> ThreadWork:
    """Start work in a thread of its own, in a copy of the caller's context, for this thread to wait for."""
    done = ThreadWork()
    _give_thread_task((copy_context(), done, work))
    return done


def run_in_call_thread(work: Callable[[], Any]) -> Future[Any]:
    """Start work in a thread of its own, in a copy of the caller's context, for an event loop or a callback."""
    done: Future[Any] = Future()
    # A running future cannot be cancelled, so a late answer finds it open and is dropped without a word.
    done.set_running_or_notify_cancel()
    _give_thread_task((copy_context(), done, work))
    return done


def _give_thread_task(task: ThreadTask) -> None:
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
            await _cancel_call_task(task, by)
        return task if done else None
    except asyncio.CancelledError:
        await _cancel_call_task(task, by)
        raise


async def _cancel_call_task(task: Task[Any], by: Hashable) -> None:
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
    def __init__(self, task: ThreadTask) -> None:
        super().__init__(name="guardgraph-call", daemon=True)
        self._task: ThreadTask | None = task
        self._wake = Lock()
        self._wake.acquire()

    def take_thread_task(self, task: ThreadTask) -> None:
        self._task = task
        self._wake.release()

    def run(self) -> None:
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


def _fulfil_thread_work(done: Future[Any] | ThreadWork, work: Callable[[], Any]) -> None:
    try:
        done.set_result(work())
    except (StopIteration, asyncio.CancelledError) as error:  # to asyncio, these say something else
        done.set_exception(RuntimeError(f"{type(error).__name__}: {error}"))
    except BaseException as error:  # noqa: BLE001 - nothing may be lost in a thread; the waiting side judges it
        done.set_exception(error)
    finally:
        _abandoned.pop(done, None)
        del done, work  # the error's traceback has this frame: the two must not keep each other alive
