"""How benchmarks run a graph many times: one after another, awaited, or many at once."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from itertools import count
from typing import Any

_numbers = count()

Work = Callable[[], None]
Given = Callable[[], dict[str, Any]]
"""Returns the input of the next run."""


def invoked(graph: Any, given: Given, runs: int, **kwargs: Any) -> Work:
    """Return what runs a graph `runs` times, each on what `given` returns; `kwargs` are LangGraph's."""

    def work() -> None:
        for _ in range(runs):
            graph.invoke(given(), thread_of(graph), **kwargs)

    return work


def ainvoked(runner: asyncio.Runner, graph: Any, given: Given, runs: int, **kwargs: Any) -> Work:
    """Return what runs a graph `runs` times, awaited one after another."""

    async def awaited() -> None:
        for _ in range(runs):
            await graph.ainvoke(given(), thread_of(graph), **kwargs)

    return lambda: runner.run(awaited())


def gathered(runner: asyncio.Runner, graph: Any, given: Given, runs: int) -> Work:
    """Return what runs a graph `runs` times at once."""

    async def together() -> None:
        await asyncio.gather(*(graph.ainvoke(given(), thread_of(graph)) for _ in range(runs)))

    return lambda: runner.run(together())


class Kept:
    """A recorder that keeps the latest recording."""

    recording: Any = None

    def record(self, run: Any) -> None:
        """Keep a recording."""
        self.recording = run


def thread_of(graph: Any) -> dict[str, Any]:
    """Return the config of a thread that no run has had, where the graph has a checkpointer to keep it."""
    return {"configurable": {"thread_id": str(next(_numbers))}} if graph.checkpointer is not None else {}
