"""Who proposes: a user's own Runnable, a chat model with one of our prompts, or the offline rules."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any, TypeAlias

from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.messages.ai import add_usage
from langchain_core.runnables import Runnable, RunnableConfig

from guardgraph.plain.errors import ConfigurationError
from guardgraph.plain.json import JsonObject
from guardgraph.plain.log import log_notice
from guardgraph.state.settings import Budget
from guardgraph.world import chat_models, failures
from guardgraph.world.call import Call, Outside, is_said_of_target
from guardgraph.world.deadline import deadline, get_reply_meter, output_tokens
from guardgraph.world.named_models import FORMS, NamedModel, prepare_chat_model, read_structured_output_form
from guardgraph.world.prompts import (
    Prompt,
    add_prompt_instructions,
    get_again_prompt_name,
    load_prompt,
    validate_instructions,
)

Asking: TypeAlias = Generator[tuple[Runnable[Any, Any], list[BaseMessage]], Any, BaseMessage]
"""Yields what is asked and with which messages, is sent what it returned, and returns the reply."""


_known_forms: dict[str, str] = {}  # by whom a model asks: the form that it took when it refused another one
_known_to_call: dict[str, bool] = {}
"""By whom a model asks: whether it calls tools in its provider's own form, once that is known."""


class ModelProposer(Runnable[JsonObject, BaseMessage]):
    """Asks a model for a proposal and returns its message unread: what it is worth, a guard decides."""

    def __init__(
        self,
        model: chat_models.ChatModel | NamedModel,
        prompt: Prompt,
        *,
        show: Callable[[JsonObject], JsonObject] = lambda view: view,
    ) -> None:
        self.name = chat_models.get_model_name(model)
        self.prompt, self._show, self._named = prompt, show, model
        self._model: chat_models.ChatModel | None = None

    def open(self) -> chat_models.ChatModel:
        """Return the model that is asked; the first live run of a graph opens it before anything else."""
        if self._model is None:
            self._model = self._named.open() if isinstance(self._named, NamedModel) else self._named
        return self._model

    @property
    def provider(self) -> str:
        """Whose model it asks, as OpenTelemetry's conventions name providers."""
        return chat_models.get_provider_name(self._named if self._model is None else self._model)

    def list_sent_texts(self, view: JsonObject) -> list[str]:
        """Return what the model is sent for a view: the texts of its messages, and the schema."""
        shown = self._show(view)
        return [*(text for _, text in self.prompt.write_turns(shown)), json.dumps(self.prompt.fit(shown))]

    def on_model(self, model: chat_models.ChatModel | NamedModel) -> ModelProposer:
        """Return what asks another model for the same, in the same words."""
        return ModelProposer(model, self.prompt, show=self._show)

    def __repr__(self) -> str:
        return f"<ModelProposer {self.prompt.name} {self.prompt.hash} on {self.name}>"

    def invoke(self, input: JsonObject, config: RunnableConfig | None = None, **kwargs: Any) -> BaseMessage:
        """Show the view to the model and return its message."""
        asking = self._ask_in_forms(self._show(input))
        go_on = partial(next, asking)
        try:
            while True:
                held, messages = go_on()
                try:
                    limits = chat_models.list_call_limits(self.open(), deadline())
                    go_on = partial(asking.send, held.invoke(messages, config, **limits, **kwargs))
                except Exception as error:  # noqa: BLE001 - it goes on or is raised there
                    go_on = partial(asking.throw, error)
        except StopIteration as done:
            message: BaseMessage = done.value
            return message

    async def ainvoke(self, input: JsonObject, config: RunnableConfig | None = None, **kwargs: Any) -> BaseMessage:
        """Show the view to the model and return its message, like `invoke`."""
        asking = self._ask_in_forms(self._show(input))
        go_on = partial(next, asking)
        try:
            while True:
                held, messages = go_on()
                try:
                    go_on = partial(asking.send, await held.ainvoke(messages, config, **kwargs))
                except Exception as error:  # noqa: BLE001 - it goes on or is raised there
                    go_on = partial(asking.throw, error)
        except StopIteration as done:
            message: BaseMessage = done.value
            return message

    @cached_property
    def _asks(self) -> str:
        """Whom it asks, as far as that decides which forms there are."""
        model = self.open()
        return f"{chat_models.get_provider_name(model)} {self.name} {chat_models.find_base_url(model)}"

    def _list_forms(self, view: JsonObject) -> tuple[str, ...]:
        """Return the forms in which the model is asked, the next where it refuses one."""
        given = self._named.form if isinstance(self._named, NamedModel) else None
        if not isinstance(self._named, NamedModel) and self.provider == "openai":
            given = read_structured_output_form(os.environ)
        if given is not None:
            return (given,)
        known = _known_forms.get(self._asks)
        forms = FORMS if known is None else (known,)
        may_call = self.prompt.as_calls is not None and _known_to_call.get(self._asks) is not False
        calls = may_call and chat_models.can_call_tools(self.open(), view["tools"])
        return (chat_models.CALLS, *forms) if calls else forms

    def _ask_in_forms(self, view: JsonObject) -> Asking:
        """Yield in turn what is asked and with which messages, until a form brings a reply, which is returned."""
        forms = self._list_forms(view)
        without_call: BaseMessage | None = None
        for form in forms:
            try:
                returned = yield from self._ask_until_heard(*self._prepare_ask(view, form))
            except Exception as error:
                if (returned := failures.find_cut_off_message(error)) is None:
                    if form == forms[-1] or not failures.is_form_refused(error):
                        failures.name_refused_setting(error, form)
                        raise
                    continue
            message: BaseMessage = returned["raw"] if isinstance(returned, dict) else returned
            if form == chat_models.CALLS and _is_prose(message) and not _known_to_call.get(self._asks):
                without_call = message  # it has no need of tools, or its template has dropped them
                continue
            return self._take_reply(message, form, without_call)
        raise AssertionError("no form is left")

    def _ask_until_heard(self, held: Runnable[Any, Any], messages: list[BaseMessage]) -> Generator[Any, Any, Any]:
        """Ask, and once more for a whole reply where a stream brought nothing: as with other forms, it is one call."""
        try:
            return (yield held, messages)
        except Exception as error:
            if not failures.has_dropped_reply(error):
                raise
            dropped = error
        try:
            return (yield held.bind(stream=False), messages)
        except TypeError as error:
            if failures.is_unclassified_model_error(error):
                raise dropped from error  # the model's class knows no such argument
            raise

    def _prepare_ask(self, view: JsonObject, form: str) -> tuple[Runnable[Any, Any], list[BaseMessage]]:
        tokens = output_tokens()
        default = self.prompt.count_output_tokens(view) if tokens is None else None
        model = chat_models.limit_model_output(self.open(), tokens, default)
        if form == chat_models.CALLS and self.prompt.as_calls is not None:
            fitted = self.prompt.fit({**view, "tools": []})
            messages = self.prompt.as_calls.write_messages(view)
            return chat_models.hold_model_to_calls(model, view["tools"], fitted), messages
        told = self.prompt.as_text if form == "none" and self.prompt.as_text is not None else self.prompt
        return chat_models.hold_model_to_schema(model, self.prompt.fit(view), form), told.write_messages(view)

    def _take_reply(self, message: BaseMessage, form: str, without_call: BaseMessage | None) -> BaseMessage:
        if form == chat_models.CALLS:
            if getattr(message, "tool_calls", None):
                _known_to_call[self._asks] = True
            get_reply_meter().form = chat_models.CALLS
        elif form != "schema":
            if self._asks not in _known_forms:
                log_notice(f"{self.name} is asked without a JSON schema (OPENAI_STRUCTURED_OUTPUT={form})")
            _known_forms[self._asks] = form
            get_reply_meter().form = "text" if form == "none" and self.prompt.as_text is not None else form
        if without_call is not None:
            get_reply_meter().form = form
            if isinstance(message, AIMessage) and isinstance(without_call, AIMessage):
                usage = add_usage(message.usage_metadata, without_call.usage_metadata)
                message = message.model_copy(update={"usage_metadata": usage})
            if '"tool"' in str(message.content):
                _known_to_call[self._asks] = False
                log_notice(f"{self.name} does not call the tools that it is given, and is asked for calls as {form}")
        return _write_native_calls(message, form) if self.prompt.as_calls is not None else message


