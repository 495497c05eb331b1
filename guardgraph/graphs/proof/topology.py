"""A compiled graph as the proof sees it: what its nodes are, read and write, and whether its builder makes it so."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from inspect import isclass, ismodule
from re import Pattern
from types import CodeType, FunctionType, MethodType, ModuleType
from typing import Any, TypeGuard

from langchain_core.runnables import Runnable
from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph

from guardgraph.graphs.declaring import CALLING, Declaration, walk_ways
from guardgraph.graphs.running.frame import Frame
from guardgraph.graphs.running.langgraph import BranchSpec
from guardgraph.graphs.running.node import (
    EndingRouter,
    GrammarNode,
    Router,
    Seal,
    drop_router_readers,
    unwrap_heard_node,
)
from guardgraph.state.run import Kind
from guardgraph.world.proposers import Proposer


@dataclass(frozen=True, slots=True)
class Finding:
    """One way in which a graph breaks the grammar."""

    rule: str  # its name in `RULES`
    message: str
    nodes: tuple[str, ...]  # the nodes at fault, sorted
    path: tuple[str, ...] = ()  # a way through the graph that shows it, where there is one

    def __str__(self) -> str:
        way = f" [{' -> '.join(self.path)}]" if self.path else ""
        return f"{self.rule}: {self.message}{way}"


_NODE_PARTS = {"declaration", "body", "frame", "name"}
"""All that a node of the grammar holds; a method of its own would stand in for the grammar's."""

_SETTINGS = ("cache_policy", "timeout", "defer", "ends")
"""What LangGraph can add to a node that changes what runs, or where it goes; the grammar adds none of it."""


