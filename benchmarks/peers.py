"""What does one deterministic check cost in guardgraph, and in two other libraries of guards?

It is the citation check of the RAG agent, everywhere the same function on the same answer, once with good citations and
once with one that was never shown, and no model is asked. It runs in an environment of its own, since the others bring
much with them; `make bench` makes it. The others report their use over the network by default; here they are told not
to, which also makes them faster.
"""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, NotRequired

from measure import Figure, Skip, Work, interleaved, wall_us
from measured_agents import scripted_agent
from sections import Meaning, Section, run_alone
from typing_extensions import TypedDict

import guardgraph.grammar as gg
from guardgraph.guards.rag import check_citations

if TYPE_CHECKING:
    from nemoguardrails import LLMRails

ROOT = Path(__file__).parents[1]
PYTHON = ROOT / "build" / "bench-peers" / "bin" / "python"
LIBRARIES = ("nemoguardrails", "guardrails-ai")
SILENCE = {"DO_NOT_TRACK": "1", "NEMO_GUARDRAILS_NO_USAGE_STATS": "1", "OTEL_SDK_DISABLED": "true"}

CALLS = 5
"""Calls of one round."""
MORE_GUARDS = 8
"""Guards in a row, for what one guard more adds to a run."""

Judge = Callable[[list[str]], bool]
"""Says whether citations pass."""


def measure_among_peers(name: str, script: str, rounds: int, environ: dict[str, str]) -> Iterator[Figure]:
    """Yield what a benchmark prints that runs in the environment of the peers.

    Raises:
        Skip: there is none, or it cannot run there.
    """
    if not PYTHON.exists():
        raise Skip(name, "needs libraries that are not installed; `make bench` installs them where it can")
    command = [str(PYTHON), script, "--rounds", str(rounds)]
    variables = {**os.environ, "PYTHONPATH": str(ROOT), **environ}
    done = subprocess.run(command, env=variables, stdout=subprocess.PIPE, text=True, check=False, timeout=3600)
    if done.returncode:
        raise Skip(name, "could not be run; what its libraries say stands above")
    for line in done.stdout.splitlines():
        figure, value = line.split()
        yield figure, float(value)


def is_among_peers() -> bool:
    """Say whether this process runs in the environment of the peers."""
    return Path(sys.prefix).resolve() == PYTHON.parents[1].resolve()


def versions() -> list[str]:
    """Return the names and versions of the peers that are installed."""
    if not PYTHON.exists():
        return []
    code = "import sys; from importlib.metadata import version; [print(name, version(name)) for name in sys.argv[1:]]"
    command = [str(PYTHON), "-c", code, *LIBRARIES]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()


def measure_peers(rounds: int) -> Iterator[Figure]:
    """Yield what one check takes in each library, and the others' over guardgraph's."""
    if not is_among_peers():
        with TemporaryDirectory() as home:
            Path(home, ".guardrailsrc").write_text("enable_metrics=false\n", encoding="utf-8")
            yield from measure_among_peers("peers", __file__, rounds, {**SILENCE, "HOME": home})
        return
    answer, chunks = shown()
    with asyncio.Runner() as runner:
        rails = nemo_rails()
        judges: dict[str, Judge] = {
            "check": lambda citations: is_cited(citations, chunks),
            "guardgraph_run": guarded_run(1),
            "guardgraph_long_run": guarded_run(1 + MORE_GUARDS),
            "nemo_action": nemo_action(rails, runner),
            "nemo_rail": nemo_rail(rails, runner),
            **guardrails_validators(runner),
        }
        for name, judge in judges.items():
            if not judge(answer["citations"]) or judge([*answer["citations"], "never_shown"]):
                raise RuntimeError(f"{name} does not check citations")
        taken = interleaved({name: _calls(judge, answer["citations"]) for name, judge in judges.items()}, rounds)
    cost = {name: wall_us(one, CALLS) for name, one in taken.items()}
    cost["guardgraph_guard"] = (cost.pop("guardgraph_long_run") - cost["guardgraph_run"]) / MORE_GUARDS
    for name, value in cost.items():
        yield f"{name}_us", value
    for name in ("nemo_rail", "guardrails_ai"):
        yield f"{name}_to_guardgraph_run_ratio", cost[name] / cost["guardgraph_run"]
        yield f"{name}_to_guardgraph_guard_ratio", cost[name] / cost["guardgraph_guard"]


def _calls(judge: Judge, citations: list[str]) -> Work:
    def work() -> None:
        for _ in range(CALLS):
            judge(citations)

    return work


def is_cited(citations: list[str], chunks: list[Any]) -> bool:
    """Return the check as a truth value, which is what the others ask for."""
    try:
        check_citations(citations, chunks)
    except gg.Stop:
        return False
    return True


class In(TypedDict):
    citations: list[str]
    chunks: list[Any]


class State(TypedDict):
    task: In


class Out(gg.Result):
    invalid_citations: NotRequired[list[str]]
    context_doc_ids: NotRequired[list[str]]


PHASES = ("check",)
REASONS = gg.Catalogue(
    "citations",
    PHASES,
    [
        *gg.common_reasons(phases=PHASES),
        gg.StopReason("invalid_answer:<fault>", "invalid_answer", PHASES, "The citations are wrong.", "Look at them."),
    ],
)


