"""The live world: calls are made, the clock is the process's, ids are random.

A person is somebody who is called: the run waits until the decision is there.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from functools import partial
from queue import Empty, SimpleQueue
from threading import TIMEOUT_MAX
from uuid import uuid4

from langgraph.errors import GraphInterrupt

from guardgraph.plain.errors import ConfigurationError
from guardgraph.world.call import WORLD_METHODS, Asked, Performed, World
from guardgraph.world.calls import (
    Arrived,
    Working,
    aperform_call,
    build_late_outcome,
    perform_call,
    refuse_call_when_busy,
    start_call,
)
from guardgraph.world.deadline import ReplyMeter, within
from guardgraph.world.observing import Observer, find_observer
from guardgraph.world.reviews import ask_person_for_answer

MAX_AT_ONCE = 16  # calls of one node that are at work at the same time; more of them wait for their turn

MAX_ABANDONED = 64
"""Calls that outlasted their deadline and may still be at work in the process before another one is refused: each has
a thread, which on most systems holds a few hundred kilobytes to a few megabytes beside what its client holds."""


class LiveWorld:
    """The world as it is.

    Args:
        clock: seconds that only ever grow; tests give a `guardgraph.testing.ScriptedClock`.
        max_abandoned: calls that were left behind at their deadline and may still be at work, in the whole process,
            before this world refuses another one: ``llm_unavailable``, or ``tool_unavailable:<tool>``.
        max_abandoned_each: how many of these may be calls of one proposer or tool before another call of it is
            refused, so that one that hangs leaves room for the others; None for a quarter of all, one at least.

    Raises:
        ConfigurationError: the clock is no function, or a bound no whole number from 0 on.
    """

    def __init__(
        self,
        *,
        clock: Callable[[], float] = time.perf_counter,
        max_abandoned: int = MAX_ABANDONED,
        max_abandoned_each: int | None = None,
    ) -> None:
        if not callable(clock):
            raise ConfigurationError(f"clock: a function that returns seconds; given: {clock!r:.80}")
        self._max_abandoned = _validate_bound("max_abandoned", max_abandoned)
        each = max(1, max_abandoned // 4) if max_abandoned_each is None else max_abandoned_each
        self._max_abandoned_each = _validate_bound("max_abandoned_each", each)
        self.clock: Callable[[], float] = clock if clock is time.perf_counter else partial(_read_float_clock, clock)
        """Returns seconds that only grow; a node reads it without a detour."""

    def __repr__(self) -> str:
        return "<LiveWorld>"

    def calendar(self) -> datetime:
        """Return the date and time in UTC."""
        return datetime.now(UTC)

    def new_run(self) -> str:
        """Return a random UUID."""
        return str(uuid4())

    def perform(self, asked: Sequence[Asked], seconds: float) -> list[Performed]:
        """Make calls, each in a thread that is left behind when time is up; see `World.perform`."""
        if len(asked) == 1:
            return [self._perform_one_call(asked[0], seconds)]
        if asked[0].in_turn:
            ends = time.monotonic() + seconds
            return [self._perform_one_call(item, ends - time.monotonic()) for item in asked]
        return self._perform_side_by_side(asked, seconds)

    async def aperform(self, asked: Sequence[Asked], seconds: float) -> list[Performed]:
        """Make calls, each in a task that is cancelled, and left behind, when time is up; see `World.perform`."""
        if len(asked) == 1:
            return [await self._aperform_one_call(asked[0], seconds)]
        free, ends = asyncio.Semaphore(1 if asked[0].in_turn else MAX_AT_ONCE), time.monotonic() + seconds

        async def perform_in_turn(item: Asked) -> Performed:
            async with free:
                return await self._aperform_one_call(item, ends - time.monotonic())

        tasks = [asyncio.create_task(perform_in_turn(item)) for item in asked]
        try:
            came = await asyncio.gather(*tasks, return_exceptions=True)
            return [_raise_or_return_reply(item) for item in came]
        finally:
            for task in tasks:
                task.cancel()

    def _perform_one_call(self, item: Asked, seconds: float) -> Performed:
        began = self.clock()
        if item.call.kind == "person":
            return Performed(ask_person_for_answer(item), 0.0)
        if (refused := refuse_call_when_busy(item.call, self._max_abandoned, self._max_abandoned_each)) is not None:
            return Performed(refused, 0.0, reply_bytes=0)
        bounds = within(seconds, self.clock, item.max_reply_bytes, item.max_output_tokens)
        with item.surroundings(), bounds as read:
            outcome = perform_call(item.call, seconds, item.max_reply_bytes)
        return Performed(outcome, self.clock() - began, reply_bytes=read.largest_reply_size)

    async def _aperform_one_call(self, item: Asked, seconds: float) -> Performed:
        began = self.clock()
        if item.call.kind == "person":
            return Performed(ask_person_for_answer(item), 0.0)
        if (refused := refuse_call_when_busy(item.call, self._max_abandoned, self._max_abandoned_each)) is not None:
            return Performed(refused, 0.0, reply_bytes=0)
        bounds = within(seconds, self.clock, item.max_reply_bytes, item.max_output_tokens)
        with item.surroundings(), bounds as read:
            outcome = await aperform_call(item.call, seconds, item.max_reply_bytes)
        return Performed(outcome, self.clock() - began, reply_bytes=read.largest_reply_size)

    def _perform_side_by_side(self, asked: Sequence[Asked], seconds: float) -> list[Performed]:
        working: list[Working] = []
        try:
            return self._collect_replies(asked, seconds, working)
        finally:
            for work in working:
                work.abandon_call()

    def _collect_replies(self, asked: Sequence[Asked], seconds: float, working: list[Working]) -> list[Performed]:
        began, done = self.clock(), SimpleQueue[tuple[int, Arrived]]()
        ends, started = time.monotonic() + min(seconds, TIMEOUT_MAX / 2), 0
        read = [ReplyMeter() for _ in asked]
        brought: dict[int, Performed | GraphInterrupt] = {}
        while len(brought) < len(asked):
            left = ends - time.monotonic()
            while started < len(asked) and started - len(brought) < MAX_AT_ONCE and left > 0 and seconds > 0:
                item = asked[started]
                bounds = within(left, self.clock, item.max_reply_bytes, item.max_output_tokens)
                with item.surroundings(), bounds as read[started]:
                    working += self._start_one_call(item, done, started)
                started += 1
            try:
                at, arrived = done.get(timeout=max(left, 0.0))
            except Empty:
                break
            try:
                brought[at] = Performed(arrived(), self.clock() - began, reply_bytes=read[at].largest_reply_size)
            except GraphInterrupt as interrupt:  # the first one in order is asked first, whoever is quicker
                brought[at] = interrupt
        for at in range(len(asked)):
            if at not in brought:
                late = build_late_outcome(asked[at].call, seconds)
                brought[at] = Performed(late, self.clock() - began, reply_bytes=read[at].largest_reply_size)
        return [_raise_or_return_reply(brought[at]) for at in range(len(asked))]

    def _start_one_call(self, item: Asked, done: SimpleQueue[tuple[int, Arrived]], at: int) -> list[Working]:
        """Start one of several calls; a refused one is brought at once, and is no work."""
        refused = refuse_call_when_busy(item.call, self._max_abandoned, self._max_abandoned_each)
        if refused is not None:
            done.put((at, lambda: refused))
            return []
        return [start_call(item.call, done, at, item.max_reply_bytes)]


def _validate_bound(name: str, given: object) -> int:
    if not isinstance(given, int) or isinstance(given, bool) or given < 0:
        raise ConfigurationError(f"{name}: a whole number from 0 on; given: {given!r:.80}")
    return given


def _read_float_clock(clock: Callable[[], float]) -> float:
    return float(clock())  # a replay makes floats of whole numbers, too


def _raise_or_return_reply(came: Performed | BaseException) -> Performed:
    if isinstance(came, BaseException):
        raise came
    return came


class AroundWorld:
    """A world around another one, whose clock, calendar, ids and observer it has; how calls are made it says itself."""

    def __init__(self, world: World | None) -> None:
        self._world = LiveWorld() if world is None else _validate_inner_world(world)
        self.clock: Callable[[], float] = self._world.clock
        """Returns seconds that only grow."""

    @property
    def observer(self) -> Observer | None:
        """Who observes the runs for which it makes calls."""
        return find_observer(self._world)

    def calendar(self) -> datetime:
        """Return the date and time in UTC."""
        return self._world.calendar()

    def new_run(self) -> str:
        """Return the id of a new run, a UUID."""
        return self._world.new_run()


def _validate_inner_world(given: World) -> World:
    if missing := [name for name in WORLD_METHODS if not callable(getattr(given, name, 0))]:
        raise ConfigurationError(f"world: an object with {', '.join(missing)} is required; given: {given!r:.80}")
    return given