class Topology:
    """The shape of a compiled graph, read from its builder.

    A node that the grammar did not make has no kind; whatever a branch without a path map leads to is unknown, so it
    counts as leading everywhere.
    """

    def __init__(self, graph: CompiledStateGraph[Any, Any, Any, Any]) -> None:
        self.graph = graph
        self.builder = graph.builder
        self.nodes = frozenset(self.builder.nodes)
        self.inputs = frozenset(self.builder.schemas[self.builder.input_schema])
        self.outputs = frozenset(self.builder.schemas[self.builder.output_schema])
        self.made: dict[str, GrammarNode] = {
            name: spec.runnable for name, spec in self.builder.nodes.items() if _is_grammar_node(spec.runnable)
        }
        """The nodes that the grammar made, by name."""
        self.items: dict[str, Declaration] = {name: node.declaration for name, node in self.made.items()}
        """What these declare."""
        self.frame: Frame | None = next((node.frame for node in self.made.values()), None)
        """What the nodes of the pattern share, None where the grammar made no node."""
        joins = {(start, end) for starts, end in self.builder.waiting_edges for start in starts}
        ends = {(name, end) for name, spec in self.builder.nodes.items() for end in spec.ends or ()}
        self._static = frozenset(self.builder.edges) | joins | ends
        self._branched = {name: self._list_branch_targets(name) for name in [START, *self.nodes]}
        self.raw_channels = frozenset(
            channel for item in self.items.values() if item.kind in CALLING for channel in item.writes
        )
        self.internals = frozenset(self.builder.schemas[self.builder.state_schema])

    def get_kind(self, name: str) -> Kind | None:
        """Return a node's kind, None where the grammar did not make it."""
        return self.items[name].kind if name in self.items else None

    def list_nodes_of_kind(self, *kinds: Kind) -> list[str]:
        """Return the nodes of these kinds, sorted."""
        return sorted(name for name in self.nodes if self.get_kind(name) in kinds)

    def is_ok_terminal(self, name: str) -> bool:
        """Say whether a run that ends here ended well."""
        return self.get_kind(name) == "terminal" and self.items[name].family is None

    def get_endings(self, name: str) -> frozenset[str]:
        """Return where a terminal leads to: to the end, or to the stops that say why the run cannot end there."""
        return frozenset({END, *(self.items[name].endings if name in self.items else ())})

    def get_read_channels(self, name: str) -> frozenset[str]:
        """Return the channels that LangGraph hands to a node."""
        return frozenset(self.builder.schemas[self.builder.nodes[name].input_schema])

    def list_static_followers(self, name: str) -> frozenset[str]:
        """Return the nodes that plain edges lead to."""
        return frozenset(end for start, end in self._static if start == name)

    def list_following_nodes(self, name: str) -> frozenset[str]:
        """Return the nodes that a run can go to from here."""
        return self.list_static_followers(name) | self._branched.get(name, frozenset())

    def list_preceding_nodes(self, name: str) -> frozenset[str]:
        """Return the nodes from which a run can come here, START among them."""
        return frozenset(other for other in [START, *self.nodes] if name in self.list_following_nodes(other))

    def get_drawn_families(self, name: str) -> frozenset[str]:
        """Return the families of the stop terminals that edges lead to."""
        items = [self.items[way] for way in self.list_following_nodes(name) & self.items.keys()]
        return frozenset(item.family for item in items if item.family is not None)

    def find_reachable_nodes(self, start: str) -> frozenset[str]:
        """Return the nodes that a run can reach from here, the start included."""
        return frozenset({start, *(path[-1] for path in walk_ways(start, self.list_following_nodes))})

    def find_endless_cycles(self) -> Iterator[tuple[str, ...]]:
        """Yield one cycle for every group of nodes that run in circles past every guard that can stop.

        That a guard may fail is no way to stop, nor that a terminal may: it needs a family of its own.
        """
        free = {
            name
            for name in self.nodes
            if self.get_kind(name) == "terminal" or self.get_drawn_families(name) <= {"guard_error"}
        }
        seen: set[str] = set()
        for name in sorted(free):
            cycle = () if name in seen else self.find_way(name, name, free)
            seen.update(cycle)
            if cycle:
                yield cycle

    def find_way(self, start: str, end: str, among: set[str]) -> tuple[str, ...]:
        """Return a shortest way of at least one step, over these nodes alone; nothing where there is none."""
        walked = walk_ways(start, lambda name: sorted(self.list_following_nodes(name) & among))
        ways = ((*path, end) for path in [(start,), *walked] if end in self.list_following_nodes(path[-1]) & among)
        return next(ways, ())

    def find_strange_triggers(self) -> Iterator[tuple[str, str]]:
        """Yield nodes of the compiled graph and the channels that start them without being an edge's alone."""
        written = {*self.builder.channels, *self.builder.managed}.union(*self.builder.schemas.values())
        joins = {(end, f"join:{'+'.join(starts)}:{end}") for starts, end in self.builder.waiting_edges}
        drawn = {(START, START), *((name, f"branch:to:{name}") for name in self.nodes), *joins}
        for name, node in sorted(self.graph.nodes.items()):
            for channel in node.triggers:
                if channel in written or (name, channel) not in drawn:
                    yield name, channel

    def find_foreign_parts(self) -> Iterator[tuple[str, str]]:
        """Yield what the grammar did not make, with the reason."""
        for name in sorted(self.nodes):
            if (reason := self._explain_foreign_node(name)) is not None:
                yield name, reason
        for name, branches in sorted(self.builder.branches.items()):
            for branch in branches.values():
                if branch.ends is None:
                    yield name, "has a branch without a path_map, which can lead anywhere"
                elif not _is_grammar_branch(branch, self.get_kind(name) == "terminal"):
                    yield name, "has a branch that the grammar did not make"
        for starts, end in sorted(self.builder.waiting_edges):
            yield end, f"waits for {', '.join(starts)}, a join that the grammar did not make"

    def _explain_foreign_node(self, name: str) -> str | None:
        spec, node = self.builder.nodes[name], self.made.get(name)
        if spec.is_error_handler or spec.error_handler_node is not None:
            return "has an error handler, which can swallow a failure"
        if node is None:
            return "was not made by the grammar"
        seal = getattr(self.builder, "seal", None)
        if (
            reason := seal.find_node_change(name, node) if isinstance(seal, Seal) else "was made for another graph"
        ) is not None:
            return reason
        item = node.declaration
        if node.frame.declarations.get(name) is not item or (spec.metadata or {}) != item.build_node_metadata():
            return "carries another declaration than its own"
        if added := [setting for setting in _SETTINGS if getattr(spec, setting)]:
            return f"carries what the grammar does not give to nodes: {', '.join(added)}"
        return None

    def _list_branch_targets(self, name: str) -> frozenset[str]:
        targets: set[str] = set()
        for branch in self.builder.branches.get(name, {}).values():
            targets |= {*self.nodes, END} if branch.ends is None else set(branch.ends.values())
        return frozenset(targets)


