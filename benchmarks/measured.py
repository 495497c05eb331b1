"""How the benchmarks measure: works that run in turn, ratios of them, and agents that ask for nothing.

On a busy machine a time by itself says little. So what is compared runs in turn, with the order turned round by round.
Processor times are compared round by round, and the median of the ratios holds. Wall times only grow with whatever
else the machine does, so the fastest round of each holds.

The agents' proposers and tools return what the offline rules and the recordings of the demos say, in texts that no run
before had: a guard that keeps what it made of the latest texts must read these anew, as in life.
"""

from __future__ import annotations

import asyncio
import gc
import json
import os
import re
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from itertools import count, cycle, islice, product
from pathlib import Path
from string import ascii_lowercase
from typing import Any, NamedTuple

import guardgraph
from guardgraph import GuardedGraph, RagPolicy, create_rag_agent, create_research_agent, create_self_critique_agent
from guardgraph.graphs.rag import DEMO_SOURCES
from guardgraph.nodes.offline import rag, research, self_critique
from guardgraph.tools.knowledge_base import demo_documents
from guardgraph.tools.lexical import LexicalRetriever
from guardgraph.tools.recordings import make_recorded_extractor, make_recorded_reader, make_recorded_search

POOL = 600
"""How many texts there are of each; facts of at most 512 texts are kept, and a run reads several."""
ROOT = Path(__file__).parents[1]
PYTHON = ROOT / "build" / "bench-peers" / "bin" / "python"
"""Of an environment with libraries that bring much with them; `make bench` makes it."""

_END = re.compile(r"(?=[.?](?:\s|$))")
_DATA = Path(guardgraph.__file__).parent / "tools" / "data"
_numbers = count()

Figure = tuple[str, float]
Work = Callable[[], object]
Repeat = Callable[..., Work]
Outside = Callable[[dict[str, Any]], Any]
Said = dict[str | None, Any]
"""What a proposer or tool said, by the URL that it was asked for; most are asked for none."""
Recipe = tuple[Callable[..., GuardedGraph], dict[str, Any], dict[str, Outside], dict[str, Any]]
"""A factory, its policy as an argument, who proposes and which tools there are, likewise, and what a run is given."""


class Row(NamedTuple):
    """A figure, beside its peer or floor in the same run: in the unit both, and as a ratio."""

    name: str
    what: str
    ours: float
    unit: str
    peer: str = ""
    theirs: float | None = None
    ratio: float | None = None
    at_most: float | None = None
    """The goal: a largest ratio, or value where there is no peer."""
    at_least: float | None = None

    @property
    def judged(self) -> float:
        """What the goal is about."""
        return self.ours if self.ratio is None else self.ratio

    @property
    def is_reached(self) -> bool:
        """Whether it reaches its goal."""
        most, least = self.at_most, self.at_least
        return (most is None or self.judged <= most) and (least is None or self.judged >= least)


class Skip(Exception):
    """What a benchmark needs is not there; a sentence says what is missing."""


class Kept:
    """A recorder that keeps the latest recording."""

    recording: Any = None

    def record(self, run: Any) -> None:
        """Keep a recording."""
        self.recording = run


@dataclass(frozen=True)
class Taken:
    """The seconds that one work took, an item a round."""

    wall: list[float] = field(default_factory=list)
    cpu: list[float] = field(default_factory=list)
    """Processor time of all threads of this process."""


def interleave(works: Mapping[str, Work], rounds: int) -> dict[str, Taken]:
    """Run every work once a round, the order turned round by round, after one round that does not count."""
    taken = {name: Taken() for name in works}
    for work in works.values():
        work()
    for number in range(rounds):
        for name in works if number % 2 else reversed(works):
            gc.collect()
            cpu, wall = time.process_time(), time.perf_counter()
            works[name]()
            taken[name].wall.append(time.perf_counter() - wall)
            taken[name].cpu.append(time.process_time() - cpu)
    return taken


def compare(ours: Work, theirs: Work, rounds: int) -> tuple[Taken, Taken, float]:
    """Return what two works took, and the median of the ratios of their processor times, round by round."""
    this, that = interleave({"ours": ours, "theirs": theirs}, rounds).values()
    return this, that, statistics.median(a / b for a, b in zip(this.cpu, that.cpu, strict=True))


