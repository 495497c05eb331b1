"""A node of a pattern as LangGraph runs it: what it does is driven, judged or ended, sync and async over one core.

Behind it stands a conditional edge: a guard's goes where its verdict says, a terminal's to the end unless it cannot end
there. What the grammar put into a graph is kept beside it, in a seal; whether it is still the same is for `verify` to
say. It sees what was exchanged in a node or in a setting; a function that was changed within, or a global that it
reads, it does not see.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from contextvars import copy_context
from copy import copy
from dataclasses import fields
from typing import Any, Literal, TypeAlias, TypeVar, cast

from langchain_core.runnables import Runnable, RunnableConfig
from langchain_core.runnables.config import var_child_runnable_config
from langgraph.graph import END
from langgraph.graph.state import CompiledStateGraph
from langgraph.pregel import Pregel
from langgraph.runtime import get_runtime
from langgraph.types import Overwrite

from guardgraph.graphs.declaring import FAILED_ENDING, UNRECORDED_ENDING, Declaration
from guardgraph.graphs.running.drive import drive_calling_node, look_at_live_policy
from guardgraph.graphs.running.effects import Needs, locate_node_checkpoint
from guardgraph.graphs.running.end import run_terminal
from guardgraph.graphs.running.frame import Frame, Part, is_recording_required, read_run_input
from guardgraph.graphs.running.judge import run_guard
from guardgraph.graphs.running.langgraph import READ, RESUME_MAP, SCRATCHPAD, copy_langgraph_value
from guardgraph.graphs.running.recorder import tell_run_beginning
from guardgraph.graphs.running.session import SESSION, FirstCheckpoint, Session, Visit
from guardgraph.nodes.body import Body, Run
from guardgraph.plain.errors import NotRecorded
from guardgraph.plain.json import JsonObject
from guardgraph.plain.version import FORMAT, read_package_version
from guardgraph.state.run import Progress
from guardgraph.state.settings import Settings
from guardgraph.world.call import Observer, VisitBegun, VisitEnded, World
from guardgraph.world.live import validate_performed

Graph: TypeAlias = CompiledStateGraph[Any, Any, Any, Any]

T = TypeVar("T")


def drop_router_readers(graph: Graph) -> Graph:
    """Let our conditional edges read what their node has written, and nothing else."""
    for start, branches in graph.builder.branches.items():
        for name, branch in branches.items():
            if isinstance(branch.path, Router) and start in graph.nodes:
                writers = graph.nodes[start].writers
                # What LangGraph made of the branch is a method of it.
                owners = [getattr(getattr(writer, "func", None), "__self__", None) for writer in writers]
                writers[:] = [writer for writer, owner in zip(writers, owners, strict=True) if owner is not branch]
                graph.attach_branch(start, name, branch, with_reader=False)
    return graph


class Router(Runnable[JsonObject, str]):
    """Reads the route that the guard in front of it has written."""

    name = "route"

    def invoke(self, input: JsonObject, config: RunnableConfig | None = None, **kwargs: Any) -> str:
        """Return the name of the next node."""
        return str(input["route"])

    async def ainvoke(self, input: JsonObject, config: RunnableConfig | None = None, **kwargs: Any) -> str:
        """Return the name of the next node."""
        return self.invoke(input, config)


class EndingRouter(Router):
    """Ends the run after a terminal, or leads to the stop that says that it failed, or that the run is not recorded."""

    def invoke(self, input: JsonObject, config: RunnableConfig | None = None, **kwargs: Any) -> str:
        """Return the name of the next node."""
        route = input.get("route")
        return route if route in (FAILED_ENDING, UNRECORDED_ENDING) else END


class GrammarNode(Runnable[JsonObject, JsonObject]):
    """The Runnable that LangGraph runs for a node of a pattern."""

    def __init__(self, declaration: Declaration, body: Body | None, frame: Frame) -> None:
        self.declaration = declaration
        self.body = body
        self.frame = frame
        self.name = declaration.name

    def invoke(self, input: JsonObject, config: RunnableConfig | None = None, **kwargs: Any) -> JsonObject:
        """Run the node; calls to the outside wait in this thread."""
        return perform_driven_node(self.work(input, config), self.frame.world)

    async def ainvoke(self, input: JsonObject, config: RunnableConfig | None = None, **kwargs: Any) -> JsonObject:
        """Run the node; calls to the outside are awaited, and so is the recorder."""
        return await aperform_driven_node(self.work(input, config), self.frame.world)

    def work(self, state: JsonObject, config: RunnableConfig | None) -> Needs[JsonObject]:
        """Do what the node does, from its beginning to what it writes: one walk for sync and async."""
        item, configurable = self.declaration, (config or {}).get("configurable", {})
        session = configurable.get(SESSION)
        if not isinstance(session, Session):  # the graph was not called through its door
            session = Session(self.frame.world)
        log = [] if item.entry else state.get("log") or []
        run: Run[Any, Any] | Exception
        try:
            run = session.run or session.open_run(
                self.frame, session.world.new_run() if item.entry else str(state.get("run") or ""), config, log
            )
        except Exception as error:  # noqa: BLE001 - a context that cannot be read closes the run at this node
            run = error
        if item.is_calling_node:
            session.scratchpad, session.read = configurable.get(SCRATCHPAD), configurable.get(READ)
            session.resume_map = configurable.get(RESUME_MAP)
        if item.effects or (item.entry and self.frame.has_effects):
            session.place = locate_node_checkpoint(config)
        visit = Visit(self, log, session, self.frame.live)
        run = visit.bound_run(run)
        with nullcontext() if session.observed is None else observe_visit(self, visit) as tell_end:
            progress = ProgressTeller(visit) if session.is_followed else None
            if progress is not None:
                progress.tell_beginning()
            if visit.live is not None and item.kind != "terminal":  # an ending does nothing that it could forbid
                run = yield from look_at_live_policy(run, visit)
            if item.is_calling_node:
                driven = drive_calling_node(self, state, run, visit)
                update = yield from (driven if progress is None else progress.tell_calls(driven))
            elif item.kind == "terminal":
                update = yield from run_terminal(self, state, run, visit)
            else:
                update = run_guard(self, state, run, visit)
                if item.entry:
                    if self.frame.recorder is not None or is_recording_required(self.frame, run):
                        update = yield from tell_run_beginning(self, state, run, visit, update)
                    update = write_run_beginning(self, state, update, visit)
            if progress is not None and not item.is_calling_node:
                progress.tell_update(update)
            if tell_end is not None:
                tell_end(_describe_visit_end(self, update))
        return update


def write_run_beginning(part: Part, state: JsonObject, update: JsonObject, visit: Visit) -> JsonObject:
    """Return what the entry guard writes: a run of its own, and nothing where an earlier one may have written."""
    frame, session = part.frame, visit.session
    run: JsonObject = {"run": session.run_id, "given": read_run_input(part, state)}
    said: JsonObject = {"format": FORMAT, "guardgraph": read_package_version()}  # for who goes on with it
    if session.request != session.run_id:
        said["request"] = session.request
    if session.forked_from is not None:
        said["forked_from"] = session.forked_from
    if session.place is not None:
        said["began_at"] = session.place.checkpoint
        session.first_checkpoint = FirstCheckpoint(session.place.checkpoint)
    [line] = update["log"]
    update = {**update, "log": [{**line, **said}]}
    if not session.resumable:  # nothing was ever kept
        return {**run, **update}
    cleared = {**dict.fromkeys(frame.lasting), **{channel: Overwrite([]) for channel in frame.records}}
    return {**cleared, **run, **update, "log": Overwrite(update["log"])}


def perform_driven_node(driven: Needs[T], world: World) -> T:
    """Take a driven body to its end, or steps of the door; calls, and the recorder, wait in this thread."""
    try:
        asked = next(driven)
        while True:
            try:
                if isinstance(asked, tuple):
                    came: Any = validate_performed(asked[0], world.perform(*asked))
                else:
                    came = asked.meet()
            except NotRecorded:  # nobody knows what a body would be told
                raise
            except Exception as error:  # noqa: BLE001 - it is thrown in where the body waits, and judged there
                asked = driven.throw(error)
            else:
                asked = driven.send(came)
    except StopIteration as end:
        return end.value  # type: ignore[no-any-return]


async def aperform_driven_node(driven: Needs[T], world: World) -> T:
    """Take a driven body to its end, or steps of the door; calls, and the recorder, are awaited."""
    try:
        asked = next(driven)
        while True:
            try:
                if isinstance(asked, tuple):
                    came: Any = validate_performed(asked[0], await world.aperform(*asked))
                else:
                    came = await asked.ameet()
            except NotRecorded:
                raise
            except Exception as error:  # noqa: BLE001 - see perform_driven_node
                asked = driven.throw(error)
            else:
                asked = driven.send(came)
    except StopIteration as end:
        return end.value  # type: ignore[no-any-return]


class Seal:
    """The parts of a pattern's nodes as they were made."""

    def __init__(self, nodes: Mapping[str, GrammarNode], frame: Frame) -> None:
        self.context = frame.context
        self._frame = frame
        self._nodes = {name: dict(vars(node)) for name, node in nodes.items()}
        self._shared: dict[str, Any] = {}  # copies of what can be changed in place
        for field in fields(frame):
            value = getattr(frame, field.name)
            value = value.model_copy() if isinstance(value, Settings) else value
            self._shared[field.name] = dict(value) if isinstance(value, dict) else value

    def find_node_change(self, name: str, node: GrammarNode) -> str | None:
        """Say in what a node is not the one that was made under its name, None where it is."""
        made, now = self._nodes.get(name), vars(node)
        if made is None or node.frame is not self._frame:
            return "was made for another pattern"
        changed = [part for part in made if now.get(part) is not made[part]]
        for part, kept in self._shared.items():
            held = getattr(node.frame, part)
            if held != kept if isinstance(kept, Settings | dict) else held is not kept:
                changed.append(part)
        return f"does not have the {', '.join(changed)} that it was made with" if changed else None


