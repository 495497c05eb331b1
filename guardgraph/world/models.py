"""From a chat model and a prompt to a proposer. OpenAI's client is imported only when a model is named."""

from __future__ import annotations

import json
import math
import os
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from importlib.resources import files
from string import Template
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from ada_url import check_url
from langchain_core.messages import BaseMessage, HumanMessage, SystemMessage
from langchain_core.runnables import Runnable, RunnableConfig, RunnableParallel, RunnableSequence

from guardgraph.state.errors import ConfigurationError
from guardgraph.state.json import JsonObject

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

__all__ = ["ModelProposer", "NamedModel", "Opens", "Prompt", "chat_model", "load_prompt", "model_name", "named_model"]

DEFAULT_MODEL = "gpt-4.1-mini"
MODELS = 'a BaseChatModel, "openai" or "openai:NAME"'
DEFAULT_BASE_URL = "https://api.openai.com/v1"
DEFAULT_TIMEOUT_SECONDS = 60.0
LONGEST_TIMEOUT_SECONDS = 86_400.0
"""A day. Far longer ones overflow in the socket layer, in the middle of a run."""
LONGEST_URL = 2_000

_ONE_CALL_ONE_CONNECTION = {"Connection": "close"}
"""LangChain shares its HTTP clients between models, and a connection that one event loop left open fails in
the next one ("Event loop is closed"): a second ``asyncio.run`` would end in ``llm_bad_response``."""


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


def chat_model(model: BaseChatModel | str, *, environ: Mapping[str, str] | None = None) -> BaseChatModel:
    """Return the chat model that a user names.

    Args:
        model: a chat model, returned as it is; ``"openai"`` (the one in ``OPENAI_MODEL``); ``"openai:NAME"``.
        environ: where ``OPENAI_API_KEY``, ``OPENAI_MODEL`` (default gpt-4.1-mini), ``OPENAI_BASE_URL`` and
            ``OPENAI_TIMEOUT_SECONDS`` (default 60) are read; the process's environment when None. A blank
            value counts as absent.

    Returns:
        For a string, a ``ChatOpenAI`` with temperature 0, that timeout, no retries and no streaming.

    Raises:
        ConfigurationError: the model or a variable is wrong; the message never repeats a key.
    """
    named = named_model(model, environ=environ)
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
    """A model of OpenAI that is named by a string; naming it needs no key.

    Args:
        model: ``"openai"`` or ``"openai:NAME"``.
        environ: see `chat_model`.

    Raises:
        ConfigurationError: it is another string.
    """

    def __init__(self, model: str, *, environ: Mapping[str, str] | None = None) -> None:
        provider, colon, name = (part.strip() for part in model.partition(":"))
        if provider != "openai" or (colon and not name):
            raise _wrong("model", repr(model), MODELS)
        self._environ = os.environ if environ is None else environ
        self.model_name = name or _variable(self._environ, "OPENAI_MODEL") or DEFAULT_MODEL

    def open(self) -> BaseChatModel:
        """Return the chat model.

        Raises:
            ConfigurationError: a variable is missing or wrong.
        """
        return _chat_openai(self.model_name, self._environ)


def named_model(model: BaseChatModel | str, *, environ: Mapping[str, str] | None = None) -> BaseChatModel | NamedModel:
    """Return a chat model as it is, and a model's name as one that can be opened later.

    Raises:
        ConfigurationError: it is neither.
    """
    from langchain_core.language_models import BaseChatModel  # not before a model is asked for: it takes a while

    if isinstance(model, BaseChatModel):
        return model
    if not isinstance(model, str):
        raise _wrong("model", type(model).__name__, MODELS)
    return NamedModel(model, environ=environ)


def _chat_openai(name: str, environ: Mapping[str, str]) -> BaseChatModel:
    settings: dict[str, Any] = {
        "api_key": _api_key(environ),
        "base_url": _base_url(environ),
        "timeout": _timeout(environ),
        "temperature": 0,
        "max_retries": 0,  # retries belong to one layer, and that is not the client
        "disable_streaming": True,  # a proposal is judged whole
        "default_headers": _ONE_CALL_ONE_CONNECTION,
        "stream_usage": True,  # without it, a streamed answer of another base URL has no usage
    }
    from langchain_openai import ChatOpenAI

    return ChatOpenAI(model=name, **settings)


def _api_key(environ: Mapping[str, str]) -> str:
    key = _variable(environ, "OPENAI_API_KEY")
    if not key:
        raise _wrong("OPENAI_API_KEY", "nothing", "the key of your OpenAI account, in the environment or in .env")
    if not _is_header_text(key):
        raise _wrong("OPENAI_API_KEY", "characters that no HTTP header may carry", "printable ASCII, no blanks")
    return key


