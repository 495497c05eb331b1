"""How many recorded runs a second one core decides again, beside the same runs through LangGraph.

`demo` is the run of the demo, offline, again and again: guardgraph keeps what it found out about the latest texts.
`fresh` are recordings of runs that each have texts of their own. Prints `name value` lines: runs per second of
processor time. Run it as ``python benchmarks/replay.py``.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from itertools import cycle
from typing import Any

from measure import Figure, interleaved, print_figures
from repeated import Kept, Work
from scripted_agents import Scripted, scripted_agents

from guardgraph import GuardedGraph, replay
from guardgraph.graphs.patterns import PATTERNS

ROUNDS = 40
RUNS = 10
"""Runs of one round."""
RECORDED = 300
"""Recordings with texts of their own; facts of at most 512 texts are kept, and a run reads several."""


def figures(rounds: int) -> Iterator[Figure]:
    """Yield the figures of every pattern."""
    for scripted in scripted_agents():
        demo = PATTERNS[scripted.pattern]
        agent, recording = recorded_demo(demo.create_agent, demo.demo)
        fresh, recordings = scripted.make(), cycle(fresh_recordings(scripted, rounds))
        works = {
            "demo_replays": _times(lambda agent=agent, recording=recording: replay(agent, recording)),
            "demo_invokes": _times(lambda agent=agent, demo=demo: agent.invoke(demo.demo())),
            "fresh_replays": _times(lambda fresh=fresh, recordings=recordings: replay(fresh, next(recordings))),
        }
        for name, taken in interleaved(works, rounds).items():
            yield f"{scripted.pattern}_{name}_per_s", RUNS / min(taken.cpu)


def _times(work: Callable[[], object]) -> Work:
    def repeated() -> None:
        for _ in range(RUNS):
            work()

    return repeated


def recorded_demo(make: Callable[..., GuardedGraph], given: Callable[[], dict[str, Any]]) -> tuple[GuardedGraph, Any]:
    """Return an agent and the recording of a run of it, read from JSON.

    Raises:
        RuntimeError: its replay is another run.
    """
    recorder = Kept()
    make(recorder=recorder).invoke(given())
    agent, recording = make(), json.loads(json.dumps(recorder.recording))
    if replay(agent, recording) != recording["result"]:
        raise RuntimeError(f"the replay of the {recording['pattern']} demo differs from its run")
    return agent, recording


def fresh_recordings(scripted: Scripted, rounds: int) -> list[Any]:
    """Return recordings of a scripted agent, each with texts of its own, for as many rounds."""
    recorder, recordings = Kept(), []
    agent = scripted.make(recorder=recorder)
    for _ in range(min(RECORDED, RUNS * (rounds + 1))):
        agent.invoke(scripted.given())
        recordings.append(json.loads(json.dumps(recorder.recording)))
    return recordings


if __name__ == "__main__":
    print_figures(figures, rounds=ROUNDS)
