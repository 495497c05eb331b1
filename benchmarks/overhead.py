"""Where does the time of a run go: guards, the record of the run, and what an agent can have besides?

An agent can have a recorder, a shadow, a checkpointer and telemetry. Proposers and tools are instant, so that all that
is measured is LangGraph and guardgraph, and every run has texts that no run before it had.
"""

from __future__ import annotations

import asyncio
import sqlite3
import statistics
import time
from collections.abc import Callable, Iterator
from contextlib import AsyncExitStack, ExitStack, closing
from dataclasses import replace
from functools import partial
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import measured_agents
from langchain.agents import create_agent
from langchain.agents.middleware import AgentMiddleware
from langchain_core.messages import AIMessage
from langchain_core.tools import tool
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from measure import Figure, Kept, Repeat, Work, ainvoked, compare, cpu_ratio, interleaved, invoked, wall_ratio, wall_us
from measured_agents import Scripted, beside_floor, scripted_agents
from opentelemetry.metrics import NoOpMeterProvider
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.trace import NoOpTracerProvider
from sections import Meaning, Section, run_alone

from guardgraph import GuardedGraph, LiveWorld, TelemetryWorld, ToolPolicy, create_rag_agent
from guardgraph.grammar import Run
from guardgraph.middleware import GroundedAnswer, LicensedTools
from guardgraph.nodes.body import Body
from guardgraph.testing import ScriptedChatModel

ACCOUNT = "DE44500105175407324931"
RUNS = 4
"""Runs of one round."""
DURABILITIES = ("exit", "async")
CHECKPOINTED = 2
"""Runs of one round that are checkpointed."""

Guards = dict[str, Callable[[], object]]
"""The guards of a run, by name, in the order of the run."""


def measure_overhead(rounds: int) -> Iterator[Figure]:
    """Yield how runs compare with the floor, of every pattern and way of running."""
    for scripted in scripted_agents():
        yield from _beside_floor(f"{scripted.pattern}_invoke", scripted, invoked, rounds)
        yield from _beside_floor(f"{scripted.pattern}_empty_guards", _without_guards(scripted), invoked, rounds)
    with asyncio.Runner() as runner:
        awaited = partial(ainvoked, runner)
        for scripted in scripted_agents():
            yield from _beside_floor(f"{scripted.pattern}_ainvoke", scripted, awaited, rounds, coroutines=True)
        for scripted in scripted_agents(coroutines=True):
            name = f"{scripted.pattern}_ainvoke_coroutines"
            yield from _beside_floor(name, scripted, awaited, rounds, coroutines=True)


def _beside_floor(
    name: str, scripted: Scripted, repeat: Repeat, rounds: int, *, coroutines: bool = False
) -> Iterator[Figure]:
    graphs = beside_floor(scripted, coroutines=coroutines)
    names = {"agent": name, "floor": f"{name}_floor"}
    works = {names[graph]: repeat(graphs[graph], scripted.given, RUNS) for graph in graphs}
    return compare(name, works, rounds, runs=RUNS)


def _without_guards(scripted: Scripted) -> Scripted:
    """Return the same agent, whose guards and endings say again what they said in the first run."""

    def make(**kwargs: Any) -> GuardedGraph:
        agent = scripted.make(**kwargs)
        for node in agent.builder.nodes.values():
            if not node.runnable.declaration.is_calling_node and node.runnable.body is not None:
                node.runnable.body = _said_once(node.runnable.body)
        return agent

    return replace(scripted, make=make)


def _said_once(body: Body) -> Body:
    said: list[Any] = []

    def saying(state: Any, run: Any) -> Any:
        if not said:
            said.append(body(state, run))
        return said[0]

    return saying


def measure_guards(rounds: int) -> Iterator[Figure]:
    """Yield the microseconds of all guards of a run, and of every guard: each is called with what it was shown."""
    for scripted in scripted_agents():
        runs = list(_list_guards(scripted))
        costs = [_measure_cost(guards) for _ in range(rounds) for guards in runs]
        medians = {name: statistics.median(each[name] for each in costs) * 1e6 for name in costs[0]}
        yield f"{scripted.pattern}_guards_us", sum(medians.values())
        for name, value in medians.items():
            yield f"{scripted.pattern}_{name}_us", value


def _measure_cost(guards: Guards) -> dict[str, float]:
    """Return the seconds of processor time that each guard takes."""
    spent = {}
    for name, guard in guards.items():
        begun = time.thread_time()
        guard()
        spent[name] = time.thread_time() - begun
    return spent


