"""Chat models as they are named by a string: ``"openai"``, ``"openai:NAME"``, ``"PROVIDER:NAME"``.

A client is imported only when a model is opened. Models of other providers than OpenAI are named as LangChain's
``init_chat_model`` names them.
"""

from __future__ import annotations

import math
import os
import re
from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from ada_url import check_url
from pydantic import ValidationError

from guardgraph.plain.errors import ConfigurationError
from guardgraph.world.chat_models import ChatModel, is_chat_model

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

DEFAULT_MODEL = "gpt-4.1-mini"
DEFAULT_BASE_URL = "https://api.openai.com/v1"
DEFAULT_TIMEOUT_SECONDS = 60.0
LONGEST_TIMEOUT_SECONDS = 86_400.0  # A day. Far longer ones overflow in the socket layer, in the middle of a run.
LONGEST_URL = 2_000
FORMS = ("schema", "json", "none")
"""How a model is held to the form of its reply: by a JSON schema, to any JSON object, or by its prompt alone."""

_CONNECTS = "HTTP_PROXY, HTTPS_PROXY, ALL_PROXY, SSL_CERT_FILE, SSL_CERT_DIR"
_CONNECTIONS = "what an HTTP client of httpx can be made with (socks5 needs httpx[socks])"
_HEADERS = {"Connection": "close", "Accept-Encoding": "gzip"}
"""Clients are shared between models, and a connection that one event loop left open fails in the next one ("Event loop
is closed"): a second ``asyncio.run`` would end in ``llm_bad_response``. Gzip is what our client can count unpacked."""


def create_openai_chat_model(name: str, environ: Mapping[str, str]) -> ChatModel:
    """Return a ``ChatOpenAI``."""
    settings: dict[str, Any] = {
        **_SETTINGS,
        "api_key": _read_openai_key(environ),
        "base_url": _read_openai_url(environ),
        "timeout": _read_openai_timeout(environ),
        "default_headers": _HEADERS,
        "http_socket_options": (),  # of LangChain's client, which is not used; it would warn of proxies
        "stream_usage": True,  # without it, a streamed answer of another base URL has no usage
    }
    read_structured_output_form(environ)
    from langchain_openai import ChatOpenAI

    from guardgraph.world.openai_client import make_model_http_clients

    try:
        clients = make_model_http_clients()
    except (ImportError, OSError, ValueError) as error:  # httpx reads them, and names neither variable nor file
        said = " ".join(str(error).split())
        raise make_model_setting_error(_CONNECTS, f"{type(error).__name__}: {said}", _CONNECTIONS) from None
    return ChatOpenAI(model=name, **settings, **clients)


def _read_openai_key(environ: Mapping[str, str]) -> str:
    key = _read_openai_variable(environ, "OPENAI_API_KEY")
    if not key:
        allowed = "the key of your OpenAI account, in the environment or in .env"
        raise make_model_setting_error("OPENAI_API_KEY", "nothing", allowed)
    if not _is_header_text(key):
        given = "characters that no HTTP header may carry"
        raise make_model_setting_error("OPENAI_API_KEY", given, "printable ASCII, no blanks")
    return key


def _read_openai_url(environ: Mapping[str, str]) -> str:
    url = _read_openai_variable(environ, "OPENAI_BASE_URL") or DEFAULT_BASE_URL
    try:
        parts = urlsplit(url)
        usable = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0
    except ValueError:  # a port or an IPv6 address that is none
        usable = False
    if not usable or not _is_header_text(url) or len(url) > LONGEST_URL or not check_url(url):
        allowed = f"an http or https URL in ASCII such as {DEFAULT_BASE_URL}"
        raise make_model_setting_error("OPENAI_BASE_URL", repr(url), allowed)
    return url


def _is_header_text(text: str) -> bool:
    return text.isascii() and text.isprintable() and " " not in text


def _read_openai_timeout(environ: Mapping[str, str]) -> float:
    given = _read_openai_variable(environ, "OPENAI_TIMEOUT_SECONDS") or str(DEFAULT_TIMEOUT_SECONDS)
    try:
        seconds = float(given)
    except ValueError:
        seconds = math.nan
    if not 0 < seconds <= LONGEST_TIMEOUT_SECONDS:
        allowed = f"a number of seconds above 0 and up to {LONGEST_TIMEOUT_SECONDS:.0f}"
        raise make_model_setting_error("OPENAI_TIMEOUT_SECONDS", repr(given), allowed)
    return seconds


def read_structured_output_form(environ: Mapping[str, str]) -> str | None:
    """Return the form of replies that the environment says, one of `FORMS`; None where it says none."""
    form = _read_openai_variable(environ, "OPENAI_STRUCTURED_OUTPUT")
    if form and form not in FORMS:
        raise make_model_setting_error("OPENAI_STRUCTURED_OUTPUT", repr(form), ", ".join(FORMS))
    return form or None


def _read_openai_variable(environ: Mapping[str, str], name: str) -> str:
    return environ.get(name, "").strip()


def make_model_setting_error(field: str, given: str, allowed: str) -> ConfigurationError:
    """Return the error that says what is allowed in a field, and what was given."""
    return ConfigurationError(f"{field}: {allowed} is required; given: {given[:80]}")


MESSAGE_LIMIT = 500  # characters of an error of LangChain's or a provider's that ours repeats

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
        needs = "needs langchain, which is not installed; install langchain and the provider's package, such as"
        raise ConfigurationError(f"model: {f'{provider}:{name}'!r:.80} {needs} langchain-anthropic") from None
    try:
        return _init_provider_model(partial(init_chat_model, name, model_provider=provider), _SETTINGS)
    except ValidationError as error:
        # without the input, which may be a key
        why = "; ".join(f"{'.'.join(map(str, item['loc']))}: {item['msg']}" for item in error.errors())
        raise _make_unusable_model_error(provider, name, why) from None
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


class NamedModel:
    """A model that is named by a string; naming it needs neither a key nor the provider's package."""

    def __init__(self, model: str, *, environ: Mapping[str, str] | None = None) -> None:
        provider, colon, name = (part.strip() for part in model.partition(":"))
        is_named = bool(name) if colon else provider == "openai"
        if not is_named or not _PROVIDER.fullmatch(provider):
            raise make_model_setting_error("model", repr(model), MODELS)
        self._provider = provider
        self._environ = os.environ if environ is None else environ
        self.model_name = name or _read_openai_variable(self._environ, "OPENAI_MODEL") or DEFAULT_MODEL

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
