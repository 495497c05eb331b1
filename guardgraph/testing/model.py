"""A chat model that follows a script."""

from __future__ import annotations

import asyncio
import json
import re
import time
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import Any

from langchain_core.callbacks import AsyncCallbackManagerForLLMRun, CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel, LanguageModelInput
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage
from langchain_core.messages.tool import tool_call_chunk
from langchain_core.output_parsers import BaseOutputParser, JsonOutputParser, PydanticOutputParser
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
from langchain_core.runnables import Runnable, RunnableMap, RunnablePassthrough
from langchain_core.tools import BaseTool
from langchain_core.utils.function_calling import convert_to_openai_tool
from pydantic import BaseModel, PrivateAttr

from guardgraph.plain.errors import ConfigurationError
from guardgraph.plain.json import JsonObject
from guardgraph.testing.clock import ScriptedClock
from guardgraph.testing.reply import Reply
from guardgraph.testing.script import Script

__all__ = ["ModelCall", "ScriptedChatModel"]

_WORD = re.compile(r"\s*\S+\s*|\s+")


@dataclass(frozen=True)
class ModelCall:
    """What a scripted model was asked."""

    messages: list[BaseMessage]
    kwargs: JsonObject
    """What was bound to the call, such as ``response_format``."""


class ScriptedChatModel(BaseChatModel):
    """A chat model that replies from a script, one item a call; thread-safe.

    Args:
        script: texts; dictionaries or lists (their JSON text); `Reply`; ``AIMessage``; exceptions (raised).
        loop: play the last item again for every further call.
        clock: advanced by the delays of replies, which are slept otherwise.
        fields: fields of LangChain's chat models, and ``model_name``, the name that history shows.

    Raises:
        ConfigurationError: an item is none of these, or a field is none of LangChain's.
        ScriptExhausted: (on a call) the script has run out.
    """

    model_name: str = "scripted"

    _script: Script = PrivateAttr()
    _clock: ScriptedClock | None = PrivateAttr()

    def __init__(
        self,
        *script: str | JsonObject | list[Any] | Reply | AIMessage | BaseException,
        loop: bool = False,
        clock: ScriptedClock | None = None,
        **fields: Any,
    ) -> None:
        if unknown := sorted(fields.keys() - type(self).model_fields.keys()):
            known = ", ".join(["loop", "clock", *sorted(type(self).model_fields)])
            raise ConfigurationError(f"ScriptedChatModel: given {', '.join(unknown)}; allowed: {known}")
        super().__init__(**fields)
        self._script = Script(self.model_name, map(_playable, script), loop=loop)
        self._clock = clock

    @property
    def calls(self) -> list[ModelCall]:
        """What the model was asked so far, in order."""
        return self._script.calls()

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        item = self._script.play(ModelCall(list(messages), kwargs))
        time.sleep(self._seconds_to_sleep(item))
        return ChatResult(generations=[ChatGeneration(message=self._message(item))])

    async def _agenerate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        item = self._script.play(ModelCall(list(messages), kwargs))
        await asyncio.sleep(self._seconds_to_sleep(item))
        return ChatResult(generations=[ChatGeneration(message=self._message(item))])

    def _stream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> Iterator[ChatGenerationChunk]:
        item = self._script.play(ModelCall(list(messages), kwargs))
        time.sleep(self._seconds_to_sleep(item))
        yield from _chunks(self._message(item))

    async def _astream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> AsyncIterator[ChatGenerationChunk]:
        item = self._script.play(ModelCall(list(messages), kwargs))
        await asyncio.sleep(self._seconds_to_sleep(item))
        for chunk in _chunks(self._message(item)):
            yield chunk

    def _seconds_to_sleep(self, item: Reply | AIMessage) -> float:
        delay = item.delay if isinstance(item, Reply) else 0.0
        if self._clock is None:
            return delay
        self._clock.advance(delay)
        return 0.0

    def _message(self, item: Reply | AIMessage) -> AIMessage:
        return item.message(self.model_name) if isinstance(item, Reply) else item.model_copy(deep=True)

    def bind_tools(
        self,
        tools: Sequence[dict[str, Any] | type | Callable[..., Any] | BaseTool],
        *,
        tool_choice: str | None = None,
        **kwargs: Any,
    ) -> Runnable[LanguageModelInput, AIMessage]:
        """Return the model as an agent uses it; it calls the tools that its script says, with an ``AIMessage``.

        Args:
            tools: recorded in the call's ``tools``, in OpenAI's form.
            tool_choice: recorded in the call, where it is given.
            kwargs: recorded in the call.
        """
        choice = {} if tool_choice is None else {"tool_choice": tool_choice}
        return self.bind(tools=[convert_to_openai_tool(tool) for tool in tools], **choice, **kwargs)

    def with_structured_output(
        self,
        schema: dict[str, Any] | type,
        *,
        include_raw: bool = False,
        method: str = "json_schema",
        strict: bool | None = None,
        **kwargs: Any,
    ) -> Runnable[LanguageModelInput, Any]:
        """Return a Runnable that parses replies, as ``ChatOpenAI`` does.

        Args:
            schema: a JSON schema, a TypedDict or a Pydantic class.
            include_raw: return ``{"raw", "parsed", "parsing_error"}`` and never raise on a bad text.
            method: recorded in the call's ``response_format``.
            strict: recorded in the call's ``response_format``.
            kwargs: recorded in the call.
        """
        function = convert_to_openai_tool(schema)["function"]
        form = {"name": function["name"], "schema": function.get("parameters", {}), "strict": strict}
        llm = self.bind(response_format={"type": method, method: form}, **kwargs)
        parser = _parser(schema)
        if not include_raw:
            return llm | parser
        parsed = RunnablePassthrough.assign(parsed=itemgetter("raw") | parser, parsing_error=lambda _: None)
        failed = RunnablePassthrough.assign(parsed=lambda _: None)
        return RunnableMap(raw=llm) | parsed.with_fallbacks([failed], exception_key="parsing_error")


def _chunks(message: AIMessage) -> Iterator[ChatGenerationChunk]:
    """Cut a message as models stream it: word by word, and everything else with the last chunk."""
    words = _WORD.findall(message.content) if isinstance(message.content, str) else []
    for word in words:
        yield ChatGenerationChunk(message=AIMessageChunk(content=word))
    rest = message.model_dump(exclude={"type", "content", "tool_calls", "invalid_tool_calls"})
    calls = [
        tool_call_chunk(name=call["name"], args=json.dumps(call["args"]), id=call["id"], index=index)
        for index, call in enumerate(message.tool_calls)
    ]
    left = "" if words else message.content
    yield ChatGenerationChunk(
        message=AIMessageChunk(content=left, **rest, tool_call_chunks=calls, chunk_position="last")
    )


def _playable(item: Any) -> Reply | AIMessage | BaseException:
    if isinstance(item, str | dict | list):
        return Reply(item)
    if isinstance(item, Reply | AIMessage | BaseException):
        return item
    allowed = "a text, a dictionary, a list, a Reply, an AIMessage or an exception"
    raise ConfigurationError(f"script: {allowed} is required; given: {type(item).__name__}")


def _parser(schema: dict[str, Any] | type) -> BaseOutputParser[Any]:
    if isinstance(schema, type) and issubclass(schema, BaseModel):
        return PydanticOutputParser(pydantic_object=schema)
    return JsonOutputParser()
