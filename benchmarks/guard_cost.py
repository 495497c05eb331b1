"""What the guards of one run cost: each guard of a scripted run is called directly with what it was shown.

Without LangGraph and without the grammar around them. Prints `name value` lines in microseconds: each guard, and all
of a run together. Run it as ``python benchmarks/guard_cost.py``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from fresh import POOL, in_turn
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
    """Return what calls every guard of `CALLS` runs, in the order of a run, with the states that it saw there."""
    agent = scripted.make()
    seen: dict[str, list[Any]] = {}
    for _ in range(POOL):
        for task in agent.stream(scripted.given(), stream_mode="tasks"):
            if "input" in task:
                seen.setdefault(task["name"], []).append(task["input"])
    nodes = {name: agent.builder.nodes[name].runnable for name in seen}
    return {
        name: _calls(node.body, in_turn(seen[name]), Run(node.frame.policy, node.frame.budget))
        for name, node in nodes.items()
        if node.declaration.kind == "guard"
    }


def _calls(body: Any, state: Callable[[], Any], run: Any) -> Callable[[], None]:
    def work() -> None:
        for _ in range(CALLS):
            body(state(), run)

    return work


if __name__ == "__main__":
    print_figures(figures, rounds=ROUNDS)
