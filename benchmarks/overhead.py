"""What a guarded run costs beside a LangGraph graph of the same shape whose nodes do nothing.

Proposers and tools are instant, so all that is measured is LangGraph and guardgraph. `invoke` and `ainvoke` have plain
functions to call, `ainvoke_coroutines` has coroutine functions. Prints `name value` lines: the ratio of wall times,
the ratio of processor times, and what the two runs and their difference take in microseconds. Run it as
``python benchmarks/overhead.py``.
"""

from __future__ import annotations

import asyncio
import statistics
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from floors import floor
from measure import Figure, Taken, interleaved, print_figures, ratio
from scripted import Scripted, scripted_agents

ROUNDS = 30
RUNS = 8
"""Runs of one round."""


def figures(rounds: int) -> Iterator[Figure]:
    """Yield the figures of every pattern and way of running."""
    for scripted in scripted_agents():
        yield from _compared(f"{scripted.pattern}_invoke", scripted, _invoked, rounds)
    with asyncio.Runner() as runner:
        ainvoked = partial(_ainvoked, runner)
        for scripted in scripted_agents():
            yield from _compared(f"{scripted.pattern}_ainvoke", scripted, ainvoked, rounds, coroutines=True)
        for scripted in scripted_agents(coroutines=True):
            yield from _compared(f"{scripted.pattern}_ainvoke_coroutines", scripted, ainvoked, rounds, coroutines=True)


def _compared(
    name: str,
    scripted: Scripted,
    work: Callable[[Any, Any], Callable[[], None]],
    rounds: int,
    *,
    coroutines: bool = False,
) -> Iterator[Figure]:
    agent = scripted.make()
    plain = floor(agent, scripted.result, coroutines=coroutines)
    taken = interleaved({"agent": work(agent, scripted.given), "floor": work(plain, scripted.given)}, rounds)
    yield f"{name}_ratio", ratio(taken["agent"].wall, taken["floor"].wall)
    yield f"{name}_cpu_ratio", ratio(taken["agent"].cpu, taken["floor"].cpu)
    agent_us, floor_us = _microseconds(taken["agent"]), _microseconds(taken["floor"])
    yield f"{name}_us", agent_us
    yield f"{name}_floor_us", floor_us


def _microseconds(taken: Taken) -> float:
    return statistics.median(taken.wall) / RUNS * 1e6


def _invoked(graph: Any, given: Any) -> Callable[[], None]:
    def work() -> None:
        for _ in range(RUNS):
            graph.invoke(given)

    return work


def _ainvoked(runner: asyncio.Runner, graph: Any, given: Any) -> Callable[[], None]:
    async def runs() -> None:
        for _ in range(RUNS):
            await graph.ainvoke(given)

    return lambda: runner.run(runs())


if __name__ == "__main__":
    print_figures(figures, rounds=ROUNDS)
