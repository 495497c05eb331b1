"""The compiled graph of a pattern: LangGraph's own, with a door that lets only plain input through.

LangGraph raises out of `invoke` for what a checkpointer cannot store and for input that is no dictionary; a user of a
guarded graph gets a stop reason, or one clear error of ours. What type checkers know of its calls stands here too.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import aclosing, closing
from functools import lru_cache
from logging import getLogger
from typing import Any, Generic, Literal, Never, TypeAlias, overload

from langchain_core.runnables import RunnableConfig
from langgraph.errors import EmptyInputError, InvalidUpdateError
from langgraph.graph.state import CompiledStateGraph
from langgraph.types import All, Command, Durability, StreamMode
from pydantic import ValidationError
from typing_extensions import TypedDict, TypeVar, Unpack

from guardgraph.graphs.declaring.channels import name_input_field
from guardgraph.graphs.running.admission import (
    aclose_stray_run,
    admit_durability,
    admit_resume_command,
    admit_run_config,
    akeep_unwritten_seconds,
    aread_resume_checkpoint,
    close_stray_run,
    keep_unwritten_seconds,
    list_given_answers,
    read_outer_durability,
    read_resume_checkpoint,
    read_unwritten_seconds,
    read_waiting_question,
    refuse_forged_config,
    refuse_halting,
    refuse_other_caller,
    validate_config,
)
from guardgraph.graphs.running.forks import choose_checkpoint
from guardgraph.graphs.running.frame import Frame
from guardgraph.graphs.running.handing import copy_langgraph_value, copy_outer_stream, hide_token_stream
from guardgraph.graphs.running.langgraph import INTERRUPT
from guardgraph.graphs.running.licensing import check_context_tools
from guardgraph.graphs.running.node import aperform_driven_node, perform_driven_node
from guardgraph.graphs.running.observing import observe_session
from guardgraph.graphs.running.requests import aread_earlier_run, is_asked_again, read_earlier_run
from guardgraph.graphs.running.session import (
    CALLER_REFUSED,
    Session,
    find_session,
    is_context_by_code,
    mark_refused_input,
    name_outer_visit,
)
from guardgraph.plain.errors import ConfigurationError, InputError, make_configuration_error
from guardgraph.plain.json import format_json_text, is_plain_json, parse_json
from guardgraph.plain.log import LOGGER
from guardgraph.plain.secrets import cut_and_mask_text
from guardgraph.state.context import check_field_counts
from guardgraph.world.threads import await_in_thread

InputT = TypeVar("InputT", default=Any)
"""What a run is given."""
ContextT = TypeVar("ContextT", default=Any)
"""What a run may tighten."""
ResultT = TypeVar("ResultT", default=Any)
"""What a run returns."""

Given: TypeAlias = InputT | Command[Any] | None
"""What begins a run, answers one that waits, or has one go on."""
Within: TypeAlias = ContextT | Mapping[str, Any] | None
"""A context, or the dictionary of one."""
Config: TypeAlias = RunnableConfig | None
"""LangGraph's configuration of a run."""


class Extras(TypedDict, total=False):
    """Arguments of `invoke` that leave the result as it is."""

    durability: Durability | None
    print_mode: StreamMode | Sequence[StreamMode]


class Forms(Extras, total=False):
    """Arguments of `invoke` with which it returns another form than the result, or before the run is over."""

    stream_mode: StreamMode
    version: Literal["v1", "v2"]
    output_keys: str | Sequence[str] | None
    interrupt_before: All | Sequence[str] | None
    interrupt_after: All | Sequence[str] | None
    control: Any


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
        for given in config if isinstance(config, list) else [config]:
            validate_config(given)
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
        for given in config if isinstance(config, list) else [config]:
            validate_config(given)
        return await super().abatch(inputs, config, return_exceptions=return_exceptions, **kwargs)

    def transform(self, input: Iterator[Any], config: Any = None, **kwargs: Any) -> Iterator[Any]:
        """Yield the result of a run, whole, to the next step of a chain that is streamed.

        LangChain would hand on what `stream` yields, the updates of the nodes; a next step reads what `invoke` returns.
        """
        for given in _join_input_chunks(input):
            yield self.invoke(given, config, **kwargs)

    async def atransform(self, input: AsyncIterator[Any], config: Any = None, **kwargs: Any) -> AsyncIterator[Any]:
        """Yield the result of a run asynchronously; see `transform`."""
        for given in _join_input_chunks([chunk async for chunk in input]):
            yield await self.ainvoke(given, config, **kwargs)


