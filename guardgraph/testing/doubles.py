"""What follows a script in a test: a chat model, tools, a clock; and a recorder that keeps recordings in memory."""

from __future__ import annotations

import asyncio
import json
import re
import time
from collections.abc import AsyncIterator, Callable, Collection, Iterable, Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from glob import glob
from operator import itemgetter
from pathlib import Path
from threading import Lock
from typing import Any, TypeAlias

from langchain_core.language_models import BaseChatModel, LanguageModelInput
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage
from langchain_core.messages.tool import tool_call_chunk
from langchain_core.output_parsers import BaseOutputParser, JsonOutputParser, PydanticOutputParser
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
from langchain_core.runnables import Runnable, RunnableMap, RunnablePassthrough
from langchain_core.tools import BaseTool
from langchain_core.utils.function_calling import convert_to_openai_tool
from pydantic import BaseModel, PrivateAttr

from guardgraph.checking.answer import check_answer
from guardgraph.checking.checked import CheckedAnswer
from guardgraph.graphs.running.door import GuardedGraph
from guardgraph.graphs.shadows import judge_recording_again
from guardgraph.plain.errors import ConfigurationError, InputError
from guardgraph.plain.json import RESULT_DEPTH, JsonObject, JsonValue, NotJson, parse_json
from guardgraph.state.recording import BegunRun, Recording, RunNote, validate_recording


@dataclass(frozen=True, slots=True)
class RecordedRun:
    """A recording in a file, to be decided again by an agent."""

    agent: GuardedGraph[Any, Any, Any]
    file: str
    recording: Recording

    def check(self) -> None:
        """Decide the run again, without a call.

        Raises:
            AssertionError: it would have another result, or somebody would be asked what was not recorded; it says
                which.
        """
        again = judge_recording_again(self.agent.frame, self.recording)
        if again.kind != "same":
            asked = f"{again.call.node} asks: {again.call.difference}" if again.call is not None else ""
            new = f"now {again.new}" if again.new is not None else ""
            said = ", ".join(filter(None, (again.kind, f"was {again.old}", new, asked, again.why)))
            raise AssertionError(f"{self.file}: {said}")

    def __str__(self) -> str:
        return Path(self.file).stem


def replays(agent: GuardedGraph[Any, Any, Any], files: str) -> list[RecordedRun]:
    """Return recorded runs as parameters of a test, each with a `check`: ``parametrize("run", ..., ids=str)``.

    Args:
        agent: a guarded graph.
        files: a pattern of file names, each with one recording as JSON; the runs are in their order.

    Raises:
        ConfigurationError: no file has such a name, or `agent` is no guarded graph.
        InputError: a file cannot be read, or holds no recording.
    """
    if not isinstance(agent, GuardedGraph):
        raise ConfigurationError(f"agent: a guarded graph is required; given: {type(agent).__name__}")
    runs = list[RecordedRun]()
    for name in sorted(glob(files, recursive=True)):
        try:
            value = parse_json(Path(name).read_text(encoding="utf-8-sig"), RESULT_DEPTH, keys_once=True)
            runs.append(RecordedRun(agent, name, validate_recording(value)))
        except (OSError, UnicodeError, NotJson, InputError) as error:
            raise InputError(f"files: {name!r:.200}: {getattr(error, 'strerror', None) or error}") from error
    if not runs:
        raise ConfigurationError(f"files: the name of a file at least is required; no file is called {files!r:.200}")
    return runs


class ScriptedClock:
    """A clock that only a script moves, from `start` on, and by `step` seconds after every reading; thread-safe."""

    def __init__(self, start: float = 0.0, step: float = 0.0) -> None:
        self._now = float(start)
        self._step = check_clock_step(step)
        self._lock = Lock()

    def __call__(self) -> float:
        """Return the time in seconds."""
        with self._lock:
            now = self._now
            self._now += self._step
            return now

    def advance(self, seconds: float) -> None:
        """Let time pass; seconds are not negative, since this clock is monotonic."""
        with self._lock:
            self._now += check_clock_step(seconds)


def check_clock_step(seconds: float) -> float:
    """Return seconds, if time can pass by them."""
    if not seconds >= 0:
        raise ConfigurationError(f"seconds: a number of at least 0 is required; given: {seconds}")
    return float(seconds)


