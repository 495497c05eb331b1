"""The compiled graph of a pattern: LangGraph's own, with a door that lets only plain input through.

LangGraph raises out of `invoke` for what a checkpointer cannot store and for input that is no dictionary; a user of a
guarded graph gets a stop reason, or one clear error of ours.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Mapping
from typing import Any

from langgraph.errors import EmptyInputError, InvalidUpdateError
from langgraph.graph.state import CompiledStateGraph
from langgraph.types import Command
from pydantic import ValidationError

from guardgraph.guards.plain import json_problem
from guardgraph.state.errors import ConfigurationError, InputError
from guardgraph.state.settings import configuration_error

__all__ = ["REFUSED", "GuardedGraph"]

REFUSED = "guardgraph:refused"
"""Key of the mark that stands in for an input value that no state can hold."""


class GuardedGraph(CompiledStateGraph[Any, Any, Any, Any]):
    """A compiled LangGraph graph whose every run ends with a stop reason.

    Use it like any compiled graph: invoke, ainvoke, stream, astream, batch, bind, as a node of another graph.
    """

    def stream(self, input: Any, config: Any = None, *, context: Any = None, **kwargs: Any) -> Iterator[Any]:
        """Stream a run; see LangGraph's `stream`.

        Raises:
            InputError: the input is no dictionary, or there is no run to resume.
            ConfigurationError: the context has unknown fields or wrong types.
        """
        admitted, context = self._admitted(input), self._context(context)
        try:
            yield from super().stream(admitted, config, context=context, **kwargs)
        except (EmptyInputError, InvalidUpdateError) as error:
            raise self._input_error(input, error) from error

    async def astream(
        self, input: Any, config: Any = None, *, context: Any = None, **kwargs: Any
    ) -> AsyncIterator[Any]:
        """Stream a run asynchronously; see `stream`."""
        admitted, context = self._admitted(input), self._context(context)
        try:
            async for chunk in super().astream(admitted, config, context=context, **kwargs):
                yield chunk
        except (EmptyInputError, InvalidUpdateError) as error:
            raise self._input_error(input, error) from error

    def _admitted(self, given: Any) -> Any:
        if given is None or isinstance(given, Command):
            return given
        if not isinstance(given, Mapping):
            raise InputError(f"input: a dictionary with {self._fields()} is required; given: {type(given).__name__}")
        return {name: _admitted(given.get(name)) for name in self.builder.schemas[self.builder.input_schema]}

    def _context(self, given: Any) -> Any:
        schema = self.context_schema
        if given is None or schema is None or isinstance(given, schema):
            return given
        if not isinstance(given, Mapping):
            raise ConfigurationError(f"context: a dictionary or a {schema.__name__}; given: {type(given).__name__}")
        try:
            return schema(**given)
        except ValidationError as error:
            raise configuration_error("context", error) from None
        except TypeError:
            raise ConfigurationError("context: a dictionary whose keys are strings") from None

    def _input_error(self, given: Any, error: Exception) -> Exception:
        if given is None:
            return InputError(f"input: None resumes a run, but there is none to resume; give {self._fields()}")
        return error

    def _fields(self) -> str:
        return ", ".join(map(repr, self.builder.schemas[self.builder.input_schema]))


def _admitted(value: Any) -> Any:
    problem = json_problem(value)
    return value if problem is None else {REFUSED: problem}
