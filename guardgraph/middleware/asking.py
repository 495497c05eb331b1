"""How a middleware asks a model: what it writes reaches nobody before it is judged, and it may be asked again.

LangGraph and LangChain hand the pieces of a reply to handlers of streams while it is written. So a model is asked
without these handlers; what is accepted is streamed as the message that the node returns.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Generator
from contextvars import Context, ContextVar, copy_context
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple, TypeAlias

from langchain.agents.middleware.types import ExtendedModelResponse, ModelRequest, ModelResponse
from langchain_core.callbacks import BaseCallbackManager
from langchain_core.messages import AIMessage, SystemMessage
from langchain_core.runnables.config import var_child_runnable_config
from langchain_core.tracers._streaming import _StreamingCallbackHandler
from langgraph.types import Command

from guardgraph.graphs.running.node import aperform_driven_node, perform_driven_node
from guardgraph.guards.stop import Stop
from guardgraph.middleware.agent_state import is_stop_message, merge_ending
from guardgraph.middleware.tool_results import read_update
from guardgraph.plain.errors import ConfigurationError
from guardgraph.plain.json import JsonObject

MOST_TOLD: Final = 4000  # characters of a proposal, and of the evidence against it, that a model is told


Reply: TypeAlias = ExtendedModelResponse[Any] | ModelResponse[Any]
Asking: TypeAlias = Generator[tuple[ModelRequest[Any], Stop | None], ModelResponse[Any], Reply]
"""Yields what a model is to be asked, and for which refusal it is asked again; is sent its reply, and returns what the
node is to return."""


@dataclass
class Tally:
    """What guards write of one step of a run, what it used, and what they refused; the outermost one returns it."""

    # LangChain forgets what an inner middleware writes for a reply that an outer one refuses, and streams what several
    # write as several updates of one node.
    run: str
    usage: dict[str, int] = field(default_factory=dict)
    attempts: list[JsonObject] = field(default_factory=list)
    update: JsonObject = field(default_factory=dict)  # what the guards inside write of the reply that came

    def count(self, message: AIMessage) -> None:
        """Count one call of a model and its tokens, as far as the model tells."""
        told: Any = message.usage_metadata or {}
        tokens = {name: told.get(name) for name in ("input_tokens", "output_tokens")}
        for name, count in {**tokens, "model_calls": 1}.items():
            if isinstance(count, int):
                self.usage[name] = self.usage.get(name, 0) + count

    def write(self, came: Reply, *, is_outermost: bool) -> Reply:
        """Return a reply; the outermost guard with what all of them write, and what was counted."""
        response = came.model_response if isinstance(came, ExtendedModelResponse) else came
        command = came.command if isinstance(came, ExtendedModelResponse) else None
        update = {} if command is None else read_update(command)
        ending = update.get("guardgraph", {})
        if ending and (before := self.update.get("guardgraph")):
            ending = merge_ending(before, ending)
        self.update |= {**update, **({"guardgraph": ending} if ending else {})}
        if not is_outermost:
            return response
        if self.usage:
            told = {"usage": self.usage, **({"attempts": self.attempts} if self.attempts else {})}
            self.update["guardgraph"] = {"run": self.run, **self.update.get("guardgraph", {}), **told}
        return ExtendedModelResponse(response, Command(update=self.update)) if self.update else response


class GuardsAround(NamedTuple):
    """What a model is asked by: the guards around it, the outermost first."""

    guards: tuple[Any, ...] = ()
    tally: Tally | None = None


asked_by: ContextVar[GuardsAround] = ContextVar("asked_by", default=GuardsAround())  # noqa: B039 - a tuple
is_recorded: ContextVar[bool] = ContextVar("is_recorded", default=False)
"""Whether `RecordedRun` stands around what runs."""


def check_max_attempts(given: object) -> None:
    """Check how often a model may be asked for one step."""
    if isinstance(given, bool) or not isinstance(given, int) or given < 1:
        raise ConfigurationError(f"max_attempts: a whole number from 1 is required; given: {given!r:.80}")


Doing: TypeAlias = Generator[Any, Any, Any]
"""A step of a middleware, for sync and async: it yields what is to be done, and is sent back what came of it."""
NOBODY: Final[Any] = None  # in the place of a world: a middleware makes no calls of its own


@dataclass(frozen=True)
class AgentStep:
    """What the agent itself does: it asks its model, or calls a tool."""

    handler: Callable[[Any], Any]
    request: Any
    context: Context | None = None  # in which it does so; None for the one around

    def meet(self) -> Any:
        """Do it."""
        return self.handler(self.request) if self.context is None else self.context.run(self.handler, self.request)

    async def ameet(self) -> Any:
        """Do it without blocking."""
        if self.context is None:
            return await self.handler(self.request)
        return await asyncio.create_task(AgentStep(self.handler, self.request).ameet(), context=self.context)


def ask_model(guard: object, run: str, steps: Asking, handler: Callable[[ModelRequest[Any]], Any]) -> Any:
    """Go through the steps of an asking; see `Asking`."""
    return perform_driven_node(_ask_in_steps(guard, run, steps, handler), NOBODY)


async def aask_model(guard: object, run: str, steps: Asking, handler: Callable[[ModelRequest[Any]], Any]) -> Any:
    """Go through the steps of an asking without blocking; see `Asking`."""
    return await aperform_driven_node(_ask_in_steps(guard, run, steps, handler), NOBODY)


def _ask_in_steps(guard: object, run: str, steps: Asking, handler: Callable[[ModelRequest[Any]], Any]) -> Doing:
    around, tally, is_outermost = _enter(guard, run)
    response: Any = None
    while True:
        try:
            request, refused = steps.send(response)
        except StopIteration as done:
            return tally.write(done.value, is_outermost=is_outermost)
        before = _note_asking(tally, refused)
        response = yield AgentStep(handler, request, _make_silent_context(around))
        _note_reply(tally, before, response)


def _enter(guard: object, run: str) -> tuple[GuardsAround, Tally, bool]:
    """Return what stands around a model, what is counted of its step, and whether this guard is the outermost of it."""
    if is_recorded.get():
        name = type(guard).__name__
        raise ConfigurationError(f"middleware: RecordedRun behind {name} is required; given: in front of it")
    guards, tally = asked_by.get()
    is_outermost = tally is None or tally.run != run  # of another run is an agent that works inside a model
    tally = Tally(run) if tally is None or is_outermost else tally
    return GuardsAround((*guards, guard), tally), tally, is_outermost


def _note_asking(tally: Tally, refused: Stop | None) -> int:
    """Note for what a model is asked again; return how often it was asked before."""
    tally.update = {}
    if refused is not None:
        tally.attempts.append({"reason": refused.reason, "evidence": refused.evidence})
    return tally.usage.get("model_calls", 0)


def _note_reply(tally: Tally, before: int, response: ModelResponse[Any]) -> None:
    message = next(each for each in reversed(response.result) if isinstance(each, AIMessage))
    if tally.usage.get("model_calls", 0) == before and not is_stop_message(message):
        tally.count(message)


def _make_silent_context(around: GuardsAround) -> Context:
    """Return a context like this one whose callbacks stream nothing; those that trace and count stay."""
    context, config = copy_context(), var_child_runnable_config.get()
    context.run(asked_by.set, around)
    callbacks = (config or {}).get("callbacks")
    if isinstance(callbacks, BaseCallbackManager):
        quiet = callbacks.copy()
        for handler in {*quiet.handlers, *quiet.inheritable_handlers}:
            if isinstance(handler, _StreamingCallbackHandler):
                quiet.remove_handler(handler)
        context.run(var_child_runnable_config.set, {**(config or {}), "callbacks": quiet})
    return context


def tell_refusal(request: ModelRequest[Any], proposed: str, told: str) -> ModelRequest[Any]:
    """Return a request that tells a model, in the system's words, what of its proposal was refused."""
    before = request.system_message.text if request.system_message is not None else ""
    said = f"You proposed this in reply to the messages below:\n{proposed}\n\n{told}\nReply once more."
    return request.override(system_message=SystemMessage("\n\n".join(filter(None, (before, said)))))
