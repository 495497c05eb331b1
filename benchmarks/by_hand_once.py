"""What by_hand.py measures, once: agents beside the same agents written by hand, in one process.

Prints `name value` lines. Run it as ``python benchmarks/by_hand_once.py``.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from functools import partial

from by_hand_nodes import Way
from by_hand_rag import rag_by_hand
from by_hand_research import research_by_hand
from by_hand_self_critique import self_critique_by_hand
from measure import Figure, cpu_ratio, interleaved, print_figures, wall_ratio, wall_us
from repeated import Kept, Work, ainvoked, invoked
from scripted_agents import Scripted, offline_agent, scripted_agent

ROUNDS = 20
RUNS = 4
"""Runs of one round."""

BY_HAND = {"rag": rag_by_hand, "research": research_by_hand, "self_critique": self_critique_by_hand}


def figures(rounds: int) -> Iterator[Figure]:
    """Yield the figures of every pattern and way of running."""
    with asyncio.Runner() as runner:
        awaited = partial(ainvoked, runner)
        for pattern in BY_HAND:
            scripted, offline = scripted_agent(pattern), offline_agent(pattern)
            coroutines = scripted_agent(pattern, coroutines=True)
            yield from _compared(f"{pattern}_invoke", scripted, "sync", invoked, rounds)
            yield from _compared(f"{pattern}_offline_invoke", offline, "sync", invoked, rounds)
            yield from _compared(f"{pattern}_ainvoke", scripted, "threads", awaited, rounds)
            yield from _compared(f"{pattern}_ainvoke_coroutines", coroutines, "coroutines", awaited, rounds)
            yield from _compared(f"{pattern}_offline_ainvoke", offline, "inline", awaited, rounds)


def _compared(name: str, scripted: Scripted, way: Way, work: Callable[..., Work], rounds: int) -> Iterator[Figure]:
    graphs = {
        "agent": scripted.make(recorder=Kept()),
        "by_hand": BY_HAND[scripted.pattern](**scripted.arguments, way=way),
    }
    taken = interleaved({graph: work(graphs[graph], scripted.given, RUNS) for graph in graphs}, rounds)
    yield f"{name}_by_hand_ratio", cpu_ratio(taken["agent"], taken["by_hand"])
    yield f"{name}_by_hand_wall_ratio", wall_ratio(taken["agent"], taken["by_hand"])
    yield f"{name}_agent_us", wall_us(taken["agent"], RUNS)
    yield f"{name}_by_hand_us", wall_us(taken["by_hand"], RUNS)


if __name__ == "__main__":
    print_figures(figures, rounds=ROUNDS)
