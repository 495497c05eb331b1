"""Tools that a model calls by name: typed functions, and tools of LangChain's, MCP's among them."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeAlias, get_origin, get_type_hints
from uuid import uuid4

from langchain_core.runnables import Runnable, RunnableConfig

from guardgraph.guards.tools.schemas import find_schema_problem
from guardgraph.plain.errors import ConfigurationError, ExpectedFailure
from guardgraph.plain.json import JsonObject
from guardgraph.state.tools import REPORTED, REPORTED_CHARS
from guardgraph.tools.langchain.asking import is_async_tool, is_langchain_tool
from guardgraph.tools.langchain.documents import is_of_langchain_class, read_tool_output
from guardgraph.world.call import NamedTool

if TYPE_CHECKING:
    from langchain_core.tools import BaseTool
    from pydantic import BaseModel

    Tools: TypeAlias = Sequence[BaseTool | Callable[..., Any]] | Mapping[str, NamedTool]
    """What an agent may be given as its tools."""

_TAKEN = "args"
"""A name that no parameter may have: LangChain's schemas of functions take it for all positional arguments."""
KEY_NAME = "idempotency_key"  # the parameter by which a function is given the key of a write; no argument of the tool's


def name_tools(given: Tools) -> dict[str, NamedTool]:
    """Return tools by their names, each with what it is shown as and how it is called."""
    if not isinstance(given, Mapping) and (isinstance(given, str) or not isinstance(given, Sequence)):
        raise ConfigurationError(f"tools: a list of tools, or tools by name; given: {type(given).__name__}")
    if not given:
        raise ConfigurationError("tools: one tool or more are required; given: none")
    named = dict(given) if isinstance(given, Mapping) else {}
    for place, tool in enumerate(() if isinstance(given, Mapping) else given):
        name, made = _name_tool(tool, place)
        if name in named:
            raise ConfigurationError(f"tools: each name once; given twice: {name!r:.80}")
        named[name] = made
    for name, each in named.items():
        if not isinstance(each, NamedTool):
            continue
        if (problem := find_schema_problem(each.schema)) is not None:
            raise ConfigurationError(f"tools.{name:.80}: {problem}")
        if _TAKEN in (each.schema.get("properties") or {}) or _has_taken_parameter(each.target):
            raise ConfigurationError(f"tools.{name:.80}: another name of the parameter is required; given: {_TAKEN}")
    return named


def _has_taken_parameter(target: Any) -> bool:
    if not isinstance(target, CalledTool):
        return False  # a target of an application's own takes all arguments as one dictionary
    functions = (getattr(target.tool, name, None) for name in ("func", "coroutine"))
    read = (inspect.signature(each).parameters.get(_TAKEN) for each in functions if callable(each))
    return any(each is not None and each.kind is not inspect.Parameter.VAR_POSITIONAL for each in read)


def _name_tool(tool: object, place: int) -> tuple[str, NamedTool]:
    if inspect.isfunction(tool) and any(list_injected(tool)):
        from langchain_core.tools import StructuredTool

        is_async = inspect.iscoroutinefunction(tool)
        tool = StructuredTool.from_function(coroutine=tool) if is_async else StructuredTool.from_function(tool)
    if is_langchain_tool(tool):
        return tool.name, NamedTool(CalledTool(tool), tool.description, read_tool_schema(tool))
    if isinstance(tool, Runnable) or not callable(tool) or inspect.isclass(tool) or not hasattr(tool, "__name__"):
        raise ConfigurationError(f"tools: a LangChain tool or a typed function is required; given: {tool!r:.80}")
    name = str(tool.__name__)
    if not name.isidentifier():
        raise ConfigurationError(f"tools[{place}]: a function with a name of its own is required; given: {name!r:.80}")
    return name, _name_function(name, tool)


def read_tool_schema(tool: BaseTool) -> JsonObject:
    """Return the JSON Schema of a tool's arguments."""
    from langchain_core.utils.function_calling import convert_to_openai_function

    try:
        schema = dict(convert_to_openai_function(tool)["parameters"])
    except Exception as error:  # noqa: BLE001 - LangChain says in many ways that it cannot read a schema
        raise ConfigurationError(f"tools.{tool.name:.80}: a JSON Schema is required: {error!s:.200}") from None
    if (problem := find_schema_problem(schema)) is not None:
        raise ConfigurationError(f"tools.{tool.name:.80}: {problem}")
    return schema


def _name_function(name: str, function: Callable[..., Any]) -> NamedTool:
    from langchain_core.tools import create_schema_from_function
    from langchain_core.utils.function_calling import convert_to_openai_function

    for each in inspect.signature(function).parameters.values():
        if each.name == _TAKEN and each.kind is not inspect.Parameter.VAR_POSITIONAL:
            raise ConfigurationError(f"tools.{name:.80}: another name of the parameter is required; given: {_TAKEN}")
        if each.kind not in (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY):
            given = f"parameters that are given by name are required; given: {each.kind.description} {str(each)!r:.80}"
            raise ConfigurationError(f"tools.{name:.80}: {given}")
    try:
        model: Any = create_schema_from_function(name, function, filter_args=(KEY_NAME,), parse_docstring=False)
        schema = dict(convert_to_openai_function(model)["parameters"])
    except Exception as error:  # noqa: BLE001 - Pydantic has many ways to say that it has no schema of a type
        raise ConfigurationError(f"tools.{name:.80}: parameters with types of JSON are required: {error}") from None
    return NamedTool(_make_function_target(function, model), inspect.getdoc(function) or name, schema)


