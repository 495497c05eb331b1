"""Chat models, plain or as LangChain wraps them, held to a schema.

A wrapper calls whatever it is around, so what holds a model to a schema has to be inside: each model is held to it
where it stands, and the wrappers are put around again as they were.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypeAlias, TypeGuard

from langchain_core.runnables import Runnable, RunnableConfig, RunnableParallel, RunnableSequence
from langchain_core.runnables.base import RunnableBindingBase

from guardgraph.plain.errors import ConfigurationError
from guardgraph.plain.json import JsonObject, JsonValue
from guardgraph.world.deadline import deadline, get_reply_meter, output_tokens
from guardgraph.world.prompts import inline_definitions

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel, LanguageModelInput
    from langchain_core.messages import BaseMessage
    from langchain_core.runnables.configurable import DynamicRunnable


_WAYS: dict[str, tuple[dict[str, Any], ...]] = {
    "schema": ({"method": "json_schema", "strict": True}, {}),
    "json": ({"method": "json_mode"},),
    "none": (),
}
"""How a class of models is held to a form, the next way where it knows none of these."""

ChatModel: TypeAlias = "BaseChatModel | Runnable[LanguageModelInput, BaseMessage]"  # A chat model, plain or wrapped


def is_chat_model(given: object) -> TypeGuard[ChatModel]:
    """Say whether something is a chat model: one of LangChain's, or a wrapper around nothing but chat models."""
    if inside := _list_wrapped_models(given):
        return all(map(is_chat_model, inside))
    return isinstance(given, Runnable) and callable(getattr(given, "with_structured_output", None))


def get_model_name(model: object) -> str:
    """Return the name under which history knows a model: its ``model_name``, its ``model``, or its class."""
    if isinstance(model, RunnableBindingBase) and _is_model_name(bound := model.kwargs.get("model")):
        return str(bound)
    if inside := _list_wrapped_models(model):
        return get_model_name(inside[0])
    names = (getattr(model, attribute, None) for attribute in ("model_name", "model"))
    return next((str(name) for name in names if _is_model_name(name)), type(model).__name__)


def _is_model_name(given: object) -> bool:
    return isinstance(given, str) and bool(given.strip())


def _list_wrapped_models(model: Any) -> list[Any]:
    if isinstance(model, RunnableBindingBase):  # bind, with_retry, with_config and the like
        return [model.bound]
    if _is_wrapper(model, "fallbacks.RunnableWithFallbacks"):
        return [model.runnable, *model.fallbacks]
    if _is_wrapper(model, "configurable.RunnableConfigurableAlternatives"):  # a function makes one when it is chosen
        return [model.default, *(other for other in model.alternatives.values() if isinstance(other, Runnable))]
    return [model.default] if _is_wrapper(model, "configurable.DynamicRunnable") else []


def _is_wrapper(model: object, name: str) -> bool:
    """Say whether a model is wrapped in a class of LangChain's: none is where nobody has imported its module."""
    module, _, kind = name.partition(".")
    known = getattr(sys.modules.get(f"langchain_core.runnables.{module}"), kind, None)
    return known is not None and isinstance(model, known)


_PROVIDERS = {
    "langchain_openai": "openai", "langchain_anthropic": "anthropic", "langchain_aws": "aws.bedrock",
    "langchain_azure_ai": "azure.ai.inference", "langchain_cohere": "cohere", "langchain_deepseek": "deepseek",
    "langchain_google_genai": "gcp.gemini", "langchain_google_vertexai": "gcp.vertex_ai", "langchain_groq": "groq",
    "langchain_ibm": "ibm.watsonx.ai", "langchain_mistralai": "mistral_ai", "langchain_perplexity": "perplexity",
    "langchain_xai": "x_ai",
}  # fmt: skip
"""Providers by LangChain's packages for them, as OpenTelemetry's conventions name them."""


def get_provider_name(model: object) -> str:
    """Return the provider of a model by the package of its class, of a wrapped one by that of the model inside."""
    while inside := _list_wrapped_models(model):
        model = inside[0]
    package = type(model).__module__.partition(".")[0]
    return _PROVIDERS.get(package, package)


_OUTPUT_FIELDS = ("max_tokens", "max_output_tokens", "num_predict", "max_new_tokens")
"""Fields by which LangChain's classes of models bound what is written, the first that a class has."""

_OUTPUT_ARGUMENTS = (*_OUTPUT_FIELDS, "max_completion_tokens", "max_tokens_to_sample")
"""Arguments by which a call of a model overrides its bound."""


