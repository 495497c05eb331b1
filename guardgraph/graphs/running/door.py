"""The compiled graph of a pattern: LangGraph's own, with a door that lets only plain input through.

LangGraph raises out of `invoke` for what a checkpointer cannot store and for input that is no dictionary; a user of a
guarded graph gets a stop reason, or one clear error of ours. What type checkers know of its calls stands here too.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import aclosing, closing
from functools import lru_cache
from logging import getLogger
from typing import Any, Generic, Literal, NamedTuple, Never, TypeAlias, overload

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import BaseCheckpointSaver, CheckpointTuple
from langgraph.constants import TAG_NOSTREAM
from langgraph.errors import EmptyInputError, InvalidUpdateError
from langgraph.graph.state import CompiledStateGraph
from langgraph.pregel.protocol import StreamProtocol
from langgraph.types import All, Command, Durability, StreamMode
from pydantic import ValidationError
from typing_extensions import TypedDict, TypeVar, Unpack

from guardgraph.graphs.declaring import INPUT_FIELDS
from guardgraph.graphs.running import checkpoints
from guardgraph.graphs.running.effects import Errand, Needs
from guardgraph.graphs.running.frame import Frame
from guardgraph.graphs.running.langgraph import DURABILITY, INTERRUPT, RESUMING, STREAM, copy_langgraph_value
from guardgraph.graphs.running.licensing import check_context_tools
from guardgraph.graphs.running.node import aperform_driven_node, observe_session, perform_driven_node
from guardgraph.graphs.running.session import (
    CALLER_REFUSED,
    Session,
    find_session,
    is_context_by_code,
    mark_refused_input,
    name_outer_visit,
)
from guardgraph.plain.errors import ConfigurationError, InputError, make_configuration_error
from guardgraph.plain.json import copy_json, format_json_text, is_plain_json, parse_json
from guardgraph.plain.log import LOGGER
from guardgraph.plain.secrets import cut_and_mask_text
from guardgraph.state.context import check_field_counts
from guardgraph.world.deadline import await_in_thread

InputT = TypeVar("InputT", default=Any)  # what a run is given
ContextT = TypeVar("ContextT", default=Any)  # what a run may tighten
ResultT = TypeVar("ResultT", default=Any)  # what a run returns
Given: TypeAlias = InputT | Command[Any] | None  # what begins a run, answers one that waits, or has one go on
Within: TypeAlias = ContextT | Mapping[str, Any] | None  # A context, or the dictionary of one
Config: TypeAlias = RunnableConfig | None  # LangGraph's configuration of a run


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
            checkpoints.validate_config(given)
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
            checkpoints.validate_config(given)
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


class _Entered(NamedTuple):
    """A call that the door let in."""

    frame: Frame
    session: Session
    hand: Callable[[Any], Any] | None
    """By what a chunk is copied for whoever follows the run; None for `invoke`, which needs no copy."""
    given: Any  # the input as plain JSON, a Command, or None
    context: Any
    config: Any
    options: dict[str, Any]  # the arguments of LangGraph's `stream`
    configurable: Mapping[str, Any]  # what LangGraph will read of the configuration
    saver: BaseCheckpointSaver[Any] | None  # who keeps the run


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
        entered = perform_driven_node(self._enter(input, config, context, kwargs), self.frame.world)
        session, hand = entered.session, entered.hand
        for target in entered.frame.proposers_to_open:
            target.open()
        try:
            running: Any = super().stream(entered.given, entered.config, context=entered.context, **entered.options)
            with observe_session(entered.frame, session), closing(running) as chunks:
                for chunk in chunks:
                    with session.pause_clock():
                        yield chunk if hand is None else hand(chunk)
        except EmptyInputError as error:
            raise self._make_nothing_to_resume_error() from error
        finally:
            left = checkpoints.keep_unwritten_seconds(self, entered.saver, entered.configurable, session)
            perform_driven_node(left, session.world)

    async def astream(
        self, input: Given[InputT], config: Config = None, *, context: Within[ContextT] = None, **kwargs: Any
    ) -> AsyncIterator[Any]:
        """Stream a run asynchronously; see `stream`."""
        entered = await aperform_driven_node(self._enter(input, config, context, kwargs), self.frame.world)
        session, hand = entered.session, entered.hand
        if entered.frame.proposers_to_open:
            await await_in_thread(self.open)
        try:
            running: Any = super().astream(entered.given, entered.config, context=entered.context, **entered.options)
            with observe_session(entered.frame, session):
                async with aclosing(running) as chunks:
                    async for chunk in chunks:
                        with session.pause_clock():
                            yield chunk if hand is None else hand(chunk)
        except EmptyInputError as error:
            raise self._make_nothing_to_resume_error() from error
        finally:
            left = checkpoints.keep_unwritten_seconds(self, entered.saver, entered.configurable, session)
            await aperform_driven_node(left, session.world)

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
        checkpoints.validate_config(config)
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
        checkpoints.validate_config(config)
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

    def get_input_jsonschema(self, config: Config = None) -> dict[str, Any]:
        """Return the JSON Schema of an input; see LangGraph's `get_input_jsonschema`."""
        shown = super().get_input_jsonschema(config)
        fields = {
            field: item if field == name else {**item, "title": field.title()}
            for name, item in shown.get("properties", {}).items()
            for field in [INPUT_FIELDS.get(name, name)]
        }
        named = (
            {"required": [INPUT_FIELDS.get(name, name) for name in shown["required"]]} if "required" in shown else {}
        )
        return {**shown, "properties": fields, **named}

    @property
    def input_fields(self) -> tuple[str, ...]:
        """The fields of the input, such as ``("question", "history")``."""
        return tuple(INPUT_FIELDS.get(name, name) for name in self.builder.schemas[self.builder.input_schema])

    def _enter(self, given: Any, config: Any, context: Any, options: Mapping[str, Any]) -> Needs[_Entered]:
        """Let a call in, or refuse it: one walk for sync and async, before anything of the run is called."""
        frame = self.frame
        hand: Callable[[Any], Any] | None = None  # what `invoke` takes needs no copy
        checkpoints.validate_config(config)
        asked = checkpoints.merge_graph_config(self, config)
        checkpoints.refuse_forged_config(asked)
        session = find_session(config)
        if session is None or not session.take_graph_call():
            session, hand = Session(frame.world, by_code=is_context_by_code(config, context)), copy_langgraph_value
            session.take_graph_call()
            config = session.put_in_config(config)
        is_inside, saver, acts = (
            checkpoints.is_inside_graph(asked),
            checkpoints.find_saver(self, asked),
            frame.has_effects,
        )
        config = _copy_outer_stream(asked.get(STREAM), config) or {}
        config = {**config, "tags": [*(config.get("tags") or ()), TAG_NOSTREAM]}  # no guard has judged a token yet
        admitted, context = self._admit_input(given, frame), self._parse_context(context)
        if context is not None:
            context.check(frame.policy, frame.budget)
            if frame.table is not None:
                check_context_tools(context.policy, frame.table)
            if context.caller is not None and not session.by_code:
                raise ConfigurationError(CALLER_REFUSED)
        if frame.recorder is not None and not is_inside:
            checkpoints.refuse_halting(self, options, asked)

        # An input that is sent again goes on with the run that it began.
        begins = isinstance(given, Mapping)
        if saver is not None and begins and not is_inside and checkpoints.is_thread_id(asked.get("thread_id")):
            earlier = yield Errand(saver, "get_tuple", (checkpoints.locate_checkpoint(self, asked),))
            if checkpoints.is_asked_again(earlier, admitted, asked, has_effects=acts):
                given = admitted = None
                begins = False
        session.outer_durability = asked.get(DURABILITY) if is_inside else None
        session.outer_visit = name_outer_visit(config)
        session.is_followed = is_inside or "custom" in (options.get("stream_mode") or self.stream_mode)
        config = checkpoints.admit_run_config(given, config, asked, is_kept=saver is not None, has_effects=acts)
        held = checkpoints.merge_graph_config(self, config)

        # What goes on does so from where it stood, for whom it was made, and in the format of this version.
        stored: CheckpointTuple | None = None
        if saver is not None and (not begins or held.get(RESUMING) is True):
            stored = yield Errand(saver, "get_tuple", (checkpoints.locate_checkpoint(self, held, named=is_inside),))
        if stored is not None:
            checkpoints.refuse_other_format(stored)
            checkpoints.refuse_other_caller(stored, context, held)
            if not is_inside:
                assert saver is not None
                choosing = checkpoints.choose_checkpoint(
                    self, stored, held, saver=saver, session=session, context=context
                )
                stored = yield from choosing
                config = checkpoints.name_no_checkpoint(config, is_inside=False)
        session.carried, session.question = (
            checkpoints.read_unwritten_seconds(stored),
            checkpoints.read_waiting_question(stored),
        )
        session.answers = checkpoints.list_given_answers(given, is_inside=is_inside)
        if (yield from checkpoints.close_stray_run(self, stored, held, named=is_inside)):
            config = checkpoints.name_no_checkpoint(config, is_inside=is_inside)
        return _Entered(
            frame, session, hand, admitted, context, config, checkpoints.admit_durability(options, acts), held, saver
        )

    def _admit_input(self, given: Any, frame: Frame) -> Any:
        if given is None:
            return None
        if isinstance(given, Command):
            return checkpoints.admit_resume_command(given, frame.budget.max_input_bytes)
        if not isinstance(given, Mapping):
            raise InputError(
                f"input: a dictionary with {self._list_input_fields()} is required; given: {type(given).__name__}"
            )
        known, most, optional = self.input_fields, frame.budget.max_input_bytes, frame.optional_inputs
        for key in given:
            if key not in known:
                _warn_of_unknown_key(self.get_name(), str(key), known)
        admitted: dict[str, Any] = {}
        for channel, field in zip(self.builder.schemas[self.builder.input_schema], known, strict=True):
            if (value := given.get(field)) is None and channel in optional:
                continue
            admitted[channel] = mark_refused_input(value, most) or (
                # As it is recorded, and decided again: enumerations by value.
                copy_json(value) if is_plain_json(value) else parse_json(format_json_text(value))
            )
        return admitted

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
        return ", ".join(
            repr(INPUT_FIELDS.get(name, name)) for name in channels if name not in self.frame.optional_inputs
        )