def _base_url(environ: Mapping[str, str]) -> str:
    url = _variable(environ, "OPENAI_BASE_URL") or DEFAULT_BASE_URL
    try:
        parts = urlsplit(url)
        usable = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0
    except ValueError:  # a port or an IPv6 address that is none
        usable = False
    if not usable or not _is_header_text(url) or len(url) > LONGEST_URL or not check_url(url):
        raise _wrong("OPENAI_BASE_URL", repr(url), f"an http or https URL in ASCII such as {DEFAULT_BASE_URL}")
    return url


def _is_header_text(text: str) -> bool:
    return text.isascii() and text.isprintable() and " " not in text


def _timeout(environ: Mapping[str, str]) -> float:
    given = _variable(environ, "OPENAI_TIMEOUT_SECONDS") or str(DEFAULT_TIMEOUT_SECONDS)
    try:
        seconds = float(given)
    except ValueError:
        seconds = math.nan
    if not 0 < seconds <= LONGEST_TIMEOUT_SECONDS:
        allowed = f"a number of seconds above 0 and up to {LONGEST_TIMEOUT_SECONDS:.0f}"
        raise _wrong("OPENAI_TIMEOUT_SECONDS", repr(given), allowed)
    return seconds


def _variable(environ: Mapping[str, str], name: str) -> str:
    return environ.get(name, "").strip()


def _wrong(field: str, given: str, allowed: str) -> ConfigurationError:
    return ConfigurationError(f"{field}: {allowed} is required; given: {given[:80]}")


def model_name(model: BaseChatModel | NamedModel) -> str:
    """Return the name under which history knows a model: its ``model_name``, its ``model``, or its class."""
    names = (getattr(model, attribute, None) for attribute in ("model_name", "model"))
    return next((name for name in names if isinstance(name, str) and name.strip()), type(model).__name__)


class ModelProposer(Runnable[JsonObject, BaseMessage], Opens):
    """Asks a model for a proposal and returns its message unread: what it is worth, a guard decides.

    Args:
        model: the chat model, or the name of one; one without structured output is called as it is.
        prompt: what it is told, and the schema of its reply.
    """

    def __init__(self, model: BaseChatModel | NamedModel, prompt: Prompt) -> None:
        self.name = model_name(model)
        self.prompt = prompt
        self._named = model
        self._model: Runnable[Any, Any] | None = None

    def open(self) -> Runnable[Any, Any]:
        """Return what is asked, the model held to the prompt's schema.

        Raises:
            ConfigurationError: the model is named by a string, and a variable that it needs is missing or wrong.
        """
        if self._model is None:
            model = self._named.open() if isinstance(self._named, NamedModel) else self._named
            self._model = _structured(model, self.prompt.schema)
        return self._model

    def __repr__(self) -> str:
        return f"<ModelProposer {self.prompt.name} {self.prompt.hash} on {self.name}>"

    def invoke(self, input: JsonObject, config: RunnableConfig | None = None, **kwargs: Any) -> BaseMessage:
        """Show the view to the model and return its message.

        Args:
            input: the view: what the model sees, and all that it sees.
            config: LangChain's configuration of the call.
            kwargs: passed on to the model.

        Raises:
            Exception: whatever the model raises; see `guardgraph.world.failures.model_failure`.
        """
        return _raw(self.open().invoke(self._messages(input), config, **kwargs))

    async def ainvoke(self, input: JsonObject, config: RunnableConfig | None = None, **kwargs: Any) -> BaseMessage:
        """Show the view to the model and return its message, like `invoke`."""
        return _raw(await self.open().ainvoke(self._messages(input), config, **kwargs))

    def _messages(self, view: JsonObject) -> list[BaseMessage]:
        return [SystemMessage(self.prompt.text), HumanMessage(json.dumps(view, ensure_ascii=False))]


def _structured(model: BaseChatModel, schema: JsonObject) -> Runnable[Any, Any]:
    """Hold a model to a schema, where it can be held.

    LangChain's chain parses the reply too, in time quadratic in its length, and nobody reads the result: only
    the step that calls the model is taken out of the chain, where it can be found.
    """
    try:
        chain = model.with_structured_output(schema, method="json_schema", strict=True, include_raw=True)
    except NotImplementedError:
        return model
    first = chain.first if isinstance(chain, RunnableSequence) else None
    step = first.steps__.get("raw") if isinstance(first, RunnableParallel) else None
    return chain if step is None else step


def _raw(returned: Any) -> BaseMessage:
    message: BaseMessage = returned["raw"] if isinstance(returned, dict) else returned
    return message