def _is_grammar_node(node: object) -> TypeGuard[GrammarNode]:
    return type(node) is GrammarNode and vars(node).keys() <= _NODE_PARTS


def _is_grammar_branch(branch: BranchSpec, of_an_ending: bool) -> bool:
    path, kind = branch.path, EndingRouter if of_an_ending else Router
    straight = all(way == end for way, end in (branch.ends or {}).items())
    return type(path) is kind and not vars(path) and straight


_WHOLE = (
    *("channels", "input_channels", "output_channels", "stream_channels", "trigger_to_nodes"),
    *("node_error_handler_map", "retry_policy", "cache_policy", "step_timeout", "context_schema"),
    *("schema_to_mapper", "_output_mapper", "_state_mapper"),
)
_CACHED = ("node", "flat_writers", "input_cache_key")  # what a node makes of the rest of itself when it first runs
_ATOMS = (type(None), str, bool, type)  # what most of it all is, and what is compared as it is


def find_compiled_changes(
    graph: CompiledStateGraph[Any, Any, Any, Any], *, by_grammar: bool
) -> Iterator[tuple[str, ...]]:
    """Yield what was changed after compiling: (what, node) or (what,) for the graph as a whole."""
    try:
        made = StateGraph.compile(graph.builder)
        made = drop_router_readers(made) if by_grammar else made
    except ValueError as error:
        yield (f"its builder cannot be compiled again: {error}",)
        return
    for name in _WHOLE:
        if getattr(graph, name, None) != getattr(made, name, None):
            yield (f"its {name} are not what its builder says",)
    if (seal := getattr(graph.builder, "seal", None)) is not None and graph.context_schema is not seal.context:
        yield ("its context_schema is not its pattern's",)
    for name in [*_find_replaced_methods(graph), *_find_replaced_methods(graph.builder)]:
        yield (f"its {name} is not that of its class",)
    for name in _find_changed_channels(graph.builder):
        yield (f"its channel {name} is not what its schema says",)
    for name in sorted(made.nodes.keys() | graph.nodes.keys()):
        ours, theirs = made.nodes.get(name), graph.nodes.get(name)
        if ours is None or theirs is None:
            yield f"{name} is not in both the builder and the compiled graph", name
        elif _describe_running_node(ours) != _describe_running_node(theirs):
            yield f"{name} does not run as its builder says", name


def _find_replaced_methods(changed: object) -> list[str]:
    return sorted(name for name in vars(changed) if callable(getattr(type(changed), name, None)))


def _find_changed_channels(builder: StateGraph[Any, Any, Any, Any]) -> Iterator[str]:
    """Yield the channels that were changed in place: a builder shares them with what it compiles."""
    schemas = {"input_schema": builder.input_schema, "output_schema": builder.output_schema}
    declared = StateGraph(builder.state_schema, builder.context_schema, **schemas).channels
    for name, channel in sorted(declared.items()):
        if name in builder.channels and _read_channel_slots(channel) != _read_channel_slots(builder.channels[name]):
            yield name


def _read_channel_slots(channel: object) -> object:
    names = [name for kind in type(channel).__mro__ for name in getattr(kind, "__slots__", ())]
    return type(channel), {name: getattr(channel, name, None) for name in names}


def _describe_running_node(node: Any) -> object:
    """Return what a node reads, runs and writes, so that it can be compared."""
    parts = {key: value for key, value in vars(node).items() if key not in (*_CACHED, "writers")}
    ran = unwrap_heard_node(node.node)
    steps = getattr(ran, "steps", [ran])
    run = [step for step in steps if step is not node.bound]
    whole = {key: value for key, value in vars(ran).items() if value is not steps} if len(steps) > 1 else {}
    written = [*node.writers, *node.flat_writers, *run]
    seen = [(type(step), _reduce_compiled_value(getattr(step, "__dict__", None))) for step in written]
    return type(node), parts, node.input_cache_key, type(ran), _reduce_compiled_value(whole), seen


