"""The proof that a foreign graph has no way around a guard node: from named nodes to its end, or to nodes one names.

A graph that the grammar did not make declares less. Where a node may go that nobody declared, the proof says so.
"""

from __future__ import annotations

import ast
from collections.abc import Container, Mapping, Sequence
from dis import get_instructions
from functools import partial
from inspect import getattr_static, getsource
from pathlib import Path
from sysconfig import get_paths
from textwrap import dedent
from types import FunctionType, MethodType, ModuleType
from typing import Any, Final

from langgraph.graph import END, START
from langgraph.graph.state import CompiledStateGraph, StateGraph
from langgraph.types import Command, Send, interrupt

from guardgraph.graphs.declaring import walk_ways
from guardgraph.graphs.proof.topology import Finding, list_code_names, read_closed_values
from guardgraph.plain.errors import InputError

INSIDE: Final = ":"  # between the name of a node that is a graph and the name of a node inside it
_JUMPS: Final = (Command, Send)  # what a function returns to go where no edge leads
_OUTWARD: Final = "PARENT"
"""The attribute of `Command` with which a node of a graph inside a graph jumps in the graph around."""
_NOT_OWN: Final = (*{get_paths()[kind] for kind in ("stdlib", "purelib", "platlib")}, str(Path(__file__).parents[2]))
"""Where code of libraries lies: only what it closes over is looked at, such as a function that it decorates."""
_GUARD_NODES: Final = "guardgraph.graphs.guard_nodes"
"""The module of our guard nodes; it imports the grammar, which imports this one."""


def prove_behind(
    graph: CompiledStateGraph[Any, Any, Any, Any], behind: Mapping[str, Sequence[str]], before: Sequence[str] = ()
) -> list[Finding]:
    """Return which ways from some nodes reach the end past a guard node, or go where nothing declares; see `verify`.

    ``outer:inner`` names a node of a graph inside the graph. Of our guard nodes one is ``around``, too, that goes to a
    single node whatever it decides, and one ``endless`` that goes to a node from which every way leads back to it.
    """
    named = behind.values() if isinstance(behind, Mapping) else ()
    if not named or not all(names and isinstance(names, list | tuple) for names in named):
        required = 'each guard node with the nodes that it judges, such as {"guard": ["generate"]}, is'
        raise InputError(f"behind: {required} required; given: {behind!r:.80}")
    ways, unseen = _read_ways(graph)
    asked = {"behind": (*behind, *(name for names in behind.values() for name in names)), "before": before}
    for field, given in asked.items():
        for name in given:
            if name not in ways:
                allowed = ", ".join(sorted(ways.keys() - {START, END}))
                raise InputError(f"{field}: a node of the graph is required; given: {name!r:.80}; allowed: {allowed}")
    targets = {END, *before}
    found = []
    for guard, names in behind.items():
        own_ways = _list_own_ways(graph, guard)
        if len(own_ways) == 1:
            message = f"{guard} goes to {own_ways[0]} with what it refuses, too"
            found.append(Finding("around", message, (guard,), (guard, own_ways[0])))
        found += [_tell_endless_refusal(guard, way) for way in own_ways if _is_endless(graph, ways, unseen, guard, way)]
        for name in names:
            if path := _find_way_around(ways, name, guard, targets):
                message = f"what {name} writes reaches {path[-1]} past {guard}"
                found.append(Finding("around", message, tuple(sorted({name, guard})), path))
            reached = _list_reached(ways, name, guard)
            found += [Finding("unseen", f"{each} {unseen[each]}", (each,)) for each in reached if each in unseen]
    return list(dict.fromkeys(found))


def _list_own_ways(graph: Any, name: str) -> list[str]:
    *outer, own = name.split(INSIDE)
    for each in outer:
        graph = graph.builder.nodes[each].runnable
    spec = graph.builder.nodes.get(own)
    ends = {*(spec.ends or ())} if spec is not None else set()
    is_ours = any(each.__module__ == _GUARD_NODES for each in _list_node_functions(spec.runnable)) if ends else False
    return sorted(INSIDE.join((*outer, end)) for end in ends) if is_ours else []


def _is_endless(graph: Any, ways: Mapping[str, set[str]], unseen: Container[str], guard: str, way: str) -> bool:
    """Say whether a run that a guard sends this way comes back to the guard, wherever it goes, and waits for nobody."""
    reached = _list_reached(ways, way, guard)
    if any(each in unseen or not ways[each] or each not in graph.builder.nodes for each in reached):
        return False
    functions = (each for name in reached for each in _list_node_functions(graph.builder.nodes[name].runnable))
    return not any(interrupt.__name__ in each.__code__.co_names for each in functions)


def _tell_endless_refusal(guard: str, way: str) -> Finding:
    message = (
        f"from {way} every way leads back to {guard}: only LangGraph's limit ends a run whose answer stays refused; "
        f"let {way} count, and go on to another node"
    )
    return Finding("endless", message, tuple(sorted({guard, way})), (guard, way, guard))


