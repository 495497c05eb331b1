"""How a middleware asks a model: what it writes reaches nobody before it is judged, and it may be asked again.

LangGraph and LangChain hand the pieces of a reply to handlers of streams while it is written. So a model is asked
without these handlers; what is accepted is streamed as the message that the node returns.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Generator
from contextvars import Context, ContextVar, copy_context
from typing import Any, Final, NamedTuple, TypeAlias

from langchain.agents.middleware.types import ExtendedModelResponse, ModelRequest, ModelResponse
from langchain_core.callbacks import BaseCallbackManager
from langchain_core.messages import SystemMessage
from langchain_core.runnables.config import var_child_runnable_config
from langchain_core.tracers._streaming import _StreamingCallbackHandler

from guardgraph.plain.errors import ConfigurationError

MOST_TOLD: Final = 4000
"""Characters of a proposal, and of the evidence against it, that a model is told."""


class Reply(NamedTuple):
    """What came of asking a model."""

    response: ModelResponse[Any]
    is_counted: bool
    """Whether a middleware inside this one has counted what was used."""


Asking: TypeAlias = Generator[ModelRequest[Any], Reply, ExtendedModelResponse[Any] | ModelResponse[Any]]
"""Yields what a model is to be asked, is sent its reply, and returns what the node is to return."""


class Around(NamedTuple):
    """What a model is asked by: the guards around it, the outermost first."""

    guards: tuple[Any, ...] = ()
    inside: list[None] | None = None
    """Where a middleware notes that it asks the model for the one around it."""


asked_by: ContextVar[Around] = ContextVar("asked_by", default=Around())  # noqa: B039 - a tuple
is_recorded: ContextVar[bool] = ContextVar("is_recorded", default=False)
"""Whether `RecordedRun` stands around what runs."""


def ask_model(guard: object, steps: Asking, handler: Callable[[ModelRequest[Any]], ModelResponse[Any]]) -> Any:
    """Go through the steps of an asking; see `Asking`."""
    around = _enter(guard)
    try:
        request = next(steps)
        while True:
            context, inside = _make_silent_context(around)
            request = steps.send(Reply(context.run(handler, request), bool(inside)))
    except StopIteration as done:
        return done.value


async def aask_model(
    guard: object, steps: Asking, handler: Callable[[ModelRequest[Any]], Awaitable[ModelResponse[Any]]]
) -> Any:
    """Go through the steps of an asking without blocking; see `Asking`."""

    async def ask(request: ModelRequest[Any]) -> ModelResponse[Any]:
        return await handler(request)

    around = _enter(guard)
    try:
        request = next(steps)
        while True:
            context, inside = _make_silent_context(around)
            response = await asyncio.create_task(ask(request), context=context)
            request = steps.send(Reply(response, bool(inside)))
    except StopIteration as done:
        return done.value


def _enter(guard: object) -> Around:
    if is_recorded.get():
        name = type(guard).__name__
        raise ConfigurationError(f"middleware: RecordedRun behind {name} is required; given: in front of it")
    around = asked_by.get()
    if around.inside is not None:
        around.inside.append(None)
    return Around((*around.guards, guard))


def _make_silent_context(around: Around) -> tuple[Context, list[None]]:
    """Return a context like this one whose callbacks stream nothing, and where a middleware in it notes that it asks.

    Callbacks that trace and count stay.
    """
    context, config, inside = copy_context(), var_child_runnable_config.get(), list[None]()
    context.run(asked_by.set, around._replace(inside=inside))
    callbacks = (config or {}).get("callbacks")
    if isinstance(callbacks, BaseCallbackManager):
        quiet = callbacks.copy()
        for handler in {*quiet.handlers, *quiet.inheritable_handlers}:
            if isinstance(handler, _StreamingCallbackHandler):
                quiet.remove_handler(handler)
        context.run(var_child_runnable_config.set, {**(config or {}), "callbacks": quiet})
    return context, inside


def tell_refusal(request: ModelRequest[Any], proposed: str, told: str) -> ModelRequest[Any]:
    """Return a request that tells a model why its proposal was refused, in the system's words and not as a user's turn.

    Args:
        request: what it was asked.
        proposed: what it wrote.
        told: what was refused, and what may be done.
    """
    before = request.system_message.text if request.system_message is not None else ""
    said = f"You proposed this in reply to the messages below:\n{proposed}\n\n{told}\nReply once more."
    return request.override(system_message=SystemMessage("\n\n".join(filter(None, (before, said)))))