def invoke_many(graph: Any, given: Callable[[], dict[str, Any]], runs: int) -> Work:
    """Return what runs a graph so many times, each on what `given` returns."""

    def work() -> None:
        for _ in range(runs):
            graph.invoke(given(), name_thread(graph))

    return work


def await_many(runner: asyncio.Runner, graph: Any, given: Callable[[], dict[str, Any]], runs: int) -> Work:
    """Return what runs a graph so many times, awaited one after another."""

    async def awaited() -> None:
        for _ in range(runs):
            await graph.ainvoke(given(), name_thread(graph))

    return lambda: runner.run(awaited())


def name_thread(graph: Any) -> dict[str, Any]:
    """Return the config of a thread that no run has had, where the graph has a checkpointer to keep it."""
    return {"configurable": {"thread_id": str(next(_numbers))}} if graph.checkpointer is not None else {}


def is_among_peers() -> bool:
    """Say whether this process runs in the environment of the peers."""
    return Path(sys.prefix).resolve() == PYTHON.parents[1].resolve()


def measure_among_peers(name: str, script: str, rounds: int, environ: dict[str, str]) -> Iterator[Figure]:
    """Yield what a benchmark prints that runs in the environment of the peers.

    Raises:
        Skip: there is none, or it cannot run there.
    """
    if not PYTHON.exists():
        raise Skip(f"{name} needs libraries that are not installed; `make bench` installs them where it can")
    variables = {**os.environ, "PYTHONPATH": str(ROOT), **environ}
    command = [str(PYTHON), script, "--rounds", str(rounds)]
    done = subprocess.run(command, env=variables, stdout=subprocess.PIPE, text=True, check=False, timeout=3600)
    if done.returncode:
        raise Skip(f"{name} could not be run; what its libraries say stands above")
    for line in done.stdout.splitlines():
        figure, value = line.split()
        yield figure, float(value)


def print_figures(figures: Iterator[Figure]) -> None:
    """Print each figure as soon as it is known, or `skip` with the reason."""
    try:
        for name, value in figures:
            print(name, show(value), flush=True)
    except Skip as skip:
        print(f"skip {skip}", flush=True)


def show(value: float) -> str:
    """Return a figure as it is printed: three digits, or all before the point."""
    return f"{value:.0f}" if abs(value) >= 100 else f"{value:.3g}"


@dataclass(frozen=True)
class Scripted:
    """An agent, what it is given, and what comes of it."""

    pattern: str
    make: Callable[..., GuardedGraph]
    """The factory; takes a checkpointer."""
    given: Callable[[], dict[str, Any]]
    """Returns the next run's input."""
    result: dict[str, Any]
    """Of one run."""
    arguments: dict[str, Any]
    """What the same agent written by hand takes: policy, proposers and tools."""


def scripted_agent(pattern: str, *, coroutines: bool = False) -> Scripted:
    """Return the scripted agent of a pattern: ``rag``, ``research`` or ``self_critique``.

    Args:
        pattern: its name.
        coroutines: proposers and tools are coroutine functions, as an async application has them.

    Raises:
        RuntimeError: its run does not end with success.
    """
    create, settings, parts, given = _AGENTS[pattern]()
    said: dict[str, Said] = {slot: {} for slot in parts}
    remembering = {slot: _remembering(part, said[slot]) for slot, part in parts.items()}
    create(**settings, **remembering).invoke(given)
    kind = _as_coroutine if coroutines else _as_function
    prepared = {slot: _prepared(slot, said[slot]) for slot in parts}
    arguments = {**settings, **{slot: kind(prepared[slot]) for slot in parts}}
    return _tried(pattern, partial(create, **arguments), given, partial(create, **settings, **prepared), arguments)


def offline_agent(pattern: str) -> Scripted:
    """Return the agent of a pattern as its factory makes it, with our own offline rules, recordings and retriever.

    Raises:
        RuntimeError: its run does not end with success.
    """
    create, settings, parts, given = _AGENTS[pattern]()
    make = partial(create, **settings)
    return _tried(pattern, make, given, make, {**settings, **parts})


