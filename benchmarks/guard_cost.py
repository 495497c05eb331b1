"""What the guards of one run cost: each guard of a scripted run is called directly with what it was shown.

Without LangGraph and without the grammar around them, in the order of the run, one run after another, each with
texts of its own. Prints `name value` lines in microseconds: all guards of a run, and each. Run it
as ``python benchmarks/guard_cost.py``.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterator

from fresh import POOL
from measure import Figure, print_figures
from scripted_agents import Scripted, scripted_agents

from guardgraph.grammar import Run

ROUNDS = 2

Guards = dict[str, Callable[[], object]]
"""The guards of a run, by name, in the order of the run."""


def figures(rounds: int) -> Iterator[Figure]:
    """Yield the microseconds of all guards of a run, and of every guard."""
    for scripted in scripted_agents():
        runs = list(guards_of(scripted))
        costs = [cost(guards) for _ in range(rounds) for guards in runs]
        medians = {name: statistics.median(each[name] for each in costs) * 1e6 for name in costs[0]}
        yield f"{scripted.pattern}_guards_us", sum(medians.values())
        for name, value in medians.items():
            yield f"{scripted.pattern}_{name}_us", value


def cost(guards: Guards) -> dict[str, float]:
    """Return the seconds of processor time that each guard takes."""
    spent = {}
    for name, guard in guards.items():
        begun = time.thread_time()
        guard()
        spent[name] = time.thread_time() - begun
    return spent


def guards_of(scripted: Scripted) -> Iterator[Guards]:
    """Yield what calls the guards of a run, with the state that each of them saw there, of one run after another."""
    agent = scripted.make()
    for _ in range(POOL):
        guards: Guards = {}
        for task in agent.stream(scripted.given(), stream_mode="tasks"):
            node = agent.builder.nodes[task["name"]].runnable
            if "input" in task and node.declaration.kind == "guard":
                guards[task["name"]] = _call(node.body, task["input"], Run(node.frame.policy, node.frame.budget))
        yield guards


def _call(body, state, run) -> Callable[[], object]:
    return lambda: body(state, run)


if __name__ == "__main__":
    print_figures(figures, rounds=ROUNDS)