def guarded_run(guards: int) -> Judge:
    """Return a whole run of a graph that has this many citation guards in a row."""
    p = gg.Pattern(REASONS, state=State, input=In, output=Out, policy=gg.Settings(), budget=gg.Budget(max_seconds=9.0))
    names = [f"citation_guard_{number}" for number in range(guards)]
    p.entry("request_guard", _check_request, writes=["task"], to=names[0])
    for name, following in zip(names, [*names[1:], "done"], strict=True):
        p.guard(name, _check_citations, phase="check", reads=["task"], to=following, stops=["invalid_answer"])
    p.terminal("done", lambda state, run: {"outcome": "done"}, phase="check", reads=[], writes=["outcome"])
    graph, chunks = p.compile(name="citations"), shown()[1]
    return lambda citations: graph.invoke({"citations": citations, "chunks": chunks})["stop_reason"] == "success"


def _check_request(state: Any, run: Any) -> gg.Pass:
    return gg.Pass({"task": {"citations": state["citations"], "chunks": state["chunks"]}})


def _check_citations(state: Any, run: Any) -> gg.Pass:
    check_citations(state["task"]["citations"], state["task"]["chunks"])
    return gg.Pass()


COLANG = """
define bot refuse citations
  "The answer cites what it was not shown."

define subflow check citations
  $passed = execute check_citations
  if not $passed
    bot refuse citations
    stop
"""
CONFIG = "models: []\nrails: {output: {flows: [check citations]}}"


def nemo_rails() -> LLMRails:
    """Return rails whose one output rail calls the check as a custom action."""
    from nemoguardrails import LLMRails, RailsConfig

    rails = LLMRails(RailsConfig.from_content(colang_content=COLANG, yaml_content=CONFIG))

    async def check_citations(context: dict[str, Any]) -> bool:
        return is_cited(context["citations"], context["chunks"])

    rails.register_action(check_citations, "check_citations")
    return rails


def nemo_rail(rails: LLMRails, runner: asyncio.Runner) -> Judge:
    """Return the check as an output rail of a conversation whose answer is there already."""
    answer, chunks = shown()

    def judge(citations: list[str]) -> bool:
        messages = [
            {"role": "context", "content": {"citations": citations, "chunks": chunks}},
            {"role": "user", "content": "What is the target?"},
            {"role": "assistant", "content": answer["answer"]},
        ]
        done = runner.run(rails.generate_async(messages=messages, options={"rails": ["output"]}))
        return bool(done.response[-1]["content"] == answer["answer"])

    return judge


def nemo_action(rails: LLMRails, runner: asyncio.Runner) -> Judge:
    """Return the action by itself, as the dispatcher of the rails calls it, without the flow around it."""
    dispatcher, chunks = rails.runtime.action_dispatcher, shown()[1]

    def judge(citations: list[str]) -> bool:
        params = {"context": {"citations": citations, "chunks": chunks}}
        passed, _ = runner.run(dispatcher.execute_action("check_citations", params))
        return bool(passed)

    return judge


def guardrails_validators(runner: asyncio.Runner) -> dict[str, Judge]:
    """Return the check as the validator of a guard, and of an async one, with citations and chunks as metadata."""
    from guardrails import AsyncGuard, Guard
    from guardrails.validator_base import FailResult, PassResult, Validator, register_validator

    @register_validator(name="guardgraph/citations", data_type="string")
    class Citations(Validator):
        def _validate(self, value: Any, metadata: dict[str, Any]) -> PassResult | FailResult:
            if is_cited(metadata["citations"], metadata["chunks"]):
                return PassResult()
            return FailResult(error_message="The answer cites what it was not shown.")

    guard, async_guard = (kind().use(Citations(on_fail="noop")) for kind in (Guard, AsyncGuard))
    answer, chunks = shown()

    def judge(citations: list[str]) -> bool:
        found = guard.validate(answer["answer"], metadata={"citations": citations, "chunks": chunks})
        return bool(found.validation_passed)

    def judge_async(citations: list[str]) -> bool:
        metadata = {"citations": citations, "chunks": chunks}
        return bool(runner.run(async_guard.validate(answer["answer"], metadata=metadata)).validation_passed)

    return {"guardrails_ai": judge, "guardrails_ai_async": judge_async}


def shown() -> tuple[dict[str, Any], list[Any]]:
    """Return the RAG run's answer and the chunks that it was written from."""
    scripted = scripted_agent("rag")
    for task in scripted.make().stream(scripted.given(), stream_mode="tasks"):
        if task["name"] == "answer_guard" and "input" in task:
            return scripted.result, task["input"]["accepted_context"]["chunks"]
    raise RuntimeError("the RAG run has no answer_guard")


SECTIONS = (
    Section(
        "peers",
        "The same check in other libraries",
        "The citation check of the RAG agent, the same Python function on the same answer, as a guard of "
        "guardgraph, as a custom action of NeMo Guardrails and as a validator of guardrails-ai, all in one "
        "process, in turn. No model is asked, and the others' reports of use are switched off. They do other "
        "things for their time than guardgraph: NeMo runs a flow of a dialogue, guardrails-ai keeps a call "
        "history and can ask again.",
        (
            Meaning("check_us", "Microseconds for the function by itself."),
            Meaning("guardgraph_run_us", "Microseconds for the smallest guarded run: input, this guard, ending."),
            Meaning("guardgraph_guard_us", "Microseconds that one guard more adds to a run."),
            Meaning("nemo_action_us", "Microseconds for the action alone, without the flow that calls it."),
            Meaning("nemo_rail_us", "Microseconds for an output rail that calls the action."),
            Meaning("guardrails_ai_us", "Microseconds for `Guard.validate`."),
            Meaning("guardrails_ai_async_us", "Microseconds for `AsyncGuard.validate`."),
            Meaning("*_to_guardgraph_run_ratio", "The other library's call over a whole guarded run."),
            Meaning("*_to_guardgraph_guard_ratio", "The other library's call over one guard more in a run."),
        ),
        figures=measure_peers,
        rounds=30,
    ),
)

if __name__ == "__main__":
    run_alone(SECTIONS)
