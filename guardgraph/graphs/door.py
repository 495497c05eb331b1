"""The compiled graph of a pattern: LangGraph's own, with a door that lets only plain input through.

LangGraph raises out of `invoke` for what a checkpointer cannot store and for input that is no dictionary; a user of a
guarded graph gets a stop reason, or one clear error of ours.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Iterator, Mapping
from typing import Any, Never

from langgraph.constants import TAG_NOSTREAM
from langgraph.errors import EmptyInputError, InvalidUpdateError
from langgraph.graph.state import CompiledStateGraph
from langgraph.types import Command
from pydantic import ValidationError

from guardgraph.graphs.admission import admitted_config
from guardgraph.graphs.resuming import aclose_stray, close_stray
from guardgraph.state.errors import ConfigurationError, InputError
from guardgraph.state.plain import json_problem
from guardgraph.state.settings import configuration_error

__all__ = ["REFUSED", "GuardedGraph"]

REFUSED = "guardgraph:refused"
"""Key of the mark that stands in for an input value that no state can hold."""

_UPDATE_REFUSED = (
    "state: only the nodes of a guarded graph write it; start a run with an input, or resume one with a Command"
)


class StateRefused(InputError, InvalidUpdateError):
    """An InputError for a state that somebody wants to write; LangGraph's server answers it with 400."""


class GuardedGraph(CompiledStateGraph[Any, Any, Any, Any]):
    """A compiled LangGraph graph whose every run ends with a stop reason.

    Use it like any compiled graph: invoke, ainvoke, stream, astream, batch, bind, as a node of another graph. Only its
    nodes write the state: `update_state` and its like are an `InputError`, as a `Command` with an update is.
    """

    def stream(self, input: Any, config: Any = None, *, context: Any = None, **kwargs: Any) -> Iterator[Any]:
        """Stream a run; see LangGraph's `stream`.

        Raises:
            InputError: the input is no dictionary, or None on a thread that never ran. (On a thread whose run is over,
                None returns that run's result again, as LangGraph does: nothing runs, and no context is asked.)
            ConfigurationError: the context has unknown fields or wrong types, or there is a checkpointer but no thread.
        """
        admitted, context, config = self._admitted(input), self._context(context), admitted_config(self, input, config)
        config = close_stray(self, admitted, config)
        try:
            yield from super().stream(admitted, _tokenless(config), context=context, **kwargs)
        except EmptyInputError as error:
            raise self._nothing_to_resume() from error

    async def astream(
        self, input: Any, config: Any = None, *, context: Any = None, **kwargs: Any
    ) -> AsyncIterator[Any]:
        """Stream a run asynchronously; see `stream`."""
        admitted, context, config = self._admitted(input), self._context(context), admitted_config(self, input, config)
        config = await aclose_stray(self, admitted, config)
        try:
            async for chunk in super().astream(admitted, _tokenless(config), context=context, **kwargs):
                yield chunk
        except EmptyInputError as error:
            raise self._nothing_to_resume() from error

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

    def bulk_update_state(self, config: Any, supersteps: Any) -> Never:
        """Refuse what `update_state` and `bulk_update_state` would write: it would get around the guards.

        Raises:
            InputError: always.
        """
        raise StateRefused(_UPDATE_REFUSED)

    async def abulk_update_state(self, config: Any, supersteps: Any) -> Never:
        """Refuse what `aupdate_state` and `abulk_update_state` would write; see `bulk_update_state`."""
        raise StateRefused(_UPDATE_REFUSED)

    def _admitted(self, given: Any) -> Any:
        if given is None:
            return None
        if isinstance(given, Command):
            return _resuming(given)
        if not isinstance(given, Mapping):
            raise InputError(f"input: a dictionary with {self._fields()} is required; given: {type(given).__name__}")
        return {name: _admitted(given.get(name)) for name in self.builder.schemas[self.builder.input_schema]}

    def _context(self, given: Any) -> Any:
        schema: Any = self.context_schema
        if given is None or isinstance(given, schema):
            return given
        if not isinstance(given, Mapping):
            raise ConfigurationError(f"context: a dictionary or a {schema.__name__}; given: {type(given).__name__}")
        try:
            return schema(**given)
        except ValidationError as error:
            raise configuration_error("context", error) from None
        except TypeError:
            raise ConfigurationError("context: a dictionary whose keys are strings") from None

    def _nothing_to_resume(self) -> InputError:
        return InputError(f"input: None resumes a run, but there is none to resume; give {self._fields()}")

    def _fields(self) -> str:
        return ", ".join(map(repr, self.builder.schemas[self.builder.input_schema]))


def _tokenless(config: Any) -> Any:
    """Keep what models write inside the graph out of token streams: no guard has judged it yet."""
    given = config or {}
    return {**given, "tags": [*(given.get("tags") or ()), TAG_NOSTREAM]}


def _whole(chunks: Iterable[Any]) -> list[Any]:
    """Join the chunks of a streamed input as LangChain does: of chunks that cannot be added, the last is the input."""
    whole: list[Any] = []
    for chunk in chunks:
        try:
            whole = [whole[0] + chunk] if whole else [chunk]
        except TypeError:
            whole = [chunk]
    return whole


def _resuming(given: Command[Any]) -> Command[Any]:
    if given.goto or given.update is not None or given.graph is not None:
        raise InputError("input: a Command may resume a run, but neither write channels nor choose a node")
    if given.resume is None:
        raise InputError(
            "input: a Command resumes a run with an answer, which is not None; None alone resumes without one"
        )
    if (problem := json_problem(given.resume)) is not None:
        raise InputError(f"input: a run is resumed with plain JSON; given: {problem}")
    return given


def _admitted(value: Any) -> Any:
    problem = json_problem(value)
    return value if problem is None else {REFUSED: problem}