class InMemoryRecorder:
    """Keeps what it is given, for tests and notebooks; nothing of it outlives the process."""

    def __init__(self) -> None:
        self.runs: list[Recording] = []  # the recordings, in the order in which their runs ended
        self.begun: list[BegunRun] = []  # the beginnings, in the order in which the runs began, ended ones too
        self.noted: list[RunNote] = []  # the notes, in their order

    @property
    def open(self) -> list[BegunRun]:
        """The beginnings of the runs that have no ending."""
        ended = {run["run_id"] for run in self.runs}
        return [begun for begun in self.begun if begun["run_id"] not in ended]

    def begin(self, run: BegunRun) -> None:
        """Keep a beginning."""
        self.begun.append(run)

    def note(self, note: RunNote) -> None:
        """Keep a note."""
        self.noted.append(note)

    def notes(self, request: str) -> list[RunNote]:
        """Return the notes of a request."""
        return [note for note in self.noted if note["request"] == request]

    def record(self, run: Recording) -> None:
        """Keep a recording."""
        self.runs.append(run)


class ScriptExhausted(AssertionError):
    """More calls were made than the script has items: the test, or what it tests, is wrong."""


class Script:
    """Items that are played one a call; exceptions are raised."""

    def __init__(self, owner: str, items: Iterable[Any], *, loop: bool) -> None:
        self._owner = owner
        self._items = tuple(items)
        self._loop = loop
        self._lock = Lock()
        self._calls: list[Any] = []

    def list_scripted_calls(self) -> list[Any]:
        """Return the calls so far, in order."""
        with self._lock:
            return list(self._calls)

    def play_script_item(self, call: Any) -> Any:
        """Note a call and return its item; an exception is raised."""
        with self._lock:
            self._calls.append(call)
            made, scripted = len(self._calls), len(self._items)
        if made > scripted and not (self._loop and scripted):
            raise ScriptExhausted(f"{self._owner}: call {made}, but the script has {scripted} item(s)")
        item = self._items[min(made, scripted) - 1]
        if isinstance(item, BaseException) or (isinstance(item, type) and issubclass(item, BaseException)):
            raise item
        return item


@dataclass(frozen=True)
class Reply:
    """One answer of a scripted model, with everything that a real one can say about it."""

    text: JsonValue = ""  #: the text; a dictionary or a list is turned into JSON
    usage: Mapping[str, int] | None = None
    """Tokens: ``input_tokens``, ``output_tokens``, ``total_tokens`` (the sum where it is left out)."""
    delay: float = 0.0  #: seconds before the answer; the model's clock advances by them, or they are slept
    finish_reason: str = "stop"  #: ``stop``, ``length``, ``content_filter``
    refusal: str | None = None  #: what the model says instead of answering

    def __post_init__(self) -> None:
        check_clock_step(self.delay)

    def message(self, model: str) -> AIMessage:
        """Return the message that a chat model would make of this reply."""
        usage: Any = None
        if self.usage is not None:
            given = {"input_tokens": 0, "output_tokens": 0, **self.usage}
            usage = {"total_tokens": given["input_tokens"] + given["output_tokens"], **given}
        return AIMessage(
            content=self.text if isinstance(self.text, str) else json.dumps(self.text, ensure_ascii=False),
            additional_kwargs={} if self.refusal is None else {"refusal": self.refusal},
            response_metadata={"finish_reason": self.finish_reason, "model_name": model},
            usage_metadata=usage,
        )


class ScriptedTool:
    """A callable of one dictionary that answers from a script; thread-safe. Made by `scripted_tool`."""

    def __init__(self, results: Iterable[Any], *, loop: bool, name: str) -> None:
        self._script = Script(name, results, loop=loop)

    @property
    def calls(self) -> list[JsonObject]:
        """The requests so far, in order, as they were when they were made."""
        return self._script.list_scripted_calls()

    def __call__(self, request: JsonObject) -> Any:
        """Play the next item."""
        item = self._script.play_script_item(deepcopy(request))
        return item(request) if callable(item) else deepcopy(item)


def scripted_tool(*results: Any, loop: bool = False, name: str = "scripted_tool") -> ScriptedTool:
    """Return a tool that answers from a script, one item a call; the last again and again if it is to `loop`.

    An item is a value, an exception (raised), or a callable (called with the request, its result returned).
    """
    return ScriptedTool(results, loop=loop, name=name)


def scripted_verifier(*unsupported: Collection[str] | BaseException, loop: bool = False) -> ScriptedTool:
    """Return a verifier that judges claims by a script, one item a call; the last again and again if it is to `loop`.

    An item is texts, by any of which a claim that contains it is not supported, or an exception (raised).
    """
    return ScriptedTool(map(_script_judgement, unsupported), loop=loop, name="scripted_verifier")


def _script_judgement(item: Any) -> Any:
    if isinstance(item, BaseException):
        return item
    if isinstance(item, str) or not isinstance(item, Collection) or not all(isinstance(text, str) for text in item):
        raise ConfigurationError(f"unsupported: lists of texts, or exceptions, are required; given: {item!r:.80}")
    wrong = tuple(item)

    def judge_claims(request: JsonObject) -> JsonObject:
        judged = []
        for each in request["claims"]:
            judged.append({"number": each["number"], "supported": not any(text in each["claim"] for text in wrong)})
        return {"claims": judged}

    return judge_claims


