"""What a guarded run costs beside a LangGraph graph of the same shape whose nodes do nothing.

Proposers and tools are instant, so all that is measured is LangGraph and guardgraph. `invoke` and `ainvoke` have plain
functions to call, `ainvoke_coroutines` has coroutine functions. Prints `name value` lines: the ratio of wall times,
the ratio of processor times, and what the two runs and their difference take in microseconds. Run it as
``python benchmarks/overhead.py``.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from functools import partial

from floors import beside_floor
from measure import Figure, interleaved, microseconds, print_figures, ratio
from repeated import Work, ainvoked, invoked
from scripted import Scripted, scripted_agents

ROUNDS = 30
RUNS = 8
"""Runs of one round."""


def figures(rounds: int) -> Iterator[Figure]:
    """Yield the figures of every pattern and way of running."""
    for scripted in scripted_agents():
        yield from _compared(f"{scripted.pattern}_invoke", scripted, invoked, rounds)
    with asyncio.Runner() as runner:
        awaited = partial(ainvoked, runner)
        for scripted in scripted_agents():
            yield from _compared(f"{scripted.pattern}_ainvoke", scripted, awaited, rounds, coroutines=True)
        for scripted in scripted_agents(coroutines=True):
            yield from _compared(f"{scripted.pattern}_ainvoke_coroutines", scripted, awaited, rounds, coroutines=True)


def _compared(
    name: str,
    scripted: Scripted,
    work: Callable[..., Work],
    rounds: int,
    *,
    coroutines: bool = False,
) -> Iterator[Figure]:
    graphs = beside_floor(scripted, coroutines=coroutines)
    taken = interleaved({graph: work(graphs[graph], scripted.given, RUNS) for graph in graphs}, rounds)
    yield f"{name}_ratio", ratio(taken["agent"].wall, taken["floor"].wall)
    yield f"{name}_cpu_ratio", ratio(taken["agent"].cpu, taken["floor"].cpu)
    yield f"{name}_us", microseconds(taken["agent"].wall, RUNS)
    yield f"{name}_floor_us", microseconds(taken["floor"].wall, RUNS)


if __name__ == "__main__":
    print_figures(figures, rounds=ROUNDS)