def _read_ways(
    graph: CompiledStateGraph[Any, Any, Any, Any], prefix: str = ""
) -> tuple[dict[str, set[str]], dict[str, str]]:
    """Return who may follow each node, graphs inside the graph opened up, and which nodes may go elsewhere."""
    builder: StateGraph[Any, Any, Any, Any] = graph.builder
    ways: dict[str, set[str]] = {prefix + name: set() for name in (START, END, *builder.nodes)}
    unseen = dict[str, str]()
    for begin, end in (*builder.edges, *((begin, end) for begins, end in builder.waiting_edges for begin in begins)):
        ways[prefix + begin].add(prefix + end)
    for name, branches in builder.branches.items():
        for branch in branches.values():
            if branch.ends is None:
                unseen[prefix + name] = "has a conditional edge that names no destinations"
                continue
            ways[prefix + name] |= {prefix + end for end in branch.ends.values()}
            if told := _find_undeclared_jump(branch.path, frozenset({Send.__name__})):
                unseen[prefix + name] = f"has a conditional edge whose function {told} but its path map"
            if any(map(_may_return_nothing, _list_node_functions(branch.path))):
                ways[prefix + name].add(prefix + END)
    for name, spec in builder.nodes.items():
        ways[prefix + name] |= {prefix + end for end in spec.ends or ()}
        inner = spec.runnable
        if isinstance(inner, CompiledStateGraph):
            opened, hidden = _read_ways(inner, f"{prefix}{name}{INSIDE}")
            first, last = (f"{prefix}{name}{INSIDE}{place}" for place in (START, END))
            ways |= opened
            unseen |= hidden
            ways[last] |= ways[prefix + name]
            ways[prefix + name] = {first}
        elif told := _find_undeclared_jump(inner, _seek_jumps(bool(spec.ends), bool(prefix))):
            unseen[prefix + name] = told
        if (handler := spec.error_handler_node) in builder.nodes:
            ways[prefix + name].add(f"{prefix}{handler}")
        if not ways[prefix + name] and prefix + name not in unseen:
            ways[prefix + name].add(prefix + END)  # LangGraph ends where no edge leads on
    return ways, unseen


def _seek_jumps(is_declared: bool, is_inside: bool) -> frozenset[str]:
    """Return what a function may not mention: one that declares where it goes can still leave for a graph around."""
    if is_declared:
        return frozenset({_OUTWARD} if is_inside else ())
    return frozenset(jump.__name__ for jump in _JUMPS)


def _find_undeclared_jump(runnable: Any, sought: frozenset[str]) -> str | None:
    """Say how the function of a node may jump where nothing declares; None where it names nothing that does."""
    functions, seen, held = _list_node_functions(runnable), set[FunctionType](), list[Any]()
    for each in _list_node_targets(runnable):
        _add_held(getattr(each, "__self__", each), held)
    if jump := next(filter(None, (_find_jump(function, sought, seen, held) for function in functions)), None):
        return f"mentions {jump} and declares no destinations"
    if functions or _OUTWARD in sought or not sought:
        return None
    return f"is a {type(runnable).__name__}, in which nothing is seen, and declares no destinations"


def _list_node_targets(runnable: Any) -> list[Any]:
    from langgraph.prebuilt import ToolNode  # it takes longer to import than all patterns, and agents do not need it

    given = [getattr(runnable, "func", None), getattr(runnable, "afunc", None)]
    if isinstance(runnable, ToolNode):  # what a tool returns, the node returns
        for tool in runnable.tools_by_name.values():
            given += [getattr(tool, "func", None) or tool._run, getattr(tool, "coroutine", None)]
    return [each.func if isinstance(each, partial) else each for each in given if each is not None]


def _list_node_functions(runnable: Any) -> list[FunctionType]:
    return [function for each in _list_node_targets(runnable) if (function := _find_function(each)) is not None]


def _add_held(value: Any, held: list[Any]) -> None:
    """Add an object of the graph's project, and what it holds; of a library's it is the graphs alone that count."""
    is_graph = isinstance(value, CompiledStateGraph)
    call = next((each for each in vars(type(value)).values() if isinstance(each, FunctionType)), None)
    if any(value is other for other in held) or not (is_graph or (call is not None and _is_own(call))):
        return
    held.append(value)
    inside = [] if is_graph else [*getattr(value, "__dict__", {}).values()]
    inside += [each for group in inside if isinstance(group, list | tuple) for each in group]
    inside += [each for group in inside if isinstance(group, dict) for each in group.values()]
    for each in inside:
        if isinstance(each, FunctionType | MethodType):
            held.append(each)
        _add_held(getattr(each, "__self__", each), held)