def _make_function_target(function: Callable[..., Any], model: type[BaseModel]) -> Callable[..., Any]:
    """Return a function of one dictionary that calls a function with arguments of the types that it names."""
    takes_key = KEY_NAME in inspect.signature(function).parameters

    def read_arguments(request: JsonObject, key: str | None) -> JsonObject:
        read = model.model_validate(request)
        keyed = {KEY_NAME: key} if takes_key and key is not None else {}
        return {**{name: getattr(read, name) for name in model.model_fields if name in request}, **keyed}

    if inspect.iscoroutinefunction(function):

        async def acall_function(request: JsonObject, idempotency_key: str | None = None) -> Any:
            with report_failures():
                return await function(**read_arguments(request, idempotency_key))

        return acall_function

    def call_function(request: JsonObject, idempotency_key: str | None = None) -> Any:
        with report_failures():
            return function(**read_arguments(request, idempotency_key))

    return call_function


class CalledTool(Runnable[JsonObject, Any]):
    """A tool of LangChain's that is called with its arguments, and with those that LangChain injects."""

    def __init__(self, tool: BaseTool) -> None:
        self.name = tool.name
        self.tool = tool
        self._is_async = is_async_tool(tool)
        injected = list_injected(getattr(tool, "func", None) or getattr(tool, "coroutine", None) or tool._run)
        if unfilled := [name for name, kind in injected.items() if kind == "unfilled"]:
            allowed = "parameters without injected state, store or values of an application are required"
            said = f"{allowed}, or with defaults; given: {', '.join(unfilled)}"
            raise ConfigurationError(f"tools.{tool.name:.80}: {said}")
        self._runtime = [name for name, kind in injected.items() if kind == "runtime"]
        # Only a call of a model's brings what stands beside the content, and tells a failure from a text.
        has_more = tool.response_format == "content_and_artifact"
        handles = tool.handle_tool_error or tool.handle_validation_error
        self._is_called = bool(has_more or handles or injected)

    def invoke(self, input: JsonObject, config: RunnableConfig | None = None, **kwargs: Any) -> Any:
        """Call the tool; one that can only be awaited is, since a call has a thread of its own."""
        if self._is_async:
            return asyncio.run(self.ainvoke(input, config, **kwargs))
        with report_failures():
            return _read_called_output(self.tool.invoke(self._make_tool_call(input, config), config, **kwargs))

    async def ainvoke(self, input: JsonObject, config: RunnableConfig | None = None, **kwargs: Any) -> Any:
        """Call the tool without blocking the event loop."""
        with report_failures():
            return _read_called_output(await self.tool.ainvoke(self._make_tool_call(input, config), config, **kwargs))

    def _make_tool_call(self, args: JsonObject, config: RunnableConfig | None) -> Any:
        if not self._is_called:
            return args
        call = f"{self.tool.name}-{uuid4().hex}"
        given = {**args, **{name: _make_runtime(call, config) for name in self._runtime}}
        return {"type": "tool_call", "name": self.tool.name, "args": given, "id": call}


@contextmanager
def report_failures() -> Iterator[None]:
    """Raise the failure that a tool reports as one that was to be expected: the model is shown its message."""
    from langchain_core.tools import ToolException

    try:
        yield
    except ToolException as error:
        raise _make_reported_failure(str(error)) from error


def _make_reported_failure(message: str) -> ExpectedFailure:
    return ExpectedFailure(REPORTED, {"message": message.strip()[:REPORTED_CHARS] or "the tool reported a failure"})


def _make_runtime(call: str, config: RunnableConfig | None) -> Any:
    """Return LangGraph's runtime of a tool: the call's id and the configuration; there is no state and no store."""
    from langgraph.prebuilt import ToolRuntime

    nothing: Any = {"state": {}, "context": None, "stream_writer": lambda _: None, "store": None}
    return ToolRuntime(**nothing, config=config or {}, tool_call_id=call)


def list_injected(function: Callable[..., Any]) -> dict[str, str]:
    """Return the parameters that LangChain injects, each with who fills it."""
    from langchain_core.tools import InjectedToolArg, InjectedToolCallId
    from langgraph.prebuilt import ToolRuntime

    try:
        hints = get_type_hints(function, include_extras=True)
    except (NameError, TypeError):  # of types that only a type checker sees; LangChain cannot read them either
        return {}
    found = dict[str, str]()
    for name, each in inspect.signature(function).parameters.items():
        hint = hints.get(name)
        said = [item if inspect.isclass(item) else type(item) for item in getattr(hint, "__metadata__", ())]
        if hint is ToolRuntime or get_origin(hint) is ToolRuntime:
            found[name] = "runtime"
        elif any(issubclass(item, InjectedToolCallId) for item in said):
            found[name] = "call"
        elif any(issubclass(item, InjectedToolArg) for item in said):
            found[name] = "unfilled" if each.default is inspect.Parameter.empty else "default"
    return found


def _read_called_output(returned: Any) -> object:
    """Return what a tool brings: the fields of an MCP server's result, where it sends them, else the content."""
    # Any other artifact is for programs, and no part of what a model is shown.
    if not is_of_langchain_class(returned, "messages", "ToolMessage"):
        return read_tool_output(returned)
    if returned.status == "error":
        raise _make_reported_failure(returned.text)
    fields = returned.artifact.get("structured_content") if isinstance(returned.artifact, dict) else None
    return read_tool_output(returned.model_copy(update={"artifact": fields}))