def _join_input_chunks(chunks: Iterable[Any]) -> list[Any]:
    """Join the chunks of a streamed input as LangChain does: of chunks that cannot be added, the last is the input."""
    whole: list[Any] = []
    for chunk in chunks:
        try:
            whole = [whole[0] + chunk] if whole else [chunk]
        except TypeError:
            whole = [chunk]
    return whole


_FORMS = frozenset({"version", "stream_mode"})
"""Arguments of `invoke` with which a caller chooses another form than the result."""

_UPDATE_REFUSED = (
    "state: only the nodes of a guarded graph write it; start a run with an input, or resume one with a Command"
)


class StateRefused(InputError, InvalidUpdateError):
    """An InputError for a state that somebody wants to write; LangGraph's server answers it with 400."""


class GuardedGraph(GraphRunnable[InputT, ContextT, ResultT]):
    """A compiled LangGraph graph whose every run ends with a stop reason.

    Use it like any compiled graph: invoke, ainvoke, stream, astream, batch, bind, as a node of another graph. Only its
    nodes write the state: `update_state` and its like are an `InputError`, as a `Command` with an update is.

    For type checkers it is a graph of an input, a context and a result, such as
    ``GuardedGraph[RagInput, RagContext, RagResult]``.
    """

    def stream(
        self, input: Given[InputT], config: Config = None, *, context: Within[ContextT] = None, **kwargs: Any
    ) -> Iterator[Any]:
        """Stream a run; see LangGraph's `stream`.

        Raises:
            InputError: the input is no dictionary, or None on a thread that never ran. (On a thread whose run is over,
                None returns that run's result again, as LangGraph does: nothing runs.) That run was made for another
                caller. A new input that does not say that it replaces the thread's run, where that has not ended. An
                earlier checkpoint, where the graph has no forks.
            ConfigurationError: the context has unknown fields or wrong types, or there is a checkpointer but no thread.
        """
        hand, session, config = self._open_session(config, context)
        admitted, context = self._admit_input(input), self._admit_context(context, session)
        refuse_halting(self, self.frame.recorder, kwargs, config)
        acts = self.frame.has_effects
        earlier = read_earlier_run(self, input, config)
        if is_asked_again(self, earlier, admitted, config, has_effects=acts):
            input = admitted = None
        session.outer_durability, session.outer_visit = read_outer_durability(self, config), name_outer_visit(config)
        config, kwargs = admit_run_config(self, input, config, has_effects=acts), admit_durability(kwargs, acts)
        stored = read_resume_checkpoint(self, admitted, config)
        refuse_other_caller(self, stored, context, config)
        choosing = choose_checkpoint(self, session, stored, config, context)
        stored, config = perform_driven_node(choosing, session.world)
        session.carried = 0.0 if stored is None else read_unwritten_seconds(stored)
        session.question, session.answers = read_waiting_question(stored), list_given_answers(self, input, config)
        config = close_stray_run(self, stored, config)
        self.open()
        try:
            running: Any = super().stream(admitted, config, context=context, **kwargs)
            with observe_session(self.frame, session), closing(running) as chunks:
                for chunk in chunks:
                    with session.pause_clock():
                        yield hand(chunk)
        except EmptyInputError as error:
            raise self._make_nothing_to_resume_error() from error
        finally:
            keep_unwritten_seconds(self, config, session.count_unwritten_seconds())

    async def astream(
        self, input: Given[InputT], config: Config = None, *, context: Within[ContextT] = None, **kwargs: Any
    ) -> AsyncIterator[Any]:
        """Stream a run asynchronously; see `stream`."""
        hand, session, config = self._open_session(config, context)
        admitted, context = self._admit_input(input), self._admit_context(context, session)
        refuse_halting(self, self.frame.recorder, kwargs, config)
        acts = self.frame.has_effects
        earlier = await aread_earlier_run(self, input, config)
        if is_asked_again(self, earlier, admitted, config, has_effects=acts):
            input = admitted = None
        session.outer_durability, session.outer_visit = read_outer_durability(self, config), name_outer_visit(config)
        config, kwargs = admit_run_config(self, input, config, has_effects=acts), admit_durability(kwargs, acts)
        stored = await aread_resume_checkpoint(self, admitted, config)
        refuse_other_caller(self, stored, context, config)
        choosing = choose_checkpoint(self, session, stored, config, context)
        stored, config = await aperform_driven_node(choosing, session.world)
        session.carried = 0.0 if stored is None else read_unwritten_seconds(stored)
        session.question, session.answers = read_waiting_question(stored), list_given_answers(self, input, config)
        config = await aclose_stray_run(self, stored, config)
        if self.frame.proposers_to_open:
            await await_in_thread(self.open)
        try:
            running: Any = super().astream(admitted, config, context=context, **kwargs)
            with observe_session(self.frame, session):
                async with aclosing(running) as chunks:
                    async for chunk in chunks:
                        with session.pause_clock():
                            yield hand(chunk)
        except EmptyInputError as error:
            raise self._make_nothing_to_resume_error() from error
        finally:
            await akeep_unwritten_seconds(self, config, session.count_unwritten_seconds())

    @overload  # type: ignore[override]  # an argument that LangGraph does not know is an error
    def invoke(
        self, input: Given[InputT], config: Config = None, *, context: Within[ContextT] = None, **kwargs: Unpack[Extras]
    ) -> ResultT: ...

    @overload
    def invoke(
        self, input: Given[InputT], config: Config = None, *, context: Within[ContextT] = None, **kwargs: Unpack[Forms]
    ) -> Any: ...

    def invoke(self, input: Any, config: Any = None, *, context: Any = None, **kwargs: Any) -> Any:
        """Make a run and return its result; see LangGraph's `invoke`.

        Returns:
            The result; of a run that waits for a person, `Waiting` with LangGraph's ``__interrupt__`` beside it.

        Raises:
            InputError: as `stream`.
            ConfigurationError: as `stream`.
        """
        validate_config(config)
        session = Session(self.frame.world, by_code=is_context_by_code(config, context))
        config = session.put_in_config(config)
        if kwargs.keys() & _FORMS:
            return _add_waiting_result(super().invoke(input, config, context=context, **kwargs), session)
        return _add_waiting_result(
            _unwrap_graph_output(super().invoke(input, config, context=context, version="v2", **kwargs)), session
        )

    @overload  # type: ignore[override]  # an argument that LangGraph does not know is an error
    async def ainvoke(
        self, input: Given[InputT], config: Config = None, *, context: Within[ContextT] = None, **kwargs: Unpack[Extras]
    ) -> ResultT: ...

    @overload
    async def ainvoke(
        self, input: Given[InputT], config: Config = None, *, context: Within[ContextT] = None, **kwargs: Unpack[Forms]
    ) -> Any: ...

    async def ainvoke(self, input: Any, config: Any = None, *, context: Any = None, **kwargs: Any) -> Any:
        """Make a run asynchronously and return its result; see `invoke`."""
        validate_config(config)
        session = Session(self.frame.world, by_code=is_context_by_code(config, context))
        config = session.put_in_config(config)
        if kwargs.keys() & _FORMS:
            return _add_waiting_result(await super().ainvoke(input, config, context=context, **kwargs), session)
        output = await super().ainvoke(input, config, context=context, version="v2", **kwargs)
        return _add_waiting_result(_unwrap_graph_output(output), session)

    def bulk_update_state(self, config: Any, supersteps: Any) -> Never:
        """Refuse what `update_state` and `bulk_update_state` would write: it would get around the guards.

        Raises:
            InputError: always.
        """
        raise StateRefused(_UPDATE_REFUSED)

    async def abulk_update_state(self, config: Any, supersteps: Any) -> Never:
        """Refuse what `aupdate_state` and `abulk_update_state` would write; see `bulk_update_state`."""
        raise StateRefused(_UPDATE_REFUSED)

    def open(self) -> None:
        """Open what is named by a string, such as a model: a run does so before anything else, and a replay never.

        Raises:
            ConfigurationError: what it needs, such as a key, is missing or wrong.
        """
        for target in self.frame.proposers_to_open:
            target.open()

    def _repr_mimebundle_(self, **_: Any) -> dict[str, Any]:
        """Return what notebooks show of an agent: its picture. LangGraph's own asks a web service to draw the graph."""
        from guardgraph.drawing.picture import draw

        shown: dict[str, Any] = draw(self)._repr_mimebundle_()
        return shown

    @property
    def frame(self) -> Frame:
        """What the nodes of this graph share."""
        for spec in self.builder.nodes.values():
            frame: Frame | None = getattr(spec.runnable, "frame", None)
            if frame is not None:
                return frame
        raise ConfigurationError("graph: no node of it was made by a pattern")

    def _open_session(self, config: Any, context: Any) -> tuple[Callable[[Any], Any], Session, Any]:
        """Return the session that `invoke` has opened for this call, or a new one, with the configuration to use.

        Beside it, in front, what a chunk is handed out by: what `invoke` takes needs no copy.
        """
        refuse_forged_config(self, config)
        session = find_session(config)
        if session is not None and session.take_graph_call():
            return _hand_out_chunk_itself, session, hide_token_stream(copy_outer_stream(self, config))
        session = Session(self.frame.world, by_code=is_context_by_code(config, context))
        session.take_graph_call()
        return copy_langgraph_value, session, hide_token_stream(copy_outer_stream(self, session.put_in_config(config)))

    def get_input_jsonschema(self, config: Config = None) -> dict[str, Any]:
        """Return the JSON Schema of an input; see LangGraph's `get_input_jsonschema`."""
        shown = super().get_input_jsonschema(config)
        fields = {
            field: item if field == name else {**item, "title": field.title()}
            for name, item in shown.get("properties", {}).items()
            for field in [name_input_field(name)]
        }
        named = {"required": [name_input_field(name) for name in shown["required"]]} if "required" in shown else {}
        return {**shown, "properties": fields, **named}

    @property
    def input_fields(self) -> tuple[str, ...]:
        """The fields of the input, such as ``("question", "history")``."""
        return tuple(map(name_input_field, self.builder.schemas[self.builder.input_schema]))

    def _admit_input(self, given: Any) -> Any:
        if given is None:
            return None
        if isinstance(given, Command):
            return admit_resume_command(given, self.frame.budget.max_input_bytes)
        if not isinstance(given, Mapping):
            raise InputError(
                f"input: a dictionary with {self._list_input_fields()} is required; given: {type(given).__name__}"
            )
        for key in given:
            if key not in self.input_fields:
                _warn_of_unknown_key(self.get_name(), str(key), self.input_fields)
        most, optional = self.frame.budget.max_input_bytes, self.frame.optional_inputs
        fields = zip(self.builder.schemas[self.builder.input_schema], self.input_fields, strict=True)
        return {
            channel: _admit_input_field(given.get(field), most)
            for channel, field in fields
            if channel not in optional or given.get(field) is not None
        }

    def _admit_context(self, given: Any, session: Session) -> Any:
        context = self._parse_context(given)
        if context is not None:
            context.check(self.frame.policy, self.frame.budget)
            if self.frame.table is not None:
                check_context_tools(context.policy, self.frame.table)
            if context.caller is not None and not session.by_code:
                raise ConfigurationError(CALLER_REFUSED)
        return context

    def _parse_context(self, given: Any) -> Any:
        schema: Any = self.context_schema
        if given is None or isinstance(given, schema):
            return given
        if not isinstance(given, Mapping):
            raise ConfigurationError(f"context: a dictionary or a {schema.__name__}; given: {type(given).__name__}")
        check_field_counts(given)
        try:
            return schema(**given)
        except ValidationError as error:
            raise make_configuration_error("context", error) from None
        except TypeError:
            raise ConfigurationError("context: a dictionary whose keys are strings") from None

    def _make_nothing_to_resume_error(self) -> InputError:
        return InputError(f"input: None resumes a run, but there is none to resume; give {self._list_input_fields()}")

    def _list_input_fields(self) -> str:
        channels = self.builder.schemas[self.builder.input_schema]
        return ", ".join(repr(name_input_field(name)) for name in channels if name not in self.frame.optional_inputs)


