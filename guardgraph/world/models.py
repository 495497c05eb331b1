"""From a chat model and a prompt to a proposer. A client is imported only when a model is opened.

Models of other providers than OpenAI are named as LangChain's ``init_chat_model`` names them.
"""

from __future__ import annotations

import json
import os
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.runnables import Runnable, RunnableConfig
from pydantic import ValidationError

from guardgraph.plain.errors import ConfigurationError
from guardgraph.plain.json import JsonObject
from guardgraph.plain.log import log_notice
from guardgraph.world.deadline import note_reply_form, output_tokens
from guardgraph.world.failures import is_form_refused, name_refused_setting
from guardgraph.world.openai import (
    DEFAULT_TIMEOUT_SECONDS,
    FORMS,
    create_openai_chat_model,
    get_default_openai_model,
    make_model_setting_error,
    read_structured_output_form,
)
from guardgraph.world.prompts import Prompt
from guardgraph.world.wrapped import (
    ChatModel,
    find_base_url,
    get_model_name,
    get_provider_name,
    hold_model_to_schema,
    is_chat_model,
    limit_model_output,
)

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel
    from pydantic_core import ErrorDetails

MESSAGE_LIMIT = 500
"""Characters of an error of LangChain's or a provider's that ours repeats."""

_SETTINGS: dict[str, Any] = {
    "temperature": 0,
    "timeout": DEFAULT_TIMEOUT_SECONDS,
    "max_retries": 0,  # retries belong to one layer, and that is not the client
    "disable_streaming": True,  # a proposal is judged whole
}
"""What every model is asked with, by LangChain's own names; a class that refuses a name is made without it."""


def create_provider_chat_model(provider: str, name: str) -> BaseChatModel:
    """Return a provider's chat model, which reads the provider's variables in the environment."""
    try:
        from langchain.chat_models import init_chat_model
    except ImportError:
        raise ConfigurationError(
            f"model: {f'{provider}:{name}'!r:.80} needs langchain, which is not installed; install langchain and the "
            "provider's package, such as langchain-anthropic"
        ) from None
    try:
        return _init_provider_model(partial(init_chat_model, name, model_provider=provider), _SETTINGS)
    except ValidationError as error:
        raise _make_unusable_model_error(
            provider, name, "; ".join(map(_format_provider_error, error.errors()))
        ) from None
    except Exception as error:  # noqa: BLE001 - any package's class is made here, and may raise what it likes
        raise _make_unusable_model_error(provider, name, str(error) or type(error).__name__) from None


def _init_provider_model(init: Callable[..., Any], settings: dict[str, Any]) -> BaseChatModel:
    try:
        model: BaseChatModel = init(**settings)
    except ValidationError as error:
        refused = {str(item["loc"][0]) for item in error.errors() if item["type"] == "extra_forbidden"}
        if not refused & settings.keys():
            raise
        return _init_provider_model(init, {key: value for key, value in settings.items() if key not in refused})
    return model


def _format_provider_error(error: ErrorDetails) -> str:
    return f"{'.'.join(map(str, error['loc']))}: {error['msg']}"  # without the input, which may be a key


def _make_unusable_model_error(provider: str, name: str, why: str) -> ConfigurationError:
    said = " ".join(why.split())[:MESSAGE_LIMIT]
    return ConfigurationError(f"model: {f'{provider}:{name}'!r:.80} cannot be used: {said}")


MODELS = 'a chat model (plain, by with_retry, with_fallbacks, bind or configurable_fields), "openai" or "PROVIDER:NAME"'

_PROVIDER = re.compile(r"[a-z][a-z0-9_-]*")


def chat_model(model: ChatModel | str, *, environ: Mapping[str, str] | None = None) -> ChatModel:
    """Return the chat model that a user names.

    Args:
        model: a chat model, plain or wrapped, returned as it is; ``"openai"`` (the one in ``OPENAI_MODEL``);
            ``"openai:NAME"``; ``"PROVIDER:NAME"`` as LangChain's ``init_chat_model`` has it, where ``langchain`` and
            the provider's package are installed.
        environ: where ``OPENAI_API_KEY``, ``OPENAI_MODEL`` (default gpt-4.1-mini), ``OPENAI_BASE_URL``,
            ``OPENAI_TIMEOUT_SECONDS`` (default 60) and ``OPENAI_STRUCTURED_OUTPUT`` (see `FORMS`; found out where it is
            blank) are read; the process's environment when None. A blank value counts as absent. Other providers read
            their variables in the process's environment.

    Returns:
        For a string, a model with temperature 0, a timeout, no retries and no streaming.

    Raises:
        ConfigurationError: the model or a variable is wrong, or a package is missing; the message never repeats a key.
    """
    named = prepare_chat_model(model, environ=environ)
    return named.open() if isinstance(named, NamedModel) else named


class Opens(ABC):
    """Somebody who is called and has to be opened first."""

    @abstractmethod
    def open(self) -> object:
        """Open it, if it is not open; the first live run of a graph does so before anything else."""


class NamedModel:
    """A model that is named by a string; naming it needs neither a key nor the provider's package."""

    def __init__(self, model: str, *, environ: Mapping[str, str] | None = None) -> None:
        provider, colon, name = (part.strip() for part in model.partition(":"))
        is_named = bool(name) if colon else provider == "openai"
        if not is_named or not _PROVIDER.fullmatch(provider):
            raise make_model_setting_error("model", repr(model), MODELS)
        self._provider = provider
        self._environ = os.environ if environ is None else environ
        self.model_name = name or get_default_openai_model(self._environ)

    @property
    def form(self) -> str | None:
        """The form of replies that the deployment says, None where it is found out."""
        return read_structured_output_form(self._environ) if self._provider == "openai" else None

    def open(self) -> ChatModel:
        """Return the chat model."""
        if self._provider == "openai":
            return create_openai_chat_model(self.model_name, self._environ)
        return create_provider_chat_model(self._provider, self.model_name)


