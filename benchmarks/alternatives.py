"""What does an agent cost beside the one that you would have without guardgraph: by hand, or from `create_agent`?

Proposers and tools are instant: functions that return what was prepared, which our agents call under their deadlines,
or (`offline`) our own rules, recordings and retriever. A prepared model replies at once: JSON to the tool agent, tool
calls to LangChain's agent. Both sides run in turn, each on texts that no run before had.
"""

from __future__ import annotations

import asyncio
import json
import statistics
from collections.abc import Iterator
from functools import partial
from itertools import count
from typing import Any

from by_hand_agents import BY_HAND
from by_hand_agents.nodes import Way
from langchain.agents import create_agent
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langgraph.checkpoint.memory import InMemorySaver
from measure import Figure, Kept, Repeat, ainvoked, compare, in_new_process, invoked
from measured_agents import Scripted, offline_agent, scripted_agent, words
from sections import Meaning, Section, run_alone

from guardgraph import ToolPolicy, ToolRule, create_tool_agent

RUNS = 4
"""Runs of one round."""
PROCESSES = 5
"""In which the agents are held against those by hand, one after another; a figure is the median of theirs."""
BY_HAND_GOALS = {"rag": 1.15, "research": 1.08, "self_critique": 1.12}
"""What an agent may cost at most, where the same agent written by hand costs 1."""

Calls = list[tuple[str, dict[str, Any]]]


def measure_by_hand(rounds: int) -> Iterator[Figure]:
    """Yield the medians of what some processes measure: as many as there are rounds, five at most."""
    found: dict[str, list[float]] = {}
    for _ in range(min(PROCESSES, rounds)):
        for name, value in in_new_process(measure_by_hand_once, rounds):
            found.setdefault(name, []).append(value)
    for name, values in found.items():
        yield name, statistics.median(values)


def measure_by_hand_once(rounds: int) -> list[Figure]:
    """Return the figures of every pattern and way of running."""
    figures: list[Figure] = []
    with asyncio.Runner() as runner:
        awaited = partial(ainvoked, runner)
        for pattern in BY_HAND:
            scripted, offline = scripted_agent(pattern), offline_agent(pattern)
            coroutines = scripted_agent(pattern, coroutines=True)
            figures += _beside_by_hand(f"{pattern}_invoke", scripted, "sync", invoked, rounds)
            figures += _beside_by_hand(f"{pattern}_offline_invoke", offline, "sync", invoked, rounds)
            figures += _beside_by_hand(f"{pattern}_ainvoke", scripted, "threads", awaited, rounds)
            figures += _beside_by_hand(f"{pattern}_ainvoke_coroutines", coroutines, "coroutines", awaited, rounds)
            figures += _beside_by_hand(f"{pattern}_offline_ainvoke", offline, "inline", awaited, rounds)
    return figures


def _beside_by_hand(name: str, scripted: Scripted, way: Way, repeat: Repeat, rounds: int) -> Iterator[Figure]:
    works = {
        f"{name}_agent": repeat(scripted.make(recorder=Kept()), scripted.given, RUNS),
        f"{name}_by_hand": repeat(BY_HAND[scripted.pattern](**scripted.arguments, way=way), scripted.given, RUNS),
    }
    return compare(f"{name}_by_hand", works, rounds, runs=RUNS)


def read_bill(id: str) -> str:
    """Read a bill."""
    return f"Bill {id} of Ada Byron, for twelve office chairs: 98.70 EUR, to be paid by 13 May 2024. Thank you, {id}."


def send_money(to: str, amount: float) -> str:
    """Send euros to somebody."""
    return f"sent {amount:g} to {to}"


class PreparedModel(BaseChatModel):
    """A model that says one prepared message after another, and is always the same with tools."""

    replies: Any

    @property
    def _llm_type(self) -> str:
        return "prepared"

    def bind_tools(self, tools: Any, **kwargs: Any) -> PreparedModel:
        """Return itself: what it asks for is prepared."""
        return self

    def _generate(self, messages: Any, stop: Any = None, run_manager: Any = None, **kwargs: Any) -> ChatResult:
        return ChatResult(generations=[ChatGeneration(message=next(self.replies))])

    async def _agenerate(self, messages: Any, stop: Any = None, run_manager: Any = None, **kwargs: Any) -> ChatResult:
        return self._generate(messages)


def plan_run(word: str, *, writes: bool) -> tuple[str, Calls, str]:
    """Return the task of a run, the calls that its model asks for, and the answer."""
    bills = [f"{word}{end}" for end in ("a", "b", "c")]
    calls: Calls = [("read_bill", {"id": bill}) for bill in bills]
    task = f"Read the bills {', '.join(bills)}, and send 30 euros to Ada {word}."
    if writes:
        calls[2] = ("send_money", {"to": f"Ada {word}", "amount": 30})
    return task, calls, f"Bill {bills[0]} comes to 98.70 EUR."


