"""How long 64 runs take at once whose model takes 200 ms for a call, beside the same agent written by hand.

All run on one event loop; every proposer is a coroutine that waits, and every tool is instant. Prints `name value`
lines: the seconds of the agent's runs over those by hand, and both over the two waits of a run, which are the least.
Run it as ``python benchmarks/load.py``.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from functools import wraps
from typing import Any

from by_hand_rag import rag_by_hand
from measure import Figure, interleaved, print_figures, wall_ratio, wall_us
from repeated import gathered
from scripted_agents import scripted_agent

from guardgraph import create_rag_agent

ROUNDS = 5
CONCURRENT = 64
SECONDS = 0.2
"""Of a call of a model."""
PROPOSERS = ("planner", "answerer")


def figures(rounds: int) -> Iterator[Figure]:
    """Yield the figures."""
    scripted = scripted_agent("rag", coroutines=True)
    slow = {name: wait_first(part) if name in PROPOSERS else part for name, part in scripted.arguments.items()}
    asked = len(slow.keys() & set(PROPOSERS))
    with asyncio.Runner() as runner:
        graphs = {"agent": create_rag_agent(**slow), "by_hand": rag_by_hand(**slow, way="coroutines")}
        works = {name: gathered(runner, graph, scripted.given, CONCURRENT) for name, graph in graphs.items()}
        taken = interleaved(works, rounds)
    yield "rag_load_ratio", wall_ratio(taken["agent"], taken["by_hand"])
    for name, times in taken.items():
        yield f"rag_load_{name}_waits", wall_us(times, 1) / 1e6 / (asked * SECONDS)


def wait_first(part: Callable[..., Any]) -> Callable[..., Any]:
    """Return a proposer that takes its time."""

    @wraps(part)
    async def waiting(view: dict[str, Any]) -> Any:
        await asyncio.sleep(SECONDS)
        return await part(view)

    return waiting


if __name__ == "__main__":
    print_figures(figures, rounds=ROUNDS)
