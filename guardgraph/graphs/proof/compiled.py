"""Whether a compiled graph still is what its builder makes.

A compiled LangGraph graph can be changed: other nodes, writers, triggers or channels in the place of those that were
compiled. So the builder is compiled once more, and what would run is held against what will run.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from inspect import isclass, ismodule
from types import CodeType, FunctionType, MethodType
from typing import Any

from langchain_core.runnables import Runnable
from langgraph.graph import StateGraph
from langgraph.graph.state import CompiledStateGraph

from guardgraph.graphs.running.node import drop_router_readers, unwrap_heard_node
from guardgraph.world.proposers import Proposer

_WHOLE = (
    "channels",
    "input_channels",
    "output_channels",
    "stream_channels",
    "trigger_to_nodes",
    "node_error_handler_map",
    "retry_policy",
    "cache_policy",
    "step_timeout",
    "context_schema",
    "schema_to_mapper",
    "_output_mapper",
    "_state_mapper",
)
_CACHED = ("node", "flat_writers", "input_cache_key")
"""What a node makes of the rest of itself when it first runs."""
_ATOMS = (type(None), str, bool, type)
"""What most of it all is, and what is compared as it is."""


def find_compiled_changes(
    graph: CompiledStateGraph[Any, Any, Any, Any], *, by_grammar: bool
) -> Iterator[tuple[str, ...]]:
    """Yield what was changed after compiling: (what, node) or (what,) for the graph as a whole.

    Args:
        graph: what will run.
        by_grammar: whether the grammar compiled it, which has LangGraph's own edges read less.
    """
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
    """Return what an object holds in the place of the methods of its class."""
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


MOST_LOOKED_AT = 10_000
"""Objects around a body that are looked at, the nearest first."""


def find_held_tools(body: object, tools: Mapping[str, object]) -> list[str]:
    """Return the names of tools that a body holds, or the objects of whose methods it does, sorted.

    They are looked for in what the body closes over, its defaults and its globals by name, in partials, methods,
    callable objects, Runnables, proposers, modules, lists, tuples and dictionaries, and in the functions found there.

    Args:
        body: of a node.
        tools: what the pattern's table calls, by name.
    """
    around = deque[Any]([body])
    seen: dict[int, Any] = {}  # the objects too: an id is free again when nobody has its object
    while around and len(seen) < MOST_LOOKED_AT:
        item = around.popleft()
        if id(item) not in seen:
            seen[id(item)] = item
            around.extend(_list_held_objects(item))
    return sorted(name for name, tool in tools.items() if any(id(part) in seen for part in _list_tool_parts(tool)))


def _list_tool_parts(tool: object) -> Iterator[object]:
    """Yield a tool, what it is made of where it is a partial or one of LangChain's, and the object of a method."""
    waiting = [tool]
    for item in waiting:
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
    for cell in function.__closure__ or ():
        try:
            yield cell.cell_contents
        except ValueError:  # a cell that was never filled
            continue
    names = dict.fromkeys(_list_code_names(function.__code__))
    found = [function.__globals__[name] for name in names if name in function.__globals__]
    for item in found:
        yield from (vars(item)[name] for name in names if name in vars(item)) if ismodule(item) else (item,)


def _list_code_names(code: CodeType) -> Iterator[str]:
    yield from code.co_names
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            yield from _list_code_names(inner)