def _reduce_compiled_value(value: Any) -> object:
    """Reduce what every compilation makes anew, such as closures, to what they have in common."""
    if isinstance(value, _ATOMS):
        return value
    if isinstance(value, MethodType):
        owner = value.__self__
        return value.__func__, owner if isinstance(owner, tuple) else type(owner)
    if isinstance(value, FunctionType):
        held = [cell.cell_contents for cell in value.__closure__ or ()]
        return value.__code__, [item for item in held if item is not value]
    if isinstance(value, partial):
        return value.func, value.args, _reduce_compiled_value(value.keywords)
    if isinstance(value, dict):
        return {key: _reduce_compiled_value(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_reduce_compiled_value(item) for item in value]
    return value


MOST_LOOKED_AT = 10_000  # objects around a body that are looked at, the nearest first
_HOLDING_NOTHING = (str, bytes, int, float, Pattern, ModuleType, type(None))  # what holds no tool and is none


def find_held_tools(body: object, tools: Mapping[str, object]) -> list[str]:
    """Return the names of tools that a body holds, or the objects of whose methods it does, sorted.

    They are looked for in what the body closes over, its defaults and its globals by name, in partials, methods,
    callable objects, Runnables, proposers, modules, lists, tuples and dictionaries, and in the functions found there.
    What is Python's own (`str`) is held by anybody, and says nothing.
    """
    around = deque[Any]([body])
    seen: dict[int, Any] = {}  # the objects too: an id is free again when nobody has its object
    while around and len(seen) < MOST_LOOKED_AT:
        item = around.popleft()
        if id(item) not in seen:
            seen[id(item)] = item
            around.extend(part for part in _list_held_objects(item) if not isinstance(part, _HOLDING_NOTHING))
    return sorted(name for name, tool in tools.items() if any(id(part) in seen for part in _list_tool_parts(tool)))


def _list_tool_parts(tool: object) -> Iterator[object]:
    """Yield a tool, what it is made of where it is a partial or one of LangChain's, and the object of a method."""
    waiting = [tool]
    for item in waiting:
        if getattr(item, "__module__", None) != "builtins":
            yield item
        if isinstance(item, MethodType):
            waiting += [item.__self__] if not isclass(item.__self__) else []
        else:
            made_of = (getattr(item, name, None) for name in ("func", "coroutine"))
            waiting += [part for part in made_of if callable(part)]


def _list_held_objects(item: Any) -> Iterable[Any]:
    if isinstance(item, Proposer):
        return (item.target,)
    if isinstance(item, list | tuple):
        return item
    if isinstance(item, dict):
        return item.values()
    if isinstance(item, partial):
        return (*item.args, *item.keywords.values(), item.func)
    if isinstance(item, MethodType):
        return (item.__self__, item.__func__, *_list_object_attributes(item.__self__))
    if isinstance(item, FunctionType):
        return _list_function_references(item)
    return _list_object_attributes(item) if callable(item) or isinstance(item, Runnable) else ()


def _list_object_attributes(item: Any) -> Iterator[Any]:
    if isclass(item):  # what it makes, it makes later
        return
    yield from getattr(item, "__dict__", {}).values()
    if isinstance(called := getattr(type(item), "__call__", None), FunctionType):  # noqa: B004 - it is looked into
        yield called


def _list_function_references(function: FunctionType) -> Iterator[Any]:
    yield from vars(function).values()  # what a decorator wraps
    yield from function.__defaults__ or ()
    yield from (function.__kwdefaults__ or {}).values()
    yield from read_closed_values(function).values()
    names = dict.fromkeys(list_code_names(function.__code__))
    found = [function.__globals__[name] for name in names if name in function.__globals__]
    for item in found:
        yield from (vars(item)[name] for name in names if name in vars(item)) if ismodule(item) else (item,)


def read_closed_values(function: FunctionType) -> dict[str, Any]:
    """Return what a function closes over, by name."""
    closed: dict[str, Any] = {}
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        with suppress(ValueError):  # a cell that was never filled
            closed[name] = cell.cell_contents
    return closed


def list_code_names(code: CodeType) -> Iterator[str]:
    """Yield the names of globals and attributes that a function mentions, and the functions inside of it."""
    yield from code.co_names
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            yield from list_code_names(inner)