_WORD = re.compile(r"\s*\S+\s*|\s+")
_Messages: TypeAlias = list[BaseMessage]


@dataclass(frozen=True)
class ModelCall:
    """What a scripted model was asked."""

    messages: list[BaseMessage]
    kwargs: JsonObject  #: what was bound to the call, such as ``response_format``


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
        self._script = Script(self.model_name, map(_check_script_item, script), loop=loop)
        self._clock = clock

    @property
    def calls(self) -> list[ModelCall]:
        """What the model was asked so far, in order."""
        return self._script.list_scripted_calls()

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def _generate(self, messages: _Messages, stop: Any = None, run_manager: Any = None, **kwargs: Any) -> ChatResult:
        message, seconds = self._take_reply(messages, kwargs)
        time.sleep(seconds)
        return ChatResult(generations=[ChatGeneration(message=message)])

    async def _agenerate(
        self, messages: _Messages, stop: Any = None, run_manager: Any = None, **kwargs: Any
    ) -> ChatResult:
        message, seconds = self._take_reply(messages, kwargs)
        await asyncio.sleep(seconds)
        return ChatResult(generations=[ChatGeneration(message=message)])

    def _stream(
        self, messages: _Messages, stop: Any = None, run_manager: Any = None, **kwargs: Any
    ) -> Iterator[ChatGenerationChunk]:
        message, seconds = self._take_reply(messages, kwargs)
        time.sleep(seconds)
        yield from _stream_scripted_message(message)

    async def _astream(
        self, messages: _Messages, stop: Any = None, run_manager: Any = None, **kwargs: Any
    ) -> AsyncIterator[ChatGenerationChunk]:
        message, seconds = self._take_reply(messages, kwargs)
        await asyncio.sleep(seconds)
        for chunk in _stream_scripted_message(message):
            yield chunk

    def _take_reply(self, messages: _Messages, kwargs: JsonObject) -> tuple[AIMessage, float]:
        """Return the next message of the script, and the seconds that are to be slept before."""
        item = self._script.play_script_item(ModelCall(list(messages), kwargs))
        if not isinstance(item, Reply):
            return item.model_copy(deep=True), 0.0
        if self._clock is None:
            return item.message(self.model_name), item.delay
        self._clock.advance(item.delay)
        return item.message(self.model_name), 0.0

    def bind_tools(
        self,
        tools: Sequence[dict[str, Any] | type | Callable[..., Any] | BaseTool],
        *,
        tool_choice: str | None = None,
        **kwargs: Any,
    ) -> Runnable[LanguageModelInput, AIMessage]:
        """Return the model as an agent uses it; what is given is recorded in the call, the tools in OpenAI's form."""
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
        """Return a Runnable that parses replies, as ``ChatOpenAI`` does; what is given is recorded in the call.

        With `include_raw` it returns ``{"raw", "parsed", "parsing_error"}``, and never raises on a bad text.
        """
        function = convert_to_openai_tool(schema)["function"]
        form = {"name": function["name"], "schema": function.get("parameters", {}), "strict": strict}
        llm = self.bind(response_format={"type": method, method: form}, **kwargs)
        parser: BaseOutputParser[Any] = JsonOutputParser()
        if isinstance(schema, type) and issubclass(schema, BaseModel):
            parser = PydanticOutputParser(pydantic_object=schema)
        if not include_raw:
            return llm | parser
        parsed = RunnablePassthrough.assign(parsed=itemgetter("raw") | parser, parsing_error=lambda _: None)
        failed = RunnablePassthrough.assign(parsed=lambda _: None)
        return RunnableMap(raw=llm) | parsed.with_fallbacks([failed], exception_key="parsing_error")


def _stream_scripted_message(message: AIMessage) -> Iterator[ChatGenerationChunk]:
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


def _check_script_item(item: Any) -> Reply | AIMessage | BaseException:
    if isinstance(item, str | dict | list):
        return Reply(item)
    if isinstance(item, Reply | AIMessage | BaseException):
        return item
    allowed = "a text, a dictionary, a list, a Reply, an AIMessage or an exception"
    raise ConfigurationError(f"script: {allowed} is required; given: {type(item).__name__}")


def assert_grounded(answer: str, sources: Iterable[object], **settings: Any) -> CheckedAnswer:
    """Check an answer as `check_answer` does, whose arguments it takes, and return what came of it.

    Raises:
        AssertionError: an agent would refuse the answer; it shows the sentences with their verdicts.
    """
    __tracebackhide__ = True
    checked = check_answer(answer, sources, **settings)
    assert checked.ok, checked.to_text()
    return checked
