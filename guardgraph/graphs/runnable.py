"""A graph as LangChain's Runnable: the ways to call `invoke` that LangChain has."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Iterator
from typing import Any, Generic, Literal, overload

from langchain_core.runnables import RunnableConfig
from langgraph.graph.state import CompiledStateGraph
from typing_extensions import Unpack

from guardgraph.graphs.signatures import Config, ContextT, Extras, InputT, ResultT, Within

__all__ = ["GraphRunnable"]


class GraphRunnable(CompiledStateGraph[Any, Any, Any, Any], Generic[InputT, ContextT, ResultT]):
    """A compiled LangGraph graph, of an input, a context and a result, in the batches and chains of LangChain."""

    @overload  # type: ignore[override]  # an argument that LangGraph does not know is an error
    def batch(
        self,
        inputs: list[InputT],
        config: Config | list[RunnableConfig] = None,
        *,
        return_exceptions: Literal[False] = False,
        context: Within[ContextT] = None,
        **kwargs: Unpack[Extras],
    ) -> list[ResultT]: ...

    @overload
    def batch(
        self,
        inputs: list[InputT],
        config: Config | list[RunnableConfig] = None,
        *,
        return_exceptions: Literal[True],
        context: Within[ContextT] = None,
        **kwargs: Unpack[Extras],
    ) -> list[ResultT | Exception]: ...

    def batch(self, inputs: list[Any], config: Any = None, *, return_exceptions: bool = False, **kwargs: Any) -> Any:
        """Make several runs and return their results; see LangChain's `batch`."""
        return super().batch(inputs, config, return_exceptions=return_exceptions, **kwargs)

    @overload  # type: ignore[override]  # an argument that LangGraph does not know is an error
    async def abatch(
        self,
        inputs: list[InputT],
        config: Config | list[RunnableConfig] = None,
        *,
        return_exceptions: Literal[False] = False,
        context: Within[ContextT] = None,
        **kwargs: Unpack[Extras],
    ) -> list[ResultT]: ...

    @overload
    async def abatch(
        self,
        inputs: list[InputT],
        config: Config | list[RunnableConfig] = None,
        *,
        return_exceptions: Literal[True],
        context: Within[ContextT] = None,
        **kwargs: Unpack[Extras],
    ) -> list[ResultT | Exception]: ...

    async def abatch(
        self, inputs: list[Any], config: Any = None, *, return_exceptions: bool = False, **kwargs: Any
    ) -> Any:
        """Make several runs asynchronously; see `batch`."""
        return await super().abatch(inputs, config, return_exceptions=return_exceptions, **kwargs)

    def transform(self, input: Iterator[Any], config: Any = None, **kwargs: Any) -> Iterator[Any]:
        """Yield the result of a run, whole, to the next step of a chain that is streamed.

        LangChain would hand on what `stream` yields, the updates of the nodes; a next step reads what `invoke` returns.
        """
        for given in _whole(input):
            yield self.invoke(given, config, **kwargs)

    async def atransform(self, input: AsyncIterator[Any], config: Any = None, **kwargs: Any) -> AsyncIterator[Any]:
        """Yield the result of a run asynchronously; see `transform`."""
        for given in _whole([chunk async for chunk in input]):
            yield await self.ainvoke(given, config, **kwargs)


def _whole(chunks: Iterable[Any]) -> list[Any]:
    """Join the chunks of a streamed input as LangChain does: of chunks that cannot be added, the last is the input."""
    whole: list[Any] = []
    for chunk in chunks:
        try:
            whole = [whole[0] + chunk] if whole else [chunk]
        except TypeError:
            whole = [chunk]
    return whole