def _list_guards(scripted: Scripted) -> Iterator[Guards]:
    """Yield what calls the guards of a run, with the state that each of them saw there, of one run after another."""
    agent = scripted.make()
    for _ in range(measured_agents.POOL):
        guards: Guards = {}
        for task in agent.stream(scripted.given(), stream_mode="tasks"):
            node = agent.builder.nodes[task["name"]].runnable
            if "input" in task and node.declaration.kind == "guard":
                shown = Run(node.frame.policy, node.frame.budget)
                guards[task["name"]] = partial(node.body, task["input"], shown)
        yield guards


def measure_recorder(rounds: int) -> Iterator[Figure]:
    """Yield how agents with a recorder compare with those without."""
    return _beside_bare(_record, "recorded", "unrecorded", rounds)


def _record(scripted: Scripted, recorder: Kept) -> GuardedGraph:
    return scripted.make(recorder=recorder)


def measure_shadow(rounds: int) -> Iterator[Figure]:
    """Yield how agents with a recorder and a shadow of the same settings compare with those without both."""
    return _beside_bare(_shadow, "shadowed", "alone", rounds)


def _shadow(scripted: Scripted, recorder: Kept) -> GuardedGraph:
    return scripted.make(recorder=recorder, shadow={"other": scripted.make()})


def _beside_bare(make: Callable[[Scripted, Kept], GuardedGraph], name: str, bare: str, rounds: int) -> Iterator[Figure]:
    """Yield how agents with a recorder, and more, compare with those without, sync and async.

    Raises:
        RuntimeError: no run was recorded, or a shadow did not judge one as the agent did.
    """
    with asyncio.Runner() as runner:
        ways = [(scripted, "invoke", invoked) for scripted in scripted_agents()]
        awaited = partial(ainvoked, runner)
        ways += [(scripted, "ainvoke", awaited) for scripted in scripted_agents(coroutines=True)]
        for scripted, way, repeat in ways:
            recorder, stem = Kept(), f"{scripted.pattern}_{way}"
            made = {name: make(scripted, recorder), bare: scripted.make()}
            works = {f"{stem}_{which}": repeat(agent, scripted.given, RUNS) for which, agent in made.items()}
            yield from compare(f"{stem}_{name}", works, rounds, runs=RUNS)
            if recorder.recording is None:
                raise RuntimeError(f"no run of the {scripted.pattern} agent was recorded")
            if any(other["kind"] != "same" for other in recorder.recording.get("shadows", {}).values()):
                raise RuntimeError(f"a shadow of the {scripted.pattern} agent judged otherwise")


def measure_checkpoints(rounds: int) -> Iterator[Figure]:
    """Yield how checkpointed runs compare with those of the floor, of every pattern, durability and way of running."""
    for durability in DURABILITIES:
        for scripted in scripted_agents():
            with TemporaryDirectory() as folder, ExitStack() as opened:
                stores = {
                    file: opened.enter_context(SqliteSaver.from_conn_string(str(file))) for file in _list_files(folder)
                }
                repeat = partial(invoked, durability=durability)
                yield from _checkpointed(f"{scripted.pattern}_invoke_{durability}", scripted, stores, repeat, rounds)
    with asyncio.Runner() as runner:
        for durability in DURABILITIES:
            for scripted in scripted_agents(coroutines=True):
                yield from _awaited_checkpoints(runner, scripted, durability, rounds)


def _awaited_checkpoints(runner: asyncio.Runner, scripted: Scripted, durability: str, rounds: int) -> Iterator[Figure]:
    opened = AsyncExitStack()
    with TemporaryDirectory() as folder:
        try:
            stores = {
                file: runner.run(opened.enter_async_context(AsyncSqliteSaver.from_conn_string(str(file))))
                for file in _list_files(folder)
            }
            name, repeat = f"{scripted.pattern}_ainvoke_{durability}", partial(ainvoked, runner, durability=durability)
            yield from _checkpointed(name, scripted, stores, repeat, rounds, coroutines=True)
        finally:
            runner.run(opened.aclose())


def _list_files(folder: str) -> list[Path]:
    return [Path(folder) / name for name in ("agent", "floor")]


