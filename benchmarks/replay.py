"""How many recorded runs a second does one core decide again, by `replay`, or judge by another agent, by `what_if`?

Beside them stand the same runs through LangGraph. `demo` is the run of a pattern's demo, offline, again and again:
guardgraph keeps what it found out about the latest texts. `fresh` are recordings of runs that each have texts of their
own.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from itertools import cycle
from typing import Any

from measure import Figure, Kept, Work, interleaved
from measured_agents import Scripted, scripted_agents
from sections import Meaning, Section, run_alone

from guardgraph import GuardedGraph, replay, what_if
from guardgraph.graphs.patterns import PATTERNS

RUNS = 10
"""Runs of one round."""
RECORDED = 300
"""Recordings with texts of their own; facts of at most 512 texts are kept, and a run reads several."""


def measure_replay(rounds: int) -> Iterator[Figure]:
    """Yield how many runs of every pattern are decided again per second of processor time."""
    for scripted in scripted_agents():
        demo = PATTERNS[scripted.pattern]
        agent, recording = record_demo(demo.create_agent, demo.demo)
        fresh, recordings = scripted.make(), cycle(record_fresh_runs(scripted, rounds))
        works = {
            "demo_replays": _repeat(lambda agent=agent, recording=recording: replay(agent, recording)),
            "demo_invokes": _repeat(lambda agent=agent, demo=demo: agent.invoke(demo.demo())),
            "fresh_replays": _repeat(lambda fresh=fresh, recordings=recordings: replay(fresh, next(recordings))),
        }
        yield from _count_per_second(scripted, works, rounds)


def measure_what_if(rounds: int) -> Iterator[Figure]:
    """Yield how many recordings are checked, judged by a candidate and held against their results, likewise."""
    for scripted in scripted_agents():
        demo = PATTERNS[scripted.pattern]
        agent, recording = record_demo(demo.create_agent, demo.demo)
        fresh = scripted.make(), record_fresh_runs(scripted, rounds)
        works = {"demo_what_ifs": _judge(agent, [recording]), "fresh_what_ifs": _judge(*fresh)}
        yield from _count_per_second(scripted, works, rounds)


def _count_per_second(scripted: Scripted, works: dict[str, Work], rounds: int) -> Iterator[Figure]:
    for name, taken in interleaved(works, rounds).items():
        yield f"{scripted.pattern}_{name}_per_s", RUNS / min(taken.cpu)


def _repeat(work: Work) -> Work:
    def repeated() -> None:
        for _ in range(RUNS):
            work()

    return repeated


def _judge(agent: GuardedGraph[Any, Any, Any], recordings: list[Any]) -> Work:
    """Return the work of judging some of the recordings, others each time.

    Raises:
        RuntimeError: one of them is not same.
    """
    taken = cycle(recordings)

    def work() -> None:
        judged = what_if(agent, [next(taken) for _ in range(RUNS)])
        if judged.counts["same"] != RUNS:
            raise RuntimeError(f"{RUNS} runs that are same are required; given: {judged.counts}")

    return work


def record_demo(make: Callable[..., GuardedGraph], given: Callable[[], dict[str, Any]]) -> tuple[GuardedGraph, Any]:
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


def record_fresh_runs(scripted: Scripted, rounds: int) -> list[Any]:
    """Return recordings of a scripted agent, each with texts of its own, for as many rounds."""
    recorder, recordings = Kept(), []
    agent = scripted.make(recorder=recorder)
    for _ in range(min(RECORDED, RUNS * (rounds + 1))):
        agent.invoke(scripted.given())
        recordings.append(json.loads(json.dumps(recorder.recording)))
    return recordings


SECTIONS = (
    Section(
        "replay",
        "Replay",
        "Recorded runs that are decided again on one core, from recordings as they are read from JSON; nothing is "
        "called. `demo` is the run of a pattern's demo, again and again. `fresh` are runs with texts that no other "
        "has, which the guards must read anew. `demo_invokes` are the demo's runs through LangGraph, with its "
        "rules and recordings.",
        (
            Meaning("*_fresh_replays_per_s", "Replays per second of processor time, each of another recording."),
            Meaning("*_demo_invokes_per_s", "Runs of the demo per second of processor time, through LangGraph."),
            *(
                Meaning(f"{pattern}_demo_replays_per_s", "Replays of the demo per second.", at_least=least)
                for pattern, least in {"rag": 1500, "research": 800, "self_critique": 1000}.items()
            ),
        ),
        missed="The goals are older than the checks of links, tables and sentences turned round.",
        figures=measure_replay,
        rounds=40,
    ),
    Section(
        "what_if",
        "What-if",
        "Recorded runs that are judged again on one core by `what_if`: a recording is checked, decided by the "
        "candidate and held against its result; nothing is called. `demo` is the run of a pattern's demo, again and "
        "again. `fresh` are runs with texts that no other has, which the guards must read anew.",
        (
            Meaning("*_fresh_what_ifs_per_s", "Runs judged per second of processor time, each of another recording."),
            *(
                Meaning(f"{pattern}_demo_what_ifs_per_s", "Runs of the demo judged per second.", at_least=least)
                for pattern, least in {"rag": 1500, "research": 800, "self_critique": 1000}.items()
            ),
        ),
        missed="As for replays, which a what-if makes.",
        figures=measure_what_if,
        rounds=40,
    ),
)

if __name__ == "__main__":
    run_alone(SECTIONS)