def limit_model_output(model: Any, tokens: int | None, default: int | None = None) -> Any:
    """Return a chat model that may write no more than some tokens in a reply, which its provider is told."""
    if tokens is None and default is None:
        return model
    if isinstance(model, RunnableBindingBase):
        own = {name: given for name in _OUTPUT_ARGUMENTS if isinstance(given := model.kwargs.get(name), int)}
        said = own if tokens is None else {name: min(given, tokens) for name, given in own.items()}
        bound = limit_model_output(model.bound, tokens, None if own else default)
        return model.model_copy(update={"bound": bound, "kwargs": {**model.kwargs, **said}})
    if _is_wrapper(model, "fallbacks.RunnableWithFallbacks"):
        first, *others = (limit_model_output(inside, tokens, default) for inside in _list_wrapped_models(model))
        return model.model_copy(update={"runnable": first, "fallbacks": others})
    fields = getattr(type(model), "model_fields", {})
    name = next(filter(fields.__contains__, _OUTPUT_FIELDS), None)
    if name is None or _is_wrapper(model, "configurable.DynamicRunnable"):
        return model  # one that the configuration chooses is limited when it is chosen
    has_own = isinstance(own := getattr(model, name), int) and own > 0
    if tokens is not None:
        return model.model_copy(update={name: min(own, tokens) if has_own else tokens})
    profile = getattr(model, "profile", None)
    if has_own or (isinstance(profile, dict) and profile.get("reasoning_output") is True):
        return model  # one that reasons does so nobody knows how long
    return model.model_copy(update={name: default})


_BEHIND = 0.25  # seconds behind the end of a run at which a client gives up: by then the run has said why it ended


def list_call_limits(model: object, seconds: float | None) -> dict[str, float]:
    """Return the argument by which a call of OpenAI's client ends in time, unless it ends sooner by itself."""
    while inside := _list_wrapped_models(model):
        if len(inside) > 1:
            return {}
        model = inside[0]
    own = getattr(model, "request_timeout", None)
    if seconds is None or get_provider_name(model) != "openai" or not isinstance(own, int | float | None):
        return {}
    ends = seconds + _BEHIND
    return {"timeout": ends if own is None else min(own, ends)}


def find_base_url(model: object) -> str:
    """Return where a model's requests go, as far as its class says it, "" where it does not."""
    while inside := _list_wrapped_models(model):
        model = inside[0]
    names = ("openai_api_base", "base_url", "azure_endpoint", "endpoint")
    return next((str(said) for name in names if (said := getattr(model, name, None))), "")


CALLS = "calls"  # form of a reply that calls tools as its provider does it
FINAL_ANSWER = "final_answer"  # tool by which a model that is asked for calls says its answer
_TOOL_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")  # names of tools that providers take


def can_call_tools(model: object, tools: Sequence[JsonObject]) -> bool:
    """Say whether a model, and each inside of a wrapper, can be given these tools in its provider's own form."""
    if _is_wrapper(model, "configurable.DynamicRunnable"):
        return False
    if isinstance(model, RunnableBindingBase) and {"tools", "response_format"} & model.kwargs.keys():
        return False
    if inside := _list_wrapped_models(model):
        return all(can_call_tools(item, tools) for item in inside)
    from langchain_core.language_models import BaseChatModel

    is_named = all(_TOOL_NAME.fullmatch(tool["name"]) and tool["name"] != FINAL_ANSWER for tool in tools)
    return is_named and getattr(type(model), "bind_tools", None) not in (None, BaseChatModel.bind_tools)


def hold_model_to_calls(model: Any, tools: Sequence[JsonObject], schema: JsonObject) -> Runnable[Any, Any]:
    """Give a chat model tools in its provider's own form, and one more by which it answers."""
    if isinstance(model, RunnableBindingBase):
        held = hold_model_to_calls(model.bound, tools, schema)
        return model.model_copy(update={"bound": _InTime(held) if _is_wrapper(model, "retry.RunnableRetry") else held})
    if _is_wrapper(model, "fallbacks.RunnableWithFallbacks"):
        first, *others = (
            _InTime(hold_model_to_calls(inside, tools, schema), get_model_name(inside))
            for inside in _list_wrapped_models(model)
        )
        return model.model_copy(update={"runnable": first, "fallbacks": others})  # type: ignore[no-any-return]
    told = {name: form for name, form in schema["properties"].items() if name not in ("calls", "plan")}
    answer = {**schema, "properties": {**told, "answer": {"type": "string"}}, "required": ["answer", "declined"]}
    last = {"name": FINAL_ANSWER, "description": "Ends the task with its answer.", "schema": answer}
    given = [
        {"name": tool["name"], "description": tool["description"], "parameters": inline_definitions(tool["schema"])}
        for tool in [*tools, last]
    ]
    functions = [{"type": "function", "function": each} for each in given]
    bound: Runnable[Any, Any] = model.bind_tools(functions, tool_choice="any")
    return bound


