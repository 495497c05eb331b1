"""What the bodies of a pattern hold: a function of the pattern's table has no place among it.

A body calls a tool by its name, so that the call is licensed. One that holds the function could call it past every
licence. Python hides nothing and shows not everything: this finds what is held openly, in an oversight, not in malice.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from inspect import isclass, ismodule
from types import CodeType, FunctionType, MethodType
from typing import Any

from langchain_core.runnables import Runnable

from guardgraph.world.proposers import Proposer

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
