"""What the tool agent costs beside `create_agent` of LangChain with the same tools and a scripted model.

A run has three calls of tools and an answer, each asked for by itself: three reads, without a checkpointer, or two
reads and a transfer, with LangGraph's in-memory checkpointer for both. The model replies at once what was prepared for
the run: JSON to the tool agent, tool calls to `create_agent`. Every run has texts that no run before had. LangChain's
agent makes each call that it is asked for; ours also holds it against lists, rules, budgets and support, twice, keeps
an intent and a receipt of the transfer, and holds the answer against what was found. Prints `name value` lines: the
ratios of processor times and of wall times, and the microseconds of both runs. Run it as
``python benchmarks/create_agent.py``.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator
from functools import partial
from itertools import count
from typing import Any

import fresh
from langchain.agents import create_agent
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langgraph.checkpoint.memory import InMemorySaver
from measure import Figure, cpu_ratio, interleaved, print_figures, wall_ratio, wall_us
from repeated import Work, ainvoked, invoked

from guardgraph import ToolPolicy, ToolRule, create_tool_agent

ROUNDS = 30
RUNS = 4
"""Runs of one round."""

Calls = list[tuple[str, dict[str, Any]]]


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
        yield from fresh.words()


def figures(rounds: int) -> Iterator[Figure]:
    """Yield the figures of both kinds of runs, sync and async."""
    with asyncio.Runner() as runner:
        for name, work in (("invoke", invoked), ("ainvoke", partial(ainvoked, runner))):
            for kind, writes in (("reads", False), ("writes", True)):
                yield from _compared(f"tools_{kind}_{name}", work, rounds, writes=writes)


def _compared(name: str, work: Callable[..., Work], rounds: int, *, writes: bool) -> Iterator[Figure]:
    saver = InMemorySaver if writes else (lambda: None)
    tools, reading = [read_bill, send_money], {"read_bill": ToolRule(effect="read")}
    graphs = {
        "agent": create_tool_agent(
            PreparedModel(replies=_reply_in_json(writes)), tools, policy=ToolPolicy(rules=reading), checkpointer=saver()
        ),
        "create_agent": create_agent(
            PreparedModel(replies=_reply_with_tool_calls(writes)), tools, checkpointer=saver()
        ),
    }
    words = {graph: _list_words() for graph in graphs}

    def ask_agent() -> dict[str, Any]:
        return {"task": plan_run(next(words["agent"]), writes=writes)[0]}

    def ask_create_agent() -> dict[str, Any]:
        task = plan_run(next(words["create_agent"]), writes=writes)[0]
        return {"messages": [{"role": "user", "content": task}]}

    taken = interleaved(
        {
            "agent": work(graphs["agent"], ask_agent, RUNS),
            "create_agent": work(graphs["create_agent"], ask_create_agent, RUNS),
        },
        rounds,
    )
    yield f"{name}_create_agent_ratio", cpu_ratio(taken["agent"], taken["create_agent"])
    yield f"{name}_create_agent_wall_ratio", wall_ratio(taken["agent"], taken["create_agent"])
    yield f"{name}_tool_agent_us", wall_us(taken["agent"], RUNS)
    yield f"{name}_create_agent_us", wall_us(taken["create_agent"], RUNS)


if __name__ == "__main__":
    print_figures(figures, rounds=ROUNDS)