# Following a run


class ProgressTeller:
    """Tells the stream of a run what one visit does."""

    __slots__ = ("_visit", "_write")

    def __init__(self, visit: Visit) -> None:
        self._visit = visit
        runtime: Any = get_runtime()
        # A node that runs outside a graph has nobody who follows it.
        self._write: Callable[[Any], None] = (lambda event: None) if runtime is None else runtime.stream_writer

    def tell_beginning(self) -> None:
        """Say that the node begins."""
        self._write(self._describe_progress("began"))

    def tell_calls(self, driven: Needs[T]) -> Needs[T]:
        """Hand on what a node at work needs, and say what it calls before that is done."""
        try:
            asked = next(driven)
            while True:
                if isinstance(asked, tuple) and (calls := list(asked[0])):
                    told = self._describe_progress("calling")
                    told["calls"], told["of"] = len(calls), calls[0].call.kind
                    tools = {item.call.tool for item in calls}
                    if self._visit.part.declaration.tools and len(tools) == 1 and (tool := tools.pop()) is not None:
                        told["tool"] = tool
                    self._write(told)
                try:
                    came = yield asked
                except Exception as error:  # noqa: BLE001 - it is thrown in where the node waits, and judged there
                    asked = driven.throw(error)
                else:
                    asked = driven.send(came)
        except StopIteration as end:
            return cast(T, end.value)

    def tell_update(self, update: JsonObject) -> None:
        """Say what came of the node: a guard's verdict, or the end of the run."""
        kind = self._visit.part.declaration.kind
        if kind == "guard":
            log = update["log"]
            [line] = log.value if isinstance(log, Overwrite) else log
            told = self._describe_progress("judged")
            told["verdict"], told["to"] = line["verdict"], line["to"]
            if "reason" in line and (known := self._visit.part.frame.catalogue.find(line["reason"])) is not None:
                told["reason"] = known.reason
            self._write(told)
        elif kind == "terminal" and "status" in update:
            told = self._describe_progress("ended")
            told["status"] = update["status"]
            self._write(told)

    def _describe_progress(self, event: Literal["began", "calling", "judged", "ended"]) -> Progress:
        item, visit = self._visit.part.declaration, self._visit
        return Progress(
            event=event,
            run_id=visit.session.run_id or "",
            pattern=visit.part.frame.name,
            node=item.name,
            kind=item.kind,
            phase=item.phase,
            visit=len(visit.log) + 1,
        )