def _tried(
    pattern: str,
    make: Callable[..., GuardedGraph],
    given: dict[str, Any],
    trial: Callable[..., GuardedGraph],
    arguments: dict[str, Any],
) -> Scripted:
    fresh = in_turn([marked(given, word) for word in words()])
    result = trial().invoke(fresh())
    if result["stop_reason"] != "success":
        raise RuntimeError(f"the scripted {pattern} run ended with {result['stop_reason']}; success is required")
    return Scripted(pattern, make, fresh, result, arguments)


def _rag() -> Recipe:
    policy = RagPolicy(allowed_sources_policy=DEMO_SOURCES, allowed_sources_execution=DEMO_SOURCES)
    parts = {
        "planner": rag.plan_offline_retrieval,
        "answerer": rag.write_offline_answer,
        "retriever": LexicalRetriever(demo_documents()),
    }
    question = {"question": "What SLA applies to enterprise plan and what is P1 first response target?"}
    return create_rag_agent, {"policy": policy}, parts, question


def _research() -> Recipe:
    parts = {
        "planner": research.plan_offline_research,
        "writer": research.write_offline_brief,
        "search": make_recorded_search(),
        "reader": make_recorded_reader(),
        "extractor": make_recorded_extractor(),
    }
    goal = "Summarise the payments incident with citations."
    return create_research_agent, {}, parts, {"goal": goal, "request": _demo("research_request")}


def _self_critique() -> Recipe:
    parts = {
        "drafter": self_critique.write_offline_draft,
        "shortener": self_critique.shorten_offline_draft,
        "critic": self_critique.critique_offline_draft,
        "reviser": self_critique.revise_offline_draft,
    }
    incident = _demo("self_critique_incident_context")
    given = {"goal": "Draft a customer update.", "incident_context": incident}
    return create_self_critique_agent, {}, parts, given


_AGENTS: dict[str, Callable[[], Recipe]] = {"rag": _rag, "research": _research, "self_critique": _self_critique}


def _demo(name: str) -> Any:
    return json.loads((_DATA / f"{name}.json").read_text(encoding="utf-8"))


def _remembering(part: Outside, said: Said) -> Outside:
    def asked(request: dict[str, Any]) -> Any:
        said[request.get("url")] = value = part(request)
        return value

    return asked


def _prepared(slot: str, said: Said) -> Outside:
    """Return a function that says what was said, in texts of its own for every run.

    A quote must stand in the page that was read and a revision keeps its draft's words, also where runs overlap.
    """
    if slot == "retriever":  # a knowledge base says the same in every run
        return lambda request: said[None]
    if slot == "extractor":
        return partial(_quoted, {word: marked(said[None], word) for word in words()})
    if slot == "reviser":
        revised = {word: marked(said.get(None), word) for word in words()}
        return lambda request: revised[word_of(request["draft"])]
    fresh = {asked: in_turn([marked(value, word) for word in words()]) for asked, value in said.items()}
    return lambda request: fresh[request.get("url")]()


def _quoted(notes: dict[str, Any], request: dict[str, Any]) -> list[Any]:
    marks = {url: word_of(page["body"]) for url, page in request["pages"].items()}
    first = next(iter(notes.values()))
    return [notes[marks[note["url"]]][number] for number, note in enumerate(first)]


def _as_function(prepared: Outside) -> Outside:
    return prepared


def _as_coroutine(prepared: Outside) -> Outside:
    async def coroutine(request: dict[str, Any]) -> Any:
        return prepared(request)

    return coroutine


def words() -> list[str]:
    """Return words that mean nothing, the same ones every time."""
    return ["zq" + "".join(letters) for letters in islice(product(ascii_lowercase, repeat=3), POOL)]


def marked(value: Any, word: str) -> Any:
    """Return JSON whose sentences each end with the word; names, URLs and short phrases stay."""
    if isinstance(value, dict):
        return {key: marked(item, word) for key, item in value.items()}
    if isinstance(value, list):
        return [marked(item, word) for item in value]
    if not isinstance(value, str) or value.count(" ") < 3:
        return value
    return _END.sub(f" {word}", value) if value.endswith((".", "?")) else f"{_END.sub(f' {word}', value)} {word}"


def word_of(text: str) -> str:
    """Return the word that a marked text ends with."""
    return text.rstrip(".?").rsplit(" ", 1)[1]


def in_turn(values: list[Any]) -> Callable[..., Any]:
    """Return a function that returns one value after the other, whatever it is asked."""
    turn = cycle(values)
    return lambda *asked: next(turn)
