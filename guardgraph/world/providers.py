"""Models of other providers than OpenAI, as LangChain's ``init_chat_model`` names them."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from guardgraph.plain.errors import ConfigurationError
from guardgraph.world.openai import DEFAULT_TIMEOUT_SECONDS

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
