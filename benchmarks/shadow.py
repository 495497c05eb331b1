"""What a shadow costs: an agent with a recorder and a shadow, beside the same agent without both.

The shadow is an agent with the same settings, so it judges every run to its end. Proposers and tools are instant, and
every run has texts of its own. Prints `name value` lines: the ratios of processor times and of wall times, and the
microseconds of both runs. Run it as ``python benchmarks/shadow.py``.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from functools import partial

from measure import Figure, cpu_ratio, interleaved, print_figures, wall_ratio, wall_us
from repeated import Kept, Work, ainvoked, invoked
from scripted_agents import Scripted, scripted_agents

ROUNDS = 40
RUNS = 4
"""Runs of one round."""


def figures(rounds: int) -> Iterator[Figure]:
    """Yield the figures of every pattern, sync and async."""
    for scripted in scripted_agents():
        yield from _compared(f"{scripted.pattern}_invoke", scripted, invoked, rounds)
    with asyncio.Runner() as runner:
        for scripted in scripted_agents(coroutines=True):
            yield from _compared(f"{scripted.pattern}_ainvoke", scripted, partial(ainvoked, runner), rounds)


def _compared(name: str, scripted: Scripted, work: Callable[..., Work], rounds: int) -> Iterator[Figure]:
    recorder = Kept()
    shadowed = scripted.make(recorder=recorder, shadow={"other": scripted.make()})
    agents = {"shadowed": shadowed, "alone": scripted.make()}
    taken = interleaved({which: work(agent, scripted.given, RUNS) for which, agent in agents.items()}, rounds)
    if recorder.recording is None or recorder.recording["shadows"]["other"]["kind"] != "same":
        raise RuntimeError(f"no run of the {scripted.pattern} agent was judged by its shadow")
    yield f"{name}_shadowed_ratio", cpu_ratio(taken["shadowed"], taken["alone"])
    yield f"{name}_shadowed_wall_ratio", wall_ratio(taken["shadowed"], taken["alone"])
    yield f"{name}_shadowed_us", wall_us(taken["shadowed"], RUNS)
    yield f"{name}_alone_us", wall_us(taken["alone"], RUNS)


if __name__ == "__main__":
    print_figures(figures, rounds=ROUNDS)