def _is_prose(message: BaseMessage) -> bool:
    """Say whether a model that was given tools called none, and wrote no proposal in its text either."""
    calls = getattr(message, "tool_calls", None) or getattr(message, "invalid_tool_calls", None)
    return not calls and "{" not in str(message.content) and failures.classify_model_message(message) is None


def _write_native_calls(message: BaseMessage, form: str) -> BaseMessage:
    """Return a message that calls tools by the provider's own form as one whose text proposes these calls."""
    if not isinstance(message, AIMessage) or failures.classify_model_message(message) is not None:
        return message
    calls: list[tuple[str, Any]] = [(call["name"], call["args"]) for call in message.tool_calls]
    calls += [(call["name"] or "", call["args"]) for call in message.invalid_tool_calls]
    text = failures.read_model_text(message.model_copy(update={"tool_calls": [], "invalid_tool_calls": []}))
    step: JsonObject
    if any(isinstance(args, dict) and "calls" in args for _, args in calls):
        return message  # it is the whole proposal, as a tool call
    if made := [{"tool": name, "args": args} for name, args in calls if name != chat_models.FINAL_ANSWER]:
        step = {"calls": made, **({"plan": text} if text.strip() else {})}
    elif calls and isinstance(told := calls[0][1], dict):
        step = {"calls": [], **told}
    elif form == chat_models.CALLS and text.strip() and "{" not in text:
        step = {"calls": [], "answer": text}
    else:
        return message
    said = {"content": json.dumps(step, ensure_ascii=False), "tool_calls": [], "invalid_tool_calls": []}
    return message.model_copy(update=said)