@lru_cache(maxsize=1000)
def _warn_of_unknown_key(graph: str, key: str, fields: tuple[str, ...]) -> None:
    """Log a key of an input that is no field of it, once for each graph: it is ignored, and may be misspelt."""
    shown = cut_and_mask_text(key, 80)
    getLogger(LOGGER).warning("%s: input: no such field: %r; one of %s", graph, shown, ", ".join(fields))


def _copy_outer_stream(stream: Any, config: Any) -> Any:
    """Return a configuration in which the stream of the graph around, if there is one, is given copies too."""
    if not isinstance(stream, StreamProtocol):
        return config
    hand_on: Any = stream
    copying: Any = StreamProtocol
    copying = copying(lambda chunk: hand_on(copy_langgraph_value(chunk)), stream.modes)
    given = config or {}
    return {**given, "configurable": {**(given.get("configurable") or {}), STREAM: copying}}


def _unwrap_graph_output(output: Any) -> Any:
    """Return in its usual form what LangGraph's second version of `invoke` returns, for which it streams less."""
    if not output.interrupts:
        return output.value
    return {**(output.value or {}), INTERRUPT: list(output.interrupts)}


def _add_waiting_result(result: Any, session: Session) -> Any:
    if session.waiting is None or not isinstance(result, dict) or INTERRUPT not in result:
        return result
    return {**session.waiting, INTERRUPT: result[INTERRUPT]}