_LEFT = (GeneratorExit, asyncio.CancelledError, KeyboardInterrupt)  # what is raised in a session that somebody leaves


@contextmanager
def observe_session(frame: Frame, session: Session) -> Iterator[None]:
    """Have a session observed until it is left, where the graph's world has an observer."""
    observer: Observer | None = getattr(frame.world, "observer", None)
    if observer is None:
        yield
        return
    observed = session.observed = observer.open_session(frame.name, frame.catalogue.pattern)
    try:
        yield
    except BaseException as error:
        observed.close("cancelled" if isinstance(error, _LEFT) else "failed", error)
        raise
    else:
        observed.close("ended" if session.is_over else "paused" if session.waiting is None else "waiting", None)


def observe_visit(part: Part, visit: Visit) -> AbstractContextManager[Callable[[VisitEnded], None]]:
    """Return what a node works in that is observed; it is given what is told of the node's end."""
    item, session = part.declaration, visit.session
    marks = [line["observed"] for line in visit.log if "observed" in line]
    begun = VisitBegun(
        session.run_id or "", session.thread, item.name, item.kind, item.phase, marks[0] if marks else None
    )
    assert session.observed is not None
    return session.observed.enter_visit(begun)


def _describe_visit_end(part: Part, update: JsonObject) -> VisitEnded:
    log = getattr(update.get("log"), "value", update.get("log"))  # the first node of a run overwrites what is there
    line = log[-1] if log else {}
    said = update.get("stop_reason", line.get("reason"))
    found = part.frame.catalogue.find(said) if isinstance(said, str) else None
    return VisitEnded(update, line, said if found is None else found.reason)


