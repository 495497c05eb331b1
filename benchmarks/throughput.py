"""How many runs a second an application gets that has 64 of them under way at once, beside the floor.

Proposers and tools are instant, so this is what one event loop can do at most. `async` has coroutine functions to
call, `threads` plain functions, which must not block the loop. Prints `name value` lines: the agent's runs per second
over the floor's, and both. Run it as ``python benchmarks/throughput.py``.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

from floors import beside_floor
from measure import Figure, interleaved, print_figures, wall_ratio, wall_us
from repeated import gathered
from scripted_agents import scripted_agents

ROUNDS = 10
CONCURRENT = 64
"""Runs at once; fewer where there are not rounds enough to say anything."""


def figures(rounds: int) -> Iterator[Figure]:
    """Yield the figures of every pattern."""
    with asyncio.Runner() as runner:
        for coroutines in (True, False):
            for scripted in scripted_agents(coroutines=coroutines):
                runs = min(CONCURRENT, 8 * rounds)
                graphs = beside_floor(scripted, coroutines=True)
                works = {name: gathered(runner, graph, scripted.given, runs) for name, graph in graphs.items()}
                taken = interleaved(works, rounds)
                name = f"{scripted.pattern}_{'async' if coroutines else 'threads'}"
                yield f"{name}_throughput_ratio", wall_ratio(taken["floor"], taken["agent"])
                yield f"{name}_runs_per_s", 1e6 / wall_us(taken["agent"], runs)
                yield f"{name}_floor_runs_per_s", 1e6 / wall_us(taken["floor"], runs)


if __name__ == "__main__":
    print_figures(figures, rounds=ROUNDS)