def _checkpointed(
    name: str,
    scripted: Scripted,
    stores: dict[Path, BaseCheckpointSaver[Any]],
    repeat: Repeat,
    rounds: int,
    *,
    coroutines: bool = False,
) -> Iterator[Figure]:
    graphs = beside_floor(scripted, coroutines=coroutines, savers=list(stores.values()))
    taken = interleaved({graph: repeat(graphs[graph], scripted.given, CHECKPOINTED) for graph in graphs}, rounds)
    yield f"{name}_ratio", wall_ratio(taken["agent"], taken["floor"])
    yield f"{name}_us", wall_us(taken["agent"], CHECKPOINTED)
    yield f"{name}_floor_us", wall_us(taken["floor"], CHECKPOINTED)
    for graph, file in zip(("", "_floor"), stores, strict=True):
        yield f"{name}{graph}_kb", _count_bytes(file) / (CHECKPOINTED * (rounds + 1)) / 1000


def _count_bytes(file: Path) -> int:
    """Return how much a database holds, also what SQLite has not yet moved there from its log."""
    with closing(sqlite3.connect(file)) as database:
        pages, size = (database.execute(f"PRAGMA {name}").fetchone()[0] for name in ("page_count", "page_size"))
    return int(pages * size)


def measure_telemetry(rounds: int) -> Iterator[Figure]:
    """Yield how runs with telemetry compare with those without, whose providers make no spans or make some."""
    providers = {
        "noop": {"tracer_provider": NoOpTracerProvider(), "meter_provider": NoOpMeterProvider()},
        "sdk": {"tracer_provider": TracerProvider(), "meter_provider": MeterProvider()},
    }
    worlds = {"none": LiveWorld(), **{name: TelemetryWorld(**given) for name, given in providers.items()}}
    asked = {"question": "What is the P1 first response target?"}
    works = {name: invoked(create_rag_agent(world=world), lambda: asked, RUNS) for name, world in worlds.items()}
    taken = interleaved(works, rounds)
    for name in providers:
        yield f"telemetry_{name}_ratio", cpu_ratio(taken[name], taken["none"])


def measure_middleware(rounds: int) -> Iterator[Figure]:
    """Yield how an agent of LangChain's with both middlewares compares with the same agent without."""

    @tool
    def read_bill(name: str) -> str:
        """Read a bill."""
        return f"Bill of {name}. The total is 76.00 EUR, due on 14 June 2026. Pay it to the account of the utility."

    @tool
    def send_money(to: str, amount: float) -> str:
        """Send money to an account."""
        return f"sent {amount} to {to}"

    def script() -> Iterator[AIMessage]:
        for number in range(RUNS * (rounds + 1)):
            yield AIMessage("", tool_calls=[{"name": "read_bill", "args": {"name": f"{number}"}, "id": "c1"}])
            yield AIMessage(
                "", tool_calls=[{"name": "send_money", "args": {"to": ACCOUNT, "amount": 76.0}, "id": "c2"}]
            )
            yield AIMessage(f"The total of bill {number} is 76.00 EUR.")

    class Empty(AgentMiddleware[Any, Any, Any]):
        def before_agent(self, state: Any, runtime: Any) -> None:
            return None

        after_model = after_agent = before_agent

        def wrap_model_call(self, request: Any, handler: Any) -> Any:
            return handler(request)

        wrap_tool_call = wrap_model_call

    guards = [LicensedTools(ToolPolicy(rules={"read_bill": {"effect": "read"}})), GroundedAnswer()]
    works = dict[str, Work]()
    for name, middleware in {"guarded": guards, "empty": [Empty()], "unguarded": []}.items():
        agent = create_agent(ScriptedChatModel(*script()), [read_bill, send_money], middleware=middleware)
        asked = (f"What is the total of bill {number}? Send 76 EUR to {ACCOUNT}." for number in count())
        works[f"middleware_{name}"] = invoked(agent, partial(_ask_next, asked), RUNS)
    taken = interleaved(works, rounds)
    plain = taken["middleware_unguarded"]
    yield "middleware_ratio", cpu_ratio(taken["middleware_guarded"], plain)
    yield "middleware_wall_ratio", wall_ratio(taken["middleware_guarded"], plain)
    yield "middleware_empty_ratio", cpu_ratio(taken["middleware_empty"], plain)
    for name, one in taken.items():
        yield f"{name}_us", wall_us(one, RUNS)


def _ask_next(asked: Iterator[str]) -> dict[str, Any]:
    return {"messages": [("user", next(asked))]}


