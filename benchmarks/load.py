"""How many runs at once does one event loop serve, with instant parts and with a model that takes its time?"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from functools import wraps
from typing import Any

from by_hand_agents import BY_HAND
from measure import Figure, gathered, interleaved, wall_ratio, wall_us
from measured_agents import beside_floor, scripted_agent, scripted_agents
from sections import Meaning, Section, run_alone

from guardgraph import create_rag_agent

CONCURRENT = 64
"""Runs at once."""
SECONDS = 0.2
"""Of a call of a slow model."""
PROPOSERS = ("planner", "answerer")


def measure_throughput(rounds: int) -> Iterator[Figure]:
    """Yield how many runs a second there are of every pattern, beside the floor; instant parts are the most it can."""
    runs = min(CONCURRENT, 8 * rounds)  # fewer where there are not rounds enough to say anything
    with asyncio.Runner() as runner:
        for coroutines in (True, False):
            for scripted in scripted_agents(coroutines=coroutines):
                graphs = beside_floor(scripted, coroutines=True)
                works = {name: gathered(runner, graph, scripted.given, runs) for name, graph in graphs.items()}
                taken = interleaved(works, rounds)
                name = f"{scripted.pattern}_{'async' if coroutines else 'threads'}"
                yield f"{name}_throughput_ratio", wall_ratio(taken["floor"], taken["agent"])
                yield f"{name}_runs_per_s", 1e6 / wall_us(taken["agent"], runs)
                yield f"{name}_floor_runs_per_s", 1e6 / wall_us(taken["floor"], runs)


def measure_load(rounds: int) -> Iterator[Figure]:
    """Yield how long runs take at once whose proposers wait, over those by hand and over the two waits of one run."""
    scripted = scripted_agent("rag", coroutines=True)
    slow = {name: wait_first(part) if name in PROPOSERS else part for name, part in scripted.arguments.items()}
    asked = len(slow.keys() & set(PROPOSERS))
    with asyncio.Runner() as runner:
        graphs = {"agent": create_rag_agent(**slow), "by_hand": BY_HAND["rag"](**slow, way="coroutines")}
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


SECTIONS = (
    Section(
        "throughput",
        "Throughput",
        "64 runs at once on one event loop, beside 64 of the floor. `async` awaits coroutine functions; `threads` "
        "has plain functions, which guardgraph calls in threads, while the floor calls nothing.",
        (
            Meaning("*_throughput_ratio", "Runs per second over those of the floor."),
            Meaning("*_runs_per_s", "Runs per second."),
            Meaning("*_floor_runs_per_s", "Runs of the floor per second."),
        ),
        figures=measure_throughput,
        rounds=10,
    ),
    Section(
        "load",
        "64 runs at once with a slow model",
        "64 runs of the RAG agent at once on one event loop, whose model takes 200 ms for a call, beside 64 of the "
        "same agent written by hand. Tools are instant. Two calls of the model stand one behind the other in a run, so "
        "that nothing ends before their two waits are over.",
        (
            Meaning("rag_load_ratio", "Wall time of 64 runs over that by hand."),
            Meaning("rag_load_*_waits", "Wall time of the 64 runs over the two waits of one."),
        ),
        figures=measure_load,
        rounds=5,
    ),
)

if __name__ == "__main__":
    run_alone(SECTIONS)
