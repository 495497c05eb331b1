"""How many recorded runs a second one core judges again, beside the same runs through LangGraph.

`demo` is the run of the demo, offline, again and again: guardgraph keeps what it found out about the latest texts.
`fresh` are recordings of runs that each have texts of their own. A recording is checked, judged by a candidate and held
against its result. Prints `name value` lines: runs per second of processor time. Run it as
``python benchmarks/what_if.py``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from measure import Figure, interleaved, print_figures
from replay import fresh_recordings, recorded_demo
from scripted_agents import scripted_agents

from guardgraph import GuardedGraph, what_if
from guardgraph.graphs.patterns import PATTERNS

ROUNDS = 40
RUNS = 10
"""Runs of one round."""


def figures(rounds: int) -> Iterator[Figure]:
    """Yield the figures of every pattern."""
    for scripted in scripted_agents():
        demo = PATTERNS[scripted.pattern]
        agent, recording = recorded_demo(demo.create_agent, demo.demo)
        fresh, recordings = scripted.make(), fresh_recordings(scripted, rounds)
        works = {"demo_what_ifs": judging(agent, [recording]), "fresh_what_ifs": judging(fresh, recordings)}
        for name, taken in interleaved(works, rounds).items():
            yield f"{scripted.pattern}_{name}_per_s", RUNS / min(taken.cpu)


def judging(agent: GuardedGraph[Any, Any, Any], recordings: list[Any]) -> Callable[[], None]:
    """Return the work of judging some of the recordings, others each time.

    Raises:
        RuntimeError: one of them is not same.
    """
    at = 0

    def work() -> None:
        nonlocal at
        judged = what_if(agent, [recordings[(at + number) % len(recordings)] for number in range(RUNS)])
        at += RUNS
        if judged.counts["same"] != RUNS:
            raise RuntimeError(f"{RUNS} runs that are same are required; given: {judged.counts}")

    return work


if __name__ == "__main__":
    print_figures(figures, rounds=ROUNDS)