SECTIONS = (
    Section(
        "overhead",
        "Beside an empty floor",
        "A whole run whose proposers and tools return at once, beside a LangGraph graph of the same nodes, edges, "
        "schemas and channels whose nodes do nothing but route. So all that guardgraph does is in the difference: "
        "the guards, the record of the run, and the care for deadlines and for state that must stay plain JSON. It is "
        "a floor, which nothing that decides something can reach, and has no goal. "
        "`invoke` calls plain functions; so does `ainvoke`, which must keep them off the event loop; "
        "`ainvoke_coroutines` awaits coroutine functions. In `empty_guards` the guards look at nothing, which leaves "
        "what the grammar around them costs. Every run has texts that no run before it had, but for the documents of "
        "the knowledge base, since guardgraph keeps what it found out about the latest texts.",
        (
            Meaning("*_ratio", "Processor time of a run over that of the floor."),
            Meaning("*_wall_ratio", "Wall time of a run over that of the floor."),
            Meaning("*_us", "Microseconds that a run takes."),
            Meaning("*_floor_us", "Microseconds that a run of the floor takes."),
        ),
        figures=measure_overhead,
        rounds=60,
    ),
    Section(
        "guard_cost",
        "Cost of the guards",
        "Every guard of the same runs, called directly with what it was shown there, without LangGraph around it. What "
        "an earlier guard of the same run has read, a later one need not read again.",
        (
            Meaning("*_guards_us", "Microseconds of processor time that all guards of a run take together."),
            Meaning("*_us", "Microseconds of processor time that this guard takes."),
        ),
        figures=measure_guards,
        rounds=2,
    ),
    Section(
        "recorder_cost",
        "Recording",
        "The same runs with a recorder, which keeps the latest recording, beside runs without one.",
        (
            Meaning("*_recorded_ratio", "Processor time of a run over that without a recorder.", at_most=1.1),
            Meaning("*_recorded_wall_ratio", "Wall time of a run over that without a recorder.", at_most=1.1),
            Meaning("*_recorded_us", "Microseconds that a recorded run takes."),
            Meaning("*_unrecorded_us", "Microseconds that a run without a recorder takes."),
        ),
        figures=measure_recorder,
        rounds=40,
    ),
    Section(
        "shadow",
        "Recorded, with a shadow",
        "The same runs with a recorder and one shadow, which judges every run to its end, beside runs without both.",
        (
            Meaning("*_shadowed_ratio", "Processor time of a run over that without recorder and shadow.", at_most=1.3),
            Meaning("*_shadowed_wall_ratio", "Wall time of a run over that without both.", at_most=1.3),
            Meaning("*_shadowed_us", "Microseconds that a recorded and shadowed run takes."),
            Meaning("*_alone_us", "Microseconds that a run without both takes."),
        ),
        figures=measure_shadow,
        rounds=40,
    ),
    Section(
        "middleware",
        "Middlewares of an agent of LangChain's",
        "An agent of `create_agent` with `LicensedTools` and `GroundedAnswer`, beside the same agent without. In each "
        "run a scripted model reads a bill, pays it, and answers.",
        (
            Meaning("middleware_ratio", "Processor time of a run over that without middlewares.", at_most=1.3),
            Meaning("middleware_wall_ratio", "Wall time of a run over that without middlewares.", at_most=1.3),
            Meaning(
                "middleware_empty_ratio",
                "The same of a middleware with the hooks of `LicensedTools` that does nothing.",
            ),
            Meaning("middleware_*_us", "Microseconds that a run takes."),
        ),
        figures=measure_middleware,
        rounds=40,
    ),
    Section(
        "checkpoints",
        "Checkpointed runs",
        "The same runs with a SQLite file, one for the agent and one for the floor; `invoke` with the sync saver, "
        "`ainvoke` with the async one. With the durability `exit` a run is written once, with `async` after every "
        "step. The floor keeps its route and its result; an agent also keeps what it was shown and what was "
        "decided, for resuming and audit. How the disk feels that day is in both times.",
        (
            Meaning("*_ratio", "Wall time of a run over that of the floor."),
            Meaning("*_us", "Microseconds that a run takes."),
            Meaning("*_floor_us", "Microseconds that a run of the floor takes."),
            Meaning("*_kb", "kB that a run adds to its file."),
            Meaning("*_floor_kb", "kB that a run of the floor adds to its file."),
        ),
        figures=measure_checkpoints,
        rounds=20,
    ),
    Section(
        "telemetry",
        "Telemetry",
        "The offline RAG agent asked the same question again and again, whose world makes spans and metrics, beside "
        "one without: `noop` has OpenTelemetry's providers that make nothing, `sdk` those of its SDK, which send "
        "nothing.",
        (Meaning("telemetry_*_ratio", "Processor time of a run over that without telemetry."),),
        figures=measure_telemetry,
        rounds=31,
    ),
)

if __name__ == "__main__":
    run_alone(SECTIONS)
