"""What a guarded run costs beside a LangGraph graph of the same shape whose nodes do nothing.

Proposers and tools are instant, so all that is measured is LangGraph and guardgraph. `invoke` and `ainvoke` have plain
functions to call, `ainvoke_coroutines` has coroutine functions; in `empty_guards` the guards look at nothing, so that
what is left is the grammar around them. Prints `name value` lines: the ratios of processor times and of wall times,
and the microseconds of both runs. Run it as ``python benchmarks/overhead.py``.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any

from floors import beside_floor
from measure import Figure, cpu_ratio, interleaved, print_figures, wall_ratio, wall_us
from repeated import Work, ainvoked, invoked
from scripted_agents import Scripted, scripted_agents

from guardgraph import GuardedGraph
from guardgraph.nodes.body import Body

ROUNDS = 60
RUNS = 4
"""Runs of one round."""


def figures(rounds: int) -> Iterator[Figure]:
    """Yield the figures of every pattern and way of running."""
    for scripted in scripted_agents():
        yield from _compared(f"{scripted.pattern}_invoke", scripted, invoked, rounds)
        yield from _compared(f"{scripted.pattern}_empty_guards", _without_guards(scripted), invoked, rounds)
    with asyncio.Runner() as runner:
        awaited = partial(ainvoked, runner)
        for scripted in scripted_agents():
            yield from _compared(f"{scripted.pattern}_ainvoke", scripted, awaited, rounds, coroutines=True)
        for scripted in scripted_agents(coroutines=True):
            yield from _compared(f"{scripted.pattern}_ainvoke_coroutines", scripted, awaited, rounds, coroutines=True)


def _without_guards(scripted: Scripted) -> Scripted:
    """Return the same agent, whose guards and endings say again what they said in the first run."""

    def make(**kwargs: Any) -> GuardedGraph:
        agent = scripted.make(**kwargs)
        for node in agent.builder.nodes.values():
            if not node.runnable.declaration.is_calling_node and node.runnable.body is not None:
                node.runnable.body = _said_once(node.runnable.body)
        return agent

    return replace(scripted, make=make)


def _said_once(body: Body) -> Body:
    said: list[Any] = []

    def saying(state: Any, run: Any) -> Any:
        if not said:
            said.append(body(state, run))
        return said[0]

    return saying


def _compared(
    name: str, scripted: Scripted, work: Callable[..., Work], rounds: int, *, coroutines: bool = False
) -> Iterator[Figure]:
    graphs = beside_floor(scripted, coroutines=coroutines)
    taken = interleaved({graph: work(graphs[graph], scripted.given, RUNS) for graph in graphs}, rounds)
    yield f"{name}_ratio", cpu_ratio(taken["agent"], taken["floor"])
    yield f"{name}_wall_ratio", wall_ratio(taken["agent"], taken["floor"])
    yield f"{name}_us", wall_us(taken["agent"], RUNS)
    yield f"{name}_floor_us", wall_us(taken["floor"], RUNS)


if __name__ == "__main__":
    print_figures(figures, rounds=ROUNDS)
