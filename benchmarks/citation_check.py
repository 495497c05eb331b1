"""The citation check of the RAG agent as guardgraph's, NeMo Guardrails' and guardrails-ai's guard, side by side.

Everywhere it is the same function on the same answer, once with good citations and once with one that was never
shown, and no model is asked. Prints `name value` lines in microseconds. It needs an environment with all three
libraries; peers.py runs it there.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from typing import Any, NotRequired

from guardrails import AsyncGuard, Guard
from guardrails.validator_base import FailResult, PassResult, Validator, register_validator
from measure import Figure, interleaved, print_figures, wall_us
from nemoguardrails import LLMRails, RailsConfig
from scripted_agents import scripted_agent
from typing_extensions import TypedDict

import guardgraph.grammar as gg
from guardgraph.guards.rag import check_citations

ROUNDS = 30
CALLS = 5
"""Calls of one round."""
MORE_GUARDS = 8
"""Guards in a row, for what one guard more adds to a run."""

Judge = Callable[[list[str]], bool]
"""Says whether citations pass."""


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


@register_validator(name="guardgraph/citations", data_type="string")
class Citations(Validator):
    """The check as a validator of an answer, with citations and chunks as metadata."""

    def _validate(self, value: Any, metadata: dict[str, Any]) -> PassResult | FailResult:
        if is_cited(metadata["citations"], metadata["chunks"]):
            return PassResult()
        return FailResult(error_message="The answer cites what it was not shown.")


def guardrails_validator() -> Judge:
    """Return the check as the validator of a guard."""
    guard = Guard().use(Citations(on_fail="noop"))
    answer, chunks = shown()
    return lambda citations: bool(
        guard.validate(answer["answer"], metadata={"citations": citations, "chunks": chunks}).validation_passed
    )


def guardrails_async_validator(runner: asyncio.Runner) -> Judge:
    """Return the check as the validator of an async guard."""
    guard = AsyncGuard().use(Citations(on_fail="noop"))
    answer, chunks = shown()

    def judge(citations: list[str]) -> bool:
        metadata = {"citations": citations, "chunks": chunks}
        return bool(runner.run(guard.validate(answer["answer"], metadata=metadata)).validation_passed)

    return judge


def shown() -> tuple[dict[str, Any], list[Any]]:
    """Return the RAG run's answer and the chunks that it was written from."""
    scripted = scripted_agent("rag")
    for task in scripted.make().stream(scripted.given(), stream_mode="tasks"):
        if task["name"] == "answer_guard" and "input" in task:
            return scripted.result, task["input"]["accepted_context"]["chunks"]
    raise RuntimeError("the RAG run has no answer_guard")


def figures(rounds: int) -> Iterator[Figure]:
    """Yield what one check takes in each library, and the others' over guardgraph's."""
    answer, chunks = shown()
    with asyncio.Runner() as runner:
        rails = nemo_rails()
        judges: dict[str, Judge] = {
            "check": lambda citations: is_cited(citations, chunks),
            "guardgraph_run": guarded_run(1),
            "guardgraph_long_run": guarded_run(1 + MORE_GUARDS),
            "nemo_action": nemo_action(rails, runner),
            "nemo_rail": nemo_rail(rails, runner),
            "guardrails_ai": guardrails_validator(),
            "guardrails_ai_async": guardrails_async_validator(runner),
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


def _calls(judge: Judge, citations: list[str]) -> Callable[[], None]:
    def work() -> None:
        for _ in range(CALLS):
            judge(citations)

    return work


if __name__ == "__main__":
    print_figures(figures, rounds=ROUNDS)