def _reply_in_json(writes: bool) -> Iterator[AIMessage]:
    for word in _list_words():
        _, calls, answer = plan_run(word, writes=writes)
        for tool, args in calls:
            yield AIMessage(json.dumps({"calls": [{"tool": tool, "args": args}]}))
        yield AIMessage(json.dumps({"answer": answer}))


def _reply_with_tool_calls(writes: bool) -> Iterator[AIMessage]:
    numbers = count()
    for word in _list_words():
        _, calls, answer = plan_run(word, writes=writes)
        for tool, args in calls:
            yield AIMessage("", tool_calls=[{"name": tool, "args": args, "id": f"c{next(numbers)}"}])
        yield AIMessage(answer)


def _list_words() -> Iterator[str]:
    """Yield the words of the runs, one for each, again and again."""
    while True:
        yield from words()


def measure_create_agent(rounds: int) -> Iterator[Figure]:
    """Yield the figures of both kinds of runs, sync and async."""
    with asyncio.Runner() as runner:
        for name, repeat in (("invoke", invoked), ("ainvoke", partial(ainvoked, runner))):
            for kind, writes in (("reads", False), ("writes", True)):
                yield from _beside_create_agent(f"tools_{kind}_{name}", repeat, rounds, writes=writes)


def _beside_create_agent(name: str, repeat: Repeat, rounds: int, *, writes: bool) -> Iterator[Figure]:
    saver = InMemorySaver if writes else (lambda: None)
    tools, policy = [read_bill, send_money], ToolPolicy(rules={"read_bill": ToolRule(effect="read")})
    model, peer = PreparedModel(replies=_reply_in_json(writes)), PreparedModel(replies=_reply_with_tool_calls(writes))
    agent = create_tool_agent(model, tools, policy=policy, checkpointer=saver())
    asked, asked_of_peer = _list_words(), _list_words()

    def ask_agent() -> dict[str, Any]:
        return {"task": plan_run(next(asked), writes=writes)[0]}

    def ask_peer() -> dict[str, Any]:
        return {"messages": [{"role": "user", "content": plan_run(next(asked_of_peer), writes=writes)[0]}]}

    works = {
        f"{name}_tool_agent": repeat(agent, ask_agent, RUNS),
        f"{name}_create_agent": repeat(create_agent(peer, tools, checkpointer=saver()), ask_peer, RUNS),
    }
    return compare(f"{name}_create_agent", works, rounds, runs=RUNS)


SECTIONS = (
    Section(
        "by_hand",
        "Beside the same agent written by hand",
        "A whole run, beside a run of the same agent as an engineer writes it by hand in LangGraph: the same checks "
        "in plain node functions, the same steps, conditional edges, one TypedDict for the state; no deadlines, no "
        "record of the run, no proof. A test holds that both decide the same. Proposers and tools return at once: "
        "plain functions, which guardgraph calls under its deadlines, or coroutine functions; `offline` has our own "
        "rules, recordings and retriever. Beside `ainvoke`, the nodes written by hand are coroutine functions: they "
        "hand plain functions to a thread, since those may block, and call our own rules where they stand. Every run "
        "has texts that no run before it had, but for recordings and the documents of the knowledge base. Each "
        "figure is the median of five processes. The agent has a recorder.",
        (
            Meaning("*_by_hand_ratio", "Processor time of a run over that by hand.", at_most_of=BY_HAND_GOALS),
            Meaning("*_by_hand_wall_ratio", "Wall time of a run over that by hand.", at_most_of=BY_HAND_GOALS),
            Meaning("*_agent_us", "Microseconds that a run takes."),
            Meaning("*_by_hand_us", "Microseconds that a run by hand takes."),
        ),
        missed="Every step keeps what an audit and a replay need; a run by hand keeps nothing.",
        figures=measure_by_hand,
        rounds=20,
    ),
    Section(
        "create_agent",
        "The tool agent beside `create_agent`",
        "A run with three calls of tools and an answer, each asked for by itself, beside LangChain's `create_agent` "
        "with the same tools and a model that replies at once what was prepared: three reads (`reads`), or two "
        "reads and a transfer with LangGraph's in-memory checkpointer for both (`writes`). `create_agent` makes "
        "each call that it is asked for. The tool agent also holds it against lists, rules, budgets and support, "
        "where it is proposed and where it is made, keeps an intent and a receipt of the transfer, and holds the "
        "answer against what was found. Every run has texts that no run before it had.",
        (
            Meaning("*_create_agent_ratio", "Processor time of a run over that of `create_agent`.", at_most=1.25),
            Meaning("*_create_agent_wall_ratio", "Wall time of a run over that of `create_agent`.", at_most=1.25),
            Meaning("*_tool_agent_us", "Microseconds that a run of the tool agent takes."),
            Meaning("*_create_agent_us", "Microseconds that a run of `create_agent` takes."),
        ),
        missed="Each call is held against its licence, and recorded before and after it is made.",
        figures=measure_create_agent,
        rounds=30,
    ),
)

if __name__ == "__main__":
    run_alone(SECTIONS)
