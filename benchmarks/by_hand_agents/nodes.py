"""What the three agents written by hand share: how a check stops a run, where it goes then, and how nodes are awaited.

They are the peers of our agents: plain LangGraph as a good engineer writes it, with the same checks in plain node
functions, one node for every step of our diagrams, and one TypedDict for the state. They keep no deadline, record
nothing, prove nothing, and show every node everything.
"""

from __future__ import annotations

import asyncio
import inspect
import operator
from collections.abc import Awaitable, Callable
from functools import wraps
from typing import Annotated, Any, Literal

from langgraph.graph import END, StateGraph
from typing_extensions import TypedDict

from guardgraph.guards.stop import Stop

Update = dict[str, Any]
Node = Callable[..., Any]
Way = Literal["sync", "threads", "coroutines", "inline"]
"""How a graph runs: `sync` for `invoke`; for `ainvoke` with calls in threads, awaited, or made where they stand."""


class Ending(TypedDict, total=False):
    """What all three results have."""

    run_id: str
    status: Literal["ok", "stopped"]
    stop_reason: str
    phase: str
    evidence: Update
    """Of a stop: what was refused."""
    outcome: str
    history: Annotated[list[Update], operator.add]


def stops_in(phase: str) -> Callable[[Node], Node]:
    """Let a node end the run with the reason of the check that it failed."""

    def decorate(check: Node) -> Node:
        @wraps(check)
        def node(*args: Any) -> Any:
            try:
                return check(*args)
            except Stop as stop:
                return {"status": "stopped", "stop_reason": stop.reason, "phase": phase, "evidence": stop.evidence}

        return node

    return decorate


def ended(outcome: str) -> Update:
    """Return what a good ending writes."""
    return {"status": "ok", "stop_reason": "success", "outcome": outcome}


def step(state: Any, told: Update) -> Update:
    """Return what a completed step adds to the history."""
    return {"history": [{"step": len(state.get("history", ())) + 1, **told}]}


def passed_or_stopped(state: Any) -> Literal["passed", "stopped"]:
    """Say whether the check in front of a conditional edge let the run go on."""
    return "stopped" if "status" in state else "passed"


def on(to: str) -> dict[Any, str]:
    """Return the path map of a check that has one way on."""
    return {"passed": to, "stopped": END}


def attempt(call: Callable[[Update], Any], request: Update) -> Any:
    """Call a tool, and return what it returned, to be awaited or not, or ``{"failed": {type, message}}``."""
    try:
        found = call(request)
    except Exception as error:  # noqa: BLE001 - whatever a tool raises, the check behind it says so
        return _failed(error)
    return _awaited(found) if inspect.isawaitable(found) else found


async def _awaited(found: Awaitable[Any]) -> Any:
    try:
        return await found
    except Exception as error:  # noqa: BLE001 - see attempt
        return _failed(error)


def _failed(error: Exception) -> Update:
    return {"failed": {"type": type(error).__name__, "message": str(error)[:200]}}


def failure(found: Any) -> Update | None:
    """Return what a tool raised, None where it returned."""
    return found["failed"] if isinstance(found, dict) and found.keys() == {"failed"} else None


def returned(found: Any, tool: str) -> Any:
    """Return what a tool returned.

    Raises:
        Stop: it raised.
    """
    if failed := failure(found):
        raise Stop(f"tool_invalid_output:{tool}", details=failed)
    return found


def add_nodes(graph: StateGraph[Any], *, asks: dict[str, Node], checks: dict[str, Node], way: Way) -> None:
    """Add nodes that call out and nodes that only decide, as functions or, for `ainvoke`, as coroutine functions.

    LangGraph would run plain functions in threads for `ainvoke`, the checks too.
    """
    for name, node in asks.items():
        graph.add_node(name, _ASKS[way](node))
    for name, node in checks.items():
        graph.add_node(name, node if way == "sync" else _as_coroutine(node))


def router(choose: Node, way: Way) -> Node:
    """Return the function of a conditional edge, as a coroutine function for `ainvoke`."""
    return choose if way == "sync" else _as_coroutine(choose)


def _as_coroutine(node: Node) -> Callable[..., Awaitable[Any]]:
    @wraps(node)
    async def coroutine(state: Any) -> Any:
        return node(state)

    return coroutine


def _in_thread(node: Node) -> Callable[..., Awaitable[Any]]:
    @wraps(node)
    async def coroutine(state: Any) -> Any:
        return await asyncio.to_thread(node, state)

    return coroutine


def _awaiting(node: Node) -> Callable[..., Awaitable[Any]]:
    @wraps(node)
    async def coroutine(state: Any) -> Any:
        update = node(state)
        if inspect.isawaitable(update):
            return await update
        return {key: await value if inspect.isawaitable(value) else value for key, value in update.items()}

    return coroutine


_ASKS: dict[Way, Callable[[Node], Node]] = {
    "sync": lambda node: node,
    "threads": _in_thread,
    "coroutines": _awaiting,
    "inline": _as_coroutine,
}
