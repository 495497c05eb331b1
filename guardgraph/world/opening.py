"""What is named by a string and opened when a live run begins: a model, later an index or a store.

Naming one reads no key and connects to nothing, so a graph can be built, drawn, proved and replayed without.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from inspect import isclass
from types import CodeType, FunctionType, MethodType
from typing import Any

from guardgraph.world.models import Opens
from guardgraph.world.proposers import Proposer

MOST_LOOKED_AT = 10_000
"""Objects around the bodies of a pattern that are looked at, the nearest first."""


def find_proposers_to_open(bodies: Iterable[Callable[..., Any] | None]) -> list[Opens]:
    """Return whom bodies may call that have to be opened, each once.

    They are looked for in what a body closes over, its defaults and its globals by name, in partials, methods, callable
    objects, lists, tuples and dictionaries, and in the functions that are found there.
    """
    around = deque[Any](bodies)
    seen: dict[int, Any] = {}  # the objects too: an id is free again when nobody has its object
    opening: list[Opens] = []
    while around and len(seen) < MOST_LOOKED_AT:
        item = around.popleft()
        if id(item) in seen:
            continue
        seen[id(item)] = item
        if isinstance(item, Opens):
            opening.append(item)
        else:
            around.extend(_list_held_objects(item))
    return opening


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
        return (item.__func__, *_list_object_attributes(item.__self__))
    if isinstance(item, FunctionType):
        return _list_function_references(item)
    return _list_object_attributes(item) if callable(item) else ()


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
    for name in _list_code_names(function.__code__):
        found = function.__globals__.get(name)
        if isinstance(found, Proposer | Opens | FunctionType):
            yield found


def _list_code_names(code: CodeType) -> Iterator[str]:
    yield from code.co_names
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            yield from _list_code_names(inner)