OFFLINE = "offline"  # what history calls the proposers that need no model
RULES = "rules"  # given in a proposer's place: the offline rule, whatever model the others have


@dataclass(frozen=True, slots=True)
class Proposer:
    """Whom a propose node asks, and what history says of it."""

    target: Outside
    about: JsonObject
    is_told_limits: bool = False
    """Whether it is shown the run's limits, as the offline rules are; a model is told them in its prompt."""

    def call(self, view: JsonObject, **limits: int) -> Call:
        """Return the call that shows a view to the proposer, and limits of the run to one that is told them."""
        shown = {**view, **limits} if self.is_told_limits else view
        return Call("proposer", self.target, shown, self.about)


def get_call_target(called: Proposer | Outside) -> Outside:
    """Return whom a call asks that is made to a proposer, or to a Runnable or function itself."""
    return called.target if isinstance(called, Proposer) else called


def can_be_asked_again(target: Outside | str | None) -> bool:
    """Say whether somebody may propose something else when asked again: models may, rules say the same."""
    is_model = isinstance(target, ModelProposer) or (isinstance(target, Runnable) and chat_models.is_chat_model(target))
    return is_model or is_said_of_target(target, "asked_again")


def tell_call_refusal(call: Call, refused: JsonObject) -> Call:
    """Return the call that asks a proposer again: it is shown what was refused beside what it was shown before."""
    prompt = call.about.get("prompt")
    told = {"prompt": f"{prompt}+{get_again_prompt_name()}"} if isinstance(prompt, str) else {}
    return replace(call, request={**call.request, "refused": refused}, about={**call.about, **told})


def choose_proposer(
    slot: str,
    own: Outside | str | None,
    model: chat_models.ChatModel | str | None,
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