# Handing out copies


def wrap_nodes_for_handlers(graph: Pregel[Any, Any, Any, Any]) -> None:
    """Let every node of a compiled graph give copies to the handlers that listen to it."""
    for node in graph.nodes.values():
        if hasattr(node.node, "steps") and isinstance(node.bound, GrammarNode):
            vars(node)["node"] = Heard(node.node)


class Heard(Runnable[Any, Any]):
    """A node's sequence, which hands out copies where somebody listens."""

    def __init__(self, plain: Any) -> None:
        self.plain = plain

    def invoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Any:
        """Run the node and its writers."""
        callbacks = (config or {}).get("callbacks")
        if not getattr(callbacks, "handlers", callbacks):
            return copy_context().run(self._run_unheard, input, config)
        return self._build_heard_sequence(input).invoke(
            copy_langgraph_value(input), self._tell_stop_phase(input, config), **kwargs
        )

    def _run_unheard(self, input: Any, config: Any) -> Any:
        """Do what LangGraph's sequence does, but for telling handlers that are not there; in a context of its own."""
        var_child_runnable_config.set(config)
        node, *writers = self.plain.steps
        given = perform_driven_node(node.work(input, config), node.frame.world)
        for writer in writers:
            writer.func(given, config, **writer.kwargs)
        return given

    async def ainvoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Any:
        """Run the node and its writers asynchronously."""
        callbacks = (config or {}).get("callbacks")
        if not getattr(callbacks, "handlers", callbacks):
            given = input
            node, *writers = self.plain.steps
            token = var_child_runnable_config.set(config)
            try:
                work = aperform_driven_node(node.work(given, config), node.frame.world)
                given = await (asyncio.create_task(work) if node.declaration.is_calling_node else work)
            finally:
                with suppress(ValueError):  # ended by somebody else's task: there is nothing to put back in its context
                    var_child_runnable_config.reset(token)
            for writer in writers:
                writer.func(given, config, **writer.kwargs)
            return given
        return await self._build_heard_sequence(input).ainvoke(
            copy_langgraph_value(input), self._tell_stop_phase(input, config), **kwargs
        )

    async def astream(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> AsyncIterator[Any]:
        """Run the node for handlers of streams, asynchronously."""
        async for chunk in self._build_heard_sequence(input).astream(
            copy_langgraph_value(input), self._tell_stop_phase(input, config), **kwargs
        ):
            yield chunk

    def _tell_stop_phase(self, input: Any, config: Any) -> Any:
        """Return the configuration in which handlers are told the phase of a stop, which no stop terminal declares."""
        node = self.plain.steps[0]
        if node.declaration.family is None:
            return config
        given = config or {}
        return {**given, "metadata": {**(given.get("metadata") or {}), "phase": input["verdict"]["phase"]}}

    def _build_heard_sequence(self, input: Any) -> Any:
        """Return the sequence for one visit: handlers see a copy of the input before it, and of what was written."""
        sequence = copy(self.plain)
        first, *writers = sequence.steps
        sequence.steps = [_Given(first, input), *writers, _HANDED]
        return sequence


def unwrap_heard_node(sequence: Any) -> Any:
    """Return what LangGraph made of a node, if what runs it now does no more than to hand out copies."""
    is_ours = type(sequence) is Heard and vars(sequence).keys() == {"plain"}
    return sequence.plain if is_ours else sequence


class _Given(Runnable[Any, Any]):
    """The node, which works on what it was given, whatever became of the copy that handlers saw."""

    def __init__(self, node: Runnable[Any, Any], given: Any) -> None:
        self._node, self._given = node, given

    def invoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Any:
        return self._node.invoke(self._given, config, **kwargs)

    async def ainvoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Any:
        return await self._node.ainvoke(self._given, config, **kwargs)


class _Handed(Runnable[Any, Any]):
    """The last step of a sequence that is listened to: what was written is not what handlers are given."""

    def invoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Any:
        return copy_langgraph_value(input)

    async def ainvoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Any:
        return copy_langgraph_value(input)


_HANDED = _Handed()
