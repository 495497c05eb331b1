"""Whether a compiled graph still is what its builder makes.

A compiled LangGraph graph can be changed: other nodes, writers, triggers or channels in the place of those that were
compiled. So the builder is compiled once more, and what would run is held against what will run.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from types import FunctionType, MethodType
from typing import Any

from langgraph.graph import StateGraph
from langgraph.graph.state import CompiledStateGraph

from guardgraph.graphs.running.node import drop_router_readers, unwrap_heard_node

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
