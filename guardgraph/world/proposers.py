"""Who proposes: a user's own Runnable, a chat model with one of our prompts, or the offline rules."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from langchain_core.runnables import Runnable

from guardgraph.plain.errors import ConfigurationError
from guardgraph.plain.json import JsonObject
from guardgraph.state.settings import Budget
from guardgraph.world.call import Call, Outside, is_said_of_target
from guardgraph.world.models import ModelProposer, prepare_chat_model
from guardgraph.world.prompts import (
    Prompt,
    add_prompt_instructions,
    get_again_prompt_name,
    load_prompt,
    validate_instructions,
)
from guardgraph.world.wrapped import ChatModel, is_chat_model

OFFLINE = "offline"  # what history calls the proposers that need no model

RULES = "rules"
"""Given in a proposer's place: the offline rule, whatever model the others have."""


@dataclass(frozen=True, slots=True)
class Proposer:
    """Whom a propose node asks, and what history says of it."""

    target: Outside
    about: JsonObject
    is_told_limits: bool = False
    """Whether it is shown the run's limits, as the offline rules are; a model is told them in its prompt."""

    def call(self, view: JsonObject, **limits: int) -> Call:
        """Return the call that shows `view` to the proposer.

        Args:
            view: what every proposer is shown.
            limits: limits of the run.
        """
        shown = {**view, **limits} if self.is_told_limits else view
        return Call("proposer", self.target, shown, self.about)


def get_call_target(called: Proposer | Outside) -> Outside:
    """Return whom a call asks that is made to a proposer, or to a Runnable or function itself."""
    return called.target if isinstance(called, Proposer) else called


def can_be_asked_again(target: Outside | str | None) -> bool:
    """Say whether somebody may propose something else when asked again: models may, rules say the same."""
    is_model = isinstance(target, ModelProposer) or (isinstance(target, Runnable) and is_chat_model(target))
    return is_model or is_said_of_target(target, "asked_again")


def tell_call_refusal(call: Call, refused: JsonObject) -> Call:
    """Return the call that asks a proposer again: it is shown what was refused beside what it was shown before."""
    prompt = call.about.get("prompt")
    told = {"prompt": f"{prompt}+{get_again_prompt_name()}"} if isinstance(prompt, str) else {}
    return replace(call, request={**call.request, "refused": refused}, about={**call.about, **told})


def choose_proposer(
    slot: str,
    own: Outside | str | None,
    model: ChatModel | str | None,
    *,
    prompt: str | Prompt,
    offline: Callable[[JsonObject], JsonObject],
    budget: Budget | None = None,
    instructions: str | None = None,
    prompts: Mapping[str, str] | None = None,
) -> Proposer:
    """Return the proposer of one slot: the user's own, else the model's, else the offline one.

    Args:
        slot: the factory's argument, for errors.
        own: a Runnable or a function of one dictionary, ``"rules"`` for the offline rule, or None.
        model: the chat model, plain or wrapped, its name (``"openai"``, ``"openai:NAME"``, ``"PROVIDER:NAME"``: it is
            opened when a live run begins), or None.
        prompt: what a model is told: a prompt of your own, or the name of one of ours.
        offline: the rule for no model.
        budget: the deployment's limits, which our prompts tell the model.
        instructions: of the application, which a model is told behind the prompt; nobody else is.
        prompts: the application's own in place of ours, by name.

    Raises:
        ConfigurationError: `own` cannot be called, there is no such model, or the instructions are no text, blank or
            too long.
    """
    named = None if model is None else prepare_chat_model(model)
    beside = validate_instructions(instructions)
    if own == RULES:
        named = None
    elif own is not None:
        target = validate_call_target(slot, own)
        return Proposer(target, {"proposer": name_call_target(target)})
    if named is None:
        return Proposer(offline, {"proposer": OFFLINE}, is_told_limits=True)
    told = load_prompt(prompt, dict(budget or ()), prompts) if isinstance(prompt, str) else prompt
    told = told if beside is None else add_prompt_instructions(told, beside)
    asked = ModelProposer(named, told)
    return Proposer(asked, {"proposer": asked.get_name(), "prompt": f"{told.name}@{told.hash}"})


def name_call_target(target: Outside) -> str:
    """Return what history calls a Runnable or a function."""
    name = target.get_name() if isinstance(target, Runnable) else getattr(target, "__name__", type(target).__name__)
    return str(name)


def validate_call_target(slot: str, given: object) -> Outside:
    """Return something that can be called with one dictionary."""
    if isinstance(given, Runnable) or callable(given):
        return given
    said = repr(given)[:80] if isinstance(given, str) else type(given).__name__
    raise ConfigurationError(f"{slot}: a Runnable or a function of one dictionary; given: {said}")
