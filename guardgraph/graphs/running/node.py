"""A node of a pattern as LangGraph runs it: what it does is driven, judged or ended, sync and async over one core.

Behind it stands a conditional edge: a guard's goes where its verdict says, a terminal's to the end unless it cannot end
there. What the grammar put into a graph is kept beside it, in a seal; whether it is still the same is for `verify` to
say. It sees what was exchanged in a node or in a setting; a function that was changed within, or a global that it
reads, it does not see.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any, TypeAlias, TypeVar

from langchain_core.runnables import Runnable, RunnableConfig
from langgraph.graph import END
from langgraph.graph.state import CompiledStateGraph
from langgraph.types import Overwrite

from guardgraph.graphs.declaring.declaration import FAILED_ENDING, UNRECORDED_ENDING, Declaration
from guardgraph.graphs.running.begin import read_run_input, tell_run_beginning
from guardgraph.graphs.running.drive import drive_calling_node
from guardgraph.graphs.running.effects import Errand, Need, Needs, locate_node_checkpoint
from guardgraph.graphs.running.end import run_terminal
from guardgraph.graphs.running.frame import Frame, Part
from guardgraph.graphs.running.judge import run_guard
from guardgraph.graphs.running.langgraph import READ, RESUME_MAP, SCRATCHPAD, BranchSpec
from guardgraph.graphs.running.live import Looking
from guardgraph.graphs.running.observing import observe_visit
from guardgraph.graphs.running.progress import ProgressTeller
from guardgraph.graphs.running.session import FirstCheckpoint, Session, Visit, find_session
from guardgraph.graphs.running.telling import Steps, Telling, atake_steps, atell_recorder, take_steps, tell_recorder
from guardgraph.nodes.body import Body, Run
from guardgraph.plain.errors import NotRecorded
from guardgraph.plain.json import JsonObject
from guardgraph.plain.version import FORMAT, read_package_version
from guardgraph.state.settings import Settings
from guardgraph.world.call import World

Graph: TypeAlias = CompiledStateGraph[Any, Any, Any, Any]

T = TypeVar("T")


def drop_router_readers(graph: Graph) -> Graph:
    """Let our conditional edges read what their node has written, and nothing else.

    LangGraph would read the whole state anew for each of them, and so copy every channel of the graph, for a route that
    the node has just written.
    """
    for start, branches in graph.builder.branches.items():
        for name, branch in branches.items():
            if isinstance(branch.path, Router) and start in graph.nodes:
                writers = graph.nodes[start].writers
                writers[:] = [writer for writer in writers if not _is_branch_writer(branch, writer)]
                graph.attach_branch(start, name, branch, with_reader=False)
    return graph


def _is_branch_writer(branch: BranchSpec, writer: Any) -> bool:
    """Say whether a writer is what LangGraph made of a branch."""
    return getattr(getattr(writer, "func", None), "__self__", None) is branch


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
    """The Runnable that LangGraph runs for a node of a pattern.

    Whatever its body does, a node writes only plain JSON to the channels that it declared; a guard leaves only by a way
    or a stop family that it declared; a body that fails, returns a `Command` or calls out where it may not closes the
    run.
    """

    def __init__(self, declaration: Declaration, body: Body | None, frame: Frame) -> None:
        self.declaration = declaration
        self.body = body
        self.frame = frame
        self.name = declaration.name

    def invoke(self, input: JsonObject, config: RunnableConfig | None = None, **kwargs: Any) -> JsonObject:
        """Run the node; calls to the outside wait in this thread."""
        session, run, visit = self._begin_visit(input, config)
        if session.observed is None:
            return self._work(input, run, visit)
        with observe_visit(self, visit) as pass_on:
            return pass_on(self._work(input, run, visit))

    async def ainvoke(self, input: JsonObject, config: RunnableConfig | None = None, **kwargs: Any) -> JsonObject:
        """Run the node; calls to the outside are awaited, and so is the recorder."""
        session, run, visit = self._begin_visit(input, config)
        if session.observed is None:
            return await self._awork(input, run, visit)
        with observe_visit(self, visit) as pass_on:
            return pass_on(await self._awork(input, run, visit))

    def _work(self, state: JsonObject, run: Run[Any, Any] | Exception, visit: Visit) -> JsonObject:
        (progress := ProgressTeller(visit)).tell_beginning()
        if (looking := self.look_before(run, visit)) is not None:
            run = visit.take_look(run, looking.run())
        if self.declaration.is_calling_node:
            driven = drive_calling_node(self, state, run, visit)
            return perform_driven_node(progress.tell_calls(driven), visit.session.world)
        update = take_steps(run_guard_or_terminal(self, state, run, visit))
        progress.tell_update(update)
        return update

    async def _awork(self, state: JsonObject, run: Run[Any, Any] | Exception, visit: Visit) -> JsonObject:
        (progress := ProgressTeller(visit)).tell_beginning()
        if (looking := self.look_before(run, visit)) is not None:
            run = visit.take_look(run, await looking.arun())
        if self.declaration.is_calling_node:
            driven = drive_calling_node(self, state, run, visit)
            return await aperform_driven_node(progress.tell_calls(driven), visit.session.world)
        update = await atake_steps(run_guard_or_terminal(self, state, run, visit))
        progress.tell_update(update)
        return update

    def look_before(self, run: Run[Any, Any] | Exception, visit: Visit) -> Looking | None:
        """Return the look at the live policy that the node has to take; an ending does nothing that it could forbid."""
        if isinstance(run, Exception) or self.declaration.kind == "terminal":
            return None
        return visit.look_at_live_policy()

    def _begin_visit(self, state: JsonObject, config: RunnableConfig | None) -> tuple[Session, Any, Visit]:
        session = find_session(config) or Session(self.frame.world)
        log = [] if self.declaration.entry else state.get("log") or []
        run: Run[Any, Any] | Exception
        try:
            run = session.run or session.open_run(self.frame, self._choose_run_id(state, session), config, log)
        except Exception as error:  # noqa: BLE001 - a context that cannot be read closes the run at this node
            run = error
        if self.declaration.is_calling_node:
            configurable = (config or {}).get("configurable", {})
            session.scratchpad, session.read = configurable.get(SCRATCHPAD), configurable.get(READ)
            session.resume_map = configurable.get(RESUME_MAP)
        if self.declaration.effects or (self.declaration.entry and self.frame.has_effects):
            session.place = locate_node_checkpoint(config)
        return session, run, Visit(self, log, session, self.frame.live)

    def _choose_run_id(self, state: JsonObject, session: Session) -> str:
        if self.declaration.entry:
            return session.world.new_run()
        return str(state.get("run") or "")


def run_guard_or_terminal(
    part: Part, state: JsonObject, run: Run[Any, Any] | Exception, visit: Visit
) -> Steps[JsonObject]:
    """Run a guard or a terminal, which calls nobody; the one that begins a run and the one that ends it are told."""
    if part.declaration.kind == "terminal":
        return (yield from run_terminal(part, state, run, visit))
    update = run_guard(part, state, run, visit)
    if not part.declaration.entry:
        return update
    update = yield from tell_run_beginning(part, state, run, visit, update)
    return write_run_beginning(part, state, update, visit)


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
                came = _meet_need(asked, world)
            except NotRecorded:  # nobody knows what a body would be told
                raise
            except Exception as error:  # noqa: BLE001 - it is thrown in where the body waits, and judged there
                asked = driven.throw(error)
            else:
                asked = driven.send(came)
    except StopIteration as end:
        return end.value  # type: ignore[no-any-return]


def _meet_need(need: Need, world: World) -> Any:
    if isinstance(need, Telling):
        return tell_recorder(need)
    return need.run() if isinstance(need, Errand | Looking) else world.perform(*need)


async def _ameet_need(need: Need, world: World) -> Any:
    if isinstance(need, Telling):
        return await atell_recorder(need)
    return await (need.arun() if isinstance(need, Errand | Looking) else world.aperform(*need))


async def aperform_driven_node(driven: Needs[T], world: World) -> T:
    """Take a driven body to its end, or steps of the door; calls, and the recorder, are awaited."""
    try:
        asked = next(driven)
        while True:
            try:
                came = await _ameet_need(asked, world)
            except NotRecorded:
                raise
            except Exception as error:  # noqa: BLE001 - see perform_driven_node
                asked = driven.throw(error)
            else:
                asked = driven.send(came)
    except StopIteration as end:
        return end.value  # type: ignore[no-any-return]


class Seal:
    """The parts of a pattern's nodes as they were made.

    Args:
        nodes: by name.
        frame: what they share.
    """

    def __init__(self, nodes: Mapping[str, GrammarNode], frame: Frame) -> None:
        self.context = frame.context
        self._frame = frame
        self._nodes = {name: dict(vars(node)) for name, node in nodes.items()}
        self._shared = {field.name: _copy_frame_part(getattr(frame, field.name)) for field in fields(frame)}

    def find_node_change(self, name: str, node: GrammarNode) -> str | None:
        """Say in what a node is not the one that was made under its name, None where it is."""
        made, now = self._nodes.get(name), vars(node)
        if made is None or node.frame is not self._frame:
            return "was made for another pattern"
        changed = [part for part in made if now.get(part) is not made[part]]
        changed += [
            part for part, kept in self._shared.items() if not _is_same_frame_part(getattr(node.frame, part), kept)
        ]
        return f"does not have the {', '.join(changed)} that it was made with" if changed else None


def _copy_frame_part(value: object) -> object:
    """Return a copy of what can be changed in place."""
    if isinstance(value, Settings):
        return value.model_copy()
    return dict(value) if isinstance(value, dict) else value


def _is_same_frame_part(now: object, kept: object) -> bool:
    return now == kept if isinstance(kept, Settings | dict) else now is kept
