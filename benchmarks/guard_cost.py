"""What the guards of one run cost: each guard of a scripted run is called directly with what it was shown.

Without LangGraph and without the grammar around them. Prints `name value` lines in microseconds: each guard, and all
of a run together. Run it as ``python benchmarks/guard_cost.py``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from measure import Figure, cpu_us, interleaved, print_figures
from scripted_agents import Scripted, scripted_agents

from guardgraph import Run

ROUNDS = 30
CALLS = 20
"""Calls of one round."""


def figures(rounds: int) -> Iterator[Figure]:
    """Yield the microseconds of every guard, and of all guards of a run."""
    for scripted in scripted_agents():
        taken = interleaved(guards_of(scripted), rounds)
        costs = {name: cpu_us(one, CALLS) for name, one in taken.items()}
        yield f"{scripted.pattern}_guards_us", sum(costs.values())
        for name, value in costs.items():
            yield f"{scripted.pattern}_{name}_us", value


def guards_of(scripted: Scripted) -> dict[str, Callable[[], None]]:
    """Return what calls every guard of a run, in the order of the run, with the state that it saw there."""
    agent = scripted.make()
    works = {}
    for task in agent.stream(scripted.given, stream_mode="tasks"):
        node = agent.builder.nodes[task["name"]].runnable
        if "input" in task and node.declaration.kind == "guard":
            works[task["name"]] = _calls(node.body, task["input"], Run(node.frame.policy, node.frame.budget))
    return works


def _calls(body, state, run) -> Callable[[], None]:
    def work() -> None:
        for _ in range(CALLS):
            body(state, run)

    return work


if __name__ == "__main__":
    print_figures(figures, rounds=ROUNDS)