def hold_model_to_schema(model: Any, schema: JsonObject, form: str = "schema") -> Runnable[Any, Any]:
    """Hold a chat model to a schema, where it can be held."""
    if isinstance(model, RunnableBindingBase):
        if "response_format" in model.kwargs:
            return model
        held = hold_model_to_schema(model.bound, schema, form)
        return model.model_copy(update={"bound": _InTime(held) if _is_wrapper(model, "retry.RunnableRetry") else held})
    if _is_wrapper(model, "fallbacks.RunnableWithFallbacks"):
        first, *others = (_hold_one_of_several(inside, schema, form) for inside in _list_wrapped_models(model))
        return model.model_copy(update={"runnable": first, "fallbacks": others})  # type: ignore[no-any-return]
    if _is_wrapper(model, "configurable.DynamicRunnable"):
        return _Chosen(model, schema, form)
    # by JSON schema, else in the way of its class, such as a call of a tool
    if not (get_provider_name(model) == "openai" and (url := find_base_url(model)) and "openai." not in url):
        schema = _drop_lengths(schema)
    for way in _WAYS[form]:
        said = {**way, "strict": is_strict_schema(schema)} if "strict" in way else way
        try:
            chain: Runnable[Any, Any] = model.with_structured_output(schema, include_raw=True, **said)
        except Exception:  # noqa: BLE001 - classes refuse a way or a schema by whatever they like to raise
            continue
        ways = chain.first if isinstance(chain, RunnableSequence) else None
        step = ways.steps__.get("raw") if isinstance(ways, RunnableParallel) else None
        return chain if step is None else step
    return model  # type: ignore[no-any-return]


def _hold_one_of_several(model: Any, schema: JsonObject, form: str) -> Runnable[Any, Any]:
    return _InTime(hold_model_to_schema(model, schema, form), get_model_name(model))


def _drop_lengths(schema: Any) -> Any:
    """Return a schema without bounds of texts: servers of open models hold to them, and others refuse them."""
    if isinstance(schema, list):
        return [_drop_lengths(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    is_text = "string" in (schema.get("type") or ())
    return {key: _drop_lengths(item) for key, item in schema.items() if not (is_text and key == "maxLength")}


def is_strict_schema(schema: JsonValue) -> bool:
    """Say whether OpenAI's strict mode takes a schema: every object requires all that it may have, and no more."""
    if isinstance(schema, list):
        return all(map(is_strict_schema, schema))
    if not isinstance(schema, dict):
        return True
    if schema.get("type") == "object":
        is_closed = schema.get("additionalProperties") is False
        if not is_closed or {*schema.get("properties", ())} != {*schema.get("required", ())}:
            return False
    return all(map(is_strict_schema, schema.values()))


class _Chosen(Runnable[Any, Any]):
    """A model whose fields, or which itself, the configuration of the run chooses: it is held when it is chosen."""

    def __init__(self, model: DynamicRunnable[Any, Any], schema: JsonObject, form: str) -> None:
        self._model, self._schema, self._form = model, schema, form

    def invoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Any:
        chosen, config = self._choose_model(config)
        return chosen.invoke(input, config, **kwargs)

    async def ainvoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Any:
        chosen, config = self._choose_model(config)
        return await chosen.ainvoke(input, config, **kwargs)

    def _choose_model(self, config: RunnableConfig | None) -> tuple[Runnable[Any, Any], RunnableConfig]:
        chosen, config = self._model.prepare(config)
        if not is_chat_model(chosen):
            raise ConfigurationError(f"model: a chat model is required; an alternative is: {type(chosen).__name__}")
        if (tokens := output_tokens()) is not None:
            chosen = limit_model_output(chosen, tokens)
        return _hold_one_of_several(chosen, self._schema, self._form), config


class _InTime(Runnable[Any, Any]):
    """What a retry or a fallback asks: nothing more once the run's time is up, or the rest would be paid for nobody."""

    def __init__(self, model: Runnable[Any, Any], name: str | None = None) -> None:
        self._model, self._name = model, name

    def invoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Any:
        _check_call_deadline()
        get_reply_meter().model = None
        return self._note_reply(self._model.invoke(input, config, **kwargs))

    async def ainvoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Any:
        _check_call_deadline()
        get_reply_meter().model = None
        return self._note_reply(await self._model.ainvoke(input, config, **kwargs))

    def _note_reply(self, returned: Any) -> Any:
        if get_reply_meter().model is None:  # else the model is itself one of several, and has said so
            get_reply_meter().model = self._name
        return returned


def _check_call_deadline() -> None:
    if deadline() == 0:
        raise TimeoutError("the run's time is up")