def prepare_chat_model(model: ChatModel | str, *, environ: Mapping[str, str] | None = None) -> ChatModel | NamedModel:
    """Return a chat model as it is, and a model's name as one that can be opened later."""
    if isinstance(model, str):
        return NamedModel(model, environ=environ)
    if not is_chat_model(model):
        raise make_model_setting_error("model", type(model).__name__, MODELS)
    return model


_known_forms: dict[str, str] = {}
"""By whom a model asks: the form that it took when it refused another one."""


class ModelProposer(Runnable[JsonObject, BaseMessage], Opens):
    """Asks a model for a proposal and returns its message unread: what it is worth, a guard decides."""

    def __init__(
        self,
        model: ChatModel | NamedModel,
        prompt: Prompt,
        *,
        show: Callable[[JsonObject], JsonObject] = lambda view: view,
    ) -> None:
        self.name = get_model_name(model)
        self.prompt = prompt
        self._show = show
        self._named = model
        self._model: ChatModel | None = None

    def open(self) -> ChatModel:
        """Return the model that is asked."""
        if self._model is None:
            self._model = self._named.open() if isinstance(self._named, NamedModel) else self._named
        return self._model

    @property
    def provider(self) -> str:
        """Whose model it asks, as OpenTelemetry's conventions name providers."""
        return get_provider_name(self._named if self._model is None else self._model)

    def list_sent_texts(self, view: JsonObject) -> list[str]:
        """Return what the model is sent for a view: the texts of its messages, and the schema."""
        shown = self._show(view)
        return [
            *(str(message.content) for message in self.prompt.write_messages(shown)),
            json.dumps(self.prompt.fit(shown)),
        ]

    def on_model(self, model: ChatModel | NamedModel) -> ModelProposer:
        """Return what asks another model for the same, in the same words."""
        return ModelProposer(model, self.prompt, show=self._show)

    def __repr__(self) -> str:
        return f"<ModelProposer {self.prompt.name} {self.prompt.hash} on {self.name}>"

    def invoke(self, input: JsonObject, config: RunnableConfig | None = None, **kwargs: Any) -> BaseMessage:
        """Show the view to the model and return its message."""
        asked, forms = self._show(input), self._list_forms()
        for form in forms:
            try:
                held, messages = self._prepare_ask(asked, form)
                return self._take_reply(held.invoke(messages, config, **kwargs), form)
            except Exception as error:
                if form == forms[-1] or not is_form_refused(error):
                    name_refused_setting(error, form)
                    raise
        raise AssertionError("no form is left")

    async def ainvoke(self, input: JsonObject, config: RunnableConfig | None = None, **kwargs: Any) -> BaseMessage:
        """Show the view to the model and return its message, like `invoke`."""
        asked, forms = self._show(input), self._list_forms()
        for form in forms:
            try:
                held, messages = self._prepare_ask(asked, form)
                return self._take_reply(await held.ainvoke(messages, config, **kwargs), form)
            except Exception as error:
                if form == forms[-1] or not is_form_refused(error):
                    name_refused_setting(error, form)
                    raise
        raise AssertionError("no form is left")

    @property
    def _asks(self) -> str:
        """Whom it asks, as far as that decides which forms there are."""
        return f"{self.provider} {self.name} {find_base_url(self.open())}"

    def _list_forms(self) -> tuple[str, ...]:
        """Return the forms in which the model is asked, the next where it refuses one."""
        if isinstance(self._named, NamedModel) and self._named.form is not None:
            return (self._named.form,)
        known = _known_forms.get(self._asks)
        return FORMS if known is None else (known,)

    def _prepare_ask(self, view: JsonObject, form: str) -> tuple[Runnable[Any, Any], list[BaseMessage]]:
        model, tokens = self.open(), output_tokens()
        limited = model if tokens is None else limit_model_output(model, tokens)
        told = self.prompt.as_text if form == "none" and self.prompt.as_text is not None else self.prompt
        return hold_model_to_schema(limited, self.prompt.fit(view), form), told.write_messages(view)

    def _take_reply(self, returned: Any, form: str) -> BaseMessage:
        if form != "schema":
            if self._asks not in _known_forms:
                log_notice(f"{self.name} is asked without a JSON schema (OPENAI_STRUCTURED_OUTPUT={form})")
            _known_forms[self._asks] = form
            note_reply_form("text" if form == "none" and self.prompt.as_text is not None else form)
        message: BaseMessage = returned["raw"] if isinstance(returned, dict) else returned
        return _write_native_calls(message) if "calls" in self.prompt.schema.get("properties", ()) else message


def _write_native_calls(message: BaseMessage) -> BaseMessage:
    """Return a message that calls tools by the provider's own form as one whose text proposes these calls."""
    calls = message.tool_calls if isinstance(message, AIMessage) else []
    if not calls or any("calls" in call["args"] for call in calls):  # else it is the whole proposal, as a tool call
        return message
    step = {"calls": [{"tool": call["name"], "args": call["args"]} for call in calls]}
    return message.model_copy(update={"content": json.dumps(step, ensure_ascii=False), "tool_calls": []})
