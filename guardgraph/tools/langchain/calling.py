"""Tools that a model calls by name: typed functions, and tools of LangChain's, MCP's among them."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from langchain_core.runnables import Runnable, RunnableConfig

from guardgraph.guards.tools.schemas import find_schema_problem
from guardgraph.plain.errors import ConfigurationError
from guardgraph.plain.json import JsonObject
from guardgraph.tools.langchain.asking import is_async_tool, is_langchain_tool
from guardgraph.tools.langchain.documents import is_of_langchain_class, read_tool_output
from guardgraph.world.table import NamedTool

if TYPE_CHECKING:
    from langchain_core.tools import BaseTool
    from pydantic import BaseModel

    Tools: TypeAlias = Sequence[BaseTool | Callable[..., Any]] | Mapping[str, NamedTool]
    """What an agent may be given as its tools."""

_TAKEN = "args"
"""A name that no parameter may have: LangChain's schemas of functions take it for all positional arguments."""
KEY_NAME = "idempotency_key"
"""The parameter by which a function is given the key of a write; no argument of the tool's."""


def name_tools(given: Tools) -> dict[str, NamedTool]:
    """Return tools by their names, each with what it is shown as and how it is called.

    Args:
        given: tools of LangChain's and typed functions, whose names are those of the tools; or tools by name.

    Raises:
        ConfigurationError: something is no tool, two have one name, or a schema is no JSON Schema of an object.
    """
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
    tool = target.tool if isinstance(target, CalledTool) else target
    functions = (getattr(tool, name, None) for name in ("func", "coroutine"))
    read = (inspect.signature(each).parameters.get(_TAKEN) for each in functions if callable(each))
    return any(each is not None and each.kind is not inspect.Parameter.VAR_POSITIONAL for each in read)


def _name_tool(tool: object, place: int) -> tuple[str, NamedTool]:
    if is_langchain_tool(tool):
        from langchain_core.utils.function_calling import convert_to_openai_function

        schema = dict(convert_to_openai_function(tool)["parameters"])
        return tool.name, NamedTool(CalledTool(tool), tool.description, schema)
    if isinstance(tool, Runnable) or not callable(tool) or inspect.isclass(tool) or not hasattr(tool, "__name__"):
        raise ConfigurationError(f"tools: a LangChain tool or a typed function is required; given: {tool!r:.80}")
    name = str(tool.__name__)
    if not name.isidentifier():
        raise ConfigurationError(f"tools[{place}]: a function with a name of its own is required; given: {name!r:.80}")
    return name, _name_function(name, tool)


def _name_function(name: str, function: Callable[..., Any]) -> NamedTool:
    """Return the tool that a function is: its parameters are the arguments, its docstring says what it does."""
    from langchain_core.tools import create_schema_from_function
    from langchain_core.utils.function_calling import convert_to_openai_function

    for each in inspect.signature(function).parameters.values():
        if each.name == _TAKEN and each.kind is not inspect.Parameter.VAR_POSITIONAL:
            raise ConfigurationError(f"tools.{name:.80}: another name of the parameter is required; given: {_TAKEN}")
        if each.kind not in (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY):
            given = f"{each.kind.description!s} {str(each)!r:.80}"
            raise ConfigurationError(
                f"tools.{name:.80}: parameters that are given by name are required; given: {given}"
            )
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
            return await function(**read_arguments(request, idempotency_key))

        return acall_function

    def call_function(request: JsonObject, idempotency_key: str | None = None) -> Any:
        return function(**read_arguments(request, idempotency_key))

    return call_function


class CalledTool(Runnable[JsonObject, Any]):
    """A tool of LangChain's that is called with its arguments; what it reports as a failure is raised.

    Args:
        tool: the tool.
    """

    def __init__(self, tool: BaseTool) -> None:
        self.name = tool.name
        self.tool = tool
        self._is_async = is_async_tool(tool)
        # Only a call of a model's brings what stands beside the content, and tells a failure from a text.
        has_more = tool.response_format == "content_and_artifact"
        self._is_called = bool(has_more or tool.handle_tool_error or tool.handle_validation_error)

    def invoke(self, input: JsonObject, config: RunnableConfig | None = None, **kwargs: Any) -> Any:
        """Call the tool; one that can only be awaited is, since a call has a thread of its own."""
        if self._is_async:
            return asyncio.run(self.ainvoke(input, config, **kwargs))
        return _read_called_output(self.tool.invoke(self._make_tool_call(input), config, **kwargs))

    async def ainvoke(self, input: JsonObject, config: RunnableConfig | None = None, **kwargs: Any) -> Any:
        """Call the tool without blocking the event loop."""
        return _read_called_output(await self.tool.ainvoke(self._make_tool_call(input), config, **kwargs))

    def _make_tool_call(self, args: JsonObject) -> Any:
        if not self._is_called:
            return args
        return {"type": "tool_call", "name": self.tool.name, "args": args, "id": self.tool.name}


def _read_called_output(returned: Any) -> object:
    """Return what a tool brings: the fields of an MCP server's result, where it sends them, else the content.

    Any other artifact is for programs, and no part of what a model is shown.
    """
    if not is_of_langchain_class(returned, "messages", "ToolMessage"):
        return read_tool_output(returned)
    fields = returned.artifact.get("structured_content") if isinstance(returned.artifact, dict) else None
    return read_tool_output(returned.model_copy(update={"artifact": fields}))
