"""How a call leaves the process's own code: under a deadline, and whatever happens comes back as an `Outcome`.

Timeouts of clients hold between two bytes; a server that drips can outlast any of them. So the deadline is kept
here: a sync call runs in a daemon thread that is left behind when time is up, an async call is cancelled.
"""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Coroutine
from concurrent.futures import Future, wait
from contextvars import copy_context
from threading import Thread
from typing import Any

from langchain_core.messages import BaseMessage
from langchain_core.runnables import Runnable
from pydantic import BaseModel

from guardgraph.guards.proposals import Outcome
from guardgraph.nodes.body import Call
from guardgraph.nodes.failures import message_failure, message_text, model_failure, usage_of

__all__ = ["aperform", "perform"]

_RAW_RESULT = {"raw", "parsed", "parsing_error"}
"""What `with_structured_output(include_raw=True)` returns; a user's Runnable may end in it."""


def perform(call: Call, seconds: float) -> Outcome:
    """Make a call and wait for it at most `seconds`.

    Raises:
        Exception: what no server or tool can cause passes through: LangGraph's control flow, a failed assertion.
    """
    if seconds <= 0:
        return _too_late(call, seconds)
    done = _in_thread(call)
    wait([done], timeout=seconds)
    if not done.done():
        return _too_late(call, seconds)
    error = done.exception()
    return _returned(call, done.result()) if error is None else _raised(call, error)


async def aperform(call: Call, seconds: float) -> Outcome:
    """Make a call like `perform`, cancelling it when `seconds` are over."""
    if seconds <= 0:
        return _too_late(call, seconds)
    try:
        async with asyncio.timeout(seconds) as limit:
            returned = await _awaitable(call)
    except TimeoutError as error:
        return _too_late(call, seconds) if limit.expired() else _raised(call, error)
    except Exception as error:  # noqa: BLE001 - the boundary to code that is not ours: see the module's text
        return _raised(call, error)
    return _returned(call, returned)


async def _awaitable(call: Call) -> Any:
    if isinstance(call.target, Runnable):
        return await call.target.ainvoke(call.request)
    if inspect.iscoroutinefunction(call.target):
        return await call.target(call.request)
    return await asyncio.wrap_future(_in_thread(call))


def _in_thread(call: Call) -> Future[Any]:
    done: Future[Any] = Future()
    Thread(target=copy_context().run, args=(_fulfil, done, call), daemon=True, name="guardgraph-call").start()
    return done


def _fulfil(done: Future[Any], call: Call) -> None:
    try:
        done.set_result(_invoke(call))
    except BaseException as error:  # noqa: BLE001 - nothing may be lost in a thread; the waiting side judges it
        done.set_exception(error)


def _invoke(call: Call) -> Any:
    if isinstance(call.target, Runnable):
        return call.target.invoke(call.request)
    returned = call.target(call.request)
    return asyncio.run(_result_of(returned)) if inspect.iscoroutine(returned) else returned


async def _result_of(coroutine: Coroutine[Any, Any, Any]) -> Any:
    return await coroutine


def _returned(call: Call, returned: Any) -> Outcome:
    if isinstance(returned, dict) and returned.keys() == _RAW_RESULT:
        returned = returned["raw"]
    if isinstance(returned, BaseMessage):
        return _message(call, returned)
    if isinstance(returned, BaseModel):
        returned = returned.model_dump(mode="python")
    return Outcome("value", returned, call.about)


def _message(call: Call, message: BaseMessage) -> Outcome:
    usage = usage_of(message)
    about = {**call.about, "usage": usage} if usage else call.about
    failure = message_failure(message)
    if failure is not None:
        return _failure(*failure, about)
    return Outcome("text", message_text(message), about)


def _raised(call: Call, error: BaseException) -> Outcome:
    failure = model_failure(error)
    if failure is None:  # no server or tool can cause it: control flow, a failed assertion, a full machine
        raise error
    reason, details = failure
    if call.kind == "tool":
        return _failure("tool_error", {key: details[key] for key in ("type", "message")}, call.about)
    limit = {"limit": "model"} if details.get("cause") == "timeout" else {}
    return _failure(reason, {**details, **limit}, call.about)


def _too_late(call: Call, seconds: float) -> Outcome:
    reason = "max_seconds" if call.kind == "tool" else "llm_timeout"
    details = {"cause": "timeout", "limit": "max_seconds", "seconds": round(max(seconds, 0.0), 3)}
    return _failure(reason, details, call.about)


def _failure(reason: str, details: Any, about: Any) -> Outcome:
    return Outcome("failure", {"reason": reason, "details": details}, about)
