"""From a chat model and a prompt to a proposer. A client is imported only when a model is opened.

Models of other providers than OpenAI are named as LangChain's ``init_chat_model`` names them.
"""

from __future__ import annotations

import json
import os
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache, cached_property, partial
from hashlib import sha256
from importlib.resources import files
from string import Template
from typing import TYPE_CHECKING, Any

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage
from langchain_core.runnables import Runnable, RunnableConfig
from pydantic import ValidationError

from guardgraph.plain.errors import ConfigurationError
from guardgraph.plain.json import JsonObject, find_json_problem
from guardgraph.world.deadline import output_tokens
from guardgraph.world.openai import (
    DEFAULT_TIMEOUT_SECONDS,
    create_openai_chat_model,
    get_default_openai_model,
    make_model_setting_error,
)
from guardgraph.world.wrapped import (
    ChatModel,
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
    """Return a provider's chat model, which reads the provider's variables in the environment.

    Args:
        provider: as ``init_chat_model`` names it, such as ``"anthropic"``.
        name: as the provider names its model.

    Raises:
        ConfigurationError: langchain or the provider's package is not installed, LangChain does not know the provider,
            or the provider's class says that something is missing or wrong.
    """
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


@dataclass(frozen=True)
class Prompt:
    """What a model is told before it proposes, and the form of its proposal."""

    name: str
    text: str
    """The system message; it states the JSON contract too, for models that cannot be held to a schema."""
    schema: JsonObject
    """JSON schema of the proposal, in the subset that OpenAI's strict mode accepts."""

    @cached_property
    def hash(self) -> str:
        """The first 12 hex digits of the SHA-256 of text and schema: which version of the prompt was used."""
        return sha256(f"{self.text}\n{json.dumps(self.schema, sort_keys=True)}".encode()).hexdigest()[:12]


def load_prompt(name: str, limits: Mapping[str, object]) -> Prompt:
    """Read one of the prompts that stand in files beside the nodes.

    Args:
        name: the files' name without ending, such as ``"rag_plan"``.
        limits: the deployment's budget, which the prompt tells the model (``$max_top_k`` in the file).

    Raises:
        FileNotFoundError: there is no such prompt.
        KeyError: the prompt names a limit that is not given.
    """
    folder = files("guardgraph.nodes") / "prompts"
    text = Template((folder / f"{name}.md").read_text(encoding="utf-8")).substitute(limits)
    schema = json.loads((folder / f"{name}.schema.json").read_text(encoding="utf-8"))
    return Prompt(name, text, schema)


@cache
def _read_prompt_part(name: str) -> str:
    """Read what a model is told beside its prompt."""
    return (files("guardgraph.nodes") / "prompts" / f"{name}.md").read_text(encoding="utf-8").strip()


@cache
def list_prompt_texts() -> tuple[str, ...]:
    """Return what our prompts tell models: a text that says it back says nothing."""
    told = sorted(item.name for item in (files("guardgraph.nodes") / "prompts").iterdir() if item.name.endswith(".md"))
    return tuple(re.sub(r"`[^`]*`|\$\w+", "", _read_prompt_part(name.removesuffix(".md"))) for name in told)


def get_again_prompt_name() -> str:
    """Return name and hash, ``name@hash``, of what a model is told beside its prompt when it is asked again."""
    return f"asked_again@{sha256(_read_prompt_part('asked_again').encode()).hexdigest()[:12]}"


LONGEST_INSTRUCTIONS = 8000
"""Characters of an application's instructions; they stand in every call of those that write."""


def add_prompt_instructions(prompt: Prompt, instructions: str) -> Prompt:
    """Return a prompt that tells a model an application's instructions too; its hash counts them."""
    return replace(prompt, text=f"{prompt.text}\n\n{_read_prompt_part('instructions')}\n\n{instructions}")


def validate_instructions(given: object) -> str | None:
    """Return an application's instructions, stripped, None for none.

    Raises:
        ConfigurationError: they are no text, blank, too long, or cannot be stored.
    """
    if given is None:
        return None
    if not isinstance(given, str) or not given.strip() or len(given) > LONGEST_INSTRUCTIONS:
        allowed = f"a text that is not blank, of at most {LONGEST_INSTRUCTIONS} characters, is required"
        size = f" ({len(given)} characters)" if isinstance(given, str) else ""
        raise ConfigurationError(f"instructions: {allowed}; given: {given!r:.80}{size}")
    if (problem := find_json_problem(given)) is not None:
        raise ConfigurationError(f"instructions: a text that can be stored is required, not {problem}")
    return given.strip()


def chat_model(model: ChatModel | str, *, environ: Mapping[str, str] | None = None) -> ChatModel:
    """Return the chat model that a user names.

    Args:
        model: a chat model, plain or wrapped, returned as it is; ``"openai"`` (the one in ``OPENAI_MODEL``);
            ``"openai:NAME"``; ``"PROVIDER:NAME"`` as LangChain's ``init_chat_model`` has it, where ``langchain`` and
            the provider's package are installed.
        environ: where ``OPENAI_API_KEY``, ``OPENAI_MODEL`` (default gpt-4.1-mini), ``OPENAI_BASE_URL``,
            ``OPENAI_TIMEOUT_SECONDS`` (default 60) and ``OPENAI_STRUCTURED_OUTPUT`` (``json_schema``, the default, or
            ``json_mode`` for a server without JSON schema) are read; the process's environment when None. A blank
            value counts as absent. Other providers read their variables in the process's environment.

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
        """Open it, if it is not open; the first live run of a graph does so before anything else.

        Raises:
            ConfigurationError: what it needs is missing or wrong.
        """


class NamedModel:
    """A model that is named by a string; naming it needs neither a key nor the provider's package.

    Args:
        model: ``"openai"``, ``"openai:NAME"`` or ``"PROVIDER:NAME"``.
        environ: see `chat_model`.

    Raises:
        ConfigurationError: it is another string.
    """

    def __init__(self, model: str, *, environ: Mapping[str, str] | None = None) -> None:
        provider, colon, name = (part.strip() for part in model.partition(":"))
        is_named = bool(name) if colon else provider == "openai"
        if not is_named or not _PROVIDER.fullmatch(provider):
            raise make_model_setting_error("model", repr(model), MODELS)
        self._provider = provider
        self._environ = os.environ if environ is None else environ
        self.model_name = name or get_default_openai_model(self._environ)

    def open(self) -> ChatModel:
        """Return the chat model.

        Raises:
            ConfigurationError: a variable is missing or wrong, or a package is missing.
        """
        if self._provider == "openai":
            return create_openai_chat_model(self.model_name, self._environ)
        return create_provider_chat_model(self._provider, self.model_name)


def prepare_chat_model(model: ChatModel | str, *, environ: Mapping[str, str] | None = None) -> ChatModel | NamedModel:
    """Return a chat model as it is, and a model's name as one that can be opened later.

    Raises:
        ConfigurationError: it is neither.
    """
    if isinstance(model, str):
        return NamedModel(model, environ=environ)
    if not is_chat_model(model):
        raise make_model_setting_error("model", type(model).__name__, MODELS)
    return model


class ModelProposer(Runnable[JsonObject, BaseMessage], Opens):
    """Asks a model for a proposal and returns its message unread: what it is worth, a guard decides.

    Args:
        model: the chat model, plain or wrapped, or the name of one; one without structured output is called as it is.
        prompt: what it is told, and the schema of its reply.
        show: makes of the view what the model sees of it, where that is not the view as it is.
    """

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
        self._held: dict[int | None, Runnable[Any, Any]] = {}
        """What is asked, by the tokens that it may write."""

    def open(self) -> Runnable[Any, Any]:
        """Return what is asked, the model held to the prompt's schema and to the tokens that the run lets it write.

        Raises:
            ConfigurationError: the model is named by a string, and a variable that it needs is missing or wrong.
        """
        if self._model is None:
            self._model = self._named.open() if isinstance(self._named, NamedModel) else self._named
        if (tokens := output_tokens()) not in self._held:
            limited = self._model if tokens is None else limit_model_output(self._model, tokens)
            self._held[tokens] = hold_model_to_schema(limited, self.prompt.schema)
        return self._held[tokens]

    @property
    def provider(self) -> str:
        """Whose model it asks, as OpenTelemetry's conventions name providers."""
        return get_provider_name(self._named if self._model is None else self._model)

    def list_sent_texts(self, view: JsonObject) -> list[str]:
        """Return what the model is sent for a view: the texts of its messages, and the schema."""
        messages = [str(message.content) for message in self._build_prompt_messages(view)]
        return [*messages, self._schema_text]

    @cached_property
    def _schema_text(self) -> str:
        return json.dumps(self.prompt.schema)

    def on_model(self, model: ChatModel | NamedModel) -> ModelProposer:
        """Return what asks another model for the same, in the same words."""
        return ModelProposer(model, self.prompt, show=self._show)

    def __repr__(self) -> str:
        return f"<ModelProposer {self.prompt.name} {self.prompt.hash} on {self.name}>"

    def invoke(self, input: JsonObject, config: RunnableConfig | None = None, **kwargs: Any) -> BaseMessage:
        """Show the view to the model and return its message.

        Args:
            input: the view: what the model sees, and all that it sees.
            config: LangChain's configuration of the call.
            kwargs: passed on to the model.

        Raises:
            Exception: whatever the model raises; see `guardgraph.world.failures.classify_model_error`.
        """
        return _unwrap_raw_message(self.open().invoke(self._build_prompt_messages(input), config, **kwargs))

    async def ainvoke(self, input: JsonObject, config: RunnableConfig | None = None, **kwargs: Any) -> BaseMessage:
        """Show the view to the model and return its message, like `invoke`."""
        return _unwrap_raw_message(await self.open().ainvoke(self._build_prompt_messages(input), config, **kwargs))

    def _build_prompt_messages(self, view: JsonObject) -> list[BaseMessage]:
        shown = {name: value for name, value in view.items() if name != "refused"}
        asked = [SystemMessage(self.prompt.text), HumanMessage(json.dumps(self._show(shown), ensure_ascii=False))]
        if not isinstance(refused := view.get("refused"), dict):
            return asked
        return [*asked, *_list_earlier_turn(refused), HumanMessage(write_refusal(refused, shown))]


def _list_earlier_turn(refused: JsonObject) -> list[BaseMessage]:
    """Return what a model proposed before, as its turn; nothing where it proposed nothing."""
    said = refused.get("proposal")
    text = said if isinstance(said, str) else json.dumps(said, ensure_ascii=False)
    cut = text if len(text) <= LONGEST_TURN else f"{text[:LONGEST_TURN]}..."
    return [AIMessage(cut)] if text.strip() and said is not None else []


LONGEST_TURN = 4000
"""Characters of a refused proposal that its model is shown."""
MOST_SHOWN = 3
"""Texts of evidence of which a model that is asked again is told where they stand."""


def write_refusal(refused: JsonObject, shown: JsonObject) -> str:
    """Return what a model is told that is asked again: why, on what evidence, and where what it said does stand.

    Args:
        refused: ``{reason, why, evidence}``.
        shown: the view of its first ask.
    """
    evidence = refused.get("evidence") or {}
    said = [f"{name.replace('_', ' ')}: {json.dumps(item, ensure_ascii=False)}" for name, item in evidence.items()]
    why = refused.get("why") or refused["reason"]
    where = [*_list_places(evidence.get("unsupported") or (), shown)]
    told = {"why": why, "evidence": f" ({'; '.join(said)})" if said else "", "where": "".join(f" {it}" for it in where)}
    return Template(_read_prompt_part("asked_again")).substitute(told)


def _list_places(texts: Iterable[object], shown: JsonObject) -> Iterator[str]:
    """Yield a sentence on each text that what was shown has."""
    items = next((value for name in NUMBERED if isinstance(value := shown.get(name), list)), [])
    for text in [text for text in texts if isinstance(text, str)][:MOST_SHOWN]:
        held = re.compile(rf"(?<!\w){re.escape(text)}(?!\w)", re.IGNORECASE)
        at = [
            f"[{number}]" for number, item in enumerate(items, 1) if held.search(json.dumps(item, ensure_ascii=False))
        ]
        if at:
            yield f"{json.dumps(text, ensure_ascii=False)} stands in {' and '.join(at[:MOST_SHOWN])}: cite it there."


NUMBERED = ("context_chunks", "notes", "pages")
"""Lists of a view whose items a model knows by their numbers, from 1 on."""


def _unwrap_raw_message(returned: Any) -> BaseMessage:
    message: BaseMessage = returned["raw"] if isinstance(returned, dict) else returned
    return message
