"""How each kind of thing of LangChain's is asked, in its own words, sync and async."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, Protocol, TypeGuard

from langchain_core.runnables import Runnable, RunnableConfig, RunnableLambda

from guardgraph.plain.errors import ConfigurationError
from guardgraph.plain.json import JsonObject
from guardgraph.tools.langchain.documents import is_of_langchain_class, read_tool_output

if TYPE_CHECKING:
    from langchain_core.retrievers import BaseRetriever
    from langchain_core.tools import BaseTool
    from langchain_core.vectorstores import VectorStore


_WRAPPED = ("bound", "runnable", "default")
"""Where `with_retry` and `bind`, `with_fallbacks`, `configurable_fields` keep what they wrap."""


_LOOKED_AT: Final = 64  # documents that a store that filters late looks at, for each that it is asked for


class Asker(Protocol):
    """Somebody who is asked for documents."""

    is_counted: bool  # whether it can be asked for a number of documents, and gives them best first

    def find_documents(
        self, request: JsonObject, count: int, extra: Mapping[str, Any], config: RunnableConfig | None
    ) -> object:
        """Return what it finds: `count` documents, if it can be told, with `extra` arguments of its own."""

    async def afind_documents(
        self, request: JsonObject, count: int, extra: Mapping[str, Any], config: RunnableConfig | None
    ) -> object:
        """Ask like `find_documents`, without blocking the event loop."""


def unwrap_runnable(given: object) -> object:
    """Return what retries, fallbacks and bound arguments are wrapped around."""
    while isinstance(given, Runnable):
        inner = next((found for name in _WRAPPED if isinstance(found := getattr(given, name, None), Runnable)), None)
        if inner is None or is_langchain_tool(given) or is_langchain_retriever(given):
            break
        given = inner
    return given


def is_vector_store(given: object) -> TypeGuard[VectorStore]:
    """Say whether something is a vector store."""
    return is_of_langchain_class(given, "vectorstores", "VectorStore")


def is_langchain_retriever(given: object) -> TypeGuard[BaseRetriever]:
    """Say whether something is a retriever."""
    return is_of_langchain_class(given, "retrievers", "BaseRetriever")


def is_langchain_tool(given: object) -> TypeGuard[BaseTool]:
    """Say whether something is a tool."""
    return is_of_langchain_class(given, "tools", "BaseTool")


def is_from_langchain(given: object) -> TypeGuard[VectorStore | Runnable[Any, Any]]:
    """Say whether something is a vector store, or a retriever or a tool, wrapped or not."""
    inner = unwrap_runnable(given)
    return is_vector_store(inner) or is_langchain_retriever(inner) or is_langchain_tool(inner)


def make_langchain_asker(slot: str, given: Any, names: Sequence[str]) -> Asker:
    """Return who asks a retriever, a tool, another Runnable or a function."""
    inner = unwrap_runnable(given)
    if is_langchain_retriever(inner):
        return _AsksRunnable(given, lambda request: request[names[0]])
    if is_langchain_tool(inner):
        shown, is_async = _make_tool_input(slot, inner, names), is_async_tool(inner)
        return _AsksRunnable(given, shown, read=read_tool_output, is_async=is_async)
    if isinstance(given, Runnable):
        return _AsksRunnable(given, dict)
    if callable(given):
        return _AsksRunnable(RunnableLambda(given), dict, is_async=inspect.iscoroutinefunction(given))
    allowed = "a vector store, a retriever, a tool, another Runnable or a function of one dictionary"
    raise ConfigurationError(f"{slot}: {allowed} is required; given: {type(given).__name__}")


class AsksStore:
    """Asks a vector store."""

    is_counted = True

    def __init__(self, store: VectorStore, method: str) -> None:
        self._search = getattr(store, method)
        self._asearch = getattr(store, f"a{method}")
        # FAISS's filter sees only the 20 nearest of all, unless it is told otherwise: others' may be all of them.
        self._filters_late = "fetch_k" in inspect.signature(store.similarity_search_with_score).parameters

    def find_documents(
        self, request: JsonObject, count: int, extra: Mapping[str, Any], config: RunnableConfig | None
    ) -> object:
        """Return what the store finds; one that can only be awaited is."""
        try:
            return self._search(request["query"], k=count, **self._widen_late_filter(count, extra))
        except NotImplementedError:
            return asyncio.run(self.afind_documents(request, count, extra, config))

    async def afind_documents(
        self, request: JsonObject, count: int, extra: Mapping[str, Any], config: RunnableConfig | None
    ) -> object:
        """Return what the store finds."""
        return await self._asearch(request["query"], k=count, **self._widen_late_filter(count, extra))

    def _widen_late_filter(self, count: int, extra: Mapping[str, Any]) -> Mapping[str, Any]:
        """Let a store that filters what it found first look at more, where that is not said already."""
        return {"fetch_k": _LOOKED_AT * count, **extra} if self._filters_late and extra else extra


class _AsksRunnable:
    is_counted = False

    def __init__(
        self,
        runnable: Runnable[Any, Any],
        shown: Callable[[JsonObject], Any],
        *,
        read: Callable[[Any], object] = lambda returned: returned,
        is_async: bool = False,
    ) -> None:
        self._runnable = runnable
        self._shown = shown
        self._read = read
        self._is_async = is_async

    def find_documents(
        self, request: JsonObject, count: int, extra: Mapping[str, Any], config: RunnableConfig | None
    ) -> object:
        if self._is_async:  # as the world does with a coroutine function; a call has a thread of its own
            return asyncio.run(self.afind_documents(request, count, extra, config))
        try:
            return self._read(self._runnable.invoke(self._shown(request), config, **extra))
        except NotImplementedError:  # a retriever that can only be awaited
            return asyncio.run(self.afind_documents(request, count, extra, config))

    async def afind_documents(
        self, request: JsonObject, count: int, extra: Mapping[str, Any], config: RunnableConfig | None
    ) -> object:
        return self._read(await self._runnable.ainvoke(self._shown(request), config, **extra))


def is_async_tool(tool: BaseTool) -> bool:
    """Say whether a tool can only be awaited, as those of MCP are."""
    from langchain_core.tools import StructuredTool, Tool

    return isinstance(tool, StructuredTool | Tool) and tool.func is None and tool.coroutine is not None


def _make_tool_input(slot: str, tool: BaseTool, names: Sequence[str]) -> Callable[[JsonObject], Any]:
    """Return what a tool is shown of a request: the arguments that it takes."""
    from langchain_core.utils.function_calling import convert_to_openai_function

    told = convert_to_openai_function(tool)["parameters"]
    every, required = list(told.get("properties", {})), list(told.get("required", []))
    takes = {name: name for name in every if name in names}
    others = [name for name in required or every if name not in names]
    if names[0] not in takes and len(others) == 1:
        takes[others.pop()] = names[0]
    if names[0] not in takes.values() or any(name in required for name in others):
        allowed = f"a tool that needs no more than {', '.join(names)}, or one text,"
        raise ConfigurationError(f"{slot}: {allowed} is required; given: {tool.name!r}, which takes {', '.join(every)}")
    # Only a call of a model's brings the artifact, and tells a failure that the tool reports as a text.
    is_called = tool.response_format == "content_and_artifact" or tool.handle_tool_error or tool.handle_validation_error

    def pick_tool_arguments(request: JsonObject) -> Any:
        args = {argument: request[name] for argument, name in takes.items() if name in request}
        return {"type": "tool_call", "name": tool.name, "args": args, "id": tool.name} if is_called else args

    return pick_tool_arguments


def list_tool_arguments(given: object) -> list[str] | None:
    """Return the names of a tool's arguments, None of what is no tool."""
    from langchain_core.utils.function_calling import convert_to_openai_function

    if not is_langchain_tool(given):
        return None
    return [*convert_to_openai_function(given)["parameters"].get("properties", {})]
