"""Who proposes: a user's own Runnable, a chat model with one of our prompts, or the offline rules."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from langchain_core.runnables import Runnable

from guardgraph.plain.errors import ConfigurationError
from guardgraph.plain.json import JsonObject
from guardgraph.state.settings import Budget
from guardgraph.world.call import Call, Outside
from guardgraph.world.models import ModelProposer, Prompt, get_again_prompt_name, load_prompt, prepare_chat_model
from guardgraph.world.wrapped import ChatModel, is_chat_model

OFFLINE = "offline"
"""What history calls the proposers that need no model."""


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


def can_be_asked_again(target: Outside | None) -> bool:
    """Say whether somebody may propose something else when asked again: models may, rules say the same.

    A function or Runnable says it by an attribute ``asked_again = True``, a Runnable of LangChain's also by
    ``with_config(metadata={"asked_again": True})``.
    """
    if isinstance(target, ModelProposer) or is_chat_model(target):
        return True
    config = getattr(target, "config", None)
    metadata = config.get("metadata") if isinstance(config, Mapping) else None
    said = metadata.get("asked_again") if isinstance(metadata, Mapping) else None
    return getattr(target, "asked_again", said) is True


def tell_call_refusal(call: Call, refused: JsonObject) -> Call:
    """Return the call that asks a proposer again: it is shown what was refused beside what it was shown before.

    Args:
        call: as the node makes it.
        refused: the reason, the evidence in short, and the attempt.
    """
    prompt = call.about.get("prompt")
    told = {"prompt": f"{prompt}+{get_again_prompt_name()}"} if isinstance(prompt, str) else {}
    return replace(call, request={**call.request, "refused": refused}, about={**call.about, **told})


def choose_proposer(
    slot: str,
    own: Outside | None,
    model: ChatModel | str | None,
    *,
    prompt: str | Prompt,
    offline: Callable[[JsonObject], JsonObject],
    budget: Budget | None = None,
) -> Proposer:
    """Return the proposer of one slot: the user's own, else the model's, else the offline one.

    Args:
        slot: the factory's argument, for errors.
        own: a Runnable or a function of one dictionary, or None.
        model: the chat model, plain or wrapped, its name (``"openai"``, ``"openai:NAME"``, ``"PROVIDER:NAME"``: it is
            opened when a live run begins), or None.
        prompt: what a model is told: a prompt of your own, or the name of one of ours.
        offline: the rule for no model.
        budget: the deployment's limits, which our prompts tell the model.

    Raises:
        ConfigurationError: `own` cannot be called, or there is no such model.
    """
    named = None if model is None else prepare_chat_model(model)
    if own is not None:
        target = validate_call_target(slot, own)
        name = target.get_name() if isinstance(target, Runnable) else getattr(target, "__name__", type(target).__name__)
        return Proposer(target, {"proposer": str(name)})
    if named is None:
        return Proposer(offline, {"proposer": OFFLINE}, is_told_limits=True)
    told = load_prompt(prompt, dict(budget or ())) if isinstance(prompt, str) else prompt
    asked = ModelProposer(named, told)
    return Proposer(asked, {"proposer": asked.get_name(), "prompt": f"{told.name}@{told.hash}"})


def validate_call_target(slot: str, given: object) -> Outside:
    """Return something that can be called with one dictionary.

    Raises:
        ConfigurationError: it is neither a Runnable nor a function.
    """
    if isinstance(given, Runnable) or callable(given):
        return given
    raise ConfigurationError(f"{slot}: a Runnable or a function of one dictionary; given: {type(given).__name__}")