@lru_cache(maxsize=1000)
def _warn_of_unknown_key(graph: str, key: str, fields: tuple[str, ...]) -> None:
    """Log a key of an input that is no field of it, once for each graph: it is ignored, and may be misspelt."""
    shown = cut_and_mask_text(key, 80)
    getLogger(LOGGER).warning("%s: input: no such field: %r; one of %s", graph, shown, ", ".join(fields))


def _hand_out_chunk_itself(chunk: Any) -> Any:
    return chunk


def _unwrap_graph_output(output: Any) -> Any:
    """Return in its usual form what LangGraph's second version of `invoke` returns, for which it streams less."""
    if not output.interrupts:
        return output.value
    return {**(output.value or {}), INTERRUPT: list(output.interrupts)}


def _add_waiting_result(result: Any, session: Session) -> Any:
    if session.waiting is None or not isinstance(result, dict) or INTERRUPT not in result:
        return result
    return {**session.waiting, INTERRUPT: result[INTERRUPT]}


def _admit_input_field(value: Any, most: int) -> Any:
    """Return a copy of a field as plain JSON, enumerations by value, or the mark of what no state can hold."""
    refusal = mark_refused_input(value, most)
    if refusal is not None:
        return refusal
    # as it is recorded, and decided again
    return copy_langgraph_value(value) if is_plain_json(value) else parse_json(format_json_text(value))