def _may_return_nothing(function: FunctionType) -> bool:
    """Say whether a conditional edge may return an empty list, behind which nothing runs any more."""
    try:
        parsed = ast.walk(ast.parse(dedent(getsource(function))))
    except (OSError, SyntaxError, TypeError):
        seen = [(each.opname, each.argval) for each in get_instructions(function)]
        inner = any(getattr(held, "co_name", "") in ("<listcomp>", "<genexpr>") for _, held in seen)
        return inner or ("BUILD_LIST", 0) in seen or any(held == () or held in _LISTING for _, held in seen)
    bodies = [each for each in parsed if getattr(each, "name", "<lambda>") == function.__name__]
    inside = [each for body in bodies if isinstance(body, _BODIES) for each in ast.walk(body)]
    lists = {
        target.id
        for each in inside
        if isinstance(each, ast.Assign | ast.AnnAssign) and _is_list(each.value, ())
        for target in (each.targets if isinstance(each, ast.Assign) else [each.target])
        if isinstance(target, ast.Name)
    }
    said = [each.value if isinstance(each, ast.Return) else each.body for each in inside if isinstance(each, _SAYING)]
    return any(_is_list(each, lists) for each in said)


_BODIES: Final = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
_SAYING: Final = (ast.Return, ast.Lambda)
_LISTING: Final = ("list", "tuple", "sorted", "filter", "map")


def _is_list(said: Any, lists: Container[str]) -> bool:
    """Say whether an expression may be an empty list."""
    if isinstance(said, ast.List | ast.Tuple):
        return all(isinstance(each, ast.Starred) for each in said.elts)
    if isinstance(said, ast.IfExp | ast.BoolOp):
        parts = said.values if isinstance(said, ast.BoolOp) else [said.body, said.orelse]
        return any(_is_list(each, lists) for each in parts)
    if isinstance(said, ast.Call):
        return isinstance(said.func, ast.Name) and said.func.id in _LISTING
    return isinstance(said, ast.ListComp | ast.GeneratorExp) or (isinstance(said, ast.Name) and said.id in lists)


def _find_function(given: Any) -> FunctionType | None:
    """Return the function that a node calls: of a method, a partial or an object with ``__call__``, too."""
    given = given.func if isinstance(given, partial) else given
    given = given.__func__ if isinstance(given, MethodType | staticmethod | classmethod) else given
    given = given if isinstance(given, FunctionType) else vars(type(given)).get("__call__")
    given = getattr(given, "__func__", given)
    return given if isinstance(given, FunctionType) else None


def _find_jump(function: FunctionType, sought: frozenset[str], seen: set[FunctionType], held: list[Any]) -> str | None:
    """Return which of some names a function mentions, or one of its project that it may call."""
    if function in seen:
        return None
    seen.add(function)
    closed = read_closed_values(function)
    names = [*list_code_names(function.__code__), *closed]
    known = {name: value for name, value in {**function.__globals__, **closed}.items() if name in names}
    for name in names:
        if name in sought or any(known.get(name) is jump for jump in _JUMPS if jump.__name__ in sought):
            return name
    for value in known.values():
        _add_held(value, held)
    if any(_leaves_for_graph_around(value) for value in held if isinstance(value, CompiledStateGraph)):
        return f"a graph that jumps by Command.{_OUTWARD}"
    called = [found for value in closed.values() if (found := _find_function(value)) is not None]
    if _is_own(function):
        reached = [*known.values(), *held]
        holders = [value if isinstance(value, type | ModuleType) else type(value) for value in reached]
        owner = function.__globals__.get(function.__qualname__.partition(".")[0])
        holders += [owner] if isinstance(owner, type) else []
        methods = [getattr_static(holder, name, None) for holder in holders for name in (*names, "__call__")]
        named = [_find_function(value) for value in (*reached, *methods)]
        called += [each for each in named if each is not None and _is_own(each)]
    return next(filter(None, (_find_jump(each, sought, seen, held) for each in called)), None)


def _leaves_for_graph_around(graph: CompiledStateGraph[Any, Any, Any, Any]) -> bool:
    inner = [spec.runnable for spec in graph.builder.nodes.values()]
    return any(
        _leaves_for_graph_around(each)
        if isinstance(each, CompiledStateGraph)
        else _find_undeclared_jump(each, frozenset({_OUTWARD})) is not None
        for each in inner
    )


def _is_own(function: FunctionType) -> bool:
    file = Path(function.__code__.co_filename)
    return not any(file.is_relative_to(root) for root in _NOT_OWN)


def _find_way_around(ways: Mapping[str, set[str]], begin: str, guard: str, targets: set[str]) -> tuple[str, ...]:
    """Return the shortest way from a node to a target that does not pass the guard; empty where there is none."""
    walked = [(begin,), *walk_ways(begin, lambda name: sorted(ways.get(name, set()) - {guard}))]
    around = ((*path, name) for path in walked for name in sorted(ways.get(path[-1], ())) if name in targets - {guard})
    return next(around, ())


def _list_reached(ways: Mapping[str, set[str]], begin: str, guard: str) -> list[str]:
    """Return the nodes that are reached from a node without passing the guard, and itself."""
    return [begin, *(path[-1] for path in walk_ways(begin, lambda name: sorted(ways.get(name, set()) - {guard})))]
